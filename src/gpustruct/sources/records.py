"""Records of objects: one compiled pass from dicts, tuples, dataclasses and the like into device layout."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from .. import _numbers, _records
from .. import layout as layouts
from ..batches import INTEGER_RANGE, Batch, Slot, as_batch
from ..column_checks import Parts, check_numbers, code_of, range_error, spelled, turned
from ..columns import SCALAR_CODES
from ..dtypes import dtype_of
from ..errors import SourceError
from ..layout import Layout
from ..libraries import read_column
from ..zero_filled import zero_filled
from .naming import member_names

Index = tuple[int, ...]
Spec = tuple[tuple[str, Any], ...]
# How the kernel finds a member's value in a record.
BY_KEY, BY_INDEX, BY_NAME, BY_ITEM = range(4)

# For fewer values than an array has.
ZERO_FILLED = ", or zero_filled(values) for zeros after them (gpustruct.views.zero_filled)"

_NO_RECORD = (str, bytes, int, float, complex, np.ndarray, np.generic, type)
_FLOATS = {"f32": np.float32, "f16": np.float16}


def from_records(cls: Any, source: Iterable[Any], renames: Mapping[str, Any] | Spec, path: str) -> np.ndarray:
    """The records as an array of ``dtype_of(cls)``; SourceError naming the member and the row of a fault."""
    layout: Layout = cls.__layout__
    if layout.is_runtime_sized:
        way_out = "it is one record: give its members by name, the runtime-sized one as a batch or an array"
        raise SourceError.of("source-kind", current=type(source).__name__, type=cls.__name__, way_out=way_out)
    if getattr(source, "ndim", 1) == 0:
        current, way_out = f"{type(source).__name__} without dimensions", "give it a list of records"
        raise SourceError.of("source-kind", current=current, type=cls.__name__, way_out=way_out)
    values = source if type(source) is list else list(source)
    plain = {name: tuple(key) if isinstance(key, tuple) else key for name, key in dict(renames).items()}
    spec = tuple(sorted(plain.items()))
    _check_renames(cls, spec)
    out = np.zeros(len(values) * layout.record_stride, np.uint8)
    place: list[int] = []
    try:
        _records.fill(writer_of(cls, spec, path), values, out, layout.record_stride, layout.size, place)
    except Exception:
        if place and place[0] < len(values):
            explain(cls, spec, values[place[0]], path, (place[0],))
        raise
    return out.view(dtype_of(cls))


def _check_renames(cls: Any, spec: Spec) -> None:
    known = set(member_names(cls)) | set(cls.__members__)
    unknown = [name for name, _ in spec if name not in known]
    if unknown:
        facts = {"type": cls.__name__, "expected": ", ".join(member_names(cls))}
        raise SourceError.of("rename-member", unknown=", ".join(unknown), **facts)


@functools.lru_cache(maxsize=256)
def writer_of(cls: Any, spec: Spec = (), path: str = "") -> Any:
    """What writes one value of `cls`, a struct, into its bytes. `spec` renames, `path` is for messages."""
    path = path or cls.__name__
    writers = tuple(
        member_writer(slot, member.layout, f"{path}.{member.name}", _inside(spec, member.name))
        for slot, member in zip(cls.__members__.values(), cls.__layout__.fields, strict=True)
    )
    offsets = tuple(member.offset for member in cls.__layout__.fields)
    keys = _keys(cls, spec)
    how = functools.partial(_how, cls, keys, path, ())
    return _records.Group(keys, writers, offsets, how, functools.partial(_refuse, cls, keys, path, ()))


def _inside(spec: Spec, name: str) -> Spec:
    return tuple((key[len(name) + 1 :], value) for key, value in spec if key.startswith(name + "."))


def _keys(cls: Any, spec: Spec) -> tuple[Any, ...]:
    renames = dict(spec)
    return tuple(renames.get(name, name) for name in cls.__members__)


def member_writer(slot: Slot, layout: Layout, path: str, spec: Spec = ()) -> Any:
    """What writes one member's value: arrays of structs element by element, everything else at once."""
    if slot.core.__layout__.kind != "struct":
        (leaf,) = layouts.leaves(layout)
        unit = layouts.SCALAR_SIZE[leaf.scalar]
        return _numbers.Leaf(SCALAR_CODES[leaf.scalar], unit, leaf.axes, functools.partial(fitting, slot, path, ()))
    if layout.kind != "array":
        return writer_of(slot.core, spec, path)
    assert layout.element is not None
    inner = member_writer(slot, layout.element, path, spec)
    count = layout.count or 0
    refuse = functools.partial(_refuse_length, python_name(layout), count, path, ())
    return _records.Rows(count, layout.stride, inner, refuse)


