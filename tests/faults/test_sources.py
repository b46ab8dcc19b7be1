"""Reported faults of sources and columns, each by its number, with others of the same kind."""

from __future__ import annotations

import ctypes
import datetime
import decimal
import fractions
import subprocess
import sys
import uuid
from typing import Any

import duckdb
import h5py
import ml_dtypes
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.dataset
import pytest
import xarray

from gpustruct import (
    SourceError,
    Struct,
    array,
    batch,
    dtype_of,
    f16,
    f32,
    i32,
    mat2x3f,
    mat3x3f,
    pack,
    u32,
    vec3f,
    view,
)
from ways_out import follow


class K(Struct):
    k: f32


class U(Struct):
    k: u32


class V(Struct):
    k: vec3f


class XY(Struct):
    x: f32
    y: f32


class Outer(Struct):
    inner: XY
    pair: array[XY, 2]


def floats(made: Any) -> list[float]:
    return pack(made).view(np.float32).tolist()


def words(made: Any) -> list[int]:
    return pack(made).view(np.uint32).tolist()


def error_of(make: Any, *arguments: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        make(*arguments)
    return caught.value


MISSING = {
    "polars": lambda: polars.Series([1, None]),
    "polars bool": lambda: polars.Series([True, None]),
    "polars uint128": lambda: polars.Series([1, None], dtype=polars.UInt128),
    "polars null": lambda: polars.Series([None, None]),
    "pandas nullable": lambda: pandas.Series([1, None], dtype="Int64"),
    "pandas boolean": lambda: pandas.Series([True, None], dtype="boolean"),
    "pandas arrow": lambda: pandas.Series([1, None], dtype="float64[pyarrow]"),
    "pandas object": lambda: pandas.Series([1, None], dtype=object),
    "pandas sparse": lambda: pandas.arrays.SparseArray([1.0, np.nan]),
    "pandas categorical": lambda: pandas.Series([1, None], dtype="category"),
    "pandas array": lambda: pandas.array([1, None], dtype="Int64"),
    "pandas index": lambda: pandas.Index([1, None], dtype="Int64"),
    "arrow": lambda: pa.array([1.0, None]),
    "arrow chunks": lambda: pa.chunked_array([[1.0], [None]]),
    "arrow dictionary": lambda: pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([1.0, None])),
    "arrow runs": lambda: pa.RunEndEncodedArray.from_arrays([1, 2], [1.0, None]),
    "arrow bool8": lambda: pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None], pa.int8())),
    "masked": lambda: np.ma.masked_array([1.0, 2.0], [False, True]),
    "None in objects": lambda: np.array([1.0, None], object),
    "None in a list": lambda: [1.0, None],
    "NA in objects": lambda: np.array([1, pandas.NA], object),
    "NaT": lambda: np.array(["2026-01-01", "NaT"], "M8[s]"),
    "NaT of a duration": lambda: np.array([5, "NaT"], "m8[s]"),
    "None in strings": lambda: np.array(["1", None], np.dtypes.StringDType(na_object=None)),
    "a null scalar in a list": lambda: [pa.scalar(1.0), pa.scalar(None, pa.float64())],
}


@pytest.mark.parametrize("source", MISSING.values(), ids=MISSING.keys())
def test_F4_missing_values_are_refused_alike_everywhere_with_the_first_row(source: Any) -> None:
    row = 0 if str(getattr(source(), "dtype", "")) == "Null" else 1
    for make in (
        lambda s: K(k=s),
        f32,
        lambda s: batch(K, {"k": s}),
        lambda s: batch(f32, s),
        u32,
        lambda s: Outer(inner={"x": s, "y": s}, pair=XY(x=np.zeros((2, 2)), y=0)),
    ):
        error = error_of(make, source())
        assert (error.rule, f"the first in row {row})" in str(error)) == ("column-missing-value", True), error


