"""gpustruct demo: a particle simulation that uploads numpy columns to a shader and reads them back, with timings."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from typing import Any

import numpy as np

from .. import workloads
from ..errors import BindingError
from ..packing import pack
from ..types import layout_of
from ..workloads import Particle
from .numbers import whole

STEP = """
@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;
struct Frame { gravity: vec3f, dt: f32 }
@group(0) @binding(1) var<uniform> frame: Frame;

@compute @workgroup_size(64)
fn step(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 64u;
  if (i >= arrayLength(&particles)) { return; }
  var p = particles[i];
  p.velocity += frame.gravity * frame.dt;
  p.position += p.velocity * frame.dt;
  p.life -= frame.dt;
  p.color.a = clamp(p.life, 0.0, 1.0);
  p.id += 1u;
  particles[i] = p;
}
"""

GRAVITY, DT = np.array([0.0, -9.81, 0.0]), 1 / 60
SAMPLE = 20_000
MOST_PARTICLES = 100_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct demo``."""
    parser.add_argument(
        "--particles", type=whole("--particles", 1, MOST_PARTICLES, 1_000_000), default=1_000_000, metavar="N",
        help="how many (1000000)",
    )  # fmt: skip
    parser.add_argument(
        "--frames", type=whole("--frames", 1, 1_000_000, 10), default=10, metavar="N", help="frames to simulate (10)"
    )


def main(args: argparse.Namespace) -> int:
    """Run ``gpustruct demo``: 0 if the device and a plain Python loop agree with the packed bytes, 1 if not."""
    if sys.platform == "linux" and "XDG_RUNTIME_DIR" not in os.environ:
        # Without it, the Vulkan loader prints an error that does not matter.
        with tempfile.TemporaryDirectory(prefix="gpustruct-") as folder:
            os.environ["XDG_RUNTIME_DIR"] = folder
            return _run(args)
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    from rich.console import Console

    n, frames = args.particles, args.frames
    console = Console(highlight=False)
    console.print(str(layout_of(Particle)), markup=False)
    console.print()
    state = initial_state(n)
    faults: list[str] = []
    device: Any = None
    try:
        from ..gpu.devices import default_device

        device = default_device()
    except (BindingError, ImportError, OSError, RuntimeError) as error:
        # wgpu raises OSError or RuntimeError if the Vulkan loader is missing.
        console.print(f"There is no GPU adapter: {error}", markup=False)
        console.print("Packing is compared only with a plain Python loop.\n")
    if device is not None:
        faults += _simulate(console, device, state, frames)
    faults += _measure(console, state)
    if faults:
        console.print(f"FAILED {'; '.join(faults)}", style="red", markup=False, soft_wrap=True)
        return 1
    where = "packing" if device is None else f"{frames} frames on {device.adapter.info['device']}, packing"
    console.print(f"OK {n:,} particles: {where} and the plain loop agree", style="green", markup=False, soft_wrap=True)
    return 0


def initial_state(n: int) -> dict[str, np.ndarray]:
    """The columns of a fountain, in the dtypes that simulations use: float64 and int64."""
    rng = np.random.default_rng(1)
    angle, speed = rng.uniform(0, 2 * np.pi, n), rng.uniform(2, 8, n)
    velocity = np.stack([np.cos(angle) * speed / 4, speed, np.sin(angle) * speed / 4], axis=1)
    return {
        "position": rng.normal(0, 0.1, (n, 3)),
        "life": rng.uniform(0.5, 4, n),
        "velocity": velocity,
        "id": np.arange(n),
        "color": rng.random((n, 4)),
    }


def advance(state: dict[str, np.ndarray]) -> None:
    """Do in numpy, in place and in double precision, what the shader does in one frame."""
    state["velocity"] += GRAVITY * DT
    state["position"] += state["velocity"] * DT
    state["life"] -= DT
    state["color"][:, 3] = np.clip(state["life"], 0, 1)
    state["id"] += 1


