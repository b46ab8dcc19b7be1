"""Uploads: chunks, order, threads, files larger than memory, and everything that can go wrong on the way."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import wgpu
from hypothesis import given, settings
from hypothesis import strategies as st

from gpustruct import (
    BindingError,
    SourceError,
    Struct,
    array,
    f16,
    f32,
    i32,
    memory_mapped,
    pack,
    threads,
    u32,
    vec3f,
    vec4f,
)
from gpustruct.columns import collect
from gpustruct.gpu import RecordBuffer, Uploader, packer, read_buffer, transfers, write_buffer
from gpustruct.gpu.backend import gpu_errors, write_from
from gpustruct.gpu.chunking import chunk_plans, spans_of
from gpustruct.gpu.readback import Reader, empty_batch
from gpustruct.gpu.staging import StagingPool
from gpustruct.gpu.transfers import Transfers
from gpustruct.packing import pack_plan

USAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


class Particle(Struct):
    position: vec3f
    life: f32
    velocity: vec3f
    id: u32
    color: vec4f


def particles(n: int, dtype: Any = np.float32) -> Any:
    rng = np.random.default_rng(n)
    return Particle(
        position=rng.random((n, 3)).astype(dtype),
        life=rng.random(n).astype(dtype),
        velocity=rng.random((n, 3)).astype(dtype),
        id=np.arange(n),
        color=rng.random((n, 4)).astype(dtype),
    )


def content(device: Any, buffer: Any) -> bytes:
    return bytes(device.queue.read_buffer(buffer))


@pytest.fixture
def fresh(new_device: Any) -> Iterator[Any]:
    """A new device, for tests that break it."""
    made = new_device()
    yield made
    made.destroy()


@given(
    n=st.integers(1, 400),
    target=st.integers(0, 8).map(lambda k: 2 * k),
    limit=st.integers(64, 900),
    T=st.sampled_from([f16, Particle, u32, vec3f, array[f16, 3]]),
    short=st.booleans(),
)
@settings(max_examples=200)
def test_fills_cover_every_byte_once(n: int, target: int, limit: int, T: Any, short: bool) -> None:
    """All bytes up to the end of the records; or, in a `short` buffer, up to the end of the last value."""
    batch = particles(n) if T is Particle else T(np.zeros((n, 3) if T in (vec3f, array[f16, 3]) else n, np.uint8))
    bound, missing = pack_plan(batch), 4 if short and T is vec3f else 0
    spans = spans_of(bound, target, target + bound.size - missing)
    stride = spans[0].part.stride
    covered: list[tuple[int, int]] = []
    records = 0
    for fill in chunk_plans(spans, limit):
        assert fill.size <= max(limit, 2 * stride + 2)
        assert all(copy.source % 4 == copy.target % 4 for copy in fill.copies)
        assert all(copy.source + copy.size <= fill.size for copy in fill.copies)
        covered += [(copy.target, copy.target + copy.size) for copy in fill.copies]
        for piece in fill.pieces:
            assert piece.start == records
            records = piece.stop
    assert records == n
    assert covered[0][0] == target
    assert covered[-1][1] == target + n * stride - missing
    assert [start for start, _ in covered[1:]] == [end for _, end in covered[:-1]]
    # Between fills no word is shared, unless every record ends inside one.
    assert all(end % 4 == 0 for _, end in covered[:-1]) or (stride % 4 == 0 and target % 4)


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
@pytest.mark.parametrize(
    ("T", "most"), [(u32, 2**32 - 1), (i32, 2**31 - 1), (f32, float(np.finfo("f4").max)), (f16, 65519)]
)
def test_dtypes_that_always_fit_are_not_checked(T: Any, most: float, dtype: str) -> None:
    kind = np.dtype(dtype)
    if kind.kind == "f" and T in (u32, i32):
        return  # No column of integers has such a dtype.
    largest = 1 if kind.kind == "b" else float(np.finfo(kind).max) if kind.kind == "f" else np.iinfo(kind).max
    fits = largest <= most and (T is not u32 or kind.kind in ("b", "u"))
    assert packer.may_fail(collect(T(np.zeros(3, kind)))) == (not fits)


@pytest.mark.parametrize(
    "options", [{}, {"threads": 1}, {"threads": 3}, {"chunk_size": 4096, "chunks": 2}, {"chunk_size": 70_000}], ids=str
)
@pytest.mark.parametrize("n", [1, 5, 1365, 1366, 40_000, 200_001])
def test_every_way_up_gives_the_same_bytes(device: Any, options: dict[str, Any], n: int) -> None:
    if n > 40_000 and options.get("chunk_size") == 4096:
        n = 20_001
    batch = particles(n)
    buffer = device.create_buffer(size=48 * n + 64, usage=USAGE)
    Uploader(device, **options).write(buffer, batch, 32)
    data = content(device, buffer)
    assert data[32 : 32 + 48 * n] == pack(batch).tobytes()
    assert not any(data[:32])
    assert not any(data[32 + 48 * n :])


def test_without_the_experimental_mapping(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """wgpu-py may take its undocumented call away: then a copy more, the same bytes."""
    batch = particles(5000)
    buffer = device.create_buffer(size=48 * 5000, usage=USAGE)
    monkeypatch.delattr(type(buffer), "_experimental_get_mapped_range", raising=False)
    uploader = Uploader(device, chunk_size=16384)
    for _ in range(3):
        uploader.write(buffer, batch)
    assert content(device, buffer) == pack(batch).tobytes()


class OtherQueue:
    """A queue of a wgpu-py whose private names are others."""

    def __init__(self, queue: Any) -> None:
        self.write_buffer = queue.write_buffer


def test_small_writes_without_the_private_names(device: Any) -> None:
    buffer = device.create_buffer(size=16, usage=USAGE)
    memory = np.arange(32, dtype=np.uint8)
    for queue in (device.queue, OtherQueue(device.queue)):
        write_from(SimpleNamespace(queue=queue), memory)(buffer, 4, 8, 8)
        assert content(device, buffer) == bytes(4) + memory[8:16].tobytes() + bytes(4)
        device.queue.write_buffer(buffer, 0, bytes(16))
        with pytest.raises(gpu_errors() if queue is device.queue else ValueError):
            write_from(SimpleNamespace(queue=queue), memory)(buffer, 12, 0, 8)
        assert content(device, buffer) == bytes(16)


def test_a_record_larger_than_a_chunk(device: Any) -> None:
    T = array[vec4f, 1000]
    values = np.random.default_rng(0).random((3, 1000, 4), np.float32)
    buffer = device.create_buffer(size=48_000, usage=USAGE)
    uploader = Uploader(device, chunk_size=4096)
    uploader.write(buffer, T(values))
    assert content(device, buffer) == values.tobytes()
    assert uploader.staging_bytes <= 4 * 4096


def test_staging_is_bounded(device: Any) -> None:
    uploader = Uploader(device, chunk_size=65536, chunks=3)
    buffer = device.create_buffer(size=48 * 200_000, usage=USAGE)
    for _ in range(5):
        uploader.write(buffer, particles(200_000))
    assert 0 < uploader.staging_bytes <= 3 * 65536
    uploader.close()
    assert uploader.staging_bytes == 0
    uploader.write(buffer, particles(10_000))
    assert content(device, buffer)[: 48 * 10_000] == pack(particles(10_000)).tobytes()


def test_order_is_the_order_of_the_calls(device: Any) -> None:
    """Writes, large and small, against the caller's own submits: each sees those before it."""
    buffer = device.create_buffer(size=4 * 100_000, usage=USAGE)
    copies = [device.create_buffer(size=4 * 100_000, usage=USAGE) for _ in range(6)]
    uploader = Uploader(device, chunk_size=65536, small_bytes=1024)
    for k, copy in enumerate(copies):
        if k % 2:
            uploader.write(buffer, u32(np.full(100_000, k)))
        else:
            uploader.write(buffer, u32(np.full(200, k)), 400)
        encoder = device.create_command_encoder()
        encoder.copy_buffer_to_buffer(buffer, 0, copy, 0, 4 * 100_000)
        device.queue.submit([encoder.finish()])
    for k, copy in enumerate(copies):
        found = np.frombuffer(content(device, copy), np.uint32)
        expected = np.full(100_000, max(0, k - 1 + k % 2))
        expected[100:300] = k
        np.testing.assert_array_equal(found, expected)


