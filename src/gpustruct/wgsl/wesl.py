"""WESL's ``@if``, ``@elif`` and ``@else``: which part of the text each of them decides about.

A condition stands before a declaration, a member, a parameter or a statement, among its attributes, and
decides about that one thing; before a block in braces it decides about all that the block holds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from .conditions import Defines

_LINE_START = r"(?:^|(?<=[\v\f\r\x85\u2028\u2029]))"
_CONDITION = re.compile(r"@[ \t]*(if|elif|else)\b")
_TOKEN = re.compile(
    rf"(?m)(?P<condition>{_CONDITION.pattern})|(?P<start>{_LINE_START}[ \t]*(?:fn|struct|alias|override)\b)"
    r"|(?P<struct>\bstruct\b)|(?P<sign>[{}();,<>])"
)
_BRACKETS = re.compile(r"[()]|[;{}]")
# What may stand between a condition and the block that it decides about.
_TO_BLOCK = re.compile(r"\s*\{")
_LONGEST = 2000


class Found(NamedTuple):
    """The conditions of one text: `marks` (start, end, text, whether decided), what to blank, and the parts that are not taken."""

    marks: list[tuple[int, int, str, bool]]
    blank: list[tuple[int, int]]
    dead: list[tuple[int, int, str]]
    undecided: list[tuple[int, int, str]]

    def condition_at(self, offset: int) -> str:
        """The condition that `offset` stands under; "" for none, or one that is decided."""
        # Parts nest but do not overlap otherwise: the outermost ones are kept, in order.
        index = bisect_right(self.undecided, offset, key=lambda part: part[0]) - 1
        if index >= 0 and offset < self.undecided[index][1]:
            return self.undecided[index][2]
        return ""


class _Part:
    """What one condition decides about, as far as it has been read."""

    def __init__(self, start: int, depth: int, text: str, state: bool | None) -> None:
        self.start = start
        self.depth = depth
        self.text = text
        self.state = state
        self.angles = 0
        self.is_block = False


class _Chain:
    """The @if, @elif and @else at one depth that belong together."""

    def __init__(self) -> None:
        self.is_settled = self.is_undecided = False

    def state(self, own: bool | None) -> bool | None:
        if self.is_settled or own is False:
            return False
        if own is None or self.is_undecided:
            self.is_undecided = True
            return None
        self.is_settled = True
        return True


def first_in(text: str, comments: list[tuple[int, int]]) -> re.Match[str] | None:
    """The first condition outside of `comments`."""
    for found in _CONDITION.finditer(text):
        index = bisect_right(comments, (found.start(), len(text))) - 1
        if index < 0 or found.start() >= comments[index][1]:
            return found
    return None


def found_in(text: str, defines: Defines) -> Found:
    """Every condition in `text`, whose comments are blanked."""
    if not _CONDITION.search(text):
        return Found([], [], [], [])
    return _Reader(text, defines).found()


class _Reader:
    def __init__(self, text: str, defines: Defines) -> None:
        self.text = text
        self.defines = defines
        self.stack: list[str] = []
        self.blocks = 0
        self.parts: list[_Part] = []
        self.chains: dict[int, _Chain] = {}
        self.result = Found([], [], [], [])

    def found(self) -> Found:
        text, offset = self.text, 0
        is_struct = False
        while match := _TOKEN.search(text, offset):
            kind, offset = match.lastgroup, match.end()
            if kind == "condition":
                offset = self._condition(match)
            elif kind == "start" and not self.blocks and self.stack:
                # No function and no struct starts inside another: the braces before it do not balance.
                self.stack.clear()
                self._end_parts(0, match.start())
            if kind in ("start", "struct"):
                is_struct = "struct" in match[0]
            elif kind == "sign":
                self._sign(match[0], match.start(), is_struct)
                is_struct &= match[0] not in "{;"
        self._end_parts(0, len(text))
        return self._sorted()

    def _condition(self, match: re.Match[str]) -> int:
        start, end, expression = match.start(), match.end(), ""
        word, depth = match[2], len(self.stack)
        if word != "else":
            end, expression = self._brackets(end)
        if word == "if":
            self.chains[depth] = _Chain()
        own = True if word == "else" else self.defines.is_true(expression) if expression else None
        state = self.chains.setdefault(depth, _Chain()).state(own)
        text = " ".join(self.text[start : min(end, start + 60)].split())
        self.result.marks.append((start, end, text, state is not None))
        self.result.blank.append((start, end))
        part = _Part(end, depth, text, state)
        self.parts.append(part)
        if block := _TO_BLOCK.match(self.text, end):
            part.is_block = True
            self.result.blank.append((block.end() - 1, block.end()))
            self.stack.append("block")
            self.blocks += 1
            return block.end()
        return end

    def _brackets(self, start: int) -> tuple[int, str]:
        """The end of ``(expression)``, and the expression; "" where it does not close."""
        depth = 0
        for found in _BRACKETS.finditer(self.text, start, start + _LONGEST):
            if depth == 0 and (found[0] != "(" or self.text[start : found.start()].strip()):
                break
            depth += {"(": 1, ")": -1}.get(found[0], 0)
            if depth == 0:
                return found.end(), self.text[start : found.end()]
            if found[0] in ";{}":
                break
        return start, ""

    def _sign(self, sign: str, offset: int, is_struct: bool) -> None:
        depth = len(self.stack)
        part = self.parts[-1] if self.parts and self.parts[-1].depth == depth else None
        if sign in "<>":
            if part is not None:
                part.angles = max(0, part.angles + (1 if sign == "<" else -1))
        elif sign == "{":
            self.stack.append("struct" if is_struct else "{")
        elif sign == "(":
            self.stack.append("(")
        elif sign in "})":
            if self.stack:
                opened = self.stack.pop()
                if opened == "block":
                    self.blocks -= 1
                    self.result.blank.append((offset, offset + 1))
            depth = len(self.stack)
            self._end_parts(depth + 1, offset)
            if sign == "}" and self.parts and self.parts[-1].depth == depth:
                self._end_parts(depth, offset + 1)
        elif part is not None:
            is_list = bool(self.stack) and self.stack[-1] in ("struct", "(")
            if sign == ";" or (is_list and not part.angles):
                self._end_parts(depth, offset + 1)

    def _end_parts(self, depth: int, offset: int) -> None:
        """End every part that began at `depth` or deeper."""
        while self.parts and self.parts[-1].depth >= depth:
            part = self.parts.pop()
            if part.state is False:
                self.result.dead.append((part.start, offset, part.text))
            elif part.state is None:
                self.result.undecided.append((part.start, offset, part.text))

    def _sorted(self) -> Found:
        marks, blank, dead, undecided = self.result
        outer: list[tuple[int, int, str]] = []
        for part in sorted(undecided, key=lambda part: (part[0], -part[1])):
            if not outer or part[0] >= outer[-1][1]:
                outer.append(part)
        dead.sort(key=lambda part: (part[0], -part[1]))
        kept: list[tuple[int, int, str]] = []
        for part in dead:
            if not kept or part[0] >= kept[-1][1]:
                kept.append(part)
        return Found(marks, blank, kept, outer)
