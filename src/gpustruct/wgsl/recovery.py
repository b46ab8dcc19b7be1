"""Where parsing resumes after an error: at the next line that starts a declaration."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from .source import BLANK, LINE_BREAK
from .tokens import Span

_KEYWORDS = "enable|requires|diagnostic|const_assert|const|override|alias|struct|var|fn"
# These attributes and keywords cannot start anything inside a function or a struct: an open brace before them is an error.
_AT_TOP = r"(?:fn|struct|alias|override|enable|requires)\b|var[ \t]*<[ \t]*(?!function\b)\w|@[ \t]*(?:group|binding|compute|vertex|fragment|workgroup_size|id|must_use)\b"
_START = re.compile(
    rf"(?m)(?:^|(?<=[{LINE_BREAK}]))(?P<indent>[ \t]*)"
    rf"(?:(?P<top>{_AT_TOP})|(?:const_assert|const|var|diagnostic|import)\b|@[ \t]*diagnostic\b)"
)
_ARGUMENTS = r"\((?:[^(){};]|\((?:[^(){};]|\([^(){};]{0,200}\)){0,200}+\)){0,500}+\)"
_HEAD = re.compile(
    rf"(?P<attributes>(?:@[ \t]*\w+[{BLANK}]*+(?:{_ARGUMENTS}[{BLANK}]*+)?){{0,16}}+)(?P<keyword>{_KEYWORDS})\b"
)
_WITHOUT_ATTRIBUTES = ("enable", "requires", "diagnostic", "const_assert", "const", "alias", "struct")
_STOP = re.compile(r"[{};]")


class Candidate(NamedTuple):
    """What may be a declaration.

    `keyword` is "" if it is not one, `head` is where the keyword ends, and `is_closed` says whether its braces match.
    """

    span: Span
    keyword: str
    head: int
    is_closed: bool


class DeclarationStarts:
    """The lines that start a declaration, in a text without comments."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = list(_START.finditer(text))
        self._offsets = [match.end("indent") for match in found]
        self._indents = [len(match["indent"]) for match in found]
        self._at_top = [match["top"] is not None for match in found]

    def candidate(self, start: int) -> Candidate:
        """What begins at `start`. It ends at its semicolon or closing brace, or where the next declaration starts."""
        text, depth, brace = self.text, 0, -1
        head = _HEAD.match(text, start)
        keyword = head["keyword"] if head else ""
        offset = head_end = head.end() if head else start
        if head and keyword in _WITHOUT_ATTRIBUTES and set(head["attributes"]) & set(LINE_BREAK):
            return Candidate(Span(start, head.start("keyword"), -1), "", start, True)
        indent = self._indent(start)
        index = bisect_right(self._offsets, offset - 1 if head else start)
        while True:
            limit = self._offsets[index] if index < len(self._offsets) else len(text)
            found = _STOP.search(text, offset, limit)
            if found is None:
                # Constants and variables inside a function look like those of the module.
                can_hold = depth and (keyword in ("", "fn") or self._indents[index : index + 1] > [indent])
                if limit == len(text) or self._at_top[index] or not can_hold:
                    return Candidate(Span(start, limit, brace), keyword, head_end, not depth)
                offset, index = limit, index + 1
                continue
            offset = found.end()
            if found[0] == "{":
                brace = found.start() if brace < 0 else brace
                depth += 1
            elif found[0] == "}":
                depth -= 1
            if depth < 0 or (depth == 0 and found[0] != "{"):
                return Candidate(Span(start, offset, brace), keyword, head_end, True)

    def _indent(self, start: int) -> int:
        return start - max(self.text.rfind("\n", max(0, start - 200), start), start - 200, -1) - 1

    def within(self, candidate: Candidate) -> Iterator[int]:
        """The starts inside a skipped candidate that are indented no further than it: they may be declarations."""
        start, end, _ = candidate.span
        indent = self._indent(start)
        index = bisect_right(self._offsets, max(start, candidate.head - 1))
        while index < len(self._offsets) and self._offsets[index] < end:
            if self._indents[index] <= indent:
                yield self._offsets[index]
            index += 1


def starts_in(text: str, start: int, end: int) -> Iterator[int]:
    """Where declarations start in a part of the text that is skipped."""
    while start < end and text[start] in BLANK:
        start += 1
    if _HEAD.match(text, start, end):
        yield start
    for found in _START.finditer(text, start + 1, end):
        yield found.end("indent")