def test_a_callers_encoder(device: Any) -> None:
    buffer = device.create_buffer(size=48 * 20_000, usage=USAGE)
    seen = device.create_buffer(size=48 * 20_000, usage=USAGE)
    uploader = Uploader(device, chunk_size=65536)
    first, second = particles(20_000), particles(20_000)
    encoder = device.create_command_encoder()
    uploader.write(buffer, first, encoder=encoder)
    encoder.copy_buffer_to_buffer(buffer, 0, seen, 0, 48 * 20_000)
    uploader.write(buffer, second[:10], encoder=encoder)
    assert not any(content(device, buffer))
    assert uploader.staging_bytes >= 48 * 20_000
    device.queue.submit([encoder.finish()])
    uploader.recall()
    assert uploader.staging_bytes == 0
    assert content(device, seen) == pack(first).tobytes()
    assert content(device, buffer)[:480] == pack(second[:10]).tobytes()


def test_an_encoder_cannot_keep_half_words(device: Any) -> None:
    buffer = device.create_buffer(size=16, usage=USAGE)
    encoder = device.create_command_encoder()
    with pytest.raises(BindingError, match="start and end at multiples of 4 bytes"):
        Uploader(device).write(buffer, f16([1, 2, 3]), encoder=encoder)
    encoder.finish()


