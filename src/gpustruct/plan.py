"""Layout × column dtypes -> the flat list of steps that the kernel runs. See csrc/scatter.h.

WGSL's alignment rules keep every scalar and vector inside a 16-byte slot, so a record is a row of
slots, and each slot is one of five shapes made of pieces. What is not slot-shaped (halves, a record's
odd tail) is copied piece by piece; arrays too large to unroll become loops.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from . import _kernel
from .columns import SCALAR_CODES, Source
from .layout import SCALARS, Leaf

ITEM_SIZE = {code: int(name[1]) for name, code in _kernel.TYPE_CODES.items()}
NO_COLUMN = -1  # its bytes are zeros

# Beyond these a record's steps would outgrow the instruction cache and the block would leave L1.
UNROLLED_SCALARS = 256
UNROLLED_SPANS = 1024
# A step has bits for so many bytes of a record.
MASK_BYTES = 3 * 64 * 4

Step = dict[str, Any]  # the fields of _kernel.STEP that are not zero


class Steps(NamedTuple):
    """Steps, loops and temporaries, as arrays that the kernel takes as they are."""

    steps: np.ndarray
    loops: np.ndarray
    temps: np.ndarray


class Loop(NamedTuple):
    """One dimension of a member: how many, and the bytes from one to the next on either side."""

    size: int
    record_step: int
    column_step: int


class Span(NamedTuple):
    """`size` contiguous bytes, at one offset in the packed record and at another in a column's."""

    record_offset: int
    size: int
    column: int
    column_offset: int

    @property
    def end(self) -> int:
        return self.record_offset + self.size


class _Lowering:
    """What has been lowered so far: steps in the order that they run, the record's bytes that they write, and spans."""

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


@functools.lru_cache(maxsize=1024)
def lower(leaves: tuple[Leaf, ...], sources: tuple[Source, ...], size: int, forward: bool) -> Steps:
    """The steps that pack (or, not `forward`, unpack) records of `size` bytes.

    Cached by layout, dtypes and strides, never by address: live columns and new arrays of the same
    kind share them.
    """
    lowering = _Lowering(forward, 1 + max((source.column for source in sources), default=-1))
    budget = UNROLLED_SPANS
    looped = False
    for index, (leaf, source) in enumerate(zip(leaves, sources, strict=True)):
        scalars = math.prod(count for count, _ in leaf.axes)
        budget -= scalars
        if scalars > UNROLLED_SCALARS or budget < 0:
            _lower_array(lowering, index, leaf, source)
            looped = True
        else:
            _lower_unrolled(lowering, index, leaf, source)
    if forward:
        _assemble(lowering, size, looped)
    else:
        lowering.body += [_copy(span) for span in _merge_spans(lowering.spans)]
    return lowering.finish()


def _loops(leaf: Leaf, source: Source) -> list[Loop]:
    pairs = zip(leaf.axes, source.strides, strict=True)
    return [Loop(size, record_step, column_step) for (size, record_step), column_step in pairs if size > 1]


def _from_columns(*columns: int, offsets: tuple[int, ...]) -> Step:
    none = 4 - len(columns)
    return {"column": [*columns] + [NO_COLUMN] * none, "offset": [*offsets] + [0] * none}


def _conversion(kind: int, leaf: Leaf, source: Source, forward: bool, run: Loop, index: int) -> Step:
    """A step that converts `run`, the innermost scalars of a leaf."""
    codes = (source.type_code, SCALAR_CODES[leaf.scalar])
    from_type, to_type = codes if forward else codes[::-1]
    step: Step = {"kind": kind, "leaf": index, "convert.from_type": from_type, "convert.to_type": to_type}
    return step | {
        "convert.count": run.size,
        "convert.step": run.column_step,
        "convert.swap": int(source.swap),
    }


