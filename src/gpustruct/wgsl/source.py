"""The text of a shader: line numbers, and errors that show a line of the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from ..errors import WgslError

# WGSL §3.1 (line breaks): CR LF is one break.
LINE_BREAK = "\n\v\f\r\x85\u2028\u2029"
BLANK = " \t\u200e\u200f" + LINE_BREAK
BYTE_ORDER_MARK = "\ufeff"
_LINE = re.compile(f"\r\n|[{LINE_BREAK}]")
_WINDOW = 100
# Tokens outside of function bodies: some ten thousand lines of declarations, which are read within a second.
MOST_TOKENS = 100_000


class Source:
    """A WGSL text. An `offset` is the index of a character in `text`.

    `text` is what is parsed; template syntax in it is replaced with blanks. `shown` is the text as the author wrote it.
    """

    def __init__(self, text: str) -> None:
        self.text = self.shown = text
        self.tokens = 0
        self.double_minus: list[int] = []
        self._starts: list[int] = []

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`, both counted from 1."""
        if not self._starts:
            self._starts = [0, *(found.end() for found in _LINE.finditer(self.text))]
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line_at(self, offset: int) -> int:
        """The line of `offset`, counted from 1."""
        return self.place(offset)[0]

    def excerpt(self, offset: int) -> str:
        """The line at `offset` with a caret under it; only a part of the line if it is long."""
        line, column = self.place(offset)
        start = self._starts[line - 1]
        first = max(0, column - 1 - _WINDOW // 2)
        end = start + first + _WINDOW
        following = _LINE.search(self.text, start + first, end)
        window = self.shown[start + first : following.start() if following else end]
        before = "..." if first else ""
        after = "..." if following is None and end < len(self.text) else ""
        shown = "".join(character if character.isprintable() else " " for character in window)
        margin = f"  {line} | "
        return (
            f"{margin}{before}{shown}{after}\n{'|'.rjust(len(margin) - 1)} {' ' * (len(before) + column - 1 - first)}^"
        )

    def error(self, rule: str, offset: int, **facts: Any) -> WgslError:
        """The WgslError of `rule` at `offset`, with the line below the message."""
        line, column = self.place(offset)
        shown = {name: short(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
        error = WgslError.of(rule, where=f"line {line}, column {column}", **shown)
        return self.at(error, offset)

    def at(self, error: Exception, offset: int) -> WgslError:
        """`error`, such as a LayoutError, as the WgslError of a place in this text."""
        found = WgslError(f"{error}\n{self.excerpt(offset)}")
        found.rule = getattr(error, "rule", "")
        found.line, found.column = self.place(offset)
        return found


def short(text: str, most: int = 200) -> str:
    """`text`, or its beginning, so that no input can fill the terminal."""
    return text if len(text) <= most else f"{text[: most - 3]}..."
