"""A layout as text and as HTML, and the differences between two layouts."""

from __future__ import annotations

from .. import table
from ..layout import Layout
from ..layout.naga import notes as naga_notes
from ..table import comparing
from . import offsets
from .notes import lines as notes
from .offsets import rows

__all__ = ["difference", "html", "naga_notes", "notes", "rows", "summary", "text"]


def text(layout: Layout) -> str:
    """The summary, the offset table and the notes."""
    shown = table.text(offsets.HEADING, list(rows(layout)), offsets.RIGHT)
    return "\n".join([summary(layout), shown, *notes(layout)])


def html(layout: Layout) -> str:
    """The same as HTML for notebooks, with padding hatched."""
    shown = list(rows(layout))
    muted = [row[4].startswith(offsets.PADDING) for row in shown]
    return table.html(summary(layout), offsets.HEADING, shown, offsets.RIGHT, muted, list(notes(layout)))


def summary(layout: Layout) -> str:
    """One line with name, size, align, stride, and the share of padding."""
    facts = f"align {layout.align}, stride {layout.stride}"
    if layout.is_runtime_sized:
        tail = (layout.fields[-1].layout if layout.fields else layout).element
        assert tail is not None
        head = layout.header - sum(member.layout.used for member in layout.fields[:-1])
        each = layout.stride - tail.used
        waste = f"padding {head} bytes in the header, {each} an element" if head or each else "no padding"
        return f"{layout.name}: header {layout.header}, {facts}, runtime-sized, {waste}"
    unused = layout.size - layout.used
    waste = f"padding {unused} bytes ({100 * unused / layout.size:.0f} %)" if unused else "no padding"
    return f"{layout.name}: size {layout.size}, {facts}, {waste}"


def difference(before: Layout, after: Layout) -> comparing.Comparison:
    """The differences between two layouts, member by member."""
    facts = [
        f"{what} {old}" if old == new else f"{what} {old} -> {new}"
        for what, old, new in (
            ("size", before.size, after.size),
            ("align", before.align, after.align),
            ("padding", before.size - before.used, after.size - after.used),
        )
    ]
    title = f"{before.name} -> {after.name}: {', '.join(facts)} bytes"
    return comparing.compare(title, list(rows(before)), list(rows(after)))
