"""How the members of a struct are placed: one function, and one value for each set of rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .arithmetic import round_up


class Rules(NamedTuple):
    """A set of rules.

    With `carries_align`, a member's @align raises the alignment of its struct. `least_align` is the smallest alignment
    of a struct.
    """

    name: str
    carries_align: bool
    least_align: int = 1


# WGSL §14.4.1; and naga's version of it (gfx-rs/wgpu#4377), where @align affects its member and the size of the struct,
# but not the alignment of the struct as a member of another.
WGSL = Rules("WGSL", carries_align=True)
NAGA = Rules("naga", carries_align=False)
# WebGPU §10.3.6 (vertex state): the bytes from one record to the next are a multiple of 4.
VERTEX = Rules("vertex data", carries_align=True, least_align=4)


class Sized(NamedTuple):
    """The align and size of a member's type, and the member's @align and @size."""

    align: int
    size: int
    explicit_align: int | None = None
    explicit_size: int | None = None


class Placement(NamedTuple):
    """Where a struct's members start, and its align and size, in bytes."""

    align: int
    size: int
    offsets: tuple[int, ...]


def place(rules: Rules, members: Iterable[Sized]) -> Placement:
    """Put each member at the next multiple of its align, and round the end up to the largest.

    >>> place(WGSL, [Sized(4, 4), Sized(4, 4, explicit_align=16)])
    Placement(align=16, size=32, offsets=(0, 16))
    >>> place(NAGA, [Sized(4, 4), Sized(4, 4, explicit_align=16)]).align
    4
    >>> place(VERTEX, [Sized(1, 1), Sized(2, 2)])
    Placement(align=4, size=4, offsets=(0, 2))
    """
    offsets: list[int] = []
    end, own, effective = 0, rules.least_align, rules.least_align
    for member in members:
        align = member.explicit_align or member.align
        offsets.append(round_up(align, end))
        end = offsets[-1] + (member.explicit_size or member.size)
        own, effective = max(own, member.align), max(effective, align)
    return Placement(effective if rules.carries_align else own, round_up(effective, end), tuple(offsets))
