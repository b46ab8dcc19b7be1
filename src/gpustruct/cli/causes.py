"""The cause of a finding. Findings with one cause are reported once, at the first place."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from ..layout import Layout, naga
from ..types import layout_of

if TYPE_CHECKING:
    from ..wgsl import Module

MOST_NAMED = 5


def of_member(layout: Layout, path: str) -> Hashable:
    """The struct and the member that `path`, such as ``Scene.lights[0].color``, ends at.

    >>> from gpustruct import Struct, array, f32, layout_of
    >>> class Inner(Struct):
    ...     values: array[f32, 4]
    >>> class Outer(Struct):
    ...     inner: Inner
    >>> of_member(layout_of(Outer), "Outer.inner.values")
    ('Inner', 'values')
    """
    names = [re.sub(r"\[.*", "", part) for part in path.split(".")[1:]]
    owner = layout.core
    for name in names[:-1]:
        owner = next(member.layout.core for member in owner.fields if member.name == name)
    return owner.name, names[-1]


def of_align(module: Module, struct: str) -> Hashable:
    """The structs whose own @align makes naga lay out `struct` differently."""
    cls = module.structs.get(struct)
    found = frozenset(_aligned(layout_of(cls))) if cls is not None else None
    return found or struct


def _aligned(layout: Layout) -> Iterable[str]:
    for departure in naga.departures(layout):
        for member, _ in departure.marks:
            core = member.layout.core
            if any(inner.explicit_align for inner in core.fields):
                yield core.name


def others(names: Iterable[str]) -> str:
    """What to add to a message for the other places that have the same cause.

    >>> others(["b", "c"]), others([])
    (' (and in b, c)', '')
    """
    listed = list(dict.fromkeys(names))
    more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
    return f" (and in {', '.join(listed[:MOST_NAMED])}{more})" if listed else ""
