"""A batch: columns by reference, one for each member, over common leading dimensions.

The instances of every type are batches; this is what they all share. A batch keeps numpy arrays by reference, and
never checks values: that happens in the one pass that packs them. Modules of later layers import `ColumnSpec`, `Shape`
and `SplitColumn` from here, too.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from ._batches import BatchBase, MemberTable, fill, make
from ._batches import set_pack_plan as set_pack_plan
from ._batches import set_unpack_plan as set_unpack_plan
from .broadcasting import broadcast_column, common_shape, elements, full_column, leading_shape
from .column_checks import check_numbers
from .column_specs import ColumnSpec, Shape, SplitColumn, stored_dtype
from .errors import SourceError, brief, likely
from .layout import RECORD_SCALARS, Layout, Scalar, leaves
from .libraries import read_column
from .libraries.arrays import describe
from .table import indented

_INTEGERS = tuple(np.dtype(char).num for char in "?bBhHiIlLqQ")
_FLOATS = tuple(np.dtype(char).num for char in "efd")


def _accepted(row: Scalar) -> tuple[int, ...]:
    """The numbers of numpy's types whose values a scalar takes."""
    if row.is_normalized:
        stored = stored_dtype(row.name)
        return _FLOATS if stored is None else (*_FLOATS, stored.num)
    return _INTEGERS if row.is_integer else _INTEGERS + _FLOATS


ACCEPTED = {name: _accepted(row) for name, row in RECORD_SCALARS.items()}
# Those of the columns that unpack gives.
DTYPES = {name: np.dtype(row.format) for name, row in RECORD_SCALARS.items()}

# Attributes of every instance, which may not be assigned; `_batches.BatchBase` has them.
INSTANCE_ATTRIBUTES = ("__columns__", "__shape__", "__run__", "__pack_plan__", "__unpack_plan__")
# A repr shows at most this many members. It shows one more where "1 more member" would take as much room.
MOST_ROWS = 16


def _column_text(column: Any) -> str:
    if isinstance(column, Batch):
        return f"batch of shape {column.__shape__}"
    if isinstance(column, SplitColumn):
        return f"{column.dtype.name} {column.shape}, an array for each component"
    mapped, base = False, column
    while isinstance(base, np.ndarray):
        mapped, base = mapped or isinstance(base, np.memmap), base.base
    return f"{column.dtype.name} {column.shape}{', in a file' if mapped else ''}"


def as_batch(source: Any) -> Any:
    """A view as a batch: of one record, or of all its records. Anything else is returned unchanged.

    The columns are views of the view's bytes, nothing is copied. Everything that takes a batch asks here first.

    >>> from gpustruct import Struct, f32, view
    >>> class Light(Struct):
    ...     power: f32
    >>> len(as_batch(view(Light, count=3)))
    3
    """
    make = getattr(type(source), "__batch__", None)
    return source if make is None else make(source)


class Batch(BatchBase):
    """Columns of one type. See `Struct` for the public side."""

    __slots__ = ()
    __layout__: Layout
    __members__: dict[str, ColumnSpec]

    def __hold__(self, values: tuple[Any, ...], columns: dict[str, Any]) -> None:
        """Check and store columns that the compiled constructor does not take; raise SourceError if they do not fit."""
        cls = type(self)
        specs: dict[str, ColumnSpec] | None = getattr(cls, "__members__", None)
        if specs is None:
            raise SourceError.of("batch-abstract", name=cls.__name__)
        if "" in specs:
            if len(values) != 1 or columns:
                facts = {"where": cls.__name__, "expected": "one column", "way_out": f"use {cls.__name__}(column)"}
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
                expected=", ".join(specs),
                came=", ".join(columns) or "no named columns",
                way_out=f"give one for each member, and no other: {', '.join(specs)}",
            )
        if columns.keys() != specs.keys():
            _refuse_names(cls, columns)
        held = [as_column(spec, columns[name], f"{cls.__name__}.{name}".rstrip(".")) for name, spec in specs.items()]
        shapes = [leading_shape(spec, column) for spec, column in zip(specs.values(), held, strict=True)]
        fill(self, tuple(held), common_shape(cls, specs, shapes, columns))

    @classmethod
    def __convert__(cls, spec: ColumnSpec, column: Any) -> Any:
        return as_column(spec, column, f"{cls.__name__}.{spec.name}".rstrip("."))

    @classmethod
    def __make_table__(cls) -> MemberTable | None:
        """The table by which the compiled constructor checks columns; None for types that it does not handle."""
        specs: dict[str, ColumnSpec] | None = getattr(cls, "__members__", None)
        if specs is None or any(spec.runtime for spec in specs.values()):
            return None
        rows: list[Any] = []
        own: Layout = cls.__layout__
        offsets = [0] if "" in specs else [member.offset for member in own.fields]
        for (name, spec), offset in zip(specs.items(), offsets, strict=True):
            layout = spec.type.__layout__
            steps = tuple(step for _, step in layout.axes)
            if layout.core.kind == "struct":
                rows.append((name, spec.core, (), spec.dims, steps, offset, None))
            else:
                (leaf,) = leaves(layout.core)
                steps += tuple(step for _, step in leaf.axes)
                scalar = leaf.scalar
                # No dtype sees normalized integers as the floats that they stand for.
                dtype = None if RECORD_SCALARS[scalar].is_normalized else DTYPES[scalar]
                rows.append((name, None, ACCEPTED[scalar], spec.inner, steps, offset, dtype))
        table = MemberTable(cls, tuple(specs.values()), tuple(rows), own.record_stride)
        type.__setattr__(cls, "__table__", table)
        return table

    def __len__(self) -> int:
        shape = self.__shape__
        if not shape:
            raise TypeError(str(SourceError.of("batch-scalar", where=f"len({type(self).__name__})")))
        return shape[0]

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: Any) -> Any:
        shape = self.__shape__
        specs = type(self).__members__.values()
        if any(spec.runtime for spec in specs):
            _refuse_index(type(self), index, 0, "index the tail member instead")
        entries = _normal_index(type(self), index, len(shape))
        # The Ellipsis keeps a single scalar a 0-d view of its column.
        columns = tuple(
            broadcast_column(spec, column, shape)[(*entries, ...)]
            for spec, column in zip(specs, self.__columns__, strict=True)
        )
        probe = np.empty(shape, np.bool_) if not shape else np.broadcast_to(np.False_, shape)
        return make(type(self), columns, np.shape(probe[entries]))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        cls, shape = type(self), self.__shape__
        count = "1 record" if not shape else f"{shape[0]} records" if len(shape) == 1 else f"records of shape {shape}"
        rows = [
            (name, spec.type.__name__, _column_text(column))
            for (name, spec), column in zip(cls.__members__.items(), self.__columns__, strict=True)
        ]
        title = f"batch of {cls.__name__}: {count}"
        if "" in cls.__members__:
            return f"{title}, {rows[0][2]}"
        more = len(rows) - MOST_ROWS
        text = indented(title, rows[:MOST_ROWS] if more > 1 else rows)
        return f"{text}\n  ... {more} more members" if more > 1 else text

    # Hidden from type checkers, which otherwise accept misspelled members.
    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            if name in INSTANCE_ATTRIBUTES:
                raise AttributeError(f"{type(self).__name__} keeps its {name}; make a new batch")
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} keeps its {name}; make a new batch")

    def __reduce__(self) -> tuple[Any, ...]:
        return make, (type(self), self.__columns__, self.__shape__)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        specs = type(self).__members__
        if "" not in specs or isinstance(self.__columns__[0], Batch):
            way_out = "pack(batch) gives bytes, batch.member a column"
            raise TypeError(f"a batch of {type(self).__name__} is not one array; {way_out}")
        array = full_column(specs[""], self.__columns__[0], self.__shape__)
        return np.array(array, dtype=dtype, copy=copy) if dtype is not None or copy else array


