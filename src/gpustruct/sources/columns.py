"""One value as one column: an array over the same memory where the value has any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..batches import Batch, Slot
from . import arrays, arrow, frames
from .naming import Shelf


def library(source: Any) -> str:
    """Which of the libraries known here made the value's class, or a class it extends; "" for none.

    Told by the name of the module, so that none of them is imported.
    """
    for base in type(source).__mro__:
        top = base.__module__.partition(".")[0]
        if top in ("pandas", "polars", "pyarrow"):
            return top
    return ""


def column(source: Any, slot: Slot, where: str) -> Any:
    """`source` as `hold` takes it: an array, a batch, or a nested shelf for a nested struct."""
    if type(source) is np.ndarray:
        return arrays.field(source, slot, where)
    if isinstance(source, np.ma.MaskedArray):
        return arrays.field(arrays.unmasked(source, where, slot.name or "column"), slot, where)
    if isinstance(source, np.ndarray):
        return arrays.field(source.view(np.ndarray), slot, where)
    made_by = library(source)
    if made_by == "pandas":
        return frames.pandas_column(source, slot, where)
    if made_by == "polars":
        return frames.polars_column(source, slot, where)
    if made_by == "pyarrow":
        return arrow.column(source, slot, where)
    if isinstance(source, Batch):
        return source
    if slot.core.__layout__.kind == "struct":
        return source if not isinstance(source, Mapping) else mapping(source, where)
    return arrays.exported(source, where, slot.name or "column")


def mapping(source: Mapping[Any, Any], where: str) -> Shelf:
    """A mapping from names to values of any kind."""

    def get(key: Any, slot: Slot, where: str) -> Any:
        return column(source[key], slot, where)

    return Shelf(list(source), get, where)
