"""Built-in functions that pack several small numbers into a u32 and unpack them. WGSL §17.9, §17.10, §17.5 (dot4)."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import operators
from ..operators import Fault
from ..values import Value, from_parts
from .call import Builtin, Call


class Packed(NamedTuple):
    """How parts are stored in a u32: their number, their code in `struct`, and the integer that means 1.0."""

    parts: int
    code: str
    scale: int = 0


_NORMALIZED = {
    "4x8snorm": Packed(4, "b", 127),
    "4x8unorm": Packed(4, "B", 255),
    "2x16snorm": Packed(2, "h", 32767),
    "2x16unorm": Packed(2, "H", 65535),
}
_INTEGERS = {"4xI8": ("i32", Packed(4, "b")), "4xU8": ("u32", Packed(4, "B"))}


def _joined(packed: Packed, parts: Sequence[Any]) -> Value:
    (word,) = struct.unpack("<I", struct.pack(f"<{packed.parts}{packed.code}", *parts))
    return from_parts(1, "u32", [word])


def _apart(packed: Packed, word: int) -> tuple[Any, ...]:
    return struct.unpack(f"<{packed.parts}{packed.code}", struct.pack("<I", word))


def _pack_normalized(packed: Packed) -> Callable[[Call], Value]:
    low = -1.0 if packed.code.islower() else 0.0

    def run(call: Call) -> Value:
        parts = call.one(0, "f32", packed.parts)
        return _joined(packed, [math.floor(0.5 + packed.scale * min(1.0, max(low, part))) for part in parts])

    return run


def _unpack_normalized(packed: Packed) -> Callable[[Call], Value]:
    def run(call: Call) -> Value:
        parts = _apart(packed, call.one(0, "u32"))
        return from_parts(packed.parts, "f32", [operators.fit("f32", max(part / packed.scale, -1.0)) for part in parts])

    return run


def _pack_integers(scalar: str, packed: Packed, *, clamped: bool) -> Callable[[Call], Value]:
    low, high = (-128, 127) if packed.code == "b" else (0, 255)

    def run(call: Call) -> Value:
        parts = call.one(0, scalar, 4)
        if clamped:
            parts = [min(max(part, low), high) for part in parts]
        return _joined(Packed(4, "B"), [part & 0xFF for part in parts])

    return run


def _unpack_integers(scalar: str, packed: Packed) -> Callable[[Call], Value]:
    return lambda call: from_parts(4, scalar, list(_apart(packed, call.one(0, "u32"))))


def _dot(scalar: str, packed: Packed) -> Callable[[Call], Value]:
    def run(call: Call) -> Value:
        a, b = (_apart(packed, call.one(index, "u32")) for index in (0, 1))
        return from_parts(1, scalar, [sum(x * y for x, y in zip(a, b, strict=True))])

    return run


def to_half(value: Any) -> Any:
    """`value` rounded to f16. Raises Fault if it is larger than the largest f16, even if it would be rounded to that."""
    if operators.is_beyond("f16", value):
        raise Fault(f"{value} does not fit f16")
    return operators.fit("f16", value)


def _pack_halves(call: Call) -> Value:
    parts = call.one(0, "f32", 2)
    return _joined(Packed(2, "e"), [to_half(part) for part in parts])


def _unpack_halves(call: Call) -> Value:
    parts = _apart(Packed(2, "e"), call.one(0, "u32"))
    return from_parts(2, "f32", [operators.fit("f32", part) for part in parts])


FUNCTIONS: dict[str, Builtin] = {
    **{f"pack{name}": (1, _pack_normalized(packed)) for name, packed in _NORMALIZED.items()},
    **{f"unpack{name}": (1, _unpack_normalized(packed)) for name, packed in _NORMALIZED.items()},
    **{f"pack{name}": (1, _pack_integers(*each, clamped=False)) for name, each in _INTEGERS.items()},
    **{f"pack{name}Clamp": (1, _pack_integers(*each, clamped=True)) for name, each in _INTEGERS.items()},
    **{f"unpack{name}": (1, _unpack_integers(*each)) for name, each in _INTEGERS.items()},
    "dot4I8Packed": (2, _dot(*_INTEGERS["4xI8"])),
    "dot4U8Packed": (2, _dot(*_INTEGERS["4xU8"])),
    "pack2x16float": (1, _pack_halves),
    "unpack2x16float": (1, _unpack_halves),
}
