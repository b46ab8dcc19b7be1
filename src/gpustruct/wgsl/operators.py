"""Arithmetic of const-expressions on scalars. WGSL §8.7 (arithmetic), §15.7 (floating point), §17 (built-ins).

Numbers are Python's. Each result is rounded or wrapped to its WGSL type, or the operation raises `Fault`.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from .. import layout
from ..layout import SCALARS
from .kinds import ABSTRACT_FLOAT, ABSTRACT_INT

Number = int | float | bool

_BITS = {name: (int(SCALARS[name].low), int(SCALARS[name].high)) for name in layout.INTEGERS}
_BITS[ABSTRACT_INT] = _BITS["i64"] = -(2**63), 2**63 - 1
_BITS["u64"] = 0, 2**64 - 1
_LARGEST_IN_F32 = {"i32": 2**31 - 2**7, "u32": 2**32 - 2**8, "i64": 2**63 - 2**39, "u64": 2**64 - 2**40}
INTEGERS = tuple(_BITS)
CONCRETE_INTEGERS = (*layout.INTEGERS, "i64", "u64")
FLOATS = (*layout.FLOATS, ABSTRACT_FLOAT, "f64")
_FORMAT = {name: SCALARS[name].format for name in layout.FLOATS}


class Fault(Exception):
    """An operation that has no value: overflow, division by zero, a shift too far."""


class ArgumentFault(Fault):
    """A fault that the arguments `first` to `last` of a built-in cause, whatever the values of the others."""

    def __init__(self, text: str, first: int, last: int) -> None:
        super().__init__(text)
        self.first = first
        self.last = last


def fit(scalar: str, value: Number) -> Number:
    """`value` in the type `scalar`, with floats rounded. Raises Fault if the type cannot represent it."""
    if scalar == "bool":
        return bool(value)
    if scalar in _BITS:
        low, high = _BITS[scalar]
        if not low <= value <= high:
            raise Fault(f"{value} does not fit {scalar}")
        return int(value)
    try:
        number = float(value)
        if scalar in _FORMAT:
            number = struct.unpack(_FORMAT[scalar], struct.pack(_FORMAT[scalar], number))[0]
    except (OverflowError, struct.error):
        raise Fault(f"{value} does not fit {scalar}") from None
    if not math.isfinite(number):
        raise Fault(f"{number} is not a finite {scalar}")
    return number


def wrap(scalar: str, value: int) -> int:
    """`value` wrapped to the bits of a concrete integer type; Fault if it does not fit an abstract one."""
    if scalar == ABSTRACT_INT:
        return int(fit(scalar, value))
    low, high = _BITS[scalar]
    return (value - low & (high - low)) + low


def convert(value: Number, before: str, after: str) -> Number:
    """An explicit conversion such as ``u32(e)`` (§17.1.2). It truncates floats, and keeps the bits of integers."""
    if after == "bool":
        return bool(value)
    if after in CONCRETE_INTEGERS:
        if before in FLOATS:
            # The result is the nearest integer that is also a value of the float type: 5e9f becomes 4294967040u.
            low, high = _BITS[after]
            return min(max(int(value), low), _LARGEST_IN_F32[after] if before == "f32" else high)
        return wrap(after, int(value)) if before in CONCRETE_INTEGERS else fit(after, int(value))
    return fit(after, value)


def negated(scalar: str, value: Number) -> Number:
    """``-value``. The negation of a type's lowest integer is that integer itself (§8.7)."""
    if scalar in _BITS:
        return value if value == _BITS[scalar][0] else wrap(scalar, int(-value))
    return fit(scalar, -value)


def is_beyond(scalar: str, value: Number) -> bool:
    """Whether `value` is larger than the largest `scalar`, even if it is rounded to that (§15.7.3)."""
    return scalar in _FORMAT and abs(value) > SCALARS[scalar].high


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise Fault("division by zero")
    result = abs(a) // abs(b)
    return result if (a < 0) == (b < 0) else -result


def _divide(scalar: str, a: Any, b: Any) -> Number:
    if scalar in INTEGERS:
        return fit(scalar, _quotient(a, b))
    if b == 0:
        raise Fault("division by zero")
    return fit(scalar, a / b)


