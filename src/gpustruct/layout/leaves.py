"""The positions of all scalars in one record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .record import Layout
from .scalars import RECORD_SCALARS


class Leaf(NamedTuple):
    """The scalars of one column inside a record.

    `axes` has a pair (count, stride in bytes) for each inner dimension of the column, in the order of its shape: arrays
    first, then vector components, or matrix rows and columns.
    """

    path: tuple[str, ...]
    offset: int
    scalar: str
    axes: tuple[tuple[int, int], ...]


def leaves(layout: Layout) -> Iterator[Leaf]:
    """Every column of one record, in member order, without a runtime-sized array at the end.

    >>> from gpustruct import mat2x3f, layout_of
    >>> list(leaves(layout_of(mat2x3f)))
    [Leaf(path=(), offset=0, scalar='f32', axes=((3, 4), (2, 16)))]
    """
    yield from _leaves(layout, (), 0, ())


def _leaves(layout: Layout, path: tuple[str, ...], offset: int, axes: tuple[tuple[int, int], ...]) -> Iterator[Leaf]:
    if layout.kind == "struct":
        for member in layout.fields:
            if not member.layout.is_runtime_array:
                yield from _leaves(member.layout, (*path, member.name), offset + member.offset, axes)
    elif layout.element is not None:
        if layout.count is not None:
            yield from _leaves(layout.element, path, offset, (*axes, (layout.count, layout.stride)))
    else:
        unit = RECORD_SCALARS[layout.scalar].size
        if layout.kind == "vector":
            axes = (*axes, (layout.rows, unit))
        elif layout.kind == "matrix":
            axes = (*axes, (layout.rows, unit), (layout.columns, layout.size // layout.columns))
        yield Leaf(path, offset, layout.scalar, axes)
