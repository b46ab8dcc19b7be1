"""A frame: writes that are packed one after the other, and submitted together or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _binding
from ..batches import Batch
from ..errors import BindingError
from ..layout import round_up
from ..packing import new_plan
from ..views import changes
from . import devices, packer
from .bindings import BoundRecords
from .chunking import LINE, Span, chunk_plans
from .commands import BufferCopy, Clear, Write, send_all
from .packer import Packing
from .staging import Chunk, StagingPool

# Records of fewer bytes are packed in one compiled call.
SMALL_BYTES = 1 << 17


class _Here(threading.local):
    """The frames that this thread is in."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []


_here = _Here()


def check_read(buffer: Any, function: str) -> None:
    """BindingError if a frame that this thread is in writes to `buffer`: the read would come before those writes.

    >>> check_read(None, "read")
    """
    for frame in _here.frames:
        if frame.writes_to(buffer):
            raise BindingError.of("frame-read", function=function)


def destroy(buffer: Any) -> None:
    """Destroy a buffer, unless an encoder that writes into it may be submitted later, which would end the process."""
    if not changes.sent_to(buffer).has_recorded:
        buffer.destroy()


class Frame:
    """The writes inside one `with uploader.frame()`, in staging memory that stays mapped until `finish`.

    A write is added once all of its records are packed, so one that fails leaves nothing here.
    """

    def __init__(self, pool: StagingPool) -> None:
        self._pool = pool
        self._chunks: list[Chunk] = []
        # The last chunk's memory as an array, and how much of it is taken.
        self._memory: Any = None
        self._used = 0
        self._orders: list[tuple[Any, list[Write]]] = []
        self._counts: dict[int, tuple[BoundRecords[Any], int]] = {}
        self._undo: list[Callable[[], None]] = []
        self._replaced: list[Any] = []
        _here.frames.append(self)

    def writes_to(self, buffer: Any) -> bool:
        """Whether a write to `buffer` waits here."""
        return any(target is buffer for target, _ in self._orders)

    def keep(self, records: Any) -> None:
        """Remember the count of a RecordBuffer before its first write, in case nothing is submitted."""
        if isinstance(records, BoundRecords) and id(records) not in self._counts:
            self._counts[id(records)] = records, records.count

    def undo(self, action: Callable[[], None]) -> None:
        """Call `action` if nothing is submitted, the last one first."""
        self._undo.append(action)

    def retire(self, buffer: Any) -> None:
        """`buffer`, which was replaced, is to be destroyed once everything is submitted."""
        self._replaced.append(buffer)

    def add(self, buffer: Any, writes: Sequence[Write]) -> None:
        """Put writes to one buffer behind all others."""
        if not writes:
            return
        if self._orders and self._orders[-1][0] is buffer:
            last, write = self._orders[-1][1][-1], writes[0]
            if len(writes) == 1 and isinstance(last, BufferCopy) and isinstance(write, BufferCopy):
                end = last._replace(source=last.source + last.size, target=last.target + last.size, size=write.size)
                if write == end:
                    # One copy of both: a command costs more than packing some records does.
                    self._orders[-1][1][-1] = last._replace(size=last.size + write.size)
                    return
        self._orders.append((buffer, list(writes)))

    def pack(
        self, buffer: Any, batch: Batch, spans: Sequence[Span], workers: int, keep_words: Callable[..., None]
    ) -> None:
        """Pack ranges of a batch's records; raise the first value that does not fit."""
        chunk = self._room(sum(span.size + 2 * LINE for span in spans))
        (plan,) = chunk_plans(spans, chunk.size, self._used)
        packing = Packing(batch, plan, workers, packer.STORES)
        try:
            packing.begin(chunk.memory, chunk)
            packing.finish()
        finally:
            packing.settle()
        keep_words(buffer, plan, chunk.memory, self.overlay)
        self.add(buffer, [BufferCopy(chunk.buffer, *plan.words(copy)) for copy in plan.copies])
        self._used = plan.size

    def pack_small(self, buffer: Any, batch: Any, target: int, stride: int, room: int) -> int:
        """Pack a batch of few usual records, whole words of them; how many, -1 if it must go by `pack`."""
        if not self._chunks:
            self._room(LINE)
        chunk, at = self._chunks[-1], round_up(LINE, self._used)
        limit = min(room, SMALL_BYTES, chunk.size - at) + 1
        if _binding.pack_small(batch, self._memory[at:], limit, new_plan) is None:
            return -1
        records: int = batch.__run__.records
        if records:
            self.add(buffer, [BufferCopy(chunk.buffer, at, target, records * stride)])
            self._used = at + records * stride
        return records

    def _room(self, size: int) -> Chunk:
        """The last chunk if `size` bytes are free in it, or a new one."""
        size = round_up(LINE, size) + LINE
        if not self._chunks or round_up(LINE, self._used) + size > self._chunks[-1].size:
            pool = self._pool
            if size <= pool.chunk_size and len(self._chunks) < pool.count:
                chunk = pool.acquire(size)
            else:
                chunk = Chunk(pool.device, max(size, pool.chunk_size))
            memory = chunk.open(chunk.size)
            self._memory, self._used = np.frombuffer(memory, np.uint8), 0
            self._chunks.append(chunk)
        return self._chunks[-1]

    def overlay(self, buffer: Any, at: int, word: bytes) -> bytes:
        """The word at byte `at` of `buffer` as the writes here leave it, if it is `word` before them."""
        found = bytearray(word)
        memories = {id(chunk.buffer): chunk.memory for chunk in self._chunks}
        for write in (write for target, writes in self._orders if target is buffer for write in writes):
            low, high = max(write.target, at), min(write.target + write.size, at + 4)
            if low >= high:
                continue
            if isinstance(write, Clear):
                found[low - at : high - at] = bytes(high - low)
            elif isinstance(write, BufferCopy) and id(write.buffer) in memories:
                source = write.source + low - write.target
                found[low - at : high - at] = bytes(memories[id(write.buffer)][source : source + high - low])
            else:
                raise BindingError.of("frame-words")
        return bytes(found)

    def finish(self) -> None:
        """Send everything in one submit; afterwards `end` has nothing to undo."""
        if not self._orders:
            return
        device = self._pool.device
        for buffer in {id(buffer): buffer for buffer, _ in self._orders}.values():
            # Someone may have mapped it since.
            devices.check_buffer(device, buffer, "COPY_DST", "frame")
        self._memory = None
        for chunk in self._chunks:
            chunk.close()
        send_all(device, self._orders, function="frame")
        self._counts, self._undo = {}, []
        for chunk in self._chunks:
            self._pool.release(chunk)
        for buffer in self._replaced:
            destroy(buffer)

    def end(self) -> None:
        """Forget what was not submitted; RecordBuffers are what they were before their first write here."""
        self._orders, self._memory = [], None
        for action in reversed(self._undo):
            action()
        for records, count in self._counts.values():
            records.count = count
        if self in _here.frames:
            _here.frames.remove(self)
