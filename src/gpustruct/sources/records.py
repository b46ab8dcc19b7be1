"""Records of objects: one compiled pass from dicts, tuples, dataclasses and the like into device layout."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .. import _numbers, _records, _structs
from .. import layout as layouts
from ..batches import Batch, ColumnSpec, as_batch
from ..byte_columns import batch_over
from ..column_checks import check_numbers, code_of, turned
from ..column_specs import SplitColumn, is_words, misfits, place_of, range_error, spelled
from ..columns import SCALAR_CODES
from ..errors import SourceError
from ..layout import Layout
from ..libraries import read_column
from ..libraries.arrays import amount
from ..zero_filled import zero_filled
from .options import NO_OPTIONS, Options, member_names, way_out_of

Index = tuple[int, ...]
Renamed = tuple[tuple[str, Any], ...]
# How the compiled code finds a member's value in a record.
BY_KEY, BY_INDEX, BY_NAME, BY_ITEM, BY_FIELD = range(5)

# Part of the error about a list that is shorter than its array.
ZERO_FILLED = ", or zero_filled(values) for zeros after them (gpustruct.views.zero_filled)"

_NO_RECORD = (str, bytes, int, float, complex, np.ndarray, np.generic, type)


class Members(NamedTuple):
    """How the members of a struct are found in records, and how messages name them."""

    cls: Any
    keys: tuple[Any, ...]
    path: str
    options: Options
    # A default for each member that may be missing, and MISSING for the others; None if no member may be missing.
    defaults: tuple[Any, ...] | None


def from_records(
    cls: Any, source: Iterable[Any], renames: Mapping[str, Any] | Renamed, path: str, options: Options = NO_OPTIONS
) -> Any:
    """A batch over the packed records; SourceError with the member and the row for a value that does not fit."""
    layout: Layout = cls.__layout__
    if layout.is_runtime_sized:
        way_out = "it is one record: give its members by name, the runtime-sized one as a batch or an array"
        raise SourceError.of("source-kind", current=type(source).__name__, type=cls.__name__, way_out=way_out)
    if getattr(source, "ndim", 1) == 0:
        current, way_out = f"{type(source).__name__} without dimensions", "give it a list of records"
        raise SourceError.of("source-kind", current=current, type=cls.__name__, way_out=way_out)
    try:
        values: list[Any] = source if type(source) is list else list(source)
    except MemoryError:
        raise SourceError.of("records-memory", current=amount(source), where=f"batch({cls.__name__}, source)") from None
    plain = {name: tuple(key) if isinstance(key, tuple) else key for name, key in dict(renames).items()}
    renamed = tuple(sorted(plain.items()))
    _check_renames(cls, renamed)
    return _records_of(writer_of(cls, renamed, path, options), cls, values)


def from_list(cls: Any, values: list[Any]) -> Any:
    """`batch(cls, values)` for a list of records of a struct; None for other types, and for runtime-sized structs."""
    writer = _kept.whole_writer(cls) if isinstance(cls, type) else None
    return None if writer is None else _records_of(writer, cls, values)


def _records_of(writer: Any, cls: Any, values: list[Any]) -> Any:
    stride = cls.__layout__.record_stride
    found = _records.read_records(writer, cls, values, stride)
    # Another thread may have changed the list: its length now says nothing.
    count = found.size // stride if isinstance(found, np.ndarray) else 0
    return batch_over(cls, found, 0, (count,), (stride,)) if isinstance(found, np.ndarray) else found


def _whole_writer(cls: Any) -> Any:
    """The writer of a type's records for `batch` without options; None if the type is not written by one."""
    members = getattr(cls, "__members__", None)
    if not isinstance(cls, type) or not issubclass(cls, Batch) or members is None or "" in members:
        return None
    if cls.__layout__.is_runtime_sized:
        return None
    return writer_of(cls, path=cls.__name__, options=Options(root=cls.__name__))


def _check_renames(cls: Any, renamed: Renamed) -> None:
    known = set(member_names(cls)) | set(cls.__members__)
    unknown = [name for name, _ in renamed if name not in known]
    if unknown:
        facts = {"type": cls.__name__, "expected": ", ".join(member_names(cls))}
        raise SourceError.of("rename-member", unknown=", ".join(unknown), **facts)


def writer_of(cls: Any, renamed: Renamed = (), path: str = "", options: Options = NO_OPTIONS) -> Any:
    """The writer for values of `cls`, a struct. `renamed` has other names for members, `path` is for messages."""
    if options.defaults:  # They may not be hashable, so the writer is not kept.
        return _new_writer(cls, renamed, path, options)
    return _kept.writer(cls, renamed, path, options.extra, options.root, options.renames)


def _writer(cls: Any, renamed: Renamed, path: str, extra: bool, root: str, renames: Renamed) -> Any:
    return _new_writer(cls, renamed, path, Options(extra, {}, root, renames))


