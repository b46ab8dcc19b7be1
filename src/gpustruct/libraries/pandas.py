"""pandas: frames as named columns; series, indexes and extension arrays as arrays. The library is not imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..column_checks import Way, text_ways
from ..column_specs import ColumnSpec, is_integer, is_struct, number_name, spelled
from . import arrow
from .arrays import read_array
from .named import NamedColumns
from .refusing import refuse, refuse_missing

FRAME_MARK = "columns"
COLUMN_MARKS = ("dtype", "isna")


def frame(source: Any, where: str) -> NamedColumns:
    """A pandas DataFrame; labels of several levels are joined with dots. The index is no column."""
    labels = [".".join(map(str, label)) if isinstance(label, tuple) else label for label in source.columns]
    return NamedColumns.found(labels, lambda label: source.iloc[:, labels.index(label)], column, where)


def column(series: Any, spec: ColumnSpec, where: str) -> Any:
    """A pandas Series, Index or extension array as an array: no copy of numpy's own dtypes, nor of nullable ones."""
    dtype: Any = series.dtype
    # pandas converts integers with missing values to floats, with NaN for the missing ones.
    gaps = isinstance(dtype, np.dtype) and dtype.kind == "f" and is_integer(spec)
    if isinstance(dtype, np.dtype) and dtype.kind not in "OMm" and not gaps:
        return read_array(series.to_numpy(), spec, where)
    described = f"a pandas {type(series).__name__} of {dtype}"
    if hasattr(series, "levels"):
        refuse(spec, described, where, [Way("take a level", f"{spelled(spec)}.get_level_values(0)")])
    missing = np.asarray(series.isna())
    if missing.any():
        way_out = f"{spelled(spec)}.{_dropped_or_filled(dtype)}"
        refuse_missing(f"a missing value in {described}", int(missing.argmax()), where, way_out)
    if hasattr(dtype, "pyarrow_dtype"):
        array = getattr(series, "array", series)
        return arrow.column(array.__arrow_array__(), spec, where, f"pa.array({spelled(spec)})")
    nullable = getattr(dtype, "numpy_dtype", None)
    if nullable is not None and nullable.kind in "biuf":
        return series.to_numpy(dtype=nullable)
    values = series.to_numpy()
    if values.dtype.kind in "biufc":
        return read_array(values, spec, where)
    if is_struct(spec) and values.dtype == object:
        # Records, one by one.
        return values
    current = f"{described}{_entries(values)}" if not hasattr(dtype, "categories") else "a pandas categorical"
    refuse(spec, current, where, _ways(series, values, spec))


def _dropped_or_filled(dtype: Any) -> str:
    if hasattr(dtype, "categories"):
        return "dropna()"
    if dtype.kind == "b":
        return "fillna(False)"
    return "fillna(0)" if dtype.kind in "iuf" or str(dtype) == "object" else "dropna()"


def _entries(values: np.ndarray) -> str:
    return f" ({type(values[0]).__name__})" if len(values) and values.dtype == object else ""


def _ways(series: Any, values: np.ndarray, spec: ColumnSpec) -> Iterator[Way]:
    name, dtype, number = spelled(spec), series.dtype, number_name(spec)
    divide = "//" if is_integer(spec) else "/"
    if hasattr(dtype, "categories"):
        codes = next(code for code in ("cat.codes", "codes") if hasattr(series, code.partition(".")[0]))
        yield Way("take its codes", f"{name}.{codes}")
    elif hasattr(dtype, "subtype") and hasattr(dtype, "closed"):
        yield Way("take one end", f"{name}.{'array.' if hasattr(series, 'array') else ''}left")
    elif getattr(dtype, "kind", "") == "M":
        since = f"({name} - {name}.min()) {divide} np.timedelta64(1, 's')"
        yield Way("choose an epoch and a unit", since)
    elif getattr(dtype, "kind", "") == "m":
        yield Way("choose a unit", f"{name} {divide} np.timedelta64(1, 's')")
    elif hasattr(dtype, "freq"):
        yield Way("count its periods", f"{name}.astype('int64')")
    if len(values) and isinstance(values[0], tuple | list | np.ndarray):
        yield Way("convert it", f"np.stack({name})", lambda: np.stack(list(values)))
    yield Way("convert it", f"np.asarray({name}, np.{number})", lambda: np.asarray(series, number))
    yield from text_ways(spec, f"{name}.tolist()", series.tolist)
