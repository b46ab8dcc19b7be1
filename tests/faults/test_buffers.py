"""Memory with fields that other libraries hand on, and types made from Python's own structures."""

from __future__ import annotations

import ctypes
import dataclasses
import typing
from typing import Any

import numpy as np
import pytest

from gpustruct import (
    LayoutError,
    Struct,
    array,
    batch,
    dtype_of,
    f32,
    pack,
    struct_of,
    u32,
    unpack,
    vec2f,
    vec3f,
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
