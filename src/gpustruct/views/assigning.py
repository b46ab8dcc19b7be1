"""Assigning to a whole record of a view, or to several records. A value that does not fit changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _records, _views
from .. import layout as layouts
from ..batches import Batch, ColumnSpec, Shape, as_batch, as_column, as_seen, from_columns
from ..broadcasting import elements, leading_shape
from ..byte_columns import batch_over
from ..errors import SourceError
from ..layout import Layout
from ..packing import byte_view, pack
from ..sources import batch
from ..sources.records import member_writer
from ..twins import twin_of


def assign_record(spec: ColumnSpec, layout: Layout, where: str, record: Any, value: Any) -> None:
    """Set all members of a record that is a struct."""
    if not isinstance(record, _views.Record) or memoryview(record).readonly:
        raise SourceError.of("view-readonly", where=where)
    _assign(spec, layout, where, (), memoryview(record), value)


def assign_rows(spec: ColumnSpec, element: Layout, where: str, rows: Any, value: Any) -> None:
    """Set all records of an array or of a slice: from a list of values, or a batch of as many records."""
    if not isinstance(rows, _views.Records) or memoryview(rows).readonly:
        raise SourceError.of("view-readonly", where=where)
    count = len(rows)
    dims = (count, *dims_of(element))
    own = spec._replace(dims=dims, runtime=False)
    if count:
        _assign(own, layouts.array(element, count), where, dims, memoryview(rows), value)
    elif len(value):
        facts = {"type": f"a slice of {where}", "current": len(value), "count": len(value), "expected": "an empty list"}
        raise SourceError.of("record-length", where=where, **facts)


def dims_of(layout: Layout) -> Shape:
    """The counts of nested arrays, the outermost first."""
    return tuple(count or 0 for count, _ in layout.axes)


def batch_of_rows(cls: Any, rows: Any) -> Any:
    """The records of an array as a batch of `cls` over the same bytes."""
    return batch_over(cls, byte_view(rows), 0, (len(rows),), (type(rows).__stride__,))


def records_of(rows: Any) -> Any:
    """All records of an array, of nested arrays too, as one batch over the same bytes."""
    return elements(batch_of_rows(type(rows).__seen__, rows))


def _assign(spec: ColumnSpec, layout: Layout, where: str, dims: Shape, target: memoryview, value: Any) -> None:
    core, kind = spec.core, getattr(type(value), "__seen__", None)
    if kind is core and not dims and memoryview(value).nbytes == target.nbytes:
        # Through a copy, because both may overlap.
        target[:] = bytes(value)
        return
    value = as_batch(value)
    if dims and (isinstance(value, Mapping) or getattr(getattr(value, "dtype", None), "names", None)):
        value = batch(core, value)
    if isinstance(value, Batch) and core.__layout__.kind == "struct":
        value = as_seen(core, elements(value))
        # A twin has the same bytes.
        if type(value) not in (core, twin_of(core)) or value.__shape__ != dims:
            shape = f"{type(value).__name__} {value.__shape__}"
            way_out = f"give it a {core.__name__} of batch shape {dims}"
            facts = {"inner": dims, "type": core.__name__, "shape": shape, "way_out": way_out}
            raise SourceError.of("record-shape", where=where, **facts)
        target[:] = pack(value).data
        return
    # Packed into other memory first, so that an error changes nothing.
    scratch = np.zeros(target.nbytes, np.uint8)
    _records.write_value(member_writer(spec, layout, where), value, scratch, target.nbytes)
    target[:] = scratch.data


def assign_column(rows: Any, name: str, where: str, value: Any) -> None:
    """Set one member of several records from a column, which is broadcast to their shape."""
    if memoryview(rows).readonly:
        raise SourceError.of("view-readonly", where=where)
    made = records_of(rows)
    cls, shape = type(made), made.__shape__
    spec = cls.__members__[name]
    column = as_column(spec, value, where)
    came = leading_shape(spec, column)
    if len(came) > len(shape) or any(
        have not in (1, want) for have, want in zip(came[::-1], shape[::-1], strict=False)
    ):
        inner = shape + spec.inner
        facts = {"inner": inner, "type": spec.type.__name__, "shape": came + spec.inner, "where": where}
        raise SourceError.of(
            "record-shape", way_out=f"give it an array of shape {inner}, or one value for all", **facts
        )
    columns = (column if key == name else held for key, held in zip(cls.__members__, made.__columns__, strict=True))
    memoryview(rows)[:] = pack(from_columns(cls, tuple(columns), shape)).data
