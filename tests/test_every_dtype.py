"""Every entry point that takes data × every dtype of every library: the right bytes, or an error that names the member.

What is expected is computed from the values as the column's own library lists them.
"""

from __future__ import annotations

import contextlib
import decimal
import functools
import io
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import every_dtype
import every_source
from gpustruct import (
    GpuStructError,
    Struct,
    array,
    batch,
    f16,
    f32,
    i32,
    pack,
    u32,
    vec2f,
    vec2h,
    vec2i,
    vec2u,
    view,
)

COLUMNS = every_dtype.COLUMNS
NUMPY = {f32: np.float32, f16: np.float16, i32: np.int32, u32: np.uint32}
VECTORS = {f32: vec2f, f16: vec2h, i32: vec2i, u32: vec2u}


@functools.cache
def struct(member: Any, name: str = "K") -> Any:
    return type(name, (Struct,), {"__annotations__": {"k": member}})


@functools.cache
def outer(member: Any) -> Any:
    return type("Outer", (Struct,), {"__annotations__": {"inner": struct(member)}})


@functools.cache
def tailed(member: Any) -> Any:
    return type("Tailed", (Struct,), {"__annotations__": {"n": u32, "k": array[member]}})


# What each column holds, as its own library lists it.


def listed(column: Any) -> list[Any]:
    for name in ("to_pylist", "to_list"):
        if hasattr(column, name):
            return getattr(column, name)()
    return list(column)


def numbers(values: Any) -> list[Any] | None:
    """Nested lists flat, each value as Python's int or float; None where one is no number."""
    found: list[Any] = []
    for value in values:
        if value is np.ma.masked or isinstance(value, np.timedelta64 | np.void):
            return None
        if isinstance(value, list | tuple | np.ndarray | pl.Series):
            inner = numbers(list(value))
            if inner is None:
                return None
            found += inner
        elif isinstance(value, bool | int | np.bool_ | np.integer):
            found.append(int(value))
        elif isinstance(value, float | np.floating | decimal.Decimal):
            found.append(float(value))
        elif type(value).__module__.startswith(ml_dtypes.__name__):
            if "complex" in type(value).__name__:
                return None
            found.append(int(value) if np.can_cast(type(value), np.int64) else float(value))
        else:
            return None
    return found


def expected(column: Any, member: Any) -> np.ndarray | None:
    """The member's scalars, or None where the column has to be refused."""
    found = numbers(listed(column))
    if found is None or (member in (i32, u32) and not all(isinstance(value, int) for value in found)):
        return None
    if member in (i32, u32) and any(not np.iinfo(NUMPY[member]).min <= v <= np.iinfo(NUMPY[member]).max for v in found):
        return None
    return np.array(found, np.float64).astype(NUMPY[member])


# The entry points: each gives the bytes that came of a column, as numbers of the member's type.


def frames(column: Any) -> Iterator[Any]:
    """Tables of every kind that can hold the column."""
    if isinstance(column, pd.Series | pd.Index) or type(column).__module__.startswith("pandas"):
        if not isinstance(column, pd.MultiIndex):
            yield pd.DataFrame({"k": pd.Series(column)})
    elif isinstance(column, pl.Series):
        yield pl.DataFrame({"k": column})
    elif isinstance(column, pa.Array | pa.ChunkedArray):
        yield pa.table({"k": column})
        yield Capsule(pa.table({"k": column}))
        if isinstance(column, pa.Array):
            yield pa.record_batch({"k": column})
            yield pa.StructArray.from_arrays([column], ["k"])
    elif isinstance(column, np.ndarray) and column.dtype.names is None and not isinstance(column, np.ma.MaskedArray):
        if column.dtype.kind == "T":  # numpy has no fields of it.
            return
        table = np.zeros(len(column), [("k", column.dtype)])
        table["k"] = column
        yield table
        yield from array_stores(column, table)


