"""Arrays of every kind: numpy's dtypes and other libraries' extensions of them, masks, fields and DLPack."""

from __future__ import annotations

import ctypes
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from .._records import items_of_memory
from ..column_checks import shape_text
from ..column_specs import (
    COLUMN,
    ELEMENT,
    MOST_DIMENSIONS,
    ColumnSpec,
    entry_of,
    field_names,
    is_numpy_number,
    is_padding,
    is_struct,
    spelled,
)
from ..errors import SourceError
from ..layout import Layout
from .named import NamedColumns
from .refusing import refuse_missing

# DLPack's kinds of memory that the CPU reads: its own, pinned by CUDA or ROCm, managed by CUDA.
_READABLE = (1, 3, 11, 13)


def structured(array: np.ndarray, where: str) -> NamedColumns:
    """A structured array's fields as columns: views, whatever its offsets, strides and byte order.

    Fields of raw bytes are padding that somebody wrote out.
    """
    names = array.dtype.names
    assert names is not None
    padding = frozenset(name for name in names if is_padding(array.dtype[name]))
    if isinstance(array, np.ma.MaskedArray):
        array = unmasked(array, where, "source")

    return NamedColumns.found(names, array.__getitem__, read_array, where)._replace(padding=padding)


def read_array(array: np.ndarray, spec: ColumnSpec, where: str) -> Any:
    """An array without its missing values' places, in a dtype of numpy's own; NamedColumns for a nested struct's fields.

    Raises SourceError for masked values, None, NA and NaT. Other dtypes than numbers are left to `check_dtype`.
    """
    if isinstance(array, np.ma.MaskedArray):
        array = unmasked(array, where, spelled(spec))
    elif type(array) is not np.ndarray:
        array = array.view(np.ndarray)
    if array.dtype.names is not None:
        return _field(array, field_names(array.dtype), spec, where)
    kind = array.dtype.kind
    if not is_numpy_number(array.dtype):
        if kind in "OTMm":
            _refuse_missing_values(array, spec, where)
        elif kind in "Vfciub" and array.dtype.type is not np.void:
            return _of_extension(array)
    return array


def _field(array: np.ndarray, names: tuple[str, ...], spec: ColumnSpec, where: str) -> Any:
    if is_struct(spec):
        return structured(array, where)
    if names == (COLUMN,) and spec.core.__layout__.kind == "matrix":
        inner = array[COLUMN]
        return inner.swapaxes(-1, -2) if inner.ndim >= 2 else inner
    return read_array(array[ELEMENT], spec, where) if names == (ELEMENT,) else array


def _of_extension(array: np.ndarray) -> np.ndarray:
    """Another library's numbers as numpy's, where every one of them has its own; the array itself otherwise."""
    for number in (np.int64, np.float32, np.float64):
        if array.dtype.itemsize <= 8 and np.can_cast(array.dtype, number):
            return array.astype(number)
    return array


def _refuse_missing_values(array: np.ndarray, spec: ColumnSpec, where: str) -> None:
    name = spelled(spec)
    if array.dtype.kind in "Mm":
        missing = np.isnat(array)
        none, held, way_out = "NaT", str(array.dtype), f"{name}[~np.isnat({name})]"
    else:
        entries = array.astype(object)
        missing = np.fromiter(map(_is_missing, entries.flat), bool, array.size).reshape(array.shape)
        if not missing.any():
            return
        none, held = str(entries[missing][0]), "text" if array.dtype.kind == "T" else "objects"
        python = {"<NA>": "pd.NA", "NaT": "pd.NaT"}.get(none, none)
        filled = f"np.array([0 if x is {python} else x for x in {name}])"
        way_out = filled if array.ndim == 1 and python in _SINGLES else f"a number in place of {none}"
    if not missing.any():
        return
    if not array.ndim:
        raise SourceError.of("column-masked", kind=none, where=where, way_out=f"a number in place of {none}")
    refuse_missing(f"{none} in an array of {held}", int(np.argwhere(missing)[0][0]), where, way_out)


# Missing values of which there is one object.
_SINGLES = ("None", "pd.NA", "pd.NaT")


