"""The way up: a ring of mapped chunks that records are packed straight into.

A chunk is a MAP_WRITE buffer of fixed size. While the device copies one chunk, the next is packed; each chunk is
mapped again, asynchronously, right after the submit that used it. Memory stays bounded whatever the
batch. This is the only room that touches mapped memory for writing: no view of it leaves.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import wgpu

from ..errors import BindingError
from ..layout import round_up

MIB = 1 << 20

# Chunk bytes and how many of them, by adapter type: where the device's memory is the host's, small chunks
# stay in the cache and bound memory; across a bus every submit costs, so fewer and larger ones win
# (docs/performance.md).
CHUNKS = {"DiscreteGPU": (64 * MIB, 2)}
DEFAULT_CHUNKS = (8 * MIB, 4)


def lost(device: Any) -> bool:
    """Whether the device was destroyed: nothing that waits for it would ever be answered."""
    return getattr(device, "_poller", device) is None


def arrived(promise: Any) -> bool:
    """Whether a promise has its answer already, so that ``sync_wait`` returns at once."""
    return promise._thread_event.is_set()


def settle(device: Any, promise: Any, function: str) -> None:
    """Wait for a promise of this device; BindingError if the device is lost or refuses."""
    try:
        # The thread that answers promises ends with the device: waiting without a limit could be for ever.
        while not promise._thread_event.wait(0.5):
            if lost(device):
                raise BindingError.of("device-lost", function=function, current="destroyed")
        promise.sync_wait()
        if lost(device):
            # What was mapped went with the device.
            raise BindingError.of("device-lost", function=function, current="destroyed")
    except RuntimeError as error:
        raise BindingError.of("device-lost", function=function, current=" ".join(str(error).split())) from None


def refused(error: Exception, function: str) -> BindingError:
    """What wgpu says when a device or a buffer is gone, in our words."""
    current = " ".join(str(error).split())
    return BindingError.of("device-lost", function=function, current=current)  # type: ignore[return-value]


class Chunk:
    """One staging buffer, and the one place where its memory is opened and closed."""

    def __init__(self, device: Any, size: int) -> None:
        usage = wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC
        self.size, self.promise = size, None
        self.buffer = device.create_buffer(size=size, usage=usage, mapped_at_creation=True)
        self.memory: Any = None
        self.aside: Any = None

    def open(self, size: int) -> Any:
        """Writable memory of `size` bytes; the mapped chunk itself where wgpu-py hands it out."""
        mapped_range = getattr(self.buffer, "_experimental_get_mapped_range", None)
        if mapped_range is not None:
            self.memory = mapped_range(0, round_up(4, size))
        else:
            self.memory = self.aside = np.zeros(round_up(4, size), np.uint8)
        return self.memory

    def close(self, keep: bool = False) -> None:
        """Give the memory up: nothing may touch it from here on. `keep`: leave the chunk mapped, unused."""
        if self.aside is not None and not keep:
            self.buffer.write_mapped(self.aside, 0)
        elif isinstance(self.memory, memoryview):
            self.memory.release()
        self.memory = self.aside = None
        if not keep:
            self.buffer.unmap()

    def map_again(self) -> None:
        self.promise = self.buffer.map_async(wgpu.MapMode.WRITE)


class Ring:
    """Chunks in the order in which the device lets go of them; made when first needed."""

    def __init__(self, device: Any, chunk_size: int, count: int) -> None:
        self.device, self.chunk_size, self.count = device, chunk_size, count
        self.made = 0
        self.free: deque[Chunk] = deque()

    def acquire(self, size: int) -> Chunk:
        """A mapped chunk of at least `size` bytes; waits until the device lets go of one."""
        if lost(self.device):
            raise BindingError.of("device-lost", function="Uploader", current="destroyed")
        if size > self.chunk_size:
            return Chunk(self.device, round_up(8, size))
        if self.made < self.count and not (self.free and self.is_ready(self.free[0])):
            chunk = Chunk(self.device, self.chunk_size)
            self.made += 1
            return chunk
        chunk = self.free.popleft()
        try:
            if chunk.promise is not None:
                settle(self.device, chunk.promise, "Uploader")
        except BindingError:
            self.drop(chunk)
            raise
        except BaseException:
            # Interrupted while waiting: it is still on its way.
            self.free.appendleft(chunk)
            raise
        chunk.promise = None
        return chunk

    @staticmethod
    def is_ready(chunk: Chunk) -> bool:
        return chunk.promise is None or arrived(chunk.promise)

    def give_back(self, chunk: Chunk, submitted: bool) -> None:
        """Take a chunk back: mapped still, or on its way to be mapped again after its submit."""
        if chunk.size != self.chunk_size:
            # One record larger than a chunk had its own; the device frees it when it is done.
            if submitted:
                chunk.buffer.destroy()
            return
        if submitted:
            try:
                chunk.map_again()
            except Exception:
                # The device is gone, and says so to whoever uses it next.
                self.drop(chunk)
                return
            self.free.append(chunk)
        else:
            self.free.appendleft(chunk)

    def drop(self, chunk: Chunk) -> None:
        self.made -= chunk.size == self.chunk_size
        chunk.memory = chunk.aside = None

    def close(self) -> None:
        for chunk in self.free:
            chunk.buffer.destroy()
        self.free.clear()
        self.made = 0