def _join_loops(loops: list[Loop]) -> list[Loop]:
    """Loops ordered from the widest step in the record to the narrowest, joined where both sides allow."""
    joined: list[Loop] = []
    for loop in sorted(loops, key=lambda loop: -abs(loop.record_step)):
        outer = joined[-1] if joined else None
        steps = loop.size * loop.record_step, loop.size * loop.column_step
        if outer is not None and (outer.record_step, outer.column_step) == steps:
            joined[-1] = loop._replace(size=outer.size * loop.size)
        else:
            joined.append(loop)
    return joined


def _lower_array(lowering: _Lowering, index: int, leaf: Leaf, source: Source) -> None:
    loops = _join_loops(_loops(leaf, source))
    unit = SCALARS[leaf.scalar].size
    dense = bool(loops) and loops[-1].record_step == unit
    run = loops.pop() if dense else Loop(1, unit, ITEM_SIZE[source.type_code])
    step = _conversion(_kernel.STEP_CONVERT_ARRAY, leaf, source, lowering.forward, run, index)
    step |= {"at": leaf.offset, **_from_columns(source.column, offsets=(source.offset,))}
    lowering.body.append(step | {"convert.loop_first": len(lowering.loops), "convert.loop_count": len(loops)})
    lowering.loops += [(loop.size, loop.column_step, loop.record_step) for loop in loops]


def _lower_unrolled(lowering: _Lowering, index: int, leaf: Leaf, source: Source) -> None:
    loops = _loops(leaf, source)
    column, offset, unit = source.column, source.offset, SCALARS[leaf.scalar].size
    converted = source.type_code != SCALAR_CODES[leaf.scalar] or source.swap
    # Records closer than 4 bytes would let a load of 16 bytes reach past the last.
    if converted or 0 < abs(source.record_stride) < 4:
        loops, column = _through_temporary(lowering, index, loops, leaf, source)
        offset = 0
    matrix = _find_matrix(leaf, loops)
    if matrix is not None:
        _lower_transpose(lowering, *matrix, Span(leaf.offset, 4, column, offset), index)
    else:
        lowering.spans += [Span(at, unit, column, start) for at, start in _offsets(loops, leaf.offset, offset)]


def _offsets(loops: list[Loop], record_offset: int, column_offset: int) -> Iterator[tuple[int, int]]:
    """Where each round of the loops starts in the record and in the column."""
    for rounds in itertools.product(*(range(loop.size) for loop in loops)):
        at, start = record_offset, column_offset
        for k, loop in zip(rounds, loops, strict=True):
            at, start = at + k * loop.record_step, start + k * loop.column_step
        yield at, start


def _through_temporary(
    lowering: _Lowering, index: int, loops: list[Loop], leaf: Leaf, source: Source
) -> tuple[list[Loop], int]:
    """Convert through a temporary that holds one block's scalars, native and dense, in the column's order."""
    unit = SCALARS[leaf.scalar].size
    order = sorted(loops, key=lambda loop: -abs(loop.column_step))
    total = unit
    dense: list[Loop] = []
    for loop in reversed(order):
        dense.insert(0, loop._replace(column_step=total))
        total *= loop.size
    temporary = lowering.columns + len(lowering.temps)
    lowering.temps.append(total)
    joined = _join_loops(
        [Loop(loop.size, inner.column_step, loop.column_step) for inner, loop in zip(dense, order, strict=True)]
    )
    run = joined.pop() if joined else Loop(1, unit, ITEM_SIZE[source.type_code])
    kind = _kernel.STEP_CONVERT_IN if lowering.forward else _kernel.STEP_CONVERT_OUT
    step = _conversion(kind, leaf, source, lowering.forward, run, index)
    steps = lowering.convert_in if lowering.forward else lowering.convert_out
    for inside, start in _offsets(joined, 0, source.offset):
        steps.append(step | _from_columns(source.column, temporary, offsets=(start, inside)))
    return dense, temporary


