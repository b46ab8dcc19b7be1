"""A batch: columns by reference, one for each member, over common leading dimensions.

The instances of every type are batches; this is what they all share. A batch never copies an array
that is one already, and never checks values: that happens in the one pass that packs them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
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


class Batch:
    """Columns of one type. See `Struct` for the public side."""

    __slots__ = ("__bound__", "__columns__", "__drained__", "__shape__", "__weakref__")
    __layout__: Layout
    __members__: dict[str, Slot]

    __columns__: tuple[Any, ...]
    __shape__: Shape

    def __init__(self, *values: Any, **columns: Any) -> None:
        cls = type(self)
        slots: dict[str, Slot] | None = getattr(cls, "__members__", None)
        if slots is None:
            raise SourceError.of("batch-abstract", name=cls.__name__)
        if "" in slots:
            if len(values) != 1 or columns:
                facts = {"where": cls.__name__, "expected": f"{cls.__name__}(column)"}
                came = ", ".join([*columns, *([f"{len(values)} without a name"] if values else [])])
                if not came:
                    raise SourceError.of("columns-missing", missing="the column", came="nothing", **facts)
                raise SourceError.of("columns-unknown", unknown=came, came=came, **facts)
            columns = {"": values[0]}
        elif values:
            raise SourceError.of(
                "columns-unknown",
                unknown=f"{len(values)} without a name",
                where=cls.__name__,
                expected=", ".join(slots),
                came=", ".join(columns) or "no named columns",
            )
        if columns.keys() != slots.keys():
            _refuse_names(cls, columns)
        held = [hold(slot, columns[name], f"{cls.__name__}.{name}".rstrip(".")) for name, slot in slots.items()]
        shapes = [lead(slot, column) for slot, column in zip(slots.values(), held, strict=True)]
        _fill(self, tuple(held), _common_shape(cls, slots, shapes))

    def __len__(self) -> int:
        shape = self.__shape__
        if not shape:
            raise TypeError(str(SourceError.of("batch-scalar", where=f"len({type(self).__name__})")))
        return shape[0]

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: Any) -> Any:
        shape = self.__shape__
        slots = type(self).__members__.values()
        if any(slot.runtime for slot in slots):
            _refuse_index(type(self), index, 0, "index the tail member instead")
        entries = _normal_index(type(self), index, len(shape))
        # The Ellipsis keeps a single scalar a 0-d view of its column.
        columns = tuple(
            spread(slot, column, shape)[(*entries, ...)] for slot, column in zip(slots, self.__columns__, strict=True)
        )
        probe = np.empty(shape, np.bool_) if not shape else np.broadcast_to(np.False_, shape)
        return _make(type(self), columns, np.shape(probe[entries]))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        cls = type(self)
        parts = [f"shape={self.__shape__}"]
        for name, column in zip(cls.__members__, self.__columns__, strict=True):
            label = f"{name}=" if name else ""
            if isinstance(column, Batch):
                parts.append(f"{label}{type(column).__name__}{column.__shape__}")
            else:
                parts.append(f"{label}{column.dtype.name}{column.shape}")
        return f"{cls.__name__}({', '.join(parts)})"

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Batch.__slots__:
            raise AttributeError(f"{type(self).__name__} keeps its {name}; make a new batch")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} keeps its {name}; make a new batch")

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (type(self), self.__columns__, self.__shape__)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        slots = type(self).__members__
        if "" not in slots or isinstance(self.__columns__[0], Batch):
            way_out = "pack(batch) gives bytes, batch.member a column"
            raise TypeError(f"a batch of {type(self).__name__} is not one array; {way_out}")
        array = whole(slots[""], self.__columns__[0], self.__shape__)
        return np.array(array, dtype=dtype, copy=copy) if dtype is not None or copy else array


def _make(cls: type[Batch], columns: tuple[Any, ...], shape: Shape) -> Batch:
    batch = cls.__new__(cls)
    _fill(batch, columns, shape)
    return batch


def from_columns(cls: type[Any], columns: tuple[Any, ...], shape: Shape) -> Any:
    """A batch of columns that are known to fit: no checks, no conversions."""
    return _make(cls, columns, shape)


def _fill(batch: Batch, columns: tuple[Any, ...], shape: Shape) -> None:
    setter = object.__setattr__
    setter(batch, "__columns__", columns)
    setter(batch, "__shape__", shape)
    setter(batch, "__bound__", None)
    setter(batch, "__drained__", None)


def _refuse_names(cls: type[Batch], columns: Mapping[str, Any]) -> NoReturn:
    slots = cls.__members__
    facts = {
        "where": cls.__name__,
        "expected": ", ".join(slots),
        "came": ", ".join(map(str, columns)) or "nothing",
    }
    missing = [name for name in slots if name not in columns]
    unknown = [str(name) for name in columns if name not in slots]
    if unknown:
        raise SourceError.of("columns-unknown", unknown=", ".join(unknown), **facts)
    raise SourceError.of("columns-missing", missing=", ".join(missing), **facts)


def _common_shape(cls: type[Batch], slots: Mapping[str, Slot], shapes: list[Shape]) -> Shape:
    try:
        shape: Shape = functools.reduce(np.broadcast_shapes, shapes, ())
    except ValueError:
        named = ", ".join(f"{name} {shape}" for name, shape in zip(slots, shapes, strict=True))
        raise SourceError.of("column-broadcast", shapes=named, where=cls.__name__) from None
    if shape and any(slot.runtime for slot in slots.values()):
        raise SourceError.of("tail-batch", shape=shape, where=cls.__name__)
    return shape


def lead(slot: Slot, column: Any) -> Shape:
    """The leading (batch) dimensions that `column` brings, its tail's length left out."""
    if slot.runtime:
        return ()
    shape: Shape = column.__shape__ if isinstance(column, Batch) else column.shape
    inner = slot.dims if isinstance(column, Batch) else slot.inner
    return shape[: len(shape) - len(inner)]


