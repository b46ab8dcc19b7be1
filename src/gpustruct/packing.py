"""pack: bounds, memory, threads, one kernel call. See `_kernel` and csrc/scatter.h."""

from __future__ import annotations

import re
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _binding, _kernel, threads
from . import layout as layouts
from .batches import DTYPES, Batch, as_batch, set_pack_plan
from .column_checks import out_of_range
from .columns import Columns, Source, collect, collect_tail
from .errors import SourceError
from .layout import RECORD_SCALARS, Layout, Leaf
from .plan import lower

# Where a block of packed bytes outgrows the caches, streaming past them wins (docs/performance.md).
STREAM_BYTES = 4 << 20
# Below, one thread packs with plain stores.
SMALL_BYTES = min(STREAM_BYTES, threads.SPLIT_BYTES)


class Part(NamedTuple):
    """Records that one kernel run packs: all of a batch, or the header, or the tail's elements."""

    run: Any
    base: int
    stride: int
    columns: Columns | None  # None where they were bound without Python's description of them; see `columns_of`.
    streamable: bool


class BoundPlan(NamedTuple):
    """A batch's plans bound to its columns' memory; made once, kept with the batch."""

    parts: tuple[Part, ...]
    size: int
    align: int
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]
    padding: int = 0  # Bytes of `size` after the last value: a buffer that ends there need not have them.

    @property
    def extent(self) -> int:
        """Bytes up to the end of the last value: a buffer must have these."""
        return self.size - self.padding


def bind(batch: Batch, *, forward: bool = True) -> BoundPlan:
    """Plans for the batch, bound to its columns; nothing is read or written yet."""
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
    run = _binding.bind(batch, new_plan) if forward else None
    part = _part(collect(batch), stride, 0, stride, forward) if run is None else Part(run, 0, stride, None, True)
    records = part.run.records
    padding = stride * records - layouts.extent(layout, records)
    return BoundPlan((part,), stride * records, layout.align, records, padding)


def _part(columns: Columns, size: int, base: int, stride: int, forward: bool) -> Part:
    plan = _plan(columns.leaves, columns.sources, size, forward)
    run = _kernel.Run(plan, columns.arrays, columns.views, columns.strides, columns.run_shape, not forward)
    return Part(run, base, stride, columns, size == stride)


def new_plan(cls: type[Batch], sources: list[Any]) -> _kernel.Plan:
    """The plan for columns of a kind that the type has not been packed from before."""
    layout: Layout = cls.__layout__
    described = tuple(Source(*source) for source in sources)
    return _plan(tuple(layouts.leaves(layout)), described, layout.record_stride, True)


_pack_small = _binding.pack_small
# The small integers are one object each; False and 0.0 are none of them.
ZERO = 0


def _plan(leaves: tuple[Leaf, ...], sources: tuple[Source, ...], size: int, forward: bool) -> _kernel.Plan:
    return _kernel.Plan(*lower(leaves, sources, size, forward), size)


def columns_of(batch: Batch, part: Part) -> Columns:
    """The columns of a part in Python's terms: made at once, or now that they are asked for."""
    return collect(batch) if part.columns is None else part.columns


def pack_plan(batch: Any, function: str = "pack") -> BoundPlan:
    """The batch's plans, made on first use; SourceError for what is no batch."""
    bound: Any
    try:
        bound = batch.__pack_plan__
    except AttributeError:
        bound = None
    # A type has the attribute too: the slot itself.
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

    Returns a 1-d uint8 array: without `out` a fresh one of exactly ``offset + header + stride × n`` bytes
    whose padding is zero; with `out` (any writable contiguous buffer) that buffer's bytes, the records
    written from byte `offset` on, padding zeroed, every byte outside the records untouched. `out` may end where
    the last value does: one vec3f fits into 12 bytes. `stride`, in
    bytes, sets the records further apart, as dynamic uniform offsets need. The batch's columns are read
    where they lie, converted on the way. `threads` splits the records; None chooses by size.

    Raises SourceError if a value does not fit (field, first index and value are named; the records in
    `out` are then all zero, or untouched where `out` lies over a column), if `out` is too small or not writable, if `stride` breaks WGSL's alignment.
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
    if stride is None and threads is None and offset is ZERO:
        packed = _pack_small(batch, out, SMALL_BYTES, new_plan)
        if packed is not None:
            return packed
    batch = as_batch(batch)
    bound = pack_plan(batch)
    if stride is not None:
        bound = _restrided(bound, batch, stride)
    if offset.__class__ is not int or offset:
        offset = whole_bytes(offset, "pack")
    if out is None:
        data = np.empty(offset + bound.size, np.uint8) if stride is None else np.zeros(offset + bound.size, np.uint8)
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
    """Run every part of a bound batch into `data`, a writable buffer that has room."""
    if len(bound.parts) > 1 and any(part.run.overlaps(data, offset, bound.size) for part in bound.parts):
        # One part's bytes may lie over another's columns: nothing is written before all is read.
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
    """`data` ends where the last value does, inside the record's stride: pack where there is room, then copy."""
    target = byte_view(data)[offset : offset + bound.extent]
    aside = np.zeros(bound.size, np.uint8)
    aside[: bound.extent] = target
    pack_into(bound, batch, aside, 0, count)
    target[...] = aside[: bound.extent]


