"""From one member's column to steps and spans of bytes."""

from __future__ import annotations

from .. import _kernel
from ..columns import SCALAR_CODES, Source
from ..layout import Leaf
from .steps import Loop, Lowering, Span, Step, from_columns, join_loops, offsets_of

# Columns of the integers that a normalized format is made of are copied unchanged.
OWN_INTEGERS = {
    _kernel.TYPE_UNORM8: _kernel.TYPE_U8,
    _kernel.TYPE_SNORM8: _kernel.TYPE_I8,
    _kernel.TYPE_UNORM16: _kernel.TYPE_U16,
    _kernel.TYPE_SNORM16: _kernel.TYPE_I16,
    _kernel.TYPE_UNORM10_10_10_2: _kernel.TYPE_U8,  # the bytes of words
}
# Four scalars of these share one integer of the record, so they are converted together.
IN_FOURS = (_kernel.TYPE_UNORM8X4_BGRA, _kernel.TYPE_UNORM10_10_10_2)


def _record_code(leaf: Leaf, source: Source) -> int:
    """The kernel's code for what the record holds, or for its integers if the column has those."""
    code = SCALAR_CODES[leaf.scalar]
    return source.type_code if OWN_INTEGERS.get(code) == source.type_code else code


def _loops(leaf: Leaf, source: Source) -> list[Loop]:
    """The loops over a record's scalars, outermost first, without dimensions of length 1."""
    pairs = zip(leaf.axes, source.strides, strict=True)
    return [Loop(size, record_step, column_step) for (size, record_step), column_step in pairs if size > 1]


def _conversion(kind: int, leaf: Leaf, source: Source, forward: bool, run: Loop, index: int) -> Step:
    """A step that converts `run`, the innermost loop over a leaf's scalars."""
    codes = (source.type_code, _record_code(leaf, source))
    from_type, to_type = codes if forward else codes[::-1]
    step: Step = {"kind": kind, "leaf": index, "convert.from_type": from_type, "convert.to_type": to_type}
    return step | {
        "convert.count": run.size,
        "convert.step": run.column_step,
        "convert.swap": int(source.swap),
    }


def lower_array(lowering: Lowering, index: int, leaf: Leaf, source: Source) -> None:
    loops = join_loops(_loops(leaf, source))
    unit = _kernel.TYPE_SIZES[SCALAR_CODES[leaf.scalar]]
    dense = bool(loops) and loops[-1].record_step == unit
    run = loops.pop() if dense else Loop(1, unit, _kernel.TYPE_SIZES[source.type_code])
    step = _conversion(_kernel.STEP_CONVERT_ARRAY, leaf, source, lowering.forward, run, index)
    step |= {"record_offset": leaf.offset, **from_columns(source.column, offsets=(source.offset,))}
    lowering.body.append(step | {"convert.loop_first": len(lowering.loops), "convert.loop_count": len(loops)})
    lowering.loops += [(loop.size, loop.column_step, loop.record_step) for loop in loops]


def lower_unrolled(lowering: Lowering, index: int, leaf: Leaf, source: Source) -> None:
    loops = _loops(leaf, source)
    column, offset, unit = source.column, source.offset, _kernel.TYPE_SIZES[SCALAR_CODES[leaf.scalar]]
    converted = source.type_code != _record_code(leaf, source) or source.swap
    # If records were less than 4 bytes apart, a load of 16 bytes could read beyond the last one.
    if converted or 0 < abs(source.record_stride) < 4:
        loops, column = _through_temporary(lowering, index, loops, leaf, source)
        offset = 0
    matrix = _find_matrix(leaf, loops)
    if matrix is not None:
        _lower_transpose(lowering, *matrix, Span(leaf.offset, 4, column, offset), index)
    else:
        lowering.spans += [Span(at, unit, column, start) for at, start in offsets_of(loops, leaf.offset, offset)]


def _through_temporary(
    lowering: Lowering, index: int, loops: list[Loop], leaf: Leaf, source: Source
) -> tuple[list[Loop], int]:
    """Convert through a temporary array of one block's scalars: contiguous, in native byte order, ordered as in the column."""
    unit = _kernel.TYPE_SIZES[SCALAR_CODES[leaf.scalar]]
    order = sorted(loops, key=lambda loop: -abs(loop.column_step))
    if SCALAR_CODES[leaf.scalar] in IN_FOURS:
        order.sort(key=lambda loop: loop.record_step == unit)
    total = unit
    dense: list[Loop] = []
    for loop in reversed(order):
        dense.insert(0, loop._replace(column_step=total))
        total *= loop.size
    temporary = lowering.columns + len(lowering.temps)
    lowering.temps.append(total)
    joined = join_loops(
        [Loop(loop.size, inner.column_step, loop.column_step) for inner, loop in zip(dense, order, strict=True)]
    )
    run = joined.pop() if joined else Loop(1, unit, _kernel.TYPE_SIZES[source.type_code])
    kind = _kernel.STEP_CONVERT_IN if lowering.forward else _kernel.STEP_CONVERT_OUT
    step = _conversion(kind, leaf, source, lowering.forward, run, index)
    steps = lowering.convert_in if lowering.forward else lowering.convert_out
    for inside, start in offsets_of(joined, 0, source.offset):
        steps.append(step | from_columns(source.column, temporary, offsets=(start, inside)))
    return dense, temporary


def _find_matrix(leaf: Leaf, loops: list[Loop]) -> tuple[Loop, Loop, list[Loop]] | None:
    """The loops over rows, over columns and around them, for a matrix of 32-bit scalars with dense rows; or None."""
    if _kernel.TYPE_SIZES[SCALAR_CODES[leaf.scalar]] != 4 or len(leaf.axes) < 2 or len(loops) < 2:
        return None
    # Those of a temporary are in the column's order, so the matrix's two are found by their steps.
    by_record = {loop.record_step: loop for loop in loops}
    (row_count, row_step), (col_count, col_step) = leaf.axes[-2:]
    rows, cols = by_record.get(row_step), by_record.get(col_step)
    if rows is None or cols is None or (rows.size, cols.size) != (row_count, col_count):
        return None
    is_matrix = row_step == 4 and col_step == (8 if row_count == 2 else 16) and 2 <= row_count <= 4
    if not is_matrix or cols.column_step != 4 or not 2 <= col_count <= 4 or rows.column_step == 4:
        return None
    return rows, cols, [loop for loop in loops if loop is not rows and loop is not cols]


def _lower_transpose(lowering: Lowering, rows: Loop, cols: Loop, loops: list[Loop], first: Span, index: int) -> None:
    """One step for the innermost array of matrices; outer arrays are unrolled."""
    outer = join_loops(loops)
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
    for at, start in offsets_of(outer, first.record_offset, first.column_offset):
        lowering.body.append(step | {"record_offset": at, **from_columns(first.column, offsets=(start,))})
        matrices = [at + k * array.record_step for k in range(array.size)]
        lowering.written += [(matrix, matrix + matrix_size) for matrix in matrices]
