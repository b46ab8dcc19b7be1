"""Built-in functions that pack several small numbers into a u32 and unpack them. WGSL §17.9, §17.10, §17.5 (dot4)."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from .. import operators
from ..operators import Fault
from ..values import Value, from_parts
from .call import Builtin, Call


class Packed(NamedTuple):
    """Numbers of the type `scalar` that a u32 stores: how many, their code in `struct`, and both conversions."""

    scalar: str
    parts: int
    code: str
    stored: Callable[[Any], Any]
    read: Callable[[Any], Any]

    def joined(self, parts: Sequence[Any]) -> Value:
        (word,) = struct.unpack("<I", struct.pack(f"<{self.parts}{self.code}", *map(self.stored, parts)))
        return from_parts(1, "u32", [word])

    def apart(self, word: int) -> list[Any]:
        return [self.read(part) for part in struct.unpack(f"<{self.parts}{self.code}", struct.pack("<I", word))]


def to_half(value: Any) -> Any:
    """`value` rounded to f16. Raises Fault if it is larger than the largest f16, even if it would be rounded to that."""
    if operators.is_beyond("f16", value):
        raise Fault(f"{value} does not fit f16")
    return operators.fit("f16", value)


def _normalized(parts: int, code: str, one: int) -> Packed:
    """Integers of which `one` means 1.0."""
    low = -1.0 if code.islower() else 0.0

    def stored(part: float) -> int:
        return math.floor(0.5 + one * min(1.0, max(low, part)))

    def read(part: int) -> Any:
        return operators.fit("f32", max(part / one, -1.0))

    return Packed("f32", parts, code, stored, read)


def _signed_byte(part: int) -> int:
    return (part + 128 & 0xFF) - 128


def _unsigned_byte(part: int) -> int:
    return part & 0xFF


_INTEGERS = {"4xI8": Packed("i32", 4, "b", _signed_byte, int), "4xU8": Packed("u32", 4, "B", _unsigned_byte, int)}
_PACKED = {
    "4x8snorm": _normalized(4, "b", 127),
    "4x8unorm": _normalized(4, "B", 255),
    "2x16snorm": _normalized(2, "h", 32767),
    "2x16unorm": _normalized(2, "H", 65535),
    "2x16float": Packed("f32", 2, "e", to_half, partial(operators.fit, "f32")),
    **_INTEGERS,
}


def _pack(call: Call, packed: Packed) -> Value:
    return packed.joined(call.one(0, packed.scalar, packed.parts))


def _pack_clamped(call: Call, packed: Packed) -> Value:
    low, high = (-128, 127) if packed.code == "b" else (0, 255)
    return packed.joined([min(max(part, low), high) for part in call.one(0, packed.scalar, packed.parts)])


def _unpack(call: Call, packed: Packed) -> Value:
    return from_parts(packed.parts, packed.scalar, packed.apart(call.one(0, "u32")))


def _dot(call: Call, packed: Packed) -> Value:
    a, b = (packed.apart(call.one(index, "u32")) for index in (0, 1))
    return from_parts(1, packed.scalar, [sum(x * y for x, y in zip(a, b, strict=True))])


FUNCTIONS: dict[str, Builtin] = {
    **{f"pack{name}": (1, partial(_pack, packed=packed)) for name, packed in _PACKED.items()},
    **{f"unpack{name}": (1, partial(_unpack, packed=packed)) for name, packed in _PACKED.items()},
    **{f"pack{name}Clamp": (1, partial(_pack_clamped, packed=packed)) for name, packed in _INTEGERS.items()},
    "dot4I8Packed": (2, partial(_dot, packed=_INTEGERS["4xI8"])),
    "dot4U8Packed": (2, partial(_dot, packed=_INTEGERS["4xU8"])),
}
