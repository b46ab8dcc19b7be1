"""unpack, the reverse of pack: views of the bytes, or, with `out`, a gather into arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from . import _kernel, threads
from ._records import unpack_all, unpack_views
from .batches import DTYPES as DTYPES
from .batches import Batch, as_batch, from_columns, set_unpack_plan
from .byte_columns import batch_over, column_over
from .columns import Columns
from .errors import SourceError
from .layout import RECORD_SCALARS, Layout, whole_number
from .packing import STREAM_BYTES, ZERO, BoundPlan, Part, bind_unpack, byte_view, check_stride, columns_of, whole_bytes

T = TypeVar("T", bound=Batch)


def unpack(
    cls: type[T], data: Any, *, count: int | None = None, offset: int = 0, stride: int | None = None, out: Any = None
) -> T:
    """The records in `data` as a batch of `cls`: the reverse of `pack`.

    Without `out` the columns are views of `data` (a contiguous buffer of bytes), shaped ``(n,)`` plus
    the member's own shape, and writable if `data` is; nothing is copied. A struct that ends in a
    runtime-sized array gives one record, whose tail has the rest. With `out`, a batch of `cls` over
    writable arrays, the records are copied into those arrays, converted to their dtypes, and
    `out` is returned. `count` takes fewer records; `stride` and `offset`, in bytes, are as in `pack`.

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
    if out is None and stride is None and count is None and offset is ZERO:
        made = unpack_all(cls, data)
        if made is not None:
            return made
    layout = getattr(cls, "__layout__", None)
    if not isinstance(cls, type) or not issubclass(cls, Batch) or not isinstance(layout, Layout):
        raise SourceError.of("unpack-type", current=getattr(cls, "__name__", repr(cls)))
    data = _bytes(cls, data)
    offset = whole_bytes(offset, "unpack")
    step = layout.counted_stride if stride is None else check_stride(layout, stride, "unpack")
    records = _records(cls, layout, data.nbytes, offset, step, count)
    if out is not None:
        _gather(cls, data, offset, step, records, as_batch(out))
        return out
    if not layout.is_runtime_sized:
        seen = unpack_views(cls, data, offset, records, step)
        return batch_over(cls, data, offset, (records,), (step,)) if seen is None else seen
    return _tail_views(cls, data, offset, records)


def _bytes(cls: Any, data: Any) -> np.ndarray:
    if data.__class__ is np.ndarray and data.dtype.char == "B" and data.ndim == 1 and data.flags.c_contiguous:
        return data
    try:
        return byte_view(data)
    except (TypeError, ValueError, BufferError) as error:
        current = f"{type(data).__name__}: {error}"
        raise SourceError.of("data-buffer", current=current, type=cls.__name__) from None


def _records(cls: Any, layout: Layout, nbytes: int, offset: int, step: int, count: Any) -> int:
    size, name = (step if layout.is_runtime_sized else layout.size), cls.__name__
    room = nbytes - offset - layout.header
    if room < 0:
        raise SourceError.of("data-small", needed=offset + layout.header, size=nbytes, offset=offset, type=name)
    available = (room - size) // step + 1 if room >= size else 0
    if count is None:
        extra = room - (available - 1) * step - size if available else room
        # The data may end with the last value, with the last record, or where the next one would start.
        padding = (0, layout.record_stride - size, step - size) if available else (0,)
        if extra not in padding and not layout.is_runtime_sized:
            raise SourceError.of("data-size", stride=step, size=nbytes, offset=offset, extra=extra, type=name)
        return available
    number = whole_number(count, 0, available)
    if number is None:
        raise SourceError.of("count-value", available=available, count=count, type=name)
    return number


def _tail_views(cls: Any, data: np.ndarray, offset: int, records: int) -> Any:
    layout: Layout = cls.__layout__
    spec = next(reversed(cls.__members__.values()))
    tail: Layout = spec.type.__layout__
    elements = column_over(spec, tail, data, offset + layout.header, (records,), (tail.stride,))
    if layout.kind == "array":
        return from_columns(cls, (elements,), ())
    header = batch_over(cls, data, offset, (), ())
    return from_columns(cls, (*header.__columns__, elements), ())


