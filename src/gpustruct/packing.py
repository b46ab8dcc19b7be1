"""pack and unpack: bounds, memory, threads, one kernel call. See `_kernel` and csrc/scatter.h."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _kernel, threads
from . import layout as layouts
from .batches import INTEGER_RANGE, Batch, Slot, from_columns
from .columns import Columns, collect, collect_tail
from .errors import SourceError
from .layout import Layout, Leaf
from .plan import lower

# Where a block of packed bytes outgrows the caches, streaming past them wins (docs/performance.md).
STREAM_BYTES = 4 << 20

T = TypeVar("T", bound=Batch)

LARGEST = {"f32": 3.4028234663852886e38, "f16": 65504.0}


class Part(NamedTuple):
    """Records that one kernel run packs: all of a batch, or the header, or the tail's elements."""

    run: Any
    base: int
    stride: int
    columns: Columns
    streamable: bool


class Bound(NamedTuple):
    """A batch's plans bound to its columns' memory; made once, kept with the batch."""

    parts: tuple[Part, ...]
    size: int
    align: int
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]


def bind(batch: Batch, *, forward: bool = True) -> Bound:
    """Plans for the batch, bound to its columns; nothing is read or written yet."""
    layout: Layout = type(batch).__layout__
    parts: list[Part] = []
    if layout.is_runtime_sized:
        if layout.header:
            parts.append(_part(collect(batch), layout.header, 0, layout.header, forward))
        columns = collect_tail(batch)
        parts.append(_part(columns, layout.stride, layout.header, layout.stride, forward))
        total = layout.header + layout.stride * columns.shape[0]
        return Bound(tuple(parts), total, layout.align, columns.shape[0])
    stride = layout.record_stride
    columns = collect(batch)
    parts.append(_part(columns, stride, 0, stride, forward))
    records = parts[0].run.records
    return Bound(tuple(parts), stride * records, layout.align, records)


def _part(columns: Columns, size: int, base: int, stride: int, forward: bool) -> Part:
    steps, loops, temps = lower(columns.leaves, columns.sources, size, forward)
    shape, strides = columns.run_shape, columns.strides
    run = _kernel.Run(steps, loops, columns.arrays, strides, shape, temps, size, not forward)
    return Part(run, base, stride, columns, size == stride)


def bound_of(batch: Any, function: str = "pack") -> Bound:
    """The batch's plans, made on first use; SourceError for what is no batch."""
    bound: Any
    try:
        bound = batch.__bound__
    except AttributeError:
        bound = None
    # A type has the attribute too: the slot itself.
    if bound.__class__ is not Bound:
        if not isinstance(batch, Batch):
            raise SourceError.of("batch-type", function=function, current=type(batch).__name__)
        bound = bind(batch)
        object.__setattr__(batch, "__bound__", bound)
    return bound


def pack(
    batch: Any, *, out: Any = None, offset: int = 0, stride: int | None = None, threads: int | None = None
) -> NDArray[np.uint8]:
    """Pack a batch's records into bytes, laid out as WGSL reads them.

    Returns a 1-d uint8 array: without `out` a fresh one of exactly ``offset + header + stride × n`` bytes
    whose padding is zero; with `out` (any writable contiguous buffer) that buffer's bytes, the records
    written from byte `offset` on, padding zeroed, every byte outside the records untouched. `stride`, in
    bytes, sets the records further apart, as dynamic uniform offsets need. The batch's columns are read
    where they lie, converted on the way. `threads` splits the records; None chooses by size.

    Raises SourceError if a value does not fit (field, first index and value are named; the records in
    `out` are then all zero), if `out` is too small or not writable, if `stride` breaks WGSL's alignment.
    WGSL §14.4 (memory layout).

    >>> import numpy as np
    >>> from gpustruct import Struct, vec3f, f32, pack
    >>> class Particle(Struct):
    ...     position: vec3f
    ...     life: f32
    >>> data = pack(Particle(position=np.zeros((2, 3)), life=[1, 2]))
    >>> data.nbytes, data.view(np.float32)[[3, 7]]
    (32, array([1., 2.], dtype=float32))
    """
    bound = bound_of(batch)
    if stride is not None:
        bound = _restrided(bound, batch, stride)
    if offset.__class__ is not int or offset < 0:
        offset = _whole(offset, "pack")
    if out is None:
        data = np.empty(offset + bound.size, np.uint8) if stride is None else np.zeros(offset + bound.size, np.uint8)
        data[:offset] = 0
        pack_into(bound, batch, data, offset, threads)
        return data
    data = out if out.__class__ is np.ndarray else _buffer(out, bound.size)
    if data.nbytes - offset < bound.size and bound.count:
        _check_room(bound, data, offset)
    try:
        pack_into(bound, batch, data, offset, threads)
    except (BufferError, ValueError):
        current = "read-only" if not data.flags.writeable else f"an array with strides {data.strides}"
        raise SourceError.of("out-buffer", current=current, function="pack", needed=bound.size + offset) from None
    return data if data.dtype == np.uint8 and data.ndim == 1 else data.reshape(-1).view(np.uint8)