class _Kept(threading.local):
    """Each thread's own writers: a writer remembers the last record's class and keys, and two threads may not use one."""

    def __init__(self) -> None:
        self.whole_writer = functools.lru_cache(maxsize=256)(_whole_writer)
        self.writer = functools.lru_cache(maxsize=256)(_writer)


_kept = _Kept()


def _new_writer(cls: Any, renamed: Renamed, path: str, options: Options) -> Any:
    members = _members(cls, renamed, path, options)
    writers = tuple(
        member_writer(
            spec,
            member.layout,
            f"{members.path}.{member.name}",
            _inside(renamed, member.name),
            options.inside(member.name),
        )
        for spec, member in zip(cls.__members__.values(), cls.__layout__.fields, strict=True)
    )
    offsets = tuple(member.offset for member in cls.__layout__.fields)
    how, refuse = functools.partial(_how, members), functools.partial(_refuse, members)
    return _structs.StructWriter(members.keys, writers, offsets, how, refuse, options.extra, members.defaults)


def _members(cls: Any, renamed: Renamed, path: str, options: Options) -> Members:
    renames = dict(renamed)
    keys = tuple(renames.get(name, name) for name in cls.__members__)
    defaults = None
    if options.defaults:
        defaults = tuple(_default(name, spec, options) for name, spec in cls.__members__.items())
    return Members(cls, keys, path or cls.__name__, options, defaults)


def _default(name: str, spec: ColumnSpec, options: Options) -> Any:
    if name in options.defaults:
        return options.defaults[name]
    # A missing nested struct counts as one that lacks all its members.
    nested = spec.type is spec.core and options.has_inside(name)
    return {} if nested else _structs.MISSING


def _inside(renamed: Renamed, name: str) -> Renamed:
    return tuple((key[len(name) + 1 :], value) for key, value in renamed if key.startswith(name + "."))


def member_writer(
    spec: ColumnSpec, layout: Layout, path: str, renamed: Renamed = (), options: Options = NO_OPTIONS
) -> Any:
    """The writer for one member: arrays of structs are written element by element, anything else as a whole."""
    if spec.core.__layout__.kind != "struct":
        (leaf,) = layouts.leaves(layout)
        unit = layouts.RECORD_SCALARS[leaf.scalar].size
        return _numbers.NumberWriter(SCALAR_CODES[leaf.scalar], unit, leaf.axes, functools.partial(fitting, spec, path))
    if layout.kind != "array":
        return writer_of(spec.core, renamed, path, options)
    assert layout.element is not None
    inner = member_writer(spec, layout.element, path, renamed, options)
    count = layout.count or 0
    refuse = functools.partial(_refuse_length, layout.python_name, count, path)
    return _records.ArrayWriter(count, layout.stride, inner, refuse)


def fitting(spec: ColumnSpec, path: str, index: Index, value: Any) -> np.ndarray:
    """`value` as an array of the member's shape, native and in range; SourceError if that is not possible."""
    where = place_of(path, index)
    if type(value) is zero_filled and spec.dims and len(value.values) <= spec.dims[0]:
        count = len(value.values)
        filled = np.zeros(spec.inner, np.uint8)
        if count:
            first = fitting(spec._replace(dims=(count, *spec.dims[1:])), path, index, value.values)
            filled = filled.astype(first.dtype)
            filled[:count] = first
        return filled
    if value is None:
        raise SourceError.of("column-masked", kind="None", where=where, way_out="a number in place of None")
    if type(value) is int and not -(2**63) <= value < 2**64:
        # numpy cannot hold it, but the message is about its range.
        raise range_error(spec, value, where)
    try:
        found = read_column(as_batch(value), spec, where)
    except SourceError as error:
        if error.rule != "column-missing-value":
            raise
        kind = f"a missing value in a {type(value).__name__}"
        raise SourceError.of("column-masked", kind=kind, where=where, way_out="a number in its place") from None
    try:
        array = check_numbers(spec, found, where)
        array = array.stack() if isinstance(array, SplitColumn) else array
        shape = array.shape
    except SourceError as error:
        if error.rule != "column-shape":
            raise
        array, shape = None, np.shape(found)
    if not isinstance(array, np.ndarray) or shape != spec.inner:
        way_out = turned(spec, shape, code_of(value, spelled(spec))) if len(shape) == len(spec.inner) else ""
        if not way_out:
            way_out = f"give it {' x '.join(map(str, spec.inner))} numbers" if spec.inner else "give it one number"
        if spec.dims and len(shape) == len(spec.inner) and shape[0] < spec.dims[0] and shape[1:] == spec.inner[1:]:
            way_out += ZERO_FILLED
        facts = {"inner": spec.inner, "type": spec.type.__name__, "shape": shape, "where": where}
        raise SourceError.of("record-shape", way_out=way_out, **facts)
    bad = misfits(array, spec.core.__layout__.scalar)
    if is_words(spec, array):
        words = array.view("<u4") >> np.array([0, 10, 20, 30], np.uint32)
        array = (words & [1023, 1023, 1023, 3]) / [1023, 1023, 1023, 3]
    if bad.any():
        at = tuple(int(k) for k in np.argwhere(bad)[0])
        raise range_error(spec, array[at], place_of(path, index + at))
    return np.array(array, array.dtype.newbyteorder("="), order="C")