def test_halves_beside_a_write_are_kept(device: Any) -> None:
    data = np.arange(10, dtype=np.float16)
    for small in (0, 1000):
        buffer = device.create_buffer_with_data(data=data, usage=USAGE)
        Uploader(device, small_bytes=small).write(buffer, f16([100, 101, 102]), 4)
        expected = data.copy()
        expected[2:5] = [100, 101, 102]
        np.testing.assert_array_equal(np.frombuffer(content(device, buffer), np.float16), expected)


@pytest.mark.parametrize("bad", [0, 1, 70_000, 199_999])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_value_that_does_not_fit_leaves_the_buffer_alone(device: Any, bad: int, threads: int) -> None:
    good = particles(200_000)
    buffer = device.create_buffer(size=48 * 200_000, usage=USAGE)
    uploader = Uploader(device, chunk_size=1 << 20, threads=threads)
    uploader.write(buffer, good)
    life = np.zeros(200_000)
    life[bad] = 1e300
    columns = {name: getattr(good, name) for name in Particle.__members__}
    for n in (bad + 1, 200_000):
        wrong = Particle(**{**columns, "life": life})[:n]
        with pytest.raises(SourceError, match=rf"a finite value must stay finite in f32 .* at Particle\.life\[{bad}\]"):
            uploader.write(buffer, wrong)
    assert content(device, buffer) == pack(good).tobytes()
    uploader.write(buffer, good[::-1])
    assert content(device, buffer) == pack(good[::-1]).tobytes()


def test_an_exception_in_the_middle_leaves_the_ring_usable(device: Any) -> None:
    buffer = device.create_buffer(size=48 * 50_000, usage=USAGE)
    uploader = Uploader(device, chunk_size=65536, chunks=2)
    batch = particles(50_000)

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            uploader.write(buffer, batch, progress=stop)
    uploader.write(buffer, batch)
    assert content(device, buffer) == pack(batch).tobytes()
    assert uploader.staging_bytes <= 2 * 65536


def test_progress_counts_to_the_end(device: Any) -> None:
    buffer = device.create_buffer(size=48 * 50_000, usage=USAGE)
    for n in (0, 10, 50_000):
        seen: list[tuple[int, int]] = []
        Uploader(device, chunk_size=65536).write(
            buffer, particles(n), progress=lambda *done, seen=seen: seen.append(done)
        )
        assert seen == sorted(seen)
        assert (seen[-1] if seen else (0, 0)) == (n, n)
    assert len(seen) > 10