def _remainder(scalar: str, a: Any, b: Any) -> Number:
    if scalar in INTEGERS:
        fit(scalar, _quotient(a, b))
        return a - b * _quotient(a, b)
    _divide(scalar, a, b)
    return fit(scalar, math.fmod(a, b))


def _arithmetic(operation: Callable[[Any, Any], Any]) -> Callable[[str, Any, Any], Number]:
    def run(scalar: str, a: Any, b: Any) -> Number:
        result = operation(a, b)
        return wrap(scalar, result) if scalar in INTEGERS else fit(scalar, result)

    return run


ARITHMETIC: dict[str, Callable[[str, Any, Any], Number]] = {
    "+": _arithmetic(lambda a, b: a + b),
    "-": _arithmetic(lambda a, b: a - b),
    "*": _arithmetic(lambda a, b: a * b),
    "/": _divide,
    "%": _remainder,
}
COMPARISON: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
BITWISE: dict[str, Callable[[Any, Any], Any]] = {
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def shift_limit(scalar: str) -> int:
    """The number of bits of an integer type. A shift must be by less."""
    return 32 if scalar in ("i32", "u32") else 64


def shift(sign: str, scalar: str, value: int, by: int) -> int:
    """``<<`` or ``>>`` (§8.9). Raises Fault for a shift by too many bits, and if a left shift loses bits."""
    if by >= shift_limit(scalar) and (scalar != ABSTRACT_INT or (value and sign == "<<")):
        raise Fault(f"a shift by {by} in {scalar}")
    return value >> by if sign == ">>" else int(fit(scalar, value << by))


_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)(l?[iu]|)")
_FLOAT = re.compile(
    r"((?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)(l?f|h|)|(0|[1-9][0-9]*)(l?f|h)"
)
_HEX_FLOAT = re.compile(
    r"(0[xX](?:[0-9a-fA-F]+\.[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+(?=[fh]?$)|$)|0[xX][0-9a-fA-F]+[pP][+-]?[0-9]+)([fh]?)"
)
_SUFFIX = {row.suffix: name for name, row in SCALARS.items()} | {"li": "i64", "lu": "u64", "lf": "f64"}
_LONGEST = 400


class Literal(NamedTuple):
    """The type and the value of a number in the text.

    `is_beyond` says that it is larger than the largest value; `is_exact`, that it was not rounded.
    """

    scalar: str
    value: Number
    is_beyond: bool = False
    is_exact: bool = True


def literal(text: str) -> Literal | None:
    """The meaning of a numeric literal (§3.5.1); None if its form is wrong. Raises Fault if its type cannot hold it."""
    if len(text) > _LONGEST:
        raise Fault(f"a literal of {len(text)} characters")
    if found := _INTEGER.fullmatch(text):
        scalar = _SUFFIX.get(found[2], ABSTRACT_INT)
        return Literal(scalar, fit(scalar, int(found[1], 16 if found[1][:2] in ("0x", "0X") else 10)))
    if found := _FLOAT.fullmatch(text):
        scalar = _SUFFIX.get(found[2] or found[4] or "", ABSTRACT_FLOAT)
        written = float(found[1] or found[3])
        return Literal(scalar, fit(scalar, written), is_beyond(scalar, written))
    if found := _HEX_FLOAT.fullmatch(text):
        return _hexadecimal(found[1], _SUFFIX.get(found[2], ABSTRACT_FLOAT))
    return None


def _hexadecimal(text: str, scalar: str) -> Literal:
    """A hexadecimal float. One of a concrete type must be exact."""
    digits, _, exponent = text[2:].lower().partition("p")
    whole, _, fraction = digits.partition(".")
    mantissa = int(whole + fraction, 16)
    try:
        value = fit(scalar, float.fromhex(text))
    except (OverflowError, ValueError):
        raise Fault(f"{text} does not fit {scalar}") from None
    power = int(exponent or 0) - 4 * len(fraction)
    is_exact = mantissa == 0 or (abs(power) < 5000 and value == mantissa * Fraction(2) ** power)
    if not is_exact and scalar in _FORMAT:
        raise Fault(f"{text} is not exactly an {scalar}")
    return Literal(scalar, value, is_exact=is_exact)
