"""Every byte that gpustruct writes into a wgpu buffer goes through `send`, which drops what views know of that buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import wgpu

from ..views import changes
from .backend import check_alive, refused


class Data(NamedTuple):
    """Bytes of host memory, to byte `target`; wgpu copies them at once."""

    memory: Any
    target: int
    size: int


class BufferCopy(NamedTuple):
    """Bytes of another buffer, from byte `source` to byte `target`."""

    buffer: Any
    source: int
    target: int
    size: int


class Clear(NamedTuple):
    """Zeros in all `size` bytes of the buffer."""

    size: int
    target: int = 0


class Dispatch(NamedTuple):
    """One dispatch of a compute pipeline, with `resources` in group 0; it writes `size` bytes from `target` on."""

    pipeline: Any
    resources: list[dict[str, Any]]
    groups: tuple[int, int, int]
    target: int
    size: int


Write = Data | BufferCopy | Clear | Dispatch


def send(device: Any, buffer: Any, writes: Sequence[Write], *, function: str = "write", encoder: Any = None) -> None:
    """Carry out writes to one buffer: at once and in one submit, or recorded into `encoder` for the caller to submit.

    A view that was sent to these bytes is sent whole the next time; after writes into an encoder every time, for
    nobody says when it is submitted. BindingError if the buffer was destroyed or the device is lost.

    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer(size=8, usage=wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC)
    >>> send(device, buffer, [Data(b"abcd", 4, 4)])
    >>> bytes(device.queue.read_buffer(buffer))
    b'\\x00\\x00\\x00\\x00abcd'
    """
    if not writes:
        return
    known = changes.sent_to(buffer)
    start, stop = min(write.target for write in writes), max(write.target + write.size for write in writes)
    try:
        # No view may be sent between the two: what it remembers would be overwritten.
        with known.lock:
            known.overwritten(start, stop, recorded=encoder is not None)
            commands: list[BufferCopy | Clear | Dispatch] = []
            for write in writes:
                if isinstance(write, Data):
                    device.queue.write_buffer(buffer, write.target, write.memory, 0, write.size)
                else:
                    commands.append(write)
            if commands:
                check_alive(device, buffer, function)
                recorder = device.create_command_encoder() if encoder is None else encoder
                for command in commands:
                    _record(device, recorder, buffer, command)
                if encoder is None:
                    device.queue.submit([recorder.finish()])
    except wgpu.GPUError as error:
        raise refused(error, function) from None


def _record(device: Any, encoder: Any, buffer: Any, command: BufferCopy | Clear | Dispatch) -> None:
    if isinstance(command, BufferCopy):
        encoder.copy_buffer_to_buffer(command.buffer, command.source, buffer, command.target, command.size)
    elif isinstance(command, Clear):
        encoder.clear_buffer(buffer)
    else:
        entries = [{"binding": k, "resource": resource} for k, resource in enumerate(command.resources)]
        group = device.create_bind_group(layout=command.pipeline.get_bind_group_layout(0), entries=entries)
        work = encoder.begin_compute_pass()
        work.set_pipeline(command.pipeline)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(*command.groups)
        work.end()
