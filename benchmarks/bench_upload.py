"""The way to the device and back: ratios within one run, sides alternating, medians.

    python benchmarks/bench_upload.py [--json FILE] [--quick] [--only PART ...]

Prints the device rows of docs/performance.md, then what the constants of gpustruct.gpu were chosen from:
chunk sizes, plain against streaming stores, the switch from wgpu's write_buffer to staging, from copy
commands to the shader that scatters. Every time includes waiting until the device has the data.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import wgpu

from gpustruct import _kernel, dtype_of, pack
from gpustruct.gpu import RecordBuffer, Uploader, packer
from gpustruct.gpu.chunking import chunk_plans, spans_of
from gpustruct.gpu.packer import Packing
from gpustruct.gpu.readback import empty_batch
from gpustruct.gpu.staging import Chunk, StagingPool, _order
from gpustruct.packing import bind
from gpustruct.workloads import Particle, columns, make

MIB = 1 << 20
NAMES = tuple(Particle.__members__)
STRUCTURED = dtype_of(Particle)
Side = Callable[[], object]


def device_with_room() -> Any:
    adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    wanted = ("max-buffer-size", "max-storage-buffer-binding-size")
    limits = {name: min(adapter.limits[name], 1 << 30) for name in wanted}
    return adapter.request_device_sync(required_limits=limits)


class Waiting:
    """Waits for the device through a copy and a map of 4 bytes."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.source = device.create_buffer(size=4, usage=wgpu.BufferUsage.COPY_SRC)
        self.chunk = device.create_buffer(size=8, usage=wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST)

    def __call__(self) -> None:
        encoder = self.device.create_command_encoder()
        encoder.copy_buffer_to_buffer(self.source, 0, self.chunk, 0, 4)
        self.device.queue.submit([encoder.finish()])
        self.chunk.map_async("READ_NOSYNC").sync_wait()
        self.chunk.unmap()


