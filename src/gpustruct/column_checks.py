"""Holding a column of numbers: an array, or one for each part, by reference and of a shape and a dtype that fit.

Values are never looked at here: that happens in the one pass that packs them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np

from .errors import SourceError
from .layout import Layout

Shape = tuple[int, ...]

# numpy nests no deeper.
MOST_DIMENSIONS = 64

INTEGER_RANGE = {"i32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1)}


class Slot(NamedTuple):
    """Where one column of a type goes: the member's name ("" for a type that is no struct)."""

    name: str
    type: Any
    core: Any
    dims: Shape
    runtime: bool

    @property
    def inner(self) -> Shape:
        """The dimensions a column has behind the batch's own."""
        layout: Layout = self.core.__layout__
        return self.dims + layout.shape


class Parts:
    """A column whose first inner dimension lies in arrays of their own: the x, y and z of a vec3f.

    Each array has the shape `lead` (or broadcasts to it), then the inner dimensions but the first.
    """

    __slots__ = ("arrays", "lead", "rest")

    def __init__(self, arrays: tuple[np.ndarray, ...], lead: Shape, rest: Shape) -> None:
        self.arrays, self.lead, self.rest = arrays, lead, rest

    @property
    def shape(self) -> Shape:
        return (*self.lead, len(self.arrays), *self.rest)

    @property
    def dtype(self) -> np.dtype:
        return np.result_type(*self.arrays)

    def spread(self, lead: Shape) -> Parts:
        """The same arrays over more leading dimensions; nothing is copied."""
        return Parts(tuple(np.broadcast_to(array, lead + self.rest) for array in self.arrays), lead, self.rest)

    def stack(self) -> np.ndarray:
        """One array of all parts: a copy."""
        whole = self.spread(self.lead)
        return np.stack(whole.arrays, axis=len(self.lead))

    def __getitem__(self, entries: Any) -> Parts:
        arrays = tuple(array[entries] for array in self.spread(self.lead).arrays)
        shape = arrays[0].shape
        return Parts(arrays, shape[: len(shape) - len(self.rest)], self.rest)


def hold_numbers(slot: Slot, source: Any, where: str) -> np.ndarray | Parts:
    """Check `source` as a column of numbers, and keep a reference to it; see `hold` of batches for structs.

    Raises SourceError where the shape or the dtype cannot become the member's type.
    """
    if isinstance(source, Parts):
        return _hold_parts(slot, source.arrays, where)
    array = as_array(source, slot, where)
    inner = slot.inner
    drop = 1 if slot.runtime else 0
    if array.ndim < len(inner) + drop or array.shape[array.ndim - len(inner) :] != inner:
        _refuse_shape(slot, array.shape, where)
    if slot.runtime and array.ndim != len(inner) + 1:
        raise SourceError.of("tail-shape", type=slot.type.__name__, shape=array.shape, where=where)
    check_dtype(slot, array.dtype, where)
    return array


def _hold_parts(slot: Slot, parts: tuple[Any, ...], where: str) -> Parts:
    inner = slot.inner
    if slot.runtime or not inner or len(parts) != inner[0]:
        counted = "columns as one array" if slot.runtime or not inner else f"{inner[0]} columns"
        facts = {"inner": inner, "type": slot.type.__name__, "shape": f"{len(parts)} columns", "where": where}
        raise SourceError.of("column-shape", way_out=f"give it {counted}", **facts)
    arrays: list[np.ndarray] = []
    for k, part in enumerate(parts):
        place = f"{where}[{k}]"
        array = as_array(part, slot, place)
        if array.shape[max(array.ndim - len(inner) + 1, 0) :] != inner[1:]:
            facts = {"inner": inner[1:], "type": f"a part of {slot.type.__name__}", "shape": array.shape}
            raise SourceError.of(
                "column-shape",
                way_out=f"give it an array of shape (n, {', '.join(map(str, inner[1:]))})",
                where=place,
                **facts,
            )
        check_dtype(slot, array.dtype, place)
        arrays.append(array)
    shapes = [array.shape[: array.ndim - len(inner) + 1] for array in arrays]
    try:
        lead = functools.reduce(np.broadcast_shapes, shapes, ())
    except ValueError:
        named = ", ".join(f"part {k} {shape}" for k, shape in enumerate(shapes))
        raise SourceError.of("column-broadcast", shapes=named, where=where) from None
    return Parts(tuple(arrays), lead, inner[1:])


def describe(source: Any) -> str:
    if isinstance(source, np.ndarray):
        array = cast("np.ndarray", source)
        return f"an array of {array.dtype} {array.shape}"
    return type(source).__name__


def as_array(source: Any, slot: Slot, where: str) -> np.ndarray:
    """`source` as an array over the same memory, if it has any; a copy of what has none."""
    if type(source) is np.ndarray:
        return source.view()
    if isinstance(source, Mapping) or source is None or _is_structs(source):
        way_out = f"give an array of shape {_shape_text(slot)}"
        raise SourceError.of("column-source", current=describe(source), where=where, way_out=way_out)
    try:
        if isinstance(source, list | tuple):
            _check_nested(cast("list[Any] | tuple[Any, ...]", source), slot, where)
        array = np.asanyarray(source)
    except SourceError:
        raise
    except Exception as error:
        reason = str(error).split(". ")[0]
        way_out = f"give an array of shape {_shape_text(slot)}"
        raise SourceError.of("column-source", current=reason, where=where, way_out=way_out) from error
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.is_masked(array):
            way_out = f"{slot.name or 'column'}.filled(0)" if array.ndim else "a number in place of masked"
            kind = "masked array" if array.ndim else "a masked value"
            raise SourceError.of("column-masked", kind=kind, where=where, way_out=way_out)
        array = array.data
    if array.dtype == object and array.ndim == 0:
        way_out = f"give an array of shape {_shape_text(slot)}"
        raise SourceError.of("column-source", current=describe(source), where=where, way_out=way_out)
    if array.dtype == object and _has_missing(array):
        way_out = f"{slot.name or 'column'}.fillna(0)" if hasattr(source, "fillna") else "a number in place of None"
        kind = f"{type(source).__name__} with missing values"
        raise SourceError.of("column-masked", kind=kind, where=where, way_out=way_out)
    return array.view(np.ndarray)


