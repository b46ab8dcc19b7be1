"""The classes of views: a MemberDescriptor for each member of a struct. They are made once for each offset in a type."""

from __future__ import annotations

import functools
from typing import Any, NoReturn

import numpy as np

from .. import _numbers, _views
from .. import layout as layouts
from ..batches import ColumnSpec
from ..byte_columns import batch_over
from ..columns import SCALAR_CODES
from ..errors import SourceError, closest
from ..layout import Layout
from ..members import core_of
from ..packing import byte_view
from ..sources.records import fitting
from ..twins import seen_as_original, twin_of
from ..unpacking import unpack
from .assigning import assign_column, assign_record, assign_rows, batch_of_rows, records_of
from .showing import shown, shown_rows
from .updating import update


def full_size(layout: Layout, count: int | None) -> int:
    """Bytes that a view of `count` records (None: one) has, including the padding after the last one."""
    if layout.is_runtime_sized:
        return layout.header + layout.counted_stride * (count or 0)
    return layout.record_stride * (1 if count is None else count)


def least_size(layout: Layout, count: int | None) -> int:
    """Bytes that such a view must have at least: 12 for one vec3f."""
    return layouts.extent(layout, count or 0 if layout.is_runtime_sized or count is not None else 1)


@functools.lru_cache(maxsize=512)
def root(cls: Any, count: int | None, short: bool = False) -> Any:
    """The MemberDescriptor for a whole view; `short`: its bytes end with the last value."""
    cls = seen_as_original(cls)
    layout: Layout = cls.__layout__
    spec, where = cls.__members__.get("") or ColumnSpec("", cls, cls, (), False), cls.__name__
    if layout.kind == "struct" and layout.is_runtime_sized:
        kind = _record(cls, where, count)
        size = layout.header + layout.stride * (count or 0)
        assign = functools.partial(assign_record, spec, layout, where)
        return _views.MemberDescriptor("", where, 0, size, None, kind, -1, 0, assign)
    if layout.is_runtime_array:
        return _member("", where, spec, layout, 0, count)
    if count is not None:
        size = least_size(layout, count) if short else full_size(layout, count)
        return _array("", where, spec, layout, 0, count, layout.record_stride, size)
    if layout.core.kind == "struct":
        return _member("", where, spec, layout, 0, None)
    whole = _member("", where, spec, layout, 0, None)
    kind = type(where, (_views.Record,), {**_RECORD, "__type__": cls, "__seen__": cls, "__whole__": whole})
    return _views.MemberDescriptor(
        "", where, 0, layout.size if short else layout.record_stride, None, kind, -1, 0, None
    )


@functools.lru_cache(maxsize=512)
def _record(cls: Any, where: str, count: int | None = None) -> Any:
    """The class of views of the struct `cls`. Its only public names are the members and `update`."""
    layout: Layout = cls.__layout__
    members = {
        member.name: _member(member.name, f"{where}.{member.name}", spec, member.layout, member.offset, count)
        for spec, member in zip(cls.__members__.values(), layout.fields, strict=True)
    }
    kinds = {"__type__": twin_of(cls), "__seen__": cls}
    namespace = {**_RECORD, **kinds, "__count__": count, "update": update, **members}
    return type(cls.__name__, (_views.Record,), namespace)


def _member(name: str, where: str, spec: ColumnSpec, layout: Layout, offset: int, count: int | None) -> Any:
    length = count if layout.is_runtime_array else layout.count
    if spec.core.__layout__.kind != "struct":
        axes = [((count or 0) if n is None else n, step) for n, step in layout.axes]
        (leaf,) = layouts.leaves(layout.core)
        fit = functools.partial(fitting, _counted(spec, length), where)
        unit = layouts.RECORD_SCALARS[leaf.scalar].size
        size = layout.size if not layout.is_runtime_array else layout.stride * (count or 0)
        written = _numbers.NumberWriter(SCALAR_CODES[leaf.scalar], unit, (*axes, *leaf.axes), fit)
        return _views.MemberDescriptor(
            name, where, offset, size, written, None, -1, 0, functools.partial(_refuse_write, where)
        )
    if layout.kind != "array":
        assign = functools.partial(assign_record, spec, layout, where)
        return _views.MemberDescriptor(name, where, offset, layout.size, None, _record(spec.core, where), -1, 0, assign)
    assert layout.element is not None and length is not None
    return _array(name, where, spec, layout.element, offset, length, layout.stride, length * layout.stride)


