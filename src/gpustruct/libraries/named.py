"""What columns of all libraries share: columns by name, and lists of equal length as inner dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..column_specs import ColumnSpec, Shape


class NamedColumns(NamedTuple):
    """A source's named columns. `get(key, spec, where)` gives a column as `as_column` takes it, or a batch."""

    keys: Sequence[Any]
    get: Callable[[Any, ColumnSpec, str], Any]
    # The place that messages name.
    where: str
    # Fields of explicit padding: ignored unless a member has the name.
    padding: frozenset[str] = frozenset()

    @classmethod
    def found(
        cls, keys: Sequence[Any], find: Callable[[Any], Any], read: Callable[[Any, ColumnSpec, str], Any], where: str
    ) -> NamedColumns:
        """The columns that `find` returns for each of `keys`, as `read` reads them."""

        def get(key: Any, spec: ColumnSpec, where: str) -> Any:
            return read(find(key), spec, where)

        return cls(keys, get, where)


def shaped(values: np.ndarray | NamedColumns, shape: Shape) -> Any:
    """Reshape values that follow each other: the shape of the lists comes first."""
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