@pytest.mark.parametrize("member", [K, U])
def test_F4_a_missing_value_in_one_column_of_a_vector(member: Any) -> None:
    columns = (polars.Series([1.0, 2.0]), [1, 2], pa.array([1.0, None]))
    for make in (
        lambda: vec3f(list(columns)),
        lambda: batch(V, dict(zip("xyz", columns, strict=True)), k=tuple("xyz")),
    ):
        assert "row 1" in str(error_of(make))
    assert "V.k[2" in str(error_of(lambda: batch(V, dict(zip("xyz", columns, strict=True)), k=tuple("xyz"))))


@pytest.mark.parametrize("source", [source for name, source in MISSING.items() if "null scalar" not in name])
def test_F4_the_constructor_and_batch_say_the_same(source: Any) -> None:
    one, two = error_of(lambda: K(k=source())), error_of(lambda: batch(K, {"k": source()}))
    assert str(one) == str(two)


def test_F4_nan_is_a_value() -> None:
    for source in (polars.Series([1.0, np.nan]), pa.array([1.0, np.nan]), np.array([1.0, np.nan]), [1.0, np.nan]):
        assert np.isnan(floats(K(k=source))[1])


SMALL_FLOATS = sorted(name for name in dir(ml_dtypes) if name.startswith("float") and name != "finfo")
SMALL_INTEGERS = [name for name in dir(ml_dtypes) if name.startswith(("int", "uint"))]


@pytest.mark.parametrize("name", ["bfloat16", *SMALL_FLOATS, *SMALL_INTEGERS])
def test_F7_F8_numpy_extension_dtypes_convert_exactly(name: str) -> None:
    kind = getattr(ml_dtypes, name)
    # Every pattern of a byte, that is every number of the narrow types.
    raw = np.arange(256, dtype=np.uint8)
    values = raw.astype(np.float32).astype(kind) if name == "bfloat16" else raw.view(kind)
    if name.startswith(("int", "uint")):
        values = raw[:8].astype(kind)
    expected = [float(value) for value in values]
    for made in (f32(values), K(k=values), batch(K, {"k": values}), batch(f32, values)):
        np.testing.assert_array_equal(pack(made).view(np.float32), np.array(expected, np.float32))
    v = view(K)
    finite = [value for value in values if np.isfinite(float(value))][:16]
    for value in finite:
        v.k = value
        assert v.k == float(value)
    records = batch(K, [{"k": value} for value in finite])
    assert floats(records) == [float(value) for value in finite]
    v = view(V)
    three = np.array(finite[:1] * 3, kind)
    v.k = three
    assert v.k.tolist() == [float(value) for value in three]
    table = np.zeros(2, [("k", kind)])
    table["k"] = finite[0]
    assert floats(batch(K, table)) == [float(finite[0])] * 2


@pytest.mark.parametrize("name", SMALL_INTEGERS)
def test_F8_small_integers_for_integer_members(name: str) -> None:
    values = np.arange(8).astype(getattr(ml_dtypes, name))
    assert pack(i32(values)).view(np.int32).tolist() == [int(value) for value in values]
    if name.startswith("u"):
        assert words(u32(values)) == [int(value) for value in values]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "float8_e4m3fn", "float6_e2m3fn"])
def test_F7_small_floats_for_integer_members_say_how_to_round(name: str) -> None:
    values = np.array([1, 2], getattr(ml_dtypes, name))
    assert "say how to round" in str(error_of(u32, values))
    assert words(follow(u32, values)) == [1, 2]


@pytest.mark.parametrize("name", [name for name in dir(ml_dtypes) if "complex" in name])
def test_F8_complex_extensions_are_refused(name: str) -> None:
    values = np.array([1, 2], getattr(ml_dtypes, name))
    assert error_of(f32, values).rule == "column-dtype"
    assert floats(follow(f32, values)) == [1, 2]


def test_F8_the_seen_case() -> None:
    assert floats(f32(np.array([1.5, 2, 3, 4], ml_dtypes.bfloat16))) == [1.5, 2, 3, 4]


