"""Setting many members of a view: all of them, or none."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ..errors import SourceError, closest


def update(record: Any, values: Mapping[str, Any] = {}, /, **members: Any) -> None:
    """Set many members of a view: all of them, or none where one is wrong.

    `values` maps members to values; nested ones by a nested mapping, which may leave members out, or by
    dotted names. Raises SourceError for names that are no members and for values that do not fit.

    >>> from gpustruct import Struct, f32, vec3f, view
    >>> from gpustruct.views import update
    >>> class Light(Struct):
    ...     color: vec3f
    ...     power: f32
    >>> light = view(Light)
    >>> update(light, {"color": (1, 1, 0)}, power=3)
    >>> light.color, light.power
    (array([1., 1., 0.], dtype=float32), 3.0)
    """
    kind = getattr(type(record), "__type__", None)
    if kind is None or not isinstance(values, Mapping):
        current = type(record if kind is None else values).__name__
        name, members = getattr(kind, "__name__", "a view"), getattr(kind, "__members__", {"": None})
        way_out = (
            f"{{{next(iter(members))!r}: value}}" if "" not in members else "a view of a Struct and such a mapping"
        )
        raise SourceError.of("view-update", current=current, type=name, way_out=way_out)
    target = memoryview(record)
    if target.readonly:
        raise SourceError.of("view-readonly", where=kind.__name__)
    scratch = copy.copy(record)
    _set_all(scratch, kind, {**values, **members})
    target[:] = memoryview(scratch)


def _set_all(record: Any, kind: Any, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        head, _, rest = str(name).partition(".")
        spec = kind.__members__.get(head)
        nested = spec is not None and spec.core.__layout__.kind == "struct" and spec.type is spec.core
        if spec is None or not head or (rest and not nested):
            facts = {"expected": ", ".join(kind.__members__), "came": ", ".join(map(str, values))}
            facts["way_out"] = closest(head, kind.__members__) if spec is None else "only structs have members"
            raise SourceError.of("columns-unknown", unknown=name, where=kind.__name__, **facts)
        if rest:
            _set_all(getattr(record, head), spec.core, {rest: value})
        elif nested and isinstance(value, Mapping):
            _set_all(getattr(record, head), spec.core, value)
        else:
            setattr(record, head, value)