def check_values(bound: BoundPlan, batch: Batch, count: int | None = None) -> None:
    """Convert every value without writing one; SourceError for the first that does not fit."""
    for part in bound.parts:
        workers = threads.choose(part.run.records, part.stride, count)
        record, leaf = part.run.scatter(None, 0, part.stride, 0, part.run.records, _kernel.MODE_CHECK, workers)
        if record >= 0:
            raise fault(batch, part, record, leaf)


def _pack_aside(part: Part, batch: Batch, data: Any, base: int) -> None:
    """`data` lies over a column: pack elsewhere, then copy, so that no source is read after it was written."""
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
    """The SourceError of a value that the kernel refused: which field, which index, which value."""
    if leaf < 0:
        return MemoryError("no memory for the kernel's scratch space")
    columns = columns_of(batch, part)
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
    row = RECORD_SCALARS[scalar]
    if row.is_normalized:
        return row.low <= value <= row.high
    if row.is_integer:
        return row.low <= int(value) <= row.high
    with np.errstate(over="ignore"):
        narrowed = DTYPES[scalar].type(value)
    return not (np.isinf(narrowed) and np.isfinite(value))


def _range_error(batch: Batch, leaf: Leaf, index: tuple[int, ...], value: Any) -> SourceError:
    where = ".".join((type(batch).__name__, *leaf.path)) + (f"[{', '.join(map(str, index))}]" if index else "")
    return out_of_range(leaf.scalar, value, leaf.path[-1] if leaf.path else "column", where)


def whole_bytes(value: Any, function: str) -> int:
    """`value` as a number of bytes, 0 or more; SourceError otherwise."""
    number = layouts.whole_number(value, 0, sys.maxsize // 2)
    if number is None:
        raise SourceError.of("offset-value", offset=value, function=function)
    return number


def check_stride(layout: Layout, stride: Any, function: str) -> int:
    """A stride that keeps WGSL's alignment, as an int; SourceError otherwise."""
    if layout.is_runtime_sized:
        raise SourceError.of("stride-tail", stride=stride, function=function)
    number = layouts.whole_number(stride, 0)
    if number is None or number < layout.record_stride or number % layout.align or number > layouts.MAX_BYTES:
        near = layouts.round_up(layout.align, min(number or 0, layouts.MAX_BYTES // 2))
        suggestion = max(layout.record_stride, near)
        facts = {"align": layout.align, "size": layout.record_stride, "type": layout.name, "stride": stride}
        raise SourceError.of("stride-value", function=function, suggestion=suggestion, **facts)
    return number


def _restrided(bound: BoundPlan, batch: Batch, stride: Any) -> BoundPlan:
    layout = type(batch).__layout__
    number = check_stride(layout, stride, "pack")
    (part,) = bound.parts
    size = number * (bound.count - 1) + layout.record_stride if bound.count else 0
    size = layouts.round_up(layout.align, size)
    part = part._replace(stride=number, streamable=number == part.run.size)
    return bound._replace(parts=(part,), size=size)


def byte_view(source: Any) -> NDArray[np.uint8]:
    """The bytes of a contiguous buffer, over the same memory; TypeError, ValueError or BufferError if it is none.

    Python objects are no bytes: written over, their addresses would crash the interpreter.
    """
    view = memoryview(source)
    if "O" in re.sub(":[^:]*:", "", view.format):  # Field names stand between colons.
        raise TypeError("it holds Python objects")
    return np.frombuffer(view.cast("B") if view.nbytes else bytearray(), np.uint8)


def _buffer(out: Any, needed: int) -> NDArray[np.uint8]:
    """`out` as bytes; SourceError if it is no contiguous buffer."""
    try:
        return byte_view(out)
    except (TypeError, ValueError, BufferError) as error:
        current = f"{type(out).__name__}: {error}"
        raise SourceError.of("out-buffer", current=current, function="pack", needed=needed) from None


def _check_room(bound: BoundPlan, data: np.ndarray, offset: int) -> None:
    facts = {"needed": bound.extent, "offset": offset, "available": max(0, data.nbytes - offset)}
    raise SourceError.of("out-small", function="pack", total=bound.extent + offset, **facts)
