"""Staging memory for uploads: chunks of mapped memory that records are packed into.

A chunk is a MAP_WRITE buffer of fixed size. While the device copies one chunk, the next is packed. Right after the submit
that uses a chunk, the chunk is mapped again, asynchronously. The memory is bounded, whatever the size of the batch.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..errors import BindingError
from ..layout import round_up
from . import backend

MIB = 1 << 20

# Bytes of a chunk and number of chunks, by adapter type. Where the device shares the host's memory, small chunks stay in the
# cache and take little memory. Across a bus every submit costs time, so fewer and larger chunks win (docs/performance.md).
CHUNKS = {"DiscreteGPU": (64 * MIB, 2)}
DEFAULT_CHUNKS = (8 * MIB, 4)

_order = itertools.count()


class Chunk:
    """One staging buffer. Only `open` and `close` give out its memory and take it back."""

    def __init__(self, device: Any, size: int) -> None:
        usage = backend.BufferUsage.MAP_WRITE | backend.BufferUsage.COPY_SRC
        self.size, self.device = size, device
        self.buffer = device.create_buffer(size=size, usage=usage, mapped_at_creation=True)
        self.memory: Any = None
        self.in_use = False
        # Chunks are used in the order in which the device finishes with them.
        self.order = next(_order)
        self._host_copy: Any = None
        self._mapping: backend.Mapping | None = None

    def open(self, size: int) -> Any:
        """Writable memory of `size` bytes: the mapped buffer itself, if wgpu-py gives access to it."""
        self.memory = backend.mapped_memory(self.buffer, round_up(4, size))
        if self.memory is None:
            self.memory = self._host_copy = np.zeros(round_up(4, size), np.uint8)
        return self.memory

    def close(self) -> None:
        """Give the memory to the device. Nothing may access it after this."""
        if self._host_copy is not None:
            self.buffer.write_mapped(self._host_copy, 0)
        else:
            self.memory.release()
        self.memory = self._host_copy = None
        self.buffer.unmap()

    def map_again(self) -> None:
        """Start to map the chunk again. Call it after the submit that uses the chunk."""
        self._mapping = backend.Mapping(self.buffer, "WRITE")
        self.order = next(_order)

    @property
    def is_ready(self) -> bool:
        """Whether the chunk is mapped, so that `wait` returns at once."""
        return self._mapping is None or self._mapping.arrived

    def wait(self) -> None:
        """Wait until the chunk is mapped."""
        if self._mapping is not None:
            self._mapping.wait("Uploader")
            self._mapping = None


class StagingPool:
    """All chunks of an uploader, made when they are first needed.

    A chunk is marked as in use before anything else happens to it. The mark is removed only after the device has been
    asked to map the chunk again. So wherever an upload is interrupted, `reclaim` drops the chunks that it left; the
    garbage collector frees their memory once no thread packs into it and no submit reads it.
    """

    def __init__(self, device: Any, chunk_size: int, count: int) -> None:
        self.device, self.chunk_size, self.count = device, chunk_size, count
        self._chunks: list[Chunk] = []

    @property
    def nbytes(self) -> int:
        """Bytes of all chunks."""
        return sum(chunk.size for chunk in self._chunks)

    def reclaim(self) -> None:
        """Drop the chunks that are in use. Call it only while no upload runs."""
        self._chunks = [chunk for chunk in self._chunks if not chunk.in_use]

    def acquire(self, size: int) -> Chunk:
        """A mapped chunk of at least `size` bytes. Waits until one is free."""
        if backend.lost(self.device):
            raise BindingError.of("device-lost", function="Uploader", current="destroyed")
        if size > self.chunk_size:
            # For a record that is larger than a chunk; it is not reused.
            return Chunk(self.device, round_up(8, size))
        free = sorted((chunk for chunk in self._chunks if not chunk.in_use), key=lambda chunk: chunk.order)
        chunk = free[0] if free else None
        if chunk is None or (not chunk.is_ready and len(self._chunks) < self.count):
            chunk = Chunk(self.device, self.chunk_size)
            chunk.in_use = True
            self._chunks.append(chunk)
            return chunk
        chunk.in_use = True
        chunk.wait()
        return chunk

    def release(self, chunk: Chunk) -> None:
        """Make a chunk free again, after the submit that uses it."""
        if chunk.size == self.chunk_size:
            chunk.map_again()
            chunk.in_use = False

    def close(self) -> None:
        """Drop all chunks. The device frees their memory when it no longer needs it."""
        self._chunks = []
