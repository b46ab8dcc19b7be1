"""Scattered records: uploaded side by side, and put in their places by a compute shader.

A copy command for each run of neighbours costs the host some microseconds; with thousands of runs the
shader is cheaper on every device. The bytes are the same either way.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import wgpu

from .. import types
from ..batches import Batch
from ..packing import check_values, pack_plan
from . import devices
from .backend import refused
from .chunking import spans_of
from .commands import Dispatch
from .selection import Selection
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

    def __init__(self, device: Any) -> None:
        self._device = device
        self._pipeline: Any = None
        self._buffers: dict[str, Any] = {}

    @classmethod
    def of(cls, uploader: Uploader) -> ScatterShader:
        """The one that all buffers of an uploader share."""
        return _shaders.get(uploader) or _shaders.setdefault(uploader, cls(uploader.device))

    def fits(self, base: int, stride: int) -> bool:
        """Whether the shader can place records: they are whole words, and one is no larger than a binding."""
        return base % 4 == 0 and stride % 4 == 0 and stride + LARGEST_ALIGNMENT <= self._device.limits[BINDING_LIMIT]

    def write(self, uploader: Uploader, buffer: Any, batch: Batch, chosen: Selection, base: int, stride: int) -> None:
        """Upload the chosen records of `batch`, and put each in its place; `fits` has said yes.

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
            check_values(pack_plan(batch), batch)
        for at, start, stop in windows:
            whole = len(windows) == 1
            part = batch if whole else batch[start:stop]
            # The buffers that feed the shader are everyone's.
            with uploader.turn:
                at = 0 if whole and buffer.size <= most else at
                self._write_window(uploader, buffer, part, chosen.places[start:stop], base, stride, at)

    def _write_window(
        self, uploader: Uploader, buffer: Any, batch: Batch, places: np.ndarray, base: int, stride: int, at: int
    ) -> None:
        count, words = len(places), stride // 4
        groups = devices.dispatch(self._device, -(-count * words // WORKGROUP))
        # The shader adds modulo 2^32: a window may start after the first record.
        first = (base - at) // 4 % (1 << 32)
        size = types.vec4u(np.array([words, first, count * words, groups[0] * WORKGROUP], np.uint32))
        feeds = {"compact": batch, "places": types.u32(places), "size": size}
        resources: list[dict[str, Any]] = []
        for name, feed in feeds.items():
            bound = pack_plan(feed)
            held = self._room(name, bound.size)
            uploader.put(held, feed, spans_of(bound, 0))
            resources.append({"buffer": held, "offset": 0, "size": bound.size})
        reached = min(self._device.limits[BINDING_LIMIT] // 4 * 4, buffer.size - at)
        resources.insert(2, {"buffer": buffer, "offset": at, "size": reached})
        target = base + int(places[0]) * stride
        written = base + (int(places[-1]) + 1) * stride - target
        try:
            pipeline = self._compiled()
        except wgpu.GPUError as error:
            raise refused(error, "write") from None
        uploader.send(buffer, [Dispatch(pipeline, resources, groups, target, written)])

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

    def _compiled(self) -> Any:
        if self._pipeline is None:
            module = self._device.create_shader_module(code=SHADER)
            compute = {"module": module, "entry_point": "place"}
            self._pipeline = self._device.create_compute_pipeline(layout="auto", compute=compute)
        return self._pipeline


_shaders: weakref.WeakKeyDictionary[Uploader, ScatterShader] = weakref.WeakKeyDictionary()
