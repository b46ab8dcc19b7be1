"""check: classes, dtypes and ctypes Structures beside the shader's struct."""

from __future__ import annotations

import ctypes
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given, settings

import strategies
from gpustruct import Struct, WgslError, align, array, atomic, f32, types, u32, vec3f, wgsl
from truth import CASES, build

TEXT = """
struct Light { color: vec3f, kind: u32 }
struct Scene {
  view: mat4x4f, normal: mat3x3f, up: vec3f, time: f32,
  points: array<vec3f, 4>, lights: array<Light, 2>, count: atomic<u32>, @size(16) seed: u32,
}
"""
LIGHT = np.dtype([("color", "<f4", 3), ("kind", "<u4")])
SCENE = np.dtype(
    {
        "names": ["view", "normal", "up", "time", "points", "lights", "count", "seed"],
        "formats": [("f4", (4, 4)), ("f4", (3, 4)), ("f4", 3), "f4", ("f4", (4, 4)), (LIGHT, 2), "u4", "u4"],
        "offsets": [0, 64, 112, 124, 128, 192, 224, 228],
        "itemsize": 256,
    }
)


def differences(T: Any, text: str = TEXT, **options: Any) -> list[list[str]]:
    with pytest.raises(WgslError) as caught:
        wgsl.check(T, text, **options)
    assert caught.value.rule == "check-differs", caught.value
    return [line.split() for line in str(caught.value).split("\n")[2:]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["root"] + str(case.get("size")))
def test_measured_classes_agree(case: dict[str, Any]) -> None:
    assert wgsl.check(build(case), case["wgsl"]).__name__ == case["root"]


@settings(max_examples=60, deadline=None)
@given(strategies.structs())
def test_a_class_agrees_with_its_own_text(cls: Any) -> None:
    wgsl.check(cls, wgsl.declare(cls))


def test_a_dtype_agrees() -> None:
    assert wgsl.check(SCENE, TEXT, name="Scene").__name__ == "Scene"
    assert wgsl.check(LIGHT, TEXT, name="Light").__name__ == "Light"
    assert wgsl.check(LIGHT, wgsl.parse("struct Light { color: vec3f, kind: u32 }")).__name__ == "Light"
    flat = np.dtype([("view", "f4", 16)])
    assert wgsl.check(flat, "struct Camera { view: mat4x4f }").__name__ == "Camera"


def test_a_ctypes_structure_agrees() -> None:
    class Light(ctypes.LittleEndianStructure):
        _fields_ = [("color", ctypes.c_float * 3), ("kind", ctypes.c_uint32)]

    assert wgsl.check(Light, TEXT).__name__ == "Light"


def test_every_kind_of_difference_is_told() -> None:
    class Light(Struct):
        kind: u32
        color: vec3f

    assert differences(Light) == [
        ["Python", "color", "vec3f", "16", "12"],
        ["shader", "color", "vec3f", "0", "12"],
        ["Python", "kind", "u32", "0", "4"],
        ["shader", "kind", "u32", "12", "4"],
        ["Python", "Light", "0", "32", "32"],
        ["shader", "Light", "0", "16", "16"],
    ]
    other = types.make_struct("Light", {"color": vec3f, "kind": f32, "more": f32})
    assert differences(other)[:4] == [
        ["Python", "kind", "f32", "12", "4"],
        ["shader", "kind", "u32", "12", "4"],
        ["Python", "Light", "0", "32", "32"],
        ["shader", "Light", "0", "16", "16"],
    ]
    assert differences(other)[4:] == [["Python", "more", "f32", "16", "4"], ["shader", "more", "(missing)"]]


def test_a_dtype_that_packs_tightly_is_told_apart() -> None:
    tight = np.dtype([("a", "f4"), ("points", "f4", (4, 3)), ("big", ">f4"), ("wide", "f8"), ("few", "u4", 2)])
    text = "struct T { a: f32, points: array<vec3f, 4>, big: f32, wide: f32, few: array<u32, 3> }"
    rows = differences(tight, text)
    assert ["Python", "points", "array<vec3f,", "4>", "4", "48", "12"] in rows
    assert ["shader", "points", "array<vec3f,", "4>", "16", "64", "16"] in rows
    assert ["Python", "big", ">f4", "52", "4"] in rows
    assert ["Python", "wide", "float64", "56", "8"] in rows
    assert ["Python", "few", "('<u4',", "(2,))", "64", "8", "4"] in rows
    assert not any(row[1] == "a" for row in rows)


def test_nested_members_are_compared_too() -> None:
    light = types.make_struct("Light", {"color": vec3f, "kind": f32})
    holder = types.make_struct("Holder", {"n": u32, "lights": array[light, 2]})
    rows = differences(holder, TEXT + "struct Holder { n: u32, lights: array<Light, 2> }")
    assert rows == [["Python", "lights[0].kind", "f32", "28", "4"], ["shader", "lights[0].kind", "u32", "28", "4"]]
    inner = np.dtype({"names": ["color", "kind"], "formats": [("f4", 3), "i4"], "offsets": [0, 12], "itemsize": 16})
    outer = np.dtype({"names": ["n", "lights"], "formats": ["u4", (inner, 2)], "offsets": [0, 16], "itemsize": 48})
    rows = differences(outer, TEXT + "struct Holder { n: u32, lights: array<Light, 2> }", name="Holder")
    assert rows == [["Python", "lights[0].kind", "int32", "28", "4"], ["shader", "lights[0].kind", "u32", "28", "4"]]


def test_attributes_count() -> None:
    item = types.make_struct("Item", {"a": Annotated[f32, align(16)], "b": atomic[u32], "c": array[f32]})
    wgsl.check(item, "struct Item { @align(16) a: f32, b: atomic<u32>, c: array<f32> }")
    assert differences(item, "struct Item { @size(8) a: f32, b: atomic<u32>, c: array<f32> }")


def test_what_is_refused() -> None:
    class Union(ctypes.Structure):
        _fields_ = [("a", ctypes.c_uint32, 3)]

    for other in (int, 3, None, np.dtype("f4"), f32, vec3f, array[f32, 2], Struct, Union, "Light"):
        with pytest.raises(WgslError) as caught:
            wgsl.check(other, TEXT, name="Light")
        assert caught.value.rule in ("check-type", "check-differs"), other
    with pytest.raises(WgslError, match="the text has Light, Scene"):
        wgsl.check(LIGHT, TEXT)
    with pytest.raises(WgslError, match="bool is not host-shareable"):
        wgsl.check(LIGHT, "struct Light { a: bool }", name="Light")
    with pytest.raises(WgslError, match="the text has none"):
        wgsl.check(LIGHT, "const a = 1;", name="Light")
