"""Real frames of pandas, polars and pyarrow: the oracle's bytes, and no copy of contiguous numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import reference
from gpustruct import SourceError, Struct, array, batch, f16, f32, i32, mat2x2f, pack, u32, vec2f, vec3f

N = 7


class Particle(Struct):
    position: vec3f
    life: f32
    id: u32


class Body(Struct):
    inner: Particle
    mass: f16


class Cloud(Struct):
    points: array[vec2f, 4]
    turned: mat2x2f


def columns(n: int = N) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    made: dict[str, Any] = {name: rng.standard_normal(n).astype(np.float32) for name in "xyz"}
    return {**made, "life": rng.standard_normal(n), "id": rng.integers(0, 2**32, n)}


def plain(table: dict[str, Any]) -> Particle:
    return Particle(position=np.stack([table[name] for name in "xyz"], -1), life=table["life"], id=table["id"])


def addresses(made: Any) -> list[int]:
    """Where the columns of a batch's members lie."""
    found: list[int] = []
    for column in made.__columns__:
        parts = getattr(column, "arrays", None) or [column]
        found += (
            addresses(column) if hasattr(column, "__columns__") else [p.__array_interface__["data"][0] for p in parts]
        )
    return found


def frame_of(library: str, table: dict[str, Any]) -> Any:
    if library == "pandas":
        return pandas.DataFrame(table)
    if library == "polars":
        return polars.DataFrame(table)
    made = pa.table(table)
    return made if library == "table" else made.to_batches()[0]