def _is_missing(value: Any) -> bool:
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    # Arrow's scalars may be null.
    return getattr(value, "is_valid", True) is False


def unmasked(array: Any, where: str, name: str) -> np.ndarray:
    """A masked array's data, if nothing is masked; SourceError naming the member and the first row otherwise."""
    mask = np.ma.getmask(array)
    found = None if mask is np.ma.nomask else _first_masked(np.asarray(mask), array.dtype)
    if found is None:
        return np.asarray(array.data)
    path, index = found
    if not index:
        way_out = "a number in place of masked"
        raise SourceError.of("column-masked", kind="a masked value", where=where + path, way_out=way_out)
    # numpy makes no raw bytes of 0, and padding is some.
    zero = "0" if array.dtype.names is None else f"np.zeros((), {name}.dtype)"
    refuse_missing("a masked value", index[0], where + path, f"{name}.filled({zero})")


def _first_masked(mask: np.ndarray, dtype: np.dtype[Any]) -> tuple[str, tuple[int, ...]] | None:
    """The first field with a masked value, as ``.inner.life``, and where that is; "" in an array without fields."""
    if dtype.names is None:
        indices = np.argwhere(mask)
        return ("", tuple(map(int, indices[0]))) if len(indices) else None
    for name in field_names(dtype):
        found = _first_masked(mask[name], dtype[name].base)
        if found is not None:
            path, index = found
            return path if name in (COLUMN, ELEMENT) else f".{name}{path}", index[: mask.ndim]
    return None


def exported(source: Any, where: str, name: str) -> Any:
    """What DLPack makes of an array of another library, without a copy; `source` itself if it has no DLPack."""
    # numpy's own arrays need no DLPack, and masked ones would lose their mask by it.
    if isinstance(source, np.ndarray) or not hasattr(source, "__dlpack__"):
        return source
    try:
        kind = int(source.__dlpack_device__()[0]) if hasattr(source, "__dlpack_device__") else 1
    except Exception:  # A library may have no number for its device: torch has none for "meta".
        kind = 0
    if kind not in _READABLE:
        way_out = f"{name}.cpu()" if hasattr(source, "cpu") else f"np.asarray({name}) where the library allows it"
        device = str(getattr(source, "device", f"a DLPack device of kind {kind}"))
        raise SourceError.of(
            "column-device", current=type(source).__name__, device=device, where=where, way_out=way_out
        )
    if getattr(source, "requires_grad", False):
        # Packing reads values; the gradient has no part in it.
        source = source.detach()
    try:
        return np.from_dlpack(source)
    except (BufferError, RuntimeError, TypeError, ValueError, AttributeError):
        return source


def array_of(memory: memoryview) -> np.ndarray:
    """The items of exported memory as an array over it.

    The dtype is that of the array or of the ctypes object that the memory belongs to, if it has fields. numpy reads the
    format instead, which does not say padding after the last field, and refuses what it cannot read or loses the
    strides of it.
    """
    owner: Any = memory.obj
    dtype: Any = None
    if isinstance(owner, np.ndarray | np.void) and memory.format != "B":
        dtype = owner.dtype
    elif isinstance(owner, ctypes.Array | ctypes.Structure | ctypes.Union):
        element: Any = type(owner)
        while issubclass(element, ctypes.Array):
            element = element._type_
        if memory.itemsize == ctypes.sizeof(element):
            dtype = np.dtype(element)  # Raises TypeError for pointers, of which there is no dtype.
    if dtype is None or dtype.names is None or dtype.itemsize != memory.itemsize:
        return np.asarray(memory)
    return items_of_memory(memory, dtype)


def described(source: Any) -> np.ndarray:
    """Like `numpy.asanyarray`, but refuses an ``__array_interface__`` that goes beyond its own memory or has objects.

    numpy believes both, and the interpreter would crash. An address alone cannot be checked.
    """
    array = np.asanyarray(source)
    if isinstance(source, np.ndarray | np.generic | list | tuple) or not hasattr(source, "__array_interface__"):
        return array
    if array.dtype.hasobject:
        raise TypeError("its __array_interface__ describes objects")
    data = source.__array_interface__.get("data")
    if not isinstance(data, tuple) and array.size:
        memory = np.frombuffer(source if data is None else data, np.uint8)
        low, high = np.lib.array_utils.byte_bounds(memory)
        first, last = np.lib.array_utils.byte_bounds(array)
        if first < low or last > high:
            raise ValueError(f"its __array_interface__ describes more than the {memory.size} bytes that it has")
    return array


