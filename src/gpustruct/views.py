"""`view`: one record, or some, over its own bytes, for values that change one by one. See `_kernel` for the setters."""

from __future__ import annotations

import copyreg
import functools
import operator
import weakref
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from . import _kernel
from . import layout as layouts
from .batches import Batch, Slot
from .columns import SCALAR_CODES
from .errors import SourceError
from .layout import Layout
from .packing import byte_view, pack
from .sources import batch
from .sources.records import explain_member, fitting, member_writer

# Changed bytes closer than this go up together: a write of its own costs more than they do.
GAP = 4096


def view(cls: Any, data: Any = None, offset: int = 0, *, count: int | None = None) -> Any:
    """One record over its own bytes, zero at first: assigning to its members writes those bytes at once.

    ``v.time = 0.5``, ``v.camera.position = p``, ``v.lights[3].color = c``: each value has its member's own
    shape, and is checked and converted as `pack` does; what does not fit leaves the bytes as they were. A
    nested struct takes a mapping, an object or a batch of all its members. Reading gives a Python number, a
    numpy view of the bytes (matrices [row, col]), or a view of the nested record. ``v[...]`` is the value of
    a type that is no struct. ``v.update(mapping)`` sets many, or none where one is wrong; where a member has
    that name, `update` does it. ``memoryview(v)`` and ``bytes(v)`` are the record's bytes.

    `count` gives an array of records, ``view(T, count=n)[i]``; for a runtime-sized type it is the length of
    its array. With `data`, a contiguous buffer of bytes, the records are those that lie at byte `offset` of
    it, and nothing is copied. Raises SourceError for data that is too small, and for values that do not fit.
    WGSL §14.4 (memory layout).

    >>> import numpy as np
    >>> from gpustruct import Struct, mat4x4f, vec3f, f32, view
    >>> class Camera(Struct):
    ...     view: mat4x4f
    ...     position: vec3f
    ...     time: f32
    >>> camera = view(Camera)
    >>> camera.view, camera.position = np.eye(4), (1, 2, 3)
    >>> camera.time += 0.5
    >>> camera.position, camera.time, len(bytes(camera))
    (array([1., 2., 3.], dtype=float32), 0.5, 80)
    """
    layout = getattr(cls, "__layout__", None)
    if not isinstance(cls, type) or not issubclass(cls, Batch) or not isinstance(layout, Layout):
        raise SourceError.of("view-type", current=getattr(cls, "__name__", repr(cls)))
    start = _whole(cls, offset, "offset")
    number = None if count is None else _whole(cls, count, "count")
    if data is None:
        if start:
            facts = {"needed": "0", "total": start, "current": "none"}
            raise SourceError.of("view-data", type=cls.__name__, offset=offset, **facts)
        if number is None and layout.is_runtime_sized:
            way_out = "a runtime-sized type needs count=, the length of its array"
            raise SourceError.of("view-count", type=cls.__name__, count=None, least=0, way_out=way_out)
        size = _size(layout, number)
        return _kernel.place(_root(cls, number), np.zeros(size, np.uint8), 0)
    memory = _memory(cls, data, start, layout, number)
    if number is None and layout.is_runtime_sized:
        number = layouts.records_in(layout, memory.nbytes - start)
    short = memory.nbytes - start < _size(layout, number)
    return _kernel.place(_root(cls, number, short), memory, start)


def _size(layout: Layout, count: int | None) -> int:
    """Bytes that a view of `count` records (None: one) has, the padding after the last of them included."""
    if layout.is_runtime_sized:
        return layout.header + layout.array_stride * (count or 0)
    return layout.record_stride * (1 if count is None else count)


def _least(layout: Layout, count: int | None) -> int:
    """Bytes that such a view must have: one vec3f fits into 12."""
    return layouts.extent(layout, count or 0 if layout.is_runtime_sized or count is not None else 1)


def _whole(cls: Any, value: Any, name: str) -> int:
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0 or number > layouts.MAX_BYTES:
        if name == "offset":
            raise SourceError.of("offset-value", offset=value, function="view")
        facts = {"count": value, "least": 0, "way_out": "leave it out for one record"}
        raise SourceError.of("view-count", type=cls.__name__, **facts)
    return number


