"""Host memory that wgpu-native writes from or maps: two shortcuts past wgpu-py."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ...errors import BindingError
from .liveness import lost


def write_from(device: Any, memory: Any) -> Callable[[Any, int, int, int], None]:
    """A function ``(buffer, target, source, size)`` that does ``queue.write_buffer(buffer, target, memory, source, size)``.

    For many small writes: in each call, wgpu-py looks up the memory's address and checks both ranges, which takes as long as
    wgpu-native's write. The caller makes sure that the range of `memory`, an array of bytes, exists and is not empty;
    wgpu-native checks that of the buffer.
    """
    queue = device.queue
    if getattr(device, "_lost_promise", None) is not None:
        return _if_alive(
            device, lambda buffer, target, source, size: queue.write_buffer(buffer, target, memory, source, size)
        )
    names = vars(sys.modules[type(queue).__module__])
    if not {"ffi", "libf"} <= set(names) or not hasattr(queue, "_internal"):
        # Another version or another backend of wgpu-py.
        return lambda buffer, target, source, size: queue.write_buffer(buffer, target, memory, source, size)
    native_write, start = names["libf"].wgpuQueueWriteBuffer, names["ffi"].from_buffer("uint8_t []", memory)

    def write(buffer: Any, target: int, source: int, size: int) -> None:
        native_write(queue._internal, buffer._internal, target, start + source, size)

    return write


def _if_alive(device: Any, write: Callable[[Any, int, int, int], None]) -> Callable[[Any, int, int, int], None]:
    # Dawn reports no error for a write to a device that was lost a while ago.
    def checked(buffer: Any, target: int, source: int, size: int) -> None:
        if lost(device):
            raise BindingError.of("device-lost", function="write", current="destroyed")
        write(buffer, target, source, size)

    return checked


def mapped_memory(buffer: Any, size: int) -> memoryview | None:
    """The first `size` bytes of a buffer mapped for writing; None if this version of wgpu-py gives no access to them."""
    mapped_range = getattr(buffer, "_experimental_get_mapped_range", None)
    return None if mapped_range is None else mapped_range(0, size)
