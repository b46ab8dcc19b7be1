"""`batch`: makes a batch from a source of columns or records. See `naming` for which column is for which member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import numpy as np

from .._batches import from_dict
from .._records import from_structured
from ..batches import Batch, ColumnSpec, as_batch
from ..errors import SourceError, brief
from .columns import column, named_columns
from .naming import RecordList, Renames, batch_of, named_column, split_column
from .options import Options, options_of
from .records import from_list

T = TypeVar("T", bound=Batch)
Names = Renames | str | tuple[str, ...] | None


def batch(
    cls: type[T],
    source: Any,
    names: Names = None,
    /,
    *,
    extra: Literal["refuse", "ignore"] = "refuse",
    defaults: Mapping[str, Any] | None = None,
    **renames: Any,
) -> T:
    """A batch of `cls` from a source of named columns, or of records.

    Columns, by reference and not copied: a mapping (nested, or with dotted names), a numpy structured array
    (nested, unaligned, byte-swapped, any strides), a pandas or polars DataFrame, an Arrow table or record
    batch, objects with Arrow's C interface (duckdb), the buffer protocol, ``__array_interface__`` or
    ``__array__`` whose dtype has fields (h5py, zarr, xarray). Each column may be an array of any of these
    libraries, or of torch and jax in memory that the CPU reads; ``T(...)`` takes the same columns. Some columns
    must be copied: Arrow columns of several chunks, booleans of one bit each, dictionaries of numbers.

    Records: a list or other iterable of dicts, tuples (in the members' order), dataclasses, attrs, named
    tuples or plain objects; a single dataclass, attrs or named tuple is a 0-d batch. They are converted here,
    in one compiled pass, into an array in device layout.

    Members find their column by name; a keyword, or the mapping `names` for dotted members, gives another:
    ``life="age"``, ``position=("x", "y", "z")`` makes a vector from three columns without joining them. For a
    type that is no struct, `source` is the column itself, or `names` names columns of the source. A member that is
    called `extra` or `defaults` is renamed through `names`.

    ``extra="ignore"`` ignores columns, and keys and attributes of records, that have no member. `defaults` maps
    members, dotted for nested ones, to columns or values for those that the source or a record lacks.

    Raises SourceError for members without a column, columns without a member, missing values (null, NA,
    None, masked; NaN is a value), and for columns that cannot be converted to the member's type. Values are range-checked when packed;
    those of records here.

    >>> import numpy as np
    >>> from gpustruct import Struct, vec3f, f32, batch
    >>> class Particle(Struct):
    ...     position: vec3f
    ...     life: f32
    >>> table = {"x": np.zeros(5), "y": np.ones(5), "z": np.ones(5), "age": np.arange(5)}
    >>> batch(Particle, table, position=("x", "y", "z"), life="age")
    batch of Particle: 5 records
      position  vec3f  float64 (5, 3), an array for each component
      life      f32    int64 (5,)
    >>> batch(Particle, [{"position": (0, 1, 2), "life": 3}, {"position": (4, 5, 6), "life": 7}]).life
    array([3., 7.], dtype=float32)
    """
    if names is None and not renames and defaults is None and isinstance(extra, str) and extra == "refuse":
        made = _of_usual(cls, source)
        if made is not None:
            return made
    members: dict[str, Any] | None = getattr(cls, "__members__", None)
    if not isinstance(cls, type) or not issubclass(cls, Batch) or members is None:
        raise SourceError.of("batch-abstract", name=getattr(cls, "__name__", brief(cls)))
    source = as_batch(source)
    renaming = {"where": cls.__name__, "way_out": "{'member': 'column'}"}
    if names is not None and not isinstance(names, Mapping) and not _is_name(names):
        raise SourceError.of("rename-value", current=brief(names), **renaming)
    options = options_of(cls, extra, defaults, {**(names if isinstance(names, Mapping) else {}), **renames})
    if not names and not renames:
        if isinstance(source, cls):
            return source
        # Records in a list may have missing or extra members.
        made = None if isinstance(source, list) else _of_usual(cls, source)
        if made is not None:
            return made
    if "" in members:
        return _plain(cls, source, names, renames, options)
    if isinstance(names, str | tuple):
        raise SourceError.of("rename-value", current=brief(names), **renaming)
    wanted = {**(names or {}), **renames}
    for member, name in wanted.items():
        if not isinstance(member, str):
            raise SourceError.of("rename-value", current=brief(wanted), **renaming)
        if not _is_name(name):
            where = f"{cls.__name__}.{member}"
            raise SourceError.of("rename-value", current=brief(name), where=where, way_out=f"{member}='column'")
    named = named_columns(cls, source, cls.__name__)
    spec = ColumnSpec("", cls, cls, (), False)
    return batch_of(spec, RecordList(source) if named is None else named, cls.__name__, wanted, options)


def _is_name(name: Any) -> bool:
    """Whether `name` is the name of a column, or a tuple of such."""
    return isinstance(name, str) or (isinstance(name, tuple) and all(isinstance(part, str) for part in name))


def _of_usual(cls: Any, source: Any) -> Any:
    """A batch from a mapping or structured array with exactly the type's columns, or from a list of records.

    None for everything else.
    """
    kind = source.__class__
    if kind is dict:
        return from_dict(cls, source)
    if kind is np.ndarray:
        return from_structured(cls, source)
    return from_list(cls, source) if kind is list else None


def _plain(cls: Any, source: Any, names: Names, renames: Mapping[str, Any], options: Options) -> Any:
    spec, where = cls.__members__[""], cls.__name__
    if names is None and not renames:
        value = column(source, spec, where)
        return cls(batch_of(spec, value, where, {}, options))
    if renames or isinstance(names, Mapping):
        way_out = f"batch({where}, source, 'column'), or a tuple of names"
        raise SourceError.of("rename-value", current=brief(names or dict(renames)), where=where, way_out=way_out)
    named = named_columns(cls, source, cls.__name__)
    keys = {} if named is None else {str(key): key for key in named.keys}
    wanted = names if isinstance(names, tuple) else (names,)
    unknown = [str(name) for name in wanted if name not in keys]
    if unknown or named is None:
        came = ", ".join(keys) or "nothing"
        raise SourceError.of("rename-column", unknown=", ".join(unknown), where=where, came=came)
    if isinstance(names, str):
        value = named_column(named, keys, names, spec, where)
        return cls(batch_of(spec, value, where, {}, options))
    return cls(split_column(named, keys, names or (), spec, where))
