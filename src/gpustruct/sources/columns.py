"""Reads a source: as named columns, as records, or as one column over existing memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..batches import Batch, ColumnSpec, as_batch
from ..column_specs import is_struct
from ..errors import GpuStructError, SourceError
from ..libraries import NamedColumns, arrow, library, read_column, read_frame
from ..libraries.arrays import array_of, described, structured
from .naming import RecordList, batch_of
from .records import fields_of


def column(source: Any, spec: ColumnSpec, where: str) -> Any:
    """`source` in the form that `as_column` takes: an array, a batch, or NamedColumns for a nested struct."""
    source = as_batch(source)
    if isinstance(source, Batch):
        return source
    value = read_column(source, spec, where)
    if not is_struct(spec) or isinstance(value, NamedColumns):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value
    named = None if isinstance(value, np.ndarray) else named_columns(spec.core, value, where)
    return RecordList(value) if named is None else named


def nested(spec: ColumnSpec, source: Any, where: str) -> Any:
    """A batch from the columns or records of a nested struct; anything else is returned unchanged."""
    if source is None or isinstance(source, str | bytes | int | float | complex | np.generic):
        return source
    value = column(source, spec, where)
    return batch_of(spec, value, where)


def mapping(source: Any, where: str) -> NamedColumns:
    """The columns of a mapping, or of an object with a mapping's methods, such as a zarr group."""
    return NamedColumns.found(list(source.keys()), lambda key: source[key], column, where)


def named_columns(cls: Any, source: Any, where: str) -> NamedColumns | None:
    """The source's columns by name, or None if it is an iterable of records; SourceError if it is neither."""
    try:
        return _named_columns(cls, source, where)
    except (GpuStructError, MemoryError):
        raise
    except Exception as error:  # Whatever a library raises, for a closed file for example.
        return _refuse(where, source, error)


def _named_columns(cls: Any, source: Any, where: str) -> NamedColumns | None:
    source = as_batch(source)
    if isinstance(source, Batch):
        return _members(source, where)
    _refuse_lazy(where, source)
    named = read_frame(source, where)
    if named is not None:
        return named
    if isinstance(source, Mapping) or _has_names(source):
        return mapping(source, where)
    if library(source) or isinstance(source, np.ndarray):
        return _struct_column(cls, source, where)
    # xarray's arrays have both interfaces; if the dtype is numpy's, the array interface is right.
    if not isinstance(getattr(source, "dtype", None), np.dtype) and (
        hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")
    ):
        return _capsule(source, where)
    return _buffer(source, where) or _array(source, where) or _attributes(source, where)


def _has_names(source: Any) -> bool:
    """Whether `source` has a mapping's methods; a pandas Series has them too, but as a rule numbers for keys."""
    if not hasattr(source, "keys") or not hasattr(source, "__getitem__"):
        return False
    return not library(source) or isinstance(next(iter(source.keys()), None), str)


def _struct_column(cls: Any, source: Any, where: str) -> NamedColumns | None:
    """The fields of a column of structs; None if it is a column of Python objects."""
    if hasattr(source, "__arrow_c_stream__") and not hasattr(source, "null_count") and not hasattr(source, "isna"):
        return _capsule(source, where)
    try:
        value = read_column(source, ColumnSpec("source", cls, cls, (), False), where)
    except SourceError as error:
        if error.rule not in ("column-nested", "column-source"):
            raise
        return _refuse(where, source)
    if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1:
        return None
    return value if isinstance(value, NamedColumns) else _refuse(where, source)


def _capsule(source: Any, where: str) -> NamedColumns:
    """The columns of an object with Arrow's C interface, which pyarrow imports."""
    try:
        return arrow.foreign_table(source, where)
    except ImportError:
        kind, way_out = type(source).__name__, "install pyarrow, which reads Arrow's C interface"
        raise SourceError.of("source-kind", current=kind, type=where, way_out=way_out) from None


