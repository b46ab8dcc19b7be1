"""Whether AVX2 needs separate code: times the same work with SSE4.1 and AVX2 in turn, and prints the ratio.

`python -m pytest benchmarks/bench_isa.py --benchmark-only -s` prints a line for each case; its `ratio` is in the extra
columns too. Above 1, AVX2 is faster. Columns of f32 show the slots alone; the others show conversions too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpustruct._kernel as kernel
from gpustruct import Struct, f16, f32, layout_of, pack, unpack, vec2f, vec3f, vec4f, vec4h, workloads
from gpustruct.cli.bench import empty_like

ROUNDS = 15
SIDES = ("sse4.1", "avx2")


class Halves(Struct):
    direction: vec4h
    weight: f16
    age: f16


class Pieces(Struct):
    """A slot of each shape."""

    a: vec3f
    b: f32
    c: vec2f
    d: vec2f
    e: vec2f
    f: f32
    g: f32
    h: vec4f


RECORDS: dict[str, tuple[type[Struct], workloads.Flavour]] = {
    "particle-f32": (workloads.SCHEMAS["Particle"], "f32"),
    "particle-f64": (workloads.SCHEMAS["Particle"], "f64"),
    "halves-f16": (Halves, "f32"),  # no conversion
    "halves-f64": (Halves, "f64"),
    "pieces-f32": (Pieces, "f32"),
}


def with_isa(name: str, work: Callable[[], Any], times: int) -> Callable[[], Any]:
    def run() -> None:
        before = kernel.use_isa(name)
        try:
            for _ in range(times):
                work()
        finally:
            kernel.use_isa(before)

    return run


def compare(benchmark: Any, case: str, work: Callable[[], Any], times: int) -> None:
    sides = [with_isa(name, work, times) for name in SIDES]
    sse41, avx2 = workloads.medians(sides, rounds=ROUNDS, at_least=0.001)
    benchmark.extra_info["ratio"] = round(sse41 / avx2, 3)
    print(f"\n{case:32} sse4.1 {sse41 * 1e6:10.1f} us   avx2 {avx2 * 1e6:10.1f} us   ratio {sse41 / avx2:.3f}")
    benchmark(sides[1])


@pytest.mark.skipif(not set(SIDES) <= set(kernel.isas()), reason="this processor has no AVX2")
@pytest.mark.parametrize("n", [10_000, 1_000_000])
@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("way", ["pack", "unpack"])
def test_both(benchmark: Any, name: str, n: int, way: str) -> None:
    cls, flavour = RECORDS[name]
    batch, out = cls(**workloads.columns(cls, n, flavour)), np.zeros(n * layout_of(cls).stride, np.uint8)
    pack(batch, out=out, threads=1)
    back = empty_like(batch)
    work = {"pack": lambda: pack(batch, out=out, threads=1), "unpack": lambda: unpack(cls, out, out=back)}[way]
    compare(benchmark, f"{way} {name} {n}", work, times=1_000_000 // n)
