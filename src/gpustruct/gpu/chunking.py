"""Which records go into which chunk, and at which byte. Only integers: no device, no memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..layout import round_up
from ..packing import BoundPlan, Part

LINE = 64


class Span(NamedTuple):
    """Records [start, stop) of a part, and the byte of the buffer that the first of them goes to.

    The last `missing` bytes of the last record are padding outside the buffer; they are not copied.
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
    """Records [start, stop) of a part, packed into a chunk from byte `at` on."""

    part: Part
    start: int
    stop: int
    at: int


class Copy(NamedTuple):
    """`size` bytes from byte `source` of a chunk to byte `target` of the buffer. Neither must be a multiple of 4."""

    source: int
    target: int
    size: int


class ChunkPlan(NamedTuple):
    """What is packed into one chunk, how many bytes that takes, and the copies from there into the buffer."""

    pieces: list[Piece]
    copies: list[Copy]
    size: int

    @property
    def has_open_words(self) -> bool:
        """Whether a copy starts or ends inside a word of 4 bytes, whose other bytes must not change."""
        return any(copy.target % 4 or (copy.target + copy.size) % 4 for copy in self.copies)

    @staticmethod
    def words(copy: Copy) -> tuple[int, int, int]:
        """(source, target, size) of a copy, enlarged to whole words."""
        low, high = copy.source // 4 * 4, round_up(4, copy.source + copy.size)
        return low, copy.target // 4 * 4, high - low


def spans_of(bound: BoundPlan, target: int, end: int | None = None) -> list[Span]:
    """All records of a batch, from byte `target` of the buffer on. `end` is the buffer's size; None: it is large enough."""
    spans = [Span(part, 0, part.run.records, target + part.base) for part in bound.parts if part.run.records]
    if spans and end is not None and target + bound.size > end:
        spans[-1] = spans[-1]._replace(missing=bound.padding)
    return spans


def chunk_plans(spans: Sequence[Span], limit: int, at: int = 0) -> Iterator[ChunkPlan]:
    """Split spans into plans of at most `limit` bytes. They are split between records, and at whole words where possible.

    The first plan starts at byte `at` of its chunk. A plan is larger than `limit` only where one record (or two, if one
    ends inside a word) is.
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
