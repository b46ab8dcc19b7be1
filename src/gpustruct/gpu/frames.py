"""A frame: writes that are packed as they are called, and submitted together or not at all."""

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
from .bindings import BindableRecords
from .chunking import LINE, Span, chunk_plans
from .commands import BufferCopy, Clear, Write, send_all
from .packer import Packing
from .staging import Chunk, StagingPool

# Records of fewer bytes are packed in one compiled call.
SMALL_WRITE = 1 << 17


class _OpenFrames(threading.local):
    """The frames that this thread has open."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []


_open = _OpenFrames()


def check_read(buffer: Any, function: str) -> None:
    """BindingError if a frame that this thread has open writes to `buffer`: the read would run before those writes.

    >>> check_read(None, "read")
    """
    for frame in _open.frames:
        if frame.writes_to(buffer):
            raise BindingError.of("frame-read", function=function)


def destroy(buffer: Any) -> None:
    """Destroy a buffer, unless an encoder that writes into it may still be submitted: that would end the process."""
    if not changes.sent_to(buffer).has_recorded:
        buffer.destroy()


class Frame:
    """The writes inside one `with uploader.frame()`, in staging memory that stays mapped until `send`.

    A write is added after all of its records are packed, so a write that fails leaves nothing here.
    """

    def __init__(self, pool: StagingPool) -> None:
        self._pool = pool
        self._chunks: list[Chunk] = []
        # The last chunk's memory as an array, and how many of its bytes are used.
        self._memory: Any = None
        self._used = 0
        self._writes: list[tuple[Any, list[Write]]] = []
        self._counts: dict[int, tuple[BindableRecords[Any], int]] = {}
        self._rollbacks: list[Callable[[], None]] = []
        self._replaced: list[Any] = []
        _open.frames.append(self)

    def writes_to(self, buffer: Any) -> bool:
        """Whether the frame has a write to `buffer`."""
        return any(target is buffer for target, _ in self._writes)

    def save_count(self, records: Any) -> None:
        """Remember the count of a RecordBuffer before its first write, in case the frame is dropped."""
        if isinstance(records, BindableRecords) and id(records) not in self._counts:
            self._counts[id(records)] = records, records.count

    def on_drop(self, rollback: Callable[[], None]) -> None:
        """Call `rollback` if the frame is dropped. The last one added is called first."""
        self._rollbacks.append(rollback)

    def destroy_later(self, buffer: Any) -> None:
        """Destroy `buffer` after everything is submitted."""
        self._replaced.append(buffer)

    def add(self, buffer: Any, writes: Sequence[Write]) -> None:
        """Add writes to one buffer, after all others."""
        if not writes:
            return
        if self._writes and self._writes[-1][0] is buffer:
            last, write = self._writes[-1][1][-1], writes[0]
            if len(writes) == 1 and isinstance(last, BufferCopy) and isinstance(write, BufferCopy):
                end = last._replace(source=last.source + last.size, target=last.target + last.size, size=write.size)
                if write == end:
                    # One copy for both: each command costs more than packing a few records.
                    self._writes[-1][1][-1] = last._replace(size=last.size + write.size)
                    return
        self._writes.append((buffer, list(writes)))

    def pack(
        self, buffer: Any, batch: Batch, spans: Sequence[Span], workers: int, fill_open_words: Callable[..., None]
    ) -> None:
        """Pack ranges of a batch's records. Raises SourceError for the first value that does not fit."""
        chunk = self._chunk_with(sum(span.size + 2 * LINE for span in spans))
        (plan,) = chunk_plans(spans, chunk.size, self._used)
        packing = Packing(batch, plan, workers, packer.STORES)
        try:
            packing.begin(chunk.memory, chunk)
            packing.finish()
        finally:
            packing.wait()
        fill_open_words(buffer, plan, chunk.memory, self.after_writes)
        self.add(buffer, [BufferCopy(chunk.buffer, *plan.words(copy)) for copy in plan.copies])
        self._used = plan.size

    def pack_small(self, buffer: Any, batch: Any, target: int, stride: int, room: int) -> int:
        """Pack a small batch of whole words. Returns the number of records, or -1 if `pack` must do it."""
        if not self._chunks:
            self._chunk_with(LINE)
        chunk, at = self._chunks[-1], round_up(LINE, self._used)
        limit = min(room, SMALL_WRITE, chunk.size - at) + 1
        if _binding.pack_small(batch, self._memory[at:], limit, new_plan) is None:
            return -1
        records: int = batch.__run__.records
        if records:
            self.add(buffer, [BufferCopy(chunk.buffer, at, target, records * stride)])
            self._used = at + records * stride
        return records

    def _chunk_with(self, size: int) -> Chunk:
        """The last chunk if it has `size` free bytes, otherwise a new one."""
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

    def after_writes(self, buffer: Any, at: int, word: bytes) -> bytes:
        """What `word`, the 4 bytes at byte `at` of `buffer`, becomes through the writes of this frame."""
        found = bytearray(word)
        memories = {id(chunk.buffer): chunk.memory for chunk in self._chunks}
        for write in (write for target, writes in self._writes if target is buffer for write in writes):
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

    def send(self) -> None:
        """Send everything in one submit. After that, `close` rolls nothing back."""
        if not self._writes:
            return
        device = self._pool.device
        for buffer in {id(buffer): buffer for buffer, _ in self._writes}.values():
            # The caller may have mapped it since the write.
            devices.check_buffer(device, buffer, "COPY_DST", "frame")
        self._memory = None
        for chunk in self._chunks:
            chunk.close()
        send_all(device, self._writes, function="frame")
        self._counts, self._rollbacks = {}, []
        for chunk in self._chunks:
            self._pool.release(chunk)
        for buffer in self._replaced:
            destroy(buffer)

    def close(self) -> None:
        """Drop what was not submitted. Each RecordBuffer is again as it was before its first write in this frame."""
        self._writes, self._memory = [], None
        for rollback in reversed(self._rollbacks):
            rollback()
        for records, count in self._counts.values():
            records.count = count
        if self in _open.frames:
            _open.frames.remove(self)
