"""One camera uniform, five members set: through `view`, numpy and struct, on the same values.

python -m pytest benchmarks/bench_view.py --benchmark-only
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from gpustruct import Struct, array, f32, mat4x4f, vec3f, view


class Camera(Struct):
    view: mat4x4f
    projection: mat4x4f
    model: mat4x4f
    position: vec3f
    time: f32


class Light(Struct):
    color: vec3f
    power: f32


class Scene(Struct):
    camera: Camera
    lights: array[Light, 8]


ROWS = np.dtype(
    [
        ("view", "f4", (4, 4)),
        ("projection", "f4", (4, 4)),
        ("model", "f4", (4, 4)),
        ("position", "f4", 3),
        ("time", "f4"),
    ]
)


def values(dtype: str) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return (*rng.standard_normal((3, 4, 4)).astype(dtype), np.ones(3, dtype), 1.5)


def set_five(camera: Any, values: tuple[Any, ...]) -> None:
    camera.view, camera.projection, camera.model, camera.position, camera.time = values


def assign_five(row: np.ndarray, values: tuple[Any, ...]) -> None:
    row["view"], row["projection"], row["model"], row["position"], row["time"] = values


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_view_camera(benchmark: Any, dtype: str) -> None:
    benchmark(set_five, view(Camera), values(dtype))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_numpy_camera(benchmark: Any, dtype: str) -> None:
    benchmark(assign_five, np.zeros((), ROWS), values(dtype))


def test_struct_camera(benchmark: Any) -> None:
    *matrices, position, time = values("f4")
    flat = [matrix.T.ravel().tolist() for matrix in matrices]
    out = bytearray(208)
    benchmark(lambda: struct.pack_into("<52f", out, 0, *flat[0], *flat[1], *flat[2], *position.tolist(), time))


def test_view_one_number(benchmark: Any) -> None:
    camera = view(Camera)

    def step() -> None:
        camera.time += 0.016

    benchmark(step)


def test_view_nested(benchmark: Any) -> None:
    scene, color = view(Scene), (1.0, 0.5, 0.25)

    def step() -> None:
        scene.lights[3].color = color

    benchmark(step)


def test_view_update(benchmark: Any) -> None:
    camera = view(Camera)
    benchmark(camera.update, dict(zip(Camera.__members__, values("f4"), strict=True)))