def _is_structs(source: Any) -> bool:
    """Whether `source` is a batch of structs, which are no array."""
    layout = getattr(type(source), "__layout__", None)
    return isinstance(layout, Layout) and layout.kind == "struct"


def _check_nested(source: list[Any] | tuple[Any, ...], slot: Slot, where: str) -> None:
    """Refuse lists that hold a masked value, for which numpy takes what lies under the mask, or themselves."""
    level: list[Any] = [source]
    for _ in range(MOST_DIMENSIONS):
        kinds = set(map(type, itertools.chain.from_iterable(level)))
        if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
            entries = itertools.chain.from_iterable(level)
            if any(isinstance(entry, np.ma.MaskedArray) and np.ma.is_masked(entry) for entry in entries):
                way_out = "a number in place of masked"
                raise SourceError.of("column-masked", kind="masked values in a list", where=where, way_out=way_out)
        if not any(issubclass(kind, list | tuple) for kind in kinds):
            return
        inner = [entry for entry in itertools.chain.from_iterable(level) if isinstance(entry, list | tuple)]
        # Each once: a list may hold itself, twice, and numpy would not come to an end.
        level = list(dict(zip(map(id, inner), inner, strict=True)).values())
    way_out = f"give an array of shape {_shape_text(slot)}"
    current = f"lists nested more than {MOST_DIMENSIONS} deep"
    raise SourceError.of("column-source", current=current, where=where, way_out=way_out)


def _has_missing(array: np.ndarray) -> bool:
    return any(value is None or type(value).__name__ == "NAType" for value in array.flat)


def _shape_text(slot: Slot) -> str:
    return f"(n,{''.join(f' {n},' for n in slot.inner)}".rstrip(",") + ")" if slot.inner else "(n,)"


def _refuse_shape(slot: Slot, shape: Shape, where: str) -> NoReturn:
    layout: Layout = slot.core.__layout__
    if layout.kind == "matrix":
        flat = shape and shape[-1] == layout.rows * layout.columns
        turned = len(shape) >= 2 and shape[-2:] == (layout.columns, layout.rows) and layout.rows != layout.columns
        if flat:
            facts = {"rows": layout.rows, "cols": layout.columns, "shape": shape, "where": where}
            raise SourceError.of("matrix-flat", type=layout.name, **facts)
        if turned:
            way_out = f"matrices are [row, col], {layout.rows} rows of {layout.columns}: pass a.swapaxes(-1, -2)"
            facts = {"inner": slot.inner, "type": slot.type.__name__, "shape": shape, "where": where}
            raise SourceError.of("column-shape", way_out=way_out, **facts)
    way_out = f"give an array of shape {_shape_text(slot)}"
    inner = _shape_text(slot) if slot.runtime else slot.inner
    facts = {"inner": inner, "type": slot.type.__name__, "shape": shape, "where": where}
    raise SourceError.of("column-shape", way_out=way_out, **facts)


def check_dtype(slot: Slot, dtype: np.dtype, where: str) -> None:
    """Raise SourceError if values of `dtype` cannot become the member's scalars unchanged but for rounding."""
    target, name = slot.core.__layout__.scalar, slot.name or "column"
    kind = dtype.kind
    if kind in "iub" or (kind == "f" and target[0] == "f" and dtype.itemsize <= 8):
        return
    numpy_name = {"f32": "np.float32", "f16": "np.float16", "i32": "np.int32", "u32": "np.uint32"}[target]
    if kind == "f" and target[0] == "f":
        way_out = f"convert it: {name}.astype(np.float64)"
    elif kind == "f":
        way_out = f"say how to round: np.rint({name}).astype({numpy_name})"
    elif kind == "c":
        way_out = f"pick a part: {name}.real or {name}.imag"
    elif kind == "O":
        way_out = f"convert it: np.asarray({name}, {numpy_name})"
    elif kind == "M":
        way_out = f"choose an epoch and a unit: ({name} - {name}.min()) / np.timedelta64(1, 's')"
    elif kind == "m":
        way_out = f"choose a unit: {name} / np.timedelta64(1, 's')"
    elif kind == "V":
        way_out = (
            f"pick a field: {name}[{dtype.names[0]!r}]"
            if dtype.names
            else f"give it a number type: {name}.view({numpy_name})"
        )
    else:
        way_out = f"convert it: {name}.astype({numpy_name})"
    spelled = {"U": "text", "S": "bytes", "O": "objects", "V": "records" if dtype.names else "raw bytes"}
    source = spelled.get(kind, dtype.name)
    raise SourceError.of("column-dtype", type=target, dtype=source, where=where, way_out=way_out)