UNION = ([pa.array([0, 0], pa.int8()), pa.array([0, 1], pa.int32())], [pa.array([1.0, 2.0])])
ARROW_KINDS = {
    "date32": (pa.array([1, 2], pa.date32()), [0, 86400]),
    "date64": (pa.array([0, 86400000], pa.date64()), [0, 86400]),
    "time32": (pa.array([1, 2], pa.time32("s")), [0, 1]),
    "time64": (pa.array([1, 2 * 10**9], pa.time64("ns")), [0, 2]),
    "timestamp": (pa.array([1, 2], pa.timestamp("s", "UTC")), [0, 1]),
    "duration": (pa.array([1, 2], pa.duration("s")), [1, 2]),
    "interval": (pa.array([pa.MonthDayNano([1, 2, 3])]), [2]),
    "binary": (pa.array([b"1", b"2"]), [1, 2]),
    "binary_view": (pa.array([b"a", b"b"], pa.binary_view()), [0, 1]),
    "binary(4)": (pa.array([np.float32(1.5).tobytes()], pa.binary(4)), [1.5]),
    "list": (pa.array([[1.0], [2.0]]), [1, 2]),
    "list_view": (pa.array([[1], [2]], pa.list_view(pa.int32())), [1, 2]),
    "large_list_view": (pa.array([[1], []], pa.large_list_view(pa.int32())), [1, 0]),
    "map": (pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int32())), [1, 0]),
    "dense union": (pa.UnionArray.from_dense(*UNION[0], UNION[1]), [1, 2]),
    "sparse union": (pa.UnionArray.from_sparse(UNION[0][0], UNION[1]), [1, 2]),
    "struct": (pa.array([{"x": 1.0}, {"x": 2.0}]), [1, 2]),
    "text": (pa.array(["1", "2"], pa.string_view()), [1, 2]),
    "dictionary of text": (pa.array(["a", "b", "a"]).dictionary_encode(), [0, 1, 0]),
    "json": (pa.array(["1", "2"], pa.json_()), [1, 2]),
}


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("name", ARROW_KINDS)
def test_F9_arrow_types_without_numbers_are_refused_with_a_way_out(name: str, chunked: bool) -> None:
    column, expected = ARROW_KINDS[name]
    column = pa.chunked_array([column]) if chunked else column
    for make in (lambda c: batch(K, pa.table({"k": c})), lambda c: K(k=c), lambda c: batch(K, {"k": c})):
        error = error_of(make, column)
        assert error.rule == "column-kind" and "at K.k;" in str(error)
    if not chunked or "union" not in name:
        assert floats(follow(lambda c: K(k=c), column, "k")) == expected


@pytest.mark.parametrize(
    "column",
    [
        pa.RunEndEncodedArray.from_arrays([1, 3], [1.0, 2.0]),
        pa.chunked_array([pa.RunEndEncodedArray.from_arrays([1, 3], [1.0, 2.0])]),
        pa.array([1, 2, 2]).dictionary_encode(),
        pa.chunked_array([pa.array([1]).dictionary_encode(), pa.array([2, 2]).dictionary_encode()]),
        pa.array([decimal.Decimal("1.00"), decimal.Decimal("2.00"), decimal.Decimal("2.00")]),
        pa.array([1.0, 2.0, 2.0], pa.float16()),
        pandas.Series(pandas.Categorical([1.0, 2.0, 2.0])),
        pandas.CategoricalIndex([1, 2, 2]),
    ],
    ids=lambda column: str(getattr(column, "type", getattr(column, "dtype", ""))),
)
def test_F9_encoded_numbers_are_decoded(column: Any) -> None:
    assert floats(K(k=column)) == floats(batch(K, {"k": column})) == [1, 2, 2]


@pytest.mark.parametrize("kind", [polars.Int128, polars.UInt128])
@pytest.mark.parametrize("dims", [(), (3,), (2, 3)])
def test_F10_integers_of_128_bits_name_the_cast(kind: Any, dims: tuple[int, ...]) -> None:
    values = np.arange(int(np.prod(dims))).reshape(dims).tolist() if dims else 7
    member = {(): f32, (3,): vec3f, (2, 3): array[vec3f, 2]}[dims]
    series = polars.Series("k", [values, values], dtype=polars.Array(kind, dims) if dims else kind)
    error = error_of(batch, member, series)
    assert error.rule == "column-kind" and f"pl.{kind.__name__.replace('128', '64')}" in str(error)
    expected = np.array([values, values], np.float32)
    assert np.array_equal(np.asarray(follow(lambda s: batch(member, s), series)), expected)


