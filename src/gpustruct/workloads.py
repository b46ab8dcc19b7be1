"""The schemas that benchmarks use, their columns, and what packing is compared with.

Shared by `gpustruct demo`, `gpustruct bench` and the benchmark suites.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from .batches import Batch
from .dtypes import dtype_of
from .layout import SCALARS
from .types import Struct, array, f16, f32, layout_of, mat3x3f, mat4x4f, u32, vec3f, vec3h, vec4f, vec4h
from .unpacking import unpack

Flavour = Literal["f32", "f64", "strided", "structured"]


class Particle(Struct):
    """48 bytes, no padding: each vec3f is followed by a scalar."""

    position: vec3f
    life: f32
    velocity: vec3f
    id: u32
    color: vec4f


class Light(Struct):
    """32 bytes, no padding."""

    position: vec3f
    intensity: f32
    color: vec3f
    radius: f32


class MaterialBad(Struct):
    """80 bytes, 36 of them padding, because of the order of the members."""

    roughness: f32
    albedo: vec4f
    metallic: f32
    emissive: vec3f
    alpha: f32
    ior: f32


class Camera(Struct):
    """208 bytes: matrices, whose columns come from C-ordered arrays and must be transposed."""

    view: mat4x4f
    projection: mat4x4f
    view_projection: mat4x4f
    position: vec3f
    time: f32


class Half(Struct):
    """80 bytes with f16 and a mat3x3f."""

    normal: mat3x3f
    tint: vec4h
    velocity: vec3h
    weight: f16
    mass: f32


class Kilobyte(Struct):
    """1,024 bytes: bones and weights of one skinned instance."""

    bones: array[mat4x4f, 12]
    weights: array[vec4f, 16]


SCHEMAS: dict[str, Any] = {cls.__name__: cls for cls in (Particle, Light, MaterialBad, Camera, Half, Kilobyte)}


def columns(cls: Any, n: int, flavour: Flavour, seed: int = 0) -> dict[str, np.ndarray]:
    """Random columns for `n` records of `cls`, float32 and uint32 unless the flavour says otherwise."""
    rng = np.random.default_rng(seed)
    made: dict[str, np.ndarray] = {}
    for name, spec in cls.__members__.items():
        scalar = spec.core.__layout__.scalar
        shape = (n, *spec.inner)
        if scalar == "u32":
            values = rng.integers(0, 2**31, shape, np.int64).astype(np.int64 if flavour == "f64" else np.uint32)
        else:
            values = rng.random(shape, np.float32)
            if flavour == "f64":
                values = values.astype(np.float64)
            elif scalar == "f16":
                values = values.astype(np.float16)
        if flavour == "strided":
            wide = np.empty((2 * n, *spec.inner), values.dtype)
            wide[::2] = values
            values = wide[::2]
        made[name] = values
    if flavour == "structured":
        rows = np.zeros(n, dtype_of(cls))
        assign(placements(cls, rows), made)
        return placements(cls, rows)
    return made


def make(cls: Any, n: int, flavour: Flavour = "f32") -> Batch:
    """A batch of random columns."""
    return cls(**columns(cls, n, flavour))


def placements(cls: Any, rows: np.ndarray) -> dict[str, np.ndarray]:
    """The fields of a structured array in device layout, with matrices as [row, col]."""
    views = unpack(cls, rows.view(np.uint8).reshape(-1))
    return {name: getattr(views, name) for name in cls.__members__}


def assign(targets: dict[str, np.ndarray], values: dict[str, np.ndarray]) -> None:
    """What a numpy user does: one assignment for each field, between columns and a structured array."""
    for name, target in targets.items():
        target[...] = values[name]


def naive_loop(cls: Any, values: dict[str, np.ndarray], n: int) -> bytearray:
    """What a Python user without numpy does: one struct.pack_into for each member of each of the first `n` records."""
    layout = layout_of(cls)
    data = bytearray(layout.stride * n)
    codes = {name: row.format[1:] for name, row in SCALARS.items()}
    members: list[tuple[str, int, Any]] = []
    for member in layout.fields:
        inner = member.layout
        members.append((f"<{inner.rows}{codes[inner.scalar]}", member.offset, values[member.name][:n].tolist()))
    for i in range(n):
        base = i * layout.stride
        for code, offset, column in members:
            value = column[i]
            struct.pack_into(code, data, base + offset, *(value if isinstance(value, list) else (value,)))
    return data


def medians(sides: Sequence[Callable[[], Any]], rounds: int = 7, at_least: float = 0.0) -> list[float]:
    """The median time of a call of each side, in seconds, over rounds in which the sides alternate.

    Short calls are repeated until a round lasts `at_least` seconds.
    """
    loops: list[int] = []
    for side in sides:
        side()
        start = time.perf_counter()
        side()
        once = time.perf_counter() - start
        loops.append(max(1, int(at_least / max(once, 1e-9))))
    taken: list[list[float]] = [[] for _ in sides]
    for _ in range(rounds):
        for side, loop, results in zip(sides, loops, taken, strict=True):
            start = time.perf_counter()
            for _ in range(loop):
                side()
            results.append((time.perf_counter() - start) / loop)
    return [sorted(results)[len(results) // 2] for results in taken]
