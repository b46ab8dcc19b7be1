"""Value constructors: ``vec3(…)``, ``array(…)``, a struct's name, conversions such as ``u32(…)``. WGSL §17.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import GpuStructError
from . import kinds, operators
from .kinds import ABSTRACT_FLOAT, ABSTRACT_INT, Type
from .syntax import Call, Name
from .values import Conversions, Value, each, names_of

GENERATORS = {f"vec{n}": (1, n) for n in (2, 3, 4)} | {f"mat{c}x{r}": (c, r) for c in (2, 3, 4) for r in (2, 3, 4)}


class Constructors(Conversions):
    """Evaluates value constructors and conversions."""

    def inferred(self, callee: Name, values: list[Value]) -> Type | None:
        """The type that ``vec3(…)``, ``mat2x2(…)`` or ``array(…)`` infers from its arguments; None for other callees."""
        if callee.text == "array" and values:
            element = self.common([value.type for value in values], callee.offset)
            return self._array(element, len(values), callee.offset)
        generator = GENERATORS.get(callee.text)
        if generator is None:
            return None
        columns, rows = generator
        if columns > 1 and not values:
            raise self.error("arguments", callee.offset, what=callee.text, given="none")
        if columns > 1 and len(values) == 1 and values[0].type.family == "matrix":
            return kinds.matrix(columns, rows, values[0].type.scalar)
        scalar = self.common_scalar([value.type for value in values], callee.offset) if values else ABSTRACT_INT
        if columns == 1:
            return kinds.vector(rows, scalar)
        if scalar not in (ABSTRACT_INT, *operators.FLOATS):
            raise self.error("arguments", callee.offset, what=callee.text, given=names_of(values))
        return kinds.matrix(columns, rows, ABSTRACT_FLOAT if scalar == ABSTRACT_INT else scalar)

    def _array(self, element: Type, count: int, offset: int) -> Type:
        try:
            return kinds.array_of(element, count)
        except GpuStructError as error:
            raise self.scope.source.at(error, offset) from None

    def construct(self, type_: Type, values: list[Value], node: Call) -> Value:
        if not type_.is_plain_data:
            raise self.error("not-constructible", node.offset, type=type_.name)
        self.take(len(values), node.offset)
        if not values:
            return Value(type_, self._zero(type_, node.offset))
        parts: Sequence[Type] = ()
        if type_.family == "struct":
            parts = [member for _, member in type_.members]
        elif type_.element is not None:
            parts = [type_.element] * len(values) if len(values) == type_.count else ()
        elif type_.family == "scalar":
            if len(values) == 1 and values[0].type.family in ("scalar", "abstract"):
                return Value(type_, self._converted(values[0].type, type_, values[0].data, node.offset))
        else:
            return Value(type_, self._components(type_, values, node))
        if len(parts) != len(values):
            raise self.error("arguments", node.offset, what=type_.name, given=names_of(values))
        data = (self.implicit(value, part, node.offset).data for value, part in zip(values, parts, strict=True))
        return Value(type_, tuple(data))

    def _converted(self, before: Type, after: Type, part: Any, offset: int) -> Any:
        self.note_rounding(after.scalar, part, offset)
        return operators.convert(part, before.scalar, after.scalar)

    def _components(self, type_: Type, values: list[Value], node: Call) -> Any:
        rows, columns, first = type_.rows, type_.columns, values[0]
        if len(values) == 1 and (first.type.family, first.type.rows, first.type.columns) == (
            type_.family,
            rows,
            columns,
        ):
            return each(lambda part: self._converted(first.type, type_, part, node.offset), first.data)
        scalar = kinds.PLAIN[type_.scalar]
        flat: list[Any] = []
        for value in values:
            if value.type.family in ("scalar", "abstract"):
                flat.append(self.implicit(value, scalar, node.offset).data)
            elif value.type.family == "vector":
                inner = kinds.vector(value.type.rows, type_.scalar)
                flat.extend(self.implicit(value, inner, node.offset).data)
            else:
                flat.append(None)
        if len(flat) == 1 and len(values) == 1 and columns == 1 and flat[0] is not None:
            return tuple(flat * rows)
        shapes = {value.type.rows for value in values}
        by_column = columns == 1 or (shapes, len(values)) in (({rows}, columns), ({1}, columns * rows))
        if len(flat) != rows * columns or None in flat or not by_column:
            raise self.error("arguments", node.offset, what=type_.name, given=names_of(values))
        if columns == 1:
            return tuple(flat)
        return tuple(tuple(flat[column * rows : (column + 1) * rows]) for column in range(columns))

    def _zero(self, type_: Type, offset: int) -> Any:
        if type_.family == "struct":
            return tuple(self._zero(member, offset) for _, member in type_.members)
        if type_.element is not None:
            self.take(type_.count or 1, offset)
            return (self._zero(type_.element, offset),) * (type_.count or 1)
        self.take(1, offset)
        zero = operators.fit(type_.scalar, 0)
        column = zero if type_.rows == 1 else (zero,) * type_.rows
        return column if type_.columns == 1 else (column,) * type_.columns