class Capsule:
    """A table that offers Arrow's C interface, and nothing else."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def array_stores(column: np.ndarray, table: np.ndarray) -> Iterator[Any]:
    """The same in h5py, zarr and xarray, where they have such a dtype."""
    h5py, zarr, xarray = (pytest.importorskip(name) for name in ("h5py", "zarr", "xarray"))
    # Names for what they refuse: h5py and zarr have no Unicode of fixed length, no units of time, and so on.
    if column.dtype.kind in "biuf" and column.dtype.isbuiltin == 1 and column.dtype.itemsize <= 8:
        file = h5py.File(io.BytesIO(), "w")
        file["k"], file["table"] = column, table
        yield {"k": file["k"]}
        yield file["table"]
        group = zarr.group()
        # zarr has one of C's two names for an integer of 64 bits.
        group["k"] = column.astype(column.dtype.str)
        yield {"k": group["k"]}
        yield group
    if column.dtype.isbuiltin != 2 and column.dtype.kind not in "VT" and _units(column.dtype):
        yield xarray.Dataset({"k": ("n", column)})
        yield {"k": xarray.DataArray(column)}


def _units(dtype: np.dtype) -> bool:
    """xarray has these units of time only."""
    return dtype.kind not in "Mm" or np.datetime_data(dtype)[0] in ("s", "ms", "us", "ns")


def in_view(member: Any, column: Any) -> Any:
    made = view(struct(VECTORS[member]))
    made.k = column
    return bytes(made)


def in_array_view(member: Any, column: Any) -> Any:
    made = view(struct(array[member, 2]))
    made.k = column
    return bytes(made)


def in_update(member: Any, column: Any) -> Any:
    made = view(struct(VECTORS[member]))
    made.update({"k": column})
    return bytes(made)


def in_nested_view(member: Any, column: Any) -> Any:
    made = view(outer(VECTORS[member]))
    made.inner = {"k": column}
    return bytes(made)


def in_plain_view(member: Any, column: Any) -> Any:
    made = view(VECTORS[member])
    made[...] = column
    return bytes(made)


def each_in_view(member: Any, column: Any) -> Any:
    made, found = view(struct(member)), b""
    for value in column:
        made.k = value
        found += bytes(made)
    return found


def in_tail(member: Any, column: Any) -> Any:
    return pack(tailed(member)(n=1, k=column))[4:].tobytes()


ONCE: dict[str, Callable[[Any, Any], Any]] = {
    "the constructor": lambda m, c: pack(struct(m)(k=c)),
    "a plain type": lambda m, c: pack(m(c)),
    "batch of a mapping": lambda m, c: pack(batch(struct(m), {"k": c})),
    "batch of a plain type": lambda m, c: pack(batch(m, c)),
    "batch with another name": lambda m, c: pack(batch(struct(m), {"other": c}, k="other")),
    "a nested batch": lambda m, c: pack(outer(m)(inner=struct(m)(k=c))),
    "a nested mapping": lambda m, c: pack(outer(m)(inner={"k": c})),
    "a nested mapping in batch": lambda m, c: pack(batch(outer(m), {"inner": {"k": c}})),
    "a dotted name": lambda m, c: pack(batch(outer(m), {"inner.k": c})),
    "records": lambda m, c: pack(batch(struct(m), [{"k": value} for value in c])),
    "tuples": lambda m, c: pack(batch(struct(m), [(value,) for value in c])),
    "nested records": lambda m, c: pack(batch(outer(m), [{"inner": {"k": value}} for value in c])),
    "nested records in the constructor": lambda m, c: pack(outer(m)(inner=[{"k": value} for value in c])),
    "a list of its values": lambda m, c: pack(struct(m)(k=list(c))),
    "an array member": lambda m, c: pack(struct(array[m, 2])(k=[c])),
    "an array in records": lambda m, c: pack(batch(struct(array[m, 2]), [{"k": c}])),
    "a runtime-sized array": in_tail,
    "a vector in a view": in_view,
    "an array in a view": in_array_view,
    "an update": in_update,
    "a nested view": in_nested_view,
    "a view of a plain type": in_plain_view,
    "its values in a view": each_in_view,
}
TWICE: dict[str, Callable[[Any, Any], Any]] = {
    "two columns for a vector": lambda m, c: pack(batch(struct(VECTORS[m]), {"a": c, "b": c}, k=("a", "b"))),
    "two columns for a plain vector": lambda m, c: pack(batch(VECTORS[m], {"a": c, "b": c}, ("a", "b"))),
}
# Columns whose values are numbers for Python and which are refused all the same: by design, or for a missing value.
REFUSED = (
    "numpy g", "numpy O", "Object", "Int128", "List", "list_", "large_list", "lists", "union", "interval", "multi-index",
    "fixed list of none", "Array 3", "SparseDtype 1", "CategoricalDtype 2",
)  # fmt: skip
# Entry points where a column of one-element lists has another shape than the member.
SHAPED = {
    "an array member", "an array in records", "a runtime-sized array", "a vector in a view", "an array in a view",
    "an update", "a nested view", "a view of a plain type", "two columns for a vector", "two columns for a plain vector",
}  # fmt: skip
# Entry points that take single values: those of Decimal or of one-element lists are refused there.
OF_VALUES = {
    "records", "tuples", "nested records", "nested records in the constructor", "its values in a view",
    "a list of its values",
}  # fmt: skip


def judged(name: str, where: str, member: Any, wanted: np.ndarray | None, make: Callable[[], Any]) -> bool:
    """Whether the column was taken; fails for wrong bytes, for other exceptions, and for errors without the member."""
    refused = ""
    try:
        made = make()
    except GpuStructError as error:
        refused = str(error)
    if refused:
        place = refused.partition(" - at ")[2]
        assert ".k" in place or member.__name__ in place or VECTORS[member].__name__ in place, (name, where, refused)
        return False
    found = np.frombuffer(bytes(made), NUMPY[member])
    assert wanted is not None, f"{name} by {where} was taken: {found}"
    np.testing.assert_array_equal(found, wanted, err_msg=f"{name} by {where}")
    return True


@pytest.mark.parametrize("name", COLUMNS)
def test_right_bytes_or_an_error_that_names_the_member(name: str) -> None:
    column = COLUMNS[name]
    for member in (f32, i32, u32, f16):
        wanted = expected(column, member)
        taken = {where: judged(name, where, member, wanted, functools.partial(make, member, column)) for where, make in ONCE.items()}  # fmt: skip
        twice = None if wanted is None else np.repeat(wanted, 2)
        for where, make in TWICE.items():
            taken[where] = judged(name, where, member, twice, functools.partial(make, member, column))
        for table in frames(column):
            make = functools.partial(lambda member, table: pack(batch(struct(member), table)), member, table)
            taken[f"{type(table).__name__}"] = judged(name, type(table).__name__, member, wanted, make)
        if wanted is None or any(word in name for word in REFUSED):
            continue
        lists = "fixed list" in name or "tensor" in name or "Array 0" in name
        for where, was in taken.items():
            alone = where in OF_VALUES and ("ecimal" in name or lists)
            assert was or alone or (lists and where in SHAPED), f"{name} by {where} was refused"


def test_every_dtype_of_every_library_is_here() -> None:
    assert set(every_dtype.PANDAS_TYPES) == set(every_dtype.PANDAS)
    assert set(every_dtype.POLARS_TYPES) <= set(every_dtype.POLARS)
    made = {array.type.id for _, array in every_dtype.arrow_columns()}
    assert set(every_dtype.ARROW_TYPES.values()) <= made
    assert len(COLUMNS) >= 600


def can_be_listed(column: Any) -> bool:
    """Whether Python itself gives the column's values one by one, as some entry points are tried."""
    try:
        list(column)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", every_source.SOURCES)
def test_whatever_python_has_for_numbers(name: str) -> None:
    make_column, values = every_source.SOURCES[name]
    for member in (f32, i32, u32, f16):
        refused = values is None or (member in (i32, u32) and isinstance(values[0], float))
        wanted = None if refused else np.array(values, NUMPY[member])
        listable = can_be_listed(make_column())
        for where, make in [*ONCE.items(), *TWICE.items()]:
            if where in OF_VALUES and not listable:
                continue
            want = np.repeat(wanted, 2) if where in TWICE and wanted is not None else wanted
            if where in OF_VALUES and want is None:
                # Its values may be numbers all the same: what comes is theirs, or a refusal.
                with contextlib.suppress(GpuStructError):
                    make(member, make_column())
                continue
            was = judged(name, where, member, want, functools.partial(make, member, make_column()))
            assert was or want is None or where in OF_VALUES or (where in SHAPED and len(want) < 2), (
                f"{name} by {where}"
            )
