"""WESL's ``@if``, ``@elif`` and ``@else``: the part of the text that each condition applies to.

A condition is written among the attributes of a declaration, a member, a parameter or a statement, and applies to
that. Before a block in braces, it applies to everything in the block.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from .conditions import Branches, Defines

_LINE_START = r"(?:^|(?<=[\v\f\r\x85\u2028\u2029]))"
_CONDITION = re.compile(r"@[ \t]*(if|elif|else)\b")
_TOKEN = re.compile(
    rf"(?m)(?P<condition>{_CONDITION.pattern})|(?P<start>{_LINE_START}[ \t]*(?:fn|struct|alias|override)\b)"
    r"|(?P<struct>\bstruct\b)|(?P<sign>[{}();,<>])"
)
_BRACKETS = re.compile(r"[()]|[;{}]")
# From the end of a condition to the block that it applies to.
_TO_BLOCK = re.compile(r"\s*\{")
_LONGEST = 2000


class Conditions(NamedTuple):
    """The conditions of one text.

    `marks` are (start, end, text, whether decided); `blank` are the ranges to replace with blanks; `dead` and
    `undecided` are the parts (start, end, condition) that are not taken, or perhaps not.
    """

    marks: list[tuple[int, int, str, bool]]
    blank: list[tuple[int, int]]
    dead: list[tuple[int, int, str]]
    undecided: list[tuple[int, int, str]]

    def condition_at(self, offset: int) -> str:
        """The undecided condition that applies at `offset`; "" if there is none."""
        # `undecided` has only the outermost parts, in order. They do not overlap.
        index = bisect_right(self.undecided, offset, key=lambda part: part[0]) - 1
        if index >= 0 and offset < self.undecided[index][1]:
            return self.undecided[index][2]
        return ""


@dataclass(slots=True)
class _Conditional:
    """The part that one condition applies to, as far as it has been read."""

    start: int
    depth: int
    text: str
    state: bool | None
    angles: int = 0


def first_in(text: str, comments: list[tuple[int, int]]) -> re.Match[str] | None:
    """The first condition outside of `comments`."""
    for found in _CONDITION.finditer(text):
        index = bisect_right(comments, (found.start(), len(text))) - 1
        if index < 0 or found.start() >= comments[index][1]:
            return found
    return None


def found_in(text: str, defines: Defines) -> Conditions:
    """Every condition in `text`, which has blanks in place of comments."""
    if not _CONDITION.search(text):
        return Conditions([], [], [], [])
    return _Reader(text, defines).found()


class _Reader:
    def __init__(self, text: str, defines: Defines) -> None:
        self.text = text
        self.defines = defines
        self.stack: list[str] = []
        self.blocks = 0
        self.parts: list[_Conditional] = []
        # For each depth the @if, @elif and @else there that belong together.
        self.branches: dict[int, Branches] = {}
        self.result = Conditions([], [], [], [])

    def found(self) -> Conditions:
        text, offset = self.text, 0
        is_struct = False
        while match := _TOKEN.search(text, offset):
            kind, offset = match.lastgroup, match.end()
            if kind == "condition":
                offset = self._condition(match)
            elif kind == "start" and not self.blocks and self.stack:
                # A function or struct cannot start inside another, so the braces before it do not match.
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
            self.branches[depth] = Branches()
        own = True if word == "else" else self.defines.is_true(expression) if expression else None
        state = self.branches.setdefault(depth, Branches()).is_taken(own)
        text = " ".join(self.text[start : min(end, start + 60)].split())
        self.result.marks.append((start, end, text, state is not None))
        self.result.blank.append((start, end))
        self.parts.append(_Conditional(end, depth, text, state))
        if block := _TO_BLOCK.match(self.text, end):
            self.result.blank.append((block.end() - 1, block.end()))
            self.stack.append("block")
            self.blocks += 1
            return block.end()
        return end

    def _brackets(self, start: int) -> tuple[int, str]:
        """The end of ``(expression)``, and the expression; "" if its parentheses do not match."""
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
        """End every part that starts at `depth` or deeper."""
        while self.parts and self.parts[-1].depth >= depth:
            part = self.parts.pop()
            if part.state is False:
                self.result.dead.append((part.start, offset, part.text))
            elif part.state is None:
                self.result.undecided.append((part.start, offset, part.text))

    def _sorted(self) -> Conditions:
        marks, blank, dead, undecided = self.result
        return Conditions(marks, blank, _outermost(dead), _outermost(undecided))


def _outermost(parts: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The parts that are not inside another, in order."""
    kept: list[tuple[int, int, str]] = []
    for part in sorted(parts, key=lambda part: (part[0], -part[1])):
        if not kept or part[0] >= kept[-1][1]:
            kept.append(part)
    return kept
