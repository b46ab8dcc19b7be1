"""Built-in functions on the bits of integers, and ``bitcast``. WGSL §17.2 (bit reinterpretation), §17.5 (numeric)."""

from __future__ import annotations

import struct
from collections.abc import Callable

from ...layout import SCALARS
from .. import kinds, operators
from ..kinds import ABSTRACT_FLOAT, ABSTRACT_INT
from ..operators import ArgumentFault, fit
from ..values import Value, from_parts, parts_of
from .call import INTEGERS, Builtin, Call

_CODE = {name: row.format[1:] for name, row in SCALARS.items()}


def _leading_zeros(bits: int) -> int:
    return 32 - bits.bit_length()


def _trailing_zeros(bits: int) -> int:
    return (bits & -bits).bit_length() - 1 if bits else 32


def _first_leading_bit(bits: int) -> int:
    return bits.bit_length() - 1


def _first_trailing_bit(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _reversed(bits: int) -> int:
    return int(f"{bits:032b}"[::-1], 2)


def _counting(function: Callable[[int], int], *, signed: bool = False) -> Callable[[Call], Value]:
    """A built-in on the 32 bits of an integer. With `signed`, negative numbers are inverted first."""

    def run(call: Call) -> Value:
        rows, scalar, (numbers,) = call.columns(INTEGERS)
        parts = [~number if signed and number < 0 else number for number in numbers]
        return from_parts(rows, scalar, [operators.wrap(scalar, function(part & 0xFFFFFFFF)) for part in parts])

    return run


def _field(call: Call, first: int) -> tuple[int, int]:
    """The offset and the count of a bit field: the arguments `first` and `first` + 1."""
    offset, count = call.one(first, "u32"), call.one(first + 1, "u32")
    if offset + count > 32:
        raise ArgumentFault(f"{call.name}() of {count} bits from bit {offset}", first, first + 1)
    return offset, count


def _extract(call: Call) -> Value:
    offset, count = _field(call, 1)
    rows, scalar, (numbers,) = call.columns(INTEGERS, values=call.values[:1])
    parts: list[int] = []
    for number in numbers:
        field = number >> offset & ((1 << count) - 1)
        negative = scalar == "i32" and count and field >> (count - 1)
        parts.append(field - (1 << count) if negative else field)
    return from_parts(rows, scalar, parts)


def _insert(call: Call) -> Value:
    offset, count = _field(call, 2)
    rows, scalar, columns = call.columns(INTEGERS, values=call.values[:2])
    mask = ((1 << count) - 1) << offset
    parts = [
        operators.wrap(scalar, number & ~mask | new << offset & mask) for number, new in zip(*columns, strict=True)
    ]
    return from_parts(rows, scalar, parts)


def _source(call: Call) -> Value:
    """The argument of bitcast, converted to a concrete type."""
    (value,) = call.values
    if value.type.family not in ("scalar", "abstract", "vector") or value.type.scalar == "bool":
        raise call.refusal()
    scalar, rows = value.type.scalar, value.type.rows
    if scalar == ABSTRACT_INT and call.result is not None and call.result.scalar == "u32":
        parts = [part + 2**32 if -(2**31) <= part < 0 else fit("u32", part) for part in parts_of(value)]
        return from_parts(rows, "u32", parts)
    scalar = {ABSTRACT_INT: "i32", ABSTRACT_FLOAT: "f32"}.get(scalar, scalar)
    return call.conversions.implicit(value, kinds.vector(rows, scalar), call.offset)


def _bitcast(call: Call) -> Value:
    value, wanted = _source(call), call.result
    if wanted is None or wanted.family not in ("scalar", "vector") or wanted.scalar not in _CODE:
        raise call.refusal()
    before = f"<{value.type.rows}{_CODE[value.type.scalar]}"
    after = f"<{wanted.rows}{_CODE[wanted.scalar]}"
    if struct.calcsize(before) != struct.calcsize(after):
        raise call.refusal()
    data = struct.pack(before, *parts_of(value))
    parts = [operators.fit(wanted.scalar, part) for part in struct.unpack(after, data)]
    return from_parts(wanted.rows, wanted.scalar, parts)


FUNCTIONS: dict[str, Builtin] = {
    "countOneBits": (1, _counting(int.bit_count)),
    "countLeadingZeros": (1, _counting(_leading_zeros)),
    "countTrailingZeros": (1, _counting(_trailing_zeros)),
    "firstLeadingBit": (1, _counting(_first_leading_bit, signed=True)),
    "firstTrailingBit": (1, _counting(_first_trailing_bit)),
    "reverseBits": (1, _counting(_reversed)),
    "extractBits": (3, _extract),
    "insertBits": (4, _insert),
    "bitcast": (1, _bitcast),
}
