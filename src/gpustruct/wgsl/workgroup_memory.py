"""The size of variables in workgroup memory, also of types that buffers cannot hold. WGSL §14.4.1 (alignment and size)."""

from __future__ import annotations

from typing import NamedTuple

from ..layout import round_up
from .kinds import Type
from .naga_additions import SCALARS_64_BIT
from .structs import Structs

# WebGPU rounds the size of each variable up to this when it adds them up.
GRANULE = 16


class Footprint(NamedTuple):
    """Alignment and size."""

    align: int
    size: int


def bytes_of(structs: Structs, kind: Type) -> int | None:
    """The bytes that count for the limit on workgroup memory; None if they depend on an override without a value."""
    found = _footprint(structs, kind)
    return None if found is None else round_up(GRANULE, found.size)


def _footprint(structs: Structs, kind: Type) -> Footprint | None:
    if kind.cls is not None:
        return Footprint(kind.cls.__layout__.align, kind.cls.__layout__.size)
    if kind.family == "struct":
        return _struct(structs, kind)
    if kind.element is not None:
        element = _footprint(structs, kind.element)
        if element is None or kind.count is None:
            return None
        return Footprint(element.align, kind.count * round_up(*element))
    if kind.family == "buffer":
        return None if kind.count is None else Footprint(4, kind.count)
    scalar = 8 if kind.scalar in SCALARS_64_BIT else 4
    align, size = scalar * (4 if kind.rows == 3 else kind.rows), scalar * kind.rows
    return Footprint(align, kind.columns * round_up(align, size) if kind.columns > 1 else size)


def _struct(structs: Structs, kind: Type) -> Footprint | None:
    align, end = 1, 0
    for name, inner in kind.members:
        found = _footprint(structs, inner)
        if found is None:
            return None
        member = f"{kind.name}.{name}"
        own = structs.explicit.get((member, "align"), found.align)
        align = max(align, own)
        end = round_up(own, end) + structs.explicit.get((member, "size"), found.size)
    return Footprint(align, round_up(align, end))