def pack_into(bound: Bound, batch: Batch, data: Any, offset: int, count: int | None, stream: bool | None = None) -> None:
    """Run every part of a bound batch into `data`, a writable buffer that has room."""
    for part in bound.parts:
        records, base = part.run.records, offset + part.base
        mode = _kernel.PLAIN
        nbytes = records * part.stride
        if part.streamable and (stream if stream is not None else nbytes >= STREAM_BYTES):
            mode = _kernel.STREAM
        if count is None and nbytes < threads.SPLIT_BYTES:
            record, leaf = part.run.scatter(data, base, part.stride, 0, records, mode)
        else:
            record, leaf = _split(part, data, base, mode, count)
        if record == _kernel.OVERLAP:
            _pack_aside(part, batch, data, base)
        elif record >= 0:
            _zero_all(bound, data, offset)
            raise fault(batch, part, record, leaf)


def _split(part: Part, data: Any, base: int, mode: int, count: int | None) -> tuple[int, int]:
    run, stride = part.run, part.stride

    def work(start: int, stop: int) -> tuple[int, int]:
        result: tuple[int, int] = run.scatter(data, base + start * stride, stride, start, stop, mode)
        return result

    faults = [found for found in threads.over_ranges(work, run.records, stride, count) if found[0] != -1]
    return min(faults, default=(-1, 0))


def check_values(bound: Bound, batch: Batch, count: int | None = None) -> None:
    """Convert every value without writing one; SourceError for the first that does not fit."""
    for part in bound.parts:
        record, leaf = _split(part, None, 0, _kernel.CHECK, count)
        if record >= 0:
            raise fault(batch, part, record, leaf)


def _pack_aside(part: Part, batch: Batch, data: Any, base: int) -> None:
    """`data` lies over a column: pack elsewhere, then copy, so that no source is read after it was written."""
    records, stride, size = part.run.records, part.stride, part.run.size
    aside = np.empty(records * size, np.uint8)
    record, leaf = part.run.scatter(aside, 0, size, 0, records, _kernel.PLAIN)
    if record >= 0:
        raise fault(batch, part, record, leaf)
    target = np.ndarray((records, size), np.uint8, memoryview(data).cast("B"), base, (stride, 1))
    target[...] = aside.reshape(records, size)


def _zero_all(bound: Bound, data: Any, offset: int) -> None:
    for part in bound.parts:
        _kernel.zero(data, offset + part.base, part.stride, part.run.size, part.run.records)


