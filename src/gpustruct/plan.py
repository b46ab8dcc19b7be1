"""Layout × column dtypes -> the flat list of steps that the kernel runs. See csrc/scatter.h.

WGSL's alignment rules keep every scalar and vector inside a 16-byte slot, so a record is a row of
slots, and each slot is one of five shapes made of pieces. What is not slot-shaped (halves, a record's
odd tail) is copied piece by piece; arrays too large to unroll become loops.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ._kernel import (
    SLOT_4_4_4_4,
    SLOT_4_4_8,
    SLOT_8_4_4,
    SLOT_8_8,
    SLOT_12_4,
    STEP_CONVERT,
    STEP_COPY,
    STEP_DRAIN,
    STEP_FEED,
    STEP_MASK,
    STEP_SLOT,
    STEP_TURN,
    STEP_ZERO,
)
from .columns import SCALAR_CODES, Source
from .layout import SCALARS, Leaf

ITEM_SIZE = (2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1)
ZEROS = -1

# Beyond these a record's steps would outgrow the instruction cache and the block would leave L1.
UNROLLED_SCALARS = 256
UNROLLED_PIECES = 1024
# A step has bits for so many bytes of a record.
MASK_BYTES = 3 * 64 * 4

STEP = np.dtype(
    [("kind", "i4"), ("count", "i4"), ("column", "i4", 4), ("offset", "i8", 4), ("at", "i8"), ("step", "i8"),
     ("from_type", "i4"), ("to_type", "i4"), ("swap", "i4"), ("rows", "i4"), ("cols", "i4"),
     ("loop_first", "i4"), ("loop_count", "i4"), ("leaf", "i4")], align=True,
)  # fmt: skip


class Plan(NamedTuple):
    """Steps, loops and temporaries, as arrays that the kernel takes as they are."""

    steps: np.ndarray
    loops: np.ndarray
    temps: np.ndarray


class Axis(NamedTuple):
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]
    record: int
    column: int


class Piece(NamedTuple):
    """`size` contiguous bytes from a column's record to byte `at` of the packed record."""

    at: int
    size: int
    column: int
    offset: int


class _Lowering:
    def __init__(self, forward: bool, columns: int) -> None:
        self.forward, self.columns = forward, columns
        self.first: list[dict[str, Any]] = []
        self.body: list[dict[str, Any]] = []
        self.last: list[dict[str, Any]] = []
        self.loops: list[tuple[int, int, int]] = []
        self.temps: list[int] = []
        self.pieces: list[Piece] = []
        self.covered: list[tuple[int, int]] = []

    def finish(self) -> Plan:
        steps = np.zeros(len(self.first) + len(self.body) + len(self.last), STEP)
        for row, fields in zip(steps, self.first + self.body + self.last, strict=True):
            for name, value in fields.items():
                row[name] = value
        loops = np.array(self.loops, np.int64).reshape(-1, 3)
        return Plan(steps, loops, np.array(self.temps, np.int64))


@functools.lru_cache(maxsize=1024)
def lower(leaves: tuple[Leaf, ...], sources: tuple[Source, ...], size: int, forward: bool) -> Plan:
    """The plan that packs (or, not `forward`, unpacks) records of `size` bytes.

    Cached by layout, dtypes and strides, never by address: live columns and new arrays of the same
    kind share it.
    """
    lowering = _Lowering(forward, 1 + max((source.column for source in sources), default=-1))
    budget = UNROLLED_PIECES
    looped = False
    for index, (leaf, source) in enumerate(zip(leaves, sources, strict=True)):
        scalars = 1
        for count, _ in leaf.axes:
            scalars *= count
        budget -= scalars
        if scalars > UNROLLED_SCALARS or budget < 0:
            _lower_loops(lowering, index, leaf, source)
            looped = True
        else:
            _lower_unrolled(lowering, index, leaf, source)
    if forward:
        _assemble(lowering, size, looped)
    else:
        for piece in _merge(lowering.pieces):
            lowering.body.append(_copy(piece))
    return lowering.finish()


def _axes(leaf: Leaf, source: Source) -> list[Axis]:
    pairs = zip(leaf.axes, source.strides, strict=True)
    return [Axis(count, record, column) for (count, record), column in pairs if count > 1]


