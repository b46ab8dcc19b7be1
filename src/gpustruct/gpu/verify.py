"""verify: compares a type's layout with a device's, for reads and for writes.

Every 2 bytes of the test data hold a different pattern, which is a normal f16 and half of a normal f32. So a value that the
device read tells which byte it was read from.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LayoutError
from ..formats import as_declared
from ..layout import is_host_shareable, round_up
from ..packing import pack
from ..types import Struct, layout_of
from ..unpacking import unpack
from . import devices
from .backend import BufferUsage, gpu_errors
from .bindings import SMALLER_TYPE
from .commands import Dispatch, send
from .probe_shader import Probe, ProbedLeaf, probe_of, shader

# 0x0400 to 0x7bff: normal as f16, and as the upper half of an f32.
LOWEST, PATTERNS = 0x0400, 0x7800
RECORDS = 3


@dataclass(frozen=True, slots=True)
class Fault:
    """A leaf whose offset on the device differs from the layout's, at its first wrong element.

    `how` is the access: "storage read", "storage write" or "uniform read". `expected` is the layout's byte offset, `found` the
    device's, or None if no byte has the value. `wrong` of `total` scalars disagree.
    """

    where: str
    how: str
    expected: int
    found: int | None
    wrong: int
    total: int

    def __str__(self) -> str:
        verb = "writes" if self.how.endswith("write") else "reads"
        found = "padding or an unknown byte" if self.found is None else f"byte {self.found}"
        count = f", {self.wrong} of {self.total} scalars" if self.total > 1 else ""
        return f"{self.where}: the layout says byte {self.expected}, the device {verb} {found} ({self.how}{count})"


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `verify`: true if every leaf has the offset that the layout says.

    `checks` names what was compared, `scalars` is how many scalars were, `faults` lists those that differ, and `notes` has
    whatever else is wrong.
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
    """Compare the layout of `T` with a device's, scalar by scalar.

    A generated shader reads every leaf of packed records, writes known values into every leaf of other records, which are
    unpacked and compared here, and reads ``arrayLength``. It does so in storage; and it reads in uniform, where `T` is legal there. All
    elements of arrays are compared, of very long ones both ends. `device` is a wgpu device, None for one of the preferred
    adapter; it needs shader-f16 if `T` does. The report is true if everything agrees, and prints itself.

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
    if not is_host_shareable(layout):
        raise LayoutError.of("vertex-type", function="verify", type=layout.name)
    cls: Any = as_declared(T if isinstance(T, type) else type(T))
    layout = layout_of(cls)
    device = devices.default_device() if device is None else devices.device_of(device, "verify")
    devices.check_features(device, layout)
    runtime = layout.is_runtime_sized
    records = 1
    if runtime or layout.record_stride <= device.limits["max-storage-buffer-binding-size"] // RECORDS:
        records = next(n for n in itertools.count(RECORDS) if layout.representable(n))
    data_size = layout.binding_size(records)
    devices.check_limit(device, "max-storage-buffer-binding-size", data_size, layout.name, SMALLER_TYPE)
    probe = probe_of(layout, records)
    uniform = None
    if not layout.uniform_faults() and layout.size <= device.limits["max-uniform-buffer-binding-size"]:
        uniform = Probe(probe.sampled, probe.scalar_count, copy_structs=True)
        uniform.add_type(layout, "$seen", (), 0, ())
    source = pack(unpack(cls, _patterns(np.arange(data_size // 2)).view(np.uint8), count=records))
    source = np.concatenate([source, np.zeros(data_size - source.size, np.uint8)])
    given = _patterns(np.arange(2 * probe.scalar_count) * 7 + 12345).view(np.uint32)
    for leaf in probe.leaves:
        if leaf.scalar == "f16":
            given[leaf.first : leaf.first + leaf.scalars] &= 0xFFFF
    try:
        length, found, target = _run(device, cls, probe, uniform, source, given)
    except gpu_errors() as error:
        # A backend that refuses the shader is reported as a disagreement.
        message = " ".join(str(error).split())
        return Report(
            layout.name, device.adapter.info["device"], ("compile",), 0, (), (f"the shader was refused: {message}",)
        )
    faults = _misread(layout.name, "storage read", probe.leaves, found, source)
    checks = ["storage read", "storage write", f"arrayLength {records}"]
    if uniform is not None:
        checks.insert(2, "uniform read")
        faults += _misread(layout.name, "uniform read", uniform.leaves, found, source)
    notes: list[str] = []
    stored = unpack(cls, target, count=records)
    faults += _miswritten(layout.name, probe.leaves, stored, given, target)
    if not faults and pack(stored).tobytes() != target[: source.size].tobytes()[: pack(stored).size]:
        notes.append("the device wrote bytes that belong to no leaf")
    if length != records:
        notes.append(f"arrayLength: the layout says {records}, the device {length}")
    scalars = probe.scalar_count + len(found)
    return Report(layout.name, device.adapter.info["device"], tuple(checks), scalars, tuple(faults), tuple(notes))


def _run(
    device: Any, T: Any, probe: Probe, uniform: Probe | None, source: np.ndarray, given: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """Run the shader. Returns arrayLength, the bits that it read, and the bytes that it wrote."""
    total = probe.scalar_count if uniform is None else uniform.scalar_count
    usage = BufferUsage.STORAGE | BufferUsage.COPY_SRC
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
        buffers.append(device.create_buffer_with_data(data=record, usage=BufferUsage.UNIFORM))
    code = shader(T, probe, uniform)
    entry = re.findall(r"fn (device\w+)\(", code)[-1]
    compute = {"module": device.create_shader_module(code=code), "entry_point": entry}
    pipeline = device.create_compute_pipeline(layout="auto", compute=compute)
    resources = [{"buffer": buffer, "offset": 0, "size": buffer.size} for buffer in buffers]
    # It also writes buffers[2], which is new: no view was sent there.
    send(device, buffers[1], [Dispatch(pipeline, resources, (1, 1, 1), 0, buffers[1].size)], function="verify")
    found = np.frombuffer(device.queue.read_buffer(buffers[1]), np.uint32)
    target = np.frombuffer(device.queue.read_buffer(buffers[2]), np.uint8)
    return int(found[-1]), found[:-1], target


def _column(batch: Any, path: tuple[str, ...]) -> Any:
    # A type other than a struct has one column without a name.
    while not isinstance(batch, Struct) and hasattr(batch, "__columns__"):
        batch = batch.__columns__[0]
    return _column(getattr(batch, path[0]), path[1:]) if path else batch


def _faults(name: str, how: str, leaf: ProbedLeaf, wrong: np.ndarray, found: int | None) -> Fault:
    at = tuple(int(k) for k in np.unravel_index(int(np.argmax(wrong)), wrong.shape)) if wrong.shape else ()
    index = "".join(f"[{axis.indices[k]}]" for axis, k in zip(leaf.axes, at, strict=True))
    where = ".".join((name, *leaf.path)) + index
    expected = int(leaf.offsets()[at])
    return Fault(where, how, expected, found, int(np.count_nonzero(wrong)), leaf.scalars)


def _misread(name: str, how: str, leaves: list[ProbedLeaf], found: np.ndarray, source: np.ndarray) -> list[Fault]:
    """The leaves whose values the device read from other bytes than the layout says."""
    faults: list[Fault] = []
    words = source.view(np.uint16)
    for leaf in leaves:
        bits, offsets = found[leaf.first : leaf.first + leaf.scalars].reshape(leaf.shape), leaf.offsets()
        expected = words[offsets // 2].astype(np.uint32)
        if leaf.scalar != "f16":
            expected |= words[offsets // 2 + 1].astype(np.uint32) << 16
        wrong = np.asarray(bits != expected)
        if wrong.any():
            first = int(np.argmax(wrong))
            faults.append(
                _faults(name, how, leaf, wrong, _nearest(source, bits.flat[first], leaf.scalar, offsets.flat[first]))
            )
    return faults


def _miswritten(name: str, leaves: list[ProbedLeaf], stored: Any, given: np.ndarray, target: np.ndarray) -> list[Fault]:
    """The leaves that the device wrote to other bytes than the layout says: unpacked, they have wrong values."""
    faults: list[Fault] = []
    for leaf in leaves:
        expected = given[leaf.first : leaf.first + leaf.scalars].reshape(leaf.shape)
        wrong = np.asarray(leaf.bits(_column(stored, leaf.path)) != expected)
        if wrong.any():
            first = int(np.argmax(wrong))
            nearest = _nearest(target, expected.flat[first], leaf.scalar, leaf.offsets().flat[first])
            faults.append(_faults(name, "storage write", leaf, wrong, nearest))
    return faults


def _nearest(data: np.ndarray, bits: Any, scalar: str, expected: Any) -> int | None:
    """The byte nearest to `expected` at which `data` has `bits`, None if there is none."""
    words: Iterator[int] | Any = data.view(np.uint16).astype(np.uint32)
    if scalar != "f16":
        words = words[:-1] | words[1:] << 16
    offsets = 2 * np.flatnonzero(words == bits) if bits else np.empty(0, np.int64)
    return int(offsets[np.argmin(np.abs(offsets - expected))]) if offsets.size else None
