"""The oracle itself: bytes worked out by hand, so that a mistake in it is not the measure of everything."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import reference
from gpustruct import Struct, array, f16, f32, i32, mat2x3f, mat3x3f, u32, vec2h, vec3f


class Light(Struct):
    position: vec3f
    intensity: f32


class Scene(Struct):
    count: u32
    lights: array[Light, 2]


class Tail(Struct):
    gravity: vec3f
    points: array[vec3f]


def test_bytes_by_hand() -> None:
    scene = Scene(count=[7, 8], lights=Light(position=np.arange(12.0).reshape(2, 2, 3), intensity=[[1, 2], [3, 4]]))
    one = struct.pack("<I12x 3ff 3ff", 7, 0, 1, 2, 1, 3, 4, 5, 2)
    two = struct.pack("<I12x 3ff 3ff", 8, 6, 7, 8, 3, 9, 10, 11, 4)
    assert reference.pack(scene) == one + two
    assert reference.pack(scene, stride=64) == one + bytes(16) + two + bytes(16)


def test_matrices_are_stored_by_column() -> None:
    data = reference.pack(mat2x3f([[1, 2], [3, 4], [5, 6]]))
    assert data == struct.pack("<3f4x3f4x", 1, 3, 5, 2, 4, 6)
    assert reference.layout(mat3x3f) == (16, 48, 48, 0, 0)


def test_a_tail_is_header_and_elements() -> None:
    tail = Tail(gravity=(1, 2, 3), points=np.ones((2, 3)))
    assert reference.layout(Tail) == (16, 32, 32, 16, 16)
    assert reference.pack(tail) == struct.pack("<3f4x3f4x3f4x", 1, 2, 3, 1, 1, 1, 1, 1, 1)
    back = reference.unpack(Tail, reference.pack(tail))
    assert back["gravity"].tolist() == [1, 2, 3]
    assert back["points"].shape == (2, 3)


def test_round_trip_and_difference() -> None:
    scene = Scene(count=[7, 8], lights=Light(position=np.arange(12.0).reshape(2, 2, 3), intensity=[[1, 2], [3, 4]]))
    data = reference.pack(scene)
    back = reference.unpack(Scene, data)
    assert back["count"].tolist() == [7, 8]
    assert back["lights"]["position"].tolist() == np.arange(12.0).reshape(2, 2, 3).tolist()
    assert reference.difference(Scene, data, data) is None
    assert reference.difference(Scene, data[:4] + b"\1" + data[5:], data) == ("padding at byte 4: byte 01, expected 00")
    changed = data[:64] + struct.pack("<f", 9) + data[68:]
    assert reference.difference(Scene, changed, data) == "[1].lights[0].position[0] at byte 64: 9.0, expected 6.0"
    assert reference.difference(f32, struct.pack("<f", float("nan")), b"\1\0\xc0\xff") is None


def test_rounding_and_range() -> None:
    assert reference.pack(f16(np.array([1.5, -0.0]))) == b"\x00\x3e\x00\x80"
    assert reference.pack(vec2h([65504.0, 6e-8])) == b"\xff\x7b\x01\x00"
    # 2**24 + 1 + 2**-30 in spirit: an integer that a double cannot hold and f32 rounds up, not to even.
    just_above = (1 << 60) + (1 << 36) + 1
    assert reference.pack(f32([just_above])) == struct.pack("<f", float((1 << 60) + (1 << 37)))
    with pytest.raises(OverflowError):
        reference.pack(f32([1e300]))
    with pytest.raises(OverflowError):
        reference.pack(f16([70000]))
    with pytest.raises(OverflowError):
        reference.pack(u32([-1]))
    with pytest.raises(OverflowError):
        reference.pack(i32([2**31]))
