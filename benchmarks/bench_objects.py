"""100,000 records of Python objects: `pack(batch(...))` beside a loop over struct.pack_into.

python -m pytest benchmarks/bench_objects.py --benchmark-only, or as a script for ratios of alternating runs.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import make_dataclass
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


def compare(kind: str) -> None:
    records, out, other = [MAKERS[kind](*row) for row in rows()], np.zeros(48 * N, np.uint8), bytearray(48 * N)
    loop = loop_of(kind, other)
    ours, theirs = workloads.medians(
        [lambda: pack(batch(workloads.Particle, records), out=out), lambda: loop(records)], 25
    )
    assert out.tobytes() == bytes(other)
    print(
        f"{kind:17} {ours / N * 1e9:5.0f} ns a record, a loop {theirs / N * 1e9:5.0f}: {theirs / ours:.1f} times faster",
        flush=True,
    )


def main() -> None:
    # Each kind in a process of its own: what one frees would scatter the objects of the next over memory.
    for kind in sys.argv[1:]:
        compare(kind)
    if not sys.argv[1:]:
        for kind in MAKERS:
            subprocess.run([sys.executable, __file__, kind], check=True)


if __name__ == "__main__":
    main()
