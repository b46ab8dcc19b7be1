"""Calls so small that only the call costs."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from gpustruct import pack, unpack, workloads
from gpustruct.cli.bench import empty_like
from gpustruct.dtypes import dtype_of


def test_pack_one_record(benchmark: Any) -> None:
    batch, out = workloads.make(workloads.Particle, 1), np.zeros(48, np.uint8)
    benchmark(pack, batch, out=out)


def test_numpy_one_record(benchmark: Any) -> None:
    values = workloads.columns(workloads.Particle, 1, "f32")
    rows = np.zeros(1, dtype_of(workloads.Particle))
    fields = workloads.placements(workloads.Particle, rows)
    benchmark(workloads.assign, fields, values)


def test_struct_one_record(benchmark: Any) -> None:
    out, values = bytearray(48), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8, 1.0, 1.0, 1.0, 1.0]
    benchmark(struct.pack_into, "<3ff3fI4f", out, 0, *values)


def test_pack_a_new_batch(benchmark: Any) -> None:
    """A batch made anew each time: columns checked, plan found, bound, run."""
    values = workloads.columns(workloads.Particle, 1, "f32")
    out = np.zeros(48, np.uint8)
    benchmark(lambda: pack(workloads.Particle(**values), out=out))


def test_unpack_one_record(benchmark: Any) -> None:
    data = np.zeros(48, np.uint8)
    back = empty_like(unpack(workloads.Particle, data))
    benchmark(unpack, workloads.Particle, data, out=back)
