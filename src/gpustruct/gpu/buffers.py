"""write_buffer and read_buffer: one batch into a plain wgpu buffer, and back."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..batches import Batch
from ..errors import BindingError, SourceError
from ..layout import Layout, round_up
from ..packing import bound_of, pack_into
from ..types import layout_of
from ..unpacking import unpack
from . import devices


def write_buffer(target: Any, buffer: Any, batch: Any, offset: int = 0) -> None:
    """Pack a batch and write its records into a wgpu buffer, from byte `offset` on.

    `target` is the device or its queue. The write takes its place in the queue's order, as wgpu's own
    ``queue.write_buffer`` does: behind what was submitted before, ahead of what is submitted later. All
    values are checked before anything is written. A write is a multiple of 4 bytes: where the records are
    not (an odd number of 2-byte or 6-byte ones), the 2 bytes behind them are read first and kept.

    Raises SourceError if a value does not fit; BindingError for what is no buffer of this device, lacks
    COPY_DST, is mapped or too small, or if `offset` is no multiple of 4. WebGPU §19.1 (GPUQueue).

    >>> import wgpu
    >>> from gpustruct import vec3f
    >>> from gpustruct.gpu import read_buffer, write_buffer
    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer(size=32, usage=wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC)
    >>> write_buffer(device, buffer, vec3f([[1, 2, 3], [4, 5, 6]]))
    >>> np.asarray(read_buffer(device, buffer, vec3f))[1]
    array([4., 5., 6.], dtype=float32)
    """
    device = devices.device_of(target, "write_buffer")
    bound = bound_of(batch, "write_buffer")
    devices.check_buffer(device, buffer, "COPY_DST", "write_buffer")
    offset = devices.check_offset(offset, "write_buffer")
    devices.check_room(buffer, offset, bound.size, "write_buffer")
    if not bound.size:
        return
    data = np.empty(round_up(devices.COPY_ALIGNMENT, bound.size), np.uint8)
    pack_into(bound, batch, data, 0, None)
    if data.size > bound.size:
        _keep_neighbour(device, buffer, data, offset, bound.size)
    device.queue.write_buffer(buffer, offset, data)


def _keep_neighbour(device: Any, buffer: Any, data: np.ndarray, offset: int, size: int) -> None:
    devices.check_buffer(device, buffer, "COPY_SRC", "write_buffer")
    start = size // devices.COPY_ALIGNMENT * devices.COPY_ALIGNMENT
    word = device.queue.read_buffer(buffer, offset + start, devices.COPY_ALIGNMENT)
    data[size:] = np.frombuffer(word, np.uint8)[size - start :]


def read_buffer(target: Any, buffer: Any, T: Any, count: int | None = None, offset: int = 0) -> Any:
    """The records of a wgpu buffer, from byte `offset` on, as a batch of `T` over fresh memory.

    `count` is in records (elements of the tail, for a type that ends in a runtime-sized array); without it,
    as many as the buffer holds. Waits until everything submitted before is done.

    Raises BindingError for what is no buffer of this device, lacks COPY_SRC, is mapped or too small, or if
    `offset` is no multiple of 4; LayoutError for what is no type. WebGPU §5.2 (buffer mapping).

    >>> import wgpu
    >>> from gpustruct import u32
    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer_with_data(data=np.arange(4, dtype=np.uint32), usage=wgpu.BufferUsage.COPY_SRC)
    >>> np.asarray(read_buffer(device, buffer, u32, count=2, offset=4))
    array([1, 2], dtype=uint32)
    """
    device = devices.device_of(target, "read_buffer")
    layout: Layout = layout_of(T)
    if not isinstance(T, type) or not issubclass(T, Batch):
        raise SourceError.of("batch-type", function="read_buffer", current=repr(T))
    devices.check_buffer(device, buffer, "COPY_SRC", "read_buffer")
    offset = devices.check_offset(offset, "read_buffer")
    room = max(0, buffer.size - offset - layout.header) // layout.array_stride
    number = room if count is None else _count(count, room)
    size = layout.header + number * layout.array_stride
    devices.check_room(buffer, offset, size, "read_buffer")
    if not size:
        return unpack(T, b"", count=0)
    rounded = min(round_up(devices.COPY_ALIGNMENT, size), buffer.size - offset)
    data = np.frombuffer(device.queue.read_buffer(buffer, offset, rounded), np.uint8)
    return unpack(T, data, count=number)


def _count(count: Any, room: int) -> int:
    try:
        number = -1 if isinstance(count, bool) else operator.index(count)
    except TypeError:
        number = -1
    if not 0 <= number <= room:
        raise BindingError.of("record-range", what="count", current=count, most=room, where="read_buffer(...)")
    return number
