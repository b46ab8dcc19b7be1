"""A batch's columns as addresses and strides: plans are made for these, and kernel runs are bound to them.

Nothing is copied. Broadcasting becomes strides of 0. Batch dimensions that are contiguous in memory become one. Members
of one structured array become one column with offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _kernel
from . import layout as layouts
from .batches import DTYPES, Batch, Shape, SplitColumn
from .layout import Layout, Leaf

# The kernel's codes for the scalars of records: WGSL's, and those of vertex data.
SCALAR_CODES = {name: _kernel.TYPE_CODES[dtype.str[1:]] for name, dtype in DTYPES.items()} | _kernel.TYPE_CODES


class Source(NamedTuple):
    """What a plan needs to know of one leaf's column. There is no address, so that new arrays can share the plan."""

    column: int
    offset: int
    type_code: int
    swap: bool
    strides: tuple[int, ...]
    record_stride: int


class Columns(NamedTuple):
    """The columns of one part of a batch: its records of fixed size, or its runtime-sized tail."""

    leaves: tuple[Leaf, ...]
    views: tuple[np.ndarray, ...]
    shape: Shape
    sources: tuple[Source, ...]
    arrays: list[np.ndarray]
    strides: np.ndarray
    run_shape: np.ndarray


def collect(batch: Batch) -> Columns:
    """The columns of a batch, without a runtime-sized tail."""
    layout: Layout = type(batch).__layout__
    leaves = tuple(layouts.leaves(layout))
    arrays = dict(_arrays(batch, ()))
    return _align(*_split(leaves, [arrays[leaf.path] for leaf in leaves]), batch.__shape__)


def collect_tail(batch: Batch) -> Columns:
    """The columns of a batch's runtime-sized tail, whose elements are the records."""
    cls = type(batch)
    name, spec = next(reversed(cls.__members__.items()))
    column = batch.__columns__[-1]
    layout: Layout = spec.type.__layout__
    assert layout.element is not None
    prefix = (name,) if name else ()
    leaves = tuple(leaf._replace(path=prefix + leaf.path) for leaf in layouts.leaves(layout.element))
    if isinstance(column, Batch):
        arrays = dict(_arrays(column, prefix))
        return _align(*_split(leaves, [arrays[leaf.path] for leaf in leaves]), column.__shape__[:1])
    return _align(leaves, [column], column.shape[:1])


def _arrays(batch: Batch, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    for (name, spec), column in zip(type(batch).__members__.items(), batch.__columns__, strict=True):
        if spec.runtime:
            continue
        inner = (*path, name) if name else path
        if isinstance(column, Batch):
            yield from _arrays(column, inner)
        else:
            yield inner, column


def _split(leaves: tuple[Leaf, ...], columns: Sequence[Any]) -> tuple[tuple[Leaf, ...], list[np.ndarray]]:
    """One leaf for each array of a SplitColumn."""
    split: list[Leaf] = []
    views: list[np.ndarray] = []
    for leaf, column in zip(leaves, columns, strict=True):
        if not isinstance(column, SplitColumn):
            split.append(leaf)
            views.append(column)
            continue
        at = len(leaf.axes) - len(column.rest) - 1
        step = leaf.axes[at][1]
        for k, array in enumerate(column.arrays):
            path = (*leaf.path[:-1], f"{leaf.path[-1] if leaf.path else ''}[{k}]")
            axes = leaf.axes[:at] + leaf.axes[at + 1 :]
            split.append(leaf._replace(path=path, offset=leaf.offset + k * step, axes=axes))
            views.append(array)
    return tuple(split), views


def _align(leaves: tuple[Leaf, ...], views: Sequence[np.ndarray], shape: Shape) -> Columns:
    """The strides of each leaf over the whole batch: 0 where a column is broadcast."""
    batch_strides: list[Shape] = []
    inner_strides: list[Shape] = []
    for leaf, view in zip(leaves, views, strict=True):
        target = shape + tuple(count for count, _ in leaf.axes)
        skip = len(target) - view.ndim
        strides = (0,) * skip + tuple(
            step if have == want else 0
            for step, have, want in zip(view.strides, view.shape, target[skip:], strict=True)
        )
        batch_strides.append(strides[: len(shape)])
        inner_strides.append(strides[len(shape) :])
    run_shape, run_strides = _collapse(shape, batch_strides)
    columns, offsets, arrays = _group(views, run_strides)
    sources = tuple(
        Source(column, offset, _kernel.TYPE_CODES[view.dtype.str[1:]], not view.dtype.isnative, inner, run[-1])
        for column, offset, view, inner, run in zip(columns, offsets, views, inner_strides, run_strides, strict=True)
    )
    table = np.zeros((len(arrays), len(run_shape)), np.int64)
    for column, run in zip(columns, run_strides, strict=True):
        table[column] = run
    return Columns(leaves, tuple(views), shape, sources, arrays, table, np.array(run_shape, np.int64))


def _collapse(shape: Shape, strides: list[Shape]) -> tuple[Shape, list[Shape]]:
    """Merge neighbouring dimensions that are contiguous in every column; at least one remains."""
    dims: list[tuple[int, Shape]] = []
    for d, count in enumerate(shape):
        if count == 1:
            continue
        steps = tuple(column[d] for column in strides)
        if dims and all(outer == step * count for outer, step in zip(dims[-1][1], steps, strict=True)):
            dims[-1] = (dims[-1][0] * count, steps)
        else:
            dims.append((count, steps))
    if 0 in shape or not dims:
        dims = [(0 if 0 in shape else 1, (0,) * len(strides))]
    return tuple(count for count, _ in dims), [tuple(steps[k] for _, steps in dims) for k in range(len(strides))]


def _group(views: Sequence[np.ndarray], strides: list[Shape]) -> tuple[list[int], list[int], list[np.ndarray]]:
    """Members of one structured array become one column: fewer columns, and copies that can be joined."""
    columns, offsets, arrays = [0] * len(views), [0] * len(views), list[np.ndarray]()
    # Numbered in the order of the columns: by address, each allocation could make another plan.
    numbers: dict[int, int] = {}
    owners = [numbers.setdefault(_owner(view), len(numbers)) for view in views]
    addresses = [view.__array_interface__["data"][0] for view in views]
    order = sorted(range(len(views)), key=lambda k: (owners[k], strides[k], addresses[k]))
    first = -1
    for k in order:
        step = strides[k][-1]
        joined = first >= 0 and owners[k] == owners[first] and strides[k] == strides[first]
        if not joined or step <= 0 or addresses[k] + views[k].itemsize - addresses[first] > step:
            first = k
            arrays.append(views[k])
        columns[k], offsets[k] = len(arrays) - 1, addresses[k] - addresses[first]
    return columns, offsets, arrays


def _owner(view: np.ndarray) -> int:
    # The id is enough: the view keeps its base alive.
    base: Any = view
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    return id(base)
