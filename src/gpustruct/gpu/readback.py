"""Reads: records are copied into mapped chunks, and unpacked from there into columns."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Sequence
from typing import Any, Generic, overload

import numpy as np

from .. import _kernel, threads
from ..batches import Batch, from_columns
from ..layout import Layout, extent, records_in, round_up
from ..packing import STREAM_BYTES, columns_of
from ..types import array, layout_of
from ..unpacking import DTYPES, gather_fault, unpack_plan
from . import devices
from .backend import BufferUsage, Mapping, check_alive, gpu_errors, refused
from .bindings import Record, wgpu_buffer
from .chunking import ChunkPlan, Piece, Span, chunk_plans, spans_of
from .commands import BufferCopy, send
from .frames import check_read
from .staging import CHUNKS, DEFAULT_CHUNKS


def read_words(device: Any, buffer: Any, offsets: Sequence[int]) -> list[bytes]:
    """The 4 bytes of the buffer at each offset, as they are after everything submitted before.

    >>> import wgpu
    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer_with_data(data=b"abcdefgh", usage=wgpu.BufferUsage.COPY_SRC)
    >>> read_words(device, buffer, [4, 0])
    [b'efgh', b'abcd']
    """
    devices.check_buffer(device, buffer, "COPY_SRC", "write")
    check_alive(device, buffer, "write")
    usage = BufferUsage.MAP_READ | BufferUsage.COPY_DST
    words = device.create_buffer(size=round_up(8, 4 * len(offsets)), usage=usage)
    send(device, words, [BufferCopy(buffer, offset, 4 * k, 4) for k, offset in enumerate(offsets)])
    Mapping(words, "READ").wait("write")
    data = bytes(words.read_mapped(0, 4 * len(offsets)))
    words.unmap()
    words.destroy()
    return [data[4 * k : 4 * k + 4] for k in range(len(offsets))]


def empty_batch(T: Any, count: int) -> Any:
    """A batch of `count` uninitialised records of `T`, each column a new array.

    For a type that ends in a runtime-sized array: one record, whose array has `count` elements.

    >>> from gpustruct import vec3f
    >>> np.asarray(empty_batch(vec3f, 5)).shape
    (5, 3)
    """
    runtime = layout_of(T).is_runtime_sized
    return _empty_batch(T, () if runtime else (count,), count)


def _empty_batch(cls: Any, shape: tuple[int, ...], count: int) -> Any:
    columns: list[Any] = []
    for spec in cls.__members__.values():
        dims = ((count,) if spec.runtime else shape) + spec.dims
        layout: Layout = spec.core.__layout__
        if layout.kind == "struct":
            columns.append(_empty_batch(spec.core, dims, count))
        else:
            columns.append(np.empty(dims + layout.shape, DTYPES[layout.scalar]))
    return from_columns(cls, tuple(columns), shape)


class ReadbackChunk:
    """One MAP_READ buffer. The device fills it; it is mapped, read and unmapped."""

    def __init__(self, device: Any, size: int) -> None:
        usage = BufferUsage.MAP_READ | BufferUsage.COPY_DST
        self.size, self.device = size, device
        self.buffer = device.create_buffer(size=size, usage=usage)
        self.mapping: Any = None

    def fetch(self, source: Any, plan: ChunkPlan) -> None:
        """Submit the copies of a plan, and start to map the memory."""
        check_alive(self.device, source, "read")
        copies: list[BufferCopy] = []
        for copy in plan.copies:
            low, at, size = plan.words(copy)
            copies.append(BufferCopy(source, at, low, size))
        send(self.device, self.buffer, copies, function="read")
        self.mapping = Mapping(self.buffer, "READ")

    def gather(self, plan: ChunkPlan, out: Batch, workers: int) -> None:
        """Wait for the memory, and unpack it into the columns of `out`. After an interrupt it may be called again."""
        self.mapping.wait("read")
        memory = self.buffer.read_mapped(0, round_up(4, plan.size), copy=False)
        for piece in plan.pieces:
            _gather(piece, memory, out, workers)

    def release(self) -> None:
        """Unmap the memory, for the next `fetch`."""
        self.buffer.unmap()
        self.mapping = None


def _gather(piece: Piece, memory: Any, out: Batch, workers: int) -> None:
    run, stride = piece.part.run, piece.part.stride
    mode = _kernel.MODE_STREAM if (piece.stop - piece.start) * stride >= STREAM_BYTES else _kernel.MODE_PLAIN

    record, leaf = run.gather(memory, piece.at, stride, piece.start, piece.stop, mode, workers)
    if record >= 0:
        raise gather_fault(type(out), columns_of(out, piece.part), record, leaf)


class PendingRead(Generic[Record]):
    """A read that was submitted. `result()` waits for its records and returns them; so does ``await``.

    The records are those at the time of `read_async`, whatever is written later. `done` says whether they have arrived.

    >>> import wgpu
    >>> from gpustruct import u32
    >>> from gpustruct.gpu import RecordBuffer
    >>> buffer = RecordBuffer(wgpu.utils.get_default_device(), u32, 4)
    >>> buffer.write(u32([1, 2, 3, 4]))
    >>> reading = buffer.read_async(1, 3)
    >>> np.asarray(reading.result())
    array([2, 3], dtype=uint32)
    """

    def __init__(
        self, reader: Reader, in_flight: list[tuple[ChunkPlan, ReadbackChunk]], out: Any, workers: int
    ) -> None:
        self._reader, self._in_flight, self._out, self._workers = reader, in_flight, out, workers
        self._lock = threading.RLock()

    @property
    def done(self) -> bool:
        """Whether `result()` returns without waiting for the device."""
        return all(chunk.mapping.arrived for _, chunk in self._in_flight)

    def result(self) -> Record:
        """The records, as a batch. Waits for the device if they have not arrived."""
        with self._lock:
            while self._in_flight:
                # Removed only after its records are in the columns, so that an interrupted call can be repeated.
                plan, chunk = self._in_flight[-1]
                try:
                    chunk.gather(plan, self._out, self._workers)
                except gpu_errors() as error:
                    raise refused(error, "read_async") from None
                self._in_flight.pop()
                self._reader.give_back(chunk)
        return self._out

    def __repr__(self) -> str:
        state = "read" if not self._in_flight else "arrived" if self.done else "waiting for the device"
        return f"<PendingRead of {type(self._out).__name__} {self._out.__shape__}: {state}>"

    def __await__(self) -> Generator[Any, Any, Record]:
        for _, chunk in list(self._in_flight):
            yield from chunk.mapping.__await__()
        return self.result()


class Reader:
    """Reads the buffers of one device. It keeps its chunks for later reads; their total size is bounded as an Uploader's is."""

    def __init__(self, device: Any) -> None:
        self._device = device
        size, count = CHUNKS.get(device.adapter.info.get("adapter_type", ""), DEFAULT_CHUNKS)
        self._chunk_size, self._count = size, count
        self._spare: list[ReadbackChunk] = []
        self._lock = threading.RLock()

    @classmethod
    def of(cls, device: Any) -> Reader:
        """The reader that all buffers of this device share."""
        held = vars(device)
        return held.get("_gpustruct_reader") or held.setdefault("_gpustruct_reader", cls(device))

    def take(self, size: int) -> ReadbackChunk:
        """A chunk of at least `size` bytes."""
        with self._lock:
            fitting = [chunk for chunk in self._spare if size <= chunk.size <= max(4096, 4 * size)]
            if fitting:
                best = min(fitting, key=lambda chunk: chunk.size)
                self._spare.remove(best)
                return best
        rounded = max(4096, 1 << (size - 1).bit_length()) if size < self._chunk_size else round_up(4096, size)
        return ReadbackChunk(self._device, rounded)

    def give_back(self, chunk: ReadbackChunk) -> None:
        """Keep a chunk for later reads, after its records were unpacked."""
        chunk.release()
        with self._lock:
            self._spare.append(chunk)
            while sum(spare.size for spare in self._spare) > self._count * self._chunk_size:
                self._spare.pop(0).buffer.destroy()

    def read(self, buffer: Any, out: Any, offset: int, spans: Sequence[Span] | None = None) -> Any:
        """Fill the columns of `out` from the buffer, whose records start at byte `offset`; returns `out`."""
        spans = spans_of(unpack_plan(type(out), out), offset, buffer.size) if spans is None else spans
        total = sum(span.size for span in spans)
        workers = threads.choose(total, 1, None)
        in_flight: deque[tuple[ChunkPlan, ReadbackChunk]] = deque()
        with self._lock:
            try:
                for plan in chunk_plans(spans, min(self._chunk_size, max(4096, round_up(4096, total // 2)))):
                    if len(in_flight) == self._count:
                        self._gather(in_flight, out, workers)
                    chunk = self.take(plan.size)
                    chunk.fetch(buffer, plan)
                    in_flight.append((plan, chunk))
                while in_flight:
                    self._gather(in_flight, out, workers)
            except gpu_errors() as error:
                raise refused(error, "read") from None
        return out

    def _gather(self, in_flight: deque[tuple[ChunkPlan, ReadbackChunk]], out: Any, workers: int) -> None:
        plan, chunk = in_flight.popleft()
        chunk.gather(plan, out, workers)
        self.give_back(chunk)

    def begin(self, buffer: Any, out: Any, offset: int, spans: Sequence[Span] | None = None) -> PendingRead[Any]:
        """Submit the copies now; `PendingRead.result` fills the columns of `out`."""
        spans = spans_of(unpack_plan(type(out), out), offset, buffer.size) if spans is None else spans
        total = sum(span.size for span in spans)
        in_flight: list[tuple[ChunkPlan, ReadbackChunk]] = []
        with self._lock:
            try:
                for plan in chunk_plans(spans, 1 << 30):
                    chunk = self.take(plan.size)
                    chunk.fetch(buffer, plan)
                    in_flight.append((plan, chunk))
            except gpu_errors() as error:
                raise refused(error, "read_async") from None
        return PendingRead(self, in_flight, out, threads.choose(total, 1, None))


@overload
def read_buffer(target: Any, buffer: Any, T: type[array], count: int | None = ..., offset: int = ...) -> Any: ...
@overload
def read_buffer(target: Any, buffer: Any, T: type[Record], count: int | None = ..., offset: int = ...) -> Record: ...
def read_buffer(target: Any, buffer: Any, T: Any, count: int | None = None, offset: int = 0) -> Any:
    """The records of a buffer, from byte `offset` on, as a batch of `T` over new arrays.

    `target` is the device or its queue; `buffer` is a wgpu buffer or a RecordBuffer. `count` is the number of records, or of
    elements for a type that ends in a runtime-sized array; by default as many as the buffer has room for, in use or not. An
    ``array[T]`` is read as records of T. Waits until everything submitted before is done.

    Raises BindingError for what is no buffer of this device, lacks COPY_SRC, is mapped, destroyed or too
    small, or if `offset` is not a multiple of 4; LayoutError for what is no type. WebGPU §5.2 (buffer mapping).

    >>> import wgpu
    >>> from gpustruct import u32
    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer_with_data(data=np.arange(4, dtype=np.uint32), usage=wgpu.BufferUsage.COPY_SRC)
    >>> np.asarray(read_buffer(device, buffer, u32, count=2, offset=4))
    array([1, 2], dtype=uint32)
    """
    device = devices.device_of(target, "read_buffer")
    layout = devices.layout_of_type(T, "read_buffer")
    buffer = wgpu_buffer(buffer)
    devices.check_buffer(device, buffer, "COPY_SRC", "read_buffer")
    check_read(buffer, "read_buffer")
    offset = devices.check_offset(offset, "read_buffer")
    # Copies are whole words.
    room = records_in(layout, buffer.size // 4 * 4 - offset)
    number = devices.check_integer("count", count, 0, room, room, "read_buffer")
    devices.check_fits(buffer, offset, extent(layout, number), "read_buffer")
    kind: Any = devices.element_of(T) if layout.is_runtime_array else T
    return Reader.of(device).read(buffer, empty_batch(kind, number), offset)
