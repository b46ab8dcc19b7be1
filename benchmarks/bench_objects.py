"""Records of Python objects, list to bytes: `pack(batch(...))` beside a loop over struct.pack_into and one in Cython.

python -m pytest benchmarks/bench_objects.py --benchmark-only, or as a script for ratios of alternating runs.
object_loop.pyx, which takes tuples only, is built when the script needs it.
"""

from __future__ import annotations

import importlib
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import namedtuple
from collections.abc import Callable
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpustruct import batch, layout_of, pack, workloads

N = 100_000
NAMES = ("position", "life", "velocity", "id", "color")
FORMAT = "<3ff3fI4f"


def rows() -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(0)
    position, velocity, color = rng.random((N, 3)).tolist(), rng.random((N, 3)).tolist(), rng.random((N, 4)).tolist()
    return [(tuple(position[k]), float(k), tuple(velocity[k]), k, tuple(color[k])) for k in range(N)]


MAKERS: dict[str, Callable[..., Any]] = {
    "tuple": lambda *row: row,
    "dict": lambda *row: dict(zip(NAMES, row, strict=True)),
    "dataclass": make_dataclass("Row", NAMES),
    "dataclass, slots": make_dataclass("Slotted", NAMES, slots=True),
    "namedtuple": namedtuple("Named", NAMES),
}


def loop_of(kind: str, out: bytearray) -> Callable[[list[Any]], None]:
    """What one writes without a library: a loop, one pack_into a record."""

    def tuples(records: list[Any]) -> None:
        for k, r in enumerate(records):
            struct.pack_into(FORMAT, out, 48 * k, *r[0], r[1], *r[2], r[3], *r[4])

    def dicts(records: list[Any]) -> None:
        for k, r in enumerate(records):
            struct.pack_into(FORMAT, out, 48 * k, *r["position"], r["life"], *r["velocity"], r["id"], *r["color"])

    def objects(records: list[Any]) -> None:
        for k, r in enumerate(records):
            struct.pack_into(FORMAT, out, 48 * k, *r.position, r.life, *r.velocity, r.id, *r.color)

    return {"tuple": tuples, "dict": dicts}.get(kind, objects)


@pytest.mark.parametrize("kind", MAKERS)
def test_batch_and_pack(benchmark: Any, kind: str) -> None:
    records = [MAKERS[kind](*row) for row in rows()]
    out = np.zeros(N * layout_of(workloads.Particle).stride, np.uint8)
    benchmark(lambda: pack(batch(workloads.Particle, records), out=out))


@pytest.mark.parametrize("kind", MAKERS)
def test_loop(benchmark: Any, kind: str) -> None:
    records = [MAKERS[kind](*row) for row in rows()]
    benchmark(loop_of(kind, bytearray(48 * N)), records)


def built_loop(folder: str) -> Any:
    """The module of object_loop.pyx, compiled into a folder."""
    source = shutil.copy(Path(__file__).with_name("object_loop.pyx"), folder)
    setup = f"""
from Cython.Build import cythonize
from setuptools import Extension, setup
extension = Extension("object_loop", [{source!r}], extra_compile_args=["-O2"])
setup(ext_modules=cythonize([extension], quiet=True), script_args=["--quiet", "build_ext", "--inplace"])
"""
    subprocess.run([sys.executable, "-c", setup], cwd=folder, check=True)
    sys.path.insert(0, folder)
    return importlib.import_module("object_loop")


def compare(kind: str, count: int, yardstick: Any) -> None:
    """Print one row: times a record, and the ratios to both loops. The loop in Cython always reads tuples."""
    values = rows()[:count]
    records, tuples = [MAKERS[kind](*row) for row in values], values
    out, other = np.zeros(48 * count, np.uint8), bytearray(48 * count)
    loop = loop_of(kind, other)
    ways: list[Callable[[], Any]] = [
        lambda: pack(batch(workloads.Particle, records), out=out),
        lambda: loop(records),
        lambda: yardstick.particles(tuples, other),
    ]
    ours, theirs, bound = workloads.medians(ways, 25, at_least=0.002)
    assert out.tobytes() == bytes(other)
    print(
        f"{kind:17}{count:8,} records {ours / count * 1e9:5.0f} ns each: {ours / bound:.2f} of the loop in Cython "
        f"({bound / count * 1e9:.0f}), {ours / theirs:.2f} of struct.pack_into ({theirs / count * 1e9:.0f})",
        flush=True,
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        yardstick = built_loop(folder)
        # Each kind in a process of its own: memory that one kind frees would leave the next kind's objects scattered.
        for kind in sys.argv[1:]:
            for count in (1, 100, 10_000, N):
                compare(kind, count, yardstick)
    if not sys.argv[1:]:
        for kind in MAKERS:
            subprocess.run([sys.executable, __file__, kind], check=True)


if __name__ == "__main__":
    main()
