"""Aligned tables of text, for terminals and notebooks. Nothing here depends on layouts."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[str]


def text(heading: Row, rows: Sequence[Row], right: Sequence[bool]) -> str:
    """`rows` under `heading`, in aligned columns; column i is right-aligned if `right[i]` is true.

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


def indented(title: str, rows: Sequence[Row]) -> str:
    """A title, and below it the rows, indented and in aligned columns.

    >>> print(indented("view of Light", [("color", "vec3f"), ("on", "u32")]))
    view of Light
      color  vec3f
      on     u32
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))] if rows else []
    lines = ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([title, *lines])


# Half-transparent grey is visible on light and on dark pages.
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
    """The same table as HTML. Row i is hatched if `muted[i]` is true; `notes` are the lines below the table.

    >>> html("A", ("n",), [("1",)], (True,), (False,)).count("<tr")
    2
    """
    from html import escape

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
        f'<div><table style="{_MONO}"><caption style="text-align:left;font-weight:600;white-space:nowrap">{escape(caption)}</caption>'
        f"<thead><tr>{cells('th', heading)}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )
