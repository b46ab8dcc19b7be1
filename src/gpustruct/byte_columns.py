"""Columns over the bytes of packed records: views of them, or copies as floats where no dtype sees what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _kernel, threads
from . import layout as layouts
from .batches import DTYPES, ColumnSpec, from_columns
from .columns import Source
from .layout import RECORD_SCALARS, Layout, Leaf
from .plan import lower


def batch_over(cls: Any, data: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """A batch of `cls` over `data`, an array of bytes that holds its records; a runtime-sized tail is left out."""
    layout: Layout = cls.__layout__
    if "" in cls.__members__:
        return from_columns(cls, (column_over(cls.__members__[""], layout, data, offset, shape, strides),), shape)
    columns = tuple(
        column_over(cls.__members__[member.name], member.layout, data, offset + member.offset, shape, strides)
        for member in layout.fields
        if not member.layout.is_runtime_array
    )
    return from_columns(cls, columns, shape)


def column_over(
    spec: ColumnSpec, layout: Layout, data: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> Any:
    """The column of one member over `data`: `shape` and `strides` are those of its records."""
    for count, step in layout.axes:
        if count is not None:
            shape, strides = (*shape, count), (*strides, step)
    if layout.core.kind == "struct":
        return batch_over(spec.core, data, offset, shape, strides)
    (leaf,) = layouts.leaves(layout.core)
    shape, strides = shape + tuple(n for n, _ in leaf.axes), strides + tuple(step for _, step in leaf.axes)
    if 0 in shape:
        return np.empty(shape, DTYPES[leaf.scalar])
    if RECORD_SCALARS[leaf.scalar].is_normalized:
        return _decoded(leaf, data, offset, shape, strides)
    return np.ndarray(shape, DTYPES[leaf.scalar], data, offset, strides)


def _decoded(leaf: Leaf, data: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """Normalized integers at these steps as floats: a copy."""
    if len(shape) == len(leaf.axes):
        return _decoded(leaf, data, offset, (1, *shape), (0, *strides))[0]
    out = np.empty(shape, DTYPES[leaf.scalar])
    axes = tuple(zip(shape[1:], strides[1:], strict=True))
    size = sum((count - 1) * step for count, step in axes) + RECORD_SCALARS[leaf.scalar].size
    source = Source(0, 0, _kernel.TYPE_CODES[out.dtype.str[1:]], False, out.strides[1:], out.strides[0])
    plan = _kernel.Plan(*lower((Leaf((), 0, leaf.scalar, axes),), (source,), size, False), size)
    steps, counts = np.array([out.strides[:1]], np.int64), np.array(shape[:1], np.int64)
    run = _kernel.Run(plan, [out], (out,), steps, counts, True)
    workers = threads.choose(shape[0], size, None)
    run.gather(data, offset, strides[0] or size, 0, shape[0], _kernel.MODE_PLAIN, workers)
    return out
