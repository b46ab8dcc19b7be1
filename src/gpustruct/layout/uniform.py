"""The rules of ``var<uniform>`` for layouts (WGSL §14.4.4, "Address Space Layout Constraints")."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import GpuStructError, LayoutError
from .arithmetic import round_up
from .parts import parts
from .record import Layout
from .scalars import RECORD_SCALARS


def faults(layout: Layout, *, standard_layout: bool) -> Iterator[GpuStructError]:
    """Every reason why `layout` is not legal there, outer types first. A struct is searched only at its first place.

    `standard_layout` is for devices with the language feature ``uniform_buffer_standard_layout``, which lifts some rules.
    """
    yield from _Search(layout, standard_layout).within(layout, layout.name)


def vec4_array(layout: Layout, times: int = 1) -> str:
    """The array of vec4 with room for the scalars of an array, or for `times` as many; "" for other element types."""
    core = layout.core
    if core.kind not in ("scalar", "vector") or RECORD_SCALARS[core.scalar].size != 4:
        return ""
    return f"array[vec4{RECORD_SCALARS[core.scalar].suffix}, {-(-(layout.used // 4 * times) // 4)}]"


def _choice(ways: list[str]) -> str:
    if len(ways) < 3:
        return " or ".join(ways)
    return f"{', '.join(ways[:-1])}, or {ways[-1]}"


class _Search:
    def __init__(self, root: Layout, standard_layout: bool) -> None:
        # `uniform_safe` cannot make an atomic or a runtime-sized array legal.
        never = any(part.kind == "atomic" or part.is_runtime_array for part in parts(root))
        rewritten = root.kind == "struct" and not never
        self.ways_out = [f"uniform_safe({root.name})", "var<storage>"] if rewritten else ["var<storage>"]
        # The end of a list that starts with another way out.
        self.others = f", {self.ways_out[0]}, or var<storage>" if rewritten else " or var<storage>"
        self.standard = standard_layout
        # The faults inside a struct are the same at every place; searching it once keeps the search linear.
        self.seen: set[int] = set()

    def within(self, layout: Layout, where: str) -> Iterator[GpuStructError]:
        if layout.kind == "struct":
            if id(layout) not in self.seen:
                self.seen.add(id(layout))
                yield from self._members(layout, where)
        elif layout.element is not None:
            yield from self._elements(layout, layout.element, where)
        elif layout.kind == "atomic":
            yield LayoutError.of("atomic-uniform", type=layout.name, plain=layout.scalar, where=where)

    def _elements(self, layout: Layout, element: Layout, where: str) -> Iterator[GpuStructError]:
        if layout.count is None:
            counted = vec4_array(layout, 8) if layout.stride % 16 else f"array[{element.python_name}, 8]"
            way_out = f"give it a count: {counted}, or use var<storage>" if counted else "use var<storage>"
            yield LayoutError.of("runtime-uniform", type=layout.name, where=where, way_out=way_out)
        elif layout.stride % 16 and not self.standard:
            vec4 = vec4_array(layout)
            way_out = f"use {_choice([vec4, *self.ways_out] if vec4 else self.ways_out)}"
            yield LayoutError.of("array-stride-uniform", stride=layout.stride, where=where, way_out=way_out)
        yield from self.within(element, f"{where}[0]" if element.kind == "struct" else where)

    def _members(self, layout: Layout, where: str) -> Iterator[GpuStructError]:
        for member, following in zip(layout.fields, (*layout.fields[1:], None), strict=True):
            inner, place = member.layout, f"{where}.{member.name}"
            if inner.kind in ("array", "struct") and not self.standard:
                required = round_up(16, inner.align)
                if member.offset % required:
                    facts = {"required": required, "offset": member.offset, "where": place, "others": self.others}
                    kind = "a struct" if inner.kind == "struct" else "an array"
                    yield LayoutError.of("offset-uniform", kind=kind, type=inner.python_name, **facts)
            if inner.kind == "struct" and following is not None and not self.standard:
                gap, need = following.offset - member.offset, round_up(16, inner.size)
                if gap < need:
                    place_after = f"{where}.{following.name}"
                    facts = {"required": need, "current": gap, "where": place_after, "others": self.others}
                    yield LayoutError.of("gap-uniform", type=inner.python_name, previous=member.name, **facts)
            yield from self.within(inner, place)
