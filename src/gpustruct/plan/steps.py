"""The parts of a plan: steps, loops and spans."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import _kernel

NO_COLUMN = -1  # its bytes are zeros

Step = dict[str, Any]  # the fields of _kernel.STEP that are not zero


class Steps(NamedTuple):
    """Steps, loops and temporaries, as the arrays that the kernel takes."""

    steps: np.ndarray
    loops: np.ndarray
    temps: np.ndarray


class Loop(NamedTuple):
    """One dimension of a member: its size, and the bytes from one entry to the next in the record and in the column."""

    size: int
    record_step: int
    column_step: int


class Span(NamedTuple):
    """`size` contiguous bytes, at one offset in the packed record and at another in the column's record."""

    record_offset: int
    size: int
    column: int
    column_offset: int

    @property
    def end(self) -> int:
        return self.record_offset + self.size


class Lowering:
    """A plan in the making: steps in the order in which they run, spans, and the (start, stop) of the bytes written."""

    def __init__(self, forward: bool, columns: int) -> None:
        self.forward, self.columns = forward, columns
        self.convert_in: list[Step] = []
        self.body: list[Step] = []
        self.convert_out: list[Step] = []
        self.loops: list[tuple[int, int, int]] = []
        self.temps: list[int] = []
        self.spans: list[Span] = []
        self.written: list[tuple[int, int]] = []

    def finish(self) -> Steps:
        chosen = [*self.convert_in, *self.body, *self.convert_out]
        steps = np.zeros(len(chosen), _kernel.STEP)
        for row, fields in zip(steps, chosen, strict=True):
            for name, value in fields.items():
                row[name] = value
        loops = np.array(self.loops, np.int64).reshape(-1, 3)
        return Steps(steps, loops, np.array(self.temps, np.int64))


def from_columns(*columns: int, offsets: tuple[int, ...]) -> Step:
    none = 4 - len(columns)
    return {"column": [*columns] + [NO_COLUMN] * none, "column_offset": [*offsets] + [0] * none}


def copy(span: Span) -> Step:
    step: Step = {"kind": _kernel.STEP_COPY, "record_offset": span.record_offset, "copy.bytes": span.size}
    return step | from_columns(span.column, offsets=(span.column_offset,))


def zero(start: int, stop: int) -> Step:
    return {"kind": _kernel.STEP_ZERO, "record_offset": start, "zero.bytes": stop - start, **from_columns(offsets=())}


def offsets_of(loops: list[Loop], record_offset: int, column_offset: int) -> Iterator[tuple[int, int]]:
    """The offsets of each round of the loops, in the record and in the column."""
    for rounds in itertools.product(*(range(loop.size) for loop in loops)):
        at, start = record_offset, column_offset
        for k, loop in zip(rounds, loops, strict=True):
            at, start = at + k * loop.record_step, start + k * loop.column_step
        yield at, start


def join_loops(loops: list[Loop]) -> list[Loop]:
    """Loops sorted by their steps in the record, the largest first; two that are contiguous on both sides become one."""
    joined: list[Loop] = []
    for loop in sorted(loops, key=lambda loop: -abs(loop.record_step)):
        outer = joined[-1] if joined else None
        steps = loop.size * loop.record_step, loop.size * loop.column_step
        if outer is not None and (outer.record_step, outer.column_step) == steps:
            joined[-1] = loop._replace(size=outer.size * loop.size)
        else:
            joined.append(loop)
    return joined


def merge_spans(spans: list[Span]) -> list[Span]:
    """Spans sorted by their offset in the record; two that are contiguous on both sides become one."""
    merged: list[Span] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        if last is not None and last.end == span.record_offset and follows(last, span):
            merged[-1] = last._replace(size=last.size + span.size)
        else:
            merged.append(span)
    return merged


def follows(last: Span, span: Span) -> bool:
    """Whether a span starts where `last` ends, in the same column."""
    return last.column == span.column and last.column_offset + last.size == span.column_offset
