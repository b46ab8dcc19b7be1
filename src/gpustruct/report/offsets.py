"""The offset table of one layout, with a row for each member and each gap."""

from __future__ import annotations

from collections.abc import Iterator

from ..layout import Layout

Cells = tuple[str, str, str, str, str]

HEADING = ("offset", "size", "align", "type", "name")
RIGHT = (True, True, True, False, False)
PADDING = "(padding"


def rows(layout: Layout) -> Iterator[Cells]:
    """(offset, size, align, type, name) of each member, also of nested structs. Names of gaps start with PADDING."""
    yield from _rows(layout, 0, "")


def _rows(layout: Layout, base: int, prefix: str) -> Iterator[Cells]:
    if layout.kind != "struct":
        size = "..." if layout.is_runtime_array else str(layout.size)
        yield (str(base), size, str(layout.align), layout.name, prefix or "(value)")
        yield from _inside(layout, base, prefix or "(value)")
        return
    gaps = list(layout.padding)
    for member in layout.fields:
        while gaps and gaps[0].offset < member.offset:
            gap = gaps.pop(0)
            yield (str(base + gap.offset), str(gap.size), "", "", f"{PADDING})")
        name = f"{prefix}{member.name}"
        size = "..." if member.layout.is_runtime_array else str(member.size)
        yield (str(base + member.offset), size, str(member.align), member.layout.name, name)
        yield from _inside(member.layout, base + member.offset, name)
    for gap in gaps if layout.tail is None else ():
        yield (str(base + gap.offset), str(gap.size), "", "", f"{PADDING})")


def _inside(layout: Layout, base: int, name: str) -> Iterator[Cells]:
    if layout.core.kind == "struct":
        yield from _rows(layout.core, base, f"{name}{'[0]' * layout.array_depth}.")
    elif layout.used < layout.size:
        yield ("", str(layout.size - layout.used), "", "", f"{PADDING} inside)")
