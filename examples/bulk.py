"""Millions of records from a file, packed and uploaded a chunk at a time, with a progress bar.

The file is a memory map of float64 values, and only a chunk of it is in memory at a time. Each chunk is packed straight
into staging memory; then a compute shader counts its points in each pixel of the picture.

    python examples/bulk.py --count 50_000_000
    python examples/bulk.py --save bulk.png
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import window
from rich.progress import MofNCompleteColumn, Progress

from gpustruct import Struct, atomic, batch, f32, u32, vec2f, wgsl
from gpustruct.gpu import Program, RecordBuffer

CHUNK = 1_000_000


class Point(Struct):
    position: vec2f
    speed: f32


class Pixel(Struct):
    slow: atomic[u32]
    fast: atomic[u32]


SHADER = (
    wgsl.declare(Point, Pixel)
    + window.WHOLE
    + f"const SIZE = vec2u{window.SIZE};"
    + """
@group(0) @binding(0) var<storage, read> points: array<Point>;
@group(0) @binding(1) var<storage, read_write> pixels: array<Pixel>;

@compute @workgroup_size(256) fn count(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) n: vec3u) {
    let i = id.x + id.y * n.x * 256u;
    if i >= arrayLength(&points) { return; }
    let at = vec2f(SIZE) * (points[i].position * vec2f(0.21, 0.33) + vec2f(0.43, 0.46));
    if any(at < vec2f()) || any(at >= vec2f(SIZE)) { return; }
    let pixel = u32(at.y) * SIZE.x + u32(at.x);
    if points[i].speed < 1.5 { atomicAdd(&pixels[pixel].slow, 1u); } else { atomicAdd(&pixels[pixel].fast, 1u); }
}

@fragment fn shade(corner: Corner) -> @location(0) vec4f {
    let at = vec2u(corner.at * vec2f(SIZE));
    let pixel = at.y * SIZE.x + at.x;
    let blue = f32(atomicLoad(&pixels[pixel].slow)) * vec3f(0.1, 0.5, 1.0);
    let red = f32(atomicLoad(&pixels[pixel].fast)) * vec3f(1.0, 0.3, 0.06);
    return vec4f(1.0 - exp(-(blue + red) * EXPOSURE), 1.0);
}
"""
)


def make_file(path: Path, count: int) -> None:
    """The orbits of many walkers around an attractor (Clifford's), in float64."""
    dtype = np.dtype([("position", "f8", 2), ("speed", "f8")])
    records = np.lib.format.open_memmap(path, "w+", dtype, (count,))
    x, y = np.random.default_rng(1).uniform(-1, 1, (2, min(count, 100_000)))
    for start in range(-20 * len(x), count, len(x)):
        moved = np.sin(-1.4 * y) + np.cos(-1.4 * x), np.sin(1.6 * x) + 0.7 * np.cos(1.6 * y)
        speed = np.hypot(moved[0] - x, moved[1] - y)
        x, y = moved
        if start >= 0:
            part = records[start : start + len(x)]
            part["position"], part["speed"] = np.stack([x, y], axis=-1)[: len(part)], speed[: len(part)]


def upload(path: Path, program: Program, pixels: RecordBuffer) -> None:
    """Send the file through one buffer of a million records, and count each chunk's points."""
    records = np.load(path, mmap_mode="r")
    points = RecordBuffer(program.device, Point, CHUNK)
    count = program.compute_pipeline("count")
    with Progress(*Progress.get_default_columns(), MofNCompleteColumn()) as bar:
        task = bar.add_task("records", total=len(records))
        for start in range(0, len(records), CHUNK):
            part = records[start : start + CHUNK]
            points.write(batch(Point, part), progress=lambda n, _, at=start: bar.update(task, completed=at + n))
            encoder = program.device.create_command_encoder()
            counting = encoder.begin_compute_pass()
            counting.set_pipeline(count)
            program.bind(points=points, pixels=pixels).set(counting)
            counting.dispatch_workgroups(*points.dispatch_size(256))
            counting.end()
            program.device.queue.submit([encoder.finish()])


def main() -> None:
    options = window.arguments(__doc__, count=5_000_000, frames=1)
    screen = window.Window(options)
    device = screen.device
    text = SHADER.replace("EXPOSURE", str(25_000 / options.count))
    pixels = RecordBuffer(device, Pixel, window.SIZE[0] * window.SIZE[1], count=window.SIZE[0] * window.SIZE[1])
    with tempfile.TemporaryDirectory() as folder:
        make_file(path := Path(folder, "orbits.npy"), options.count)
        upload(path, Program(device, text, entry_points="count"), pixels)
    program = Program(device, text, entry_points=("whole", "shade"))
    pipeline, groups = screen.pipeline(program, "whole", "shade"), program.bind(pixels=pixels)

    def draw(target: object, frame: int) -> None:
        encoder = device.create_command_encoder()
        window.paint(encoder, target, pipeline, groups, 3)
        device.queue.submit([encoder.finish()])

    screen.run(draw)


if __name__ == "__main__":
    main()
