"""One call of a built-in function, whose arguments are converted to the types of its overloads. WGSL §6.1.3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ... import layout
from .. import kinds, operators
from ..kinds import ABSTRACT_FLOAT, ABSTRACT_INT, Type
from ..operators import ARITHMETIC, Fault
from ..values import Conversions, Value, from_parts, names_of

FLOATS = (ABSTRACT_FLOAT, *layout.FLOATS)
INTEGERS = ("i32", "u32")
NUMBERS = (ABSTRACT_INT, ABSTRACT_FLOAT, *layout.SCALARS)
ANY_ROWS = (1, 2, 3, 4)
VECTORS = (2, 3, 4)
PLUS, MINUS, TIMES = (ARITHMETIC[sign] for sign in "+-*")
_SIMPLE = ("scalar", "abstract", "vector")
# The types that an abstract number converts to, in the order of preference (§6.1.2, conversion rank).
_RANKED = {
    ABSTRACT_INT: (ABSTRACT_INT, *layout.INTEGERS, ABSTRACT_FLOAT, *layout.FLOATS),
    ABSTRACT_FLOAT: (ABSTRACT_FLOAT, *layout.FLOATS),
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the built-in `name` with `values`; `result` is the type in its template list, or None."""

    conversions: Conversions
    name: str
    values: list[Value]
    offset: int
    result: Type | None = None

    def refusal(self) -> Exception:
        """The WgslError for arguments that fit no overload."""
        given = names_of(self.values) or "none"
        return self.conversions.error("arguments", self.offset, what=f"{self.name}()", given=given)

    def scalar_of(self, values: Sequence[Value], scalars: Sequence[str]) -> str:
        """The one of `scalars` to which all of `values` convert."""
        if any(value.type.family not in _SIMPLE for value in values):
            raise self.refusal()
        given = {value.type.scalar for value in values}
        concrete = given - {ABSTRACT_INT, ABSTRACT_FLOAT}
        if len(concrete) > 1 or not concrete <= set(scalars):
            raise self.refusal()
        if concrete:
            (found,) = concrete
            if found in operators.INTEGERS and ABSTRACT_FLOAT in given:
                raise self.refusal()
            return found
        ranked = _RANKED[ABSTRACT_FLOAT if ABSTRACT_FLOAT in given else ABSTRACT_INT]
        found = next((scalar for scalar in ranked if scalar in scalars), "")
        if not found:
            raise self.refusal()
        return found

    def columns(
        self,
        scalars: Sequence[str],
        rows: Sequence[int] = ANY_ROWS,
        values: Sequence[Value] | None = None,
    ) -> tuple[int, str, list[tuple[Any, ...]]]:
        """The arguments converted to one type: its rows, its scalar, and the components of each argument."""
        values = self.values if values is None else values
        scalar = self.scalar_of(values, scalars)
        (count, *others) = {value.type.rows for value in values}
        if others or count not in rows:
            raise self.refusal()
        wanted = kinds.vector(count, scalar)
        converted = [self.conversions.implicit(value, wanted, self.offset).data for value in values]
        return count, scalar, [data if count > 1 else (data,) for data in converted]

    def one(self, index: int, scalar: str, rows: int = 1) -> Any:
        """Argument `index` as a `scalar`, or as a vector of `rows` of them."""
        value = self.values[index]
        if value.type.family not in _SIMPLE or value.type.rows != rows or self.scalar_of([value], (scalar,)) != scalar:
            raise self.refusal()
        return self.conversions.implicit(value, kinds.vector(rows, scalar), self.offset).data


# The number of a built-in's arguments, and the function that evaluates a call.
Builtin = tuple[int, Callable[[Call], Value]]


def componentwise(
    scalars: Sequence[str], function: Callable[..., Any], finish: Callable[[str, Any], Any] = operators.fit
) -> Callable[[Call], Value]:
    """A built-in that applies `function` to each component; its arguments have one type. `finish` rounds the result."""

    def run(call: Call) -> Value:
        rows, scalar, columns = call.columns(scalars)
        parts = [finish(scalar, attempt(function, parts)) for parts in zip(*columns, strict=True)]
        return from_parts(rows, scalar, parts)

    return run


def stepwise(scalars: Sequence[str], function: Callable[..., Any]) -> Callable[[Call], Value]:
    """A built-in that applies `function` to each component. `function` also takes the scalar type, to round each step."""

    def run(call: Call) -> Value:
        rows, scalar, columns = call.columns(scalars)
        return from_parts(rows, scalar, [function(scalar, *parts) for parts in zip(*columns, strict=True)])

    return run


def attempt(function: Callable[..., Any], parts: Sequence[Any]) -> Any:
    """`function` of `parts`. Raises Fault if Python raises an arithmetic error."""
    try:
        return function(*parts)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise Fault(str(error)) from None