def test_progress_covers_the_checking(device: Any) -> None:
    """Of columns that may fail and outgrow the staging memory: half of the count, before the first byte is sent."""
    buffer = device.create_buffer(size=48 * 50_000, usage=USAGE)
    uploader, batch = Uploader(device, chunk_size=65536, chunks=2), particles(50_000, np.float64)
    uploader.write(buffer, batch)
    before = content(device, buffer)
    changed = Particle(**{name: getattr(batch, name)[::-1].copy() for name in Particle.__members__})
    seen: list[int] = []

    def look(done: int, total: int) -> None:
        seen.append(done)
        assert total == 50_000
        if done <= total // 2:
            assert content(device, buffer) == before

    uploader.write(buffer, changed, progress=look)
    assert seen == sorted(seen)
    assert 25_000 in seen
    assert seen[-1] == 50_000
    changed.life[-1] = 1e300
    seen.clear()
    with pytest.raises(SourceError, match=r"Particle\.life\[49999\]"):
        uploader.write(buffer, changed, progress=look)
    assert not seen or seen[-1] < 25_000


def test_a_file_is_read_once_across_a_bus(device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a device that reports separate memory, the records go to a second buffer, and no value is checked first."""
    monkeypatch.setattr(transfers, "SEPARATE_MEMORY", {device.adapter.info["adapter_type"]})
    monkeypatch.setattr(memory_mapped, "LARGE_BYTES", 1)
    n = 50_000
    np.arange(n, dtype=np.float64).tofile(tmp_path / "column")
    column = np.memmap(tmp_path / "column", np.float64, "r+")
    buffer = device.create_buffer(size=4 * n, usage=USAGE)
    uploader = Uploader(device, chunk_size=4096, chunks=2, small_bytes=0)
    seen: list[tuple[int, int]] = []
    checks: list[Any] = []
    monkeypatch.setattr(packer, "check_spans", lambda *args: checks.append(args))
    uploader.write(buffer, f32(column), progress=lambda *done: seen.append(done))
    assert content(device, buffer) == column.astype(np.float32).tobytes()
    assert not checks
    assert seen[-1] == (n, n)
    assert seen[0][0] > 0
    column[-1] = 1e300
    with pytest.raises(SourceError, match=r"f32\[49999\]"):
        uploader.write(buffer, f32(column))
    assert content(device, buffer) == np.arange(n, dtype=np.float32).tobytes()
    # In memory, the same column is checked first.
    uploader.write(buffer, f32(np.zeros(n)))
    assert len(checks) == 1


def test_refused_buffers(device: Any, fresh: Any) -> None:
    batch = u32([1, 2, 3, 4])
    plain = device.create_buffer(size=16, usage=wgpu.BufferUsage.STORAGE)
    good = device.create_buffer(size=16, usage=USAGE)
    mapped = device.create_buffer(size=16, usage=USAGE, mapped_at_creation=True)
    foreign = fresh.create_buffer(size=16, usage=USAGE)
    for buffer, offset, words in [
        (b"bytes", 0, "write takes a wgpu buffer"),
        (plain, 0, "the buffer needs usage COPY_DST .current: STORAGE."),
        (mapped, 0, "the buffer must be unmapped .current: mapped."),
        (foreign, 0, "the buffer must belong to the device"),
        (good, 4, "the buffer must hold 16 bytes from offset 4 .current: 16 bytes."),
        (good, 2, "offset must be a multiple of 4"),
        (good, -4, "offset must be a multiple of 4"),
        (good, "0", "offset must be a multiple of 4"),
    ]:
        with pytest.raises(BindingError, match=words):
            write_buffer(device, buffer, batch, offset)
    with pytest.raises(BindingError, match="needs usage COPY_SRC"):
        read_buffer(device, plain, u32)
    with pytest.raises(BindingError, match="must belong to the device"):
        read_buffer(device, foreign, u32)
    with pytest.raises(BindingError, match="count must be a whole number from 0 to 4"):
        read_buffer(device, good, u32, count=5)
    write_buffer(device.queue, good, batch)
    assert np.asarray(read_buffer(device.queue, good, u32)).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("n", [4, 100_000])
def test_a_destroyed_buffer(device: Any, n: int) -> None:
    buffer = device.create_buffer(size=48 * n, usage=USAGE)
    buffer.destroy()
    uploader = Uploader(device, chunk_size=1 << 20)
    for _ in range(6):
        with pytest.raises(BindingError, match="must be alive"):
            uploader.write(buffer, particles(n))
        with pytest.raises(BindingError, match="must be alive"):
            read_buffer(device, buffer, Particle)
    alive = device.create_buffer(size=48 * n, usage=USAGE)
    uploader.write(alive, particles(n))
    assert content(device, alive) == pack(particles(n)).tobytes()


@pytest.mark.parametrize("n", [4, 100_000])
def test_a_lost_device(fresh: Any, n: int) -> None:
    records = RecordBuffer(fresh, Particle, n, uploader=Uploader(fresh, chunk_size=1 << 20))
    records.write(particles(n))
    reading = records.read_async()
    fresh.destroy()
    acts = [
        lambda: records.write(particles(n)),
        lambda: records.read(),
        lambda: records.resize(2 * n),
        lambda: records.clear(),
        lambda: RecordBuffer(fresh, Particle, 5).write(particles(5)),
        lambda: reading.result(),
    ]
    for act in acts:
        with pytest.raises(BindingError, match="must be alive"):
            act()


def test_threads_that_upload_at_once(device: Any) -> None:
    """Each thread's records arrive whole, through one uploader and through the device's own."""
    uploader = Uploader(device, chunk_size=65536, chunks=3)
    buffers = [RecordBuffer(device, Particle, 20_000, uploader=uploader if k % 2 else None) for k in range(6)]
    failures: list[BaseException] = []

    def work(k: int) -> None:
        try:
            rng = np.random.default_rng(k)
            for _ in range(8):
                n = int(rng.integers(1, 20_000))
                batch = particles(n)
                buffers[k].write(batch)
                assert pack(buffers[k].read()).tobytes() == pack(batch).tobytes()
                # Scattered records share a shader's buffers between threads.
                chosen = rng.permutation(20_000)[:100]
                buffers[k].write(particles(100), where=chosen)
                assert pack(buffers[k].read(0, 20_000)[chosen]).tobytes() == pack(particles(100)).tobytes()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_readings(device: Any) -> None:
    records = RecordBuffer(device, u32, 300_000)
    first = np.arange(300_000)
    records.write(u32(first))
    readings = [records.read_async(), records.read_async(5, 10)]
    records.write(u32(first[::-1]))
    while not all(reading.done for reading in readings):
        pass
    np.testing.assert_array_equal(np.asarray(readings[0].result()), first)
    assert np.asarray(readings[1].result()).tolist() == [5, 6, 7, 8, 9]
    assert readings[0].result() is readings[0].result()


def test_await_does_not_block(device: Any) -> None:
    records = RecordBuffer(device, u32, 100_000)
    records.write(u32(np.arange(100_000)))

    async def frames() -> tuple[int, Any]:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(others())
        await asyncio.sleep(0)
        got = await records.read_async(99_990)
        task.cancel()
        return turns, got

    turns, got = asyncio.run(frames())
    assert turns > 0
    assert np.asarray(got).tolist() == list(range(99_990, 100_000))
    # Begun outside the loop, awaited inside.
    reading = records.read_async(0, 3)

    async def later() -> Any:
        return await reading

    assert np.asarray(asyncio.run(later())).tolist() == [0, 1, 2]


STREAM = """
import os, resource, sys
import numpy as np
import wgpu
from gpustruct import Struct, f32, u32, vec3f, vec4f
from gpustruct.gpu import RecordBuffer, Uploader

class Particle(Struct):
    position: vec3f
    life: f32
    velocity: vec3f
    id: u32
    color: vec4f

def resident():
    with open("/proc/self/status") as lines:
        return {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "VmHWM"))}