def fault(batch: Batch, part: Part, record: int, leaf: int) -> Exception:
    """The SourceError of a value that the kernel refused: which field, which index, which value."""
    columns = part.columns
    if leaf < 0:
        return MemoryError("no memory for the kernel's scratch space")
    place, view = columns.leaves[leaf], columns.views[leaf]
    target = columns.shape + tuple(count for count, _ in place.axes)
    at = np.unravel_index(record, columns.shape) if columns.shape else ()
    values = np.broadcast_to(view, target)[at]
    scalar = place.scalar
    for index, value in np.ndenumerate(values):
        if not _fits(value, scalar):
            return _range_error(batch, place, (*(int(k) for k in at), *index), value)
    return _range_error(batch, place, tuple(int(k) for k in at), values)


def _fits(value: Any, scalar: str) -> bool:
    if scalar in INTEGER_RANGE:
        low, high = INTEGER_RANGE[scalar]
        return low <= int(value) <= high
    with np.errstate(over="ignore"):
        narrowed = {"f32": np.float32, "f16": np.float16}[scalar](value)
    return not (np.isinf(narrowed) and np.isfinite(value))


def _range_error(batch: Batch, leaf: Leaf, index: tuple[int, ...], value: Any) -> SourceError:
    where = ".".join((type(batch).__name__, *leaf.path)) + (f"[{', '.join(map(str, index))}]" if index else "")
    facts = {"type": leaf.scalar, "value": value, "where": where, "name": leaf.path[-1] if leaf.path else "column"}
    if leaf.scalar in INTEGER_RANGE:
        low, high = INTEGER_RANGE[leaf.scalar]
        return SourceError.of("range-integer", low=low, high=high, **facts)  # type: ignore[return-value]
    return SourceError.of("range-float", high=LARGEST[leaf.scalar], **facts)  # type: ignore[return-value]


def _whole(value: Any, function: str) -> int:
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise SourceError.of("offset-value", offset=value, function=function)
    return number


