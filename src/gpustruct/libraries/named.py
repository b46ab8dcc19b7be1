"""What libraries' columns have in common: columns by name, and lists of one length as inner dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..column_checks import ColumnSpec, Shape


class NamedColumns(NamedTuple):
    """A source's named columns. `get(key, spec, where)` gives a column as `as_column` takes it, or a batch."""

    keys: Sequence[Any]
    get: Callable[[Any, ColumnSpec, str], Any]
    # How a message shows the names that came, and where it says the fault is.
    where: str
    # Names that are no columns unless a member is called like them: padding that somebody wrote out.
    padding: frozenset[str] = frozenset()


def shaped(values: np.ndarray | NamedColumns, shape: Shape) -> Any:
    """Values that follow each other, in rows of lists: the shape of the lists comes first."""
    if len(shape) < 2:
        return values
    if not isinstance(values, NamedColumns):
        return values.reshape(*shape, *values.shape[1:])
    named = values

    def get(name: Any, spec: ColumnSpec, where: str) -> Any:
        return shaped(named.get(name, spec, where), shape)

    return named._replace(get=get)


def flatten_lists(
    column: Any, size_of: Callable[[Any], int | None], inside: Callable[[Any], Any], first_null: Callable[[Any], int]
) -> tuple[Any, Shape, int]:
    """Flatten a column of nested lists of one length: the flat column, its shape, and the first row with a null, or -1.

    `size_of` returns the length of a column's lists, or None if it has none; `inside` their entries as one column.
    """
    shape: Shape = (len(column),)
    row, each = first_null(column), 1
    while row < 0 and (size := size_of(column)) is not None:
        column = inside(column) if size and len(column) else inside(column)[:0]
        shape, each = (*shape, size), each * size
        row = first_null(column) // max(each, 1)
    return column, shape, row
