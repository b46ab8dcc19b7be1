"""Checks of a column of numbers: its shape and its dtype must fit the member.

Values are not checked here, but in the one pass that packs them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .column_specs import (
    ColumnSpec,
    Shape,
    SplitColumn,
    is_integer,
    is_numpy_number,
    number_name,
    place_of,
    range_error,
    spelled,
    stored_dtype,
)
from .errors import SourceError
from .layout import RECORD_SCALARS, Layout

# The steps from 0 to 1 of the finest normalized format.
MOST_STEPS = 65535


def check_numbers(
    spec: ColumnSpec, column: np.ndarray | SplitColumn, where: str, source: Any = None
) -> np.ndarray | SplitColumn:
    """Check the shape and the dtype of `column`, which was read from `source`; returns it.

    Raises SourceError if they do not fit the member.
    """
    if isinstance(column, SplitColumn):
        return _check_parts(spec, column.arrays, where)
    words = _bytes_of_words(spec, column)
    if words is not None:
        return words
    inner = spec.inner
    drop = 1 if spec.runtime else 0
    if column.ndim < len(inner) + drop or column.shape[column.ndim - len(inner) :] != inner:
        _refuse_shape(spec, column, where, code_of(source, spelled(spec)))
    if spec.runtime and column.ndim != len(inner) + 1:
        raise SourceError.of("tail-shape", type=spec.type.__name__, shape=column.shape, where=where)
    check_dtype(spec, column, where)
    return column


def _check_parts(spec: ColumnSpec, parts: tuple[np.ndarray, ...], where: str) -> SplitColumn:
    inner = spec.inner
    nested = any(isinstance(part, SplitColumn) for part in parts)
    if spec.runtime or not inner or len(parts) != inner[0] or nested:
        counted = "columns as one array" if spec.runtime or not inner else f"{inner[0]} columns, one for each component"
        shape = "columns of columns" if nested else f"{len(parts)} columns"
        facts = {"inner": inner, "type": spec.type.__name__, "shape": shape, "where": where}
        raise SourceError.of("column-shape", way_out=f"give it {counted}", **facts)
    for k, array in enumerate(parts):
        place = f"{where}[{k}]"
        if array.shape[max(array.ndim - len(inner) + 1, 0) :] != inner[1:]:
            facts = {"inner": inner[1:], "type": f"a part of {spec.type.__name__}", "shape": array.shape}
            way_out = f"give it an array of shape (n, {', '.join(map(str, inner[1:]))})"
            raise SourceError.of("column-shape", way_out=way_out, where=place, **facts)
        check_dtype(spec, array, place)
    shapes = [array.shape[: array.ndim - len(inner) + 1] for array in parts]
    try:
        leading_shape = functools.reduce(np.broadcast_shapes, shapes, ())
    except ValueError:
        named = ", ".join(f"part {k} {shape}" for k, shape in enumerate(shapes))
        raise SourceError.of("column-broadcast", shapes=named, where=where) from None
    if leading_shape and leading_shape not in shapes:
        k = next(k for k, shape in enumerate(shapes) if shape != shapes[0] and shape)
        facts = {"first": "part 0", "first_shape": shapes[0], "second": f"part {k}", "second_shape": shapes[k]}
        way_out = "give each part the same shape"
        raise SourceError.of("column-outer", shape=leading_shape, where=where, way_out=way_out, **facts)
    return SplitColumn(parts, leading_shape, inner[1:])


def shape_text(spec: ColumnSpec) -> str:
    """The shape of a column of n records, for a message."""
    return f"(n,{''.join(f' {n},' for n in spec.inner)}".rstrip(",") + ")" if spec.inner else "(n,)"


def code_of(source: Any, name: str) -> str:
    """Code for the array of a column that the user calls `name`."""
    return name if source is None or isinstance(source, np.ndarray) else f"np.asarray({name})"


def turned(spec: ColumnSpec, shape: Shape, code: str) -> str:
    """The way out for a transposed matrix, or for components in the first dimension; "" if it is neither."""
    layout: Layout = spec.core.__layout__
    if layout.kind == "matrix" and shape[-2:] == (layout.columns, layout.rows) and layout.rows != layout.columns:
        transposed = f"{code}.T" if len(shape) == 2 else f"{code}.swapaxes(-1, -2)"
        return f"matrices are [row, col], {layout.rows} rows of {layout.columns}: pass {transposed}"
    inner = spec.inner
    if len(inner) == 1 and len(shape) >= 2 and shape[0] == inner[0]:
        last = f"{code}.T" if len(shape) == 2 else f"np.moveaxis({code}, 0, -1)"
        return f"components come last, {shape_text(spec)}: pass {last}"
    return ""


def _refuse_shape(spec: ColumnSpec, column: np.ndarray, where: str, code: str) -> NoReturn:
    layout: Layout = spec.core.__layout__
    shape = column.shape
    if layout.kind == "matrix" and shape and shape[-1] == layout.rows * layout.columns:
        facts = {"rows": layout.rows, "cols": layout.columns, "shape": shape, "where": where}
        raise SourceError.of("matrix-flat", type=layout.name, **facts)
    way_out = "" if spec.runtime else turned(spec, shape, code) or _from_words(spec, column, code)
    inner = shape_text(spec) if spec.runtime else spec.inner
    facts = {"inner": inner, "type": spec.type.__name__, "shape": shape, "where": where}
    raise SourceError.of("column-shape", way_out=way_out or f"give an array of shape {shape_text(spec)}", **facts)


def _from_words(spec: ColumnSpec, column: np.ndarray, code: str) -> str:
    """The way out for integers that hold all components of a member of 4 bytes; "" for any other column."""
    layout: Layout = spec.core.__layout__
    dims = spec.dims[1:] if spec.runtime else spec.dims
    if column.dtype.kind not in "iu" or column.dtype.itemsize < 4 or layout.kind != "vector" or layout.size != 4:
        return ""
    if column.ndim != len(dims) + 1 or column.shape[1:] != dims:
        return ""
    row = RECORD_SCALARS[layout.scalar]
    if row.is_word:
        return f"packed words: {code}.astype(np.uint32)"
    part = np.dtype(row.stored or row.format).name
    shape = ", ".join(map(str, (-1, *dims, layout.rows)))
    return f"packed words: np.ascontiguousarray({code}, '<u4').view(np.{part}).reshape({shape})"


class Way(NamedTuple):
    """A way out: what it does, the code to type, and a function that tries it on the column."""

    text: str
    code: str
    run: Callable[[], Any] | None = None


def first_that_runs(ways: Iterator[Way]) -> str:
    """The first way out that works on its column."""
    for way in ways:
        try:
            if way.run is not None:
                way.run()
        except Exception:  # A library may raise anything.
            continue
        return f"{way.text}: {way.code}"
    return "give it numbers"


def _bytes_of_words(spec: ColumnSpec, column: np.ndarray) -> np.ndarray | None:
    """Integers that hold all four components of a member, as the bytes of each; None for any other column.

    No format has components of 32 bits, so an array of shape (4,) is four words. One of shape (n, 4) is meant as
    components: it is left to `check_dtype`, which refuses it.
    """
    layout: Layout = spec.core.__layout__
    row = RECORD_SCALARS.get(layout.scalar)
    if row is None or not row.is_word or column.dtype.str[1:] != "u4":
        return None
    inner, dims, ndim = spec.inner, spec.dims, column.ndim
    if column.shape[max(ndim - len(dims), 0) :] != dims or (ndim > len(inner) and column.shape[-len(inner) :] == inner):
        return None
    found = column.astype("<u4", copy=False)[..., None].view(np.uint8)
    return found[..., [2, 1, 0, 3]] if layout.scalar == "unorm8x4_bgra" else found


def check_dtype(spec: ColumnSpec, array: np.ndarray, where: str) -> None:
    """Raise SourceError unless the values can become the member's scalars, if only by rounding."""
    dtype, integer = array.dtype, is_integer(spec)
    scalar = spec.core.__layout__.scalar
    if is_numpy_number(dtype):
        stored = stored_dtype(scalar)
        accepted = dtype.kind == "f" or (stored is not None and dtype.str[1:] == stored.str[1:])
        if accepted if RECORD_SCALARS[scalar].is_normalized else dtype.kind != "f" or not integer:
            return
    kind = dtype.kind
    if kind == "O" and integer:
        _check_large_integers(spec, array, where)
    spelled_kind = {"U": "text", "T": "text", "S": "bytes", "O": "objects"}.get(kind, dtype.name)
    if dtype.type is np.void:
        spelled_kind = "records" if dtype.names else "raw bytes"
    way_out = first_that_runs(_ways(spec, array))
    raise SourceError.of("column-dtype", type=scalar, dtype=spelled_kind, where=where, way_out=way_out)