def _types(leaf: Leaf, source: Source, forward: bool) -> dict[str, int]:
    codes = (source.type_code, SCALAR_CODES[leaf.scalar])
    from_type, to_type = codes if forward else codes[::-1]
    return {"from_type": from_type, "to_type": to_type, "swap": int(source.swap)}


def _join(axes: list[Axis], key: str) -> list[Axis]:
    """Axes ordered from the widest step to the narrowest along `key`, joined where both sides allow."""
    joined: list[Axis] = []
    for axis in sorted(axes, key=lambda a: -abs(getattr(a, key))):
        if joined:
            outer = joined[-1]
            if outer.record == axis.count * axis.record and outer.column == axis.count * axis.column:
                joined[-1] = Axis(outer.count * axis.count, axis.record, axis.column)
                continue
        joined.append(axis)
    return joined


def _lower_loops(lowering: _Lowering, index: int, leaf: Leaf, source: Source) -> None:
    axes = _join(_axes(leaf, source), "record")
    unit = SCALARS[leaf.scalar].size
    run = axes.pop() if axes and axes[-1].record == unit else Axis(1, unit, ITEM_SIZE[source.type_code])
    step = {"kind": STEP_CONVERT, "count": run.count, "step": run.column, "leaf": index, "at": leaf.offset}
    step |= {"column": [source.column, ZEROS, ZEROS, ZEROS], "offset": [source.offset, 0, 0, 0]}
    step |= {"loop_first": len(lowering.loops), "loop_count": len(axes), **_types(leaf, source, lowering.forward)}
    lowering.loops += [(axis.count, axis.column, axis.record) for axis in axes]
    lowering.body.append(step)


def _lower_unrolled(lowering: _Lowering, index: int, leaf: Leaf, source: Source) -> None:
    axes = _axes(leaf, source)
    column, offset, record_stride = source.column, source.offset, source.record_stride
    types = _types(leaf, source, lowering.forward)
    # Records closer than 4 bytes would let a wide load of one reach past the last.
    if types["from_type"] != types["to_type"] or source.swap or 0 < abs(record_stride) < 4:
        axes, column = _through_temporary(lowering, index, axes, source, types, SCALARS[leaf.scalar].size)
        offset = 0
    turned = _turn(leaf, axes)
    if turned is not None:
        _lower_turn(lowering, *turned, Piece(leaf.offset, 4, column, offset), index)
        return
    unit = SCALARS[leaf.scalar].size
    lowering.pieces += [Piece(at, unit, column, place) for at, place in _places(axes, leaf.offset, offset)]


def _lower_turn(lowering: _Lowering, rows: Axis, cols: Axis, axes: list[Axis], first: Piece, index: int) -> None:
    """Matrices that lie row after row: the innermost array of them is one step, the others are unrolled."""
    outer = _join(axes, "record")
    many = outer.pop() if outer else Axis(1, 0, 0)
    width = (8 if rows.count == 2 else 16) * cols.count
    for at, place in _places(outer, first.at, first.offset):
        step = {"kind": STEP_TURN, "at": at, "step": rows.column, "rows": rows.count, "cols": cols.count}
        step |= {"count": many.count, "offset": [place, many.column, many.record, 0], "leaf": index}
        lowering.body.append(step | {"column": [first.column, ZEROS, ZEROS, ZEROS]})
        starts = [at + k * many.record for k in range(many.count)]
        lowering.covered += [(start, start + width) for start in starts]


def _places(axes: list[Axis], at: int, offset: int) -> Iterator[tuple[int, int]]:
    for indices in itertools.product(*(range(axis.count) for axis in axes)):
        pairs = list(zip(indices, axes, strict=True))
        yield at + sum(i * axis.record for i, axis in pairs), offset + sum(i * axis.column for i, axis in pairs)


