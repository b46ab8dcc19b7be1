"""RecordBuffer: a wgpu buffer of records of one type, with its exact sizes."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, overload

import wgpu

from .. import batches
from ..errors import BindingError, SourceError
from ..layout import round_up
from ..packing import BoundPlan, pack_plan
from ..types import array, layout_of
from ..unpacking import unpack_plan
from ..views import changes
from . import backend, devices
from .batching import header_of, records_of
from .bindings import USAGE, BoundRecords, Record
from .chunking import Span
from .commands import BufferCopy, Clear
from .frames import check_read
from .readback import PendingRead, Reader, blank
from .scatter_shader import MANY_RUNS, ScatterShader
from .selection import select
from .transfers import Progress
from .upload import Uploader


class RecordBuffer(BoundRecords[Record]):
    """A wgpu buffer of records of one type: as many as `capacity` fit, `count` are in use.

    `device` is a wgpu device or its queue; `T` any type. For a type that is or ends in a runtime-sized array the
    records are the elements of that array, and a batch of the element type writes them alone.

    - `count`: the records in use from the start, for a buffer that only a shader writes. They are zero.
    - `data`: records to write, of any kind that `write` takes. The capacity is their number, or more if you say so.
    - `usage`: wgpu's flags, or their names: ``"STORAGE | VERTEX"``. COPY_SRC and COPY_DST are added.
    - `dynamic_offsets`: the records are as far apart as the device's dynamic offsets must be, see `offsets`.
    - `standard_layout`: a uniform may have what the language feature ``uniform_buffer_standard_layout`` allows.
    - `uploader`: the one that the device's buffers share, unless you pass your own.
    - `device_side`: whether a compute shader puts the records that `where` names in their places (None: where it
      costs less). The bytes are the same.

    Writes and reads take their place in the queue's order, as they are called. All sizes are in records
    unless they are named bytes. Raises LayoutError for a type that `usage` forbids; BindingError where the
    device's limits are too low; SourceError for `data` that does not fit. WebGPU §5.1 (GPUBuffer).

    >>> import numpy as np, wgpu
    >>> from gpustruct import Struct, vec3f, f32
    >>> from gpustruct.gpu import RecordBuffer
    >>> class Particle(Struct):
    ...     position: vec3f
    ...     life: f32
    >>> particles = RecordBuffer(wgpu.utils.get_default_device(), Particle, capacity=1000)
    >>> particles.write(Particle(position=np.ones((10, 3)), life=2.0))
    >>> particles.binding()["size"], particles.read(4, 6).life
    (160, array([2., 2.], dtype=float32))
    >>> RecordBuffer(wgpu.utils.get_default_device(), vec3f, data=np.zeros((5, 3)))
    <RecordBuffer of vec3f: 5 of 5 records, 16 bytes each, STORAGE>
    """

    def __init__(
        self,
        device: Any,
        T: type[Record],
        capacity: int = 1,
        *,
        count: int = 0,
        data: Any = None,
        usage: Any = USAGE,
        dynamic_offsets: bool = False,
        standard_layout: bool = False,
        uploader: Uploader | None = None,
        device_side: bool | None = None,
        label: str = "",
    ) -> None:
        if data is not None:
            if count:
                raise BindingError.of("data-count", count=count)
            devices.layout_of_type(T, "RecordBuffer")
            data = records_of(T, data, "RecordBuffer")
            capacity = devices.whole("capacity", capacity, 1, 1 << 40, None, "RecordBuffer")
            capacity = max(capacity, pack_plan(data).count)
        options: dict[str, Any] = {
            "dynamic_offsets": dynamic_offsets,
            "standard_layout": standard_layout,
            "label": label,
        }
        super().__init__(device, T, capacity, count=count, usage=usage, **options)
        self._uploader = Uploader.of(self._device) if uploader is None else uploader
        if self._uploader.device is not self._device:
            raise BindingError.of("buffer-foreign", function="RecordBuffer")
        # Taken after the uploader's turn, never before it.
        self._lock = threading.RLock()
        # Records that lie in the buffer as they are packed, in whole words.
        fixed = not self._dynamic and not layout_of(self._element).is_runtime_sized
        self._usual = self._element if fixed and self._base % 4 == self._stride % 4 == 0 else None
        self._known_buffer: Any = None
        self._known: Any = None
        self._scatter_shader = ScatterShader.of(self._uploader)
        self._device_side = device_side
        if data is not None:
            try:
                self.write(data)
            except BaseException:
                self._buffer.destroy()
                raise

    # Up.

    def write(
        self,
        batch: Any,
        *,
        start: int | None = None,
        where: Any = None,
        encoder: Any = None,
        progress: Progress | None = None,
    ) -> None:
        """Write a batch's records: all of the buffer's, or from record `start` on, or those that `where` names.

        `batch` is a batch of the buffer's type or of its elements', a view (a batch of one), or whatever
        `gpustruct.batch` takes for it: a mapping, records, a table, an array. Without `start` and `where` it becomes
        the buffer's content: `count` is its number of records.
        `where` is a mask, a slice, or indices of records. A batch as long as a mask gives each chosen record
        the value at its own index; otherwise the batch has one record for each one chosen, in order, and of
        indices that repeat the last wins. A single record (0-d) goes to every place that `where` names.
        `count` grows where records behind it are written; records in between are as they were, or zero.
        `encoder` and `progress` are those of `Uploader.write`, and the errors are too.

        Raises SourceError for records of another type, a value that does not fit, or a batch that does not
        match `where`; BindingError beyond the capacity.

        >>> import numpy as np, wgpu
        >>> from gpustruct import u32
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 8)
        >>> numbers.write(u32(np.arange(5)))
        >>> numbers.write(u32([70, 80]), start=4)
        >>> numbers.write(u32([11, 33]), where=[1, 3])
        >>> np.asarray(numbers.read())
        array([ 0, 11,  2, 33, 70, 80], dtype=uint32)
        """
        if where is None and encoder is None and progress is None and batch.__class__ is self._usual:
            with self._uploader.turn, self._lock:
                if self._write_small(batch, start):
                    return
        with self._uploader.turn, self._lock:
            self._uploader.keep(self)
            batch = records_of(self._type, batch, f"RecordBuffer({self._layout.name}).write")
            bound = pack_plan(batch, "write")
            # It has a header, and is not elements alone.
            whole = type(batch) is self._type and self._layout.tail is not None
            if whole and (start is not None or where is not None):
                function = f"write with {'start' if where is None else 'where'}"
                facts = {"type": self._element.__name__, "current": "a whole " + self._type.__name__}
                raise SourceError.of("record-type", function=function, **facts)
            if where is not None:
                self._write_where(batch, bound, where, start, encoder)
                return
            first = 0 if start is None else devices.whole("start", start, 0, self._capacity, 0, "write")
            self._check_room(first, bound.count, "write")
            self._put(batch, self._spans(bound, first, whole), encoder=encoder, progress=progress)
            self._count = bound.count if start is None else max(self._count, first + bound.count)

    def append(self, batch: Any, *, encoder: Any = None) -> int:
        """Write a batch's records behind those in use; returns the index of the first of them.

        >>> import wgpu
        >>> from gpustruct import u32
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 8)
        >>> numbers.append(u32([1, 2])), numbers.append(u32([3]))
        (0, 2)
        """
        with self._uploader.turn, self._lock:
            first = self._count
            self.write(batch, start=first, encoder=encoder)
            return first

    def write_header(self, columns: Any) -> None:
        """Write the members before the runtime-sized array, and leave the array as it is.

        `columns` maps their names to values; of a batch or a view of the buffer's type the header is written.
        Raises SourceError for anything else, BindingError for a type without a header.

        >>> import wgpu
        >>> from gpustruct import Struct, array, f32, u32, vec4f
        >>> class System(Struct):
        ...     gravity: vec4f
        ...     weights: array[f32]
        >>> system = RecordBuffer(wgpu.utils.get_default_device(), System, 100)
        >>> system.write_header({"gravity": [0, 0, -9.81, 0]})
        """
        if self._layout.tail is None:
            raise BindingError.of("header-missing", type=self._layout.name)
        batch = header_of(self._type, columns)
        header = pack_plan(batch, "write_header").parts[0]
        with self._uploader.turn, self._lock:
            self._uploader.keep(self)
            self._put(batch, [Span(header, 0, 1, 0)])

    def clear(self, *, encoder: Any = None) -> None:
        """Set the whole buffer to zero bytes; no record is in use afterwards.

        >>> import wgpu
        >>> from gpustruct import u32
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 8)
        >>> numbers.write(u32([1, 2])); numbers.clear(); len(numbers)
        0
        """
        with self._uploader.turn, self._lock:
            self._uploader.keep(self)
            clear = Clear(self._buffer.size)
            self._uploader.send(self._buffer, [clear], function="clear", encoder=encoder)
            self._count = 0

    def resize(self, capacity: int) -> None:
        """Make room for `capacity` records: a new buffer, to which the device copies those that fit.

        Bindings must be made again: the old wgpu buffer is destroyed, unless writes to it were recorded into an
        encoder, which may be submitted later.

        >>> import numpy as np, wgpu
        >>> from gpustruct import u32
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 2)
        >>> numbers.write(u32([1, 2])); numbers.resize(100)
        >>> numbers.append(u32([3])), np.asarray(numbers.read())
        (2, array([1, 2, 3], dtype=uint32))
        """
        number = devices.whole("capacity", capacity, 1, 1 << 40, None, "resize")
        with self._uploader.turn, self._lock:
            self._uploader.keep(self)
            count = min(self._count, number)
            larger = self._create(number)
            backend.check_alive(self._device, self._buffer, "resize")
            size = min(round_up(4, self._base + count * self._stride), larger.size, self._buffer.size)
            if size:
                self._uploader.send(larger, [BufferCopy(self._buffer, 0, 0, size)], function="resize")
            replaced, before = self._buffer, (self._buffer, self._capacity, self._count)

            def restore() -> None:
                self._buffer, self._capacity, self._count = before

            self._uploader.undo(restore)
            self._buffer, self._capacity, self._count = larger, number, count
            self._uploader.retire(replaced)

    def _write_small(self, batch: Any, start: Any) -> bool:
        """Write a batch of few usual records in as few steps as there are; False where `write` must."""
        first = 0 if start is None else start
        if first.__class__ is not int or first < 0:
            return False
        if self._known_buffer is not self._buffer:
            self._known, self._known_buffer = changes.sent_to(self._buffer), self._buffer
        target, room = self._base + first * self._stride, (self._capacity - first) * self._stride
        self._uploader.keep(self)
        count = self._uploader.put_small(self._buffer, self._known, batch, target, self._stride, room)
        if count < 0:
            return False
        self._count = count if start is None else max(self._count, first + count)
        return True

    def _check_room(self, first: int, count: int, function: str) -> None:
        if first + count > self._capacity:
            facts = {"capacity": self._capacity, "start": first, "count": count, "needed": first + count}
            raise BindingError.of("capacity", function=function, type=self._layout.name, **facts)

    def _spans(self, bound: BoundPlan, first: int, whole: bool) -> list[Span]:
        spans: list[Span] = []
        for part in bound.parts:
            if whole and part is bound.parts[0]:
                spans.append(Span(part, 0, 1, 0))
            elif part.run.records:
                if self._dynamic:
                    part = part._replace(stride=self._stride, streamable=False)
                spans.append(Span(part, 0, part.run.records, self._base + first * self._stride))
        return spans

    def _put(self, batch: Any, spans: Sequence[Span], **options: Any) -> None:
        devices.check_buffer(self._device, self._buffer, "COPY_DST", "write")
        self._uploader.put(self._buffer, batch, spans, **options)

    def _write_where(self, batch: Any, bound: BoundPlan, where: Any, start: int | None, encoder: Any) -> None:
        if start is not None:
            raise SourceError.of("where-start")
        shape = batch.__shape__ if type(batch) is not self._type or self._element is self._type else (bound.count,)
        chosen = select(where, shape, self._capacity)
        if not len(chosen.places):
            return
        if not shape:
            batch, chosen = batches.broadcast(batch, (len(chosen.places),)), chosen.in_order()
            bound = pack_plan(batch)
        if encoder is None and self._places(chosen.run_count):
            self._scatter_shader.write(self._uploader, self._buffer, batch, chosen, self._base, self._stride)
        else:
            part = bound.parts[-1]
            if self._dynamic:
                part = part._replace(stride=self._stride, streamable=False)
            spans = [Span(part, a, b, self._base + place * self._stride) for a, b, place in chosen.runs]
            self._put(batch, spans, encoder=encoder)
        self._count = max(self._count, int(chosen.places.max()) + 1)

    def _places(self, runs: int) -> bool:
        """Whether a shader puts the records in their places: it can, and is asked to or costs less."""
        if self._device_side is False or self._dynamic or not self._usage & wgpu.BufferUsage.STORAGE:
            return False
        if not self._scatter_shader.fits(self._base, self._stride):
            return False
        return self._device_side is True or runs > MANY_RUNS

    # Back.

    # A checker does not know the elements of an array type.
    @overload
    def read(self: RecordBuffer[array], start: int = ..., stop: int | None = ..., *, out: Any = ...) -> Any: ...
    @overload
    def read(self, start: int = ..., stop: int | None = ..., *, out: Any = ...) -> Record: ...
    def read(self, start: int = 0, stop: int | None = None, *, out: Any = None) -> Any:
        """Records [start, stop) as a batch; without `stop`, up to the last in use.

        Each column is an array of its own, or the array of `out`, a batch of the same type over writable
        arrays, which is filled and returned. Of ``array[T]`` come back records of T. A struct that ends in a
        runtime-sized array comes back as one record: its header, and those elements. Waits for the device.

        Raises BindingError outside the capacity, SourceError for an `out` that does not fit.

        >>> import numpy as np, wgpu
        >>> from gpustruct import u32
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 8)
        >>> numbers.write(u32([1, 2, 3]))
        >>> np.asarray(numbers.read(1))
        array([2, 3], dtype=uint32)
        """
        with self._lock:
            check_read(self._buffer, "read")
            out, spans = self._incoming(start, stop, out, "read")
            return Reader.of(self._device).read(self._buffer, out, 0, spans)

    @overload
    def read_async(
        self: RecordBuffer[array], start: int = ..., stop: int | None = ..., *, out: Any = ...
    ) -> PendingRead[Any]: ...
    @overload
    def read_async(self, start: int = ..., stop: int | None = ..., *, out: Any = ...) -> PendingRead[Record]: ...
    def read_async(self, start: int = 0, stop: int | None = None, *, out: Any = None) -> PendingRead[Any]:
        """`read`, without waiting: the records as they are now, in queue order, when they have come.

        ``await`` the result, or ask it: `PendingRead.done`, `PendingRead.result()`.

        >>> import wgpu
        >>> from gpustruct import u32
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 8)
        >>> numbers.write(u32([1, 2, 3]))
        >>> reading = numbers.read_async()
        >>> numbers.clear()
        >>> len(reading.result())
        3
        """
        with self._lock:
            check_read(self._buffer, "read_async")
            out, spans = self._incoming(start, stop, out, "read_async")
            return Reader.of(self._device).begin(self._buffer, out, 0, spans)

    def _incoming(self, start: Any, stop: Any, out: Any, function: str) -> tuple[Any, list[Span]]:
        first = devices.whole("start", start, 0, self._capacity, 0, function)
        last = devices.whole("stop", stop, first, self._capacity, max(first, self._count), function)
        devices.check_buffer(self._device, self._buffer, "COPY_SRC", function)
        T: Any = self._element if self._layout.is_runtime_array and type(out) is not self._type else self._type
        out = blank(T, last - first) if out is None else out
        bound = unpack_plan(T, out, function)
        if bound.count != last - first:
            way_out = f"give it {last - first} records"
            if stop is None and not self._count:
                way_out = f"no record is in use: write some first, set count = {bound.count}, or pass stop"
            facts = {"current": f"{bound.count} records", "way_out": way_out, "function": function}
            raise SourceError.of("out-columns", type=T.__name__, **facts)
        return out, self._spans(bound, first, self._layout.tail is not None)
