"""Arithmetic of matrices, ``determinant`` and ``transpose``. WGSL §8.7 (arithmetic), §17.5.

The data of a matrix is a tuple of columns, and a column is a tuple of numbers, one for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...layout import FLOATS
from .. import kinds
from ..kinds import ABSTRACT_FLOAT, ABSTRACT_INT, Type
from ..operators import ARITHMETIC
from ..values import Conversions, Value, each
from .call import TIMES, Builtin, Call
from .vectors import inner_product


def arithmetic(conversions: Conversions, sign: str, left: Value, right: Value, offset: int) -> Value | None:
    """``+``, ``-`` and ``*`` if one side is a matrix; None if the operator has no meaning for these types."""
    scalar = _scalar(left.type, right.type)
    if scalar is None:
        return None
    a, b = (conversions.implicit(value, _with_scalar(value.type, scalar), offset) for value in (left, right))
    if a.type.family == b.type.family == "matrix" and sign in ("+", "-"):
        if (a.type.rows, a.type.columns) != (b.type.rows, b.type.columns):
            return None
        run = ARITHMETIC[sign]
        parts = tuple(
            tuple(run(scalar, x, y) for x, y in zip(*columns, strict=True))
            for columns in zip(a.data, b.data, strict=True)
        )
        return Value(a.type, parts)
    return _product(scalar, a, b) if sign == "*" else None


def _scalar(left: Type, right: Type) -> str | None:
    scalars = {left.scalar, right.scalar} - {ABSTRACT_INT, ABSTRACT_FLOAT}
    families = {left.family, right.family}
    if len(scalars) > 1 or not scalars <= {*FLOATS} or not families <= {"scalar", "abstract", "vector", "matrix"}:
        return None
    return scalars.pop() if scalars else ABSTRACT_FLOAT


def _with_scalar(kind: Type, scalar: str) -> Type:
    return kinds.matrix(kind.columns, kind.rows, scalar) if kind.family == "matrix" else kinds.vector(kind.rows, scalar)


def _product(scalar: str, a: Value, b: Value) -> Value | None:
    for matrix, factor in ((a, b), (b, a)):
        if factor.type.family in ("scalar", "abstract"):
            return Value(matrix.type, each(partial(TIMES, scalar, factor.data), matrix.data))
    if a.type.family == "vector":
        if a.type.rows != b.type.rows:
            return None
        parts = tuple(inner_product(scalar, a.data, column) for column in b.data)
        return Value(kinds.vector(b.type.columns, scalar), parts)
    columns = (b.data,) if b.type.family == "vector" else b.data
    if a.type.columns != b.type.rows:
        return None
    rows = tuple(zip(*a.data, strict=True))
    result = tuple(tuple(inner_product(scalar, row, column) for row in rows) for column in columns)
    if b.type.family == "vector":
        return Value(kinds.vector(a.type.rows, scalar), result[0])
    return Value(kinds.matrix(b.type.columns, a.type.rows, scalar), result)


def _transpose(call: Call) -> Value:
    (value,) = call.values
    if value.type.family != "matrix":
        raise call.refusal()
    kind = kinds.matrix(value.type.rows, value.type.columns, value.type.scalar)
    return Value(kind, tuple(zip(*value.data, strict=True)))


def _determinant(call: Call) -> Value:
    (value,) = call.values
    if value.type.family != "matrix" or value.type.rows != value.type.columns:
        raise call.refusal()
    scalar = value.type.scalar
    return Value(kinds.PLAIN[scalar], _expanded(scalar, value.data))


def _expanded(scalar: str, columns: Sequence[Sequence[Any]]) -> Any:
    """The determinant, by expansion along the first row. Each step is rounded to the type."""
    if len(columns) == 1:
        return columns[0][0]
    total: Any = 0.0
    for index, column in enumerate(columns):
        others = [other[1:] for place, other in enumerate(columns) if place != index]
        part = TIMES(scalar, column[0], _expanded(scalar, others))
        total = ARITHMETIC["-" if index % 2 else "+"](scalar, total, part)
    return total


FUNCTIONS: dict[str, Builtin] = {
    "transpose": (1, _transpose),
    "determinant": (1, _determinant),
}