def fields_of(kind: type) -> tuple[str, ...] | None:
    """The declared fields of a dataclass, an attrs class or a named tuple; None for other classes."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    if "__attrs_attrs__" in dir(kind):
        return tuple(attribute.name for attribute in kind.__attrs_attrs__)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple(getattr(kind, "_fields"))  # noqa: B009
    return None


def _flat(keys: Iterable[Any]) -> list[str]:
    return [part for key in keys for part in (key if isinstance(key, tuple) else (key,))]


def _how(members: Members, index: Index, value: Any) -> int:
    """How members are found in values of the same class; SourceError if that class is not supported."""
    kind = type(value)
    if kind is dict:
        return BY_KEY
    if isinstance(value, Mapping):
        return BY_ITEM
    if isinstance(value, np.void | np.ndarray) and value.dtype.names is not None and not value.ndim:
        return BY_FIELD
    plain = members.keys == tuple(members.cls.__members__)
    if kind in (tuple, list):
        return BY_INDEX if plain else _refuse(members, index, value)
    names = tuple(kind.__members__) if isinstance(value, Batch) else fields_of(kind)
    if names is not None and plain and issubclass(kind, tuple) and names == members.keys:
        return BY_INDEX
    if names is None and (isinstance(value, _NO_RECORD) or value is None):
        _refuse(members, index, value)
    if names is None:
        names = [key for key in _flat(members.keys) if hasattr(value, key)]
    if any(_differences(members, names)):
        _refuse(members, index, value)
    return BY_NAME


def _differences(members: Members, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """The keys that a record with these names lacks, and those of the names that no member has."""
    came, defaults = set(names), members.defaults or (_structs.MISSING,) * len(members.keys)
    needed = [key for key, default in zip(members.keys, defaults, strict=True) if default is _structs.MISSING]
    missing = [key for key in _flat(needed) if key not in came]
    known = set(_flat(members.keys))
    return missing, [] if members.options.extra else [name for name in names if name not in known]


def _refuse(members: Members, index: Index, value: Any) -> NoReturn:
    cls, where, expected = members.cls, place_of(members.path, index), _flat(members.keys)
    came: list[str] | None = None
    if value is np.ma.masked:  # What numpy makes of a nested record of which any value is masked.
        way_out = "a record in place of masked"
        raise SourceError.of("column-masked", kind="a masked value", where=where, way_out=way_out)
    if isinstance(value, Mapping):
        came = [str(key) for key in list(value)]  # At once: another thread may change it.
    elif isinstance(value, Batch) and "" not in type(value).__members__:
        came = list(type(value).__members__)
    elif (names := fields_of(type(value))) is not None:
        came = [name for name in names if hasattr(value, name)]
    elif not isinstance(value, _NO_RECORD) and any(hasattr(value, key) for key in expected):
        came = [key for key in expected if hasattr(value, key)]
    missing, unknown = ([], []) if came is None else _differences(members, came)
    if missing or unknown:
        lacked = [
            name for name, key in zip(cls.__members__, members.keys, strict=True) if set(_flat([key])) & set(missing)
        ]
        prefix = f"{members.path.partition('.')[2]}.".lstrip(".")
        way_out = way_out_of(members.options, cls, prefix, lacked, unknown, records=True)
        facts = {"missing": ", ".join(missing) or "none", "unknown": ", ".join(unknown) or "none"}
        raise SourceError.of("record-members", where=where, expected=", ".join(expected), way_out=way_out, **facts)
    current = type(value).__name__
    way_out = f"pass a {cls.__name__}(...) or a dict of its members"
    if isinstance(value, tuple | list):
        current += f" of {len(value)}"
        if len(value) == len(expected):
            way_out = "use dicts or objects: values by position cannot be renamed"
    elif isinstance(value, np.ndarray) and value.dtype.names is not None and value.ndim:
        current, way_out = f"an array of {len(value)} records", "give it one of them: array[0]"
        if members.path == cls.__name__:
            way_out = f"join the arrays: batch({cls.__name__}, np.concatenate(source))"
    facts = {"count": len(cls.__members__), "expected": ", ".join(expected), "current": current}
    raise SourceError.of("record-kind", where=where, way_out=way_out, **facts)


def _refuse_length(spelling: str, count: int, path: str, index: Index, value: Any) -> NoReturn:
    try:
        current = type(value).__name__ if isinstance(value, str | bytes | Mapping) else f"{len(value)} entries"
    except TypeError:
        current = type(value).__name__
    where, expected = place_of(path, index), f"a list of {count}"
    if isinstance(value, list | tuple) and len(value) < count:
        expected += ZERO_FILLED
    raise SourceError.of("record-length", type=spelling, current=current, count=current, where=where, expected=expected)