def _simulate(console: Any, device: Any, state: dict[str, np.ndarray], frames: int) -> list[str]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from .. import wgsl
    from ..gpu import RecordBuffer

    n = len(state["life"])
    particles = RecordBuffer(device, Particle, capacity=n)
    pipeline, bind_group = _pipeline(device, particles, wgsl.declare(Particle) + STEP)
    groups = particles.dispatch_size(64, n)
    batch = Particle(**state)
    spent = {"upload": 0.0, "read back": 0.0}
    faults: list[str] = []
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("frame {task.completed}/{task.total}"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task("numpy → device → shader → numpy", total=frames)
        for frame in range(frames):
            start = time.perf_counter()
            particles.write(batch)
            spent["upload"] += time.perf_counter() - start
            encoder = device.create_command_encoder()
            compute = encoder.begin_compute_pass()
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, bind_group)
            compute.dispatch_workgroups(*groups)
            compute.end()
            device.queue.submit([encoder.finish()])
            advance(state)
            start = time.perf_counter()
            moved = particles.read()
            spent["read back"] += time.perf_counter() - start
            faults = _compare(moved, state, frame)
            progress.advance(task)
            if faults:
                break
    info = device.adapter.info
    console.print(
        f"{info['device']} ({info['adapter_type']}, {info['backend_type']}): {frames} frames of {n:,} particles"
    )
    for name, seconds in spent.items():
        rate = frames * n * layout_of(Particle).stride / seconds / 1e9
        console.print(f"  {name}: {seconds / frames * 1e3:.1f} ms a frame, {rate:.1f} GB/s")
    console.print()
    return faults


def _pipeline(device: Any, particles: Any, code: str) -> tuple[Any, Any]:
    from ..gpu.backend import BufferUsage

    frame = np.array([*GRAVITY, DT], np.float32)
    uniform = device.create_buffer_with_data(data=frame, usage=BufferUsage.UNIFORM)
    module = device.create_shader_module(code=code)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "step"})
    entries = [
        {"binding": 0, "resource": particles.binding(particles.capacity)},
        {"binding": 1, "resource": {"buffer": uniform, "offset": 0, "size": frame.nbytes}},
    ]
    return pipeline, device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)


def _compare(moved: Any, state: dict[str, np.ndarray], frame: int) -> list[str]:
    """The first difference between the shader's result and numpy's, if there is one."""
    for name, expected in state.items():
        found = getattr(moved, name)
        if expected.dtype.kind == "i":
            wrong = found != expected
        else:
            wrong = ~np.isclose(found, expected, rtol=1e-5, atol=1e-5)
        if wrong.any():
            first = tuple(int(k) for k in np.argwhere(wrong)[0])
            return [f"frame {frame}: {name}{list(first)} is {found[first]} on the device, {expected[first]} in numpy"]
    return []


def _measure(console: Any, state: dict[str, np.ndarray]) -> list[str]:
    from rich.table import Table

    n, stride = len(state["life"]), layout_of(Particle).stride
    sample = min(n, SAMPLE)
    faults: list[str] = []
    naive = bytes(workloads.naive_loop(Particle, state, sample))
    if pack(Particle(**{name: column[:sample] for name, column in state.items()})).tobytes() != naive:
        faults.append("pack and the plain Python loop give different bytes")
    table = Table(title=f"{n:,} particles of {stride} bytes, from float64 and int64 columns", title_justify="left")
    for heading in ("", "M records/s", "GB/s", "× a memory copy"):
        table.add_column(heading, justify="left" if not heading else "right")
    fields = workloads.placements(Particle, np.zeros(n, workloads.dtype_of(Particle)))
    out, copy = np.zeros(n * stride, np.uint8), np.zeros(n * stride, np.uint8)
    batch = Particle(**state)
    single = {
        name: column.astype(np.uint32 if column.dtype.kind == "i" else np.float32) for name, column in state.items()
    }
    batch32 = Particle(**single)
    sides = [
        lambda: np.copyto(copy, out),
        lambda: pack(batch, out=out),
        lambda: workloads.assign(fields, state),
        lambda: pack(batch32, out=out),
        lambda: workloads.assign(fields, single),
    ]
    copied, packed, assigned, packed32, assigned32 = workloads.medians(sides, rounds=5)
    start = time.perf_counter()
    workloads.naive_loop(Particle, state, sample)
    looped = (time.perf_counter() - start) * n / sample
    for name, seconds in (
        ("memory copy of the packed bytes", copied),
        ("gpustruct pack, float64 columns", packed),
        ("numpy structured assignment, float64", assigned),
        ("gpustruct pack, float32 columns", packed32),
        ("numpy structured assignment, float32", assigned32),
        (f"Python loop with struct.pack_into ({sample:,} timed)", looped),
    ):
        table.add_row(
            name, f"{n / seconds / 1e6:,.1f}", f"{n * stride / seconds / 1e9:.2f}", f"{seconds / copied:,.1f}"
        )
    console.print(table)
    console.print(
        f"pack is {assigned32 / packed32:.1f} times as fast as numpy structured assignment from float32, "
        f"{assigned / packed:.1f} from float64, {looped / packed:,.0f} times the loop.\n"
    )
    return faults
