"""Staging memory for uploads: chunks of mapped memory that records are packed straight into.

A chunk is a MAP_WRITE buffer of fixed size. While the device copies one chunk, the next is packed; each chunk is
mapped again, asynchronously, right after the submit that used it. Memory stays bounded whatever the batch.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import wgpu

from ..errors import BindingError
from ..layout import round_up
from . import backend

MIB = 1 << 20

# Chunk bytes and how many of them, by adapter type: where the device's memory is the host's, small chunks
# stay in the cache and bound memory; across a bus every submit costs, so fewer and larger ones win
# (docs/performance.md).
CHUNKS = {"DiscreteGPU": (64 * MIB, 2)}
DEFAULT_CHUNKS = (8 * MIB, 4)

_order = itertools.count()


class Chunk:
    """One staging buffer, and the one place where its memory is opened and closed."""

    def __init__(self, device: Any, size: int) -> None:
        usage = wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC
        self.size, self.device = size, device
        self.buffer = device.create_buffer(size=size, usage=usage, mapped_at_creation=True)
        self.memory: Any = None
        self.in_use = False
        # Chunks are used in the order in which the device is done with them.
        self.order = next(_order)
        self._aside: Any = None
        self._mapping: backend.Mapping | None = None

    def open(self, size: int) -> Any:
        """Writable memory of `size` bytes; the mapped chunk itself where wgpu-py hands it out."""
        self.memory = backend.mapped_memory(self.buffer, round_up(4, size))
        if self.memory is None:
            self.memory = self._aside = np.zeros(round_up(4, size), np.uint8)
        return self.memory

    def close(self) -> None:
        """Give the memory to the device: nothing may touch it from here on."""
        if self._aside is not None:
            self.buffer.write_mapped(self._aside, 0)
        else:
            self.memory.release()
        self.memory = self._aside = None
        self.buffer.unmap()

    def map_again(self) -> None:
        self._mapping = backend.Mapping(self.buffer, "WRITE")
        self.order = next(_order)

    @property
    def is_ready(self) -> bool:
        """Whether the chunk is mapped, so that `wait` returns at once."""
        return self._mapping is None or self._mapping.arrived

    def wait(self) -> None:
        if self._mapping is not None:
            self._mapping.wait("Uploader")
            self._mapping = None


class StagingPool:
    """All chunks of an uploader, in one list; made when first needed.

    A chunk is marked as in use before anything else happens to it, and that mark is taken off only when the device
    has been asked to map it again. So whatever stops an upload, and wherever, `reclaim` drops what it left
    unfinished; the garbage collector frees the memory once no thread packs into it and no submit reads it.
    """

    def __init__(self, device: Any, chunk_size: int, count: int) -> None:
        self.device, self.chunk_size, self.count = device, chunk_size, count
        self._chunks: list[Chunk] = []

    @property
    def nbytes(self) -> int:
        """Bytes of staging memory at the moment."""
        return sum(chunk.size for chunk in self._chunks)

    def reclaim(self) -> None:
        """Drop the chunks that are in use: to be called when no upload is under way."""
        self._chunks = [chunk for chunk in self._chunks if not chunk.in_use]

    def acquire(self, size: int) -> Chunk:
        """A mapped chunk of at least `size` bytes; waits until the device lets go of one."""
        if backend.lost(self.device):
            raise BindingError.of("device-lost", function="Uploader", current="destroyed")
        if size > self.chunk_size:
            # One record larger than a chunk has its own.
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
        """Take a chunk back after the submit that used it."""
        if chunk.size == self.chunk_size:
            chunk.map_again()
            chunk.in_use = False

    def close(self) -> None:
        """Drop all chunks; the device frees the memory when it is done with it."""
        self._chunks = []
