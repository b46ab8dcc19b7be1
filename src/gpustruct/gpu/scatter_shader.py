"""Scattered records: compacted, sent up in one piece, and put in their places by a compute shader.

A copy command for each run of neighbours costs the host some microseconds; with thousands of runs the
shader is cheaper on every device. The bytes are the same either way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import wgpu

from .. import types
from ..batches import Batch
from ..packing import bound_of, check_values
from ..views import forget
from . import devices
from .chunking import spans_of
from .selection import Selection
from .staging import refused
from .upload import Uploader

# Up to so many runs a copy command for each costs less than the shader (docs/performance.md).
MANY_RUNS = 32
WORKGROUP = 64
# No device asks more of the offset of a storage binding (WebGPU §3.6.2, the default limit).
LARGEST_ALIGNMENT = 256
BINDING_LIMIT = "max-storage-buffer-binding-size"

SHADER = f"""
@group(0) @binding(0) var<storage, read> compact: array<u32>;
@group(0) @binding(1) var<storage, read> places: array<u32>;
@group(0) @binding(2) var<storage, read_write> records: array<u32>;
// Words of a record; the word of the first record; words in all; invocations in a row.
@group(0) @binding(3) var<uniform> size: vec4u;

@compute @workgroup_size({WORKGROUP}) fn place(@builtin(global_invocation_id) id: vec3u) {{
    let k = id.x + id.y * size.w;
    if k < size.z {{
        records[size.y + places[k / size.x] * size.x + k % size.x] = compact[k];
    }}
}}
"""


class ScatterShader:
    """The shader that puts compacted records in their places, and the buffers that feed it."""

    def __init__(self, uploader: Uploader) -> None:
        self._device, self._uploader = uploader.device, uploader
        self._pipeline: Any = None
        self._buffers: dict[str, Any] = {}

    @classmethod
    def of(cls, uploader: Uploader) -> ScatterShader:
        """The one that all buffers of an uploader share."""
        made: ScatterShader = uploader.companions.setdefault("scatter_shader", cls(uploader))
        return made

    def fits(self, base: int, stride: int) -> bool:
        """Whether the shader can place records: they are whole words, and one is no larger than a binding."""
        return base % 4 == 0 and stride % 4 == 0 and stride + LARGEST_ALIGNMENT <= self._device.limits[BINDING_LIMIT]

    def write(self, buffer: Any, batch: Batch, chosen: Selection, base: int, stride: int) -> None:
        """Send the chosen records of `batch` up, and put each in its place; `fits` has said yes.

        A value that does not fit raises SourceError before the buffer is touched.
        """
        count = len(chosen.places)
        if count != len(batch) or (np.diff(chosen.sources) != 1).any():
            batch = batch[chosen.sources]
        # A buffer larger than a binding is reached through windows; places are sorted.
        most = self._device.limits[BINDING_LIMIT] // 4 * 4
        windows: list[tuple[int, int, int]] = []
        start = 0
        while start < count:
            at = (base + int(chosen.places[start]) * stride) // LARGEST_ALIGNMENT * LARGEST_ALIGNMENT
            reach = min((at + most - base) // stride - 1, int(chosen.places[start]) + most // stride)
            stop = min(int(np.searchsorted(chosen.places, reach, "right")), start + most // stride)
            windows.append((at, start, stop))
            start = stop
        if len(windows) > 1:
            check_values(bound_of(batch), batch)
        for at, start, stop in windows:
            whole = len(windows) == 1
            part = batch if whole else batch[start:stop]
            # The buffers that feed the shader are everyone's.
            with self._uploader.turn:
                self._write_window(
                    buffer, part, chosen.places[start:stop], base, stride, 0 if whole and buffer.size <= most else at
                )

    def _write_window(self, buffer: Any, batch: Batch, chosen: np.ndarray, base: int, stride: int, at: int) -> None:
        count, words = len(chosen), stride // 4
        self._uploader.put(self._room("compact", count * stride), batch, spans_of(bound_of(batch), 0))
        places = types.u32(chosen)
        self._uploader.put(self._room("places", 4 * count), places, spans_of(bound_of(places), 0))
        groups = devices.dispatch(self._device, -(-count * words // WORKGROUP))
        # The shader adds modulo 2^32: a window may start behind the first record.
        first = (base - at) // 4 % (1 << 32)
        size = types.vec4u(np.array([words, first, count * words, groups[0] * WORKGROUP], np.uint32))
        self._uploader.put(self._room("size", 16), size, spans_of(bound_of(size), 0))
        try:
            self._dispatch(buffer, at, count, stride, groups)
        except wgpu.GPUError as error:
            raise refused(error, "write") from None

    def _room(self, name: str, size: int) -> Any:
        """A buffer of at least `size` bytes, kept and used again."""
        held = self._buffers.get(name)
        if held is None or held.size < size:
            kind = wgpu.BufferUsage.UNIFORM if name == "size" else wgpu.BufferUsage.STORAGE
            usage = kind | wgpu.BufferUsage.COPY_DST
            most = self._device.limits[BINDING_LIMIT]
            grown = min(most // 4 * 4, max(16, 1 << (size - 1).bit_length()))
            held = self._buffers[name] = self._device.create_buffer(size=grown, usage=usage)
        return held

    def _dispatch(self, buffer: Any, at: int, count: int, stride: int, groups: tuple[int, int, int]) -> None:
        device = self._device
        if self._pipeline is None:
            module = device.create_shader_module(code=SHADER)
            compute = {"module": module, "entry_point": "place"}
            self._pipeline = device.create_compute_pipeline(layout="auto", compute=compute)
        devices.check_alive(device, buffer, "write")
        sizes = {"compact": count * stride, "places": 4 * count, "size": 16}
        held = [{"buffer": self._buffers[name], "offset": 0, "size": size} for name, size in sizes.items()]
        reached = min(device.limits[BINDING_LIMIT] // 4 * 4, buffer.size - at)
        held.insert(2, {"buffer": buffer, "offset": at, "size": reached})
        forget(buffer)
        devices.run(device, self._pipeline, held, groups)
