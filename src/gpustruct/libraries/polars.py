"""polars: frames as named columns, series as arrays. The library is not imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..column_checks import Way, text_ways
from ..column_specs import ColumnSpec, is_integer, is_struct, number_name, spelled
from .named import NamedColumns, flatten_lists, shaped
from .refusing import list_ways, polars_name, refuse, refuse_missing, refuse_rounding, zeros

_NUMBERS = frozenset("Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float16 Float32 Float64 Boolean".split())
# Those, and what `fill_null(0)` fills too.
_FILLED = _NUMBERS | {"Decimal", "Int128", "UInt128"}

FRAME_MARK = "get_columns"
COLUMN_MARKS = ("dtype", "null_count")


def frame(source: Any, where: str) -> NamedColumns:
    """A polars DataFrame."""
    return NamedColumns.found(source.columns, source.get_column, column, where)


def column(series: Any, spec: ColumnSpec, where: str) -> Any:
    """A polars Series as an array: no copy of one chunk of numbers, nor of fixed-size arrays of them."""
    inner, shape, row = flatten_lists(series, _size, lambda arrays: arrays.explode(), _first_null)
    if row >= 0:
        way_out = _filled(series, spelled(spec))
        refuse_missing(f"a null in a polars Series of {series.dtype}", row, where, way_out)
    kind = _kind(inner.dtype)
    if kind in _NUMBERS:
        if kind.startswith("Float") and is_integer(spec):
            refuse_rounding(spec, f"polars {series.dtype}", where, _rounded(series, spec))
        return shaped(np.asarray(inner.to_numpy()), shape)
    if kind == "Decimal" and not is_integer(spec) and not is_struct(spec):
        pl = sys.modules["polars"]
        return shaped(np.asarray(inner.cast(pl.Float64).to_numpy()), shape)
    if kind == "Struct" and is_struct(spec):
        fields = {field.name: field for field in inner.struct.unnest().get_columns()}
        return shaped(NamedColumns.found(list(fields), fields.get, column, where), shape)
    current = f"polars {series.dtype}"
    refuse(spec, f"lists of any length ({current})" if kind == "List" else current, where, _ways(series, spec))


def _kind(dtype: Any) -> str:
    return str(dtype).partition("(")[0]


def _size(series: Any) -> int | None:
    return series.dtype.size if _kind(series.dtype) == "Array" else None


def _first_null(series: Any) -> int:
    return int(series.is_null().arg_max()) if series.null_count() else -1


def _filled(series: Any, name: str) -> str:
    """Code that leaves no row without a value."""
    dims: tuple[int, ...] = getattr(series.dtype, "shape", ())
    leaf = series.dtype
    for _ in dims:
        leaf = leaf.inner
    if _kind(leaf) not in _FILLED:
        return f"{name}.drop_nulls()"
    zero = "False" if _kind(leaf) == "Boolean" else "0"
    if series.null_count():
        # Filled with lists, arrays become lists.
        return f"{name}.fill_null({zeros(dims, zero)})" + (f".cast({name}.dtype)" if dims else "")
    filled = f"pl.element().fill_null({zero})"
    for _ in dims[1:]:
        filled = f"pl.element().arr.eval({filled})"
    return f"{name}.arr.eval({filled})"


def _rounded(series: Any, spec: ColumnSpec) -> str:
    name = spelled(spec)
    if _kind(series.dtype) == "Array":
        return f"np.rint({name}.to_numpy()).astype(np.{number_name(spec)})"
    return f"{name}.round().cast(pl.{polars_name(spec)})"


def _ways(series: Any, spec: ColumnSpec) -> Iterator[Way]:
    name, dtype, mine = spelled(spec), series.dtype, polars_name(spec)
    pl, kind, listed = sys.modules["polars"], _kind(dtype), f"{name}.to_list()"
    if kind == "Array":
        leaf = dtype
        for _ in dtype.shape:
            leaf = leaf.inner
        number, dims = _wide(_kind(leaf), spec), dtype.shape
        shape = str(dims[0]) if len(dims) == 1 else str(dims)
        code = f"{name}.cast(pl.Array(pl.{number}, {shape}))"
        yield Way("convert it", code, lambda: series.cast(pl.Array(getattr(pl, number), dims)))
    elif kind == "List":
        yield from list_ways(spec, f"{name}.list.to_array({{}})", series.list.to_array, listed, series.to_list)
    elif kind in ("Date", "Datetime"):
        yield Way("choose an epoch and a unit", f"({name} - {name}.min()).dt.total_seconds()")
    elif kind == "Duration":
        yield Way("choose a unit", f"{name}.dt.total_seconds()")
    elif kind == "Time":
        yield Way("choose a unit", f"{name}.cast(pl.Int64) // 1_000_000_000")
    elif kind in ("Categorical", "Enum"):
        yield Way("take its codes", f"{name}.to_physical()")
    elif kind == "Struct" and dtype.fields:
        yield Way("take a field", f"{name}.struct.field({dtype.fields[0].name!r})")
    elif kind == "Binary" and all(len(value) == np.dtype(number_name(spec)).itemsize for value in series):
        yield Way("say what its bytes are", f'{name}.bin.reinterpret(dtype=pl.{mine}, endianness="little")')
    elif kind in ("Int128", "UInt128", "String", "Decimal"):
        number = _wide(kind, spec)
        yield Way("convert it", f"{name}.cast(pl.{number})", lambda: series.cast(getattr(pl, number)))
    yield from text_ways(spec, listed, series.to_list)


def _wide(kind: str, spec: ColumnSpec) -> str:
    """What numbers are cast to: the member's own scalar, or, as floats would round, the widest integers."""
    return kind.replace("128", "64") if kind in ("Int128", "UInt128") and not is_integer(spec) else polars_name(spec)
