"""A column of two values in each dtype that numpy, ml_dtypes, pandas, polars and Arrow have, listed by the libraries.

`TYPES` says what each library has, `COLUMNS` has a column of each, so that a dtype of a later version shows as missing.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

D = datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)
T = datetime.time(1), datetime.time(2)
S = datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 2)
P = datetime.timedelta(seconds=1), datetime.timedelta(seconds=2)


def numpy_columns() -> Iterator[tuple[str, Any]]:
    values = {"datetime64": S, "timedelta64": P, "str": ("1", "2"), "bytes": (b"1", b"2")}
    for code in np.typecodes["All"]:
        name = np.dtype(code).name.rstrip("0123456789") if code not in "mM" else np.dtype(code).type.__name__
        if code in "V":
            yield f"numpy {code}", np.array([b"abcd", b"efgh"], "V4")
            continue
        dtype = np.dtype(f"{code}8[s]") if code in "mM" else np.dtype(code)
        array = np.array(values.get(name, (1, 2)), dtype)
        yield f"numpy {code}", array
        if dtype.kind in "iufc" and dtype.itemsize > 1:
            yield f"numpy {code} swapped", array.astype(dtype.newbyteorder())
    for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"):
        yield f"numpy M8[{unit}]", np.array([1, 2]).astype(f"M8[{unit}]")
        yield f"numpy m8[{unit}]", np.array([1, 2]).astype(f"m8[{unit}]")
    yield "numpy NaT", np.array(["NaT", "NaT"], "M8[s]")
    yield "numpy m8", np.array([1, 2], "m8")
    yield "numpy StringDType", np.array(["1", "2"], np.dtypes.StringDType())
    yield "numpy StringDType missing", np.array(["1", None], np.dtypes.StringDType(na_object=None))
    yield "numpy structured", np.zeros(2, [("x", "f4"), ("y", "i4")])
    yield "numpy text", np.array(["a", "b"])
    yield "numpy objects of text", np.array(["a", "b"], object)
    yield "numpy objects and None", np.array([1, None], object)
    yield "numpy masked", np.ma.masked_array([1.0, 2.0], [False, True])
    yield "numpy masked nowhere", np.ma.masked_array([1.0, 2.0], [False, False])
    yield "numpy recarray", np.array([1.0, 2.0]).view(np.recarray)


def ml_columns() -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(ml_dtypes)):
        kind = getattr(ml_dtypes, name)
        if isinstance(kind, type) and issubclass(kind, np.generic):
            yield f"ml_dtypes {name}", np.array([1, 0], kind)


PANDAS = {
    "ArrowDtype": list,
    "BooleanDtype": lambda: [pd.array([True, False], dtype="boolean"), pd.array([True, None], dtype="boolean")],
    "CategoricalDtype": lambda: [pd.Categorical([1, 2]), pd.Categorical(["a", "b"]), pd.Categorical([1.5, None])],
    "DatetimeTZDtype": lambda: [pd.array(S, dtype="datetime64[us, UTC]")],
    "IntervalDtype": lambda: [pd.arrays.IntervalArray.from_breaks([0, 1, 2])],
    "PeriodDtype": lambda: [pd.array(["2026-01", "2026-02"], dtype="period[M]")],
    "SparseDtype": lambda: [pd.arrays.SparseArray([1, 0]), pd.arrays.SparseArray([1.0, np.nan])],
    "StringDtype": lambda: [
        pd.array(["1", "2"], dtype=pd.StringDtype("python")),
        pd.array(["1", "b"], dtype=pd.StringDtype("pyarrow")),
        pd.array(["1", None], dtype="str"),
    ],
} | {
    f"{kind}{bits}Dtype": lambda kind=kind, bits=bits: [
        pd.array([1, 2], dtype=f"{kind}{bits}"),
        pd.array([1, None], dtype=f"{kind}{bits}"),
    ]
    for kind in ("Int", "UInt", "Float")
    for bits in (8, 16, 32, 64)
    if (kind, bits) not in (("Float", 8), ("Float", 16))
}
PANDAS_TYPES = [name for name in dir(pd) if name.endswith("Dtype")]


def pandas_columns() -> Iterator[tuple[str, Any]]:
    for name, make in PANDAS.items():
        for k, values in enumerate(make()):
            yield f"pandas array {name} {k}", values
            yield f"pandas {name} {k}", pd.Series(values)
            yield f"pandas index {name} {k}", pd.Index(values)
    for name, values in numpy_columns():
        if not isinstance(values, np.ma.MaskedArray) and values.dtype.names is None and values.dtype.kind != "V":
            try:
                yield f"pandas of {name}", pd.Series(values)
            except (ValueError, TypeError, NotImplementedError):  # pandas has no such column.
                continue
    for name, values in arrow_columns():
        try:
            yield f"pandas of {name}", pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([values])))
        except (ValueError, TypeError, NotImplementedError):
            continue
    yield "pandas range index", pd.RangeIndex(1, 3)
    yield "pandas multi-index", pd.MultiIndex.from_tuples([(1, 2), (3, 4)])
    yield "pandas lists", pd.Series([[1, 2], [3, 4]])
    yield "pandas dicts", pd.Series([{"x": 1}, {"x": 2}])


POLARS: dict[str, Any] = {
    "Array": [pl.Series([[1.0], [2.0]], dtype=pl.Array(pl.Float64, 1)), pl.Series([["a"], ["b"]], dtype=pl.Array(pl.String, 1)), pl.Series([[{"x": 1}], [{"x": 2}]], dtype=pl.Array(pl.Struct({"x": pl.Int8}), 1)), pl.Series([[], []], dtype=pl.Array(pl.Int8, 0))],
    "Binary": [pl.Series([b"abcd", b"efgh"]), pl.Series([b"a", b"bc"])],
    "Boolean": [pl.Series([True, False]), pl.Series([True, None])],
    "Categorical": [pl.Series(["a", "b"], dtype=pl.Categorical)],
    "Date": [pl.Series(D), pl.Series([D[0], None])],
    "Datetime": [pl.Series(S), pl.Series(S).dt.replace_time_zone("UTC"), pl.Series(S).cast(pl.Datetime("ns"))],
    "Decimal": [pl.Series([decimal.Decimal("1.5"), decimal.Decimal(2)]), pl.Series([1, 2]).cast(pl.Decimal(10, 2))],
    "Duration": [pl.Series(P)],
    "Enum": [pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"]))],
    "List": [pl.Series([[1.0], [2.0]]), pl.Series([[1], []]), pl.Series([["a"], ["b", "c"]])],
    "Map": lambda: [pl.Series([{"a": 1}, {"b": 2}], dtype=pl.Map(pl.String, pl.Int8))],
    "Null": [pl.Series([None, None])],
    "Object": [pl.Series([1, 2], dtype=pl.Object), pl.Series([object(), object()], dtype=pl.Object)],
    "String": [pl.Series(["1", "2"]), pl.Series(["a", "b"]), pl.Series(["a", None])],
    "Struct": [pl.Series([{"x": 1}, {"x": 2}])],
    "Time": [pl.Series(T)],
} | {
    f"{kind}{bits}": [pl.Series([1, 2]).cast(getattr(pl, f"{kind}{bits}")), pl.Series([1, None]).cast(getattr(pl, f"{kind}{bits}"))]
    for kind in ("Int", "UInt", "Float")
    for bits in (8, 16, 32, 64, 128)
    if hasattr(pl, f"{kind}{bits}")
}  # fmt: skip
# Abstract classes, and dtypes that no column has.
NOT_POLARS = {"BaseExtension", "DataType", "Extension", "FloatType", "IntegerType", "TemporalType", "Unknown", "Utf8"}
POLARS_TYPES = [
    name
    for name in dir(pl.datatypes)
    if isinstance(getattr(pl.datatypes, name), type)
    and issubclass(getattr(pl.datatypes, name), pl.DataType)
    and name not in NOT_POLARS
]


def polars_columns() -> Iterator[tuple[str, Any]]:
    for name, columns in POLARS.items():
        if callable(columns):
            columns = columns() if hasattr(pl, name) else []
        for k, column in enumerate(columns):
            yield f"polars {name} {k}", column
    two = pl.concat([pl.Series([1.0]), pl.Series([2.0])], rechunk=False)
    yield "polars chunks", two


def arrow_columns() -> Iterator[tuple[str, Any]]:
    for type_ in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()):  # fmt: skip
        yield f"arrow {type_}", pa.array([1, 2], type_)
        yield f"arrow {type_} null", pa.array([1, None], type_)
    yield "arrow bool", pa.array([True, False])
    yield "arrow null", pa.nulls(2)
    for bits in (32, 64, 128, 256):
        yield f"arrow decimal{bits}", pa.array([decimal.Decimal("1.5"), 2], getattr(pa, f"decimal{bits}")(9, 2))
    for type_ in (pa.date32(), pa.date64()):
        yield f"arrow {type_}", pa.array(D, type_)
    for type_ in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        yield f"arrow {type_}", pa.array(T, type_)
    for unit in ("s", "ms", "us", "ns"):
        yield f"arrow timestamp {unit}", pa.array(S, pa.timestamp(unit))
        yield f"arrow timestamp {unit} UTC", pa.array(S, pa.timestamp(unit, "UTC"))
        yield f"arrow duration {unit}", pa.array(P, pa.duration(unit))
    yield "arrow interval", pa.array([pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([1, 2, 3])])
    for type_ in (pa.string(), pa.large_string(), pa.string_view()):
        yield f"arrow {type_}", pa.array(["1", "2"], type_)
        yield f"arrow {type_} words", pa.array(["a", "b"], type_)
    for type_ in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(4), pa.binary(3)):
        width = getattr(type_, "byte_width", 4) if str(type_).startswith("fixed") else 4
        yield f"arrow {type_}", pa.array([b"1234"[:width], b"abcd"[:width]], type_)
    for make in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view):
        yield f"arrow {make.__name__}", pa.array([[1], [2]], make(pa.int32()))
        yield f"arrow {make.__name__} ragged", pa.array([[1, 2], []], make(pa.int32()))
        yield f"arrow {make.__name__} of text", pa.array([["a"], []], make(pa.string()))
    yield "arrow fixed list", pa.array([[1.0], [2.0]], pa.list_(pa.float32(), 1))
    yield "arrow fixed list of bool", pa.array([[True], [False]], pa.list_(pa.bool_(), 1))
    yield "arrow fixed list of text", pa.array([["a"], ["b"]], pa.list_(pa.string(), 1))
    yield "arrow fixed list of dates", pa.array([[D[0]], [D[1]]], pa.list_(pa.date32(), 1))
    yield "arrow fixed list with a null", pa.array([[1.0], [None]], pa.list_(pa.float32(), 1))
    yield "arrow fixed list of none", pa.array([[], []], pa.list_(pa.float32(), 0))
    yield "arrow map", pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int32()))
    yield "arrow struct", pa.array([{"x": 1.0}, {"x": 2.0}])
    yield "arrow struct of none", pa.array([{}, {}], pa.struct([]))
    members = [pa.array([1.0, 2.0])]
    yield (
        "arrow dense union",
        pa.UnionArray.from_dense(pa.array([0, 0], pa.int8()), pa.array([0, 1], pa.int32()), members),
    )
    yield "arrow sparse union", pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), members)
    yield "arrow dictionary", pa.array([1.5, 2.0]).dictionary_encode()
    yield "arrow dictionary of text", pa.array(["a", "b"]).dictionary_encode()
    yield "arrow dictionary with a null", pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([1.0, None]))
    yield "arrow runs", pa.RunEndEncodedArray.from_arrays([1, 2], [1.0, 2.0])
    yield "arrow runs sliced", pa.RunEndEncodedArray.from_arrays([1, 3], [1.0, 2.0])[1:]
    yield "arrow runs of text", pa.RunEndEncodedArray.from_arrays([1, 2], ["a", "b"])
    yield "arrow runs with a null", pa.RunEndEncodedArray.from_arrays([1, 2], [1.0, None])
    yield "arrow tensor", pa.FixedShapeTensorArray.from_numpy_ndarray(np.array([[1.0], [2.0]]))
    yield "arrow uuid", pa.array([b"0" * 16, b"1" * 16], pa.uuid())
    yield "arrow bool8", pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 5], pa.int8()))
    yield "arrow json", pa.array(["1", "2"], pa.json_())
    yield "arrow opaque", pa.ExtensionArray.from_storage(pa.opaque(pa.int32(), "t", "v"), pa.array([1, 2], pa.int32()))


def chunked(columns: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for name, array in columns:
        yield name, array
        yield f"{name} in a chunk", pa.chunked_array([array])
        try:
            yield f"{name} in chunks", pa.chunked_array([array[:1], array[1:]])
        except (pa.ArrowInvalid, NotImplementedError):
            continue


# Arrow's type ids that no factory of pyarrow makes a column of.
NOT_ARROW = {"Type_INTERVAL_MONTHS", "Type_INTERVAL_DAY_TIME"}
ARROW_TYPES = {
    name: getattr(pa.lib, name) for name in dir(pa.lib) if name.startswith("Type_") and name not in NOT_ARROW
}

COLUMNS: dict[str, Any] = {
    **dict(numpy_columns()),
    **dict(ml_columns()),
    **dict(pandas_columns()),
    **dict(polars_columns()),
    **dict(chunked(arrow_columns())),
}
