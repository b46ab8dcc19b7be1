"""The device half: how long until Particles from columns are in a storage buffer, each way with a wait for the device."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from measuring import Timer, alternate, no_collection, ratio, timer
from records import PARTICLE, Case

from gpustruct.gpu import RecordBuffer
from gpustruct.workloads import Particle

# Without it the Vulkan loader writes an error line to stderr.
if "XDG_RUNTIME_DIR" not in os.environ:
    os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="gpustruct-runtime-")

Call = Callable[[], Any]
OURS = "gpustruct, RecordBuffer.write"
ENDS = 1000


class Target(NamedTuple):
    """What a way works with: the values, the device and the buffer that they go to."""

    case: Case
    device: Any
    records: RecordBuffer

    @property
    def buffer(self) -> Any:
        return self.records.buffer

    def ready(self) -> np.ndarray:
        return self.case.expected


def gpustruct_live(target: Target) -> Call:
    batch = Particle(**target.case.columns)
    return lambda: target.records.write(batch)


def gpustruct_fresh(target: Target) -> Call:
    return lambda: target.records.write(Particle(**target.case.columns))


def ready_bytes(target: Target) -> Call:
    data, queue = target.ready(), target.device.queue
    return lambda: queue.write_buffer(target.buffer, 0, data)


def numpy_live(target: Target) -> Call:
    records = np.zeros(target.case.count, PARTICLE.dtype)

    def call() -> None:
        for name, column in target.case.columns.items():
            records[name] = column
        target.device.queue.write_buffer(target.buffer, 0, records)

    return call


def numpy_fresh(target: Target) -> Call:
    def call() -> None:
        records = np.empty(target.case.count, PARTICLE.dtype)
        for name, column in target.case.columns.items():
            records[name] = column
        target.device.queue.write_buffer(target.buffer, 0, records)

    return call


def copy_over(target: Target, staging: Any) -> None:
    encoder = target.device.create_command_encoder()
    encoder.copy_buffer_to_buffer(staging, 0, target.buffer, 0, target.case.out.size)
    target.device.queue.submit([encoder.finish()])


def mapped_live(target: Target) -> Call:
    """A staging buffer that is kept, and mapped for each write."""
    data = target.ready()
    staging = target.device.create_buffer(size=data.size, usage="MAP_WRITE | COPY_SRC")

    def call() -> None:
        staging.map_sync("WRITE")
        staging.write_mapped(data)
        staging.unmap()
        copy_over(target, staging)

    return call


def mapped_fresh(target: Target) -> Call:
    """A staging buffer for each write, mapped when it is made."""
    data = target.ready()

    def call() -> None:
        staging = target.device.create_buffer(size=data.size, usage="COPY_SRC", mapped_at_creation=True)
        staging.write_mapped(data)
        staging.unmap()
        copy_over(target, staging)

    return call


def mapped_numpy_live(target: Target) -> Call:
    records = np.zeros(target.case.count, PARTICLE.dtype)
    staging = target.device.create_buffer(size=records.nbytes, usage="MAP_WRITE | COPY_SRC")

    def call() -> None:
        for name, column in target.case.columns.items():
            records[name] = column
        staging.map_sync("WRITE")
        staging.write_mapped(records)
        staging.unmap()
        copy_over(target, staging)

    return call


WAYS: dict[str, dict[str, Callable[[Target], Call]]] = {
    OURS: {"live": gpustruct_live, "fresh": gpustruct_fresh},
    "write_buffer of ready bytes": {"live": ready_bytes},
    "mapped by hand, ready bytes": {"live": mapped_live, "fresh": mapped_fresh},
    "numpy, then write_buffer": {"live": numpy_live, "fresh": numpy_fresh},
    "numpy, then mapped by hand": {"live": mapped_numpy_live},
}


def find_device() -> Any:
    """The fastest adapter's device, with large buffers. Raises if there is none."""
    import wgpu

    adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    wanted = ("max-buffer-size", "max-storage-buffer-binding-size")
    return adapter.request_device_sync(required_limits={name: min(adapter.limits[name], 1 << 30) for name in wanted})


def waiting(device: Any) -> Call:
    """Waits until the device has done everything: through a copy of 4 bytes that is mapped."""
    source = device.create_buffer(size=4, usage="COPY_SRC")
    target = device.create_buffer(size=4, usage="MAP_READ | COPY_DST")

    def wait() -> None:
        encoder = device.create_command_encoder()
        encoder.copy_buffer_to_buffer(source, 0, target, 0, 4)
        device.queue.submit([encoder.finish()])
        target.map_sync("READ")
        target.unmap()

    return wait


def measure(device: Any, sizes: list[int], tell: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """Milliseconds of each way for each size, ratios to gpustruct, and which ways gave wrong bytes."""
    info = device.adapter.info
    adapter = f"{info['device']} ({info['backend_type']})"
    rows = {
        name: {"name": name, "live": {}, "fresh": {}, "live_ratio": {}, "fresh_ratio": {}, "wrong": ""} for name in WAYS
    }
    notes: list[str] = []
    for count in sizes:
        size = PARTICLE.stride * count
        most = device.limits["max-buffer-size"]
        if size > most:
            notes.append(f"{count:,} records need more than this device's largest buffer, {most:,} bytes.")
            continue
        tell(f"device, {count:,} records")
        measure_size(Case(PARTICLE, count), device, rows, tell)
    return {"adapter": adapter, "rows": list(rows.values()), "notes": notes}


def measure_size(case: Case, device: Any, rows: dict[str, Any], tell: Callable[[str], None]) -> None:
    target = Target(case, device, RecordBuffer(device, Particle, case.count))
    wait = waiting(device)
    timers: dict[tuple[str, str], Timer] = {}
    with no_collection():
        for name, sides in WAYS.items():
            for side, make in sides.items():
                tell(f"device, {case.count:,} records: {name}, {side}")
                call = make(target)
                device.queue.write_buffer(target.buffer, 0, np.zeros(case.out.size, np.uint8))
                call()
                if not arrived(target):
                    rows[name]["wrong"] = f"{side}, {case.count:,} records: other bytes"
                timers[name, side] = timer(lambda call=call: (call(), wait()))
        taken = alternate(timers, {})
    for (name, side), times in taken.items():
        rows[name][side][case.count] = statistics.median(times) * 1e3
        rows[name][f"{side}_ratio"][case.count] = ratio(times, taken[OURS, side])
    target.buffer.destroy()


def arrived(target: Target) -> bool:
    """Whether the first and the last records on the device are the right ones."""
    size = PARTICLE.stride * min(ENDS, target.case.count)
    queue, expected = target.device.queue, target.case.expected
    starts = (0, expected.size - size)
    return all(bytes(queue.read_buffer(target.buffer, k, size)) == expected[k : k + size].tobytes() for k in starts)
