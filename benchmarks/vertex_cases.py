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

from gpustruct import Struct, dtype_of, f32, layout_of, pack, u32, unpack, vec3f, vec4f, wgsl
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


def columns(cls: Any, n: int, dtype: Any) -> dict[str, np.ndarray]:
    """Random columns of this dtype."""
    random = np.random.default_rng(1)
    return {
        name: random.uniform(STEPS.get(name, (-1, 0))[0], 1, (n, *spec.inner)).astype(dtype)
        for name, spec in cls.__members__.items()
    }


def packing_rows(cls: Any, n: int, source: Any, rounds: int) -> Iterator[Row]:
    """Columns of floats to packed records, beside numpy's expressions and a copy of the columns; back, if they are float32."""
    values = columns(cls, n, source)
    rows, out = np.zeros(n, dtype_of(cls)), np.zeros(n * layout_of(cls).stride, np.uint8)
    batch = cls(**values)
    back = {name: np.zeros(column.shape, np.float32) for name, column in values.items()}
    target = cls(**{name: np.zeros_like(column) for name, column in back.items()})
    read = np.concatenate([column.reshape(-1) for column in values.values()])
    copied = np.zeros_like(read)

    def numpy_packs() -> None:
        # In float32 a product can be rounded to a half, and np.rint then rounds it once more: a few records differ.
        for name, column in values.items():
            rows[name] = np.rint(np.multiply(column, STEPS[name][1], dtype=np.float64)) if name in STEPS else column

    def numpy_unpacks() -> None:
        for name, column in back.items():
            if name not in STEPS:
                column[...] = rows[name]
            elif STEPS[name][0] < 0:
                column[...] = np.maximum(rows[name] / np.float32(STEPS[name][1]), -1)
            else:
                column[...] = rows[name] / np.float32(STEPS[name][1])

    sides: list[Callable[[], object]] = [
        numpy_packs,
        lambda: pack(batch, out=out, threads=1),
        numpy_unpacks,
        lambda: unpack(cls, out, out=target),
        lambda: np.copyto(copied, read),
    ]
    for side in sides:
        side()
    assert out.tobytes() == rows.tobytes()
    for name, column in back.items():
        assert np.asarray(getattr(target, name)).tobytes() == column.tobytes(), name
    by_numpy, packed, numpy_back, unpacked, copy = medians(sides, rounds)
    ways = [("pack", packed, by_numpy), ("unpack", unpacked, numpy_back)]
    for verb, ours, theirs in ways if source is np.float32 else ways[:1]:
        name = f"{verb}, {n:,} {cls.__name__}, {np.dtype(source)}"
        yield Row(name, ours, ours / theirs, "numpy's expression", NUMPY_GOAL)
        yield Row(name, ours, ours / copy, "a copy of the columns", COPY_GOAL)


BINDINGS = (
    wgsl.declare(Particle)
    + """
struct Step { seconds: f32, count: u32 }
@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read_write> now: array<Particle>;
@group(0) @binding(2) var<storage, read> before: array<Particle>;
@compute @workgroup_size(64) fn drift(@builtin(global_invocation_id) id: vec3u) {
    now[id.x].position = before[id.x].position + step.seconds * before[id.x].velocity;
}

@group(0) @binding(0) var<uniform> tint: vec4f;
@group(0) @binding(1) var photo: texture_2d<f32>;
@group(0) @binding(2) var blur: sampler;
@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f { return vec4f(f32(i)); }
@fragment fn paint(@builtin(position) at: vec4f) -> @location(0) vec4f { return tint * textureSample(photo, blur, at.xy); }
"""
)


class Step(Struct):
    seconds: f32
    count: u32


def bind_rows(rounds: int) -> Iterator[Row]:
    """`Program.bind` beside create_bind_group by hand, with the same entries."""
    device = wgpu.utils.get_default_device()
    program = Program(device, BINDINGS, entry_points=["drift"])
    layout, n = program.bind_group_layouts[0], 1000
    step = RecordBuffer(device, Step, count=1, usage="UNIFORM")
    now, before = (RecordBuffer(device, Particle, n, count=n) for _ in range(2))
    step_buffer, now_buffer, before_buffer = step.buffer, now.buffer, before.buffer

    def buffers_by_hand() -> None:
        device.create_bind_group(
            layout=layout,
            entries=[
                {"binding": 0, "resource": {"buffer": step_buffer, "offset": 0, "size": 8}},
                {"binding": 1, "resource": {"buffer": now_buffer, "offset": 0, "size": 48 * n}},
                {"binding": 2, "resource": {"buffer": before_buffer, "offset": 0, "size": 48 * n}},
            ],
        )

    def buffers() -> None:
        program.bind(step=step, now=now, before=before)

    yield from bind_row(device, "three buffers", buffers_by_hand, buffers, rounds)
    drawing = Program(device, BINDINGS, entry_points=["corner", "paint"])
    drawing_layout = drawing.bind_group_layouts[0]
    tint = RecordBuffer(device, vec4f, count=1, usage="UNIFORM")
    tint_buffer, sampler = tint.buffer, device.create_sampler()
    photo = device.create_texture(size=(64, 64, 1), format="rgba8unorm", usage="TEXTURE_BINDING").create_view()

    def texture_by_hand() -> None:
        device.create_bind_group(
            layout=drawing_layout,
            entries=[
                {"binding": 0, "resource": {"buffer": tint_buffer, "offset": 0, "size": 16}},
                {"binding": 1, "resource": photo},
                {"binding": 2, "resource": sampler},
            ],
        )

    def texture() -> None:
        drawing.bind(tint=tint, photo=photo, blur=sampler)

    yield from bind_row(device, "a buffer, a texture and a sampler", texture_by_hand, texture, rounds)


def bind_row(
    device: Any, name: str, by_hand: Callable[[], None], ours: Callable[[], None], rounds: int
) -> Iterator[Row]:
    create, seen = device.create_bind_group, list[dict[str, Any]]()

    def recorded(**options: Any) -> Any:
        seen.append(options)
        return create(**options)

    vars(device)["create_bind_group"] = recorded
    by_hand()
    ours()
    del vars(device)["create_bind_group"]
    assert len(seen) == 2 and seen[0] == seen[1]
    theirs, taken = medians([by_hand, ours], rounds, at_least=0.02)
    yield Row(f"Program.bind, {name}", taken, taken / theirs, "create_bind_group by hand", BIND_GOAL)


def vertex_rows(rounds: int, n: int = 1_000_000) -> Iterator[Row]:
    """A million corners, and lights with packed colors in storage."""
    for cls, source in (Corner, np.float32), (Corner, np.float64), (Light, np.float32):
        yield from packing_rows(cls, n, source, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--records", type=int, default=1_000_000)
    args = parser.parse_args()
    print(describe(), wgpu.gpu.request_adapter_sync(power_preference="high-performance").info["device"])
    for row in vertex_rows(args.rounds, args.records):
        print(row, flush=True)
    for row in bind_rows(args.rounds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
