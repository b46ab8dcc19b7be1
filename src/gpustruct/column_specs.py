"""What the column of a member must be, and what messages call it and its numbers."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from ._batches import is_padding as is_padding
from .errors import SourceError
from .layout import RECORD_SCALARS, Layout

Shape = tuple[int, ...]
# numpy has no more.
MOST_DIMENSIONS = 64
# Field names in dtypes, for what numpy cannot express otherwise: a matrix's column, an element with padding after it.
COLUMN, ELEMENT = "column", "element"
# The field of the bytes after the last member. WGSL has no names that begin with two underscores, so no member has
# this one.
PADDING = "__padding"


def without_arrays(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], Shape]:
    """The dtype inside all arrays of a field's dtype, and the shape of these together."""
    shape: Shape = ()
    while dtype.subdtype is not None:
        dtype, shape = dtype.base, shape + dtype.shape
    return dtype, shape


def field_names(dtype: np.dtype[Any]) -> tuple[str, ...]:
    """The names of a structured dtype's fields but padding."""
    return tuple(name for name in dtype.names or () if not is_padding(dtype[name]))


class ColumnSpec(NamedTuple):
    """What one column of a type must be.

    `name` is the member's, or "" for a type that is not a struct; `type` is its type, `core` the type inside all
    arrays, and `dims` the counts of those arrays. `runtime`: the outermost array is runtime-sized.
    """

    name: str
    type: Any
    core: Any
    dims: Shape
    runtime: bool

    @property
    def inner(self) -> Shape:
        """The dimensions that a column has after the batch's."""
        layout: Layout = self.core.__layout__
        return self.dims + layout.shape


class SplitColumn:
    """A column whose components are separate arrays: the x, y and z of a vec3f.

    The shape of each array is `leading_shape`, or one that broadcasts to it, then `rest`: the inner dimensions without
    the first.
    """

    __slots__ = ("arrays", "leading_shape", "rest")

    def __init__(self, arrays: tuple[np.ndarray, ...], leading_shape: Shape, rest: Shape) -> None:
        self.arrays, self.leading_shape, self.rest = arrays, leading_shape, rest

    @property
    def shape(self) -> Shape:
        return (*self.leading_shape, len(self.arrays), *self.rest)

    @property
    def dtype(self) -> np.dtype:
        return np.result_type(*self.arrays)

    def broadcast_to(self, leading: Shape) -> SplitColumn:
        """The same arrays with more leading dimensions; nothing is copied."""
        arrays = tuple(np.broadcast_to(array, leading + self.rest) for array in self.arrays)
        return SplitColumn(arrays, leading, self.rest)

    def stack(self) -> np.ndarray:
        """All parts as one array, which is a copy."""
        whole = self.broadcast_to(self.leading_shape)
        return np.stack(whole.arrays, axis=len(self.leading_shape))

    def __getitem__(self, entries: Any) -> SplitColumn:
        arrays = tuple(array[entries] for array in self.broadcast_to(self.leading_shape).arrays)
        shape = arrays[0].shape
        return SplitColumn(arrays, shape[: len(shape) - len(self.rest)], self.rest)


def is_struct(spec: ColumnSpec) -> bool:
    """Whether the member is a struct, or an array of them."""
    layout: Layout = spec.core.__layout__
    return layout.kind == "struct"


def spelled(spec: ColumnSpec) -> str:
    """Code for the column: the member's name, if that is valid code."""
    return spec.name if re.fullmatch(r"[^\W\d]\w*(\[\d+\])*", spec.name) else "column"


def entry_of(where: str, index: int) -> str:
    """`where` with one more index: ``P.x``, then ``P.x[0]``, then ``P.x[0, 3]``."""
    return f"{where[:-1]}, {index}]" if where.endswith("]") else f"{where}[{index}]"


def place_of(where: str, index: tuple[int, ...]) -> str:
    """The place in a message: ``Particle.position[3]``."""
    return f"{where}[{', '.join(map(str, index))}]" if index else where


def number_name(spec: ColumnSpec) -> str:
    """The numpy name of the member's scalar."""
    row = RECORD_SCALARS.get(spec.core.__layout__.scalar)
    return "float32" if row is None else np.dtype(row.format).name


def is_integer(spec: ColumnSpec) -> bool:
    """Whether the member holds whole numbers."""
    row = RECORD_SCALARS.get(spec.core.__layout__.scalar)
    return row is not None and row.is_integer


def stored_dtype(scalar: str) -> np.dtype | None:
    """The dtype of integers that a normalized scalar is stored as, and takes component by component."""
    row = RECORD_SCALARS[scalar]
    if row.is_word:
        return np.dtype(np.uint8) if scalar == "unorm8x4_bgra" else None
    return np.dtype(row.stored) if row.stored else None


def is_words(spec: ColumnSpec, column: Any) -> bool:
    """Whether a column is bytes of words, which no column of components is."""
    layout: Layout = spec.core.__layout__
    return layout.scalar == "unorm10_10_10_2" and isinstance(column, np.ndarray) and column.dtype == np.uint8


def is_numpy_number(dtype: np.dtype) -> bool:
    """Whether the kernel can read the dtype. Dtypes of other libraries may have the kind "f" too."""
    return dtype.kind in "biuf" and dtype.isbuiltin != 2 and dtype.itemsize <= 8


def range_error(spec: ColumnSpec, value: Any, where: str) -> SourceError:
    """The error for a value that the member's scalar does not hold."""
    return out_of_range(spec.core.__layout__.scalar, value, spelled(spec), where)


def out_of_range(scalar: str, value: Any, name: str, where: str) -> SourceError:
    """The error for a value that `scalar` does not hold; `name` is the column in the message's code."""
    row = RECORD_SCALARS[scalar]
    if row.is_normalized:
        numbers = f"np.nan_to_num({name})" if value != value else name
        facts = {"low": f"{row.low:g}", "high": f"{row.high:g}", "name": numbers, "where": where}
        return SourceError.of("range-normalized", type=scalar, value=value, **facts)
    rule = "range-integer" if row.is_integer else "range-float"
    return SourceError.of(rule, type=scalar, value=value, low=row.low, high=row.high, name=name, where=where)


def misfits(values: np.ndarray, scalar: str) -> np.ndarray:
    """Which of these numbers `scalar` does not hold, as an array of bools. Their dtype is one that a column may have."""
    row = RECORD_SCALARS[scalar]
    if values.dtype.kind == "b" or (row.is_normalized and values.dtype.kind != "f"):
        return np.zeros(values.shape, np.bool_)
    if row.is_normalized or row.is_integer:
        return ~((values >= row.low) & (values <= row.high))
    with np.errstate(over="ignore"):
        return np.isinf(values.astype(row.format)) & np.isfinite(values)
