"""Arrow: tables and record batches as named columns, arrays as numpy's, without importing pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..batches import Slot
from ..errors import SourceError
from .naming import Shelf


def table(source: Any, where: str) -> Shelf:
    """A pyarrow Table or RecordBatch."""
    names = source.schema.names

    def get(name: str, slot: Slot, where: str) -> Any:
        return column(source.column(names.index(name)), slot, where)

    return Shelf(names, get, where)


def column(source: Any, slot: Slot, where: str) -> Any:
    """A pyarrow Array or ChunkedArray as numpy's; a shelf for a struct.

    One chunk of numbers, or of fixed-size lists of them, is not copied. Several chunks are joined, which
    copies that column; booleans, a bit each, are unpacked.
    """
    if hasattr(source, "chunks"):
        # Nulls are looked for first: their row counts over all chunks.
        refuse_nulls(source, slot, where)
        source = source.chunk(0) if source.num_chunks == 1 else source.combine_chunks()
        if hasattr(source, "chunks"):
            source = source.chunk(0)
    return _column(source, slot, where)


def refuse_nulls(source: Any, slot: Slot, where: str) -> None:
    """SourceError if a row is null, naming the first."""
    if not source.null_count:
        return
    row = next(i for i, bad in enumerate(source.is_null().to_pylist()) if bad)
    way_out = f"pyarrow.compute.fill_null({slot.name or 'column'}, 0)"
    kind = f"a null in an Arrow column of {source.type}"
    raise SourceError.of("column-missing-value", kind=kind, row=row, where=where, way_out=way_out)


def _column(source: Any, slot: Slot, where: str) -> Any:
    refuse_nulls(source, slot, where)
    if hasattr(source, "storage"):
        return _column(source.storage, slot, where)
    spelled = str(source.type)
    if spelled.startswith("struct<"):
        names = [source.type.field(i).name for i in range(source.type.num_fields)]
        fields = source.flatten()

        def get(name: str, slot: Slot, where: str) -> Any:
            return _column(fields[names.index(name)], slot, where)

        return Shelf(names, get, where)
    if spelled.startswith("fixed_size_list<"):
        size = source.type.list_size
        inner = source.flatten()
        if inner.null_count:
            row = next(i for i, bad in enumerate(inner.is_null().to_pylist()) if bad) // size
            way_out = f"pyarrow.compute.fill_null({slot.name or 'column'}.flatten(), 0)"
            kind = f"a null in an Arrow column of {spelled}"
            raise SourceError.of("column-missing-value", kind=kind, row=row, where=where, way_out=way_out)
        values = _column(inner, slot, where)
        if isinstance(values, Shelf):
            return _grouped(values, size)
        return values.reshape(-1, size, *values.shape[1:])
    name = slot.name or "column"
    if spelled.startswith(("list<", "large_list<")):
        size = slot.inner[0] if slot.inner else "N"
        inner = source.type.value_type
        way_out = f"fix their length: {name}.cast(pa.list_(pa.{_spell(inner)}(), {size}))"
        _refuse(slot, f"lists of any length (Arrow {spelled})", where, way_out)
    if spelled.startswith("dictionary<"):
        _refuse(slot, f"Arrow {spelled}", where, f"decode it: {name}.dictionary_decode()")
    if spelled in ("string", "large_string", "string_view", "binary", "large_binary", "null") or "decimal" in spelled:
        _refuse(slot, f"Arrow {spelled}", where, f"convert it: {name}.cast(pa.float32())")
    return source.to_numpy(zero_copy_only=spelled != "bool")


def _spell(inner: Any) -> str:
    return {"float": "float32", "double": "float64", "halffloat": "float16"}.get(str(inner), str(inner))


def _grouped(shelf: Shelf, size: int) -> Shelf:
    """The columns of structs in fixed-size lists: one dimension more."""

    def get(name: Any, slot: Slot, where: str) -> Any:
        value = shelf.get(name, slot, where)
        if isinstance(value, Shelf):
            return _grouped(value, size)
        return np.asarray(value).reshape(-1, size, *value.shape[1:])

    return Shelf(shelf.keys, get, shelf.where)


def _refuse(slot: Slot, current: str, where: str, way_out: str) -> None:
    raise SourceError.of("column-kind", type=slot.type.__name__, current=current, where=where, way_out=way_out)
