"""Values of const-expressions, and the conversions between their types. WGSL §6.1.2 (conversion rank)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, cast

from ..layout import SCALARS
from . import kinds, operators
from .kinds import ABSTRACT_FLOAT, ABSTRACT_INT, Type
from .operators import Fault
from .source import Source
from .syntax import Name

MOST_STEPS = 1_000_000


class Value(NamedTuple):
    """A value. `data` is a Python number for a scalar, and a tuple of the parts for every other type."""

    type: Type
    data: Any


class Unknown(Exception):
    """The value is not known: a template fills it in, or an override has no value yet."""


class Names(Protocol):
    """The meanings of a module's names: the part of `scope.Scope` that expressions need."""

    source: Source

    @property
    def override_uses(self) -> int: ...
    def check_literal(self, node: Any, found: operators.Literal) -> None: ...
    def warn_at(self, rule: str, offset: int, **facts: Any) -> None: ...
    def kind_of(self, name: str) -> str: ...
    def value_of(self, name: str, offset: int) -> Value: ...
    def type_of(self, name: Name) -> Type: ...
    def note_f16(self, node: Any) -> None: ...


class Conversions:
    """Conversions between types, and a limit on the steps that all expressions of one module may take together."""

    def __init__(self, scope: Names) -> None:
        self.scope = scope
        self.steps = 0

    def error(self, rule: str, offset: int, **facts: Any) -> Exception:
        return self.scope.source.error(rule, offset, **facts)

    def take(self, steps: int, offset: int) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise self.error("constant-steps", offset, most=MOST_STEPS)

    def implicit(self, value: Value, wanted: Type, offset: int) -> Value:
        """`value` in the type `wanted`. Raises WgslError if there is no automatic conversion (§6.1.2)."""
        before = value.type
        if kinds.same(before, wanted):
            return value
        if before.element is not None and wanted.element is not None and before.count == wanted.count:
            self.take(len(value.data), offset)
            element, inner = before.element, wanted.element
            return Value(wanted, tuple(self.implicit(Value(element, part), inner, offset).data for part in value.data))
        simple = ("scalar", "abstract", "vector", "matrix")
        shapes = (before.rows, before.columns), (wanted.rows, wanted.columns)
        if before.family in simple and wanted.family in simple and shapes[0] == shapes[1]:
            if wanted.scalar in operators.FLOATS and before.scalar in (ABSTRACT_INT, ABSTRACT_FLOAT):
                return self.fitted(value, wanted, offset)
            if wanted.scalar in operators.CONCRETE_INTEGERS and before.scalar == ABSTRACT_INT:
                return self.fitted(value, wanted, offset)
        raise self.error("no-conversion", offset, before=before.name, wanted=wanted.name)

    def fitted(self, value: Value, wanted: Type, offset: int) -> Value:
        def run(part: Any) -> Any:
            self.note_rounding(wanted.scalar, part, offset)
            return operators.fit(wanted.scalar, part)

        try:
            return Value(wanted, each(run, value.data))
        except Fault as fault:
            raise self.error("constant-fault", offset, fault=str(fault)) from None

    def note_rounding(self, scalar: str, value: Any, offset: int) -> None:
        """Warn about a number that is larger than the largest `scalar`, but is still rounded to it."""
        if operators.is_beyond(scalar, value):
            self.scope.warn_at("tint-overflow", offset, type=scalar, largest=SCALARS[scalar].high)

    def common_scalar(self, types: Sequence[Type], offset: int) -> str:
        """The component type to which all of `types` convert."""
        scalars = [type_.scalar for type_ in types]
        concrete = next((scalar for scalar in scalars if scalar not in (ABSTRACT_INT, ABSTRACT_FLOAT)), "")
        chosen = concrete or (ABSTRACT_FLOAT if ABSTRACT_FLOAT in scalars else ABSTRACT_INT)
        if chosen == "" or any(type_.family in ("array", "struct", "matrix") for type_ in types):
            raise self.error("no-common-type", offset, types=typenames_of(types))
        return chosen

    def common(self, types: Sequence[Type], offset: int) -> Type:
        first = types[0]
        if all(kinds.same(first, type_) for type_ in types):
            return first
        if all(type_.family in ("scalar", "abstract", "vector") and type_.rows == first.rows for type_ in types):
            return kinds.vector(first.rows, self.common_scalar(types, offset))
        if first.element is not None and all(type_.element and type_.count == first.count for type_ in types):
            element = self.common([type_.element for type_ in types if type_.element], offset)
            return kinds.array_of(element, first.count)
        shapes = {(type_.family, type_.rows, type_.columns) for type_ in types}
        if first.family == "matrix" and len(shapes) == 1:
            scalars = [kinds.PLAIN[type_.scalar] for type_ in types]
            return kinds.matrix(first.columns, first.rows, self.common_scalar(scalars, offset))
        raise self.error("no-common-type", offset, types=typenames_of(types))

    def aligned(self, values: list[Value], scalar: str, offset: int, what: str) -> tuple[int, list[tuple[Any, ...]]]:
        """The number of components, and for each component a tuple of that component of each value, as `scalar`.

        A scalar is repeated if others are vectors.
        """
        rows = max(value.type.rows for value in values)
        columns: list[Sequence[Any]] = []
        for value in values:
            data = self.implicit(value, kinds.vector(value.type.rows, scalar), offset).data
            columns.append(data if value.type.rows > 1 else (data,) * rows)
            if value.type.rows not in (1, rows):
                raise self.error("operator", offset, sign=what, types=names_of(values))
        return rows, list(zip(*columns, strict=True))


def from_parts(rows: int, scalar: str, parts: list[Any]) -> Value:
    """The vector of `parts`, or a scalar if there is one part."""
    return Value(kinds.vector(rows, scalar), parts[0] if rows == 1 else tuple(parts))


def parts_of(value: Value) -> tuple[Any, ...]:
    """The components of a vector, or a scalar as the only one."""
    return value.data if value.type.rows > 1 else (value.data,)


def each(run: Callable[[Any], Any], data: Any) -> Any:
    return tuple(each(run, part) for part in cast("tuple[Any, ...]", data)) if isinstance(data, tuple) else run(data)


def typenames_of(types: Sequence[Type]) -> str:
    return ", ".join(type_.name for type_ in types[:5]) + (", ..." if len(types) > 5 else "")


def names_of(values: list[Value]) -> str:
    return typenames_of([value.type for value in values])
