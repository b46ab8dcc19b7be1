"""Rows of text as an aligned table, for terminals and notebooks. Knows no layouts."""

from __future__ import annotations

from collections.abc import Sequence
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


def html(caption: str, heading: Row, rows: Sequence[Row], right: Sequence[bool], muted: Sequence[bool]) -> str:
    """The same table as HTML; `muted[i]` greys row i out.

    >>> html("A", ("n",), [("1",)], (True,), (False,)).count("<tr")
    2
    """

    def cells(tag: str, row: Row) -> str:
        return "".join(
            f'<{tag} style="text-align:{"right" if r else "left"}">{escape(cell)}</{tag}>'
            for cell, r in zip(row, right, strict=True)
        )

    body = "".join(
        f'<tr style="opacity:{0.55 if m else 1}">{cells("td", row)}</tr>' for row, m in zip(rows, muted, strict=True)
    )
    return (
        f'<table><caption style="text-align:left">{escape(caption)}</caption>'
        f"<thead><tr>{cells('th', heading)}</tr></thead><tbody>{body}</tbody></table>"
    )
