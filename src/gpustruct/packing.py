"""pack: checks its arguments, binds a plan to the columns, and calls the kernel. See csrc/scatter.h."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _binding, _kernel, threads
from . import layout as layouts
from .batches import Batch, as_batch, set_pack_plan
from .column_specs import misfits, out_of_range, place_of
from .columns import Columns, Source, collect, collect_tail
from .errors import SourceError
from .layout import Layout, Leaf
from .plan import lower

if TYPE_CHECKING:
    from numpy.typing import NDArray

# From here on the packed bytes do not fit the caches, and streaming is faster (docs/performance.md).
STREAM_BYTES = 4 << 20
# Below this, one thread packs, with plain stores.
SMALL_BYTES = min(STREAM_BYTES, threads.SPLIT_BYTES)


class Part(NamedTuple):
    """What one kernel run packs: all records of a batch, or the header, or the tail's elements."""

    run: Any
    base: int
    stride: int
    columns: Columns | None  # None where compiled code bound them; see `columns_of`.
    streamable: bool


class BoundPlan(NamedTuple):
    """A batch's plans, bound to the memory of its columns. It is made once and kept with the batch."""

    parts: tuple[Part, ...]
    size: int
    align: int
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]
    padding: int = 0  # Bytes of `size` after the last value: a buffer may end before them.

    @property
    def extent(self) -> int:
        """Bytes up to the end of the last value: a buffer must have these."""
        return self.size - self.padding


def bind(batch: Batch) -> BoundPlan:
    """The plans that pack a batch; nothing is read or written yet."""
    layout: Layout = type(batch).__layout__
    run = None if layout.is_runtime_sized else _binding.bind(batch, new_plan)
    return _bind_columns(batch, True) if run is None else _whole(layout, Part(run, 0, layout.record_stride, None, True))


def bind_unpack(batch: Batch) -> BoundPlan:
    """The plans that unpack to a batch's columns; BufferError or ValueError if one is read-only."""
    return _bind_columns(batch, False)


def _bind_columns(batch: Batch, forward: bool) -> BoundPlan:
    layout: Layout = type(batch).__layout__
    parts: list[Part] = []
    if layout.is_runtime_sized:
        if layout.header:
            parts.append(_part(collect(batch), layout.header, 0, layout.header, forward))
        columns = collect_tail(batch)
        parts.append(_part(columns, layout.stride, layout.header, layout.stride, forward))
        total = layout.header + layout.stride * columns.shape[0]
        return BoundPlan(tuple(parts), total, layout.align, columns.shape[0])
    stride = layout.record_stride
    return _whole(layout, _part(collect(batch), stride, 0, stride, forward))


def _whole(layout: Layout, part: Part) -> BoundPlan:
    records, size = part.run.records, layout.record_stride * part.run.records
    return BoundPlan((part,), size, layout.align, records, size - layouts.extent(layout, records))


def _part(columns: Columns, size: int, base: int, stride: int, forward: bool) -> Part:
    plan = _plan(columns.leaves, columns.sources, size, forward)
    run = _kernel.Run(plan, columns.arrays, columns.views, columns.strides, columns.run_shape, not forward)
    return Part(run, base, stride, columns, size == stride)


def new_plan(cls: type[Batch], sources: list[Any]) -> _kernel.Plan:
    """A new plan for columns that `_binding` describes."""
    layout: Layout = cls.__layout__
    described = tuple(Source(*source) for source in sources)
    return _plan(tuple(layouts.leaves(layout)), described, layout.record_stride, True)


_pack_small = _binding.pack_small
# There is one object for each small integer, so `is` tells 0 from False and 0.0.
ZERO = 0


def _plan(leaves: tuple[Leaf, ...], sources: tuple[Source, ...], size: int, forward: bool) -> _kernel.Plan:
    return _kernel.Plan(*lower(leaves, sources, size, forward), size)


def columns_of(batch: Batch, part: Part) -> Columns:
    """Python's description of a part's columns; made now if compiled code bound them."""
    return collect(batch) if part.columns is None else part.columns


def pack_plan(batch: Any, function: str = "pack") -> BoundPlan:
    """The batch's plans, made on first use. Raises SourceError for what is not a batch."""
    bound: Any
    try:
        bound = batch.__pack_plan__
    except AttributeError:
        bound = None
    # A class has the attribute too: its descriptor.
    if bound.__class__ is not BoundPlan:
        if not isinstance(batch, Batch):
            raise SourceError.of("batch-type", function=function, current=type(batch).__name__)
        bound = bind(batch)
        set_pack_plan(batch, bound)
    return bound


def pack(
    batch: Any, *, out: Any = None, offset: int = 0, stride: int | None = None, threads: int | None = None
) -> NDArray[np.uint8]:
    """Pack a batch's records into bytes, laid out as WGSL reads them.

    Returns a 1-d uint8 array. Without `out` it is new, and has ``offset + header + stride × n`` bytes. With `out`,
    any writable contiguous buffer, it is that buffer's bytes: the records start at byte `offset`, and bytes outside
    the records do not change. Padding in records is zero. `out` may end where the last value does: one vec3f fits
    into 12 bytes. `stride`, in bytes, is the distance of the records, for example for dynamic uniform offsets. The
    columns are not copied first, but read and converted in one pass. `threads` share the records; None chooses their
    number by size.

    Raises SourceError if a value does not fit: the message has the member, the index and the value, and the records
    in `out` are zero, or unchanged if `out` overlaps a column. Raises it also if `out` is too small or not writable,
    if the packed bytes do not fit into memory, or if `stride` breaks WGSL's alignment. WGSL §14.4 (memory layout).

    >>> import numpy as np
    >>> from gpustruct import Struct, vec3f, f32, pack
    >>> class Particle(Struct):
    ...     position: vec3f
    ...     life: f32
    >>> data = pack(Particle(position=np.zeros((2, 3)), life=[1, 2]))
    >>> data.nbytes, data.view(np.float32)[[3, 7]]
    (32, array([1., 2.], dtype=float32))
    """
    if stride is None and threads is None and offset is ZERO:
        packed = _pack_small(batch, out, SMALL_BYTES, new_plan)
        if packed is not None:
            return packed
    batch = as_batch(batch)
    bound = pack_plan(batch)
    if stride is not None:
        bound = _with_stride(bound, batch, stride)
    if offset.__class__ is not int or offset:
        offset = whole_bytes(offset, "pack")
    if out is None:
        data = _new_bytes(offset + bound.size, stride is not None, batch)
        data[:offset] = 0
        pack_into(bound, batch, data, offset, threads)
        return data
    data = out if out.__class__ is np.ndarray and not out.dtype.hasobject else _buffer(out, bound.size)
    short = data.nbytes - offset < bound.size
    if data.nbytes - offset < bound.extent:
        _check_room(bound, data, offset)
    try:
        (_pack_short if short else pack_into)(bound, batch, data, offset, threads)
    except (BufferError, ValueError):
        current = "read-only" if not data.flags.writeable else f"an array with strides {data.strides}"
        raise SourceError.of("out-buffer", current=current, function="pack", needed=bound.size + offset) from None
    return data if data.dtype == np.uint8 and data.ndim == 1 else data.reshape(-1).view(np.uint8)


def pack_into(
    bound: BoundPlan, batch: Batch, data: Any, offset: int, count: int | None, stream: bool | None = None
) -> None:
    """Pack all parts of a batch to `data`, a writable buffer with room for them."""
    if len(bound.parts) > 1 and any(part.run.overlaps(data, offset, bound.size) for part in bound.parts):
        # The bytes of one part may overlap the columns of another: all is read before anything is written.
        aside = np.empty(bound.size, np.uint8)
        pack_into(bound, batch, aside, 0, count)
        np.frombuffer(memoryview(data).cast("B"), np.uint8)[offset : offset + bound.size] = aside
        return
    for part in bound.parts:
        records, base = part.run.records, offset + part.base
        mode = _kernel.MODE_PLAIN
        nbytes = records * part.stride
        if part.streamable and (stream if stream is not None else nbytes >= STREAM_BYTES):
            mode = _kernel.MODE_STREAM
        if (count is None and nbytes < threads.SPLIT_BYTES) or (count.__class__ is int and count == 1):
            record, leaf = part.run.scatter(data, base, part.stride, 0, records, mode)
        else:
            workers = threads.choose(records, part.stride, count)
            record, leaf = part.run.scatter(data, base, part.stride, 0, records, mode, workers)
        if record == _kernel.OVERLAP:
            _pack_aside(part, batch, data, base)
        elif record >= 0:
            _zero_all(bound, data, offset)
            raise fault(batch, part, record, leaf)


def _pack_short(bound: BoundPlan, batch: Batch, data: Any, offset: int, count: int | None) -> None:
    """Pack elsewhere, then copy: `data` ends where the last value does, before the end of its record."""
    target = byte_view(data)[offset : offset + bound.extent]
    aside = np.zeros(bound.size, np.uint8)
    aside[: bound.extent] = target
    pack_into(bound, batch, aside, 0, count)
    target[...] = aside[: bound.extent]


def check_values(bound: BoundPlan, batch: Batch, count: int | None = None) -> None:
    """Check all values and write nothing. Raises SourceError for the first that does not fit."""
    for part in bound.parts:
        workers = threads.choose(part.run.records, part.stride, count)
        _check_records(batch, part, 0, part.run.records, workers)


def check_runs(bound: BoundPlan, batch: Batch, runs: Iterable[tuple[int, int]]) -> None:
    """Check the values of runs of records, (start, stop) each. Raises SourceError for the first that does not fit."""
    for start, stop in runs:
        _check_records(batch, bound.parts[-1], start, stop)


def _check_records(batch: Batch, part: Part, start: int, stop: int, workers: int = 1) -> None:
    record, leaf = part.run.scatter(None, 0, part.stride, start, stop, _kernel.MODE_CHECK, workers)
    if record >= 0:
        raise fault(batch, part, record, leaf)


