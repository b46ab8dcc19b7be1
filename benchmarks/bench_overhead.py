"""Calls so small that only the call costs."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
import wgpu

from gpustruct import pack, unpack, vec4f, workloads
from gpustruct.cli.bench import empty_like
from gpustruct.dtypes import dtype_of
from gpustruct.gpu import Program, RecordBuffer


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


SHADER = """
@group(0) @binding(0) var<uniform> wind: vec4f;
@group(0) @binding(1) var<storage, read_write> bodies: array<vec4f>;
@compute @workgroup_size(64) fn step(@builtin(global_invocation_id) id: vec3u) { bodies[id.x] += wind; }
"""


@pytest.fixture(scope="module")
def bound() -> tuple[Program, RecordBuffer[Any], RecordBuffer[Any]]:
    device = wgpu.utils.get_default_device()
    wind = RecordBuffer(device, vec4f, data=[[1, 2, 3, 4]], usage="UNIFORM")
    return Program(device, SHADER), wind, RecordBuffer(device, vec4f, 1000, count=1000)


def test_bind_by_name(benchmark: Any, bound: Any) -> None:
    """The goal: at most 1.3 times `test_bind_by_hand`."""
    program, wind, bodies = bound
    benchmark(lambda: program.bind(wind=wind, bodies=bodies))


def test_bind_by_hand(benchmark: Any, bound: Any) -> None:
    program, wind, bodies = bound
    device, layout = program.device, program.bind_group_layouts[0]

    def by_hand() -> Any:
        entries = [{"binding": 0, "resource": wind.binding()}, {"binding": 1, "resource": bodies.binding()}]
        return device.create_bind_group(layout=layout, entries=entries)

    benchmark(by_hand)
