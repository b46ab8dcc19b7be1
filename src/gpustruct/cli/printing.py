"""Output: coloured and wrapped in a terminal, plain whole lines in a pipe."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any

from .. import table

MARGIN = "  "


def printable(text: str) -> str:
    """`text` with a backslash escape for each character that the encoding of stdout does not have."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _console() -> Any:
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with 1, which means that something was found.

    return Terminal(file=sys.stdout, highlight=False, soft_wrap=True, emoji=False, markup=False)


class Printer:
    """Writes to stdout. In a terminal, text is coloured (unless NO_COLOR is set) and wrapped; nothing is cut off."""

    def __init__(self) -> None:
        out: Any = sys.stdout
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(errors="backslashreplace")  # Stdout may be Latin-1, and a name Greek.
        self.console = _console()
        self.wraps: bool = self.console.is_terminal

    def line(self, text: str = "", style: str = "", indent: str = "") -> None:
        """Print one line. A terminal wraps it between words and indents the rest further."""
        from rich.text import Text

        if not self.wraps:
            self.console.print(Text(f"{indent}{text}"), soft_wrap=True)
            return
        margin = Text(indent)
        width = max(20, self.console.width - len(indent) - len(MARGIN))
        for part in Text(text, style).wrap(self.console, width) or [Text()]:
            part.rstrip()
            self.console.print(margin + part, soft_wrap=True)
            margin = Text(indent + MARGIN)

    def table(self, heading: table.Row, rows: Sequence[table.Row], right: Sequence[bool], dim: Sequence[bool]) -> None:
        """Print an aligned table, the rows of `dim` in grey. If it is too wide for a terminal, its cells are wrapped."""
        from rich.table import Table
        from rich.text import Text

        if not self.wraps:
            for line in table.text(heading, rows, right).splitlines():
                self.console.print(Text(f"{MARGIN}{line}"), soft_wrap=True)
            return
        drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name, to_right in zip(heading, right, strict=True):
            drawn.add_column(name, justify="right" if to_right else "left", overflow="fold", no_wrap=to_right)
        for row, grey in zip(rows, dim, strict=True):
            drawn.add_row(*(Text(cell) for cell in row), style="dim" if grey else "")
        from rich.padding import Padding

        self.console.print(Padding(drawn, (0, 0, 0, len(MARGIN))), soft_wrap=False)
