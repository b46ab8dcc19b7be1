"""Batches and selections with more records than memory has bytes: an error of ours at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from wgpu import BufferUsage

from gpustruct import BindingError, GpuStructError, Struct, f32, vec3f
from gpustruct.gpu import RecordBuffer, ShardedBuffer, Uploader, verify, write_buffer


class Particle(Struct):
    position: vec3f
    life: f32


def one(value: Any, count: int) -> np.ndarray:
    return np.broadcast_to(np.array(value), (count,))


# Of 2^60 records the bytes are 0 modulo 2^64.
COUNTS = [2**58, 2**60, 2**60 + 1]

WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "RecordBuffer": lambda device, buffer, batch: RecordBuffer(device, Particle, 8).write(batch),
    "RecordBuffer of the records": lambda device, buffer, batch: RecordBuffer(device, Particle, 2**60),
    "append": lambda device, buffer, batch: RecordBuffer(device, Particle, 8).append(batch),
    "write from a start": lambda device, buffer, batch: RecordBuffer(device, Particle, 8).write(batch, start=2**60),
    "write_buffer": lambda device, buffer, batch: write_buffer(device, buffer, batch),
    "Uploader": lambda device, buffer, batch: Uploader(device).write(buffer, batch),
    "ShardedBuffer": lambda device, buffer, batch: ShardedBuffer([device], Particle, 8).write(batch),
}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str, count: int, device: Any) -> None:
    buffer = device.create_buffer(size=64, usage=BufferUsage.STORAGE | BufferUsage.COPY_DST)
    batch = Particle(position=(1, 2, 3), life=one(np.float32(1), count))
    with pytest.raises(BindingError, match=r"\(current: "):
        WRITES[name](device, buffer, batch)


WHERE = {
    "indices": one(np.int64(3), 2**58),
    "indices beyond the buffer": one(np.int64(8), 2**58),
    "a mask of ones": one(np.True_, 2**60),
    "a mask of zeros": one(np.False_, 2**60),
    "a range": range(2**58),
    "a slice": slice(2**60, 2**62),
}


@pytest.mark.parametrize("name", WHERE)
@pytest.mark.parametrize("records", [(), (3,)])
def test_where(name: str, records: tuple[int, ...], device: Any) -> None:
    buffer = RecordBuffer(device, f32, 8)
    buffer.write(f32(np.zeros(8)))
    try:
        buffer.write(f32(np.ones(records)), where=WHERE[name])
    except GpuStructError:
        assert not np.asarray(buffer.read()).any()
    else:
        # The single record goes to each record that is named.
        assert np.flatnonzero(np.asarray(buffer.read())).tolist() == ([3] if name == "indices" else [])
        assert not records


def test_a_report_needs_no_memory(device: Any) -> None:
    assert verify(Particle(position=(1, 2, 3), life=one(np.float32(1), 2**58)), device)