LIBRARIES = ["pandas", "polars", "table", "record batch"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_packs_like_its_columns(library: str) -> None:
    table = columns()
    made = batch(Particle, frame_of(library, table), position=("x", "y", "z"))
    assert pack(made).tobytes() == reference.pack(plain(table))
    assert made.position.tolist() == plain(table).position.tolist()
    assert pack(made[2:5]).tobytes() == reference.pack(plain(table)[2:5])
    assert made[3].position.shape == (3,)


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_are_renamed_and_nested_by_dots(library: str) -> None:
    table = columns()
    frame = frame_of(
        library, {"age": table["life"], "inner.id": table["id"], "m": np.arange(N), "a": table["x"], "b": table["y"]}
    )
    made = batch(Body, frame, {"inner.position": ("a", "b", "a"), "inner.life": "age", "mass": "m"})
    position = np.stack([table["x"], table["y"], table["x"]], -1)
    inner = Particle(position=position, life=table["life"], id=table["id"])
    assert pack(made).tobytes() == reference.pack(Body(inner=inner, mass=np.arange(N)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_contiguous_column_is_copied(library: str) -> None:
    frame = frame_of(library, columns())
    if library == "pandas":
        source = [frame[name].to_numpy().__array_interface__["data"][0] for name in ("x", "y", "z", "life", "id")]
    elif library == "polars":
        source = [frame[name].to_arrow().buffers()[1].address for name in ("x", "y", "z", "life", "id")]
    else:
        found = [frame.column(k) for k in range(5)]
        source = [(c if library == "record batch" else c.chunk(0)).buffers()[1].address for c in found]
    assert addresses(batch(Particle, frame, position=("x", "y", "z"))) == source


def test_pandas_labels_of_several_levels() -> None:
    table = columns()
    frame = pandas.DataFrame(
        {("inner", "life"): table["life"], ("inner", "id"): table["id"], ("mass", ""): 1.0, ("p", "x"): table["x"]}
    )
    frame.columns = pandas.MultiIndex.from_tuples([("inner", "life"), ("inner", "id"), ("mass", "g"), ("p", "x")])
    made = batch(Body, frame, {"inner.position": ("p.x", "p.x", "p.x"), "mass": "mass.g"})
    inner = Particle(position=np.stack([table["x"]] * 3, -1), life=table["life"], id=table["id"])
    assert pack(made).tobytes() == reference.pack(Body(inner=inner, mass=np.ones(N)))


@pytest.mark.parametrize(
    "dtype", ["Int64", "UInt32", "uint32[pyarrow]", "int64[pyarrow]", "boolean", "bool[pyarrow]", "int16"]
)
def test_pandas_dtypes_without_missing_values(dtype: str) -> None:
    table = columns() | {"id": np.arange(N) % 2}
    frame = pandas.DataFrame(table)
    frame["id"] = frame["id"].astype("bool" if "bool" in dtype else "int64").astype(dtype)
    assert pack(batch(Particle, frame, position=("x", "y", "z"))).tobytes() == reference.pack(plain(table))


def test_a_nullable_pandas_column_is_not_copied() -> None:
    series = pandas.Series([1, 2, 3], dtype="Int64")
    made = batch(u32, series)
    assert np.shares_memory(made.__columns__[0], series.array._data)


def test_pandas_rows_keep_their_order_whatever_the_index() -> None:
    frame = pandas.DataFrame(columns()).sort_values("life")
    made = batch(Particle, frame, position=("x", "y", "z"))
    assert made.life.tolist() == sorted(columns()["life"])
    assert batch(f32, frame["life"]).__array__().tolist() == sorted(columns()["life"])


def fixed_lists() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "points": rng.standard_normal((N, 4, 2)).astype(np.float32),
        "turned": rng.standard_normal((N, 2, 2)).astype(np.float32),
    }


def arrow_lists(values: np.ndarray) -> Any:
    made = pa.array(values.reshape(-1))
    for size in reversed(values.shape[1:]):
        made = pa.FixedSizeListArray.from_arrays(made, size)
    return made


def test_arrow_fixed_size_lists_are_arrays_and_matrices() -> None:
    table = fixed_lists()
    frame = pa.table({name: arrow_lists(values) for name, values in table.items()})
    made = batch(Cloud, frame)
    assert pack(made).tobytes() == reference.pack(Cloud(**table))
    assert addresses(made)[0] == frame["points"].chunk(0).flatten().flatten().buffers()[1].address
    cut = frame.slice(2, 3)
    assert pack(batch(Cloud, cut)).tobytes() == reference.pack(Cloud(**table)[2:5])


def test_polars_arrays_are_arrays_and_matrices() -> None:
    table = fixed_lists()
    frame = polars.DataFrame(table)
    made = batch(Cloud, frame)
    assert pack(made).tobytes() == reference.pack(Cloud(**table))
    assert pack(batch(Cloud, frame.slice(2, 3))).tobytes() == reference.pack(Cloud(**table)[2:5])
    vectors = polars.Series(np.ones((5, 3), np.float32))
    assert batch(vec3f, vectors).__columns__[0].base is not None


def test_arrow_chunks_are_joined() -> None:
    table = columns(9)
    whole = pa.table(table)
    frame = pa.concat_tables([whole.slice(0, 4), whole.slice(4, 0), whole.slice(4, 5)])
    assert frame.column(0).num_chunks >= 2
    assert pack(batch(Particle, frame, position=("x", "y", "z"))).tobytes() == reference.pack(plain(table))
    lists = pa.chunked_array([arrow_lists(np.ones((2, 3))), arrow_lists(np.zeros((1, 3)))])
    assert batch(vec3f, lists).__array__().tolist() == [[1, 1, 1], [1, 1, 1], [0, 0, 0]]
    frames = polars.concat([polars.DataFrame(columns(4)), polars.DataFrame(columns(5))], rechunk=False)
    assert len(batch(Particle, frames, position=("x", "y", "z"))) == 9
    assert len(batch(f32, pa.chunked_array([], pa.float32()))) == 0


def test_arrow_and_polars_structs_are_nested_structs() -> None:
    table = columns()
    inner = pa.StructArray.from_arrays(
        [arrow_lists(plain(table).position), pa.array(table["life"]), pa.array(table["id"])], ["position", "life", "id"]
    )
    expected = reference.pack(Body(inner=plain(table), mass=np.arange(N)))
    frame = pa.table({"inner": inner, "mass": np.arange(N)})
    assert pack(batch(Body, frame)).tobytes() == expected
    assert pack(batch(Body, polars.from_arrow(frame))).tobytes() == expected
    assert pack(batch(Particle, inner)).tobytes() == reference.pack(plain(table))
    assert pack(batch(Particle, inner.slice(2, 3))).tobytes() == reference.pack(plain(table)[2:5])
    assert pack(batch(Particle, polars.from_arrow(frame)["inner"])).tobytes() == reference.pack(plain(table))


def test_arrow_lists_of_structs_are_arrays_of_structs() -> None:
    class Pair(Struct):
        both: array[Particle, 2]

    table = columns(6)
    inner = pa.StructArray.from_arrays(
        [arrow_lists(plain(table).position), pa.array(table["life"]), pa.array(table["id"])], ["position", "life", "id"]
    )
    frame = pa.table({"both": pa.FixedSizeListArray.from_arrays(inner, 2)})
    columns_of_pairs = {name: getattr(plain(table), name).reshape(3, 2, -1).squeeze(-1) if name != "position" else plain(table).position.reshape(3, 2, 3) for name in ("position", "life", "id")}  # fmt: skip
    assert pack(batch(Pair, frame)).tobytes() == reference.pack(Pair(both=columns_of_pairs))


@pytest.mark.parametrize(
    "kind", ["float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "bool"]
)
def test_every_number_type(kind: str) -> None:
    values = (np.arange(N) % 2).astype(kind)
    expected = reference.pack(f32(values))
    assert pack(batch(f32, pa.array(values))).tobytes() == expected
    assert pack(batch(f32, pandas.Series(values))).tobytes() == expected
    if kind != "float16":
        assert pack(batch(f32, polars.Series(values))).tobytes() == expected


def test_nan_is_a_value() -> None:
    for source in (pandas.Series([1.0, np.nan]), polars.Series([1.0, float("nan")]), pa.array(np.array([1.0, np.nan]))):
        assert np.isnan(np.asarray(batch(f32, source))[1])


@pytest.mark.parametrize(
    "source",
    [
        pandas.Series([1, None, 3], dtype="Int64"),
        pandas.Series([1, None, 3], dtype="float[pyarrow]"),
        pandas.Series([1, None, 3], dtype=object),
        pandas.Series([True, None, False], dtype="boolean"),
        polars.Series([1, None, 3]),
        polars.Series([1.0, None, 3.0], dtype=polars.Float32),
        pa.array([1, None, 3]),
        pa.chunked_array([[1], [None, 3]]),
        pa.array([None, None, 3])[1:],
    ],
    ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
)
def test_nulls_are_refused_with_their_row(source: Any) -> None:
    row = 0 if len(source) == 2 else 1
    with pytest.raises(SourceError, match=rf"row {row}\) - at f32") as caught:
        batch(f32, source)
    assert caught.value.rule == "column-missing-value"


def test_an_integer_column_from_pandas_reads_as_integers() -> None:
    frame = pandas.DataFrame({"a": [1, 2]})
    assert batch(i32, frame["a"]).__array__().tolist() == [1, 2]
    assert batch(i32, frame, "a").__array__().tolist() == [1, 2]
    assert batch(vec2f, frame, ("a", "a")).__array__().tolist() == [[1, 1], [2, 2]]