def spread(slot: Slot, column: Any, shape: Shape) -> Any:
    """`column` with all of the batch's leading dimensions: a view, broadcast where it has fewer."""
    if slot.runtime or lead(slot, column) == shape:
        return column
    if isinstance(column, Batch):
        return broadcast(column, shape + slot.dims)
    if isinstance(column, Parts):
        return column.spread(shape)
    return np.broadcast_to(column, shape + slot.inner)


def whole(slot: Slot, column: Any, shape: Shape) -> Any:
    """`spread`, as one array or one batch: parts are stacked, which copies them."""
    full = spread(slot, column, shape)
    if isinstance(full, Parts):
        return full.stack()
    # A new view each time: whoever gets it may give it another dtype or shape, and the batch keeps its own.
    return full.view() if isinstance(full, np.ndarray) else full


def broadcast(batch: Batch, shape: Shape) -> Batch:
    """The same columns under a larger batch shape; nothing is copied."""
    return _make(type(batch), batch.__columns__, shape)


def hold(slot: Slot, source: Any, where: str) -> Any:
    """Check `source` as the column of `slot`, and keep a reference to it.

    Raises SourceError where the shape or the dtype cannot become the member's type.
    """
    if slot.core.__layout__.kind == "struct":
        return _hold_nested(slot, source, where)
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


def _hold_nested(slot: Slot, source: Any, where: str) -> Batch:
    core: type[Batch] = slot.core
    if isinstance(source, Mapping):
        columns = cast("Mapping[str, Any]", source)
        if columns.keys() != core.__members__.keys():
            _refuse_names(core, columns)
        source = core(**columns)
    elif isinstance(source, Batch) and "" in type(source).__members__ and type(source) is slot.type:
        source = source.__columns__[0]
    if not isinstance(source, core):
        name = core.__name__
        current = _describe(source)
        raise SourceError.of("column-nested", type=name, current=current, where=where)
    shape, dims = source.__shape__, slot.dims
    if slot.runtime:
        if len(shape) != len(dims) + 1 or shape[1:] != dims:
            raise SourceError.of("tail-shape", type=slot.type.__name__, shape=shape, where=where)
    elif len(shape) < len(dims) or shape[len(shape) - len(dims) :] != dims:
        way_out = f"give {core.__name__}(...) the batch shape (..., {', '.join(map(str, dims))})"
        facts = {"inner": dims, "type": slot.type.__name__, "shape": shape, "where": where}
        raise SourceError.of("column-shape", way_out=way_out, **facts)
    return source


def _describe(source: Any) -> str:
    if isinstance(source, np.ndarray):
        array = cast("np.ndarray", source)
        return f"an array of {array.dtype} {array.shape}"
    return type(source).__name__


def as_array(source: Any, slot: Slot, where: str) -> np.ndarray:
    """`source` as an array over the same memory, if it has any; a copy of what has none."""
    if type(source) is np.ndarray:
        return source.view()
    if (
        isinstance(source, Mapping)
        or source is None
        or (isinstance(source, Batch) and "" not in type(source).__members__)
    ):
        way_out = f"give an array of shape {_shape_text(slot)}"
        raise SourceError.of("column-source", current=_describe(source), where=where, way_out=way_out)
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
        raise SourceError.of("column-source", current=_describe(source), where=where, way_out=way_out)
    if array.dtype == object and _has_missing(array):
        way_out = f"{slot.name or 'column'}.fillna(0)" if hasattr(source, "fillna") else "a number in place of None"
        kind = f"{type(source).__name__} with missing values"
        raise SourceError.of("column-masked", kind=kind, where=where, way_out=way_out)
    return array.view(np.ndarray)


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


def _normal_index(cls: type[Batch], index: Any, ndim: int) -> tuple[Any, ...]:
    entries = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    used = 0
    for entry in entries:
        if entry is None or isinstance(entry, str):
            _refuse_index(cls, entry, ndim, "use attributes for members, integers, slices and masks for records")
        if entry is not Ellipsis:
            used += entry.ndim if getattr(entry, "dtype", None) == np.bool_ else 1
    dots = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if used > ndim or len(dots) > 1:
        _refuse_index(cls, index, ndim, f"use at most {ndim} of them" if ndim else "use its members: batch.member")
    for at in dots:
        entries = (*entries[:at], *(slice(None),) * (ndim - used), *entries[at + 1 :])
    return entries


def _refuse_index(cls: type[Batch], index: Any, ndim: int, way_out: str) -> NoReturn:
    raise IndexError(
        str(SourceError.of("batch-index", ndim=ndim, index=repr(index), where=f"{cls.__name__}[...]", way_out=way_out))
    )
