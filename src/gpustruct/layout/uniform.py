"""What ``var<uniform>`` forbids (WGSL §14.4.4, "Address Space Layout Constraints")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import GpuStructError, LayoutError
from .arithmetic import round_up
from .spelling import python_name, vec4_array

if TYPE_CHECKING:
    from .measures import Layout


def faults(layout: Layout, *, standard_layout: bool) -> Iterator[GpuStructError]:
    """Every reason why `layout` is not legal there, outermost first; those inside a struct once, where it first stands.

    `standard_layout` lifts what the language feature ``uniform_buffer_standard_layout`` lifts.

    >>> from gpustruct import array, f32, layout_of
    >>> [fault.rule for fault in faults(layout_of(array[f32, 4]), standard_layout=False)]
    ['array-stride-uniform']
    """
    yield from _Search(layout.name, standard_layout).within(layout, layout.name)


class _Search:
    def __init__(self, root: str, standard_layout: bool) -> None:
        self.root = root
        self.standard = standard_layout
        # A struct's faults are its own wherever it stands; visiting it once keeps the search linear.
        self.seen: set[int] = set()

    def within(self, layout: Layout, where: str) -> Iterator[GpuStructError]:
        if layout.kind == "struct":
            if id(layout) not in self.seen:
                self.seen.add(id(layout))
                yield from self._members(layout, where)
        elif layout.element is not None:
            yield from self._elements(layout, layout.element, where)
        elif layout.kind == "atomic":
            yield LayoutError.of("atomic-uniform", type=layout.name, where=where)

    def _elements(self, layout: Layout, element: Layout, where: str) -> Iterator[GpuStructError]:
        if layout.count is None:
            yield LayoutError.of("runtime-uniform", type=layout.name, where=where, element=python_name(element))
        elif layout.stride % 16 and not self.standard:
            facts = {"stride": layout.stride, "where": where, "vec4": vec4_array(layout), "root": self.root}
            yield LayoutError.of("array-stride-uniform", **facts)
        yield from self.within(element, f"{where}[0]" if element.kind == "struct" else where)

    def _members(self, layout: Layout, where: str) -> Iterator[GpuStructError]:
        for member, following in zip(layout.fields, (*layout.fields[1:], None), strict=True):
            inner, place = member.layout, f"{where}.{member.name}"
            if inner.kind in ("array", "struct") and not self.standard:
                required = round_up(16, inner.align)
                if member.offset % required:
                    facts = {"required": required, "offset": member.offset, "where": place, "root": self.root}
                    kind = "a struct" if inner.kind == "struct" else "an array"
                    yield LayoutError.of("offset-uniform", kind=kind, type=python_name(inner), **facts)
            if inner.kind == "struct" and following is not None and not self.standard:
                gap, need = following.offset - member.offset, round_up(16, inner.size)
                if gap < need:
                    place_after = f"{where}.{following.name}"
                    facts = {"required": need, "current": gap, "where": place_after, "root": self.root}
                    yield LayoutError.of("gap-uniform", type=python_name(inner), previous=member.name, **facts)
            yield from self.within(inner, place)
