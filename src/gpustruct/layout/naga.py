"""Where naga (wgpu-native, Firefox) differs from the specification: structs it lays out differently, matrices it misreads.

`rules.NAGA` says how naga places members. If the outer member repeats the @align, naga and the specification agree.

naga 29 writes wrong SPIR-V to read a matCx2 from ``var<uniform>`` if the matrix is in a struct that is a member of
another struct. Reading is right in an array of structs, and from a copy of the inner struct in a ``var``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .arithmetic import round_up
from .record import Layout, Member
from .rules import NAGA, Placement, Sized, place


class Departure(NamedTuple):
    """One struct that naga lays out differently, with the offsets and the size that naga gives it, in bytes.

    `marks` are the members that need an @align, each with the alignment that naga gives it without one. If there are
    none, members of an inner struct need it.
    """

    path: str
    layout: Layout
    offsets: tuple[int, ...]
    size: int
    marks: tuple[tuple[Member, int], ...]


class Misread(NamedTuple):
    """A matrix that naga reads wrongly from uniform.

    `path` and `type` are the matrix's, `inner` is the path of the member to copy, and `outer` is the struct with it.
    """

    path: str
    type: str
    inner: str
    outer: Layout

    @property
    def remedy(self) -> str:
        return f"copy {self.inner} into a var and read that, or use vec2 members"


_Place = tuple[str, str] | None


def departures(layout: Layout) -> Iterator[Departure]:
    """Every struct in `layout` that naga lays out differently, outer ones first, each at the first place it occurs."""
    known: dict[int, Placement] = {}
    _measure(layout, known)
    yield from _search(layout, layout.name, known, set())


def notes(layout: Layout) -> Iterator[str]:
    """A line for each member that needs an @align or a copy: what naga does, and what to write."""
    for found in departures(layout):
        for member, align in found.marks:
            remedy = f"write Annotated[{member.layout.python_name}, align({member.align})]"
            yield f"{found.path}.{member.name} starts at {member.offset}, naga aligns it to {align} only; {remedy}"
    for found in misreads(layout):
        where = f"{found.path}, a {found.type} in a struct in a struct"
        yield f"{where}, is read wrongly from uniform (naga 29: the device may be lost); {found.remedy}"


def misreads(layout: Layout) -> Iterator[Misread]:
    """The first matrix in each outermost struct that naga reads wrongly if `layout` is in uniform.

    Nothing for a type that is not legal in uniform.

    >>> from gpustruct import Struct, mat2x2f, layout_of
    >>> class Inner(Struct):
    ...     turn: mat2x2f
    >>> class Outer(Struct):
    ...     inner: Inner
    >>> [(found.path, found.remedy) for found in misreads(layout_of(Outer))]
    [('Outer.inner.turn', 'copy Outer.inner into a var and read that, or use vec2 members')]
    """
    if not layout.uniform_faults():
        yield from _misreads(layout, layout.name, {}, set())


def _misreads(layout: Layout, path: str, matrices: dict[int, _Place], seen: set[int]) -> Iterator[Misread]:
    core = layout.core
    if core.kind != "struct" or id(core) in seen:
        return
    seen.add(id(core))
    for member in core.fields:
        inner = f"{path}{'[0]' * layout.array_depth}.{member.name}"
        matrix = _two_rows(member.layout, matrices)
        if matrix is None or member.layout.kind != "struct":
            yield from _misreads(member.layout, inner, matrices, seen)
        elif id(member.layout) not in seen:
            # A copy of this member makes all matrices in it readable.
            seen.add(id(member.layout))
            yield Misread(inner + matrix[0], matrix[1], inner, core)


def _two_rows(layout: Layout, known: dict[int, _Place]) -> _Place:
    """The path of the first matCx2 inside `layout`, and its type."""
    core = layout.core
    if core.kind == "matrix" and core.rows == 2:
        return "[0]" * layout.array_depth, core.name
    if core.kind != "struct":
        return None
    if id(core) not in known:
        places = ((member, _two_rows(member.layout, known)) for member in core.fields)
        known[id(core)] = next((((f".{m.name}{place[0]}", place[1])) for m, place in places if place), None)
    place = known[id(core)]
    return place and ("[0]" * layout.array_depth + place[0], place[1])


def _search(layout: Layout, path: str, known: dict[int, Placement], seen: set[int]) -> Iterator[Departure]:
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


def _measure(layout: Layout, known: dict[int, Placement]) -> Placement:
    found = known.get(id(layout))
    if found is None:
        if layout.element is not None:
            element = _measure(layout.element, known)
            size = round_up(element.align, element.size) * (layout.count or 1)
            found = Placement(element.align, size, ())
        elif layout.fields:
            inner = ((_measure(m.layout, known), m) for m in layout.fields)
            found = place(NAGA, [Sized(i.align, i.size, m.explicit_align, m.explicit_size) for i, m in inner])
        else:
            found = Placement(layout.align, layout.size, ())
        known[id(layout)] = found
    return found
