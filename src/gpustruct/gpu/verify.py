"""verify: ask a device where it sees every scalar of a type, in both directions.

Every 2 bytes of the data hold a pattern of their own that is a normal f16 and half of a normal f32, so
a value that comes back says which byte it was read from.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import wgpu

from ..layout import round_up
from ..packing import pack
from ..types import Struct, layout_of
from ..unpacking import unpack
from . import devices
from .bindings import SMALLER_TYPE
from .commands import Dispatch, send
from .questions import Place, Walk, shader, walked

# 0x0400 to 0x7bff: normal as f16, and as the upper half of an f32.
LOWEST, PATTERNS = 0x0400, 0x7800
RECORDS = 3


@dataclass(frozen=True, slots=True)
class Fault:
    """A leaf that is not where the layout says, at its first wrong element.

    `how` is what was done: "storage read", "storage write" or "uniform read". `expected` is the layout's
    byte offset, `found` the device's, None where the value was in no known place. `wrong` of `total`
    scalars disagree.
    """

    where: str
    how: str
    expected: int
    found: int | None
    wrong: int
    total: int

    def __str__(self) -> str:
        verb = "writes" if self.how.endswith("write") else "reads"
        found = "padding or nothing known" if self.found is None else f"byte {self.found}"
        count = f", {self.wrong} of {self.total} scalars" if self.total > 1 else ""
        return f"{self.where}: the layout says byte {self.expected}, the device {verb} {found} ({self.how}{count})"


@dataclass(frozen=True, slots=True)
class Report:
    """What a device said about a type: true where every leaf is where the layout says.

    `checks` names what was compared, `scalars` counts it, `faults` lists what disagreed.
    """

    type: str
    device: str
    checks: tuple[str, ...]
    scalars: int
    faults: tuple[Fault, ...]
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.faults and not self.notes

    def __str__(self) -> str:
        done = f"{self.scalars} scalars on {self.device} ({', '.join(self.checks)})"
        if self:
            return f"{self.type}: every leaf is where the layout says; {done}"
        lines = [*(str(fault) for fault in self.faults), *self.notes]
        return "\n".join([f"{self.type}: {len(lines)} disagreements; {done}", *(f"  {line}" for line in lines)])


def _patterns(indices: np.ndarray) -> np.ndarray:
    return (LOWEST + indices % PATTERNS).astype(np.uint16)


def verify(T: Any, device: Any = None) -> Report:
    """Ask a device where it sees each scalar of `T`, and say which are not where the layout says.

    A shader written for `T` reads every leaf out of packed records, writes known values into every leaf of
    others, which are unpacked here, and reads ``arrayLength``: in storage, and in uniform where `T` is
    legal there. Arrays are looked at element by element, very long ones at both ends. `device` is a wgpu
    device, None for one of the preferred adapter; it needs shader-f16 where `T` does. The report is true
    where all agree, and prints itself.

    Raises LayoutError for what is no type; BindingError where the device lacks a feature or `T` exceeds
    its limits. WGSL §14.4 (memory layout), §17.4.1 (arrayLength).

    >>> from gpustruct import Struct, vec3f, f32
    >>> from gpustruct.gpu import verify
    >>> class Particle(Struct):
    ...     position: vec3f
    ...     life: f32
    >>> bool(verify(Particle))
    True
    """
    layout = layout_of(T)
    cls: Any = T if isinstance(T, type) else type(T)
    device = devices.default_device() if device is None else devices.device_of(device, "verify")
    devices.check_features(device, layout)
    runtime = layout.is_runtime_sized
    records = 1
    if runtime or layout.record_stride <= device.limits["max-storage-buffer-binding-size"] // RECORDS:
        records = next(n for n in itertools.count(RECORDS) if layout.representable(n))
    data_size = layout.binding_size(records)
    devices.check_limit(device, "max-storage-buffer-binding-size", data_size, layout.name, SMALLER_TYPE)
    walk = walked(layout, records)
    uniform = None
    if not layout.uniform_faults() and layout.size <= device.limits["max-uniform-buffer-binding-size"]:
        uniform = Walk(walk.most, walk.slots, uniform=True)
        uniform.visit(layout, "$seen", (), 0, ())
    source = pack(unpack(cls, _patterns(np.arange(data_size // 2)).view(np.uint8), count=records))
    source = np.concatenate([source, np.zeros(data_size - source.size, np.uint8)])
    given = _patterns(np.arange(2 * walk.slots) * 7 + 12345).view(np.uint32)
    for place in walk.places:
        if place.scalar == "f16":
            given[place.slot : place.slot + place.scalars] &= 0xFFFF
    try:
        length, found, target = _ask(device, cls, walk, uniform, source, given, runtime)
    except wgpu.GPUError as error:
        # A shader that a backend refuses is an answer too.
        message = " ".join(str(error).split())
        return Report(
            layout.name, device.adapter.info["device"], ("compile",), 0, (), (f"the shader was refused: {message}",)
        )
    faults = _misread(layout.name, "storage read", walk.places, found, source)
    checks = ["storage read", "storage write", f"arrayLength {records}"]
    if uniform is not None:
        checks.insert(2, "uniform read")
        faults += _misread(layout.name, "uniform read", uniform.places, found, source)
    notes: list[str] = []
    stored = unpack(cls, target, count=records)
    faults += _miswritten(layout.name, walk.places, stored, given, target)
    if not faults and pack(stored).tobytes() != target[: source.size].tobytes()[: pack(stored).size]:
        notes.append("the device wrote bytes that belong to no leaf")
    if length != records:
        notes.append(f"arrayLength: the layout says {records}, the device {length}")
    scalars = walk.slots + len(found)
    return Report(layout.name, device.adapter.info["device"], tuple(checks), scalars, tuple(faults), tuple(notes))


def _ask(
    device: Any, T: Any, walk: Walk, uniform: Walk | None, source: np.ndarray, given: np.ndarray, runtime: bool
) -> tuple[int, np.ndarray, np.ndarray]:
    """Run the shader: arrayLength, the bits that it read, and the bytes that it wrote."""
    total = walk.slots if uniform is None else uniform.slots
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    buffers = [
        device.create_buffer_with_data(data=source, usage=usage),
        device.create_buffer(size=4 * total + 4, usage=usage),
        device.create_buffer(size=source.size, usage=usage),
        device.create_buffer_with_data(data=given, usage=usage),
    ]
    if uniform is not None:
        size = round_up(16, layout_of(T).size)
        record = np.zeros(size, np.uint8)
        record[: min(size, source.size)] = source[:size]
        buffers.append(device.create_buffer_with_data(data=record, usage=wgpu.BufferUsage.UNIFORM))
    code = shader(T, walk, uniform, runtime)
    entry = re.findall(r"fn (device\w+)\(", code)[-1]
    compute = {"module": device.create_shader_module(code=code), "entry_point": entry}
    pipeline = device.create_compute_pipeline(layout="auto", compute=compute)
    resources = [{"buffer": buffer, "offset": 0, "size": buffer.size} for buffer in buffers]
    # Both of the buffers that it writes are new.
    send(device, buffers[1], [Dispatch(pipeline, resources, (1, 1, 1), 0, buffers[1].size)], function="verify")
    found = np.frombuffer(device.queue.read_buffer(buffers[1]), np.uint32)
    target = np.frombuffer(device.queue.read_buffer(buffers[2]), np.uint8)
    return int(found[-1]), found[:-1], target


def _column(batch: Any, path: tuple[str, ...]) -> Any:
    # A type that is no struct holds its one column, or the batch of its elements, under no name.
    while not isinstance(batch, Struct) and hasattr(batch, "__columns__"):
        batch = batch.__columns__[0]
    return _column(getattr(batch, path[0]), path[1:]) if path else batch


def _faults(name: str, how: str, place: Place, wrong: np.ndarray, found: int | None) -> Fault:
    at = tuple(int(k) for k in np.unravel_index(int(np.argmax(wrong)), wrong.shape)) if wrong.shape else ()
    index = "".join(f"[{axis.picked[k]}]" for axis, k in zip(place.axes, at, strict=True))
    where = ".".join((name, *place.path)) + index
    expected = int(place.offsets()[at])
    return Fault(where, how, expected, found, int(np.count_nonzero(wrong)), place.scalars)


def _misread(name: str, how: str, places: list[Place], found: np.ndarray, source: np.ndarray) -> list[Fault]:
    """Leaves whose values came from other bytes than the layout says."""
    faults: list[Fault] = []
    words = source.view(np.uint16)
    for place in places:
        bits, offsets = found[place.slot : place.slot + place.scalars].reshape(place.shape), place.offsets()
        expected = words[offsets // 2].astype(np.uint32)
        if place.scalar != "f16":
            expected |= words[offsets // 2 + 1].astype(np.uint32) << 16
        wrong = np.asarray(bits != expected)
        if wrong.any():
            first = int(np.argmax(wrong))
            faults.append(
                _faults(name, how, place, wrong, _nearest(source, bits.flat[first], place.scalar, offsets.flat[first]))
            )
    return faults


def _miswritten(name: str, places: list[Place], stored: Any, given: np.ndarray, target: np.ndarray) -> list[Fault]:
    """Leaves whose columns, unpacked from what the device wrote, hold other values than it was given."""
    faults: list[Fault] = []
    for place in places:
        expected = given[place.slot : place.slot + place.scalars].reshape(place.shape)
        wrong = np.asarray(place.bits(_column(stored, place.path)) != expected)
        if wrong.any():
            first = int(np.argmax(wrong))
            nearest = _nearest(target, expected.flat[first], place.scalar, place.offsets().flat[first])
            faults.append(_faults(name, "storage write", place, wrong, nearest))
    return faults


def _nearest(data: np.ndarray, bits: Any, scalar: str, expected: Any) -> int | None:
    """The byte nearest to `expected` at which `data` holds `bits`, if any does."""
    words: Iterator[int] | Any = data.view(np.uint16).astype(np.uint32)
    if scalar != "f16":
        words = words[:-1] | words[1:] << 16
    places = 2 * np.flatnonzero(words == bits) if bits else np.empty(0, np.int64)
    return int(places[np.argmin(np.abs(places - expected))]) if places.size else None
