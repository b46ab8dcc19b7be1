"""Memory with fields that other libraries hand on, and types made from Python's own structures."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import pickle
import typing
from typing import Any

import numpy as np
import pandas
import pytest

from gpustruct import (
    LayoutError,
    SourceError,
    Struct,
    array,
    batch,
    dtype_of,
    f16,
    f32,
    mat3x3f,
    pack,
    struct_of,
    u32,
    unpack,
    vec2f,
    vec3f,
    vec3h,
    vec3i,
    vec4f,
)


class V(Struct):
    a: vec3f
    b: u32


class W(Struct):
    a: vec3f
    b: vec2f


class Inner(Struct):
    p: vec3f


class Outer(Struct):
    inner: Inner
    tail: array[f32, 3]


def padded(itemsize: int, order: str = "<") -> np.ndarray:
    dtype = {
        "names": ["a", "b"],
        "formats": [(f"{order}f4", 3), f"{order}u4"],
        "offsets": [0, 12],
        "itemsize": itemsize,
    }
    made: Any = np.zeros(6, np.dtype(dtype))  # type: ignore[call-overload]
    made["a"] = np.arange(18).reshape(6, 3) + 1
    made["b"] = np.arange(6)
    return made


@pytest.mark.parametrize("itemsize", [16, 17, 20, 32, 64])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("part", [slice(None), slice(2, 2), slice(None, None, 2), slice(None, None, -1), slice(1, 3)])
def test_F6_the_size_of_an_item_is_the_stride(itemsize: int, order: str, part: slice) -> None:
    data = padded(itemsize, order)
    expected = (np.arange(18, dtype=np.float32).reshape(6, 3) + 1)[part]
    for memory in (memoryview(data)[part], memoryview(data[part]), memoryview(memoryview(data[part]))):
        made = batch(V, memory)
        assert np.asarray(made.a).tolist() == expected.tolist()
        assert np.asarray(made.b).tolist() == list(range(6))[part]


def test_F6_rows_of_records() -> None:
    made = batch(V, memoryview(padded(32).reshape(2, 3)))
    assert np.asarray(made.a).tolist() == (np.arange(18.0).reshape(2, 3, 3) + 1).tolist()


def test_F6_memory_that_nobody_may_write() -> None:
    data = padded(32)
    data.flags.writeable = False
    assert np.asarray(batch(V, memoryview(data)).b).tolist() == list(range(6))


@pytest.mark.parametrize("kind", [V, W, Inner, Outer])
def test_F6_the_dtype_of_a_type(kind: Any) -> None:
    packed = np.frombuffer(bytes(range(1, 1 + 3 * np.dtype(dtype_of(kind)).itemsize)), dtype_of(kind))
    found = pack(batch(kind, memoryview(packed)))
    assert found.tobytes() == pack(unpack(kind, packed.tobytes())).tobytes()


class Bits(ctypes.Structure):
    _fields_: typing.ClassVar = [("a", ctypes.c_uint32, 4), ("b", ctypes.c_uint32, 28)]


class Late(ctypes.Structure):
    _fields_: typing.ClassVar = [("x", ctypes.c_float), ("kind", ctypes.c_uint8, 3)]


@pytest.mark.parametrize(("source", "named"), [(Bits, "a, b"), (Late, "kind")])
def test_F22_bit_fields_are_named(source: Any, named: str) -> None:
    with pytest.raises(LayoutError, match=f"bit fields {named}\\).*declare the number that they share"):
        struct_of(source)


@pytest.mark.parametrize(
    ("hint", "answer"),
    [(np.ndarray, "vec3f"), (list[float], "vec3f"), (tuple[float, ...], "vec3f"), (str, "f32"), (complex, "f32"), (tuple[float, float, float, float], "vec4f"), (np.longdouble, "f32")],
)  # fmt: skip
def test_F22_what_to_type_is_python(hint: Any, answer: str) -> None:
    source = dataclasses.make_dataclass("D", [("a", float), ("b", hint)])
    with pytest.raises(LayoutError) as caught:
        struct_of(source)
    assert str(caught.value).endswith(f"types={{'b': {answer}}}")
    names = {"vec3f": vec3f, "vec4f": vec4f, "f32": f32}
    assert struct_of(source, types={"b": names[answer]}).b.name == "b"


class Padded(ctypes.Structure):
    _fields_: typing.ClassVar = [("d", ctypes.c_double), ("b", ctypes.c_float)]


class DB(Struct):
    d: f32
    b: f32


@pytest.mark.parametrize("part", [slice(None), slice(None, None, -1), slice(None, None, 2), slice(1, 3), slice(2, 2)])
def test_F6_strides_of_ctypes_memory(part: slice) -> None:
    records = (Padded * 4)(*((k + 1.0, k + 5.0) for k in range(4)))
    made = batch(DB, memoryview(records)[part])
    assert np.asarray(made.d).tolist() == [1.0, 2.0, 3.0, 4.0][part]
    assert np.asarray(made.b).tolist() == [5.0, 6.0, 7.0, 8.0][part]


def test_F6_one_structure_of_ctypes() -> None:
    assert float(np.asarray(batch(DB, Padded(1.0, 2.0)).b)) == 2.0
    assert float(np.asarray(batch(DB, memoryview(Padded(1.0, 2.0))).b)) == 2.0


def records(kind: Any, count: int = 3) -> np.ndarray:
    size = np.zeros(count, dtype_of(kind)).nbytes
    return np.frombuffer((np.arange(size) % 60).astype(np.uint8).tobytes(), dtype_of(kind))


class Deep(Struct):
    points: array[Outer, 2]
    m: mat3x3f
    h: vec3h
    v: array[vec3f, 2]
    last: f16


@pytest.mark.parametrize("kind", [V, W, Inner, Outer, Deep])
def test_F6_lists_of_numpy_records(kind: Any) -> None:
    values = records(kind)
    expected = pack(unpack(kind, values.tobytes())).tobytes()
    swapped = values.astype(values.dtype.newbyteorder(">"))
    # numpy's masked arrays have no halves: their fill value is too large.
    masked = [] if kind is Deep else [np.ma.masked_array(values)]
    for source in (values, swapped, values.view(np.recarray), *masked):
        assert pack(batch(kind, [source[k] for k in range(3)])).tobytes() == expected
        assert pack(batch(kind, list(source[::-1]))).tobytes() == pack(batch(kind, source[::-1])).tobytes()
    assert pack(batch(kind, [values[k : k + 1].reshape(()) for k in range(3)])).tobytes() == expected


def test_F6_records_of_different_dtypes_in_one_list() -> None:
    padded_, packed = padded(32), np.array([(7, (8, 9, 10))], [("b", "u1"), ("a", ">f8", 3)])
    made = batch(V, [padded_[1], packed[0], {"a": (1, 2, 3), "b": 4}, padded_[2], padded_[0]])
    assert np.asarray(made.b).tolist() == [1, 7, 4, 2, 0]
    assert np.asarray(made.a).tolist() == [[4, 5, 6], [8, 9, 10], [1, 2, 3], [7, 8, 9], [1, 2, 3]]
    with pytest.raises(SourceError, match=r"missing: a; unknown: c; .* - at V\[1\]"):
        batch(V, [padded_[1], np.zeros(1, [("c", "f4", 3), ("b", "u4")])[0]])
    with pytest.raises(SourceError, match=r"- at V\[1\]"):
        batch(V, [padded_[1], np.zeros(1, "V16")[0]])
    with pytest.raises(SourceError, match=r"- at V\[1\]; join the arrays"):
        batch(V, [padded_[1], padded_])


def test_F6_a_masked_field_of_a_record() -> None:
    values = np.ma.masked_array(padded(16))
    values["b"][1] = np.ma.masked
    assert np.asarray(batch(V, [values[0], values[2]]).b).tolist() == [0, 2]
    with pytest.raises(SourceError, match=r"masked.* - at V\.b\[1\]"):
        batch(V, [values[0], values[1]])


@pytest.mark.parametrize("part", [slice(None), slice(None, None, 2), slice(None, None, -1), slice(1, 3), slice(2, 2)])
def test_F6_nothing_is_copied(part: slice) -> None:
    data = padded(32)
    for memory in (memoryview(data)[part], memoryview(data[part])):
        made = np.asarray(batch(V, memory).a)
        assert np.shares_memory(made, data) == bool(made.size)
        assert made.flags.writeable
    data.flags.writeable = False
    assert not np.asarray(batch(V, memoryview(data)[part]).a).flags.writeable
    native = (Padded * 4)(*((k + 1.0, k + 5.0) for k in range(4)))
    made = batch(DB, memoryview(native)[part])
    native[1].b = 55.0
    assert np.asarray(made.b).tolist() == [5.0, 55.0, 7.0, 8.0][part]


def test_F6_memory_lives_as_long_as_the_batch() -> None:
    memory = memoryview(padded(32))[::-1]
    made = batch(V, memory)
    memory.release()
    gc.collect()
    assert np.asarray(made.b).tolist() == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("itemsize", [16, 17, 32])
def test_F6_memory_of_one_record(itemsize: int) -> None:
    data = padded(itemsize)
    for k in range(6):
        made = batch(V, memoryview(data[k]))
        assert (np.asarray(made.a).tolist(), int(np.asarray(made.b))) == ([3 * k + 1, 3 * k + 2, 3 * k + 3], k)


@pytest.mark.parametrize("itemsize", [16, 17, 32])
def test_F6_bytes_of_records_are_refused_with_a_way_out_that_works(itemsize: int) -> None:
    data = padded(itemsize)
    for source in (
        memoryview(data).cast("B"),
        memoryview(data[1:4]).cast("B")[itemsize:],
        memoryview(data[2]).cast("B"),
    ):
        with pytest.raises(SourceError, match=r"bytes of records\) - at batch\(V") as caught:
            batch(V, source)
        made = eval(str(caught.value).partition("say what they are: ")[2], {**globals(), "source": source})
        assert np.asarray(made.b).tolist() in ([0, 1, 2, 3, 4, 5], [2, 3], [2])


@pytest.mark.parametrize("kind", [vec3f, vec3i, vec3h, array[vec3f, 2], mat3x3f, array[mat3x3f, 2]])
@pytest.mark.parametrize("order", ["<", ">"])
def test_F6_memory_of_elements_with_padding(kind: Any, order: str) -> None:
    packed = (np.arange(np.zeros(4, dtype_of(kind)).nbytes) % 60).astype(np.uint8).tobytes()
    values = np.frombuffer(packed, np.zeros(4, dtype_of(kind)).dtype).reshape(np.zeros(4, dtype_of(kind)).shape)
    values = values.astype(values.dtype.newbyteorder(order))
    old = np.zeros(4, {"names": ["element"], "formats": [(f"{order}f4", 3)], "offsets": [0], "itemsize": 20})
    old["element"] = np.arange(12).reshape(4, 3)
    for part in (slice(None), slice(None, None, -1), slice(3, 0, -2)):
        wanted = pack(kind(unpack(kind, packed)[part])).tobytes()
        for source in (values[part], memoryview(values[part]), pickle.PickleBuffer(values[part])):
            assert pack(kind(source)).tobytes() == wanted
            assert pack(batch(kind, source)).tobytes() == wanted
        assert np.asarray(vec3f(memoryview(old)[part])).tolist() == old["element"][part].tolist()


@pytest.mark.parametrize("index", [None, [5, 3, 9], pandas.MultiIndex.from_tuples([(1, "a"), (2, "b"), (3, "c")])])
def test_F6_series_of_records(index: Any) -> None:
    values = records(W)
    expected = pack(unpack(W, values.tobytes())).tobytes()
    dicts = [{"a": row["a"], "b": row["b"]} for row in values]
    for rows in (list(values), dicts, [tuple(row.values()) for row in dicts]):
        series = pandas.Series(rows, index=index)
        assert pack(batch(W, series)).tobytes() == expected
    named = pandas.Series({"a": (1, 2, 3), "b": (4, 5)})
    assert np.asarray(batch(W, named).b).tolist() == [4, 5]
    with pytest.raises(SourceError, match=r"- at batch\(W"):
        batch(W, pandas.Series([1.0, 2.0, 3.0], index=index))