def test_F10_integers_of_128_bits_for_an_integer_name_the_member_s_type() -> None:
    error = error_of(batch, U, polars.DataFrame({"k": polars.Series([1], dtype=polars.Int128)}))
    assert "k.cast(pl.UInt32)" in str(error)


@pytest.mark.parametrize("dims", [(), (3,), (2, 2)])
@pytest.mark.parametrize("kind", ["Float64", "UInt8", "Boolean"])
def test_F14_nulls_of_polars_have_a_way_out_that_runs(kind: str, dims: tuple[int, ...]) -> None:
    leaf = getattr(polars, kind)
    member = {(): f32, (3,): vec3f, (2, 2): array[array[f32, 2], 2]}[dims]
    one = np.ones(dims).astype(bool if kind == "Boolean" else int).tolist()
    series = polars.Series("a", [one, None], dtype=polars.Array(leaf, dims) if dims else leaf)
    expected = np.array([np.ones(dims), np.zeros(dims)], np.float32)
    assert np.array_equal(np.asarray(follow(lambda s: batch(member, s), series)), expected)
    if dims:
        holed = np.ones(dims, int).astype(object)
        holed[(0,) * len(dims)] = None
        inside = (
            polars.Series("a", [one, holed.tolist()], dtype=polars.Array(leaf, dims)) if kind != "Boolean" else None
        )
        if inside is not None:
            assert "row 1" in str(error_of(batch, member, inside))
            made = np.asarray(follow(lambda s: batch(member, s), inside))
            assert made[1][(0,) * len(dims)] == 0 and made.sum() == 2 * np.prod(dims) - 1


@pytest.mark.parametrize("dims", [(), (3,), (2, 2)])
@pytest.mark.parametrize("kind", [pa.float64(), pa.uint8(), pa.bool_()])
@pytest.mark.parametrize("chunked", [False, True])
def test_F14_nulls_of_arrow_have_a_way_out_that_runs(kind: Any, dims: tuple[int, ...], chunked: bool) -> None:
    member = {(): f32, (3,): vec3f, (2, 2): array[array[f32, 2], 2]}[dims]
    type_ = kind
    for size in reversed(dims):
        type_ = pa.list_(type_, size)
    one = np.ones(dims).astype(bool if kind == pa.bool_() else int).tolist()
    whole = pa.array([one, None], type_)
    expected = np.array([np.ones(dims), np.zeros(dims)], np.float32)
    column = pa.chunked_array([whole]) if chunked else whole
    assert np.array_equal(np.asarray(follow(lambda s: batch(member, s), column)), expected)
    if dims:
        holed = np.ones(dims).astype(bool if kind == pa.bool_() else int).astype(object)
        holed[(0,) * len(dims)] = None
        inside = pa.array([one, holed.tolist()], type_)
        inside = pa.chunked_array([inside]) if chunked else inside
        assert "row 1" in str(error_of(batch, member, inside))
        made = np.asarray(follow(lambda s: batch(member, s), inside))
        assert made[1][(0,) * len(dims)] == 0 and made.sum() == 2 * np.prod(dims) - 1


@pytest.mark.parametrize(
    "source",
    [
        pandas.Series([1, None], dtype="Int64"),
        pandas.Series([True, None], dtype="boolean"),
        pandas.Series([1, None], dtype="float64[pyarrow]"),
        pandas.Series([1, None], dtype=object),
        pandas.Series([1, None], dtype="category"),
        pandas.array([1, None], dtype="Int64"),
        np.ma.masked_array([1, 2], [0, 1]),
        np.array([1, None], object),
        np.array([1, pandas.NA], object),
        [1, None],
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([1.0, None])),
        pa.RunEndEncodedArray.from_arrays([1, 2], [1.0, None]),
        pa.nulls(2),
        polars.Series([None, None]),
    ],
    ids=lambda source: f"{type(source).__name__} {getattr(source, 'dtype', getattr(source, 'type', ''))}",
)
def test_F14_other_missing_values_too(source: Any) -> None:
    assert floats(follow(lambda c: K(k=c), source, "k"))[:1] in ([], [1.0], [0.0])