def as_array(source: Any, spec: ColumnSpec, where: str, read: Callable[[Any, ColumnSpec, str], Any]) -> np.ndarray:
    """An array of anything that numpy.asarray takes. It shares the memory of a source that has any, and copies the others.

    `read` reads columns of other libraries inside a list.
    """
    if isinstance(source, list | tuple):
        source = _checked_list(source, spec, where, read)
    elif isinstance(source, memoryview | pickle.PickleBuffer):
        source = array_of(memoryview(source))
    array = described(exported(source, where, spelled(spec)))
    if array.dtype == object and not array.ndim and not _is_missing(array[()]):
        raise refused_source(describe(source), spec, where)
    return array


def refused_source(current: str, spec: ColumnSpec, where: str) -> SourceError:
    """The error for what is no array."""
    way_out = f"give an array of shape {shape_text(spec)}"
    return SourceError.of("column-source", current=current, where=where, way_out=way_out)


def is_structs(source: Any) -> bool:
    """Whether `source` is a batch of structs, which are no array."""
    layout = getattr(type(source), "__layout__", None)
    return isinstance(layout, Layout) and layout.kind == "struct"


def describe(source: Any) -> str:
    """What a message calls a source."""
    if isinstance(source, np.ndarray):
        return f"an array of {source.dtype} {source.shape}"
    return type(source).__name__


def amount(source: Any) -> str:
    """How many values a source has, for a message."""
    if isinstance(source, np.ndarray) or not hasattr(type(source), "__len__"):
        return describe(source)
    return f"{type(source).__name__} of {len(source)}"


_NUMBERS = frozenset((int, float, bool, str, bytes, type(None)))


def _checked_list(source: Any, spec: ColumnSpec, where: str, read: Callable[[Any, ColumnSpec, str], Any]) -> Any:
    """A list whose columns of other libraries are arrays; SourceError for masked values, and for lists in themselves.

    numpy would take the values under a mask, and NaN for a null.
    """
    level: list[Any] = [source]
    foreign = False
    for _ in range(MOST_DIMENSIONS):
        kinds = set(map(type, itertools.chain.from_iterable(level))) - _NUMBERS
        foreign = foreign or any(not issubclass(kind, list | tuple | np.generic) for kind in kinds)
        if not any(issubclass(kind, list | tuple) for kind in kinds):
            return _read_rows(source, spec, where, read) if foreign else source
        inner = [entry for entry in itertools.chain.from_iterable(level) if isinstance(entry, list | tuple)]
        # Each once: a list may hold itself, twice, and numpy would not come to an end.
        level = list(dict(zip(map(id, inner), inner, strict=True)).values())
    raise refused_source(f"lists nested more than {MOST_DIMENSIONS} deep", spec, where)


def _read_rows(rows: Any, spec: ColumnSpec, where: str, read: Callable[[Any, ColumnSpec, str], Any]) -> list[Any]:
    made: list[Any] = []
    for k, entry in enumerate(rows):
        try:
            made.append(_read_entry(entry, k, spec, where, read))
        except SourceError as error:
            if error.rule != "column-masked":
                raise
            refuse_missing(f"a missing value in a {type(rows).__name__}", k, where, "a number in its place")
    return made


def _read_entry(entry: Any, k: int, spec: ColumnSpec, where: str, read: Callable[[Any, ColumnSpec, str], Any]) -> Any:
    if type(entry) in _NUMBERS or isinstance(entry, np.generic):
        return entry
    place, inside = entry_of(where, k), spec._replace(name=f"{spelled(spec)}[{k}]")
    if isinstance(entry, list | tuple):
        return [_read_entry(inner, j, inside, place, read) for j, inner in enumerate(entry)]
    return read(entry, inside, place)
