"""The structs that `uniform_safe` makes, with the original's values: views of them accept and return those."""

from __future__ import annotations

import dataclasses
import functools
import threading
from typing import Any

from . import layout as layouts
from .layout import Layout
from .types import array, arrays_of, plain_type, struct_over

# So that two threads never make two structs for one twin.
_lock = threading.RLock()


def seen_as_original(cls: Any) -> Any:
    """A struct with the original's members at the offsets of the twin `cls`; `cls` itself if it is not a twin.

    >>> from gpustruct import Struct, array, f32, uniform_safe
    >>> class Weights(Struct):
    ...     values: array[f32, 4]
    >>> seen = seen_as_original(uniform_safe(Weights).type)
    >>> seen.values.type, seen.__layout__.size
    (array[f32, 4], 64)
    """
    if vars(cls).get("__twin_of__") is None:
        return cls
    with _lock:
        return _seen(cls)


@functools.lru_cache(maxsize=256)
def _seen(cls: Any) -> Any:
    original = vars(cls)["__twin_of__"]
    layout: Layout = cls.__layout__
    types = {
        name: _seen_member(original.__members__[name].type, spec.type, spec.core)
        for name, spec in cls.__members__.items()
    }
    fields = tuple(dataclasses.replace(member, layout=types[member.name].__layout__) for member in layout.fields)
    own = {"__doc__": original.__doc__, "__seen_twin__": cls}
    return struct_over(dataclasses.replace(layout, fields=fields), types, **own)


def _seen_member(before: Any, after: Any, core: Any) -> Any:
    if before.__layout__.core.kind == "struct":
        return arrays_of(seen_as_original(core), [count for count, _ in before.__layout__.axes])
    # Scalars in arrays of vec4 come one after another, as in the original.
    return before if core.__layout__.kind != "struct" else _spaced(before)


def _spaced(type_: Any) -> Any:
    """An array of numbers with a stride of 16 bytes."""
    if type_.__layout__.kind != "array":
        return plain_type(dataclasses.replace(type_.__layout__, align=16), type_.__name__)
    element = _spaced(type_.__element__)
    made = layouts.array(element.__layout__, type_.__layout__.count)
    return plain_type(made, type_.__name__, __element__=element)


def twin_of(cls: Any) -> Any:
    """The twin that `cls`, or the struct inside its arrays, belongs to; `cls` itself if there is none."""
    if cls.__layout__.kind == "array":
        element = twin_of(cls.__element__)
        return cls if element is cls.__element__ else array[element, cls.__layout__.count]
    return vars(cls).get("__seen_twin__", cls)