def _array(
    name: str, where: str, spec: ColumnSpec, element: Layout, offset: int, count: int, stride: int, size: int
) -> Any:
    """The MemberDescriptor of `count` elements, each a record, a vector or matrix, or an array of records."""
    assign = functools.partial(assign_rows, spec, element, where)
    inner = _member(name, where, spec, element, 0, None)
    rows = _rows(spec, element, where, stride)
    return _views.MemberDescriptor(name, where, offset, size, None, inner, count, stride, assign, rows)


def _rows(spec: ColumnSpec, element: Layout, where: str, stride: int) -> Any:
    """The class of the records of an array: their members as columns."""
    core, type_ = spec.core, spec.type
    while type_.__layout__ != element:
        type_ = type_.__element__
    structs = core.__layout__.kind == "struct"
    columns = {member: _Column(member, f"{where}.{member}") for member in (core.__members__ if structs else ())}
    kinds = {"__type__": twin_of(type_), "__seen__": type_}
    namespace = {**_ROWS, **kinds, "__stride__": stride, **columns}
    namespace["__assign__"] = functools.partialmethod(_assign_slice, spec, element, where)
    return type(f"{type_.__name__}s", (_views.Records,), namespace)


def _assign_slice(rows: Any, spec: ColumnSpec, element: Layout, where: str, value: Any) -> None:
    assign_rows(spec, element, where, rows, value)


class _Column:
    """One member of several records: a view of their bytes, which can be assigned as a whole."""

    __slots__ = ("name", "where")

    def __init__(self, name: str, where: str) -> None:
        self.name, self.where = name, where

    def __get__(self, rows: Any, kind: Any = None) -> Any:
        return self if rows is None else getattr(records_of(rows), self.name)

    def __set__(self, rows: Any, value: Any) -> None:
        assign_column(rows, self.name, self.where, value)


def _counted(spec: ColumnSpec, length: int | None) -> ColumnSpec:
    """The spec of a runtime-sized array as one of an array of `length`."""
    return spec if not spec.runtime else spec._replace(dims=(length or 0, *spec.dims), runtime=False)


def _refuse_write(where: str, place: Any, value: Any) -> NoReturn:
    """Numbers are written by their NumberWriter, except over read-only memory."""
    raise SourceError.of("view-readonly", where=where)


def _refuse_name(cls: Any, name: str) -> NoReturn:
    if name.startswith("__") and name.endswith("__"):  # Code that looks for a protocol does not read advice.
        raise AttributeError(name)
    kind = core_of(cls.__type__)
    way_out = closest(name, [known for known in kind.__members__ if known], "use v[...]")
    raise AttributeError(str(SourceError.of("view-member", name=name, where=kind.__name__, way_out=way_out)))


def _batch_of_record(record: Any) -> Any:
    cls = type(record).__type__
    if cls.__layout__.is_runtime_sized:
        return unpack(cls, record, count=getattr(type(record), "__count__", None))
    return batch_over(cls, byte_view(record), 0, (), ())


def _batch_of_rows(rows: Any) -> Any:
    return batch_of_rows(type(rows).__type__, rows)


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


def _reduce(view: Any) -> Any:
    kind = type(view)
    count = len(view) if isinstance(view, _views.Records) else getattr(kind, "__count__", None)
    return restored, (kind.__type__, count, bytes(view))


def restored(kind: Any, count: int | None, data: bytes) -> Any:
    """A view over a copy of its bytes: what unpickling gives."""
    short = len(data) < full_size(kind.__layout__, count)
    return _views.view_at(root(kind, count, short), np.frombuffer(bytearray(data), np.uint8), 0)


def _init(record: Any, *arguments: Any, **members: Any) -> NoReturn:
    raise TypeError(f"a view is made by view({type(record).__name__})")


_SHARED: dict[str, Any] = {
    "__slots__": (),
    "__module__": __name__,
    "__reduce__": _reduce,
    "__unknown__": classmethod(_refuse_name),
}
_RECORD: dict[str, Any] = {
    **_SHARED,
    "__getitem__": _get_whole,
    "__setitem__": _set_whole,
    "__repr__": shown,
    "__init__": _init,
    "__batch__": _batch_of_record,
}
_ROWS: dict[str, Any] = {
    **_SHARED,
    "__repr__": shown_rows,
    "__batch__": _batch_of_rows,
}
