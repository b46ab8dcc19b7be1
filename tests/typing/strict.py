"""Every annotation as the documentation spells it: no error from `pyright` or `mypy`, both strict. See test_types.py."""

# pyright: strict

from typing import Annotated

import numpy as np

from gpustruct import (
    Field,
    Struct,
    align,
    array,
    atomic,
    batch,
    dtype_of,
    f16,
    f32,
    i32,
    layout_of,
    mat3x4f,
    mat4x4f,
    pack,
    size,
    u32,
    unpack,
    vec2h,
    vec3f,
    vec4f,
    vec4i,
    view,
)
from gpustruct.vertex import Vertex, float16x2, float32x3, snorm8x4, unorm8x4, unorm10_10_10_2, unorm16x2

COUNT = 6


class Light(Struct):
    color: vec4f
    half: vec2h
    radius: Annotated[f32, align(16)]
    fade: Annotated[f16, align(8), size(16)]


class Scene(Struct):
    camera: mat4x4f
    turn: mat3x4f
    hits: atomic[u32]
    misses: atomic[i32]
    sun: Light
    lights: array[Light, 4]
    weights: Annotated[array[f32, 4], align(16)]
    grid: array[array[Light, 2], 3]
    table: array[vec4i, COUNT]
    counters: array[atomic[u32], 8]
    tail: array[Light]


class Points(Struct):
    points: array[vec3f]


class Sun(Light):
    heat: f32


light = Light(color=(1, 1, 1, 1), half=np.zeros(2), radius=np.ones(10), fade=0)
weights = array[f32, 4](np.ones((5, 4)))
points = Points(points=np.ones((7, 3)))
more = Points(points=vec3f(np.ones((7, 3))))
data: np.ndarray = pack(weights)
back = unpack(array[f32, 4], data)
lights: Light = unpack(Light, pack(light))
field: Field = Scene.lights
sizes: list[int] = [layout_of(array[vec3f, 8]).size, layout_of(array[vec3f]).stride, field.offset, len(back)]
made: Light = batch(Light, {"color": np.ones((3, 4)), "half": np.ones((3, 2)), "radius": 1, "fade": 0})
kind = dtype_of(array[Light, 4])
record: Light = view(Light)
record.radius = 0.5
record.color = (1, 1, 1, 1)
record.update({"radius": 2})
taken: bytes = bytes(record)


def brighten(lights: array[Light, 4], by: f32) -> array[Light, 4]:
    return lights


def color_of(scene: Scene) -> Light:
    lights: Light = scene.lights
    return lights[2:]


class Tinted(Struct):
    color: unorm8x4
    normal: Annotated[snorm8x4, align(8)]
    places: array[unorm16x2, 4]
    halves: array[array[float16x2, 2], 3]
    tail: array[unorm8x4]


class Corner(Vertex):
    position: float32x3
    color: unorm8x4
    direction: unorm10_10_10_2


tint = view(Tinted, count=3)
tint.color = np.array([255, 0, 0, 255], np.uint8)
tinted: Tinted = Tinted(
    color=(1.0, 0, 0, 1), normal=[0.0, 0, 1, 0], places=np.zeros((4, 2)), halves=np.zeros((3, 2, 2)), tail=unorm8x4([0.0, 0, 0, 1])
)  # fmt: skip
column: np.ndarray = tinted.color
corner: Corner = unpack(
    Corner, pack(Corner(position=(0, 0, 0), color=(1.0, 0, 0, 1), direction=np.zeros(4, np.uint32)))
)
