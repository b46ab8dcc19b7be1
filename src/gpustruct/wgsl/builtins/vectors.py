"""Built-in functions on whole vectors: products, lengths, reflections. WGSL §17.5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import operators
from ..operators import Fault
from ..values import Value, from_parts
from .call import FLOATS, MINUS, NUMBERS, PLUS, TIMES, VECTORS, Builtin, Call


def inner_product(scalar: str, a: Sequence[Any], b: Sequence[Any]) -> Any:
    """The sum of products, each step rounded to `scalar`."""
    total: Any = operators.fit(scalar, 0)
    for left, right in zip(a, b, strict=True):
        total = PLUS(scalar, total, TIMES(scalar, left, right))
    return total


def _dot(call: Call) -> Value:
    _, scalar, (a, b) = call.columns(NUMBERS, VECTORS)
    return from_parts(1, scalar, [inner_product(scalar, a, b)])


def _norm(scalar: str, a: Sequence[Any]) -> Any:
    """The length of a vector. Raises Fault if the sum of squares overflows (§17.5.36)."""
    return abs(a[0]) if len(a) == 1 else operators.fit(scalar, math.sqrt(inner_product(scalar, a, a)))


def _length(call: Call) -> Value:
    _, scalar, (a,) = call.columns(FLOATS)
    return from_parts(1, scalar, [_norm(scalar, a)])


def _distance(call: Call) -> Value:
    _, scalar, (a, b) = call.columns(FLOATS)
    return from_parts(1, scalar, [_norm(scalar, [MINUS(scalar, x, y) for x, y in zip(a, b, strict=True)])])


def _normalize(call: Call) -> Value:
    rows, scalar, (a,) = call.columns(FLOATS, VECTORS)
    length = _norm(scalar, a)
    if length == 0:
        raise Fault("normalize() of a vector of zeros")
    return from_parts(rows, scalar, [operators.fit(scalar, part / length) for part in a])


def _cross(call: Call) -> Value:
    _, scalar, (a, b) = call.columns(FLOATS, (3,))
    pairs = ((1, 2), (2, 0), (0, 1))
    return from_parts(
        3, scalar, [MINUS(scalar, TIMES(scalar, a[i], b[j]), TIMES(scalar, a[j], b[i])) for i, j in pairs]
    )


def _face_forward(call: Call) -> Value:
    rows, scalar, (normal, incident, reference) = call.columns(FLOATS, VECTORS)
    keep = inner_product(scalar, incident, reference) < 0
    return from_parts(rows, scalar, [part if keep else -part for part in normal])


def _reflect(call: Call) -> Value:
    rows, scalar, (incident, normal) = call.columns(FLOATS, VECTORS)
    twice = TIMES(scalar, 2, inner_product(scalar, normal, incident))
    parts = [MINUS(scalar, i, TIMES(scalar, twice, n)) for i, n in zip(incident, normal, strict=True)]
    return from_parts(rows, scalar, parts)


def _refract(call: Call) -> Value:
    ratio_type = call.values[2].type
    if ratio_type.rows != 1 or ratio_type.family not in ("scalar", "abstract"):
        raise call.refusal()
    scalar = call.scalar_of(call.values, FLOATS)
    rows, _, (incident, normal) = call.columns((scalar,), VECTORS, call.values[:2])
    ratio = call.one(2, scalar)
    along = inner_product(scalar, normal, incident)
    square = MINUS(scalar, 1, TIMES(scalar, along, along))
    inside = MINUS(scalar, 1, TIMES(scalar, TIMES(scalar, ratio, ratio), square))
    if inside < 0:
        return from_parts(rows, scalar, [operators.fit(scalar, 0)] * rows)
    normal_part = ratio * along + math.sqrt(inside)
    parts = [operators.fit(scalar, ratio * i - normal_part * n) for i, n in zip(incident, normal, strict=True)]
    return from_parts(rows, scalar, parts)


FUNCTIONS: dict[str, Builtin] = {
    "dot": (2, _dot),
    "length": (1, _length),
    "distance": (2, _distance),
    "normalize": (1, _normalize),
    "cross": (2, _cross),
    "faceForward": (3, _face_forward),
    "reflect": (2, _reflect),
    "refract": (3, _refract),
}
