"""Reads a column of any library as numpy arrays. Constructors, `batch` and views all use this one function.

No library is imported before it is needed for one of its objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..column_specs import ColumnSpec, SplitColumn, is_numpy_number, is_struct, spelled
from ..errors import GpuStructError, SourceError
from . import arrays, arrow, pandas, polars
from .named import NamedColumns as NamedColumns

# By the name of the package. Each module reads the columns and the frames of one library, and has the attributes that
# tell them from its other objects.
_LIBRARIES = {"pandas": pandas, "polars": polars, "pyarrow": arrow}
_PLAIN = frozenset((int, float, bool, list, tuple))


def library(source: Any) -> str:
    """The library, of those known here, that defines the value's class or one of its bases; "" for none.

    It goes by module names, so that no library is imported.
    """
    for base in type(source).__mro__:
        top = base.__module__.partition(".")[0]
        if top in _LIBRARIES:
            return top
    return ""


def is_frame(source: Any, made_by: str) -> bool:
    """Whether `source`, an object of a library known here, has columns by name."""
    return hasattr(source, _LIBRARIES[made_by].FRAME_MARK) and not (made_by == "polars" and hasattr(source, "collect"))


def read_frame(source: Any, where: str) -> NamedColumns | None:
    """The columns by name of a frame of any library; None for other objects."""
    made_by = library(source)
    return _LIBRARIES[made_by].frame(source, where) if made_by and is_frame(source, made_by) else None


def read_column(source: Any, spec: ColumnSpec, where: str) -> Any:
    """`source` as a column of `spec`: an array or a SplitColumn of numbers; for a struct also NamedColumns, or `source` itself.

    Does not copy numbers in memory that numpy can use. Raises SourceError for missing values, for columns without numbers,
    and if a library raises while it is read, or needs more memory than there is.
    """
    if type(source) is np.ndarray and is_numpy_number(source.dtype):
        return source.view()
    try:
        return _read(source, spec, where)
    except GpuStructError:
        raise
    except MemoryError:
        raise SourceError.of("column-memory", current=arrays.amount(source), where=where, name=spelled(spec)) from None
    except Exception as error:
        reason = str(error).split(". ")[0].split("\n")[0] or type(error).__name__
        raise arrays.refused_source(reason, spec, where) from error


def _read(source: Any, spec: ColumnSpec, where: str) -> Any:
    if isinstance(source, np.ndarray):
        return arrays.read_array(source, spec, where)
    made_by = "" if type(source) in _PLAIN else library(source)
    if made_by:
        return _of_library(made_by, source, spec, where)
    if is_struct(spec):
        return source
    if isinstance(source, SplitColumn):
        parts = tuple(read_column(part, spec, f"{where}[{k}]") for k, part in enumerate(source.arrays))
        return SplitColumn(parts, source.leading_shape, source.rest)
    if isinstance(source, tuple) and spec.inner and not spec.runtime and any(map(_is_column, source)):
        # A tuple of columns has one for each component, like a tuple of names.
        return read_column(SplitColumn(source, (), ()), spec, where)
    if isinstance(source, Mapping) or source is None or arrays.is_structs(source):
        raise arrays.refused_source(arrays.describe(source), spec, where)
    has_array = hasattr(source, "__array__") or hasattr(source, "__dlpack__")
    if not has_array and (hasattr(source, "__arrow_c_array__") or hasattr(source, "__arrow_c_stream__")):
        return arrow.foreign_column(source, spec, where)
    return arrays.read_array(arrays.as_array(source, spec, where, read_column), spec, where)


def _is_column(entry: Any) -> bool:
    """Whether an entry of a tuple is an array of some library, rather than a number or a list of numbers."""
    if type(entry) in _PLAIN or isinstance(entry, np.generic | list | tuple | str | bytes | Mapping):
        return False
    return hasattr(entry, "__len__") and getattr(entry, "ndim", 1) > 0


def _of_library(made_by: str, source: Any, spec: ColumnSpec, where: str) -> Any:
    if all(hasattr(source, mark) for mark in _LIBRARIES[made_by].COLUMN_MARKS):
        return _LIBRARIES[made_by].column(source, spec, where)
    named = read_frame(source, where)
    if named is not None and is_struct(spec):
        return named
    if named is not None and spec.inner and len(named.keys) == spec.inner[0]:
        # A frame with as many columns as the member has components: x, y and z.
        parts = (named.get(key, spec, f"{where}[{k}]") for k, key in enumerate(named.keys))
        return SplitColumn(tuple(parts), (), ())
    if is_struct(spec) and (hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")):
        return source
    if named is None and hasattr(source, "as_py"):
        return _read_scalar(source.as_py(), spec, where)
    if named is None and not is_struct(spec) and (np.isscalar(source) or hasattr(source, "__array__")):
        return arrays.read_array(arrays.as_array(source, spec, where, read_column), spec, where)
    way_out = 'give one column of it, or several by name: ("x", "y", "z")'
    raise SourceError.of("column-source", current=f"{made_by} {type(source).__name__}", where=where, way_out=way_out)


def _read_scalar(value: Any, spec: ColumnSpec, where: str) -> Any:
    if value is None:
        raise SourceError.of("column-masked", kind="null", where=where, way_out="a number in place of null")
    return read_column(value, spec, where)
