"""How an Uploader's writes reach the device, once everything about them has been checked."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import wgpu

from .. import _binding, threads
from ..batches import Batch
from ..errors import BindingError
from ..layout import round_up
from ..memory_mapped import MappedColumns
from ..packing import columns_of, new_plan
from ..views.changes import SentBytes
from . import packer, readback
from .backend import refused
from .chunking import LINE, ChunkPlan, Span, chunk_plans
from .commands import BufferCopy, Data, Write, send, send_bytes
from .frames import Frame, destroy
from .packer import Packing
from .staging import CHUNKS, Chunk, StagingPool

# Below this many bytes wgpu's own write_buffer, from reused memory, costs less than a map, a copy and a
# submit; each of its calls costs as much as several copies (docs/performance.md).
SMALL_BYTES = 2 << 20
SMALL_COPIES = 8
# With so many threads the bus is full: 16 were no faster (docs/performance.md).
MOST_WORKERS = 8
# Adapters whose memory is not the host's: a second buffer there costs the host nothing.
OWN_MEMORY = set(CHUNKS)

Progress = Callable[[int, int], object]


class _Count:
    """Records done, told to the caller; with two passes, each counts half."""

    def __init__(self, progress: Progress | None, records: int) -> None:
        self._progress, self.records, self._done, self.passes = progress, records, 0, 1

    def add(self, records: int) -> None:
        self._done += records
        if self._progress is not None:
            self._progress(self._done // self.passes, self.records)


class Transfers:
    """The staging memory of an Uploader, the frame that is open, and each way in which records go up.

    >>> import wgpu
    >>> from gpustruct import u32
    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer(size=16, usage=wgpu.BufferUsage.COPY_DST)
    >>> Transfers(device, StagingPool(device, 4096, 2), None, 1 << 20).put(buffer, u32([1]), [])
    """

    def __init__(self, device: Any, pool: StagingPool, threads: int | None, small_bytes: int) -> None:
        # Held during an upload, and during a frame.
        self.turn = threading.RLock()
        self._device, self._pool, self._threads, self._small_bytes = device, pool, threads, small_bytes
        self._small = np.empty(small_bytes + 2 * SMALL_COPIES * LINE, np.uint8)
        self._small_memory = self._small.data
        self._lent: list[Chunk] = []
        self._frame: Frame | None = None

    def keep(self, records: Any) -> None:
        """Remember, inside a frame, the count of a RecordBuffer before its first write."""
        if self._frame is not None:
            self._frame.keep(records)

    @property
    def open_frame(self) -> Frame | None:
        """The frame that is open; hold `turn` while you ask."""
        return self._frame

    def send(self, buffer: Any, writes: Sequence[Write], *, function: str = "write", encoder: Any = None) -> None:
        """`commands.send`, inside a frame at its end."""
        with self.turn:
            if self._frame is None or encoder is not None:
                send(self._device, buffer, writes, function=function, encoder=encoder)
            else:
                self._frame.add(buffer, writes)

    def put_small(self, buffer: Any, known: SentBytes, batch: Any, target: int, stride: int, room: int) -> int:
        """Write a batch of few usual records, whole words of at most `room` bytes; how many, -1 where `put` must."""
        with self.turn:
            if self._frame is not None:
                return self._frame.pack_small(buffer, batch, target, stride, room)
            limit = min(room, self._small_bytes) + 1
            if _binding.pack_small(batch, self._small, limit, new_plan) is None:
                return -1
            records: int = batch.__run__.records
            if records:
                send_bytes(self._device, buffer, known, self._small_memory, target, records * stride)
            return records

    def undo(self, action: Callable[[], None]) -> None:
        """Call `action` if the frame that is open is dropped; nothing outside a frame."""
        if self._frame is not None:
            self._frame.undo(action)

    def retire(self, buffer: Any) -> None:
        """Destroy a buffer that was replaced, inside a frame at its end."""
        if self._frame is not None:
            self._frame.retire(buffer)
        else:
            destroy(buffer)

    def put(
        self, buffer: Any, batch: Any, spans: Sequence[Span], *, encoder: Any = None, progress: Progress | None = None
    ) -> None:
        """`write` for ranges of a batch's records, each to its own place; the buffer has been checked."""
        total = sum(span.size for span in spans)
        if not total:
            return
        count = _Count(progress, sum(span.stop - span.start for span in spans))
        with self.turn:
            try:
                if encoder is not None:
                    self._record(buffer, batch, spans, encoder)
                    count.add(count.records)
                elif self._frame is not None:
                    self._frame.pack(buffer, batch, spans, self._workers(total), self._keep_words)
                    count.add(count.records)
                else:
                    # What an interrupted upload left in use. One under way, whose `progress` uploads too, keeps its own.
                    self._pool.reclaim()
                    self._upload(buffer, batch, spans, self._pool, self._small, count)
            except wgpu.GPUError as error:
                raise refused(error, "write") from None

    def _workers(self, total: int) -> int:
        workers = threads.choose(total, 1, self._threads)
        return min(workers, MOST_WORKERS) if self._threads is None else workers

    def _record(self, buffer: Any, batch: Batch, spans: Sequence[Span], encoder: Any) -> None:
        (plan,) = chunk_plans(spans, sum(span.size + 2 * LINE for span in spans) + LINE)
        if plan.has_open_words:
            raise BindingError.of("encoder-words", stride=plan.pieces[0].part.stride)
        chunk = Chunk(self._device, round_up(8, plan.size))
        packing = Packing(batch, plan, self._workers(plan.size), packer.STORES)
        packing.begin(chunk.open(plan.size), chunk)
        packing.finish()
        chunk.close()
        self._lent.append(chunk)
        send(self._device, buffer, _copies(plan, chunk.buffer), encoder=encoder)

    def _upload(
        self, buffer: Any, batch: Batch, spans: Sequence[Span], pool: StagingPool, small: np.ndarray, count: _Count
    ) -> None:
        total = sum(span.size for span in spans)
        if total > self._small_bytes or len(spans) > SMALL_COPIES:
            self._stream(buffer, batch, spans, pool, count)
            return
        for plan in chunk_plans(spans, len(small)):
            packer.pack_now(batch, plan, small)
            self._keep_words(buffer, plan, small)
            # A slice for each: wgpu-py takes a size of 0 for everything, and there is no empty copy.
            words = [plan.words(copy) for copy in plan.copies]
            send(self._device, buffer, [Data(small[low : low + size], at, size) for low, at, size in words])
        count.add(count.records)

    def _stream(self, buffer: Any, batch: Batch, spans: Sequence[Span], pool: StagingPool, count: _Count) -> None:
        size, total = pool.chunk_size, sum(span.size for span in spans)
        # Chunks are filled alike: the last is not a stub.
        limit = min(size, round_up(4096, total // -(-total // (size - 4096)) + 4096)) if size > 8192 else size
        plans, workers = list(chunk_plans(spans, limit)), self._workers(total)
        files = MappedColumns(batch, [span.part for span in spans], total)
        # Nothing is submitted before every value is known to fit. Where all of it fits into the pool it is packed
        # first; a file is read once and goes by way of a second buffer; anything else is checked first.
        doubtful = len(plans) > 1 and any(packer.may_fail(columns_of(batch, span.part)) for span in spans)
        held, aside = 1, None
        if doubtful and len(plans) <= pool.count:
            held = len(plans)
        elif doubtful:
            aside = self._aside(buffer) if files else None
            if aside is None:
                count.passes = 2
                packer.check_spans(batch, spans, workers, files, count.add)
        target = buffer if aside is None else aside
        waiting: deque[tuple[ChunkPlan, Chunk, Packing]] = deque()

        def submit() -> None:
            plan, chunk, packing = waiting[0]
            packing.finish()
            self._keep_words(buffer, plan, chunk.memory)
            chunk.close()
            send(self._device, target, _copies(plan, chunk.buffer))
            pool.release(chunk)
            waiting.popleft()
            for piece in plan.pieces:
                files.release(piece.part, piece.start, piece.stop)
            count.add(sum(piece.stop - piece.start for piece in plan.pieces))

        try:
            for plan in plans:
                packing = Packing(batch, plan, workers, packer.STORES)
                chunk = pool.acquire(round_up(4, plan.size))
                waiting.append((plan, chunk, packing))
                packing.begin(chunk.open(plan.size), chunk)
                if len(waiting) > held:
                    submit()
            for _, _, packing in waiting:
                packing.finish()
            while waiting:
                submit()
        finally:
            for _, _, packing in waiting:
                packing.settle()
            pool.reclaim()
        if aside is not None:
            words = [plan.words(copy) for plan in plans for copy in plan.copies]
            send(self._device, buffer, [BufferCopy(aside, at, at, size) for _, at, size in words])

    def _aside(self, buffer: Any) -> Any:
        """A second buffer of the size of the first; None where it would cost the host's memory, or there is no room."""
        if self._device.adapter.info.get("adapter_type") not in OWN_MEMORY:
            return None
        usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC
        try:
            return self._device.create_buffer(size=buffer.size, usage=usage)
        except wgpu.GPUError:
            return None

    def _keep_words(
        self, buffer: Any, plan: ChunkPlan, memory: Any, overlay: Callable[[Any, int, bytes], bytes] | None = None
    ) -> None:
        """Put the buffer's own bytes where a copy must reach beyond its records to whole words.

        `overlay` makes of the word at a byte what it will be when the copy is carried out.
        """
        if not plan.has_open_words:
            return
        edges: list[tuple[int, int, int]] = []
        for copy in plan.copies:
            end = copy.target + copy.size
            if copy.target % 4:
                edges.append((copy.target // 4 * 4, 0, copy.source - 2))
            if end % 4:
                edges.append((end // 4 * 4, 2, copy.source + copy.size))
        words = readback.read_words(self._device, buffer, [word for word, _, _ in edges])
        with memoryview(memory) as view:
            for (place, half, at), word in zip(edges, words, strict=True):
                if overlay is not None:
                    word = overlay(buffer, place, word)
                view[at : at + 2] = word[half : half + 2]


def _copies(plan: ChunkPlan, source: Any) -> list[BufferCopy]:
    return [BufferCopy(source, *plan.words(copy)) for copy in plan.copies]
