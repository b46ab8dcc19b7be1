"""Vertex data, packed colors in storage, and binding by name: what each costs as a multiple of doing it by hand.

    python benchmarks/vertex_cases.py [--rounds 9] [--records 1000000]

The bytes, the values and the entries of both sides are compared before anything is measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import wgpu
from fresh_cases import Row

from gpustruct import Struct, dtype_of, f32, layout_of, pack, unpack, vec3f, wgsl
from gpustruct.cli.bench import describe
from gpustruct.gpu import Program, RecordBuffer
from gpustruct.vertex import Vertex, float32x3, snorm8x4, unorm8x4, unorm16x2
from gpustruct.workloads import Particle, medians

# Most times numpy's expression, a copy of the floats, and create_bind_group.
NUMPY_GOAL, COPY_GOAL, BIND_GOAL = 0.2, 1.6, 1.3


class Corner(Vertex):
    position: float32x3
    normal: snorm8x4
    uv: unorm16x2
    color: unorm8x4


class Light(Struct):
    position: vec3f
    range: f32
    color: unorm8x4
    glow: unorm8x4


# The smallest value and the number of steps of each packed member: of Corner and of Light.
STEPS = {"normal": (-1, 127), "uv": (0, 65535), "color": (0, 255), "glow": (0, 255)}


def columns(cls: Any, n: int) -> dict[str, np.ndarray]:
    """Random float32 columns."""
    random = np.random.default_rng(1)
    return {
        name: random.uniform(STEPS.get(name, (-1, 0))[0], 1, (n, *spec.inner)).astype(np.float32)
        for name, spec in cls.__members__.items()
    }


def packing_rows(cls: Any, n: int, rounds: int) -> Iterator[Row]:
    """Float32 columns to packed records and back, beside numpy's expressions and a copy of the columns' bytes."""
    values, dtype = columns(cls, n), dtype_of(cls)
    rows, out = np.zeros(n, dtype), np.zeros(n * layout_of(cls).stride, np.uint8)
    batch = cls(**values)
    back = {name: np.zeros_like(column) for name, column in values.items()}
    target = cls(**{name: np.zeros_like(column) for name, column in values.items()})
    floats = np.concatenate([column.reshape(-1) for column in values.values()])
    copied = np.zeros_like(floats)

    def numpy_packs() -> None:
        for name, column in values.items():
            rows[name] = np.rint(column * np.float32(STEPS[name][1])) if name in STEPS else column

    def numpy_unpacks() -> None:
        for name, column in back.items():
            if name not in STEPS:
                column[...] = rows[name]
            else:
                np.divide(rows[name], np.float32(STEPS[name][1]), out=column)
                if STEPS[name][0] < 0:
                    np.maximum(column, -1, out=column)

    sides: list[Callable[[], object]] = [
        numpy_packs,
        lambda: pack(batch, out=out),
        numpy_unpacks,
        lambda: unpack(cls, out, out=target),
        lambda: np.copyto(copied, floats),
    ]
    for side in sides:
        side()
    assert out.tobytes() == rows.tobytes()
    for name, column in back.items():
        assert np.asarray(getattr(target, name)).tobytes() == column.tobytes(), name
    by_numpy, packed, numpy_back, unpacked, copy = medians(sides, rounds)
    for verb, ours, theirs in (("pack", packed, by_numpy), ("unpack", unpacked, numpy_back)):
        name = f"{verb}, {n:,} {cls.__name__}"
        yield Row(name, ours, ours / theirs, "numpy's expression", NUMPY_GOAL)
        yield Row(name, ours, ours / copy, "a copy of the floats", COPY_GOAL)


COMPUTE = (
    wgsl.declare(Particle)
    + """
struct Step { seconds: f32, count: u32 }
@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read_write> now: array<Particle>;
@group(0) @binding(2) var<storage, read> before: array<Particle>;
@compute @workgroup_size(64) fn drift(@builtin(global_invocation_id) id: vec3u) {
    now[id.x].position = before[id.x].position + step.seconds * before[id.x].velocity;
}
"""
)
RENDER = """
@group(0) @binding(0) var<uniform> tint: vec4f;
@group(0) @binding(1) var photo: texture_2d<f32>;
@group(0) @binding(2) var smooth_: sampler;
@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f { return vec4f(f32(i)); }
@fragment fn paint(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return tint * textureSample(photo, smooth_, at.xy);
}
"""


def bind_row(device: Any, name: str, program: Program, given: dict[str, Any], rounds: int) -> Row:
    """`Program.bind` beside create_bind_group with the same entries, written by hand."""
    layout = program.bind_group_layouts[0]
    create, seen = device.create_bind_group, list[Any]()
    bindings = {name: found.binding for name, found in program.interface.bindings.items()}
    plain = [
        (bindings[name], thing.binding() if isinstance(thing, RecordBuffer) else thing) for name, thing in given.items()
    ]

    def by_hand() -> None:
        entries: list[dict[str, Any]] = []
        for number, thing in plain:
            if isinstance(thing, dict):
                thing = {"buffer": thing["buffer"], "offset": 0, "size": thing["size"]}
            entries.append({"binding": number, "resource": thing})
        device.create_bind_group(layout=layout, entries=entries)

    def recorded(**options: Any) -> Any:
        seen.append(options)
        return create(**options)

    vars(device)["create_bind_group"] = recorded
    by_hand()
    program.bind(given)
    del vars(device)["create_bind_group"]
    assert seen[0] == seen[1]
    hand, ours = medians([by_hand, lambda: program.bind(given)], rounds, at_least=0.02)
    return Row(f"Program.bind, {name}", ours, ours / hand, "create_bind_group by hand", BIND_GOAL)
