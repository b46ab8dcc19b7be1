"""The two kinds of record that every tool packs: their bytes as WGSL lays them out, and their values.

The offsets are written down by hand, so that what is expected does not come from any of the tools. The values follow
from the index alone: Python and JavaScript make the same ones without a file between them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np


class Member(NamedTuple):
    name: str
    kind: str  # "f4" or "u4", as numpy writes it
    width: int
    offset: int


class Record(NamedTuple):
    name: str
    members: tuple[Member, ...]
    stride: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """A structured dtype with WGSL's offsets."""
        names, kinds, widths, offsets = zip(*self.members, strict=True)
        formats = [kind if width == 1 else (kind, (width,)) for kind, width in zip(kinds, widths, strict=True)]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": self.stride})

    @property
    def words(self) -> int:
        """The values of a record, without padding."""
        return sum(member.width for member in self.members)

    @property
    def used(self) -> np.ndarray:
        """Which bytes of a record hold a value; the others are padding."""
        mask = np.zeros(self.stride, bool)
        for member in self.members:
            mask[member.offset : member.offset + 4 * member.width] = True
        return mask

    def parts(self) -> list[Member]:
        """The members, and each gap as a member without a name of so many bytes."""
        found, end = [], 0
        for member in (*self.members, Member("", "", 0, self.stride)):
            if member.offset > end:
                found.append(Member("", "x", member.offset - end, end))
            if member.name:
                found.append(member)
            end = member.offset + 4 * member.width
        return found


# No padding: each vec3f is followed by a scalar.
PARTICLE = Record(
    "Particle",
    (
        Member("position", "f4", 3, 0), Member("life", "f4", 1, 12), Member("velocity", "f4", 3, 16),
        Member("id", "u4", 1, 28), Member("color", "f4", 4, 32),
    ),
    48,
)  # fmt: skip

# Padding within and at the end: 4 bytes after each vec3f and 8 after the vec2f.
SPOT = Record(
    "Spot", (Member("position", "f4", 3, 0), Member("direction", "f4", 3, 16), Member("cone", "f4", 2, 32)), 48
)


def columns(record: Record, count: int) -> dict[str, np.ndarray]:
    """A contiguous column for each member. Integers count up; ways.mjs has the same formula for floats."""
    found: dict[str, np.ndarray] = {}
    first = 0
    starts = np.arange(count, dtype=np.uint32) * np.uint32(record.words)
    for member in record.members:
        if member.kind == "u4":
            found[member.name] = np.arange(count, dtype=np.uint32)
        else:
            column = np.empty((count, member.width), np.float32)
            for k in range(member.width):
                mixed = (starts + np.uint32(first + k)) * np.uint32(2654435761)
                np.multiply(mixed >> np.uint32(8), np.float32(2**-24), out=column[:, k], casting="same_kind")
            found[member.name] = column[:, 0].copy() if member.width == 1 else column
        first += member.width
    return found


class Case:
    """So many records: their columns, the same values as Python objects, and memory that is there."""

    def __init__(self, record: Record, count: int, fill: int = 0) -> None:
        self.record, self.count = record, count
        self.columns = columns(record, count)
        self.out = np.full(count * record.stride, fill, np.uint8)

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        """A tuple for each record; a vector is a tuple in it."""
        lists = (
            list(map(tuple, column.tolist())) if column.ndim > 1 else column.tolist()
            for column in self.columns.values()
        )  # fmt: skip
        return list(zip(*lists, strict=True))

    @cached_property
    def dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    @cached_property
    def new(self) -> Any:
        """What makes new arrays: np.zeros if there is padding, which assignment would leave as it is."""
        return np.empty if self.record.used.all() else np.zeros

    @cached_property
    def expected(self) -> np.ndarray:
        """The bytes that a shader would read, padding zero."""
        data = np.zeros(self.count, self.record.dtype)
        for name, column in self.columns.items():
            data[name] = column
        return data.view(np.uint8)


def difference(case: Case, data: np.ndarray) -> str:
    """How bytes differ from the expected ones, padding aside; empty if they do not."""
    record = case.record
    if data.size != case.expected.size:
        return f"{data.size / case.count:g} bytes a record, not {record.stride}"
    wrong = (data != case.expected).reshape(-1, record.stride) & record.used
    if not wrong.any():
        return ""
    row, byte = (int(k[0]) for k in np.nonzero(wrong))
    name = next(m.name for m in record.members if m.offset <= byte < m.offset + 4 * m.width)
    return f"{name} of record {row} differs at byte {byte}"


def padding(case: Case, data: np.ndarray, fill: int) -> str:
    """What is in the padding of memory that was full of `fill`: zero, kept, or something else."""
    if data.size != case.expected.size:
        return ""
    gaps = data.reshape(-1, case.record.stride)[:, ~case.record.used]
    return "zero" if not gaps.any() else "kept" if (gaps == fill).all() else "undefined"
