"""What a source is: columns by name, records one by one, or one column over the memory that it has."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .. import _kernel
from ..batches import Batch, Slot
from ..dtypes import dtype_of
from ..errors import SourceError
from . import arrays, arrow, frames
from .naming import Shelf
from .records import fields_of, from_records


def library(source: Any) -> str:
    """Which of the libraries known here made the value's class, or a class it extends; "" for none.

    Told by the name of the module, so that none of them is imported.
    """
    for base in type(source).__mro__:
        top = base.__module__.partition(".")[0]
        if top in ("pandas", "polars", "pyarrow"):
            return top
    return ""


def column(source: Any, slot: Slot, where: str) -> Any:
    """`source` as `hold` takes it: an array, a batch, or a nested shelf for a nested struct."""
    if type(source) is np.ndarray:
        return arrays.field(source, slot, where)
    if isinstance(source, np.ma.MaskedArray):
        return arrays.field(arrays.unmasked(source, where, slot.name or "column"), slot, where)
    if isinstance(source, np.ndarray):
        return arrays.field(source.view(np.ndarray), slot, where)
    made_by = library(source)
    if made_by:
        return _of_library(made_by, source, slot, where)
    if isinstance(source, Batch):
        return source
    if slot.core.__layout__.kind == "struct":
        shelf = shelf_of(slot.core, source, where)
        return arrays.structured(from_records(slot.core, source, (), where), where) if shelf is None else shelf
    return arrays.exported(source, where, slot.name or "column")


# What a column of each library has and its frames, scalars and expressions have not; and what its frames have.
_COLUMN_MARKS = {"pandas": ("array", "isna"), "polars": ("dtype", "null_count"), "pyarrow": ("type", "null_count")}
_FRAME_MARKS = {"pandas": "columns", "polars": "get_columns", "pyarrow": "column_names"}


def _of_library(made_by: str, source: Any, slot: Slot, where: str) -> Any:
    if not all(hasattr(source, mark) for mark in _COLUMN_MARKS[made_by]):
        if slot.core.__layout__.kind == "struct" and hasattr(source, _FRAME_MARKS[made_by]):
            return shelf_of(slot.core, source, where)
        way_out = 'give one column of it, or several by name: ("x", "y", "z")'
        raise SourceError.of(
            "column-source", current=f"{made_by} {type(source).__name__}", where=where, way_out=way_out
        )
    if made_by == "pandas":
        return frames.pandas_column(source, slot, where)
    if made_by == "polars":
        return frames.polars_column(source, slot, where)
    return arrow.column(source, slot, where)


def mapping(source: Mapping[Any, Any], where: str) -> Shelf:
    """A mapping from names to values of any kind."""

    def get(key: Any, slot: Slot, where: str) -> Any:
        return column(source[key], slot, where)

    return Shelf(list(source), get, where)


def shelf_of(cls: Any, source: Any, where: str) -> Shelf | None:
    """The source's columns by name, or None where it is an iterable of records; SourceError for what is neither."""
    _refuse_lazy(where, source)
    made_by = library(source)
    if made_by == "pandas" and hasattr(source, _FRAME_MARKS[made_by]):
        return frames.pandas_frame(source, where)
    if made_by == "polars" and hasattr(source, _FRAME_MARKS[made_by]):
        return frames.polars_frame(source, where)
    if made_by == "pyarrow" and hasattr(source, _FRAME_MARKS[made_by]):
        return arrow.table(source, where)
    if isinstance(source, Mapping):
        return mapping(source, where)
    if made_by or isinstance(source, np.ndarray):
        value = column(source, Slot("", cls, cls, (), False), where)
        return value if isinstance(value, Shelf) else _refuse(where, source)
    if isinstance(source, Batch):
        return _members(source, where)
    return _buffer(source, where) or _attributes(source, where)


def _members(source: Batch, where: str) -> Shelf:
    if "" in type(source).__members__:
        _refuse(where, source)

    def get(name: str, slot: Slot, where: str) -> Any:
        return getattr(source, name)

    return Shelf(list(type(source).__members__), get, where)


def _buffer(source: Any, where: str) -> Shelf | None:
    """What exports memory with a dtype of fields: ctypes arrays and structures, objects with ``__array_interface__``."""
    kind: Any = getattr(type(source), "__type__", None)
    if kind is not None and isinstance(source, _kernel.Record):
        if kind.__layout__.is_runtime_sized or kind.__layout__.kind != "struct":
            _refuse(where, source)
        else:
            return arrays.structured(np.frombuffer(memoryview(source), dtype_of(kind)).reshape(()), where)
    if isinstance(source, ctypes.Array | ctypes.Structure):
        element: Any = type(source)
        while issubclass(element, ctypes.Array):
            element = element._type_
        try:
            array = np.frombuffer(memoryview(source).cast("B"), np.dtype(element))
        except (TypeError, ValueError):
            # Pointers and Python objects inside: numpy has no dtype for them.
            return _refuse(where, source)
        array = array.reshape(()) if element is type(source) else array
        return arrays.structured(array, where) if array.dtype.names is not None else _refuse(where, source)
    exported = source
    if hasattr(source, "__dlpack__"):
        _refuse(where, source)
    if not hasattr(source, "__array_interface__") and not hasattr(source, "__array_struct__"):
        try:
            exported = memoryview(source)
        except TypeError:
            return None
    try:
        array = np.asarray(exported)
    except (TypeError, ValueError, BufferError, NotImplementedError, RuntimeError):
        return _refuse(where, source)
    names = array.dtype.names
    if names is None:
        return _refuse(where, source)
    # Formats of buffers spell padding out as a field of raw bytes.
    padding = [
        name
        for name in names
        if array.dtype[name].kind == "V" and array.dtype[name].base.names is None and array.dtype[name].subdtype is None
    ]
    return arrays.structured(array[[name for name in names if name not in padding]], where)


def _attributes(source: Any, where: str) -> Shelf | None:
    """One object whose attributes are the columns; None for an iterable of records."""
    cls = type(source)
    names = fields_of(cls)
    if names is None:
        if isinstance(source, Iterable) and not isinstance(source, str):
            return None
        names = tuple(getattr(source, "__dict__", ())) or tuple(getattr(cls, "__slots__", ()))
        if not names or isinstance(source, type):
            _refuse(where, source)
        names = tuple(name for name in names if not name.startswith("_"))

    def get(name: str, slot: Slot, where: str) -> Any:
        return column(getattr(source, name), slot, where)

    return Shelf(names, get, where)


def _refuse(where: str, source: Any) -> Any:
    kind = type(source).__name__
    way_out = "pass a mapping, a frame, a structured array, or a list of dicts, tuples or objects"
    if isinstance(source, np.ndarray):
        kind, way_out = f"an array of {source.dtype} {source.shape}", "name its columns: {'x': array[:, 0], ...}"
    elif isinstance(source, memoryview | bytes | bytearray):
        way_out = f"read packed bytes with unpack({where}, data)"
    raise SourceError.of("source-kind", current=kind, type=where, way_out=way_out)


def _refuse_lazy(where: str, source: Any) -> None:
    for mark, method in (
        ("__dask_graph__", "compute"),
        ("collect_schema", "collect"),
        ("read_all", "read_all"),
        ("to_table", "to_table"),
    ):
        if hasattr(source, mark) and hasattr(source, method) and not hasattr(source, "get_columns"):
            kind = f"{type(source).__module__.partition('.')[0]} {type(source).__name__}"
            raise SourceError.of("source-lazy", current=kind, type=where, way_out=f"source.{method}()")