def _pack_aside(part: Part, batch: Batch, data: Any, base: int) -> None:
    """Pack elsewhere, then copy: `data` overlaps a column, which must be read before it is written."""
    records, stride, size = part.run.records, part.stride, part.run.size
    aside = np.empty(records * size, np.uint8)
    record, leaf = part.run.scatter(aside, 0, size, 0, records, _kernel.MODE_PLAIN)
    if record >= 0:
        raise fault(batch, part, record, leaf)
    target = np.ndarray((records, size), np.uint8, memoryview(data).cast("B"), base, (stride, 1))
    target[...] = aside.reshape(records, size)


def _zero_all(bound: BoundPlan, data: Any, offset: int) -> None:
    for part in bound.parts:
        _kernel.zero(data, offset + part.base, part.stride, part.run.size, part.run.records)


def fault(batch: Batch, part: Part, record: int, leaf: int) -> Exception:
    """The SourceError for a value that the kernel refused, with its member, index and value."""
    if leaf < 0:
        return MemoryError("no memory for the kernel's scratch space")
    columns = columns_of(batch, part)
    place, view = columns.leaves[leaf], columns.views[leaf]
    target = columns.shape + tuple(count for count, _ in place.axes)
    at = np.unravel_index(record, columns.shape) if columns.shape else ()
    values = np.asarray(np.broadcast_to(view, target)[at])
    # There is none if another thread has changed the column since.
    inner = tuple(next(iter(np.argwhere(misfits(values, place.scalar))), ()))
    return _range_error(batch, place, tuple(int(k) for k in (*at, *inner)), values[inner])


def _range_error(batch: Batch, leaf: Leaf, index: tuple[int, ...], value: Any) -> SourceError:
    where = place_of(".".join((type(batch).__name__, *leaf.path)), index)
    return out_of_range(leaf.scalar, value, leaf.path[-1] if leaf.path else "column", where)


def whole_bytes(value: Any, function: str) -> int:
    """`value` as a number of bytes, 0 or more. Raises SourceError otherwise."""
    number = layouts.whole_number(value, 0, sys.maxsize // 2)
    if number is None:
        raise SourceError.of("offset-value", offset=value, function=function)
    return number


def check_stride(layout: Layout, stride: Any, function: str) -> int:
    """A stride that keeps WGSL's alignment, as an int. Raises SourceError otherwise."""
    if layout.is_runtime_sized:
        raise SourceError.of("stride-tail", stride=stride, function=function)
    number = layouts.whole_number(stride, 0)
    if number is None or number < layout.record_stride or number % layout.align or number > layouts.MAX_BYTES:
        near = layouts.round_up(layout.align, min(number or 0, layouts.MAX_BYTES // 2))
        suggestion = max(layout.record_stride, near)
        facts = {"align": layout.align, "size": layout.record_stride, "type": layout.name, "stride": stride}
        raise SourceError.of("stride-value", function=function, suggestion=suggestion, **facts)
    return number


def _with_stride(bound: BoundPlan, batch: Batch, stride: Any) -> BoundPlan:
    layout = type(batch).__layout__
    number = check_stride(layout, stride, "pack")
    (part,) = bound.parts
    size = number * (bound.count - 1) + layout.record_stride if bound.count else 0
    size = layouts.round_up(layout.align, size)
    part = part._replace(stride=number, streamable=number == part.run.size)
    return bound._replace(parts=(part,), size=size)


def byte_view(source: Any) -> NDArray[np.uint8]:
    """The bytes of a contiguous buffer, not copied. Raises TypeError, ValueError or BufferError if it is not one.

    Buffers of Python objects are refused: overwriting their addresses would crash the interpreter.
    """
    view = memoryview(source)
    if "O" in re.sub(":[^:]*:", "", view.format):  # Field names are between colons.
        raise TypeError("it holds Python objects")
    return np.frombuffer(view.cast("B") if view.nbytes else bytearray(), np.uint8)


def _buffer(out: Any, needed: int) -> NDArray[np.uint8]:
    """`out` as bytes. Raises SourceError if it is not a contiguous buffer."""
    try:
        return byte_view(out)
    except (TypeError, ValueError, BufferError) as error:
        current = f"{type(out).__name__}: {error}"
        raise SourceError.of("out-buffer", current=current, function="pack", needed=needed) from None


def _new_bytes(needed: int, zeros: bool, batch: Batch) -> NDArray[np.uint8]:
    try:
        return np.zeros(needed, np.uint8) if zeros else np.empty(needed, np.uint8)
    except (MemoryError, ValueError):  # numpy has no arrays of 2^63 bytes
        way_out = f"{fewer_records(batch, 'pack(batch[:1_000_000])')}, or write a file with pack_to"
        raise SourceError.of("pack-memory", needed=needed, way_out=way_out) from None


def fewer_records(batch: Batch, call: str) -> str:
    """What to do about a batch that is too large."""
    tail = type(batch).__layout__.is_runtime_sized
    return "give its runtime-sized array fewer elements" if tail else f"pack a part at a time: {call}"


def _check_room(bound: BoundPlan, data: np.ndarray, offset: int) -> None:
    facts = {"needed": bound.extent, "offset": offset, "available": max(0, data.nbytes - offset)}
    raise SourceError.of("out-small", function="pack", total=bound.extent + offset, **facts)