TEXTS = {
    "pandas objects": (pandas.Series([1, 2], dtype=object), "np.asarray(k, np.{})"),
    "pandas text": (pandas.Series(["1", "2"]), "np.asarray(k, np.{})"),
    "polars text": (polars.Series(["1", "2"]), "k.cast(pl.{})"),
    "polars decimals": (polars.Series([1, 2]).cast(polars.Decimal(10, 2)), "k.cast(pl.{})"),
    "polars objects": (polars.Series([1, 2], dtype=polars.Object), "np.asarray(k.to_list(), np.{})"),
    "arrow text": (pa.array(["1", "2"]), "k.cast(pa.{}())"),
    "arrow large text": (pa.array(["1", "2"], pa.large_string()), "k.cast(pa.{}())"),
    "arrow decimals": (pa.array([decimal.Decimal(1), decimal.Decimal(2)]), "k.cast(pa.{}())"),
    "numpy text": (np.array(["1", "2"]), "np.asarray(k, np.{})"),
    "numpy bytes": (np.array([b"1", b"2"]), "np.asarray(k, np.{})"),
    "numpy strings": (np.array(["1", "2"], np.dtypes.StringDType()), "np.asarray(k, np.{})"),
    "objects": (np.array([fractions.Fraction(1), fractions.Fraction(2)], object), "np.asarray(k, np.{})"),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(("member", "number"), [(u32, "uint32"), (i32, "int32"), (f32, "float32"), (f16, "float16")])
def test_F15_the_cast_names_the_member_s_own_type(name: str, member: Any, number: str) -> None:
    source, code = TEXTS[name]
    if "decimals" in name and member in (f32, f16):
        assert np.asarray(batch(member, source)).tolist() == [1, 2]
        return
    kind = type("T", (Struct,), {"__annotations__": {"k": member}})
    polars_name = number.replace("uint", "UInt").replace("float", "Float").replace("int", "Int")
    wanted = code.format(polars_name if "pl." in code else number)
    for make in (lambda s: kind(k=s), lambda s: batch(kind, {"k": s})):
        assert str(error_of(make, source)).endswith(f": {wanted}")
    made = follow(lambda s: kind(k=s), source, "k")
    assert np.asarray(made.k).tolist() == [1, 2]


@pytest.mark.parametrize("source", [polars.Series([1.0, 2.0]), pa.array([1.0, 2.0]), pandas.Series([1.0, 2.0])])
def test_F15_rounding_is_spelled_in_the_library_s_own_words(source: Any) -> None:
    assert words(follow(lambda s: U(k=s), source, "k")) == [1, 2]


class Capsule:
    """Another library's table or column: Arrow's C interface and nothing else."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.held.__arrow_c_stream__(requested_schema)


class ArrayCapsule:
    def __init__(self, held: Any) -> None:
        self.held = held

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.held.__arrow_c_array__(requested_schema)


TABLE = {"x": [1.0, 2.0], "y": [3.0, 4.0]}


def xarray_dataset() -> Any:
    return xarray.Dataset({name: ("n", values) for name, values in TABLE.items()})


def duckdb_relation() -> Any:
    return duckdb.sql("select * from (values (1.0, 3.0), (2.0, 4.0)) as t(x, y)")


TABLES = {
    "xarray": xarray_dataset,
    "xarray computed": lambda: xarray_dataset().compute(),
    "duckdb": duckdb_relation,
    "duckdb doubles": lambda: duckdb.sql("select x::double x, y::float y from (values (1, 3), (2, 4)) t(x, y)"),
    "a stream": lambda: Capsule(pa.table(TABLE)),
    "a stream of polars": lambda: Capsule(polars.DataFrame(TABLE)),
    "a record batch": lambda: ArrayCapsule(pa.record_batch(TABLE)),
    "a reader": lambda: pa.table(TABLE).to_reader(),
    "structs of Arrow": lambda: pa.array([{"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 4.0}]),
    "structs of polars": lambda: polars.DataFrame(TABLE).to_struct(),
}


@pytest.mark.parametrize("name", TABLES)
def test_F11_sources_that_hold_their_values(name: str) -> None:
    assert floats(batch(XY, TABLES[name]())) == [1, 3, 2, 4]
    # As a nested member too, where the constructor takes it as `batch` does.
    pair = XY(x=np.zeros((2, 2)), y=0)
    assert floats(Outer(inner=TABLES[name](), pair=pair))[:2] == [1, 3]
    assert floats(batch(Outer, {"inner": TABLES[name](), "pair": pair}))[6:8] == [2, 4]


def test_F11_columns_through_the_capsule() -> None:
    for column in (Capsule(pa.chunked_array([[1.0], [2.0]])), ArrayCapsule(pa.array([1.0, 2.0]))):
        assert floats(f32(column)) == floats(batch(K, {"k": column})) == [1, 2]
    error = error_of(lambda: K(k=Capsule(pa.chunked_array([[1.0], [None]]))))
    assert error.rule == "column-missing-value"


def lazy_sources() -> dict[str, Any]:
    import dask.dataframe as dask

    return {
        "polars": polars.LazyFrame(TABLE),
        "dask": dask.from_pandas(pandas.DataFrame(TABLE), npartitions=1),
        "xarray of dask": xarray_dataset().chunk({"n": 1}),
        "dataset": pa.dataset.dataset(pa.table(TABLE)),
    }


@pytest.mark.parametrize("name", ["polars", "dask", "xarray of dask", "dataset"])
def test_F11_plans_are_refused_with_a_way_out_that_runs(name: str) -> None:
    source = lazy_sources()[name]
    assert error_of(batch, XY, source).rule == "source-lazy"
    assert floats(follow(lambda s: batch(XY, s), source)) == [1, 3, 2, 4]


STRUCTURED = np.array([(1, 3), (2, 4)], [("x", "f8"), ("y", "f4")])


class Structured:
    """An array of a library that knows `__array__` and nothing else."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return STRUCTURED


def test_F16_h5py() -> None:
    with h5py.File("t.h5", "w", driver="core", backing_store=False) as file:
        file["s"] = STRUCTURED
        file["flat"] = np.array([1.0, 2.0])
        group = file.create_group("g")
        group["x"], group["y"] = [1.0, 2.0], [3.0, 4.0]
        assert floats(batch(XY, file["s"])) == floats(batch(XY, group)) == [1, 3, 2, 4]
        assert floats(K(k=file["flat"])) == floats(f32(file["flat"])) == [1, 2]
        assert error_of(batch, XY, file["flat"]).rule == "source-kind"


ZARR = """
import numpy as np, zarr
from gpustruct import SourceError, Struct, batch, f32
class XY(Struct):
    x: f32
    y: f32
class K(Struct):
    k: f32
group = zarr.group()
group["x"], group["y"] = np.array([1.0, 2.0]), np.array([3.0, 4.0])
both = batch(XY, group)
print(both.x.tolist(), both.y.tolist(), K(k=group["x"]).k.tolist())
try:
    batch(XY, group["x"])
except SourceError as error:
    print(error.rule)
"""


def test_F16_zarr() -> None:
    # In another process, because zarr starts threads, which a process that has run a software GPU may hold up.
    completed = subprocess.run([sys.executable, "-c", ZARR], capture_output=True, text=True, timeout=120)
    assert completed.stdout == "[1.0, 2.0] [3.0, 4.0] [1.0, 2.0]\nsource-kind\n", completed.stderr


def test_F16_others_with_an_array() -> None:
    assert floats(batch(XY, Structured())) == [1, 3, 2, 4]
    assert floats(batch(XY, xarray.DataArray(STRUCTURED, dims="n"))) == [1, 3, 2, 4]
    assert error_of(batch, XY, xarray.DataArray(np.zeros((2, 2)))).rule == "source-kind"
    assert floats(K(k=xarray.DataArray([1.0, 2.0]))) == [1, 2]
    assert floats(batch(XY, np.ma.masked_array(STRUCTURED))) == [1, 3, 2, 4]
    record = (ctypes.c_double * 2)(1.0, 2.0)
    assert floats(K(k=record)) == [1, 2]


@pytest.mark.parametrize("chunks", [0, 1, 2])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16])
def test_F26_fixed_shape_tensors_keep_their_shape_and_permutation(kind: Any, order: Any, chunks: int) -> None:
    whole = np.arange(18).reshape(3, 3, 2).astype(kind)
    member, values = mat2x3f, whole
    if order == (1, 0):
        # The tensor's rows lie the other way round in memory.
        values = np.ascontiguousarray(whole.swapaxes(1, 2)).swapaxes(1, 2)
    column = pa.FixedShapeTensorArray.from_numpy_ndarray(values)
    assert list(column.type.permutation or [0, 1]) == list(order)
    if chunks:
        column = pa.chunked_array([column[:1], column[1:]] if chunks == 2 else [column])

    class M(Struct):
        m: member

    for made in (batch(M, pa.table({"m": column})), M(m=column), batch(M, {"m": column})):
        assert made.m.tolist() == whole.tolist()


