"""How views print: a line for each member, with its type and its value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _views
from ..table import indented
from .assigning import records_of

# Larger arrays show only their shape.
MOST_NUMBERS = 16


def shown(record: Any) -> str:
    """The repr of a view of one record."""
    kind, size = type(record), memoryview(record).nbytes
    if hasattr(kind, "__whole__"):
        return f"view of {kind.__type__.__name__} ({size} bytes): {_value(record[...])}"
    return indented(f"view of {kind.__type__.__name__} ({size} bytes)", list(_members(record, 0)))


def _members(record: Any, depth: int) -> Iterator[tuple[str, str, str]]:
    for name, spec in type(record).__seen__.__members__.items():
        value = getattr(record, name)
        label = "  " * depth + name
        if isinstance(value, _views.Record):
            yield label, spec.type.__name__, ""
            yield from _members(value, depth + 1)
        else:
            yield label, spec.type.__name__, _value(value)


def _value(value: Any) -> str:
    if isinstance(value, _views.Records):
        return f"{len(value)} records"
    if not isinstance(value, np.ndarray):
        return f"{value:g}" if isinstance(value, float) else repr(value)
    if value.size > MOST_NUMBERS:
        return f"{value.dtype} {value.shape}"
    text = np.array2string(value, separator=", ", max_line_width=10_000, formatter={"float_kind": lambda x: f"{x:g}"})
    return " ".join(text.split())


def shown_rows(rows: Any) -> str:
    """The repr of the records of an array: a line for each member, with the shape of its column."""
    kind, made = type(rows), records_of(rows)
    title = f"view of {len(rows)} x {kind.__type__.__name__} ({memoryview(rows).nbytes} bytes)"
    lines = [
        (name, spec.type.__name__, str(np.shape(column) if spec.core.__layout__.kind != "struct" else column.__shape__))
        for (name, spec), column in zip(type(made).__members__.items(), made.__columns__, strict=True)
        if name
    ]
    return indented(title, lines) if lines else f"{title}: {_value(np.asarray(made))}"