def check_stride(layout: Layout, stride: Any, function: str) -> int:
    """A stride that keeps WGSL's alignment, as an int; SourceError otherwise."""
    if layout.is_runtime_sized:
        raise SourceError.of("stride-tail", stride=stride, function=function)
    try:
        number = -1 if isinstance(stride, bool) else operator.index(stride)
    except TypeError:
        number = -1
    if number < layout.record_stride or number % layout.align or number > layouts.MAX_BYTES:
        suggestion = max(layout.record_stride, layouts.round_up(layout.align, min(max(number, 0), layouts.MAX_BYTES // 2)))
        facts = {"align": layout.align, "size": layout.record_stride, "type": layout.name, "stride": stride}
        raise SourceError.of("stride-value", function=function, suggestion=suggestion, **facts)
    return number


def _restrided(bound: Bound, batch: Batch, stride: Any) -> Bound:
    layout = type(batch).__layout__
    number = check_stride(layout, stride, "pack")
    (part,) = bound.parts
    size = number * (bound.count - 1) + layout.record_stride if bound.count else 0
    size = layouts.round_up(layout.align, size)
    return Bound((part._replace(stride=number, streamable=number == part.run.size),), size, bound.align, bound.count)


def _buffer(out: Any, needed: int) -> np.ndarray:
    """`out` as a uint8 array over the same memory; SourceError if it is no writable contiguous buffer."""
    try:
        view = memoryview(out)
        data = np.frombuffer(view.cast("B") if view.nbytes else bytearray(), np.uint8)
    except (TypeError, ValueError, BufferError) as error:
        current = f"{type(out).__name__}: {error}"
        raise SourceError.of("out-buffer", current=current, function="pack", needed=needed) from None
    return data


def _check_room(bound: Bound, data: np.ndarray, offset: int) -> None:
    facts = {"needed": bound.size, "offset": offset, "available": max(0, data.nbytes - offset)}
    raise SourceError.of("out-small", function="pack", total=bound.size + offset, **facts)


# The way back.


def unpack(
    cls: type[T], data: Any, *, count: int | None = None, offset: int = 0, stride: int | None = None, out: Any = None
) -> T:
    """The records in `data` as a batch of `cls`: the mirror of `pack`.

    Without `out` the columns are views into `data` (a contiguous buffer of bytes), shaped ``(n,)`` plus
    the member's own shape, and writable if `data` is; nothing is copied. A struct that ends in a
    runtime-sized array comes back as one record whose tail has the rest. With `out`, a batch of `cls`
    over writable arrays, the records are gathered into those arrays, converted to their dtypes, and
    `out` is returned. `count`, in records, takes fewer; `stride` and `offset`, in bytes, as in `pack`.

    Raises SourceError if `data` does not hold whole records, or `out` does not fit.
    WGSL §14.4 (memory layout).

    >>> import numpy as np
    >>> from gpustruct import Struct, vec3f, f32, pack, unpack
    >>> class Particle(Struct):
    ...     position: vec3f
    ...     life: f32
    >>> data = pack(Particle(position=[[1, 2, 3]], life=[4]))
    >>> unpack(Particle, data).position
    array([[1., 2., 3.]], dtype=float32)
    """
    layout = getattr(cls, "__layout__", None)
    if not isinstance(cls, type) or not issubclass(cls, Batch) or not isinstance(layout, Layout):
        raise SourceError.of("unpack-type", current=getattr(cls, "__name__", repr(cls)))
    data = _bytes(cls, data)
    offset = _whole(offset, "unpack")
    step = layout.array_stride if stride is None else check_stride(layout, stride, "unpack")
    records = _records(cls, layout, data.nbytes, offset, step, count)
    if out is not None:
        return _gather(cls, data, offset, step, records, out)
    if not layout.is_runtime_sized:
        return _views(cls, data, offset, (records,), (step,))
    return _tail_views(cls, data, offset, records)


def _bytes(cls: Any, data: Any) -> np.ndarray:
    try:
        view = memoryview(data)
        if not view.nbytes:
            return np.empty(0, np.uint8)
        return np.frombuffer(view.cast("B"), np.uint8)
    except (TypeError, ValueError, BufferError) as error:
        current = f"{type(data).__name__}: {error}"
        raise SourceError.of("data-buffer", current=current, type=cls.__name__) from None


def _records(cls: Any, layout: Layout, nbytes: int, offset: int, step: int, count: Any) -> int:
    size, name = (step if layout.is_runtime_sized else layout.record_stride), cls.__name__
    room = nbytes - offset - layout.header
    if room < 0:
        raise SourceError.of("data-small", needed=offset + layout.header, size=nbytes, offset=offset, type=name)
    available = (room - size) // step + 1 if room >= size else 0
    if count is None:
        extra = room - (available - 1) * step - size if available else room
        if extra and not (available and extra == step - size) and not layout.is_runtime_sized:
            raise SourceError.of("data-size", stride=step, size=nbytes, offset=offset, extra=extra, type=name)
        return available
    try:
        number = -1 if isinstance(count, bool) else operator.index(count)
    except TypeError:
        number = -1
    if not 0 <= number <= available:
        raise SourceError.of("count-value", available=available, count=count, type=name)
    return number


def _views(cls: Any, data: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    layout: Layout = cls.__layout__
    if "" in cls.__members__:
        return from_columns(cls, (_column(cls.__members__[""], layout, data, offset, shape, strides),), shape)
    columns = tuple(
        _column(cls.__members__[member.name], member.layout, data, offset + member.offset, shape, strides)
        for member in layout.fields
        if not member.layout.is_runtime_array
    )
    return from_columns(cls, columns, shape)


def _column(
    slot: Slot, layout: Layout, data: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> Any:
    while layout.element is not None:
        if layout.count is not None:
            shape, strides = (*shape, layout.count), (*strides, layout.stride)
        layout = layout.element
    if layout.kind == "struct":
        return _views(slot.core, data, offset, shape, strides)
    (leaf,) = layouts.leaves(layout)
    shape, strides = shape + tuple(n for n, _ in leaf.axes), strides + tuple(step for _, step in leaf.axes)
    if 0 in shape:
        return np.empty(shape, DTYPES[leaf.scalar])
    return np.ndarray(shape, DTYPES[leaf.scalar], data, offset, strides)


DTYPES = {"f32": np.dtype("<f4"), "f16": np.dtype("<f2"), "i32": np.dtype("<i4"), "u32": np.dtype("<u4")}


def _tail_views(cls: Any, data: np.ndarray, offset: int, records: int) -> Any:
    layout: Layout = cls.__layout__
    slot = next(reversed(cls.__members__.values()))
    tail: Layout = slot.type.__layout__
    elements = _column(slot, tail, data, offset + layout.header, (records,), (tail.stride,))
    if layout.kind == "array":
        return from_columns(cls, (elements,), ())
    header = _views(cls, data, offset, (), ())
    return from_columns(cls, (*header.__columns__, elements), ())


def _gather(cls: Any, data: np.ndarray, offset: int, step: int, records: int, out: Any) -> Any:
    if type(out) is not cls:
        way_out = f"make one: {cls.__name__}(...) over np.empty arrays"
        raise SourceError.of("out-columns", type=cls.__name__, current=type(out).__name__, way_out=way_out)
    try:
        bound = bind(out, forward=False)
    except (BufferError, ValueError):
        way_out = "every column needs memory of its own: no read-only arrays"
        raise SourceError.of("out-columns", type=cls.__name__, current="a read-only column", way_out=way_out) from None
    layout: Layout = cls.__layout__
    for part in bound.parts:
        _check_gather(cls, part)
        is_header = layout.is_runtime_sized and part is bound.parts[0] and len(bound.parts) == 2
        expected = 1 if is_header else records
        if part.run.records != expected:
            way_out = f"give it {records} records, the number in data, or pass count="
            current = f"{part.run.records} records"
            raise SourceError.of("out-columns", type=cls.__name__, current=current, way_out=way_out)
        stride = part.stride if is_header else step

        def work(start: int, stop: int, part: Part = part, stride: int = stride) -> tuple[int, int]:
            base = offset + part.base + start * stride
            result: tuple[int, int] = part.run.gather(data, base, stride, start, stop)
            return result

        for record, leaf in threads.over_ranges(work, part.run.records, stride, None):
            if record == _kernel.OVERLAP:
                return _gather(cls, data.copy(), offset, step, records, out)
            if record >= 0:
                raise _gather_fault(cls, part, record, leaf)
    return out


def _check_gather(cls: Any, part: Part) -> None:
    for leaf, view in zip(part.columns.leaves, part.columns.views, strict=True):
        where = ".".join((cls.__name__, *leaf.path))
        target = part.columns.shape + tuple(count for count, _ in leaf.axes)
        shared = any(count > 1 and step == 0 for count, step in zip(view.shape, view.strides, strict=True))
        if view.shape != target or (shared and view.size):
            current, way_out = f"{where} of shape {view.shape}", f"give {where} an array of its own of shape {target}"
            raise SourceError.of("out-columns", type=cls.__name__, current=current, way_out=way_out)
        integer, kind = leaf.scalar in INTEGER_RANGE, view.dtype.kind
        # An f64 holds every 32-bit integer; the smaller floats do not.
        if kind not in ("iu" if integer else "f") and not (integer and view.dtype == np.float64):
            suggestion = "np.int32, np.uint32 or np.int64" if integer else "np.float32 or np.float64"
            facts = {"type": leaf.scalar, "dtype": view.dtype.name, "where": where, "suggestion": suggestion}
            raise SourceError.of("out-dtype", **facts)


def _gather_fault(cls: Any, part: Part, record: int, leaf: int) -> Exception:
    if leaf < 0:
        return MemoryError("no memory for the kernel's scratch space")
    place, view = part.columns.leaves[leaf], part.columns.views[leaf]
    where = ".".join((cls.__name__, *place.path)) + f"[{record}]"
    suggestion = "np.int64" if place.scalar in INTEGER_RANGE else "np.float32"
    return SourceError.of("out-dtype", type=place.scalar, dtype=view.dtype.name, where=where, suggestion=suggestion)