def from_columns(cls: type[Any], columns: tuple[Any, ...], shape: Shape) -> Any:
    """A batch of columns that are known to fit: no checks, no conversions."""
    return make(cls, columns, shape)


def _refuse_names(cls: type[Batch], columns: Mapping[str, Any]) -> NoReturn:
    specs = cls.__members__
    facts = {
        "where": cls.__name__,
        "expected": ", ".join(specs),
        "came": ", ".join(map(str, columns)) or "nothing",
    }
    missing = [name for name in specs if name not in columns]
    unknown = [str(name) for name in columns if name not in specs]
    way_out = f"give one for each member, and no other: {', '.join(specs)}"
    if not unknown:
        raise SourceError.of("columns-missing", missing=", ".join(missing), way_out=way_out, **facts)
    meant = likely(unknown[0], missing)
    way_out = f"did you mean {meant!r}?" if meant else way_out
    raise SourceError.of("columns-unknown", unknown=", ".join(unknown), way_out=way_out, **facts)


def as_seen(cls: Any, batch: Any) -> Any:
    """A batch of the type that `uniform_safe` was given, as a batch of `cls`, the class of its twin's views.

    The columns are the same. Other batches are returned unchanged, and so is every batch if `cls` is another class.
    """
    twin = vars(cls).get("__seen_twin__")
    if twin is None or type(batch) is not vars(twin)["__twin_of__"]:
        return batch
    specs = cls.__members__.values()
    columns = (
        as_seen(spec.core, column) if isinstance(column, Batch) else column
        for spec, column in zip(specs, batch.__columns__, strict=True)
    )
    return make(cls, tuple(columns), batch.__shape__)


def as_column(spec: ColumnSpec, source: Any, where: str) -> Any:
    """Check `source` as the column of `spec`, and keep a reference to it.

    Raises SourceError where the shape or the dtype cannot become the member's type.
    """
    source = as_batch(source)
    if spec.core.__layout__.kind == "struct":
        return _nested_column(spec, source, where)
    return check_numbers(spec, read_column(source, spec, where), where, source)


def _nested_column(spec: ColumnSpec, source: Any, where: str) -> Batch:
    core: type[Batch] = spec.core
    if isinstance(source, Batch):
        source = source.__columns__[0] if type(source) is spec.type and spec.runtime else elements(source)
    else:
        # In a higher layer, which imports this one; most programs have no nested columns.
        source = importlib.import_module("gpustruct.sources.columns").nested(spec, source, where)
    source = as_seen(core, source)
    if not isinstance(source, core):
        facts = {"type": core.__name__, "members": ", ".join(core.__members__)}
        raise SourceError.of("column-nested", current=describe(source), where=where, **facts)
    shape, dims = source.__shape__, spec.dims
    if spec.runtime:
        if len(shape) != len(dims) + 1 or shape[1:] != dims:
            raise SourceError.of("tail-shape", type=spec.type.__name__, shape=shape, where=where)
    elif len(shape) < len(dims) or shape[len(shape) - len(dims) :] != dims:
        way_out = f"give {core.__name__}(...) the batch shape (..., {', '.join(map(str, dims))})"
        facts = {"inner": dims, "type": spec.type.__name__, "shape": shape, "where": where}
        raise SourceError.of("column-shape", way_out=way_out, **facts)
    return source


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
        str(SourceError.of("batch-index", ndim=ndim, index=brief(index), where=f"{cls.__name__}[...]", way_out=way_out))
    )
