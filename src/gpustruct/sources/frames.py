"""pandas and polars: frames as named columns, series as arrays. Neither library is imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..batches import Slot
from ..errors import SourceError
from . import arrow
from .naming import Shelf


def pandas_frame(source: Any, where: str) -> Shelf:
    """A pandas DataFrame; labels of several levels are joined with dots. The index is no column."""
    labels = [".".join(map(str, label)) if isinstance(label, tuple) else label for label in source.columns]

    def get(label: Any, slot: Slot, where: str) -> Any:
        return pandas_column(source.iloc[:, labels.index(label)], slot, where)

    return Shelf(labels, get, where)


def pandas_column(series: Any, slot: Slot, where: str) -> Any:
    """A pandas Series or Index as an array: no copy of numpy's own dtypes, nor of nullable ones."""
    dtype: Any = series.dtype
    name = slot.name or "column"
    # pandas makes floats of integers with missing values: NaN is one then.
    gaps = isinstance(dtype, np.dtype) and dtype.kind == "f" and slot.core.__layout__.scalar in ("i32", "u32")
    if isinstance(dtype, np.dtype) and dtype.kind != "O" and not gaps:
        return series.to_numpy()
    missing = np.asarray(series.isna())
    if missing.any():
        kind, row = f"a missing value in a pandas {type(series).__name__} of {dtype}", int(missing.argmax())
        raise SourceError.of("column-missing-value", kind=kind, row=row, where=where, way_out=f"{name}.fillna(0)")
    if gaps:
        return series.to_numpy()
    if hasattr(dtype, "pyarrow_dtype"):
        return arrow.column(series.array.__arrow_array__(), slot, where)
    if hasattr(dtype, "categories"):
        _refuse(slot, "a pandas categorical", where, f"take its codes: {name}.cat.codes")
    nullable = getattr(dtype, "numpy_dtype", None)
    if nullable is not None:
        return series.to_numpy(dtype=nullable)
    array = series.to_numpy()
    if array.dtype.kind in "OTU" and slot.core.__layout__.kind != "struct":
        first = type(array[0]).__name__ if len(array) else "object"
        sequence = len(array) > 0 and isinstance(array[0], tuple | list | np.ndarray)
        way_out = f"np.stack({name})" if sequence else f"np.asarray({name}, np.float32)"
        _refuse(slot, f"a pandas {type(series).__name__} of {first} objects", where, f"convert it: {way_out}")
    return array


def polars_frame(source: Any, where: str) -> Shelf:
    """A polars DataFrame."""

    def get(name: str, slot: Slot, where: str) -> Any:
        return polars_column(source.get_column(name), slot, where)

    return Shelf(source.columns, get, where)


def polars_column(series: Any, slot: Slot, where: str) -> Any:
    """A polars Series as an array: no copy of one chunk of numbers, nor of fixed-size arrays of them."""
    dtype, name = str(series.dtype), slot.name or "column"
    kind = dtype.partition("(")[0]
    if series.null_count():
        row = int(series.is_null().arg_max())
        described = f"a null in a polars Series of {dtype}"
        raise SourceError.of(
            "column-missing-value", kind=described, row=row, where=where, way_out=f"{name}.fill_null(0)"
        )
    if kind == "Struct":
        fields = {field.name: field for field in series.struct.unnest().get_columns()}

        def get(key: str, slot: Slot, where: str) -> Any:
            return polars_column(fields[key], slot, where)

        return Shelf(list(fields), get, where)
    if kind == "Array":
        inner = series.explode()
        if inner.null_count():
            row = int(inner.is_null().arg_max()) // max(len(inner) // max(len(series), 1), 1)
            described = f"a null in a polars Series of {dtype}"
            raise SourceError.of("column-missing-value", kind=described, row=row, where=where, way_out=f"{name}.arr.eval(pl.element().fill_null(0))")  # fmt: skip
    elif kind == "List":
        size = slot.inner[0] if slot.inner else "N"
        _refuse(slot, f"lists of any length (polars {dtype})", where, f"fix their length: {name}.list.to_array({size})")
    elif kind in ("String", "Categorical", "Enum", "Object", "Binary", "Decimal"):
        ways = {"Categorical": "to_physical()", "Enum": "to_physical()"}
        _refuse(slot, f"polars {dtype}", where, f"convert it: {name}.{ways.get(kind, 'cast(pl.Float32)')}")
    return series.to_numpy()


def _refuse(slot: Slot, current: str, where: str, way_out: str) -> None:
    raise SourceError.of("column-kind", type=slot.type.__name__, current=current, where=where, way_out=way_out)