def _check_large_integers(spec: ColumnSpec, array: np.ndarray, where: str) -> None:
    """For integers that numpy has no dtype for, raise the error for their range."""
    if not all(type(value) is int for value in array.flat):
        return
    row = RECORD_SCALARS[spec.core.__layout__.scalar]
    for index, value in np.ndenumerate(array):
        if not row.low <= value <= row.high:
            raise range_error(spec, value, place_of(where, index))


def _ways(spec: ColumnSpec, array: np.ndarray) -> Iterator[Way]:
    name, number, kind = spelled(spec), number_name(spec), array.dtype.kind
    if kind in "iub" and array.dtype.isbuiltin == 1:
        yield from _integer_ways(spec, array)
    divide = "//" if is_integer(spec) else "/"
    unit = np.datetime_data(array.dtype)[0] if kind in "Mm" else ""
    if unit in ("Y", "M"):
        yield Way(f"count its {'years' if unit == 'Y' else 'months'}", f"np.asarray({name}).astype(np.int64)")
    elif kind == "M":
        yield Way("choose an epoch and a unit", f"({name} - np.min({name})) {divide} np.timedelta64(1, 's')")
    elif kind == "m":
        yield Way("choose a unit", f"{name} {divide} np.timedelta64(1, 's')")
    elif array.dtype.names:
        yield Way("pick a field", f"{name}[{array.dtype.names[0]!r}]")
    elif array.dtype.type is np.void:
        raw = number if array.dtype.itemsize % np.dtype(number).itemsize == 0 else "uint8"
        yield Way("give it a number type", f"{name}.view(np.{raw})")
    elif kind == "c" and array.dtype.isbuiltin == 1:
        yield Way("pick a part", f"np.real({name})")
    elif kind == "f" and not is_integer(spec):
        yield Way("convert it", f"np.asarray({name}, np.float64)")
    elif kind == "f":
        yield Way("say how to round", f"np.rint({name}).astype(np.{number})")
    elif array.dtype.isbuiltin == 2:
        yield Way("pick a part", f"np.asarray({name}, np.complex64).real", lambda: array.astype(np.complex64))
    if kind in "OSTU":
        yield from text_ways(spec, name, lambda: array)


