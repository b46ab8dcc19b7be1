"""Arrow: tables and record batches as named columns, arrays as numpy's. pyarrow is imported by whoever made them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..column_checks import Way, text_ways
from ..column_specs import ColumnSpec, is_integer, is_struct, number_name, spelled
from .named import NamedColumns, flatten_lists, shaped
from .refusing import list_ways, refuse, refuse_missing, refuse_rounding, zeros

_INTEGERS = frozenset("int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())
_FLOATS = frozenset(("halffloat", "float", "double"))
_NUMBERS = _INTEGERS | _FLOATS | {"bool"}
_LISTS = ("list", "large_list", "list_view", "large_list_view")
_DATES = ("date32", "date64", "timestamp", "time32", "time64")

FRAME_MARK = "column_names"
COLUMN_MARKS = ("type", "null_count")


def frame(source: Any, where: str) -> NamedColumns:
    """A pyarrow Table or RecordBatch."""
    names = source.schema.names
    return NamedColumns.found(names, lambda name: source.column(names.index(name)), column, where)


def column(source: Any, spec: ColumnSpec, where: str, name: str = "") -> Any:
    """A pyarrow Array or ChunkedArray as numpy's; NamedColumns for a struct. `name` is how code spells it in messages.

    One chunk of numbers, or of fixed-size lists or tensors of them, is not copied. Several chunks are joined, which
    copies that column; booleans, a bit each, are unpacked; dictionaries and runs of numbers are decoded.
    """
    name = name or spelled(spec)
    array = _joined(source)
    inner, shape, row = flatten_lists(_decoded(array), _size, lambda lists: _decoded(lists.flatten()), _first_null)
    if row >= 0:
        refuse_missing(f"a null in an Arrow column of {array.type}", row, where, _filled(array, name))
    kind = _kind(inner.type)
    if kind in _NUMBERS:
        if kind in _FLOATS and is_integer(spec):
            refuse_rounding(spec, f"Arrow {array.type}", where, _rounded(array, spec, name))
        values = inner.to_numpy(zero_copy_only=kind != "bool")
        return _as_tensor(array.type, shaped(_as_bool(array.type, values), shape))
    if kind.startswith("decimal") and not is_integer(spec) and not is_struct(spec):
        return shaped(inner.cast("float64").to_numpy(), shape)
    if kind == "struct" and is_struct(spec):
        names = [inner.type.field(i).name for i in range(inner.type.num_fields)]
        fields = inner.flatten()
        return shaped(NamedColumns.found(names, lambda key: fields[names.index(key)], column, where), shape)
    current = f"Arrow {array.type}"
    ways = _ways(source, array, spec, name)
    refuse(spec, f"lists of any length ({current})" if kind in _LISTS else current, where, ways)


def foreign_table(source: Any, where: str) -> NamedColumns:
    """The named columns of an object that offers a table, or an array of structs, through Arrow's capsule interface."""
    return frame(importlib.import_module("pyarrow").table(source), where)


def foreign_column(source: Any, spec: ColumnSpec, where: str) -> Any:
    """The column of an object that offers one array through Arrow's capsule interface."""
    make = "array" if hasattr(source, "__arrow_c_array__") else "chunked_array"
    array = getattr(importlib.import_module("pyarrow"), make)(source)
    return column(array, spec, where, f"pa.{make}({spelled(spec)})")


def _joined(source: Any) -> Any:
    if not hasattr(source, "chunks"):
        return source
    source = source.chunk(0) if source.num_chunks == 1 else source.combine_chunks()
    if not hasattr(source, "chunks"):
        return source
    # A version of pyarrow that joins chunks into chunks.
    return (
        source.chunk(0) if source.num_chunks == 1 else importlib.import_module("pyarrow").concat_arrays(source.chunks)
    )


def _kind(type_: Any) -> str:
    """The type's name without its parameters: "timestamp", "fixed_size_list"."""
    return str(type_).partition("[")[0].partition("<")[0].partition("(")[0]


def _decoded(array: Any) -> Any:
    """The values that an encoding or an extension type represents: the array itself where it has none."""
    while True:
        kind = _kind(array.type)
        if kind == "dictionary":
            array = array.dictionary_decode()
        elif kind == "run_end_encoded":
            array = importlib.import_module("pyarrow.compute").run_end_decode(array)
        elif hasattr(array, "storage") and kind == "extension":
            array = array.storage
        else:
            return array


