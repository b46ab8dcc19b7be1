"""Records of Python objects, list to bytes: `pack(batch(...))` beside a loop over struct.pack_into and one in Cython.

python -m pytest benchmarks/bench_objects.py --benchmark-only, or as a script for ratios of alternating runs.
object_loop.pyx, which takes tuples only, is built when the script needs it. After `npm install` in compare,
TypeGPU's compiled writer, which reads JavaScript's objects, is measured in the same run.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import json
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fresh_cases import Row

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


TYPEGPU = Path(__file__).parent / "compare"


def typegpu(count: int, rounds: int) -> float | None:
    """Seconds that TypeGPU takes for as many objects; None if node or typegpu is not installed."""
    node = shutil.which("node")
    if node is None or not (TYPEGPU / "node_modules" / "typegpu").exists():
        return None
    told = json.dumps({"rows": rows()[:count], "rounds": rounds, "perRound": 0.002})
    done = subprocess.run(
        [node, "typegpu_writer.mjs"], cwd=TYPEGPU, input=told, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    expected = bytearray(48 * count)
    loop_of("tuple", expected)(rows()[:count])
    assert base64.b64decode(found["bytes"]) == expected
    return float(found["seconds"])


# Most times the loop in Cython for 10,000 records; most times a loop over struct.pack_into for 100.
GOALS = {"tuple": 2.0, "dict": 4.0, "dataclass, slots": 4.0}
SMALL_GOAL = 0.4


def object_rows(kind: str, count: int, yardstick: Any, rounds: int) -> Iterator[Row]:
    """Ratios to both loops, and to TypeGPU. The loop in Cython always reads tuples."""
    values = rows()[:count]
    records, tuples = [MAKERS[kind](*row) for row in values], values
    out, other = np.zeros(48 * count, np.uint8), bytearray(48 * count)
    loop = loop_of(kind, other)
    ways: list[Callable[[], Any]] = [
        lambda: pack(batch(workloads.Particle, records), out=out),
        lambda: loop(records),
        lambda: yardstick.particles(tuples, other),
    ]
    ours, theirs, bound = workloads.medians(ways, rounds, at_least=0.002)
    assert out.tobytes() == bytes(other)
    name, is_named = f"{count:,} records, {kind}", kind in GOALS
    yield Row(name, ours, ours / bound, "a loop in Cython", GOALS[kind] if is_named and count == 10_000 else None)
    yield Row(name, ours, ours / theirs, "struct.pack_into", SMALL_GOAL if is_named and count == 100 else None)
    there = typegpu(count, rounds) if is_named and count >= 100 else None
    if there is not None:
        yield Row(name, ours, ours / there, "TypeGPU", 1.0 if count == 10_000 else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=MAKERS, help="only these objects")
    parser.add_argument("--count", type=int, action="append", help="only so many; may be repeated")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json", action="store_true", help="a line of JSON for each row")
    args = parser.parse_args()
    if args.kind is None:
        # Each kind runs in a separate process, because memory freed by one would scatter the objects of the next.
        for kind in MAKERS:
            subprocess.run([sys.executable, __file__, "--kind", kind, *sys.argv[1:]], check=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        yardstick = built_loop(folder)
        for count in args.count or (1, 100, 10_000, N):
            for row in object_rows(args.kind, count, yardstick, args.rounds):
                print(json.dumps(row) if args.json else row, flush=True)


if __name__ == "__main__":
    main()