def _array(source: Any, where: str) -> NamedColumns | None:
    """The columns of an object that converts to a structured array (h5py, zarr, xarray); None for records and other objects."""
    if not hasattr(type(source), "__array__"):
        return None
    array = np.asanyarray(source)
    if array.dtype.names is not None:
        return structured(array, where)
    return None if array.dtype == object else _refuse(where, source)


def _members(source: Batch, where: str) -> NamedColumns:
    if "" in type(source).__members__:
        _refuse(where, source)
    return NamedColumns.found(list(type(source).__members__), lambda name: getattr(source, name), column, where)


def _buffer(source: Any, where: str) -> NamedColumns | None:
    """The columns of memory whose dtype has fields: ctypes arrays and structures, objects with ``__array_interface__``."""
    if hasattr(source, "__dlpack__"):
        _refuse(where, source)
    exported = source
    if not hasattr(source, "__array_interface__") and not hasattr(source, "__array_struct__"):
        try:
            exported = memoryview(source)
        except TypeError:
            return None
    try:
        array = array_of(exported) if isinstance(exported, memoryview) else described(exported)
    except (TypeError, ValueError, BufferError, RuntimeError):
        return _refuse(where, source)
    return structured(array, where) if array.dtype.names is not None else _refuse(where, source)


def _attributes(source: Any, where: str) -> NamedColumns | None:
    """One object whose attributes are the columns; None for an iterable of records."""
    cls = type(source)
    names = fields_of(cls)
    if names is None:
        if isinstance(source, Iterable) and not isinstance(source, str) and getattr(source, "ndim", 1):
            return None
        names = tuple(getattr(source, "__dict__", ())) or tuple(getattr(cls, "__slots__", ()))
        if not names or isinstance(source, type):
            _refuse(where, source)
        names = tuple(name for name in names if not name.startswith("_"))
    # A slot may never have been set.
    names = tuple(name for name in names if hasattr(source, name))
    return NamedColumns.found(names, lambda name: getattr(source, name), column, where)


def _refuse(where: str, source: Any, error: Exception | None = None) -> Any:
    kind = type(source).__name__
    if error is not None and str(error):
        kind += f": {str(error).splitlines()[0]}"
    way_out = "pass a mapping, a frame, a structured array, or a list of dicts, tuples or objects"
    if isinstance(source, np.ndarray):
        kind, way_out = f"an array of {source.dtype} {source.shape}", "name its columns: {'x': array[:, 0], ...}"
    elif (
        error is None and isinstance(source, memoryview) and getattr(getattr(source.obj, "dtype", None), "names", None)
    ):
        # Their members may be in any order and have any padding, which bytes do not tell.
        kind, way_out = (
            "bytes of records",
            f"say what they are: batch({where}, np.frombuffer(source, source.obj.dtype))",
        )
    elif isinstance(source, memoryview | bytes | bytearray):
        way_out = f"read packed bytes with unpack({where}, data)"
    raise SourceError.of("source-kind", current=kind, type=where, way_out=way_out)


def _refuse_lazy(where: str, source: Any) -> None:
    method = _how_to_compute(source)
    if method:
        kind = f"{type(source).__module__.partition('.')[0]} {type(source).__name__}"
        raise SourceError.of("source-lazy", current=kind, type=where, way_out=f"source.{method}()")


def _how_to_compute(source: Any) -> str:
    """The method that computes the values of a lazy source; "" for a source that has its values."""
    if isinstance(source, type):
        return ""
    # xarray's objects have the method too; if they have no dask arrays, it returns None.
    if hasattr(source, "__dask_graph__") and source.__dask_graph__() is not None:
        return "compute"
    if hasattr(source, "__arrow_c_stream__"):
        return ""
    if hasattr(source, "collect_schema") and hasattr(source, "collect") and not hasattr(source, "get_columns"):
        return "collect"
    return "to_table" if library(source) == "pyarrow" and hasattr(source, "to_table") else ""
