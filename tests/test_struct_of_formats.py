"""struct_of where packed and vertex formats come in: normalized integers are asked for, all else is inferred."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import vertex_reference as reference
from gpustruct import LayoutError, Struct, array, dtype_of, f32, pack, struct_of, u32, vec4u
from gpustruct.formats import FORMATS
from gpustruct.types import make_struct
from gpustruct.vertex import (
    Vertex,
    float16,
    float32,
    float32x3,
    float32x4,
    sint32,
    sint32x2,
    uint8,
    uint32,
    unorm8x4,
    unorm16x2,
)

INFERRED = {"float32", "uint32", "sint32", "float16"}
ONE = {("u1", 4): "unorm8x4 or uint8x4", ("i1", 4): "snorm8x4 or sint8x4", ("u2", 2): "unorm16x2", ("i2", 2): "snorm16x2",
       ("f2", 2): "float16x2"}  # fmt: skip


def asked(source: Any, **options: Any) -> str:
    with pytest.raises(LayoutError) as caught:
        struct_of(source, "S", **options)
    assert caught.value.rule == "dtype-ask"
    return str(caught.value).partition("(current: ")[2].partition("; inferred")[0]


@pytest.mark.parametrize(("code", "rows"), ONE)
def test_a_struct_is_asked_for_packed_formats(code: str, rows: int) -> None:
    dtype = np.dtype([("color", code, rows)])
    assert asked(dtype).startswith(f"color: {ONE[code, rows]} or vec{rows}")
    for name in ONE[code, rows].split(" or "):
        T = struct_of(dtype, "S", {"color": FORMATS[name]})
        values = np.frombuffer(np.random.default_rng(1).bytes(8 * dtype.itemsize), dtype)
        assert pack(T(color=values["color"])).tobytes() == values.tobytes() and dtype_of(T) == dtype
    assert asked(np.dtype([("color", code, (3, rows))])).startswith(
        f"color: array[{ONE[code, rows].partition(' or ')[0]}, 3] or "
    )


@pytest.mark.parametrize(("code", "rows"), [("u1", 3), ("u2", 4), ("u4", 4), ("i1", 2), ("f2", 4)])
def test_other_numbers_have_no_packed_format(code: str, rows: int) -> None:
    assert "x" not in asked(np.dtype([("color", code, rows)])).partition(" or ")[0]


def test_the_answer_may_be_any_of_them() -> None:
    dtype = np.dtype([("color", "u1", 4)])
    assert struct_of(dtype, "S", {"color": vec4u}).color.type is vec4u
    assert struct_of(dtype, "S", {"color": array[u32, 4]}).color.size == 16


def test_a_vertex_class_is_asked_for_normalized_integers_only() -> None:
    dtype = np.dtype([("position", "f8", 3), ("color", "u1", 4), ("uv", ">u2", 2), ("bone", "i1"), ("id", "i8"), ("world", "f4", (4, 4)),
                      ("on", "?"), ("half", "f2"), ("pad", "V2"), ("weights", "f4", 6)])  # fmt: skip
    assert asked(dtype, base=Vertex) == ("color: unorm8x4 or uint8x4, uv: unorm16x2 or uint16x2, bone: snorm8 or sint8")
    V = struct_of(dtype, "S", {"color": unorm8x4, "uv": unorm16x2, "bone": FORMATS["snorm8"]}, base=Vertex)
    assert issubclass(V, Vertex) and {name: spec.type for name, spec in V.__members__.items()} == {
        "position": float32x3, "color": unorm8x4, "uv": unorm16x2, "bone": FORMATS["snorm8"], "id": sint32,
        "world": array[float32x4, 4], "on": uint8, "half": float16, "weights": array[float32, 6],
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_dtypes_of_random_classes_are_read_again(seed: int) -> None:
    members = reference.random_members(np.random.default_rng(seed))
    types = {m: FORMATS[name] if count is None else array[FORMATS[name], count] for m, name, count in members}
    V = make_struct("V", types, base=Vertex)
    # Arrays of scalars are taken for vectors where a format has that many, and words are no words to numpy.
    certain = {m for m, name, count in members if name.partition("x")[0] in INFERRED and (count is None or "x" in name)}
    again = struct_of(dtype_of(V), "V", {m: types[m] for m in types if m not in certain}, base=Vertex)
    assert again.__layout__ == V.__layout__
    asking = {m for m, name, _ in members if name.partition("x")[0] not in INFERRED and "-" not in name}
    if asking:
        assert [part.partition(":")[0] for part in asked(dtype_of(V), base=Vertex).split(", m")] == [
            m if k == 0 else m[1:] for k, m in enumerate(m for m in types if m in asking)
        ]


def test_dataclasses_and_ctypes_structures() -> None:
    @dataclass
    class Corner:
        position: tuple[float, float, float]
        cell: tuple[int, int]
        size: float
        id: np.uint32
        color: unorm8x4

    V = struct_of(Corner, base=Vertex)
    types = [spec.type for spec in V.__members__.values()]
    assert types == [float32x3, sint32x2, float32, uint32, unorm8x4] and V.__name__ == "Corner"

    class CCorner(ctypes.Structure):
        _fields_ = (("position", ctypes.c_float * 3), ("color", ctypes.c_uint8 * 4))

    assert asked(CCorner, base=Vertex) == "color: unorm8x4 or uint8x4"
    assert struct_of(CCorner, "C", {"color": unorm8x4}, base=Vertex).__layout__.size == 16


def test_what_a_vertex_class_cannot_hold() -> None:
    with pytest.raises(LayoutError, match="vertex format"):
        struct_of(np.dtype([("inner", [("a", "f4")])]), "V", base=Vertex)
    assert asked(np.dtype([("a", "c8")]), base=Vertex) == "a: complex64, which WGSL has not"
    for base in (f32, object, None, [Struct], "Vertex"):
        with pytest.raises(LayoutError) as caught:
            struct_of(np.dtype([("a", "f4")]), "V", base=base)
        assert caught.value.rule == "dtype-base"