def _integer_ways(spec: ColumnSpec, array: np.ndarray) -> Iterator[Way]:
    """Ways out for an integer column in a normalized member (unorm or snorm)."""
    name, stored = spelled(spec), stored_dtype(spec.core.__layout__.scalar)
    largest, number = int(array.max(initial=0)), f"np.asarray({name})"
    if largest > MOST_STEPS and array.ndim == 1 and (words := _from_words(spec._replace(dims=()), array, name)):
        text, _, code = words.partition(": ")
        yield Way(text, code)
    if largest <= 1:
        yield Way("convert it", f"np.asarray({name}, np.float64)")
    elif stored is not None and np.iinfo(stored).min <= array.min() and largest <= np.iinfo(stored).max:
        yield Way("if these are the integers to store", f"{number}.astype(np.{stored.name})")
    elif stored is None and (array[..., :3] <= 1023).all() and (array[..., 3:] <= 3).all():
        yield Way("divide by what stands for 1", f"{number} / [1023, 1023, 1023, 3]")
    full = np.iinfo(array.dtype).max if array.dtype.kind != "b" and array.dtype.itemsize <= 2 else largest
    yield Way("divide by what stands for 1", f"{number} / {full}")


def text_ways(spec: ColumnSpec, listed: str, values: Callable[[], Any]) -> Iterator[Way]:
    """Ways out for text and objects: convert them to numbers, or number their distinct values.

    `listed` is the code for a list or an array of them; `values` returns it.
    """
    number = number_name(spec)

    def convert() -> None:
        found = np.asarray(values())
        if found.dtype == object and is_integer(spec) and np.any(np.asarray(found, number) != found):
            raise ValueError  # It would truncate.
        np.asarray(found, number)

    def number_them() -> None:
        if spec.inner or np.ndim(values()) != 1:
            raise ValueError  # One number for each entry is not a vector.
        np.unique(values(), return_inverse=True)

    yield Way("convert it", f"np.asarray({listed}, np.{number})", convert)
    rounded = f"np.rint(np.asarray({listed}, np.float64)).astype(np.{number})"
    yield Way("say how to round", rounded, lambda: np.asarray(values(), np.float64))
    distinct = f"np.unique({listed}, return_inverse=True)[1]"
    yield Way("number its distinct values", distinct, number_them)
