"""Uploader: batches packed straight into staging memory, chunk by chunk."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import wgpu

from .. import _kernel, threads
from ..batches import Batch
from ..columns import Columns
from ..errors import BindingError
from ..layout import round_up
from ..packing import Part, bound_of, columns_of, fault
from ..views import forget
from . import devices, readback, streaming
from .bindings import count_written, wgpu_buffer
from .chunking import LINE, ChunkPlan, Piece, Span, chunk_plans, spans_of
from .staging import CHUNKS, DEFAULT_CHUNKS, Chunk, Ring, refused

# Below this many bytes wgpu's own write_buffer, from reused memory, costs less than a map, a copy and a
# submit; each of its calls costs as much as several copies (docs/performance.md).
SMALL_BYTES = 2 << 20
SMALL_COPIES = 8
# With so many threads the bus is full: 16 were no faster (docs/performance.md).
MOST_WORKERS = 8

Progress = Callable[[int, int], object]


class _Packing:
    """The packing of one plan: on its way in other threads, or done."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.running: list[tuple[Part, Any]] = []
        self.done: list[tuple[Part, tuple[int, int]]] = []

    def begin(self, plan: ChunkPlan, memory: Any, workers: int, mode: int, owner: Any = None) -> _Packing:
        """Start packing into `memory`; `owner`, whose memory it is, lives until the last thread is done."""
        for piece in plan.pieces:
            part, stride = piece.part, piece.part.stride
            if not part.streamable and stride > part.run.size:
                _kernel.zero(memory, piece.at, 0, (piece.stop - piece.start) * stride, 1)
            chosen = mode if part.streamable else _kernel.PLAIN

            def work(piece: Piece = piece, mode: int = chosen, _owner: Any = owner) -> tuple[int, int]:
                run, at, step = piece.part.run, piece.at, piece.part.stride
                result: tuple[int, int] = run.scatter(memory, at, step, piece.start, piece.stop, mode, workers)
                return result

            if workers == 1:
                self.done.append((part, work()))
            else:
                self.running.append((part, threads.begin(work)))
        return self

    def finish(self) -> None:
        """Wait for the threads; raise the first value that does not fit."""
        self.settle()
        for part, (record, leaf) in self.done:
            if record >= 0:
                raise fault(self.batch, part, record, leaf)

    def settle(self) -> None:
        while self.running:
            part, future = self.running.pop(0)
            self.done.append((part, future.result()))


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
        self._ring = Ring(self._device, round_up(LINE, size), count)
        self._threads = None if threads is None else devices.whole("threads", threads, 1, 1024, 1, "Uploader")
        self.turn = threading.RLock()
        self.companions: dict[str, Any] = {}
        self._small_bytes = devices.whole("small_bytes", small_bytes, 0, 1 << 30, SMALL_BYTES, "Uploader")
        self._small = np.empty(self._small_bytes + 2 * SMALL_COPIES * LINE, np.uint8)
        self._lent: list[Chunk] = []
        self._mode = _kernel.STREAM

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
        ring = self._ring
        most = f"{self.staging_bytes} bytes of staging memory, at most {ring.count} chunks of {ring.chunk_size}"
        return f"<Uploader to {self._device.adapter.info['device']}: {most}; without it up to {self._small_bytes}>"

    @property
    def staging_bytes(self) -> int:
        """Bytes of staging memory held at the moment."""
        return self._ring.made * self._ring.chunk_size + sum(chunk.size for chunk in self._lent)

    def write(
        self, buffer: Any, batch: Any, offset: int = 0, *, encoder: Any = None, progress: Progress | None = None
    ) -> None:
        """Pack a batch and copy its records into `buffer`, a wgpu buffer or a RecordBuffer, from byte `offset` on.

        All values are checked before the first byte is copied: a buffer is never half-written. A copy is a
        multiple of 4 bytes; where the records are not (an odd number of 2-byte or 6-byte ones), the bytes
        beside them are read first and kept. The buffer may end where the last value does: 12 bytes hold one vec3f. With `encoder` the copies are recorded there, in staging memory
        of their own that is held until `recall()`, to be called when you have submitted it. `progress` is
        called with (records done, records in all) behind each chunk. Columns that are maps of files
        (numpy.memmap) are let go behind the packing, so that they may be larger than memory.

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
        # A view may have been sent there: its bytes are no longer what the buffer holds.
        forget(buffer, recorded=encoder is not None)
        with self.turn:
            try:
                if encoder is not None:
                    self._record(buffer, batch, spans, encoder)
                elif total <= self._small_bytes and len(spans) <= SMALL_COPIES:
                    self._write_small(buffer, batch, spans)
                else:
                    self._stream(buffer, batch, spans, total, progress)
                    return
            except wgpu.GPUError as error:
                raise refused(error, "write") from None
        if progress is not None:
            records = sum(span.stop - span.start for span in spans)
            progress(records, records)

    def recall(self) -> None:
        """Take back the staging memory of every `write(..., encoder=...)` whose encoder has been submitted.

        >>> import wgpu
        >>> Uploader(wgpu.utils.get_default_device()).recall()
        """
        with self.turn:
            for chunk in self._lent:
                # The device frees the memory when its copies are done.
                chunk.buffer.destroy()
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
            self._ring.close()

    def _write_small(self, buffer: Any, batch: Batch, spans: Sequence[Span]) -> None:
        for plan in chunk_plans(spans, len(self._small)):
            memory = self._small
            _Packing(batch).begin(plan, memory, 1, _kernel.PLAIN).finish()
            self._keep_words(buffer, plan, memory)
            for copy in plan.copies:
                low, high = copy.source // 4 * 4, round_up(4, copy.source + copy.size)
                # A size of 0 would mean everything; there is no empty copy.
                self._device.queue.write_buffer(buffer, copy.target // 4 * 4, memory, low, high - low)

    def _record(self, buffer: Any, batch: Batch, spans: Sequence[Span], encoder: Any) -> None:
        (plan,) = chunk_plans(spans, sum(span.size + 2 * LINE for span in spans) + LINE)
        if self._has_open_words(plan):
            raise BindingError.of("encoder-words", stride=plan.pieces[0].part.stride)
        chunk, packing = Chunk(self._device, round_up(8, plan.size)), _Packing(batch)
        try:
            packing.begin(plan, chunk.open(plan.size), self._workers(plan.size), self._mode, chunk).finish()
        except BaseException:
            packing.settle()
            chunk.buffer.destroy()
            raise
        chunk.close()
        self._lent.append(chunk)
        for copy in plan.copies:
            encoder.copy_buffer_to_buffer(chunk.buffer, copy.source, buffer, copy.target, copy.size)

    def _workers(self, total: int) -> int:
        workers = threads.choose(total, 1, self._threads)
        return min(workers, MOST_WORKERS) if self._threads is None else workers

    def _stream(self, buffer: Any, batch: Batch, spans: Sequence[Span], total: int, progress: Progress | None) -> None:
        size = self._ring.chunk_size
        # Fills of one size: the last is not a stub.
        limit = min(size, round_up(4096, total // -(-total // (size - 4096)) + 4096)) if size > 8192 else size
        work = list(chunk_plans(spans, limit))
        workers = self._workers(total)
        # Nothing is submitted before every value is known to fit: where all of it fits into the ring it is
        # packed first, otherwise checked first.
        doubtful = len(work) > 1 and any(may_fail(columns_of(batch, span.part)) for span in spans)
        held = len(work) if doubtful and len(work) <= self._ring.count else 1
        if doubtful and held == 1:
            self._check(batch, spans, workers)
        files: dict[int, Any] = {}
        if total >= streaming.LARGE_BYTES:
            files = {id(span.part): streaming.file_columns(columns_of(batch, span.part)) for span in spans}
        records, done = sum(span.stop - span.start for span in spans), 0
        waiting: deque[tuple[ChunkPlan, Chunk, _Packing]] = deque()
        try:
            for plan in work:
                packing = _Packing(batch)
                chunk = self._ring.acquire(round_up(4, plan.size))
                waiting.append((plan, chunk, packing))
                packing.begin(plan, chunk.open(plan.size), workers, self._mode, chunk)
                if len(waiting) > held:
                    done += self._submit(buffer, waiting, files)
                    if progress is not None:
                        progress(done, records)
            for _, _, packing in waiting:
                packing.finish()
            while waiting:
                done += self._submit(buffer, waiting, files)
        finally:
            while waiting:
                _, chunk, packing = waiting.pop()
                packing.settle()
                chunk.close(keep=True)
                self._ring.give_back(chunk, submitted=False)
        if progress is not None:
            progress(done, records)

    def _submit(self, buffer: Any, waiting: deque[tuple[ChunkPlan, Chunk, _Packing]], files: dict[int, Any]) -> int:
        """Send off the plan that has waited longest; it leaves `waiting` when its memory is closed."""
        plan, chunk, packing = waiting[0]
        packing.finish()
        self._keep_words(buffer, plan, chunk.memory)
        waiting.popleft()
        chunk.close()
        try:
            devices.check_alive(self._device, buffer, "write")
            encoder = self._device.create_command_encoder()
            for copy in plan.copies:
                low, high = copy.source // 4 * 4, round_up(4, copy.source + copy.size)
                encoder.copy_buffer_to_buffer(chunk.buffer, low, buffer, copy.target // 4 * 4, high - low)
            self._device.queue.submit([encoder.finish()])
        finally:
            self._ring.give_back(chunk, submitted=True)
        for piece in plan.pieces:
            streaming.forget(files.get(id(piece.part), []), piece.start, piece.stop)
        return sum(piece.stop - piece.start for piece in plan.pieces)

    def _check(self, batch: Batch, spans: Sequence[Span], workers: int) -> None:
        for span in spans:
            if not may_fail(columns_of(batch, span.part)):
                continue

            run, step = span.part.run, span.part.stride
            count = 1 if span.size < threads.SPLIT_BYTES else workers
            record, leaf = run.scatter(None, 0, step, span.start, span.stop, _kernel.CHECK, count)
            if record >= 0:
                raise fault(batch, span.part, record, leaf)

    @staticmethod
    def _has_open_words(plan: ChunkPlan) -> bool:
        return any(copy.target % 4 or (copy.target + copy.size) % 4 for copy in plan.copies)

    def _keep_words(self, buffer: Any, plan: ChunkPlan, memory: Any) -> None:
        """Put the buffer's own bytes where a copy must reach beyond its records to whole words."""
        if not self._has_open_words(plan):
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


def may_fail(columns: Columns) -> bool:
    """Whether any value of the columns could be out of range for its member.

    >>> from gpustruct import f32
    >>> from gpustruct.columns import collect
    >>> may_fail(collect(f32(np.zeros(3, np.float32)))), may_fail(collect(f32(np.zeros(3))))
    (False, True)
    """
    return any(
        not _always_fits(view.dtype, leaf.scalar) for leaf, view in zip(columns.leaves, columns.views, strict=True)
    )


def _always_fits(dtype: np.dtype, scalar: str) -> bool:
    kind, size = dtype.kind, dtype.itemsize
    if kind == "b":
        return True
    if scalar == "u32":
        return kind == "u" and size <= 4
    if scalar == "i32":
        return (kind == "i" and size <= 4) or (kind == "u" and size < 4)
    if kind == "f":
        return size <= (4 if scalar == "f32" else 2)
    return scalar == "f32" or size == 1 or (kind == "i" and size == 2)
