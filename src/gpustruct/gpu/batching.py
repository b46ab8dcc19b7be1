"""Converts what a RecordBuffer accepts as records into batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..batches import Batch, as_batch
from ..errors import SourceError
from ..layout import Layout
from ..sources import batch
from ..types import layout_of
from . import devices
from .readback import empty_batch


def records_of(T: Any, value: Any, function: str) -> Any:
    """`value` as a batch of `T`, or of the element type of the runtime-sized array that `T` is or ends in.

    A view becomes a batch of one record over the same bytes. A mapping that has the runtime-sized member is a whole record
    of `T`; all other sources are elements. Raises SourceError for records of another type, and what `batch` raises.

    >>> from gpustruct import u32, vec3f
    >>> records_of(vec3f, [[1, 2, 3], [4, 5, 6]], "write").__shape__
    (2,)
    """
    element, tail = devices.element_of(T), layout_of(T).tail
    given = as_batch(value)
    if type(given) is element or type(given) is T:
        return given
    expected = T.__name__ if element is T else f"{T.__name__} or {element.__name__}"
    if isinstance(given, Batch):
        raise SourceError.of("record-type", type=expected, current=type(given).__name__, function=function)
    whole = tail is not None and isinstance(value, Mapping) and tail.name in value
    try:
        return batch(T if whole else element, value)
    except SourceError as error:
        if error.rule not in ("source-kind", "column-source"):
            raise
        current = type(value).__name__
        raise SourceError.of("record-type", type=expected, current=current, function=function) from error


def header_of(T: Any, value: Any) -> Any:
    """One record of `T` without elements, from a mapping of the members before the array, a batch of `T`, or a view."""
    layout: Layout = layout_of(T)
    tail = layout.fields[-1].name
    given = as_batch(value)
    if type(given) is T:
        return given
    current = type(given).__name__
    if isinstance(given, Mapping):
        unknown = [name for name in given if not isinstance(name, str) or name == tail]
        if not unknown:
            return batch(T, {**given, tail: empty_batch(T, 0).__columns__[-1]})
        current = f"a mapping with the key {unknown[0]!r}"
    members = ", ".join(member.name for member in layout.fields[:-1])
    raise SourceError.of("header-columns", type=T.__name__, current=current, members=members)
