"""Text to the terminal: colours and folding where someone looks, plain whole lines in a pipe."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any

from .. import table

MARGIN = "  "


def _console() -> Any:
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would leave with 1, which means findings here.

    return Terminal(file=sys.stdout, highlight=False, soft_wrap=True, emoji=False, markup=False)


class Printer:
    """Writes to stdout. In a terminal it colours, unless NO_COLOR is set, and folds to the width; nothing is cut."""

    def __init__(self) -> None:
        out: Any = sys.stdout
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(errors="backslashreplace")  # A name in Greek must not stop a Latin-1 pipe.
        self.console = _console()
        self.folds: bool = self.console.is_terminal

    def line(self, text: str = "", style: str = "", indent: str = "") -> None:
        """One line; in a terminal folded between words, the rest indented further."""
        from rich.text import Text

        if not self.folds:
            self.console.print(Text(f"{indent}{text}"), soft_wrap=True)
            return
        margin = Text(indent)
        width = max(20, self.console.width - len(indent) - len(MARGIN))
        for part in Text(text, style).wrap(self.console, width) or [Text()]:
            part.rstrip()
            self.console.print(margin + part, soft_wrap=True)
            margin = Text(indent + MARGIN)

    def table(self, heading: table.Row, rows: Sequence[table.Row], right: Sequence[bool], dim: Sequence[bool]) -> None:
        """An aligned table, the rows of `dim` greyed; in a terminal cells fold where it is too wide."""
        from rich.table import Table
        from rich.text import Text

        if not self.folds:
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