def python_name(layout: Layout) -> str:
    """How Python code spells the type of `layout`."""
    return layouts.python_name(layout)


def place_of(path: str, index: Index) -> str:
    """Where a message says it is: ``Particle.position[3]``."""
    return f"{path}[{', '.join(map(str, index))}]" if index else path


def fitting(slot: Slot, path: str, index: Index, value: Any) -> np.ndarray:
    """`value` as a native array of its member's own shape whose numbers fit; SourceError otherwise."""
    where = place_of(path, index)
    if type(value) is zero_filled and slot.dims and len(value.values) <= slot.dims[0]:
        count = len(value.values)
        filled = np.zeros(slot.inner, np.uint8)
        if count:
            first = fitting(slot._replace(dims=(count, *slot.dims[1:])), path, index, value.values)
            filled = filled.astype(first.dtype)
            filled[:count] = first
        return filled
    if value is None:
        raise SourceError.of("column-masked", kind="None", where=where, way_out="a number in place of None")
    if type(value) is int and not -(2**63) <= value < 2**64:
        # numpy has no number for it, but the reason is its range.
        raise range_error(slot, value, where)
    try:
        found = read_column(as_batch(value), slot, where)
    except SourceError as error:
        if error.rule != "column-missing-value":
            raise
        kind = f"a missing value in a {type(value).__name__}"
        raise SourceError.of("column-masked", kind=kind, where=where, way_out="a number in its place") from None
    try:
        array = check_numbers(slot, found, where)
        array = array.stack() if isinstance(array, Parts) else array
        shape = array.shape
    except SourceError as error:
        if error.rule != "column-shape":
            raise
        array, shape = None, np.shape(found)
    if not isinstance(array, np.ndarray) or shape != slot.inner:
        way_out = turned(slot, shape, code_of(value, spelled(slot))) if len(shape) == len(slot.inner) else ""
        if not way_out:
            way_out = f"give it {' x '.join(map(str, slot.inner))} numbers" if slot.inner else "give it one number"
        if slot.dims and len(shape) == len(slot.inner) and shape[0] < slot.dims[0] and shape[1:] == slot.inner[1:]:
            way_out += ZERO_FILLED
        facts = {"inner": slot.inner, "type": slot.type.__name__, "shape": shape, "where": where}
        raise SourceError.of("record-shape", way_out=way_out, **facts)
    scalar = slot.core.__layout__.scalar
    if scalar in INTEGER_RANGE:
        low, high = INTEGER_RANGE[scalar]
        bad = (array < low) | (array > high) if array.dtype.kind != "b" else np.zeros(array.shape, bool)
    else:
        with np.errstate(over="ignore"):
            narrowed = array.astype(_FLOATS[scalar])
        bad = np.isinf(narrowed) & np.isfinite(array)
    if bad.any():
        at = tuple(int(k) for k in np.argwhere(bad)[0])
        raise range_error(slot, array[at], place_of(path, index + at))
    return np.array(array, array.dtype.newbyteorder("="), order="C")


