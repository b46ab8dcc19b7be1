"""How an Uploader's writes reach the device, after all arguments have been checked."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from .. import _binding, threads
from ..batches import Batch
from ..errors import BindingError
from ..layout import round_up
from ..memory_mapped import MappedColumns
from ..packing import columns_of, new_plan
from ..views.changes import SentBytes
from . import packer, readback
from .backend import BufferUsage, gpu_errors, refused, write_from
from .chunking import LINE, ChunkPlan, Span, chunk_plans
from .commands import BufferCopy, Data, Write, send, send_bytes
from .frames import Frame, destroy
from .packer import Packing
from .staging import CHUNKS, Chunk, StagingPool

# Up to this many bytes, wgpu's write_buffer from reused memory costs less than a map, a copy and a submit. Each of its
# calls costs as much as several copies (docs/performance.md).
SMALL_BYTES = 2 << 20
SMALL_COPIES = 8
# Staging memory of a discrete GPU is the device's own: stores cross the bus, which four threads saturate. Elsewhere it
# is the host's, and eight are enough (docs/performance.md).
MAX_WORKERS = {"DiscreteGPU": 4}
DEFAULT_MAX_WORKERS = 8
# Adapters with separate memory: a second buffer there takes no memory of the host.
SEPARATE_MEMORY = set(CHUNKS)

Progress = Callable[[int, int], object]


class _ProgressCount:
    """Counts the records that are done, for the caller's `progress`. Of two passes, each counts half."""

    def __init__(self, progress: Progress | None, records: int) -> None:
        self._progress, self.records, self._done, self.passes = progress, records, 0, 1

    def add(self, records: int) -> None:
        self._done += records
        if self._progress is not None:
            self._progress(self._done // self.passes, self.records)


class Transfers:
    """The staging memory of one Uploader, its open frame, and every way in which records reach a buffer.

    The caller has checked the buffer and the range of bytes. Hold `lock` to make several calls as one.

    >>> import wgpu
    >>> from gpustruct import u32
    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer(size=16, usage=wgpu.BufferUsage.COPY_DST)
    >>> Transfers(device, StagingPool(device, 4096, 2), None, 1 << 20).put(buffer, u32([1]), [])
    """

    def __init__(self, device: Any, pool: StagingPool, threads: int | None, small_bytes: int) -> None:
        # Held during an upload, and during a frame.
        self.lock = threading.RLock()
        self.device, self.pool, self.small_bytes = device, pool, small_bytes
        self._threads = threads
        self._max_workers = MAX_WORKERS.get(device.adapter.info.get("adapter_type", ""), DEFAULT_MAX_WORKERS)
        self._small = np.empty(small_bytes + 2 * SMALL_COPIES * LINE, np.uint8)
        self._write_small = write_from(device, self._small)
        self._encoder_chunks: list[Chunk] = []
        self._frame: Frame | None = None

    # Frames.

    @property
    def in_frame(self) -> bool:
        """Whether a frame is open. Hold `lock` while you use the answer."""
        return self._frame is not None

    @contextlib.contextmanager
    def frame(self) -> Generator[None]:
        """`Uploader.frame`."""
        with self.lock:
            if self._frame is not None:
                yield
                return
            self.pool.reclaim()
            frame = Frame(self.pool)
            # Set to None in both blocks: an interrupt may come just before the first assignment.
            try:
                try:
                    self._frame = frame
                    yield
                    frame.send()
                finally:
                    self._frame = None
                    frame.close()
            except gpu_errors() as error:
                raise refused(error, "frame") from None
            finally:
                self._frame = None
                self.pool.reclaim()

    def save_count(self, records: Any) -> None:
        """Inside a frame, remember the count of a RecordBuffer before its first write."""
        if self._frame is not None:
            self._frame.save_count(records)

    def on_drop(self, rollback: Callable[[], None]) -> None:
        """Call `rollback` if the open frame is dropped; outside a frame, do nothing."""
        if self._frame is not None:
            self._frame.on_drop(rollback)

    def destroy(self, buffer: Any) -> None:
        """Destroy a buffer that was replaced; inside a frame, at its end."""
        if self._frame is not None:
            self._frame.destroy_later(buffer)
        else:
            destroy(buffer)

    # Memory.

    @property
    def staging_bytes(self) -> int:
        """Bytes of staging memory that are allocated now."""
        return self.pool.nbytes + sum(chunk.size for chunk in self._encoder_chunks)

    def release_encoder_chunks(self) -> None:
        """Let go of the memory of all writes into encoders. They must have been submitted."""
        # Not destroyed: if an encoder was not submitted yet, its submit would end the process.
        with self.lock:
            self._encoder_chunks.clear()

    # Writes.

    def send(self, buffer: Any, writes: Sequence[Write], *, function: str = "write", encoder: Any = None) -> None:
        """`commands.send`; inside a frame, at its end."""
        with self.lock:
            if self._frame is None or encoder is not None:
                send(self.device, buffer, writes, function=function, encoder=encoder)
            else:
                self._frame.add(buffer, writes)

    def put_small(self, buffer: Any, sent: SentBytes, batch: Any, target: int, stride: int, room: int) -> int:
        """Write a small batch of whole words into at most `room` bytes, with the least overhead. Hold `lock`.

        Returns the number of records, or -1 if `put` must do it.
        """
        if self._frame is not None:
            return self._frame.pack_small(buffer, batch, target, stride, room)
        limit = min(room, self.small_bytes) + 1
        if _binding.pack_small(batch, self._small, limit, new_plan) is None:
            return -1
        records: int = batch.__run__.records
        if records:
            send_bytes(self._write_small, buffer, sent, target, records * stride)
        return records

    def put(
        self, buffer: Any, batch: Any, spans: Sequence[Span], *, encoder: Any = None, progress: Progress | None = None
    ) -> None:
        """Write ranges of a batch's records, each to the byte that its span names."""
        total = sum(span.size for span in spans)
        if not total:
            return
        count = _ProgressCount(progress, sum(span.stop - span.start for span in spans))
        with self.lock:
            try:
                if encoder is not None:
                    self._put_into_encoder(buffer, batch, spans, encoder)
                    count.add(count.records)
                elif self._frame is not None:
                    self._frame.pack(buffer, batch, spans, self._workers(total), self._fill_open_words)
                    count.add(count.records)
                else:
                    # Reclaims what an interrupted upload left. An upload that is running, whose `progress` made this
                    # call, keeps its chunks alive itself.
                    self.pool.reclaim()
                    if total > self.small_bytes or len(spans) > SMALL_COPIES:
                        self._put_through_staging(buffer, batch, spans, count)
                    else:
                        self._put_from_host(buffer, batch, spans)
                        count.add(count.records)
            except gpu_errors() as error:
                raise refused(error, "write") from None

    def _workers(self, total: int) -> int:
        workers = threads.choose(total, 1, self._threads)
        return min(workers, self._max_workers) if self._threads is None else workers

    def _put_into_encoder(self, buffer: Any, batch: Batch, spans: Sequence[Span], encoder: Any) -> None:
        (plan,) = chunk_plans(spans, sum(span.size + 2 * LINE for span in spans) + LINE)
        if plan.has_open_words:
            raise BindingError.of("encoder-words", stride=plan.pieces[0].part.stride)
        chunk = Chunk(self.device, round_up(8, plan.size))
        packing = Packing(batch, plan, self._workers(plan.size), packer.STORES)
        packing.begin(chunk.open(plan.size), chunk)
        packing.finish()
        chunk.close()
        self._encoder_chunks.append(chunk)
        send(self.device, buffer, _copies(plan, chunk.buffer), encoder=encoder)

    def _put_from_host(self, buffer: Any, batch: Batch, spans: Sequence[Span]) -> None:
        for plan in chunk_plans(spans, len(self._small)):
            packer.pack_now(batch, plan, self._small)
            self._fill_open_words(buffer, plan, self._small)
            # One slice for each copy: wgpu-py takes a size of 0 for "all the rest", and no copy is empty.
            words = [plan.words(copy) for copy in plan.copies]
            send(self.device, buffer, [Data(self._small[low : low + size], at, size) for low, at, size in words])

    def _put_through_staging(self, buffer: Any, batch: Batch, spans: Sequence[Span], count: _ProgressCount) -> None:
        pool, total = self.pool, sum(span.size for span in spans)
        size = pool.chunk_size
        # All chunks get about the same number of bytes, so that the last one is not nearly empty.
        limit = min(size, round_up(4096, total // -(-total // (size - 4096)) + 4096)) if size > 8192 else size
        plans, workers = list(chunk_plans(spans, limit)), self._workers(total)
        files = MappedColumns(batch, [span.part for span in spans], total)
        # Nothing is submitted before all values are known to fit. If the whole batch fits into the pool, it is packed
        # first. A file is read only once, so it goes into a second buffer first. Everything else is checked first.
        must_check = len(plans) > 1 and any(packer.may_fail(columns_of(batch, span.part)) for span in spans)
        waiting_chunks, second_buffer = 1, None
        if must_check and len(plans) <= pool.count:
            waiting_chunks = len(plans)
        elif must_check:
            second_buffer = self._second_buffer(buffer) if files else None
            if second_buffer is None:
                count.passes = 2
                packer.check_spans(batch, spans, workers, files, count.add)
        target = buffer if second_buffer is None else second_buffer
        waiting: deque[tuple[ChunkPlan, Chunk, Packing]] = deque()

        def submit_first() -> None:
            plan, chunk, packing = waiting[0]
            packing.finish()
            self._fill_open_words(buffer, plan, chunk.memory)
            chunk.close()
            send(self.device, target, _copies(plan, chunk.buffer))
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
                if len(waiting) > waiting_chunks:
                    submit_first()
            for _, _, packing in waiting:
                packing.finish()
            while waiting:
                submit_first()
        finally:
            for _, _, packing in waiting:
                packing.wait()
            pool.reclaim()
        if second_buffer is not None:
            words = [plan.words(copy) for plan in plans for copy in plan.copies]
            send(self.device, buffer, [BufferCopy(second_buffer, at, at, size) for _, at, size in words])

    def _second_buffer(self, buffer: Any) -> Any:
        """A buffer of the same size; None where it would take the host's memory, or the device has no memory left."""
        if self.device.adapter.info.get("adapter_type") not in SEPARATE_MEMORY:
            return None
        usage = BufferUsage.COPY_DST | BufferUsage.COPY_SRC
        try:
            return self.device.create_buffer(size=buffer.size, usage=usage)
        except gpu_errors():
            return None

    def _fill_open_words(
        self,
        buffer: Any,
        plan: ChunkPlan,
        memory: Any,
        after_writes: Callable[[Any, int, bytes], bytes] | None = None,
    ) -> None:
        """Where a copy of whole words covers bytes beside its records, put the buffer's present bytes there.

        `after_writes` applies the earlier writes of a frame to such a word.
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
        words = readback.read_words(self.device, buffer, [offset for offset, _, _ in edges])
        with memoryview(memory) as view:
            for (offset, half, at), word in zip(edges, words, strict=True):
                if after_writes is not None:
                    word = after_writes(buffer, offset, word)
                view[at : at + 2] = word[half : half + 2]


def _copies(plan: ChunkPlan, source: Any) -> list[BufferCopy]:
    return [BufferCopy(source, *plan.words(copy)) for copy in plan.copies]
