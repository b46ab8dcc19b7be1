"""The only module through which gpustruct writes bytes into a wgpu buffer; it also forgets what views know of those bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..views import changes
from .backend import check_alive, gpu_errors, refused

# `backend.write_from` makes it: (buffer, target, source, size).
WriteFrom = Callable[[Any, int, int, int], None]


class Data(NamedTuple):
    """`size` bytes of host memory, to byte `target`. wgpu copies them before the call returns."""

    memory: Any
    target: int
    size: int


class BufferCopy(NamedTuple):
    """`size` bytes of another buffer, from byte `source` to byte `target`."""

    buffer: Any
    source: int
    target: int
    size: int


class Clear(NamedTuple):
    """Zeros in all `size` bytes of the buffer."""

    size: int
    target: int = 0


class Dispatch(NamedTuple):
    """One dispatch of a compute pipeline with `resources` in group 0, which writes `size` bytes from byte `target` on."""

    pipeline: Any
    resources: list[dict[str, Any]]
    groups: tuple[int, int, int]
    target: int
    size: int


Write = Data | BufferCopy | Clear | Dispatch
# Pairs of a buffer and the writes to it, at least one each.
BufferWrites = Sequence[tuple[Any, Sequence[Write]]]


def send(device: Any, buffer: Any, writes: Sequence[Write], *, function: str = "write", encoder: Any = None) -> None:
    """Carry out writes to one buffer: in one submit now, or recorded into `encoder`, which the caller submits.

    A view that was sent to these bytes is sent whole the next time. After writes into an encoder it is sent whole every time,
    because nothing tells us when the encoder is submitted. Raises BindingError if the buffer was destroyed or the device is
    lost.

    >>> import wgpu
    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer(size=8, usage=wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC)
    >>> send(device, buffer, [Data(b"abcd", 4, 4)])
    >>> bytes(device.queue.read_buffer(buffer))
    b'\\x00\\x00\\x00\\x00abcd'
    """
    if writes:
        send_all(device, [(buffer, writes)], function=function, encoder=encoder)


def send_all(device: Any, buffer_writes: BufferWrites, *, function: str, encoder: Any = None) -> None:
    """`send` for several buffers: all commands in one submit, in order. A buffer may come more than once."""
    try:
        # If a view were sent between the two steps, it would remember bytes that are about to be overwritten.
        with changes.SentBytes.lock:
            commands: list[tuple[Any, BufferCopy | Clear | Dispatch]] = []
            for buffer, writes in buffer_writes:
                start, stop = min(write.target for write in writes), max(write.target + write.size for write in writes)
                changes.sent_to(buffer).overwritten(start, stop, recorded=encoder is not None)
                for write in writes:
                    if isinstance(write, Data):
                        device.queue.write_buffer(buffer, write.target, write.memory, 0, write.size)
                    else:
                        commands.append((buffer, write))
            if commands:
                for buffer in {id(buffer): buffer for buffer, _ in commands}.values():
                    check_alive(device, buffer, function)
                recorder = device.create_command_encoder() if encoder is None else encoder
                for buffer, command in commands:
                    _record(device, recorder, buffer, command)
                if encoder is None:
                    device.queue.submit([recorder.finish()])
    except gpu_errors() as error:
        raise refused(error, function) from None


def send_bytes(write: WriteFrom, buffer: Any, sent: changes.SentBytes, target: int, size: int) -> None:
    """`send` of the first `size` bytes of the memory that `write` sends, with the least overhead.

    `write` is from `backend.write_from`, `sent` must be ``changes.sent_to(buffer)``.
    """
    try:
        with sent.lock:
            sent.overwritten(target, target + size)
            write(buffer, target, 0, size)
    except gpu_errors() as error:
        raise refused(error, "write") from None


def _record(device: Any, encoder: Any, buffer: Any, command: BufferCopy | Clear | Dispatch) -> None:
    if isinstance(command, BufferCopy):
        encoder.copy_buffer_to_buffer(command.buffer, command.source, buffer, command.target, command.size)
    elif isinstance(command, Clear):
        encoder.clear_buffer(buffer)
    else:
        entries = [{"binding": k, "resource": resource} for k, resource in enumerate(command.resources)]
        group = device.create_bind_group(layout=command.pipeline.get_bind_group_layout(0), entries=entries)
        compute_pass = encoder.begin_compute_pass()
        compute_pass.set_pipeline(command.pipeline)
        compute_pass.set_bind_group(0, group)
        compute_pass.dispatch_workgroups(*command.groups)
        compute_pass.end()