def _gather(cls: Any, data: np.ndarray, offset: int, step: int, records: int, out: Any) -> None:
    bound = unpack_plan(cls, out)
    runs: list[tuple[Part, int]] = []
    for part in bound.parts:
        is_header = part is not bound.parts[-1]
        expected = 1 if is_header else records
        if part.run.records != expected:
            way_out = f"give it {records} records, the number in data, or pass count="
            current = f"{part.run.records} records"
            facts = {"current": current, "way_out": way_out, "function": "unpack"}
            raise SourceError.of("out-columns", type=cls.__name__, **facts)
        runs.append((part, part.stride if is_header else step))
    if any(run.overlaps(data, 0, data.nbytes) for run in (part.run for part, _ in runs)):
        # Columns overlap the bytes that they are read from: all is read before anything is written.
        data = data.copy()
    for part, stride in runs:
        base, run = offset + part.base, part.run
        mode = _kernel.MODE_STREAM if run.records * stride >= STREAM_BYTES else _kernel.MODE_PLAIN
        workers = threads.choose(run.records, stride, None)
        # If the data end with the last value, the last record is read from a longer copy.
        last = run.records - (base + stride * (run.records - 1) + run.size > data.nbytes)
        record, leaf = run.gather(data, base, stride, 0, last, mode, workers)
        if record < 0 and last < run.records:
            longer = np.concatenate([data[base + stride * last :], np.zeros(run.size, np.uint8)])
            record, leaf = run.gather(longer, 0, stride, last, run.records, mode, 1)
        if record >= 0:
            raise gather_fault(cls, columns_of(out, part), record, leaf)


def unpack_plan(cls: Any, out: Any, function: str = "unpack") -> BoundPlan:
    """The plans that unpack to a batch's columns, made on first use and kept with the batch."""
    facts = {"type": cls.__name__, "function": function}
    if type(out) is not cls:
        way_out = f"make one: {cls.__name__}(...) over np.empty arrays"
        raise SourceError.of("out-columns", current=type(out).__name__, way_out=way_out, **facts)
    bound = out.__unpack_plan__
    if bound is None:
        try:
            bound = bind_unpack(out)
        except (BufferError, ValueError):
            way_out = "every column needs memory of its own: no read-only arrays"
            raise SourceError.of("out-columns", current="a read-only column", way_out=way_out, **facts) from None
        for part in bound.parts:
            _check_gather(cls, columns_of(out, part), facts)
        _check_disjoint(cls, out, bound, facts)
        set_unpack_plan(out, bound)
    return bound


def _check_gather(cls: Any, columns: Columns, facts: dict[str, str]) -> None:
    for leaf, view in zip(columns.leaves, columns.views, strict=True):
        where = ".".join((cls.__name__, *leaf.path))
        target = columns.shape + tuple(count for count, _ in leaf.axes)
        if view.shape != target or _overlaps_itself(view):
            current, way_out = f"{where} of shape {view.shape}", f"give {where} an array of its own of shape {target}"
            raise SourceError.of("out-columns", current=current, way_out=way_out, **facts)
        row, kind = RECORD_SCALARS[leaf.scalar], view.dtype.kind
        integer = row.is_integer
        if (
            row.is_normalized
            and view.dtype.str[1:] == (np.dtype("u1") if row.is_word else np.dtype(row.stored)).str[1:]
        ):
            continue
        if kind not in ("iu" if integer else "f"):
            suggestion = "np.int32, np.uint32 or np.int64" if integer else "np.float32 or np.float64"
            raise SourceError.of(
                "out-dtype", type=leaf.scalar, dtype=view.dtype.name, where=where, suggestion=suggestion
            )


def _overlaps_itself(view: np.ndarray) -> bool:
    """Whether two entries of an array may share bytes: a stride is less than the extent of the inner dimensions."""
    reach = view.itemsize
    for step, count in sorted((abs(step), count) for step, count in zip(view.strides, view.shape, strict=True)):
        if count > 1 and step < reach:
            return view.size > 0
        reach += step * (count - 1)
    return False


def _check_disjoint(cls: Any, out: Any, bound: BoundPlan, facts: dict[str, str]) -> None:
    """Raise SourceError if two columns share bytes: one would overwrite the other."""
    named = [
        (".".join((cls.__name__, *leaf.path)), view)
        for columns in (columns_of(out, part) for part in bound.parts)
        for leaf, view in zip(columns.leaves, columns.views, strict=True)
        if view.size
    ]
    spans = sorted((*np.lib.array_utils.byte_bounds(view), k) for k, (_, view) in enumerate(named))
    open_until: list[tuple[int, int]] = []
    for low, high, k in spans:
        open_until = [(end, other) for end, other in open_until if end > low]
        for _, other in open_until:
            if np.shares_memory(named[k][1], named[other][1]):
                current, way_out = f"{named[k][0]} over {named[other][0]}", "give each column memory of its own"
                raise SourceError.of("out-columns", current=current, way_out=way_out, **facts)
        open_until.append((high, k))


def gather_fault(cls: Any, columns: Columns, record: int, leaf: int) -> Exception:
    if leaf < 0:
        return MemoryError("no memory for the kernel's scratch space")
    place, view = columns.leaves[leaf], columns.views[leaf]
    where = ".".join((cls.__name__, *place.path)) + f"[{record}]"
    suggestion = "np.int64" if RECORD_SCALARS[place.scalar].is_integer else "np.float32"
    return SourceError.of("out-dtype", type=place.scalar, dtype=view.dtype.name, where=where, suggestion=suggestion)