def test_F26_the_seen_case_and_tensors_of_vectors() -> None:
    class M(Struct):
        m: mat3x3f

    cube = np.arange(18.0).reshape(2, 3, 3)
    assert batch(M, pa.table({"m": pa.FixedShapeTensorArray.from_numpy_ndarray(cube)})).m.tolist() == cube.tolist()
    flat = pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(6.0).reshape(2, 3))
    assert V(k=flat).k.tolist() == [[0, 1, 2], [3, 4, 5]]
    error = error_of(lambda: V(k=pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((2, 9)))))
    assert error.rule == "column-shape"
    three = np.arange(24.0).reshape(2, 2, 3, 2).transpose(0, 3, 1, 2)
    column = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.float64(), [2, 3, 2], permutation=[2, 0, 1]),
        pa.FixedSizeListArray.from_arrays(pa.array(np.arange(24.0)), 12),
    )
    assert np.asarray(batch(array[array[vec3f, 2], 2], column)).tolist() == three.tolist()


def test_uuids_have_a_way_out_that_runs() -> None:
    one = uuid.UUID(int=7)
    column = pa.array([one.bytes], pa.uuid())
    made = follow(array[u32, 4], column)
    assert pack(made).tobytes() == one.bytes


def test_dates_of_every_library_have_a_way_out_that_runs() -> None:
    days = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]
    stamps = np.array(days, "M8[s]")
    for source in (stamps, pandas.Series(stamps), pandas.Series(stamps).dt.tz_localize("UTC"), pandas.DatetimeIndex(stamps), polars.Series(days), polars.Series(days).cast(polars.Datetime), pa.array(days), list(stamps)):  # fmt: skip
        assert floats(follow(lambda s: K(k=s), source, "k")) == [0, 86400]
        assert words(follow(lambda s: U(k=s), source, "k")) == [0, 86400]


