"""A compute shader that writes scattered records: they are uploaded contiguously, and it copies each to its index.

A copy command for each contiguous run costs the host some microseconds. With thousands of runs the shader costs less on every
device. The bytes are the same either way.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .. import types
from ..batches import Batch
from ..errors import SourceError
from ..packing import check_runs, check_values, pack_plan
from . import devices
from .backend import BufferUsage, gpu_errors, refused
from .chunking import spans_of
from .commands import Dispatch
from .selection import Selection
from .transfers import Transfers

# Up to this many runs, one copy command each costs less than the shader (docs/performance.md).
MANY_RUNS = 32
WORKGROUP = 64
# No device requires more for the offset of a storage binding (WebGPU §3.6.2, the default limit).
LARGEST_ALIGNMENT = 256
BINDING_LIMIT = "max-storage-buffer-binding-size"

SHADER = f"""
@group(0) @binding(0) var<storage, read> packed: array<u32>;
@group(0) @binding(1) var<storage, read> targets: array<u32>;
@group(0) @binding(2) var<storage, read_write> records: array<u32>;
// Words in a record; the word of the first record; words in total; invocations in a row.
@group(0) @binding(3) var<uniform> size: vec4u;

@compute @workgroup_size({WORKGROUP}) fn scatter(@builtin(global_invocation_id) id: vec3u) {{
    let k = id.x + id.y * size.w;
    if k < size.z {{
        records[size.y + targets[k / size.x] * size.x + k % size.x] = packed[k];
    }}
}}
"""


class ScatterShader:
    """The compiled shader, and the buffers that hold its inputs."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._pipeline: Any = None
        self._inputs: dict[str, Any] = {}

    @classmethod
    def of(cls, transfers: Transfers) -> ScatterShader:
        """The one that all buffers of an uploader share."""
        return _shaders.get(transfers) or _shaders.setdefault(transfers, cls(transfers.device))

    def supports(self, base: int, stride: int) -> bool:
        """Whether the shader can write these records: they are whole words, and one record fits in a binding."""
        return base % 4 == 0 and stride % 4 == 0 and stride + LARGEST_ALIGNMENT <= self._device.limits[BINDING_LIMIT]

    def write(
        self, transfers: Transfers, buffer: Any, batch: Batch, selection: Selection, base: int, stride: int
    ) -> None:
        """Write the selected records of `batch` to their targets; `supports` must be true.

        A value that does not fit raises SourceError before the buffer changes.
        """
        if len(selection.targets) == len(batch) and (np.diff(selection.sources) == 1).all():
            self._write(transfers, buffer, batch, selection, base, stride)
            return
        try:
            self._write(transfers, buffer, batch[selection.sources], selection, base, stride)
            return
        except SourceError as error:
            refused = error
        # The message must have the record's index in the batch, not in the selection.
        check_runs(pack_plan(batch), batch, ((run.start, run.stop) for run in selection.runs))
        raise refused

    def _write(
        self, transfers: Transfers, buffer: Any, batch: Batch, selection: Selection, base: int, stride: int
    ) -> None:
        """Write the records of `batch`, in their order, to the targets."""
        count = len(selection.targets)
        # A buffer larger than a binding is written through several bindings: (offset, first target, stop target).
        largest = self._device.limits[BINDING_LIMIT] // 4 * 4
        windows: list[tuple[int, int, int]] = []
        start = 0
        while start < count:
            first = int(selection.targets[start])
            offset = (base + first * stride) // LARGEST_ALIGNMENT * LARGEST_ALIGNMENT
            last = min((offset + largest - base) // stride - 1, first + largest // stride)
            stop = min(int(np.searchsorted(selection.targets, last, "right")), start + largest // stride)
            windows.append((offset, start, stop))
            start = stop
        if len(windows) > 1:
            check_values(pack_plan(batch), batch)
        for offset, start, stop in windows:
            is_only = len(windows) == 1
            records = batch if is_only else batch[start:stop]
            # All writes share the input buffers.
            with transfers.lock:
                offset = 0 if is_only and buffer.size <= largest else offset
                self._write_window(transfers, buffer, records, selection.targets[start:stop], base, stride, offset)

    def _write_window(
        self, transfers: Transfers, buffer: Any, batch: Batch, targets: np.ndarray, base: int, stride: int, offset: int
    ) -> None:
        count, words = len(targets), stride // 4
        groups = devices.dispatch(self._device, -(-count * words // WORKGROUP))
        # The shader adds modulo 2^32, so this also holds where the binding starts after the first record.
        first = (base - offset) // 4 % (1 << 32)
        size = types.vec4u(np.array([words, first, count * words, groups[0] * WORKGROUP], np.uint32))
        resources: list[dict[str, Any]] = []
        for name, values in {"packed": batch, "targets": types.u32(targets), "size": size}.items():
            bound = pack_plan(values)
            held = self._input(name, bound.size)
            transfers.put(held, values, spans_of(bound, 0))
            resources.append({"buffer": held, "offset": 0, "size": bound.size})
        visible = min(self._device.limits[BINDING_LIMIT] // 4 * 4, buffer.size - offset)
        resources.insert(2, {"buffer": buffer, "offset": offset, "size": visible})
        target = base + int(targets[0]) * stride
        written = base + (int(targets[-1]) + 1) * stride - target
        try:
            pipeline = self._compiled()
        except gpu_errors() as error:
            raise refused(error, "write") from None
        transfers.send(buffer, [Dispatch(pipeline, resources, groups, target, written)])

    def _input(self, name: str, size: int) -> Any:
        """An input buffer of at least `size` bytes, reused between writes."""
        held = self._inputs.get(name)
        if held is None or held.size < size:
            kind = BufferUsage.UNIFORM if name == "size" else BufferUsage.STORAGE
            usage = kind | BufferUsage.COPY_DST
            largest = self._device.limits[BINDING_LIMIT]
            grown = min(largest // 4 * 4, max(16, 1 << (size - 1).bit_length()))
            held = self._inputs[name] = self._device.create_buffer(size=grown, usage=usage)
        return held

    def _compiled(self) -> Any:
        if self._pipeline is None:
            module = self._device.create_shader_module(code=SHADER)
            compute = {"module": module, "entry_point": "scatter"}
            self._pipeline = self._device.create_compute_pipeline(layout="auto", compute=compute)
        return self._pipeline


_shaders: weakref.WeakKeyDictionary[Transfers, ScatterShader] = weakref.WeakKeyDictionary()
