"""Numeric built-in functions on single components; ``select``, ``any`` and ``all``. WGSL §17.3, §17.5."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ... import layout
from ...layout import SCALARS
from .. import kinds, operators
from ..kinds import ABSTRACT_FLOAT, BOOL
from ..operators import ARITHMETIC, ArgumentFault, Fault
from ..values import Value, from_parts, parts_of
from .call import FLOATS, MINUS, NUMBERS, PLUS, TIMES, Builtin, Call, attempt, componentwise, stepwise
from .packing import to_half

# The exponent of the largest power of two that a float type holds, plus one (§17.5.33, ldexp).
_LARGEST_EXPONENT = {name: math.frexp(SCALARS[name].high)[1] for name in layout.FLOATS} | {ABSTRACT_FLOAT: 1024}


def _inverse_sqrt(x: float) -> float:
    return 1 / math.sqrt(x)


def _fract(x: float) -> float:
    return x - math.floor(x)


def _clamp(x: Any, low: Any, high: Any) -> Any:
    if low > high:
        raise ArgumentFault(f"clamp() from {low} to {high}", 1, 2)
    return min(max(x, low), high)


def _saturate(x: float) -> float:
    return min(max(x, 0.0), 1.0)


def _step(edge: float, x: float) -> float:
    return float(edge <= x)


def _power(x: float, y: float) -> float:
    if x < 0 or (x == 0 and y <= 0):
        raise Fault(f"pow() of {x} and {y}")
    return math.pow(x, y)


def _mix(scalar: str, a: float, b: float, t: float) -> Any:
    return PLUS(scalar, TIMES(scalar, a, MINUS(scalar, 1.0, t)), TIMES(scalar, b, t))


def _fma(scalar: str, a: float, b: float, c: float) -> Any:
    return PLUS(scalar, TIMES(scalar, a, b), c)


def _smoothstep(scalar: str, low: float, high: float, value: float) -> Any:
    if low == high:
        raise ArgumentFault(f"smoothstep() from {low} to {high}", 0, 1)
    t = _saturate(ARITHMETIC["/"](scalar, MINUS(scalar, value, low), MINUS(scalar, high, low)))
    return TIMES(scalar, TIMES(scalar, t, t), MINUS(scalar, 3.0, TIMES(scalar, 2.0, t)))


def _absolute(scalar: str, value: Any) -> Any:
    return operators.negated(scalar, value) if math.copysign(1, value) < 0 else value


def _sign(value: Any) -> Any:
    return (value > 0) - (value < 0)


def _rounded(scalar: str, value: Any) -> Any:
    return operators.wrap(scalar, value) if scalar in operators.INTEGERS else operators.fit(scalar, value)


def _mixed(call: Call) -> Value:
    """mix, whose last argument may be a scalar although the others are vectors."""
    a, b, t = call.values
    rows = a.type.rows
    if t.type.rows == 1 and t.type.family in ("scalar", "abstract") and rows > 1 and a.type.family == "vector":
        t = Value(kinds.vector(rows, t.type.scalar), (t.data,) * rows)
    rows, scalar, columns = call.columns(FLOATS, values=[a, b, t])
    return from_parts(rows, scalar, [_mix(scalar, *parts) for parts in zip(*columns, strict=True)])


def _ldexp(call: Call) -> Value:
    rows, scalar, (numbers,) = call.columns(FLOATS, values=call.values[:1])
    exponents = call.one(1, "i32", rows)
    parts: list[Any] = []
    for number, exponent in zip(numbers, exponents if rows > 1 else (exponents,), strict=True):
        if exponent > _LARGEST_EXPONENT[scalar]:
            raise ArgumentFault(f"ldexp() with the exponent {exponent} in {scalar}", 1, 1)
        parts.append(operators.fit(scalar, attempt(math.ldexp, (number, exponent))))
    return from_parts(rows, scalar, parts)


def _quantize(call: Call) -> Value:
    rows, _, (numbers,) = call.columns(("f32",))
    return from_parts(rows, "f32", [to_half(number) for number in numbers])


def _select(call: Call) -> Value:
    false, true, condition = call.values
    common = call.conversions.common([false.type, true.type], call.offset)
    if common.family not in ("scalar", "abstract", "vector"):
        raise call.refusal()
    no, yes = (call.conversions.implicit(value, common, call.offset) for value in (false, true))
    if condition.type is BOOL:
        return yes if condition.data else no
    if condition.type.scalar != "bool" or common.family != "vector" or common.rows != condition.type.rows:
        raise call.refusal()
    return Value(common, tuple(y if c else n for n, y, c in zip(no.data, yes.data, condition.data, strict=True)))


def _reduced(call: Call, of: Callable[[Any], bool]) -> Value:
    (value,) = call.values
    if value.type.scalar != "bool" or value.type.family not in ("scalar", "vector"):
        raise call.refusal()
    return Value(BOOL, of(parts_of(value)))


_ONE_FLOAT: dict[str, Callable[[Any], Any]] = {
    **{
        name: getattr(math, name)
        for name in "sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 log log2 radians degrees".split()
    },
    "inverseSqrt": _inverse_sqrt,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
    "fract": _fract,
    "saturate": _saturate,
}
FUNCTIONS: dict[str, Builtin] = {
    **{name: (1, componentwise(FLOATS, function)) for name, function in _ONE_FLOAT.items()},
    "pow": (2, componentwise(FLOATS, _power)),
    "atan2": (2, componentwise(FLOATS, math.atan2)),
    "step": (2, componentwise(FLOATS, _step)),
    "fma": (3, stepwise(FLOATS, _fma)),
    "smoothstep": (3, stepwise(FLOATS, _smoothstep)),
    "mix": (3, _mixed),
    "ldexp": (2, _ldexp),
    "quantizeToF16": (1, _quantize),
    "abs": (1, stepwise(NUMBERS, _absolute)),
    "sign": (1, componentwise([scalar for scalar in NUMBERS if scalar != "u32"], _sign, _rounded)),
    "min": (2, componentwise(NUMBERS, min, _rounded)),
    "max": (2, componentwise(NUMBERS, max, _rounded)),
    "clamp": (3, componentwise(NUMBERS, _clamp, _rounded)),
    "select": (3, _select),
    "any": (1, partial(_reduced, of=any)),
    "all": (1, partial(_reduced, of=all)),
}
