"""Where naga (wgpu-native, Firefox) lays structs out differently from the specification (gfx-rs/wgpu#4377).

There, @align raises its own member and the size of its struct, but not the alignment of that struct where it
is a member itself. Repeating the attribute on the outer member makes both agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .arithmetic import round_up
from .spelling import python_name

if TYPE_CHECKING:
    from .measures import Layout, Member


class Departure(NamedTuple):
    """One struct that naga lays out differently: its members' offsets and its size there, in bytes.

    `marks` are the members to give their own @align to, with what naga aligns them to without it; where there
    are none, those of a struct inside.
    """

    path: str
    layout: Layout
    offsets: tuple[int, ...]
    size: int
    marks: tuple[tuple[Member, int], ...]


class _Measures(NamedTuple):
    align: int
    size: int
    offsets: tuple[int, ...]


def departures(layout: Layout) -> Iterator[Departure]:
    """Every struct in `layout` that naga lays out differently, the outermost first, each where it first stands.

    >>> from typing import Annotated
    >>> from gpustruct import Struct, u32, align, layout_of
    >>> class Inner(Struct):
    ...     a: Annotated[u32, align(16)]
    >>> class Outer(Struct):
    ...     n: u32
    ...     inner: Inner
    >>> [(found.path, found.offsets, found.size) for found in departures(layout_of(Outer))]
    [('Outer', (0, 4), 20)]
    """
    known: dict[int, _Measures] = {}
    _measure(layout, known)
    yield from _search(layout, layout.name, known, set())


def notes(layout: Layout) -> Iterator[str]:
    """The members to mark, a line each: where they start, what naga aligns them to, what to write."""
    for found in departures(layout):
        for member, align in found.marks:
            remedy = f"write Annotated[{python_name(member.layout)}, align({member.align})]"
            yield f"{found.path}.{member.name} starts at {member.offset}, naga aligns it to {align} only; {remedy}"


def _search(layout: Layout, path: str, known: dict[int, _Measures], seen: set[int]) -> Iterator[Departure]:
    core = layout.core
    if core.kind != "struct" or id(core) in seen:
        return
    seen.add(id(core))
    path += "[0]" * layout.array_depth
    there = known[id(core)]
    if there.size != core.size or there.offsets != tuple(member.offset for member in core.fields):
        unmarked = [(member, known[id(member.layout)].align) for member in core.fields if not member.explicit_align]
        marks = tuple((member, align) for member, align in unmarked if align < member.align)
        yield Departure(path, core, there.offsets, there.size, marks)
    for member in core.fields:
        yield from _search(member.layout, f"{path}.{member.name}", known, seen)


def _measure(layout: Layout, known: dict[int, _Measures]) -> _Measures:
    found = known.get(id(layout))
    if found is None:
        if layout.element is not None:
            element = _measure(layout.element, known)
            size = round_up(element.align, element.size) * (layout.count or 1)
            found = _Measures(element.align, size, ())
        else:
            found = _struct(layout, known) if layout.fields else _Measures(layout.align, layout.size, ())
        known[id(layout)] = found
    return found


def _struct(layout: Layout, known: dict[int, _Measures]) -> _Measures:
    offsets: list[int] = []
    end, inner, outer = 0, 1, 1
    for member in layout.fields:
        there = _measure(member.layout, known)
        align = member.explicit_align or there.align
        offsets.append(round_up(align, end))
        end = offsets[-1] + (member.explicit_size or there.size)
        inner, outer = max(inner, there.align), max(outer, align)
    return _Measures(inner, round_up(outer, end), tuple(offsets))
