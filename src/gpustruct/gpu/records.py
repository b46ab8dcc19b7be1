"""RecordBuffer: a wgpu buffer of records of one type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..broadcasting import broadcast
from ..errors import BindingError, SourceError
from ..layout import round_up
from ..packing import BoundPlan, pack_plan
from ..types import layout_of
from ..views import changes
from . import backend, devices
from .batching import header_of, records_of
from .bindings import USAGE, Record
from .chunking import Span
from .commands import BufferCopy, Clear
from .readable import ReadableRecords
from .scatter_shader import MANY_RUNS, ScatterShader
from .selection import select
from .transfers import Progress
from .upload import Uploader


class RecordBuffer(ReadableRecords[Record]):
    """A wgpu buffer of records of one type: it has room for `capacity` records, and `count` are in use.

    `device` is a wgpu device or its queue; `T` is any type. For a type that is or ends in a runtime-sized array, the
    records are the elements of that array; a batch of the element type writes only elements.

    - `count`: the number of records in use from the start, for a buffer that only a shader writes. They are zero.
    - `data`: records to write, of any kind that `write` takes. The capacity is at least their number.
    - `usage`: wgpu's flags or their names, such as ``"STORAGE | VERTEX"``. COPY_SRC and COPY_DST are added.
    - `dynamic_offsets`: space the records so that each can be bound with a dynamic offset; see `offsets`.
    - `standard_layout`: allow in a uniform what the language feature ``uniform_buffer_standard_layout`` allows.
    - `uploader`: your own uploader instead of the one that the device's buffers share.
    - `device_side`: whether a compute shader writes the records that `where` names; None: where that costs less. The
      bytes are the same.

    Writes and reads run in the order of the calls. Sizes count records unless their names say bytes. Raises LayoutError for a
    type that `usage` forbids; BindingError where the device's limits are too low; SourceError for `data` that does not
    fit. WebGPU §5.1 (GPUBuffer).

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
            capacity = devices.check_integer("capacity", capacity, 1, 1 << 40, None, "RecordBuffer")
            capacity = max(capacity, pack_plan(data).count)
        options: dict[str, Any] = {
            "dynamic_offsets": dynamic_offsets,
            "standard_layout": standard_layout,
            "label": label,
        }
        super().__init__(device, T, capacity, count=count, usage=usage, **options)
        uploader = Uploader.of(self._device) if uploader is None else uploader
        if uploader.device is not self._device:
            raise BindingError.of("buffer-foreign", function="RecordBuffer")
        # Its lock is taken before that of this buffer.
        self._transfers = uploader.transfers
        # The type of the batches that `_write_small` can write: contiguous records of whole words.
        contiguous = not self._dynamic and not layout_of(self._element).is_runtime_sized
        self._small_type = self._element if contiguous and self._base % 4 == self._stride % 4 == 0 else None
        self._sent_buffer: Any = None
        self._sent: Any = None
        self._scatter_shader = ScatterShader.of(self._transfers)
        self._device_side = device_side
        if data is not None:
            try:
                self.write(data)
            except BaseException:
                self._buffer.destroy()
                raise

    def write(
        self,
        batch: Any,
        *,
        start: int | None = None,
        where: Any = None,
        encoder: Any = None,
        progress: Progress | None = None,
    ) -> None:
        """Write a batch's records: from record 0, from record `start`, or to the records that `where` names.

        `batch` is a batch of the buffer's type or element type, a view, or anything that `gpustruct.batch` converts: a mapping,
        records, a table, an array. Without `start` and `where` the batch replaces the content: `count` becomes its number of
        records.

        `where` is a mask, a slice, or indices. A batch has one record for each selected one, in order; or as many records as
        the mask has entries, each for the record at its index. If an index repeats, the last record wins. A single record
        (0-d) is written to every selected record. `count` grows if records after it are written; those in between keep
        their bytes, which are zero in a new buffer. `encoder` and `progress` work as in `Uploader.write`, which also lists
        more errors.

        Raises SourceError for records of another type, a value that does not fit, or a batch that does not
        match `where`; BindingError for records outside the capacity.

        >>> import numpy as np, wgpu
        >>> from gpustruct import u32
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 8)
        >>> numbers.write(u32(np.arange(5)))
        >>> numbers.write(u32([70, 80]), start=4)
        >>> numbers.write(u32([11, 33]), where=[1, 3])
        >>> np.asarray(numbers.read())
        array([ 0, 11,  2, 33, 70, 80], dtype=uint32)
        """
        if where is None and encoder is None and progress is None and batch.__class__ is self._small_type:
            with self._transfers.lock, self._lock:
                if self._write_small(batch, start):
                    return
        with self._transfers.lock, self._lock:
            self._transfers.save_count(self)
            batch = records_of(self._type, batch, f"RecordBuffer({self._layout.name}).write")
            bound = pack_plan(batch, "write")
            has_header = type(batch) is self._type and self._layout.tail is not None
            if has_header and (start is not None or where is not None):
                function = f"write with {'start' if where is None else 'where'}"
                facts = {"type": self._element.__name__, "current": "a whole " + self._type.__name__}
                raise SourceError.of("record-type", function=function, **facts)
            if where is not None:
                self._write_where(batch, bound, where, start, encoder)
                return
            first = 0 if start is None else devices.check_integer("start", start, 0, self._capacity, 0, "write")
            self._check_capacity(first, bound.count, "write")
            self._put(batch, self._spans(bound, first, has_header), encoder=encoder, progress=progress)
            self._count = bound.count if start is None else max(self._count, first + bound.count)

    def append(self, batch: Any, *, encoder: Any = None) -> int:
        """Write a batch's records after those in use; returns the index of the first new record.

        >>> import wgpu
        >>> from gpustruct import u32
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 8)
        >>> numbers.append(u32([1, 2])), numbers.append(u32([3]))
        (0, 2)
        """
        with self._transfers.lock, self._lock:
            first = self._count
            self.write(batch, start=first, encoder=encoder)
            return first

    def write_header(self, columns: Any) -> None:
        """Write the members before the runtime-sized array; the array keeps its bytes.

        `columns` maps their names to values, or is a batch or a view of the buffer's type, whose header is written.
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
        with self._transfers.lock, self._lock:
            self._transfers.save_count(self)
            self._put(batch, [Span(header, 0, 1, 0)])

    def clear(self, *, encoder: Any = None) -> None:
        """Set the whole buffer to zero. After this, no record is in use.

        >>> import wgpu
        >>> from gpustruct import u32
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 8)
        >>> numbers.write(u32([1, 2])); numbers.clear(); len(numbers)
        0
        """
        with self._transfers.lock, self._lock:
            self._transfers.save_count(self)
            clear = Clear(self._buffer.size)
            self._transfers.send(self._buffer, [clear], function="clear", encoder=encoder)
            self._count = 0

    def resize(self, capacity: int) -> None:
        """Replace the wgpu buffer by one with room for `capacity` records; the device copies the records that fit.

        Bind groups from `Program.bind` are made again the next time you set them; make those from `binding()` again yourself.
        The old wgpu buffer is destroyed, unless writes to it were recorded into an encoder, which may still be submitted.

        >>> import numpy as np, wgpu
        >>> from gpustruct import u32
        >>> numbers = RecordBuffer(wgpu.utils.get_default_device(), u32, 2)
        >>> numbers.write(u32([1, 2])); numbers.resize(100)
        >>> numbers.append(u32([3])), np.asarray(numbers.read())
        (2, array([1, 2, 3], dtype=uint32))
        """
        number = devices.check_integer("capacity", capacity, 1, 1 << 40, None, "resize")
        with self._transfers.lock, self._lock:
            self._transfers.save_count(self)
            count = min(self._count, number)
            new = self._create(number)
            backend.check_alive(self._device, self._buffer, "resize")
            size = min(round_up(4, self._base + count * self._stride), new.size, self._buffer.size)
            if size:
                self._transfers.send(new, [BufferCopy(self._buffer, 0, 0, size)], function="resize")
            replaced, before = self._buffer, (self._buffer, self._capacity, self._count)

            def restore() -> None:
                self._buffer, self._capacity, self._count = before

            self._transfers.on_drop(restore)
            self._buffer, self._capacity, self._count = new, number, count
            self._transfers.destroy(replaced)

    def _write_small(self, batch: Any, start: Any) -> bool:
        """Write a small batch of contiguous records with the least overhead. Returns False if `write` must do it."""
        first = 0 if start is None else start
        if first.__class__ is not int or not 0 <= first <= self._capacity:
            return False
        if self._sent_buffer is not self._buffer:
            self._sent, self._sent_buffer = changes.sent_to(self._buffer), self._buffer
        target, room = self._base + first * self._stride, (self._capacity - first) * self._stride
        self._transfers.save_count(self)
        count = self._transfers.put_small(self._buffer, self._sent, batch, target, self._stride, room)
        if count < 0:
            return False
        self._count = count if start is None else max(self._count, first + count)
        return True

    def _check_capacity(self, first: int, count: int, function: str) -> None:
        if first + count > self._capacity:
            facts = {"capacity": self._capacity, "start": first, "count": count, "needed": first + count}
            raise BindingError.of("capacity", function=function, type=self._layout.name, **facts)

    def _put(self, batch: Any, spans: Sequence[Span], **options: Any) -> None:
        devices.check_buffer(self._device, self._buffer, "COPY_DST", "write")
        self._transfers.put(self._buffer, batch, spans, **options)

    def _write_where(self, batch: Any, bound: BoundPlan, where: Any, start: int | None, encoder: Any) -> None:
        if start is not None:
            raise SourceError.of("where-start")
        shape = batch.__shape__ if type(batch) is not self._type or self._element is self._type else (bound.count,)
        selection = select(where, shape, self._capacity)
        if not len(selection.targets):
            return
        if not shape:
            batch, selection = broadcast(batch, (len(selection.targets),)), selection.with_sources_in_order()
            bound = pack_plan(batch)
        if encoder is None and self._uses_scatter_shader(selection.run_count):
            self._scatter_shader.write(self._transfers, self._buffer, batch, selection, self._base, self._stride)
        else:
            part = bound.parts[-1]
            if self._dynamic:
                part = part._replace(stride=self._stride, streamable=False)
            base, stride = self._base, self._stride
            spans = [Span(part, run.start, run.stop, base + run.target * stride) for run in selection.runs]
            self._put(batch, spans, encoder=encoder)
        self._count = max(self._count, int(selection.targets.max()) + 1)

    def _uses_scatter_shader(self, runs: int) -> bool:
        """Whether a shader writes the records: it can, and either you asked for it or it costs less."""
        if self._device_side is False or self._dynamic or not self._usage & backend.BufferUsage.STORAGE:
            return False
        if not self._scatter_shader.supports(self._base, self._stride):
            return False
        return self._device_side is True or runs > MANY_RUNS
