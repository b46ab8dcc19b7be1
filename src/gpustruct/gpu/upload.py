"""Uploader: batches packed straight into staging memory, chunk by chunk."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import wgpu

from .. import threads
from ..batches import Batch
from ..errors import BindingError
from ..layout import round_up
from ..packing import bound_of, columns_of
from . import devices, packer, readback
from .backend import refused
from .bindings import count_written, wgpu_buffer
from .chunking import LINE, ChunkPlan, Span, chunk_plans, spans_of
from .commands import BufferCopy, Data, send
from .packer import Packing
from .staging import CHUNKS, DEFAULT_CHUNKS, Chunk, StagingPool
from .streaming import Files

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


class Uploader:
    """Packs batches straight into staging memory that the device copies from.

    `device` is a wgpu device (or its queue). `chunk_size`, in bytes, and `chunks`, their number, bound the
    staging memory; left out they suit the adapter. Up to `small_bytes` a batch goes through wgpu's own
    ``write_buffer``, from memory that is used again. `threads` packs with so many threads, None chooses by
    size, up to 8. An uploader may be used from several threads: uploads take turns; hold `turn`, a lock, for several
    that must not be parted.

    Every upload is submitted before `write` returns, so the queue's order is the order of the calls:
    behind what you submitted before, ahead of what you submit later.

    >>> import numpy as np, wgpu
    >>> from gpustruct import vec3f
    >>> from gpustruct.gpu import Uploader, read_buffer
    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer(size=1600, usage=wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC)
    >>> Uploader(device).write(buffer, vec3f(np.ones((100, 3))))
    >>> float(np.asarray(read_buffer(device, buffer, vec3f)).sum())
    300.0
    """

    def __init__(
        self,
        device: Any,
        *,
        chunk_size: int | None = None,
        chunks: int | None = None,
        threads: int | None = None,
        small_bytes: int | None = None,
    ) -> None:
        self._device = devices.device_of(device, "Uploader")
        size, count = CHUNKS.get(self._device.adapter.info.get("adapter_type", ""), DEFAULT_CHUNKS)
        size = devices.whole("chunk_size", chunk_size, 256, 1 << 30, size, "Uploader")
        count = devices.whole("chunks", chunks, 2, 256, count, "Uploader")
        self._pool = StagingPool(self._device, round_up(LINE, size), count)
        self._threads = None if threads is None else devices.whole("threads", threads, 1, 1024, 1, "Uploader")
        self.turn = threading.RLock()
        self._small_bytes = devices.whole("small_bytes", small_bytes, 0, 1 << 30, SMALL_BYTES, "Uploader")
        self._small = np.empty(self._small_bytes + 2 * SMALL_COPIES * LINE, np.uint8)
        self._lent: list[Chunk] = []

    @classmethod
    def of(cls, device: Any) -> Uploader:
        """The uploader that `write_buffer` and every RecordBuffer of this device share.

        >>> import wgpu
        >>> device = wgpu.utils.get_default_device()
        >>> Uploader.of(device) is Uploader.of(device)
        True
        """
        device = devices.device_of(device, "Uploader.of")
        # Kept on the device itself, so that it goes when the device goes.
        held = vars(device)
        return held.get("_gpustruct_uploader") or held.setdefault("_gpustruct_uploader", cls(device))

    @property
    def device(self) -> Any:
        """The wgpu device that uploads go to."""
        return self._device

    def __repr__(self) -> str:
        pool = self._pool
        most = f"{self.staging_bytes} bytes of staging memory, at most {pool.count} chunks of {pool.chunk_size}"
        return f"<Uploader to {self._device.adapter.info['device']}: {most}; without it up to {self._small_bytes}>"

    @property
    def staging_bytes(self) -> int:
        """Bytes of staging memory held at the moment."""
        return self._pool.nbytes + sum(chunk.size for chunk in self._lent)

    def write(
        self, buffer: Any, batch: Any, offset: int = 0, *, encoder: Any = None, progress: Progress | None = None
    ) -> None:
        """Pack a batch and copy its records into `buffer`, a wgpu buffer or a RecordBuffer, from byte `offset` on.

        All values are checked before the first byte is copied: a buffer is never half-written. A copy is a
        multiple of 4 bytes; where the records are not (an odd number of 2-byte or 6-byte ones), the bytes
        beside them are read first and kept. The buffer may end where the last value does: 12 bytes hold one vec3f.
        With `encoder` the copies are recorded there, in staging memory of their own that is held until `recall()`,
        to be called when you have submitted it. `progress` is
        called with (records done, records in all) after each chunk; where all values have to be checked first, that
        is the first half of it. Memory-mapped columns (numpy.memmap) are released once packed, so that they may be
        larger than memory.

        After any exception, Ctrl-C too, the uploader works as before. An interrupted write leaves each record as
        it was or as it was to be, and all of them where they fit into one chunk side by side.

        Raises SourceError if a value does not fit; BindingError for what is no buffer of this device, lacks
        COPY_DST, is mapped, destroyed or too small, if `offset` is no multiple of 4, or if the device is lost.
        WebGPU §13.4 (buffer copies).

        >>> import wgpu
        >>> from gpustruct import u32
        >>> device = wgpu.utils.get_default_device()
        >>> buffer = device.create_buffer(size=16, usage=wgpu.BufferUsage.COPY_DST)
        >>> uploader = Uploader(device)
        >>> encoder = device.create_command_encoder()
        >>> uploader.write(buffer, u32([1, 2, 3, 4]), encoder=encoder)
        >>> device.queue.submit([encoder.finish()])
        >>> uploader.recall()
        """
        bound = bound_of(batch, "write")
        records, buffer = buffer, wgpu_buffer(buffer)
        devices.check_buffer(self._device, buffer, "COPY_DST", "write")
        offset = devices.check_offset(offset, "write")
        devices.check_room(buffer, offset, bound.extent, "write")
        self.put(buffer, batch, spans_of(bound, offset, buffer.size), encoder=encoder, progress=progress)
        count_written(records, offset + bound.extent)

    def put(
        self, buffer: Any, batch: Any, spans: Sequence[Span], *, encoder: Any = None, progress: Progress | None = None
    ) -> None:
        """`write` for ranges of a batch's records, each to its own place; the buffer has been checked.

        >>> import wgpu
        >>> from gpustruct import u32
        >>> device = wgpu.utils.get_default_device()
        >>> buffer = device.create_buffer(size=16, usage=wgpu.BufferUsage.COPY_DST)
        >>> Uploader(device).put(buffer, u32([1]), [])
        """
        total = sum(span.size for span in spans)
        if not total:
            return
        count = _Count(progress, sum(span.stop - span.start for span in spans))
        with self.turn:
            try:
                if encoder is not None:
                    self._record(buffer, batch, spans, encoder)
                    count.add(count.records)
                else:
                    # What an interrupted upload left in use. One under way, whose `progress` uploads too, keeps its own.
                    self._pool.reclaim()
                    self._upload(buffer, batch, spans, self._pool, self._small, count)
            except wgpu.GPUError as error:
                raise refused(error, "write") from None

    def recall(self) -> None:
        """Take back the staging memory of every `write(..., encoder=...)` whose encoder has been submitted.

        >>> import wgpu
        >>> Uploader(wgpu.utils.get_default_device()).recall()
        """
        with self.turn:
            # Not destroyed: an encoder that was not submitted yet would end the process.
            self._lent.clear()

    def close(self) -> None:
        """Give all staging memory back; the uploader makes new chunks if it is used again.

        >>> import wgpu
        >>> uploader = Uploader(wgpu.utils.get_default_device())
        >>> uploader.close()
        >>> uploader.staging_bytes
        0
        """
        with self.turn:
            self.recall()
            self._pool.close()

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
        plans, files, workers = list(chunk_plans(spans, limit)), Files(batch, spans), self._workers(total)
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

    def _keep_words(self, buffer: Any, plan: ChunkPlan, memory: Any) -> None:
        """Put the buffer's own bytes where a copy must reach beyond its records to whole words."""
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
            for (_, half, at), word in zip(edges, words, strict=True):
                view[at : at + 2] = word[half : half + 2]


def _copies(plan: ChunkPlan, source: Any) -> list[BufferCopy]:
    return [BufferCopy(source, *plan.words(copy)) for copy in plan.copies]
