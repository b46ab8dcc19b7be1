"""write_buffer: writes a batch, or the changed bytes of a view, into a plain wgpu buffer."""

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
    """Write a batch's records, or the changes in a view, into a buffer from byte `offset` on.

    `target` is the device or its queue; `buffer` is a wgpu buffer, or a RecordBuffer, whose `count` grows to include the records.
    The write runs after what was submitted before and before what is submitted later, as with wgpu's ``queue.write_buffer``.
    A batch is written as by ``Uploader.of(device).write(buffer, batch, offset)``, with the same errors.

    Of a `view`, only the bytes that may differ from the buffer's are sent. gpustruct knows when its own writes overwrite a view.
    After a write into an encoder it sends the whole view every time. After any other write to the buffer, call
    ``gpustruct.views.forget(buffer)``.

    Raises SourceError if a value does not fit, or if `batch` is not a batch; BindingError for what is no buffer of this
    device, lacks COPY_DST, is mapped, destroyed or too small, or if `offset` is not a multiple of 4.
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
    uploader, sent = Uploader.of(device), changes.sent_to(buffer)
    with uploader.transfers.lock:
        if uploader.transfers.in_frame or data.nbytes % devices.COPY_ALIGNMENT or offset + data.nbytes > buffer.size:
            # The write of a batch keeps the other half of the last word, and leaves out padding after the last value. Inside
            # a frame we do not know what the buffer will hold.
            uploader.write(records, as_batch(batch), offset)
            return
    with sent.lock:
        copy, ranges = sent.take(batch, offset)
        changed = memoryview(copy)
        send(device, buffer, [Data(changed[at : at + size], offset + at, size) for at, size in ranges])
        sent.remember(offset, copy)
    count_written(records, offset + data.nbytes)
