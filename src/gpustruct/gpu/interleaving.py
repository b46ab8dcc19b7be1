"""Columns sent up as they lie, without padding; a compute shader makes records of them.

It pays where bytes over the bus cost more than the shader: records with much padding, on a device that
has memory of its own. The bytes are the same either way.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import wgpu

from .. import types
from ..packing import Part, bound_of
from ..unpacking import DTYPES
from . import devices
from .fills import Span, spans_of
from .staging import MIB, refused
from .upload import Progress, Uploader

WORKGROUP = 64
BINDING_LIMIT = "max-storage-buffer-binding-size"
LARGEST_ALIGNMENT = 256
# More scalars than this would make a shader too long to be worth its compilation.
MOST_SCALARS = 64
# Raw bytes that are sent up and placed at a time: they have a buffer of their own on the device.
SLICE_BYTES = 64 * MIB
# From so many bytes on, and where at most this share of a record is used (docs/performance.md).
LARGE_BYTES = 4 * MIB
USED_SHARE = 0.75


class Column(NamedTuple):
    """A contiguous column: `width` words a record, each with its word in the packed record."""

    width: int
    targets: tuple[int, ...]


class Interleaver:
    """The shaders that make records of columns, one for each arrangement, and the buffers that feed them."""

    def __init__(self, uploader: Uploader) -> None:
        self._device, self._uploader = uploader.device, uploader
        self._pipelines: dict[tuple[tuple[Column, ...], int], Any] = {}
        self._raw: Any = None
        self._size: Any = None

    @classmethod
    def of(cls, uploader: Uploader) -> Interleaver:
        """The one that all buffers of an uploader share."""
        made: Interleaver = uploader.companions.setdefault("interleaver", cls(uploader))
        return made

    def worth(self, part: Part, used: int) -> bool:
        """Whether it costs less than packing here."""
        discrete = self._device.adapter.info.get("adapter_type") == "DiscreteGPU"
        return discrete and part.run.records * part.stride >= LARGE_BYTES and used <= USED_SHARE * part.stride

    def fits(self, part: Part, base: int) -> bool:
        """Whether a shader can make these records: whole words that need no conversion, columns in one piece."""
        if base % 4 or part.stride % 4 or len(part.columns.shape) != 1 or part.stride != part.run.size:
            return False
        scalars = 0
        for leaf, view in zip(part.columns.leaves, part.columns.views, strict=True):
            inner = tuple(count for count, _ in leaf.axes)
            scalars += math.prod(inner)
            if leaf.scalar == "f16" or view.dtype != DTYPES[leaf.scalar] or not view.flags.c_contiguous:
                return False
            if view.shape != part.columns.shape + inner:
                return False
        return scalars <= MOST_SCALARS and 4 * part.stride + LARGEST_ALIGNMENT <= self._device.limits[BINDING_LIMIT]

    def write(self, buffer: Any, part: Part, base: int, progress: Progress | None) -> None:
        """Send the columns up, and make records of them from byte `base` of the buffer on; `fits` has said yes."""
        columns = tuple(_column(leaf) for leaf in part.columns.leaves)
        words = sum(column.width for column in columns)
        flat = [view.reshape(-1) for view in part.columns.views]
        records, stride = part.run.records, part.stride
        most = self._device.limits[BINDING_LIMIT] - LARGEST_ALIGNMENT
        step = max(4, min(SLICE_BYTES // (4 * words), most // stride) // 4 * 4)
        for start in range(0, records, step):
            stop = min(start + step, records)
            try:
                # The buffers that feed the shader are everyone's.
                with self._uploader.turn:
                    self._send(flat, columns, start, stop)
                    self._dispatch(buffer, columns, base + start * stride, stop - start, stride)
            except wgpu.GPUError as error:
                raise refused(error, "write") from None
            if progress is not None:
                progress(stop, records)

    def _send(self, flat: list[np.ndarray], columns: tuple[Column, ...], start: int, stop: int) -> None:
        count = stop - start
        size = 4 * count * sum(column.width for column in columns)
        if self._raw is None or self._raw.size < size:
            usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST
            self._raw = self._device.create_buffer(size=size, usage=usage)
        spans: list[Span] = []
        batch: Any = None
        at = 0
        for column, view in zip(columns, flat, strict=True):
            # Words are words: no value changes, whatever they mean.
            batch = types.u32(view[start * column.width : stop * column.width].view(np.uint32))
            spans += spans_of(bound_of(batch), at)
            at += 4 * count * column.width
        self._uploader.put(self._raw, batch, spans)

    def _dispatch(self, buffer: Any, columns: tuple[Column, ...], target: int, count: int, stride: int) -> None:
        device = self._device
        key = (columns, stride)
        if key not in self._pipelines:
            compute = {"module": device.create_shader_module(code=_shader(columns, stride)), "entry_point": "mix"}
            self._pipelines[key] = device.create_compute_pipeline(layout="auto", compute=compute)
        pipeline = self._pipelines[key]
        if self._size is None:
            usage = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
            self._size = device.create_buffer(size=16, usage=usage)
        groups = devices.dispatch(device, -(-count // WORKGROUP))
        window = target // LARGEST_ALIGNMENT * LARGEST_ALIGNMENT
        size = types.vec4u(np.array([count, (target - window) // 4, groups[0] * WORKGROUP, 0], np.uint32))
        self._uploader.put(self._size, size, spans_of(bound_of(size), 0))
        raw = 4 * count * sum(column.width for column in columns)
        reached = min(target - window + count * stride, buffer.size - window)
        devices.check_alive(device, buffer, "write")
        resources = [
            {"buffer": self._raw, "offset": 0, "size": raw},
            {"buffer": buffer, "offset": window, "size": reached},
            {"buffer": self._size, "offset": 0, "size": 16},
        ]
        devices.run(device, pipeline, resources, groups)


def _column(leaf: Any) -> Column:
    counts = [range(count) for count, _ in leaf.axes]
    steps = [step for _, step in leaf.axes]
    targets = tuple(
        (leaf.offset + sum(k * step for k, step in zip(index, steps, strict=True))) // 4
        for index in itertools.product(*counts)
    )
    return Column(len(targets), targets)


def _shader(columns: tuple[Column, ...], stride: int) -> str:
    lines: list[str] = []
    before = 0
    written: set[int] = set()
    for column in columns:
        for k, target in enumerate(column.targets):
            lines.append(f"records[to + {target}u] = raw[{before}u * size.x + r * {column.width}u + {k}u];")
            written.add(target)
        before += column.width
    lines += [f"records[to + {word}u] = 0u;" for word in range(stride // 4) if word not in written]
    body = "\n        ".join(lines)
    return f"""
@group(0) @binding(0) var<storage, read> raw: array<u32>;
@group(0) @binding(1) var<storage, read_write> records: array<u32>;
// Records; the word of the first; invocations in a row.
@group(0) @binding(2) var<uniform> size: vec4u;

@compute @workgroup_size({WORKGROUP}) fn mix(@builtin(global_invocation_id) id: vec3u) {{
    let r = id.x + id.y * size.z;
    if r < size.x {{
        let to = size.y + r * {stride // 4}u;
        {body}
    }}
}}
"""