def _memory(cls: Any, data: Any, offset: int, layout: Layout, count: int | None) -> np.ndarray:
    needed = _least(layout, count)
    facts = {"type": cls.__name__, "needed": needed, "offset": offset, "total": offset + needed}
    try:
        memory = byte_view(data)
    except (TypeError, ValueError, BufferError) as error:
        raise SourceError.of("view-data", current=f"{type(data).__name__}: {error}", **facts) from None
    if memory.nbytes - offset < needed:
        raise SourceError.of("view-data", current=f"{memory.nbytes} bytes", **facts)
    return memory


# The classes, made once for each type and for each place that a message names.


@functools.lru_cache(maxsize=512)
def _root(cls: Any, count: int | None, short: bool = False) -> Any:
    """The Member that a whole view is; `short`: over bytes that end where the last value does."""
    layout: Layout = cls.__layout__
    slot = cls.__members__.get("") or Slot("", cls, cls, (), False)
    if layout.kind == "struct" and layout.is_runtime_sized:
        kind = _record(cls, cls.__name__, count)
        size = layout.header + layout.stride * (count or 0)
        return _kernel.Member("", cls.__name__, 0, size, None, kind, -1, 0, _assigner(slot, layout, cls.__name__))
    if layout.is_runtime_array:
        return _member("", cls.__name__, slot, layout, 0, count)
    if count is not None:
        inner = _member("", cls.__name__, slot, layout, 0, None)
        size = _least(layout, count) if short else _size(layout, count)
        return _kernel.Member("", cls.__name__, 0, size, None, inner, count, layout.record_stride, None)
    if layout.core.kind == "struct":
        return _member("", cls.__name__, slot, layout, 0, None)
    whole = _member("", cls.__name__, slot, layout, 0, None)
    kind = type(cls.__name__, (_kernel.Record,), {**_COMMON, "__type__": cls, "__whole__": whole})
    size = layout.size if short else layout.record_stride
    return _kernel.Member("", cls.__name__, 0, size, None, kind, -1, 0, None)


@functools.lru_cache(maxsize=512)
def _record(cls: Any, where: str, count: int | None = None) -> Any:
    """The class of views of `cls`, a struct: its members, and nothing else without underscores but update."""
    layout: Layout = cls.__layout__
    members = {
        member.name: _member(member.name, f"{where}.{member.name}", slot, member.layout, member.offset, count)
        for slot, member in zip(cls.__members__.values(), layout.fields, strict=True)
    }
    namespace = {**_COMMON, "__type__": cls, "__count__": count, "update": update, **members}
    return type(cls.__name__, (_kernel.Record,), namespace)


def _member(name: str, where: str, slot: Slot, layout: Layout, offset: int, count: int | None) -> Any:
    assign = _assigner(slot, layout, where)
    length = count if layout.is_runtime_array else layout.count
    if slot.core.__layout__.kind != "struct":
        axes, inner = [], layout
        while inner.element is not None:
            axes.append(((count or 0) if inner.count is None else inner.count, inner.stride))
            inner = inner.element
        (leaf,) = layouts.leaves(inner)
        fit = functools.partial(fitting, _counted(slot, length), where, ())
        unit = layouts.SCALAR_SIZE[leaf.scalar]
        code = SCALAR_CODES[leaf.scalar]
        size = layout.size if not layout.is_runtime_array else layout.stride * (count or 0)
        written = _kernel.Leaf(code, unit, (*axes, *leaf.axes), fit)
        return _kernel.Member(name, where, offset, size, written, None, -1, 0, assign)
    if layout.kind != "array":
        kind = _record(slot.core, where)
        return _kernel.Member(name, where, offset, layout.size, None, kind, -1, 0, assign)
    assert layout.element is not None and length is not None
    element = _member(name, where, slot, layout.element, 0, None)
    return _kernel.Member(name, where, offset, layout.stride * length, None, element, length, layout.stride, assign)


def _counted(slot: Slot, length: int | None) -> Slot:
    """The slot of a runtime-sized array as one of an array of `length`."""
    return slot if not slot.runtime else slot._replace(dims=(length or 0, *slot.dims), runtime=False)


def _assigner(slot: Slot, layout: Layout, where: str) -> Any:
    return functools.partial(_assign, slot, layout, where)


