"""The reads of a RecordBuffer, which adds the writes."""

from __future__ import annotations

from typing import Any, overload

from ..errors import SourceError
from ..packing import BoundPlan
from ..types import array
from ..unpacking import unpack_plan
from . import devices
from .bindings import BindableRecords, Record
from .chunking import Span
from .frames import check_read
from .readback import PendingRead, Reader, empty_batch


class ReadableRecords(BindableRecords[Record]):
    """Records of one type in a wgpu buffer that can be bound and read."""

    # A checker does not know the elements of an array type.
    @overload
    def read(self: ReadableRecords[array], start: int = ..., stop: int | None = ..., *, out: Any = ...) -> Any: ...
    @overload
    def read(self, start: int = ..., stop: int | None = ..., *, out: Any = ...) -> Record: ...
    def read(self, start: int = 0, stop: int | None = None, *, out: Any = None) -> Any:
        """Records [start, stop) as a batch; without `stop`, up to the last record in use. Waits for the device.

        The columns are new arrays, or those of `out`, a batch of the same type over writable arrays, which is filled and
        returned. An ``array[T]`` is read as records of T. A struct that ends in a runtime-sized array is read as one record: its
        header, and those elements.

        Raises BindingError for records outside the capacity, SourceError for an `out` that does not fit.

        >>> import numpy as np, wgpu
        >>> from gpustruct import u32
        >>> from gpustruct.gpu import RecordBuffer
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 8)
        >>> numbers.write(u32([1, 2, 3]))
        >>> np.asarray(numbers.read(1))
        array([2, 3], dtype=uint32)
        """
        with self._lock:
            check_read(self._buffer, "read")
            out, spans = self._read_plan(start, stop, out, "read")
            return Reader.of(self._device).read(self._buffer, out, 0, spans)

    @overload
    def read_async(
        self: ReadableRecords[array], start: int = ..., stop: int | None = ..., *, out: Any = ...
    ) -> PendingRead[Any]: ...
    @overload
    def read_async(self, start: int = ..., stop: int | None = ..., *, out: Any = ...) -> PendingRead[Record]: ...
    def read_async(self, start: int = 0, stop: int | None = None, *, out: Any = None) -> PendingRead[Any]:
        """`read` without waiting: returns a PendingRead of the records as they are now, in the queue's order.

        ``await`` it, or use `PendingRead.done` and `PendingRead.result()`.

        >>> import wgpu
        >>> from gpustruct import u32
        >>> from gpustruct.gpu import RecordBuffer
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 8)
        >>> numbers.write(u32([1, 2, 3]))
        >>> reading = numbers.read_async()
        >>> numbers.clear()
        >>> len(reading.result())
        3
        """
        with self._lock:
            check_read(self._buffer, "read_async")
            out, spans = self._read_plan(start, stop, out, "read_async")
            return Reader.of(self._device).begin(self._buffer, out, 0, spans)

    def _read_plan(self, start: Any, stop: Any, out: Any, function: str) -> tuple[Any, list[Span]]:
        """The batch to fill, and which records of the buffer fill it."""
        first = devices.check_integer("start", start, 0, self._capacity, 0, function)
        last = devices.check_integer("stop", stop, first, self._capacity, max(first, self._count), function)
        devices.check_buffer(self._device, self._buffer, "COPY_SRC", function)
        T: Any = self._element if self._layout.is_runtime_array and type(out) is not self._type else self._type
        out = empty_batch(T, last - first) if out is None else out
        bound = unpack_plan(T, out, function)
        if bound.count != last - first:
            way_out = f"give it {last - first} records"
            if stop is None and not self._count:
                way_out = f"no record is in use: write some first, set count = {bound.count}, or pass stop"
            facts = {"current": f"{bound.count} records", "way_out": way_out, "function": function}
            raise SourceError.of("out-columns", type=T.__name__, **facts)
        return out, self._spans(bound, first, self._layout.tail is not None)

    def _spans(self, bound: BoundPlan, first: int, has_header: bool) -> list[Span]:
        """Where the parts of a batch are in the buffer: its elements from record `first` on, its header at the start."""
        spans: list[Span] = []
        for part in bound.parts:
            if has_header and part is bound.parts[0]:
                spans.append(Span(part, 0, 1, 0))
            elif part.run.records:
                if self._dynamic:
                    part = part._replace(stride=self._stride, streamable=False)
                spans.append(Span(part, 0, part.run.records, self._base + first * self._stride))
        return spans