def _through_temporary(
    lowering: _Lowering, index: int, axes: list[Axis], source: Source, types: dict[str, int], unit: int
) -> tuple[list[Axis], int]:
    """Convert through a temporary that holds one block's scalars, native and dense, in the column's order."""
    order = sorted(axes, key=lambda axis: -abs(axis.column))
    total = unit
    dense: list[Axis] = []
    for axis in reversed(order):
        dense.insert(0, Axis(axis.count, axis.record, total))
        total *= axis.count
    temporary = lowering.columns + len(lowering.temps)
    lowering.temps.append(total)
    both = [Axis(d.count, d.column, axis.column) for d, axis in zip(dense, order, strict=True)]
    joined = _join(both, "record")
    run = joined.pop() if joined else Axis(1, unit, ITEM_SIZE[source.type_code])
    for at, place in _places(joined, 0, source.offset):
        step = {"kind": STEP_FEED if lowering.forward else STEP_DRAIN, "count": run.count, "step": run.column}
        step |= {"column": [source.column, temporary, ZEROS, ZEROS], "offset": [place, at, 0, 0], "leaf": index}
        (lowering.first if lowering.forward else lowering.last).append(step | types)
    return dense, temporary


def _turn(leaf: Leaf, axes: list[Axis]) -> tuple[Axis, Axis, list[Axis]] | None:
    """The row axis, the column axis and the rest, if a matrix of 32-bit scalars lies row after row."""
    if SCALARS[leaf.scalar].size != 4 or len(axes) < 2:
        return None
    rows, cols = axes[-2], axes[-1]
    matrix = len(leaf.axes) >= 2 and leaf.axes[-2:] == ((rows.count, rows.record), (cols.count, cols.record))
    by_record = {axis.record: axis for axis in axes}
    if not matrix:
        # Through a temporary the axes stand in the column's order; find the matrix's own two by their strides.
        if len(leaf.axes) < 2:
            return None
        (row_count, row_step), (col_count, col_step) = leaf.axes[-2:]
        rows, cols = by_record.get(row_step, rows), by_record.get(col_step, cols)
        if (rows.count, rows.record, cols.count, cols.record) != (row_count, row_step, col_count, col_step):
            return None
    is_matrix = rows.record == 4 and cols.record == (8 if rows.count == 2 else 16) and 2 <= rows.count <= 4
    if not is_matrix or cols.column != 4 or not 2 <= cols.count <= 4 or rows.column == 4:
        return None
    return rows, cols, [axis for axis in axes if axis is not rows and axis is not cols]


def _merge(pieces: list[Piece]) -> list[Piece]:
    merged: list[Piece] = []
    for piece in sorted(pieces):
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.column == piece.column
            and last.at + last.size == piece.at
            and last.offset + last.size == piece.offset
        ):
            merged[-1] = last._replace(size=last.size + piece.size)
        else:
            merged.append(piece)
    return merged


def _copy(piece: Piece) -> dict[str, Any]:
    columns, offsets = [piece.column, ZEROS, ZEROS, ZEROS], [piece.offset, 0, 0, 0]
    return {"kind": STEP_COPY, "count": piece.size, "at": piece.at, "column": columns, "offset": offsets}


def _zero(at: int, size: int) -> dict[str, Any]:
    return {"kind": STEP_ZERO, "count": size, "at": at, "column": [ZEROS] * 4}