def _assign(slot: Slot, layout: Layout, where: str, place: Any, value: Any) -> None:
    """Set a whole record or array of records: packed aside first, so that a fault changes nothing."""
    core = slot.core
    dims: tuple[int, ...] = ()
    if isinstance(place, _kernel.Records):
        dims = (len(place), *_dims(layout.element))
    if not isinstance(place, _kernel.Record | _kernel.Records) or memoryview(place).readonly:
        raise SourceError.of("view-readonly", where=where)
    target = memoryview(place)
    if _same(slot, layout, value) and memoryview(value).nbytes == target.nbytes:
        # By way of a copy: both may be the same bytes, or overlap.
        target[:] = bytes(value)
        return
    if isinstance(value, Mapping) and dims:
        value = batch(core, value)
    if isinstance(value, Batch):
        if type(value) is not core or value.__shape__ != dims:
            facts = {"inner": dims, "type": core.__name__, "shape": f"{type(value).__name__} {value.__shape__}"}
            raise SourceError.of(
                "record-shape", where=where, way_out=f"give it a {core.__name__} of batch shape {dims}", **facts
            )
        target[:] = pack(value).data
        return
    scratch = np.zeros(target.nbytes, np.uint8)
    length = len(place) if isinstance(place, _kernel.Records) else 1
    counted = layouts.array(_element(layout), max(length, 1)) if layout.is_runtime_array else layout
    if length:
        try:
            _kernel.fill(member_writer(slot, counted, where), [value], scratch, target.nbytes, target.nbytes, [])
        except SourceError:
            explain_member(slot, counted, (), value, where, ())
            raise
    target[:] = scratch.data


def _same(slot: Slot, layout: Layout, value: Any) -> bool:
    """Whether `value` is a view whose bytes mean the same."""
    if isinstance(value, _kernel.Records):
        inner, inner_layout, _ = _kernel.element_of(value).assign.args
        return inner.core is slot.core and inner_layout == layout.element
    return getattr(type(value), "__type__", None) is slot.type


def _element(layout: Layout) -> Layout:
    assert layout.element is not None
    return layout.element


def _dims(layout: Layout | None) -> tuple[int, ...]:
    return () if layout is None or layout.kind != "array" else (layout.count or 0, *_dims(layout.element))


def update(record: Any, values: Mapping[str, Any] = {}, /, **members: Any) -> None:
    """Set many members of a view: all of them, or none where one is wrong.

    `values` maps members to values; nested ones by a nested mapping, which may leave members out, or by
    dotted names. Raises SourceError for names that are no members and for values that do not fit.

    >>> from gpustruct import Struct, f32, vec3f, view
    >>> from gpustruct.views import update
    >>> class Light(Struct):
    ...     color: vec3f
    ...     power: f32
    >>> light = view(Light)
    >>> update(light, {"color": (1, 1, 0)}, power=3)
    >>> light.color, light.power
    (array([1., 1., 0.], dtype=float32), 3.0)
    """
    kind = getattr(type(record), "__type__", None)
    if kind is None or not isinstance(values, Mapping):
        current = type(record if kind is None else values).__name__
        raise SourceError.of("view-update", current=current, type=getattr(kind, "__name__", "a view"))
    target = memoryview(record)
    if target.readonly:
        raise SourceError.of("view-readonly", where=kind.__name__)
    scratch = np.frombuffer(bytearray(target), np.uint8)
    count = getattr(type(record), "__count__", None)
    root = _root(kind, count, target.nbytes < _size(kind.__layout__, count))
    _set_all(_kernel.place(root, scratch, 0), kind, {**values, **members})
    target[:] = scratch.data