def alternate(sides: dict[str, Side], repeats: int = 7, seconds: float = 6.0) -> dict[str, float]:
    """Median milliseconds of each side, all sides once in turn, after two rounds that do not count; at least 5 turns, fewer than `repeats` if slow."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for side in (*sides.values(), *sides.values()):
        side()
    begun = time.perf_counter()
    for turn in range(repeats):
        if turn >= 5 and time.perf_counter() - begun > seconds:
            break
        for name, side in sides.items():
            start = time.perf_counter()
            side()
            times[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def show(title: str, medians: dict[str, float], against: tuple[str, ...] = (), nbytes: int = 0) -> dict[str, Any]:
    print(f"\n{title}")
    width = max(map(len, medians))
    for name, value in medians.items():
        ratios = "".join(f"   {medians[base] / value:6.2f} x {base}" for base in against if base != name)
        rate = f"   {nbytes / value / 1e6:6.2f} GB/s" if nbytes else ""
        print(f"  {name:<{width}}  {value:9.3f} ms{rate}{ratios}")
    return {"title": title, "medians_ms": medians, "bytes": nbytes}


class LatePool(StagingPool):
    """A pool that maps a chunk when it is wanted again, not ahead of that: what mapping ahead is worth."""

    def release(self, chunk: Chunk) -> None:
        chunk.order = next(_order)
        chunk.in_use = False

    def acquire(self, size: int) -> Chunk:
        free = sorted((chunk for chunk in self._chunks if not chunk.in_use), key=lambda chunk: chunk.order)
        if free and free[0].buffer.map_state == "unmapped":
            order = free[0].order
            free[0].map_again()
            free[0].order = order
        return super().acquire(size)


class Bench:
    def __init__(self, quick: bool) -> None:
        self.quick = quick
        self.device = device_with_room()
        self.wait = Waiting(self.device)
        self.results: list[dict[str, Any]] = []
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.threads = [count for count in (1, 2, 4, 8, 16) if count <= max(2, cores)] or [1]
        if cores < 8:
            self.threads = sorted({1, cores})

    def show(self, *args: Any, **options: Any) -> None:
        self.results.append(show(*args, **options))

    def up(self, n: int, flavour: Literal["f32", "f64"] = "f32") -> None:
        """The rows of the table: columns to a storage buffer."""
        data = columns(Particle, n, flavour)
        batch = Particle(**data)
        packed = pack(batch)
        structured = np.zeros(n, STRUCTURED)
        buffer = self.device.create_buffer(
            size=48 * n, usage=wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC
        )
        queue = self.device.queue

        def numpy_way() -> None:
            for name in NAMES:
                structured[name] = data[name]
            queue.write_buffer(buffer, 0, structured)
            self.wait()

        def bytes_way() -> None:
            queue.write_buffer(buffer, 0, packed)
            self.wait()

        def uploader_way(uploader: Uploader) -> Side:
            def run() -> None:
                uploader.write(buffer, batch)
                self.wait()

            return run

        sides: dict[str, Side] = {"numpy + write_buffer": numpy_way, "write_buffer of packed bytes": bytes_way}
        for count in (*self.threads, None):
            name = "Uploader" if count is None else f"Uploader, {count} thread{'s' * (count > 1)}"
            sides[name] = uploader_way(Uploader(self.device, threads=count))
        kind = "float32" if flavour == "f32" else "float64 and int64"
        against = ("numpy + write_buffer", "write_buffer of packed bytes")
        self.show(f"up: {n:,} Particle from {kind} columns", alternate(sides), against, nbytes=48 * n)
        assert bytes(queue.read_buffer(buffer, 0, 4800)) == packed[:4800].tobytes()
        buffer.destroy()

    def back(self, n: int) -> None:
        records = RecordBuffer(self.device, Particle, n)
        records.write(make(Particle, n))
        out = empty_batch(Particle, n)
        mine = {name: np.empty((n, *STRUCTURED[name].shape), STRUCTURED[name].base) for name in NAMES}

        def numpy_way() -> None:
            found = np.frombuffer(self.device.queue.read_buffer(records.buffer), STRUCTURED)
            for name in NAMES:
                mine[name][...] = found[name]

        sides: dict[str, Side] = {
            "read_buffer + numpy copies": numpy_way,
            "read(out=)": lambda: records.read(out=out),
            "read()": lambda: records.read(),
        }
        self.show(f"back: {n:,} Particle to columns", alternate(sides), ("read_buffer + numpy copies",), nbytes=48 * n)
        np.testing.assert_array_equal(out.color, mine["color"])
        records.buffer.destroy()

    def chunks(self, n: int) -> None:
        batch = make(Particle, n)
        buffer = self.device.create_buffer(size=48 * n, usage=wgpu.BufferUsage.COPY_DST)
        sizes = (4, 16) if self.quick else (2, 4, 8, 16, 32, 64)
        for threads in self.threads:
            sides: dict[str, Side] = {}
            for size in sizes:
                for count in (2, 4) if threads == self.threads[-1] else (4,):
                    uploader = Uploader(self.device, chunk_size=size * MIB, chunks=count, threads=threads)

                    def run(uploader: Uploader = uploader) -> None:
                        uploader.write(buffer, batch)
                        self.wait()

                    sides[f"{size} MiB x {count}"] = run
            self.show(f"chunks: {n:,} Particle, {threads} threads", alternate(sides, 5), nbytes=48 * n)
        buffer.destroy()

    def mapping(self, n: int) -> None:
        batch = make(Particle, n)
        buffer = self.device.create_buffer(size=48 * n, usage=wgpu.BufferUsage.COPY_DST)
        sides: dict[str, Side] = {}
        for threads in (self.threads[0], self.threads[-1]):
            for size, count in ((8, 4), (32, 4)):
                for name, kind in (("ahead", StagingPool), ("on reuse", LatePool)):
                    uploader = Uploader(self.device, threads=threads)
                    uploader.transfers.pool = kind(self.device, size * MIB, count)

                    def run(uploader: Uploader = uploader) -> None:
                        uploader.write(buffer, batch)
                        self.wait()

                    sides[f"{size} MiB x {count}, {threads} threads, mapped {name}"] = run
        self.show(f"mapping: {n:,} Particle", alternate(sides, 5), nbytes=48 * n)
        buffer.destroy()

    def stores(self, n: int) -> None:
        batch = make(Particle, n)
        buffer = self.device.create_buffer(size=48 * n, usage=wgpu.BufferUsage.COPY_DST)
        sides: dict[str, Side] = {}
        for threads in self.threads:
            for name, mode in (("plain", _kernel.MODE_PLAIN), ("streaming", _kernel.MODE_STREAM)):
                uploader = Uploader(self.device, threads=threads)

                def run(uploader: Uploader = uploader, mode: int = mode) -> None:
                    packer.STORES = mode
                    uploader.write(buffer, batch)
                    self.wait()

                sides[f"{name}, {threads} threads"] = run
        packer.STORES = _kernel.MODE_STREAM
        self.show(f"stores into mapped memory: {n:,} Particle", alternate(sides, 5), nbytes=48 * n)
        buffer.destroy()

    def bus(self, n: int, size: int = 64 * MIB) -> None:
        """The parts of an upload by themselves: storing into mapped memory, the copy on the queue, the submits."""
        batch = make(Particle, n)
        plan = next(iter(chunk_plans(spans_of(bind(batch), 0), size)))
        chunk = Chunk(self.device, size)
        ordinary = np.zeros(size, np.uint8)
        sides: dict[str, Side] = {}
        mapped = chunk.open(size)
        for place, memory in (("ordinary memory", ordinary), ("mapped memory", mapped)):
            for count in self.threads:
                for name, mode in (("plain", _kernel.MODE_PLAIN), ("streaming", _kernel.MODE_STREAM)):

                    def run(memory: Any = memory, count: int = count, mode: int = mode) -> None:
                        packing = Packing(batch, plan, count, mode)
                        packing.begin(memory)
                        packing.finish()

                    sides[f"{place}, {name} stores, {count} threads"] = run
        self.show("bus: packing without an upload", alternate(sides, 15), nbytes=plan.size)
        del memory, mapped, sides, run
        chunk.close()

        usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC
        targets = [self.device.create_buffer(size=size, usage=usage) for _ in range(2)]

        def copies(source: Any, count: int, nbytes: int) -> Side:
            def run() -> None:
                encoder = self.device.create_command_encoder()
                for _ in range(count):
                    encoder.copy_buffer_to_buffer(source, 0, targets[1], 0, nbytes)
                self.device.queue.submit([encoder.finish()])
                self.wait()

            return run

        queue = {
            "from mapped memory": copies(chunk.buffer, 8, size),
            "on the device": copies(targets[0], 8, size),
        }
        self.show("bus: 8 copies in one submit", alternate(queue, 15), nbytes=8 * size)

        def map_only() -> None:
            chunk.map_again()
            chunk.wait()
            chunk.open(size)
            chunk.close()

        fixed = {
            "waiting for the device": self.wait,
            "a submit of 4 bytes, waited for": copies(chunk.buffer, 1, 4),
            "a submit of one chunk, waited for": copies(chunk.buffer, 1, size),
            "mapping a chunk and closing it": map_only,
        }
        self.show("bus: fixed costs", alternate(fixed, 25))
        for target in targets:
            target.destroy()
        chunk.buffer.destroy()

    def small(self) -> None:
        for size in (1 << 10, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 20, 1 << 22):
            n = size // 48
            batch = make(Particle, n)
            buffer = self.device.create_buffer(size=48 * n, usage=wgpu.BufferUsage.COPY_DST)
            sides: dict[str, Side] = {}
            for name, limit in (("write_buffer", 1 << 23), ("staging", 0)):
                uploader = Uploader(self.device, small_bytes=limit, threads=1)

                def run(uploader: Uploader = uploader, buffer: Any = buffer, batch: Any = batch) -> None:
                    for _ in range(20):
                        uploader.write(buffer, batch)
                    self.wait()

                sides[name] = run
            self.show(
                f"small: 20 writes of {size >> 10} KiB", alternate(sides, 9), ("write_buffer",), nbytes=20 * 48 * n
            )
            buffer.destroy()

    def frame(self, n: int, count: int = 20) -> None:
        """`count` writes of `n` records: each by itself, and in one frame; beside one such write."""
        batch = make(Particle, n)
        for where in ("separate buffers", "one buffer"):
            if where == "one buffer":
                whole = RecordBuffer(self.device, Particle, n * count)
                writes = [(whole, k * n) for k in range(count)]
            else:
                writes = [(RecordBuffer(self.device, Particle, n), 0) for _ in range(count)]
            uploader = Uploader.of(self.device)

            def one(writes: list[Any] = writes) -> None:
                writes[0][0].write(batch, start=0)
                self.wait()

            def each(writes: list[Any] = writes) -> None:
                for buffer, start in writes:
                    buffer.write(batch, start=start)
                self.wait()

            def frame(writes: list[Any] = writes, uploader: Uploader = uploader) -> None:
                with uploader.frame():
                    for buffer, start in writes:
                        buffer.write(batch, start=start)
                self.wait()

            sides: dict[str, Side] = {"one write": one, f"{count} writes": each, f"{count} writes in a frame": frame}
            self.show(f"frame: {n:,} records a write, {where}", alternate(sides, 41), ("one write",))
            for buffer, _ in writes:
                buffer.buffer.destroy()

    def where(self, n: int) -> None:
        rng = np.random.default_rng(1)
        batch = make(Particle, n)
        buffers = {
            "copies": RecordBuffer(self.device, Particle, n, device_side=False),
            "shader": RecordBuffer(self.device, Particle, n, device_side=True),
        }
        for runs in (8, 32, 128, 1024, 65536):
            chosen = np.sort(rng.choice(n, runs, replace=False))
            part = batch[chosen]
            sides: dict[str, Side] = {}
            for name, buffer in buffers.items():
                if name == "copies" and runs > 2000:
                    continue

                def run(buffer: RecordBuffer = buffer, part: Any = part, chosen: np.ndarray = chosen) -> None:
                    buffer.write(part, where=chosen)
                    self.wait()

                sides[name] = run
            self.show(f"where: {runs:,} scattered records", alternate(sides, 9))
        for buffer in buffers.values():
            buffer.buffer.destroy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the medians there too")
    parser.add_argument("--quick", action="store_true", help="one size, few chunk sizes")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="PART",
        help="up, back, up64, bus, stores, mapping, chunks, small, frame, where",
    )
    options = parser.parse_args()
    begun = time.perf_counter()
    bench = Bench(options.quick)
    info = bench.device.adapter.info
    facts = {
        "adapter": {name: info[name] for name in ("device", "description", "adapter_type", "backend_type")},
        "threads": bench.threads,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "wgpu": wgpu.__version__,
        "isa": _kernel.isa(),
    }
    print(" | ".join(f"{name}: {value}" for name, value in facts.items()))
    sizes = (100_000,) if options.quick else (100_000, 1_000_000, 5_000_000)
    largest = [n for n in sizes if 48 * n <= bench.device.limits["max-buffer-size"]]
    parts: dict[str, Callable[[], object]] = {
        "up": lambda: [bench.up(n) for n in largest],
        "back": lambda: [bench.back(n) for n in largest],
        "up64": lambda: bench.up(largest[-1] if options.quick else 1_000_000, "f64"),
        "bus": lambda: bench.bus(2_000_000),
        "stores": lambda: [bench.stores(n) for n in largest[-2:]],
        "mapping": lambda: [bench.mapping(n) for n in largest[-2:]],
        "chunks": lambda: [bench.chunks(n) for n in largest[-2:]],
        "small": bench.small,
        "frame": lambda: [bench.frame(n) for n in (10, 1_000)],
        "where": lambda: bench.where(largest[0]),
    }
    if unknown := {*options.only} - parts.keys():
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    for name, run in parts.items():
        if name in options.only or not options.only:
            run()
    print(f"\n{time.perf_counter() - begun:.0f} s in all")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({**facts, "results": bench.results}, file, indent=1)


if __name__ == "__main__":
    main()
