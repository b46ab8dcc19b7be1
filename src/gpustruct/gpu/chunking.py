"""Which records go into which chunk, and at which byte. Integers only: no device, no memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..layout import round_up
from ..packing import BoundPlan, Part

LINE = 64


class Span(NamedTuple):
    """Records [start, stop) of a part, and the byte of the buffer where the first of them goes.

    `missing` bytes of the last record's padding are outside the buffer, and are not copied.
    """

    part: Part
    start: int
    stop: int
    target: int
    missing: int = 0

    @property
    def size(self) -> int:
        return (self.stop - self.start) * self.part.stride


class Piece(NamedTuple):
    """Records [start, stop) of a part, packed from byte `at` of a chunk on."""

    part: Part
    start: int
    stop: int
    at: int


class Copy(NamedTuple):
    """Bytes of a chunk, and where in the buffer they go; neither need be a multiple of 4."""

    source: int
    target: int
    size: int


class ChunkPlan(NamedTuple):
    """What one chunk carries."""

    pieces: list[Piece]
    copies: list[Copy]
    size: int

    @property
    def has_open_words(self) -> bool:
        """Whether a copy starts or ends inside a word, whose other bytes must stay as they are."""
        return any(copy.target % 4 or (copy.target + copy.size) % 4 for copy in self.copies)

    @staticmethod
    def words(copy: Copy) -> tuple[int, int, int]:
        """(source, target, size) of a copy, made larger to whole words."""
        low, high = copy.source // 4 * 4, round_up(4, copy.source + copy.size)
        return low, copy.target // 4 * 4, high - low


def spans_of(bound: BoundPlan, target: int, end: int | None = None) -> list[Span]:
    """Every record of a batch, from byte `target` of the buffer on, which has `end` bytes (None: enough)."""
    spans = [Span(part, 0, part.run.records, target + part.base) for part in bound.parts if part.run.records]
    if spans and end is not None and target + bound.size > end:
        spans[-1] = spans[-1]._replace(missing=bound.padding)
    return spans


def chunk_plans(spans: Sequence[Span], limit: int, at: int = 0) -> Iterator[ChunkPlan]:
    """Split spans into plans of at most `limit` bytes, at records, and at words of the buffer where records allow it.

    The first plan starts at byte `at` of its chunk. Only a record (or two, where one ends inside a word) that is larger than `limit` makes a larger plan.
    """
    pieces: list[Piece] = []
    copies: list[Copy] = []
    for span in spans:
        stride, start = span.part.stride, span.start
        while start < span.stop:
            target = span.target + (start - span.start) * stride
            if copies and copies[-1].target + copies[-1].size == target:
                copy = copies.pop()
            else:
                at = round_up(LINE, at) + target % 4
                copy = Copy(at, target, 0)
            take = min(span.stop - start, (limit - 4 - at) // stride)
            if 0 < take < span.stop - start and (target + take * stride) % 4 and stride % 4:
                take -= 1
            if take <= 0 and (pieces or copy.size):
                if copy.size:
                    copies.append(copy)
                yield ChunkPlan(pieces, copies, at)
                pieces, copies, at = [], [], 0
                continue
            if take <= 0:
                take = min(span.stop - start, 2 if stride % 4 else 1)
            pieces.append(Piece(span.part, start, start + take, at))
            at += take * stride
            start += take
            missing = span.missing if start == span.stop else 0
            copies.append(Copy(copy.source, copy.target, copy.size + take * stride - missing))
    if pieces:
        yield ChunkPlan(pieces, copies, at)
