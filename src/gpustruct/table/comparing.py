"""The differences between two offset tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import Row, html, text


@dataclass(frozen=True)
class Comparison:
    """The differences between two offset tables, member by member. It is false if there are none.

    `rows` are (mark, name, type, offset, size). The mark is "~" for a member that differs, "+" for one that only the
    second table has, "-" for one that only the first has, and empty for one that is equal.

    >>> from gpustruct.table.comparing import compare
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
    """Compare two offset tables, rows of (offset, size, align, type, name), by name.

    The rows are in the order of `after`, then those that only `before` has. Padding rows, which have no align, are
    left out.
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