def fields_of(kind: type) -> tuple[str, ...] | None:
    """The fields that a class declares: a dataclass, attrs or a named tuple; None for other classes."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    if "__attrs_attrs__" in dir(kind):
        return tuple(attribute.name for attribute in kind.__attrs_attrs__)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple(getattr(kind, "_fields"))  # noqa: B009
    return None


def _flat(keys: Iterable[Any]) -> list[str]:
    return [part for key in keys for part in (key if isinstance(key, tuple) else (key,))]


def _how(cls: Any, keys: tuple[Any, ...], path: str, index: Index, value: Any) -> int:
    """How members are found in values of this one's class; SourceError where they cannot be."""
    kind = type(value)
    if kind is dict:
        return BY_KEY
    if isinstance(value, Mapping):
        return BY_ITEM
    plain = keys == tuple(cls.__members__)
    if kind in (tuple, list):
        return BY_INDEX if plain else _refuse(cls, keys, path, index, value)
    names = tuple(kind.__members__) if isinstance(value, Batch) else fields_of(kind)
    if names is not None:
        if plain and issubclass(kind, tuple) and names == keys:
            return BY_INDEX
        if set(names) != set(_flat(keys)):
            _refuse(cls, keys, path, index, value)
        return BY_NAME
    if isinstance(value, _NO_RECORD) or value is None:
        _refuse(cls, keys, path, index, value)
    if any(not hasattr(value, key) for key in _flat(keys)):
        _refuse(cls, keys, path, index, value)
    return BY_NAME


def _refuse(cls: Any, keys: tuple[Any, ...], path: str, index: Index, value: Any) -> NoReturn:
    where, expected = place_of(path, index), _flat(keys)
    came: list[str] | None = None
    if isinstance(value, Mapping):
        came = [str(key) for key in value]
    elif isinstance(value, Batch) and "" not in type(value).__members__:
        came = list(type(value).__members__)
    elif (names := fields_of(type(value))) is not None:
        came = [name for name in names if hasattr(value, name)]
    elif not isinstance(value, _NO_RECORD) and any(hasattr(value, key) for key in expected):
        came = [key for key in expected if hasattr(value, key)]
    if came is not None and set(came) != set(expected):
        missing = ", ".join(name for name in expected if name not in came) or "none"
        unknown = ", ".join(name for name in came if name not in expected) or "none"
        facts = {"missing": missing, "unknown": unknown, "expected": ", ".join(expected)}
        raise SourceError.of("record-members", where=where, **facts)
    current = type(value).__name__
    way_out = f"pass a {cls.__name__}(...) or a dict of its members"
    if isinstance(value, tuple | list):
        current += f" of {len(value)}"
        if len(value) == len(expected):
            way_out = "use dicts or objects: values by position cannot be renamed"
    elif isinstance(value, np.void | np.ndarray) and value.dtype.names is not None:
        current, way_out = "a numpy record", f"make a batch of it: batch({cls.__name__}, a)"
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


def explain(cls: Any, spec: Spec, value: Any, path: str, index: Index) -> None:
    """Walk one record again in Python, for the SourceError that says where its fault is."""
    keys = _keys(cls, spec)
    how = _how(cls, keys, path, index, value)
    if how == BY_INDEX and len(value) != len(keys):
        _refuse(cls, keys, path, index, value)
    if how in (BY_KEY, BY_ITEM) and set(value) != set(_flat(keys)):
        _refuse(cls, keys, path, index, value)

    def find(key: Any) -> Any:
        if isinstance(key, tuple):
            return tuple(find(part) for part in key)
        if how == BY_NAME and not hasattr(value, key):
            # A member of __slots__ that was never set, or one that the first record of its class had.
            _refuse(cls, keys, path, index, value)
        return getattr(value, key) if how == BY_NAME else value[key]

    for k, (key, slot, member) in enumerate(zip(keys, cls.__members__.values(), cls.__layout__.fields, strict=True)):
        found = value[k] if how == BY_INDEX else find(key)
        explain_member(slot, member.layout, _inside(spec, member.name), found, f"{path}.{member.name}", index)


def explain_member(slot: Slot, layout: Layout, spec: Spec, value: Any, path: str, index: Index) -> None:
    """`explain` for one member's value."""
    if slot.core.__layout__.kind != "struct":
        fitting(slot, path, index, value)
    elif layout.kind != "array":
        explain(slot.core, spec, value, path, index)
    else:
        assert layout.element is not None
        try:
            items = [] if isinstance(value, str | bytes | dict) else list(value)
        except TypeError:
            items = []
        if len(items) != layout.count and not (type(value) is zero_filled and len(items) <= (layout.count or 0)):
            _refuse_length(python_name(layout), layout.count or 0, path, index, value)
        for k, item in enumerate(items):
            explain_member(slot, layout.element, spec, item, path, (*index, k))
