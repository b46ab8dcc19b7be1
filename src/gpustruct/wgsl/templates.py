"""Marks that a preprocessor or a template engine left in the text: named, and blanked out where asked.

naga_oil's and the C preprocessor's ``#import``, ``#ifdef``; Jinja's ``{{ }}``, ``{% %}``, ``{# #}`` and pygfx's
``{$ $}`` and ``$$`` lines; JavaScript's ``${ }``. None of them is WGSL, outside comments.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from .source import LINE_BREAK, Source
from .tokens import PLACEHOLDER, end_of_comment

_MARK = re.compile(
    rf"(?P<line_comment>//[^{LINE_BREAK}]*)|(?P<comment>/\*)|(?P<block>\{{\$|\{{%|\{{\#)"
    rf"|(?P<value>\{{\{{[^{{}};{LINE_BREAK}]{{1,500}}\}}\}}|[$\#]\{{[^{{}}{LINE_BREAK}]{{0,500}}\}})"
    rf"|(?P<line>(?m:^)[ \t]*(?:\#|\$\$)[^{LINE_BREAK}]*)|(?P<sign>[\#$])"
)
_CLOSING = {"{$": "$}", "{%": "%}", "{#": "#}"}
_OPENS = re.compile(r"(?:if|ifdef|ifndef|for|macro|call|block|raw|filter)\b")
_CLOSES = re.compile(r"end")
_VISIBLE = re.compile(f"[^{LINE_BREAK}]")


class Mark(NamedTuple):
    """One mark: where it stands, its text, and the innermost condition that is open behind it."""

    start: int
    end: int
    text: str
    is_value: bool
    under: str


class Templates:
    """The marks of one text."""

    def __init__(self, source: Source, most: int) -> None:
        text = source.text
        candidates = any(sign in text for sign in ("#", "$", "{{", "{%"))
        self.marks = list(islice(_marks(source), most)) if candidates else []
        self._starts = [mark.start for mark in self.marks]

    def blanked(self, text: str) -> str:
        """`text` with every mark replaced by as many blanks, a value by placeholders."""
        parts: list[str] = []
        end = 0
        for mark in self.marks:
            parts += (
                text[end : mark.start],
                _VISIBLE.sub(PLACEHOLDER if mark.is_value else " ", text[mark.start : mark.end]),
            )
            end = mark.end
        return "".join((*parts, text[end:]))

    def reason(self, start: int, end: int) -> str:
        """Why the declaration between `start` and `end` does not stand on its own; "" if it does."""
        before = bisect_right(self._starts, start) - 1
        if before >= 0 and self.marks[before].under:
            return f"it stands under a condition: {self.marks[before].under}"
        for mark in self.marks[before + 1 : bisect_left(self._starts, end)]:
            if not mark.is_value:
                return f"a condition or an inclusion stands inside it: {mark.text}"
        return ""


def _marks(source: Source) -> Iterator[Mark]:
    text, offset = source.text, 0
    open_conditions: list[str] = []
    unclosed: set[str] = set()
    while found := _MARK.search(text, offset):
        start, offset, kind = found.start(), found.end(), found.lastgroup
        if kind == "comment":
            offset = end_of_comment(source, start)
        if kind in ("comment", "line_comment"):
            continue
        if kind == "value" and not re.search(r"\w", found[0]):
            offset = start + 2
            continue
        opening = found[0][:2]
        if kind == "block" and opening not in unclosed:
            end = text.find(_CLOSING[opening], offset)
            offset = end + 2 if end >= 0 else offset
            if end < 0:
                unclosed.add(opening)
        shown = " ".join(text[start : min(offset, start + 60)].split())
        word = shown.strip("#${}% -")
        if kind in ("line", "block") and opening != "{#":
            if _OPENS.match(word):
                open_conditions.append(shown)
            elif _CLOSES.match(word) and open_conditions:
                open_conditions.pop()
        under = open_conditions[-1] if open_conditions else ""
        yield Mark(start, offset, shown, kind in ("value", "sign"), under)