n = int(sys.argv[2])
layout = np.dtype([("position", "f4", 3), ("life", "f4"), ("velocity", "f4", 3), ("id", "u4"), ("color", "f4", 4)])
file = np.memmap(sys.argv[1], layout, "r", shape=(n,))
batch = Particle(**{name: file[name] for name in layout.names})
device = wgpu.gpu.request_adapter_sync().request_device_sync()
# A device with separate memory has more staging memory by default.
uploader = Uploader(device, chunk_size=8 << 20, chunks=4)
records = RecordBuffer(device, Particle, n, uploader=uploader)
# The buffer itself is in this process's memory on a software device: touched before the count starts.
records.clear()
records.read(n - 1, n)
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before = resident()
calls = []
records.write(batch, progress=lambda done, total: calls.append(done))
after = resident()
assert calls[-1] == n and len(calls) > 10, calls
for start in (0, n // 2, n - 1):
    assert records.read(start, start + 1).id[0] == start % 2**32, start
print(after["VmHWM"] - before["VmRSS"])
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs Linux's /proc to measure memory")
def test_a_file_larger_than_the_bound_streams_through(device: Any, tmp_path: Path) -> None:
    """1 GB of records from a memmap: peak memory over the start stays within 64 MiB."""
    n = (1 << 30) // 48
    path = tmp_path / "particles"
    with open(path, "wb") as file:
        file.truncate(48 * n)
    mapped = np.memmap(path, np.uint32, "r+", shape=(n, 12))
    mapped[:, 7] = np.arange(n)
    mapped.flush()
    del mapped
    told = subprocess.run(
        [sys.executable, "-c", STREAM, str(path), str(n)], capture_output=True, text=True, env=os.environ, check=False
    )
    assert told.returncode == 0, told.stderr
    assert int(told.stdout) <= 64 << 10, f"{int(told.stdout) >> 10} MiB"


def objects() -> int:
    gc.collect()
    # By its type: `isinstance` also asks the thing itself, and some of other packages' answer with a warning.
    return sum(issubclass(type(thing), wgpu.GPUObjectBase) for thing in gc.get_objects())


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.timeout(300)
def test_ten_thousand_frames(device: Any) -> None:
    """Writes and reads, small and through chunks: no growth of memory or of live wgpu objects."""
    uploader = Uploader(device, chunk_size=16384, chunks=3)
    records = RecordBuffer(device, Particle, 1000, uploader=uploader)
    batch = particles(1000)

    def frame(k: int) -> None:
        if k % 10 == 0:
            records.write(batch)
        records.write(batch[k % 900 : k % 900 + 30], start=k % 900)
        records.write(batch[:3], where=[1, 5, k % 900 + 9])
        if k % 4 == 0:
            reading = records.read_async(0, 10)
            records.read(k % 900, k % 900 + 5)
            reading.result()

    for k in range(1000):
        frame(k)
    before, memory = objects(), resident()
    for k in range(10_000):
        frame(k)
    assert objects() <= before + 2
    if sys.platform == "linux":
        assert resident() - memory < 8 << 20


@pytest.mark.parametrize(("kind", "most"), [("DiscreteGPU", 4), ("IntegratedGPU", 8), ("CPU", 8)])
def test_no_more_threads_than_the_bus_can_use(
    device: Any, kind: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = SimpleNamespace(adapter=SimpleNamespace(info={"adapter_type": kind}), queue=device.queue)
    monkeypatch.setattr(threads, "choose", lambda size, least, asked: 64 if asked is None else asked)
    assert Transfers(device, StagingPool(device, 4096, 2), None, 4096)._workers(1 << 30) == most
    assert Transfers(device, StagingPool(device, 4096, 2), 16, 4096)._workers(1 << 30) == 16


def test_a_read_takes_memory_that_is_large_enough(device: Any) -> None:
    values = np.arange(5000, dtype=np.uint32)
    buffer = device.create_buffer_with_data(data=values, usage=wgpu.BufferUsage.COPY_SRC)
    for count in (3, 5000, 1500, 2):
        assert np.array_equal(read_buffer(device, buffer, u32, count), values[:count])


def test_records_that_end_in_half_a_word_are_not_read(device: Any) -> None:
    """Copies are whole words, and those at the end of this buffer are only four records."""
    usage = wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
    buffer = device.create_buffer(size=10, usage=usage)
    write_buffer(device, buffer, f16([1, 2, 3, 4]))
    assert np.asarray(read_buffer(device, buffer, f16)).tolist() == [1, 2, 3, 4]


def test_memory_that_reads_keep_is_bounded(device: Any) -> None:
    buffer = device.create_buffer_with_data(data=np.arange(9000, dtype=np.uint32), usage=wgpu.BufferUsage.COPY_SRC)
    reader = Reader(device)
    reader._chunk_size, reader._count = 16384, 2
    for count in (1000, 2000, 4000, 9000, 1000):
        reader.read(buffer, empty_batch(u32, count), 0)
        assert sum(chunk.size for chunk in reader._spare) <= 2 * 16384
