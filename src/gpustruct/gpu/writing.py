"""write_buffer: a batch, or a view's changed bytes, into a plain wgpu buffer."""

from __future__ import annotations

from typing import Any

from .. import _views
from ..batches import as_batch
from ..views import changes
from . import devices
from .bindings import count_written, wgpu_buffer
from .commands import Data, send
from .upload import Uploader


def write_buffer(target: Any, buffer: Any, batch: Any, offset: int = 0) -> None:
    """Write a batch's records, or what has changed in a view, into a wgpu buffer from byte `offset` on.

    `target` is the device or its queue, `buffer` a wgpu buffer or a RecordBuffer, whose `count` grows to the records written. The write takes its place in the queue's order, as wgpu's own
    ``queue.write_buffer`` does: behind what was submitted before, ahead of what is submitted later. For a
    batch the same as ``Uploader.of(device).write(buffer, batch, offset)``, errors included. Of a `view` only
    the byte ranges are sent that differ from what the buffer holds for certain: bytes that gpustruct itself wrote
    over a view are sent again, and after a write into an encoder the whole view is, each time. Call
    ``gpustruct.views.forget(buffer)`` after writing there by other means than gpustruct.

    Raises SourceError if a value does not fit or `batch` is none; BindingError for what is no buffer of this
    device, lacks COPY_DST, is mapped, destroyed or too small, or if `offset` is no multiple of 4.
    WebGPU §19.1 (GPUQueue).

    >>> import wgpu
    >>> from gpustruct import Struct, f32, vec3f, view
    >>> from gpustruct.gpu import read_buffer, write_buffer
    >>> class Light(Struct):
    ...     color: vec3f
    ...     power: f32
    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer(size=16, usage=wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC)
    >>> light = view(Light)
    >>> light.power = 3
    >>> write_buffer(device.queue, buffer, light)
    >>> read_buffer(device, buffer, Light).power
    array([3.], dtype=float32)
    """
    device = devices.device_of(target, "write_buffer")
    if not isinstance(batch, _views.Record | _views.Records):
        Uploader.of(device).write(buffer, batch, offset)
        return
    data = memoryview(batch)
    records, buffer = buffer, wgpu_buffer(buffer)
    devices.check_buffer(device, buffer, "COPY_DST", "write_buffer")
    offset = devices.check_offset(offset, "write_buffer")
    uploader, known = Uploader.of(device), changes.sent_to(buffer)
    with uploader.turn:
        if uploader.open_frame or data.nbytes % devices.COPY_ALIGNMENT or offset + data.nbytes > buffer.size:
            # A batch's write keeps the other half of a last word, and does without padding after the last value. Inside
            # a frame nothing is known of what the buffer will hold.
            uploader.write(records, as_batch(batch), offset)
            return
    with known.lock:
        copy, ranges = known.take(batch, offset)
        changed = memoryview(copy)
        send(device, buffer, [Data(changed[at : at + size], offset + at, size) for at, size in ranges])
        known.remember(offset, copy)
    count_written(records, offset + data.nbytes)