def _assemble(lowering: _Lowering, size: int, looped: bool) -> None:
    """Turn the pieces of a record into slots, whole copies and zeroes that write each byte once."""
    if looped:
        # Loops leave their gaps unwritten, and other members' loops fill some of them.
        lowering.body.insert(0, _zero(0, size))
    slots: dict[int, list[Piece]] = {}
    pieces = _merge(lowering.pieces)
    for piece in pieces if looped else _mask(lowering, pieces, size):
        for part in _cut(piece):
            if part.size >= 16 and part.at % 16 == 0:
                lowering.body.append(_copy(part))
                lowering.covered.append((part.at, part.at + part.size))
            else:
                slots.setdefault(part.at // 16, []).append(part)
    for number, parts in slots.items():
        at = 16 * number
        shaped = None if looped or at + 16 > size else _shape(at, parts)
        if shaped is None or _touched(lowering.covered, at):
            lowering.body += [_copy(part) for part in parts]
            lowering.covered += [(part.at, part.at + part.size) for part in parts]
        else:
            kind, chosen = shaped
            columns = [piece.column for piece in chosen] + [ZEROS] * (4 - len(chosen))
            offsets = [piece.offset for piece in chosen] + [0] * (4 - len(chosen))
            lowering.body.append({"kind": STEP_SLOT, "count": kind, "at": at, "column": columns, "offset": offsets})
            lowering.covered.append((at, at + 16))
    if not looped:
        end = 0
        for start, stop in [*sorted(lowering.covered), (size, size)]:
            if start > end:
                lowering.body.append(_zero(end, start - end))
            end = max(end, stop)


def _mask(lowering: _Lowering, pieces: list[Piece], size: int) -> list[Piece]:
    """One step for whole slots of records that lie in one column as they are to lie, gaps and all; what is left.

    A gap in the column may hold anything; it is read, as it lies between two members, and masked out. So is the
    one behind the last member, but where no record follows: the step says how many bytes are there to read.
    """
    if len(pieces) < 2 or lowering.covered:
        return pieces
    column, shift, start = pieces[0].column, pieces[0].offset - pieces[0].at, pieces[0].at
    end = pieces[-1].at + pieces[-1].size
    stop = min(size if size % 16 == 0 else end // 16 * 16, start + MASK_BYTES)
    same = all(piece.column == column and piece.offset - piece.at == shift for piece in pieces)
    words = all(piece.at % 4 == piece.size % 4 == 0 for piece in pieces)
    if not same or not words or start % 16 or stop - start < 32 or column >= lowering.columns:
        return pieces
    bits = 0
    for piece in pieces:
        for at in range(piece.at, min(piece.at + piece.size, stop), 4):
            bits |= 1 << ((at - start) // 4)
    masks = [(bits >> (64 * k)) & (2**64 - 1) for k in range(3)]
    signed = [mask - 2**64 if mask >= 2**63 else mask for mask in masks]
    step = {"kind": STEP_MASK, "count": stop - start, "at": start, "column": [column, ZEROS, ZEROS, ZEROS]}
    lowering.body.append(step | {"offset": [start + shift, *signed], "step": min(end, stop) - start})
    lowering.covered.append((start, stop))
    behind = [piece for piece in pieces if piece.at + piece.size > stop]
    return [
        piece._replace(at=stop, size=piece.at + piece.size - stop, offset=stop + shift) if piece.at < stop else piece
        for piece in behind
    ]


def _touched(covered: list[tuple[int, int]], at: int) -> bool:
    """Whether a step that writes whole slots has part of this one (a mat3x2's last column, say)."""
    return any(start < at + 16 and at < stop for start, stop in covered)


def _cut(piece: Piece) -> Iterator[Piece]:
    """Cut a run at slot borders: a head, whole slots in one, a tail."""
    at, size, column, offset = piece
    head = min(size, -at % 16)
    if head:
        yield Piece(at, head, column, offset)
    whole = (size - head) // 16 * 16
    if whole:
        yield Piece(at + head, whole, column, offset + head)
    if size - head - whole:
        yield Piece(at + head + whole, size - head - whole, column, offset + head + whole)


def _shape(at: int, parts: list[Piece]) -> tuple[int, list[Piece]] | None:
    """The slot that these pieces make, gaps filled with zeroes; None if some are no multiple of 4 bytes."""
    units: list[Piece] = [Piece(at + 4 * k, 4, ZEROS, 0) for k in range(4)]
    for part in parts:
        if part.at % 4 or part.size % 4:
            return None
        for k in range(part.size // 4):
            units[(part.at - at) // 4 + k] = Piece(part.at + 4 * k, 4, part.column, part.offset + 4 * k)
    joined = _join_units(units)
    if joined[0].size == 12 and joined[0].column != ZEROS:
        return SLOT_12_4, [joined[0], units[3]]
    low, high = _join_units(units[:2]), _join_units(units[2:])
    kind = {(1, 1): SLOT_8_8, (1, 2): SLOT_8_4_4, (2, 1): SLOT_4_4_8, (2, 2): SLOT_4_4_4_4}[len(low), len(high)]
    return kind, low + high


def _join_units(units: list[Piece]) -> list[Piece]:
    joined = [units[0]]
    for unit in units[1:]:
        last = joined[-1]
        follows = last.column == unit.column and (unit.column == ZEROS or last.offset + last.size == unit.offset)
        if follows:
            joined[-1] = last._replace(size=last.size + unit.size)
        else:
            joined.append(unit)
    return joined