def _size(array: Any) -> int | None:
    return array.type.list_size if _kind(array.type) == "fixed_size_list" else None


def _first_null(array: Any) -> int:
    return array.is_null().to_pylist().index(True) if array.null_count else -1


def _as_bool(type_: Any, values: np.ndarray) -> np.ndarray:
    """bool8 is stored as int8, where anything but 0 is true."""
    return values != 0 if "arrow.bool8" in str(type_) else values


def _as_tensor(type_: Any, values: np.ndarray) -> np.ndarray:
    """The rows of a fixed-shape tensor in its own shape; `values` has them flat."""
    if "arrow.fixed_shape_tensor" not in str(type_) or not hasattr(type_, "shape"):
        return values
    tensors = values.reshape(len(values), *type_.shape)
    order = type_.permutation
    return tensors.transpose(0, *(1 + axis for axis in order)) if order else tensors


def _filled(array: Any, name: str) -> str:
    """Code that leaves no row without a value."""
    leaf, dims = array.type, ()
    while _kind(leaf) == "fixed_size_list":
        leaf, dims = leaf.value_type, (*dims, leaf.list_size)
    if _kind(leaf) not in _NUMBERS:
        decoded = _kind(_decoded(array).type) in _NUMBERS
        return f"np.array([x or 0 for x in {name}.to_pylist()])" if decoded else f"{name}.drop_null()"
    zero = "False" if _kind(leaf) == "bool" else "0"
    if not dims:
        return f"pyarrow.compute.fill_null({name}, {zero})"
    if array.null_count:
        return f"pyarrow.compute.fill_null({name}, pa.scalar({zeros(dims, zero)}, {name}.type))"
    whole = "" if _kind(leaf) in _FLOATS else ".astype(np.int64)"
    return f"np.nan_to_num(np.array({name}.to_pylist(), float)){whole}"


def _rounded(array: Any, spec: ColumnSpec, name: str) -> str:
    number = number_name(spec)
    if _kind(array.type) in _FLOATS:
        return f"pyarrow.compute.round({name}).cast(pa.{number}())"
    return f"np.rint({name}.to_pylist()).astype(np.{number})"


def _ways(source: Any, array: Any, spec: ColumnSpec, name: str) -> Iterator[Way]:
    pa, compute = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.compute")
    number, kind, listed = number_name(spec), _kind(array.type), f"{name}.to_pylist()"
    target = getattr(pa, number)()
    if kind in _LISTS:
        fixed = f"{name}.cast(pa.list_(pa.{number}(), {{}}))"
        yield from list_ways(spec, fixed, lambda n: source.cast(pa.list_(target, n)), listed, source.to_pylist)
    elif kind in _DATES:
        yield Way(
            "choose an epoch and a unit",
            f"pyarrow.compute.seconds_between(pyarrow.compute.min({name}), {name})",
            lambda: compute.seconds_between(compute.min(source), source),
        )
    elif kind == "duration":
        yield Way("choose a unit", f'{name}.cast(pa.duration("s"), safe=False).cast(pa.int64())')
    elif "interval" in kind:
        yield Way("take a part", f"np.array([x.days for x in {listed}])")
    elif kind == "struct" and array.type.num_fields:
        yield Way("take a field", f"pyarrow.compute.struct_field({name}, {array.type.field(0).name!r})")
    elif kind == "map":
        for key in [key for row in source.to_pylist() for key, _ in row][:1]:
            yield Way("take a key", f"np.array([dict(x).get({key!r}, 0) for x in {listed}])")
    elif kind == "fixed_size_binary" and array.type.byte_width:
        width, size = array.type.byte_width, np.dtype(number).itemsize
        words = f"np.array([np.frombuffer(x, np.{'uint8' if width % size else number}) for x in {listed}])"
        yield Way("say what its bytes are", words + ("[:, 0]" if width == size else ""))
    elif "arrow.uuid" in str(array.type):
        yield Way("take its four words", f"np.array([np.frombuffer(x.bytes, np.uint32) for x in {listed}])")
    else:
        yield Way("convert it", f"{name}.cast(pa.{number}())", lambda: source.cast(target))
    if kind.startswith("decimal"):
        rounded = f"pyarrow.compute.round({name}).cast(pa.{number}())"
        yield Way("say how to round", rounded, lambda: compute.round(source).cast(target))
        yield Way("convert it", f"{name}.cast(pa.float32())", lambda: source.cast(pa.float32()))
    yield from text_ways(spec, listed, source.to_pylist)
