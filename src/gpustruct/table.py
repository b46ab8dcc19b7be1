"""Rows of text as an aligned table, for terminals and notebooks. Knows no layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

Row = Sequence[str]


def text(heading: Row, rows: Sequence[Row], right: Sequence[bool]) -> str:
    """Lay out `rows` under `heading`; `right[i]` aligns column i to the right.

    >>> print(text(("offset", "name"), [("0", "a"), ("16", "b")], (True, False)))
    offset  name
         0  a
        16  b
    """
    widths = [max(len(row[i]) for row in (heading, *rows)) for i in range(len(heading))]
    lines: list[str] = []
    for row in (heading, *rows):
        cells = [cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


# Half-transparent grey stands out on a light page and on a dark one.
_HATCH = "background:repeating-linear-gradient(135deg,#8882 0 5px,transparent 5px 10px);opacity:.7"
_MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"


def html(
    caption: str,
    heading: Row,
    rows: Sequence[Row],
    right: Sequence[bool],
    muted: Sequence[bool],
    notes: Sequence[str] = (),
) -> str:
    """The same table as HTML; `muted[i]` hatches row i, `notes` stand below, a line each.

    >>> html("A", ("n",), [("1",)], (True,), (False,)).count("<tr")
    2
    """

    def cells(tag: str, row: Row) -> str:
        return "".join(
            f'<{tag} style="text-align:{"right" if r else "left"}">{escape(cell)}</{tag}>'
            for cell, r in zip(row, right, strict=True)
        )

    body = "".join(
        f'<tr style="{_HATCH if m else ""}">{cells("td", row)}</tr>' for row, m in zip(rows, muted, strict=True)
    )
    below = "".join(f'<div style="opacity:.75;font-size:90%">{escape(note)}</div>' for note in notes)
    return (
        f'<div><table style="{_MONO}"><caption style="text-align:left;font-weight:600">{escape(caption)}</caption>'
        f"<thead><tr>{cells('th', heading)}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


@dataclass(frozen=True)
class Comparison:
    """Two offset tables, member by member; prints itself, and is false where nothing differs.

    `rows` are (mark, name, type, offset, size); the mark is "~" for a member that differs, "+" for one that
    came, "-" for one that went, and empty for one that stayed.

    >>> same = compare("A -> A", [("0", "4", "4", "f32", "x")], [("0", "4", "4", "f32", "x")])
    >>> bool(same), same.rows
    (False, (('', 'x', 'f32', '0', '4'),))
    """

    title: str
    rows: tuple[tuple[str, str, str, str, str], ...]

    def __bool__(self) -> bool:
        return any(row[0] for row in self.rows)

    def __str__(self) -> str:
        return f"{self.title}\n{text(_HEADING, self.rows, _RIGHT)}"

    def _repr_html_(self) -> str:
        return html(self.title, _HEADING, self.rows, _RIGHT, [row[0] == "-" for row in self.rows])


_HEADING = ("", "name", "type", "offset", "size")
_RIGHT = (False, False, False, False, True)


def compare(title: str, before: Sequence[Row], after: Sequence[Row]) -> Comparison:
    """Set two offset tables, rows of (offset, size, align, type, name), against each other by name.

    Rows in the order of `after`, those that went at the end; padding rows, which have no align, are left out.
    """
    old = {row[4]: row for row in before if row[2]}
    new = {row[4]: row for row in after if row[2]}
    rows: list[tuple[str, str, str, str, str]] = []
    for name, (offset, size, _, kind, _) in new.items():
        if name not in old:
            rows.append(("+", name, kind, offset, size))
            continue
        was = old[name]
        cells = [a if a == b else f"{a} -> {b}" for a, b in ((was[3], kind), (was[0], offset), (was[1], size))]
        mark = "" if tuple(was) == tuple(new[name]) else "~"
        rows.append((mark, name, cells[0], cells[1], cells[2]))
    rows.extend(("-", name, row[3], row[0], row[1]) for name, row in old.items() if name not in new)
    return Comparison(title, tuple(rows))
