"""pack and unpack on the six schemas, five sizes and four kinds of source, each instruction set on one row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpustruct._kernel as kernel
from gpustruct import layout_of, pack, unpack, workloads
from gpustruct.cli.bench import FLAVOURS, SIZES, empty_like
from gpustruct.dtypes import dtype_of

CASES = [
    (name, n, flavour)
    for name in workloads.SCHEMAS
    for n in SIZES
    for flavour in FLAVOURS
    if n * layout_of(workloads.SCHEMAS[name]).stride <= 1 << 29
]


def compare(benchmark: Any, nbytes: int, ours: Any, numpy_side: Any) -> None:
    """Ratios from alternating rounds, then pytest-benchmark's own rounds of our side."""
    # Written once: memory that never was is one page of zeros, and reading it costs nothing.
    source, target = np.full(nbytes, 1, np.uint8), np.zeros(nbytes, np.uint8)
    packed, assigned, copied = workloads.medians(
        [ours, numpy_side, lambda: np.copyto(target, source)], rounds=5, at_least=0.001
    )
    benchmark.extra_info |= {
        "gigabytes_per_second": round(nbytes / packed / 1e9, 2),
        "times_numpy": round(assigned / packed, 2),
        "times_copy": round(packed / copied, 2),
    }
    benchmark(ours)


@pytest.mark.parametrize(("name", "n", "flavour"), CASES)
def test_pack(benchmark: Any, name: str, n: int, flavour: workloads.Flavour) -> None:
    cls = workloads.SCHEMAS[name]
    values = workloads.columns(cls, n, flavour)
    batch, out = cls(**values), np.zeros(n * layout_of(cls).stride, np.uint8)
    fields = workloads.placements(cls, np.zeros(n, dtype_of(cls)))
    compare(benchmark, out.nbytes, lambda: pack(batch, out=out, threads=1), lambda: workloads.assign(fields, values))


@pytest.mark.parametrize("name", workloads.SCHEMAS)
@pytest.mark.parametrize("n", [100, 10_000, 1_000_000])
def test_unpack(benchmark: Any, name: str, n: int) -> None:
    cls = workloads.SCHEMAS[name]
    if n * layout_of(cls).stride > 1 << 29:
        n = (1 << 29) // layout_of(cls).stride
    data = np.full(n * layout_of(cls).stride, 1, np.uint8)
    rows = data.view(dtype_of(cls))
    back = empty_like(unpack(cls, data))
    targets = {member: getattr(back, member) for member in cls.__members__}
    fields = workloads.placements(cls, rows)
    compare(benchmark, data.nbytes, lambda: unpack(cls, data, out=back), lambda: workloads.assign(targets, fields))


@pytest.mark.parametrize("isa", kernel.isas())
@pytest.mark.parametrize("name", ["Particle", "Light", "MaterialBad"])
@pytest.mark.parametrize("n", [10_000, 1_000_000])
def test_each_instruction_set(benchmark: Any, name: str, n: int, isa: str) -> None:
    before = kernel.use_isa(isa)
    try:
        test_pack(benchmark, name, n, "f32")
    finally:
        kernel.use_isa(before)