class Broken:
    """A source whose library fails while it is read."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise RuntimeError("the query failed")


class BrokenArray:
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise OSError("the file is closed")


@pytest.mark.parametrize("source", [Broken(), BrokenArray(), Capsule(pa.chunked_array([[1.0]]))])
def test_F9_what_a_library_raises_comes_in_our_words(source: Any) -> None:
    assert error_of(batch, XY, source).rule == "source-kind"
    if not isinstance(source, Capsule):
        for make in (lambda: K(k=source), lambda: batch(K, {"k": source}), lambda: batch(f32, source)):
            error = error_of(make)
            assert error.rule == "column-source" and ("query failed" in str(error) or "closed" in str(error))


def test_F9_a_closed_file_of_h5py() -> None:
    with h5py.File("t.h5", "w", driver="core", backing_store=False) as file:
        file["s"] = STRUCTURED
        kept = file["s"]
    for make in (lambda: batch(XY, kept), lambda: K(k=kept)):
        assert isinstance(error_of(make), SourceError)


class Lamp(Struct):
    color: vec3f
    power: f32


class Room(Struct):
    lamps: array[Lamp, 2]
    sun: Lamp
    turn: mat3x3f
    ids: array[u32, 3]


ROOM = np.dtype(
    [("lamps", [("color", "f4", 3), ("power", "f8")], 2), ("sun", [("power", "i2"), ("color", ">f8", 3)]), ("turn", "f4", (3, 3)), ("ids", "u1", 3)]
)  # fmt: skip
MASKED = [
    (ROOM, lambda rows: rows["lamps"]["power"], (1, 1), "Room.lamps.power", 1),
    (ROOM, lambda rows: rows["lamps"]["color"], (2, 0, 1), "Room.lamps.color", 2),
    (ROOM, lambda rows: rows["sun"]["color"], (0, 2), "Room.sun.color", 0),
    (ROOM, lambda rows: rows["sun"]["power"], 2, "Room.sun.power", 2),
    (ROOM, lambda rows: rows["turn"], (1, 0, 2), "Room.turn", 1),
    (ROOM, lambda rows: rows["ids"], (2, 2), "Room.ids", 2),
    (dtype_of(Room), lambda rows: rows["lamps"]["power"], (1, 1), "Room.lamps.power", 1),
    (dtype_of(Room), lambda rows: rows["turn"]["column"], (1, 0, 2), "Room.turn", 1),
    (dtype_of(Room), lambda rows: rows["sun"]["color"], (2, 0), "Room.sun.color", 2),
]


@pytest.mark.parametrize("dtype", [ROOM, dtype_of(Room)])
def test_F4_masked_arrays_of_nested_fields_that_mask_nothing(dtype: np.dtype) -> None:
    data = np.frombuffer((np.arange(3 * dtype.itemsize) % 60).astype(np.uint8).tobytes(), dtype)
    wanted = pack(batch(Room, data)).tobytes()
    for mask in (False, True):
        rows = np.ma.masked_array(data.copy())
        if mask:
            rows["sun"]["power"][1] = np.ma.masked
            rows.mask = np.zeros(3, rows.mask.dtype)
        for source in (
            rows,
            list(rows),
            {name: rows[name] for name in ("lamps", "sun", "ids")} | {"turn": rows["turn"]},
        ):
            assert pack(batch(Room, source)).tobytes() == wanted
        assert pack(batch(Room, rows[1])).tobytes() == wanted[len(wanted) // 3 : 2 * len(wanted) // 3]
        assert pack(batch(Room, rows[::-1])).tobytes() == pack(batch(Room, data[::-1])).tobytes()


@pytest.mark.parametrize(("dtype", "field", "index", "place", "row"), MASKED)
def test_F4_masked_values_of_nested_fields(dtype: np.dtype, field: Any, index: Any, place: str, row: int) -> None:
    source = np.ma.masked_array(np.ones(3, dtype))
    field(source)[index] = np.ma.masked
    with pytest.raises(SourceError, match=f"first in row {row}\\) - at {place};") as caught:
        batch(Room, source)
    filled = eval(str(caught.value).rpartition("fill them first: ")[2], {"source": source, "np": np})
    assert pack(batch(Room, filled)).tobytes() != pack(batch(Room, np.ones(3, dtype))).tobytes()
    assert (
        pack(batch(Room, source[[k for k in range(3) if k != row]])).nbytes == 2 * pack(batch(Room, filled[:1])).nbytes
    )
    with pytest.raises(SourceError, match=f"mask.* at {place}"):
        batch(Room, source[row])
    # One record of them: numpy masks all of a nested one then.
    with pytest.raises(
        SourceError, match=rf"(?i)mask.* at {place.removesuffix('.color').removesuffix('.power')}[.\w]*\[{row}"
    ):
        batch(Room, list(source))


def test_F4_masked_padding_is_no_missing_value() -> None:
    source = np.ma.masked_array(np.ones(3, dtype_of(Lamp)))
    wide = np.ma.masked_array(np.ones(3, [("color", "f4", 3), ("power", "f4"), ("pad", "V4")]))
    wide["pad"][1] = np.ma.masked
    assert pack(batch(Lamp, wide)).tobytes() == pack(batch(Lamp, source)).tobytes()