def _find_matrix(leaf: Leaf, loops: list[Loop]) -> tuple[Loop, Loop, list[Loop]] | None:
    """Rows, columns and the loops around them, if a matrix of 32-bit scalars is row after row in its column."""
    if SCALARS[leaf.scalar].size != 4 or len(leaf.axes) < 2 or len(loops) < 2:
        return None
    # Through a temporary the loops have the column's order: a matrix's own two are known by their steps.
    by_record = {loop.record_step: loop for loop in loops}
    (row_count, row_step), (col_count, col_step) = leaf.axes[-2:]
    rows, cols = by_record.get(row_step), by_record.get(col_step)
    if rows is None or cols is None or (rows.size, cols.size) != (row_count, col_count):
        return None
    is_matrix = row_step == 4 and col_step == (8 if row_count == 2 else 16) and 2 <= row_count <= 4
    if not is_matrix or cols.column_step != 4 or not 2 <= col_count <= 4 or rows.column_step == 4:
        return None
    return rows, cols, [loop for loop in loops if loop is not rows and loop is not cols]


def _lower_transpose(lowering: _Lowering, rows: Loop, cols: Loop, loops: list[Loop], first: Span, index: int) -> None:
    """The innermost array of matrices is one step, the others are unrolled."""
    outer = _join_loops(loops)
    array = outer.pop() if outer else Loop(1, 0, 0)
    matrix_size = (8 if rows.size == 2 else 16) * cols.size
    step: Step = {
        "kind": _kernel.STEP_TRANSPOSE,
        "leaf": index,
        "transpose.count": array.size,
        "transpose.column_step": array.column_step,
        "transpose.record_step": array.record_step,
        "transpose.row_step": rows.column_step,
        "transpose.rows": rows.size,
        "transpose.cols": cols.size,
    }
    for at, start in _offsets(outer, first.record_offset, first.column_offset):
        lowering.body.append(step | {"at": at, **_from_columns(first.column, offsets=(start,))})
        matrices = [at + k * array.record_step for k in range(array.size)]
        lowering.written += [(matrix, matrix + matrix_size) for matrix in matrices]


def _merge_spans(spans: list[Span]) -> list[Span]:
    """Ordered by their place in the record, with those that follow each other on both sides as one."""
    merged: list[Span] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        if last is not None and last.end == span.record_offset and _follows(last, span):
            merged[-1] = last._replace(size=last.size + span.size)
        else:
            merged.append(span)
    return merged


def _follows(last: Span, span: Span) -> bool:
    """Whether a span is where `last` ends in the same column."""
    return last.column == span.column and last.column_offset + last.size == span.column_offset


def _copy(span: Span) -> Step:
    step: Step = {"kind": _kernel.STEP_COPY, "at": span.record_offset, "copy.bytes": span.size}
    return step | _from_columns(span.column, offsets=(span.column_offset,))


def _zero(start: int, stop: int) -> Step:
    return {"kind": _kernel.STEP_ZERO, "at": start, "zero.bytes": stop - start, **_from_columns(offsets=())}


