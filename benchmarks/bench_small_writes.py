"""Few records to the device: RecordBuffer.write beside numpy's assignment and queue.write_buffer; twenty writes in a frame.

    python benchmarks/bench_small_writes.py [--rounds 41]

After each call, outside the time that counts, the device takes what was written: otherwise wgpu keeps it all in new
memory until somebody submits, and the page faults of that cost several times what a write does.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import wgpu
from bench_upload import Waiting, device_with_room
from fresh_cases import SIZES, Row

from gpustruct import dtype_of, pack
from gpustruct.cli.bench import describe
from gpustruct.gpu import RecordBuffer, Uploader
from gpustruct.workloads import Particle, columns, make

# Most times numpy's assignment and queue.write_buffer, for a fresh batch.
GOALS = {1: 1.5, 100: 1.0, 1_000: 0.8, 10_000: 0.5}
# Most times queue.write_buffer, for one record of a batch that is kept; most times one write, for twenty in a frame.
LIVE_GOAL, FRAME_GOAL = 1.4, 5.0
FRAME_WRITES = 20


def alternate(sides: list[Callable[[], object]], wait: Callable[[], None], rounds: int) -> list[float]:
    """Median seconds of each side, all in turn; the device is idle before each."""
    times: list[list[float]] = [[] for _ in sides]
    for turn in range(rounds + 3):
        for side, taken in zip(sides, times, strict=True):
            start = time.perf_counter()
            side()
            if turn >= 3:
                taken.append(time.perf_counter() - start)
            wait()
    return [sorted(taken)[len(taken) // 2] for taken in times]


def write_rows(device: Any, wait: Callable[[], None], n: int, rounds: int) -> Iterator[Row]:
    values = columns(Particle, n, "f32")
    kept, rows = Particle(**values), np.zeros(n, dtype_of(Particle))
    packed = pack(kept)
    records = RecordBuffer(device, Particle, n)
    buffer, queue = records.buffer, device.queue

    def numpy_way() -> None:
        for name, column in values.items():
            rows[name] = column
        queue.write_buffer(buffer, 0, rows)

    sides: list[Callable[[], object]] = [
        numpy_way,
        lambda: records.write(Particle(**values)),
        lambda: records.write(kept),
        lambda: queue.write_buffer(buffer, 0, packed),
    ]
    theirs, fresh, live, alone = alternate(sides, wait, rounds)
    yield Row(f"fresh write, {n:,} records", fresh, fresh / theirs, "numpy and write_buffer", GOALS.get(n))
    yield Row(f"live write, {n:,} records", live, live / alone, "write_buffer", LIVE_GOAL if n == 1 else None)


def frame_rows(device: Any, wait: Callable[[], None], n: int, rounds: int) -> Iterator[Row]:
    kept, out = make(Particle, n), np.zeros(48 * n, np.uint8)
    buffers = [RecordBuffer(device, Particle, n) for _ in range(FRAME_WRITES)]
    uploader = Uploader.of(device)

    def frame() -> None:
        with uploader.frame():
            for buffer in buffers:
                buffer.write(kept)

    def apart() -> None:
        for buffer in buffers:
            buffer.write(kept)
        device.queue.submit([])

    def packed() -> None:
        for _ in buffers:
            pack(kept, out=out)

    sides = [lambda: buffers[0].write(kept), frame, apart, packed]
    one, together, each, packing = alternate(sides, wait, rounds)
    name = f"{FRAME_WRITES} writes of {n:,} records in a frame"
    yield Row(name, together, together / one, "one write", FRAME_GOAL if n == 1_000 else None)
    yield Row(name, together, together / each, "the same and a submit without a frame")
    yield Row(name, together, together / packing, "packing alone")


def device_rows(rounds: int) -> Iterator[Row]:
    device = device_with_room()
    wait = Waiting(device)
    for n in SIZES:
        yield from write_rows(device, wait, n, rounds)
    for n in (10, 1_000):
        yield from frame_rows(device, wait, n, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=41)
    args = parser.parse_args()
    print(describe(), wgpu.gpu.request_adapter_sync(power_preference="high-performance").info["device"])
    for row in device_rows(args.rounds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