def _set_all(record: Any, kind: Any, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        head, _, rest = str(name).partition(".")
        slot = kind.__members__.get(head)
        nested = slot is not None and slot.core.__layout__.kind == "struct" and slot.type is slot.core
        if slot is None or not head or (rest and not nested):
            facts = {"expected": ", ".join(kind.__members__), "came": ", ".join(map(str, values))}
            raise SourceError.of("columns-unknown", unknown=name, where=kind.__name__, **facts)
        if rest:
            _set_all(getattr(record, head), slot.core, {rest: value})
        elif nested and isinstance(value, Mapping):
            _set_all(getattr(record, head), slot.core, value)
        else:
            setattr(record, head, value)


def _get_whole(record: Any, index: Any) -> Any:
    return _whole_member(record, index).__get__(record, type(record))


def _set_whole(record: Any, index: Any, value: Any) -> None:
    _whole_member(record, index).__set__(record, value)


def _whole_member(record: Any, index: Any) -> Any:
    kind = type(record).__type__
    whole = getattr(type(record), "__whole__", None)
    if index is not Ellipsis or whole is None:
        shown = "..." if index is Ellipsis else repr(index)
        way_out = "use v[...]" if whole is not None else f"use a member: {', '.join(kind.__members__)}"
        raise SourceError.of("view-whole", index=shown, where=f"a view of {kind.__name__}", way_out=way_out)
    return whole


def _shown(record: Any) -> str:
    kind = type(record)
    if hasattr(kind, "__whole__"):
        return f"view({kind.__type__.__name__}): {_short(record[...])}"
    inside = ", ".join(f"{name}={_short(getattr(record, name))}" for name in kind.__type__.__members__)
    return f"view({kind.__type__.__name__}): {inside}"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= 16 else f"{value.dtype}{value.shape}"
    if isinstance(value, _kernel.Records):
        return f"{len(value)} records"
    return f"({repr(value).partition(': ')[2]})" if isinstance(value, _kernel.Record) else repr(value)


def _reduce(record: Any) -> Any:
    return _restored, (type(record).__type__, getattr(type(record), "__count__", None), bytes(record))


def _restored(kind: Any, count: int | None, data: bytes) -> Any:
    return view(kind, bytearray(data), count=count)


def _reduce_rows(rows: Any) -> Any:
    slot, layout, _ = _kernel.element_of(rows).assign.args
    kind = slot.type
    while kind.__layout__ != layout:
        kind = kind.__element__
    return _restored, (kind, len(rows), bytes(rows))


copyreg.pickle(_kernel.Records, _reduce_rows)  # type: ignore[arg-type]


def _init(record: Any, *arguments: Any, **members: Any) -> NoReturn:
    raise TypeError(f"a view is made by view({type(record).__name__})")


_COMMON: dict[str, Any] = {
    "__slots__": (),
    "__module__": __name__,
    "__getitem__": _get_whole,
    "__setitem__": _set_whole,
    "__repr__": _shown,
    "__reduce__": _reduce,
    "__init__": _init,
}

# What went up last, for each buffer: offset -> the bytes that lie there.
_uploaded: weakref.WeakKeyDictionary[Any, dict[int, bytearray]] = weakref.WeakKeyDictionary()


def changed_ranges(record: Any, target: Any, offset: int = 0) -> list[tuple[int, int]]:
    """(first byte, bytes) of what differs from the bytes last taken for `target` at `offset`.

    `target` is whatever the bytes go to, such as a wgpu buffer; it is kept weakly. The first time that is
    all of them. Ranges start at multiples of 4 and have such sizes; close ones are joined. The bytes count as
    taken from now on: call ``forget(target)`` where they did not arrive, or where anything else writes there.

    >>> from gpustruct import Struct, f32, vec3f, view
    >>> from gpustruct.views import changed_ranges
    >>> class Light(Struct):
    ...     color: vec3f
    ...     power: f32
    >>> light, buffer = view(Light), type("Buffer", (), {})()
    >>> changed_ranges(light, buffer), changed_ranges(light, buffer)
    ([(0, 16)], [])
    >>> light.power = 2
    >>> changed_ranges(light, buffer)
    [(12, 4)]
    """
    now = memoryview(record)
    known = _uploaded.setdefault(target, {})
    before = known.get(offset)
    for start in [k for k, held in known.items() if k < offset + now.nbytes and offset < k + len(held)]:
        if start != offset:
            del known[start]
    if before is not None and len(before) == now.nbytes:
        return _kernel.differences(now, before, GAP)
    known[offset] = bytearray(now)
    return [(0, now.nbytes)] if now.nbytes else []


def forget(target: Any) -> None:
    """Everything counts as changed for `target` again.

    >>> from gpustruct.views import forget
    >>> forget(type("Buffer", (), {})())
    """
    _uploaded.pop(target, None)