def _assemble(lowering: _Lowering, size: int, looped: bool) -> None:
    """Make slots, copies of whole slots and zeros of a record's spans, so that each byte is written once."""
    if looped:
        # Loops leave their gaps unwritten, and other members' loops fill some of them.
        lowering.body.insert(0, _zero(0, size))
    slots: dict[int, list[Span]] = {}
    spans = _merge_spans(lowering.spans)
    for whole in spans if looped else _mask(lowering, spans, size):
        for span in _split_at_slots(whole):
            if span.size >= 16 and span.record_offset % 16 == 0:
                lowering.body.append(_copy(span))
                lowering.written.append((span.record_offset, span.end))
            else:
                slots.setdefault(span.record_offset // 16 * 16, []).append(span)
    for at, spans in slots.items():
        slot = None if looped or at + 16 > size or _overlaps(lowering.written, at) else _slot(at, spans)
        if slot is None:
            lowering.body += [_copy(span) for span in spans]
            lowering.written += [(span.record_offset, span.end) for span in spans]
        else:
            lowering.body.append(slot)
            lowering.written.append((at, at + 16))
    if not looped:
        end = 0
        for start, stop in [*sorted(lowering.written), (size, size)]:
            if start > end:
                lowering.body.append(_zero(end, start))
            end = max(end, stop)


def _mask(lowering: _Lowering, spans: list[Span], size: int) -> list[Span]:
    """One step for whole slots of records that one column holds as they are packed; the spans that are left.

    Padding in the column may hold anything: what is between two members is read and set to zero. So is what
    comes after the last member, except that the last record may end there: the step says how much can be read.
    """
    if len(spans) < 2 or lowering.written:
        return spans
    column, start, end = spans[0].column, spans[0].record_offset, spans[-1].end
    shift = spans[0].column_offset - start
    stop = min(size if size % 16 == 0 else end // 16 * 16, start + MASK_BYTES)
    same = all(span.column == column and span.column_offset - span.record_offset == shift for span in spans)
    words = all(span.record_offset % 4 == span.size % 4 == 0 for span in spans)
    if not same or not words or start % 16 or stop - start < 32 or column >= lowering.columns:
        return spans
    keep = [0, 0, 0]
    for span in spans:
        for at in range(span.record_offset, min(span.end, stop), 4):
            unit = (at - start) // 4
            keep[unit // 64] |= 1 << unit % 64
    step: Step = {"kind": _kernel.STEP_MASK, "at": start, **_from_columns(column, offsets=(start + shift,))}
    readable = min(end, stop) - start
    lowering.body.append(step | {"mask.bytes": stop - start, "mask.readable": readable, "mask.keep": keep})
    lowering.written.append((start, stop))
    rest = [span for span in spans if span.end > stop]
    return [Span(stop, span.end - stop, column, stop + shift) if span.record_offset < stop else span for span in rest]


def _overlaps(written: list[tuple[int, int]], at: int) -> bool:
    """Whether a step that writes whole slots has part of this one (a mat3x2's last column, say)."""
    return any(start < at + 16 and at < stop for start, stop in written)


def _split_at_slots(span: Span) -> Iterator[Span]:
    """What comes before the first whole slot, whole slots in one span, and the rest."""
    at, size, column, offset = span
    head = min(size, -at % 16)
    whole = (size - head) // 16 * 16
    for start, length in ((0, head), (head, whole), (head + whole, size - head - whole)):
        if length:
            yield Span(at + start, length, column, offset + start)


_SHAPES = {
    (1, 1): _kernel.SLOT_8_8,
    (1, 2): _kernel.SLOT_8_4_4,
    (2, 1): _kernel.SLOT_4_4_8,
    (2, 2): _kernel.SLOT_4_4_4_4,
}


def _slot(at: int, spans: list[Span]) -> Step | None:
    """The slot at `at` of these spans, with zeros in its gaps; None if some are no multiple of 4 bytes."""
    units = [Span(at + 4 * k, 4, NO_COLUMN, 0) for k in range(4)]
    for span in spans:
        if span.record_offset % 4 or span.size % 4:
            return None
        for k in range(0, span.size, 4):
            place = span.record_offset + k
            units[(place - at) // 4] = Span(place, 4, span.column, span.column_offset + k)
    joined = _join_units(units)
    if joined[0].size == 12 and joined[0].column != NO_COLUMN:
        shape, pieces = _kernel.SLOT_12_4, [joined[0], units[3]]
    else:
        low, high = _join_units(units[:2]), _join_units(units[2:])
        shape, pieces = _SHAPES[len(low), len(high)], low + high
    columns, offsets = [piece.column for piece in pieces], tuple(piece.column_offset for piece in pieces)
    return {"kind": _kernel.STEP_SLOT, "at": at, "slot.shape": shape, **_from_columns(*columns, offsets=offsets)}


def _join_units(units: list[Span]) -> list[Span]:
    joined = [units[0]]
    for unit in units[1:]:
        last = joined[-1]
        if _follows(last, unit) or last.column == unit.column == NO_COLUMN:
            joined[-1] = last._replace(size=last.size + unit.size)
        else:
            joined.append(unit)
    return joined
