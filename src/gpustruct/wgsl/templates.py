"""Syntax of preprocessors and template engines in the text: it is found, and replaced with blanks.

naga_oil's and the C preprocessor's ``#import``, ``#ifdef``; Jinja's ``{{ }}``, ``{% %}``, ``{# #}`` and pygfx's
``{$ $}`` and ``$$`` lines; JavaScript's ``${ }``; WESL's ``@if`` (see wesl.py). None of this is WGSL.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from . import wesl
from .conditions import Branches, Defines
from .source import LINE_BREAK, Source
from .tokens import PLACEHOLDER, comment_end

MOST_MARKS = 10_000
_MARK = re.compile(
    rf"(?P<line_comment>//[^{LINE_BREAK}]*)|(?P<comment>/\*)|(?P<block>\{{\$|\{{%|\{{\#)"
    rf"|(?P<value>\{{\{{[^{{}};{LINE_BREAK}]{{1,500}}\}}\}}|[$\#]\{{[^{{}}{LINE_BREAK}]{{0,500}}\}})"
    rf"|(?P<line>(?m:^)[ \t]*(?:\#(?!\{{)|\$\$)[^{LINE_BREAK}]*)|(?P<sign>[\#$])"
)
_CLOSING = {"{$": "$}", "{%": "%}", "{#": "#}"}
_COMMAND = re.compile(r"\w+")
_OTHERWISE = re.compile(r"(elif|elseif|elsif|elifdef|elifndef|else)\b")
_OPENING = ("if", "ifdef", "ifndef", "for", "macro", "call", "block", "raw", "filter")
_ENDING = ("end", *(f"end{word}" for word in _OPENING))
_COMMENT = re.compile(r"//.*|/\*.*?\*/")
_NAMED = re.compile(r"\{\{[ \t]*(\w+)[ \t]*\}\}|[$\#]\{[ \t]*(\w+)[ \t]*\}")
_GUARD = re.compile(r"(?:ifndef[ \t]+|if[ \t]*![ \t]*defined[ \t]*\(?[ \t]*)(\w+)[ \t)]*\Z")
_GUARDED = re.compile(r"\s*\#[ \t]*define[ \t]+(\w+)")
# Template syntax that also means something in WGSL, so that it is only searched for in @workgroup_size.
_SIZES = re.compile(r"(?<=@workgroup_size\()[^;\n]{1,300}?(?=\)[ \t]*(?:[\n@]|fn\b))")
_OTHER_MARK = re.compile(r"<%.*?%>|%\w+%|@\w+@|\{\w+\}")
_VISIBLE = re.compile(f"[^{LINE_BREAK}]")
_LIST = re.compile(r"[{}]|[^\w\s:,.\-*/\"]")


class Mark(NamedTuple):
    """One use of template syntax: where it is, its text, and what is known about it.

    `is_value` is True if it is replaced with a value; `is_decided` if it is a condition that `defines` decides.
    """

    start: int
    end: int
    text: str
    is_value: bool = False
    is_decided: bool = False


class Dropped(NamedTuple):
    """A part of the text that is not parsed, and why."""

    start: int
    end: int
    reason: str


class _Condition:
    """An open ``#if``, loop or macro. `state` says whether the present branch is taken; None if that is undecided."""

    def __init__(self, text: str, own: bool | None, *, is_read: bool) -> None:
        self.text = text
        self._is_read = is_read
        self._branches = Branches()
        self.next_branch(own)

    def next_branch(self, own: bool | None) -> None:
        """Start the next branch; `own` is the value of its condition."""
        self.state = self._branches.is_taken(own) if self._is_read else False


class Templates:
    """The template syntax of one text. `text` is the source's, of the same length, with blanks in its place."""

    def __init__(self, source: Source, defines: Defines) -> None:
        self.source = source
        self.marks: list[Mark] = []
        self.dropped: list[Dropped] = []
        self._defines = defines
        self._spans: list[tuple[int, int, str]] = []
        # The undecided condition that applies from each offset on; "" for none.
        self._offsets: list[int] = [0]
        self._under: list[str] = [""]
        self.text = source.text
        self._scan()
        self.text = _SIZES.sub(_unknown, self._blanked())
        found = wesl.found_in(self.text, self._defines)
        if found.marks:
            self._merge(found)
        self._starts = [mark.start for mark in self.marks]
        self._wesl = found

    def reason(self, start: int, end: int) -> str:
        """Why the declaration between `start` and `end` is not complete by itself; "" if it is."""
        under = self._under[bisect_right(self._offsets, start) - 1] or self._wesl.condition_at(start)
        if under:
            return f"it is under a condition: {under}"
        for mark in self.marks[bisect_left(self._starts, start) : bisect_left(self._starts, end)]:
            if not mark.is_value and not mark.is_decided:
                return f"it contains a condition or an inclusion: {mark.text}"
        return ""

    def _scan(self) -> None:
        conditions: list[_Condition] = []
        dead_from, dead_under = -1, ""
        for kind, start, end in _found(self.source):
            text = self.source.text[start:end]
            if kind == "comment":
                self._spans.append((start, end, " "))
                continue
            if kind == "open comment":
                self._spans.append((start, end, " "))
                self.marks.append(Mark(start, start, _shown(text.split("\n", 1)[0])))
                self.dropped.append(Dropped(start + 2, end, "it is in a comment that does not end"))
                continue
            command, rest = "", ""
            if kind in ("line", "block") and not text.startswith("{#"):
                body = text[:2000].strip("#${}%-+ \t\r\n")
                word = _COMMAND.match(body)
                command = word[0] if word else ""
                rest = _COMMENT.sub("", body[len(command) :]).strip()
            was_dead = dead_from >= 0
            is_decided = self._apply(command, rest, _shown(text), conditions, self.source.text[end : end + 300])
            is_dead = bool(conditions) and conditions[-1].state is False
            if is_dead and not was_dead:
                dead_from, dead_under = end, conditions[-1].text
            elif was_dead and not is_dead:
                self._drop(dead_from, start, dead_under)
                dead_from = -1
            if not (was_dead and is_dead):
                fill = PLACEHOLDER if kind in ("value", "sign") else " "
                self._spans.append((start, end, fill))
                self.marks.append(Mark(start, end, _shown(text), kind in ("value", "sign"), is_decided))
                self._offsets.append(end)
                self._under.append(next((c.text for c in reversed(conditions) if c.state is None), ""))
        if dead_from >= 0:
            self._drop(dead_from, len(self.source.text), dead_under)

    def _apply(self, command: str, rest: str, shown: str, conditions: list[_Condition], following: str) -> bool:
        """Apply one directive to the open conditions and the defined names. Returns whether it is decided."""
        defines = self._defines
        is_read = not conditions or conditions[-1].state is not False
        if command in _OPENING:
            state = self._state(command, rest)
            guard = _GUARD.match(f"{command} {rest}")
            guarded = _GUARDED.match(following)
            # An include guard is true for the first inclusion.
            if state is None and guard and guarded and guard[1] == guarded[1]:
                state = True
            conditions.append(_Condition(shown, state, is_read=is_read))
            return conditions[-1].state is not None
        if command in _ENDING and conditions:
            return conditions.pop().state is not None
        if conditions and (found := _OTHERWISE.match(command)):
            words = f"{command} {rest}".removeprefix(found[1]).strip()
            if found[1] == "else" and not words:
                conditions[-1].next_branch(True)
            else:
                inner = re.match(r"(ifdef|ifndef|if)\b\s*(.*)", words, re.DOTALL)
                default = {"elifdef": "ifdef", "elifndef": "ifndef"}.get(found[1], "if")
                conditions[-1].next_branch(self._state(inner[1], inner[2]) if inner else self._state(default, words))
            return conditions[-1].state is not None
        if command == "define" and is_read and (named := re.match(r"(\w+)\s*(.*)", rest, re.DOTALL)):
            if not any(condition.state is None for condition in conditions):
                defines.define(named[1], named[2])
        elif command == "undef" and is_read:
            defines.undefine(rest.strip())
        return command in ("define", "undef", "pragma", "region", "endregion")

    def _state(self, command: str, rest: str) -> bool | None:
        if command in ("ifdef", "ifndef"):
            name = re.match(r"\w+", rest)
            state = self._defines.is_defined(name[0]) if name else None
            return state if state is None or command == "ifdef" else not state
        return self._defines.is_true(rest) if command == "if" else None

    def _drop(self, start: int, end: int, under: str) -> None:
        self._spans.append((start, end, " "))
        self.dropped.append(Dropped(start, end, f"it is in a branch that is not taken: {under}"))

    def _blanked(self) -> str:
        parts: list[str] = []
        end = 0
        for start, stop, fill in sorted(self._spans):
            if start >= end:
                parts += (self.text[end:start], _VISIBLE.sub(fill, self.text[start:stop]))
                end = stop
        return "".join((*parts, self.text[end:]))

    def _merge(self, found: wesl.Conditions) -> None:
        self._spans = [(start, end, " ") for start, end, *_ in [*found.blank, *found.dead]]
        self.text = self._blanked()
        self.marks = sorted(
            [*self.marks, *(Mark(start, end, text, False, decided) for start, end, text, decided in found.marks)]
        )
        self.dropped += (
            Dropped(start, end, f"it is in a branch that is not taken: {text}") for start, end, text in found.dead
        )


def _unknown(found: re.Match[str]) -> str:
    """The arguments of a @workgroup_size, with placeholders for the syntax of other template engines."""
    return _OTHER_MARK.sub(lambda mark: PLACEHOLDER * len(mark[0]), found[0])


def filled(text: str, defines: Defines) -> str:
    """`text` with the values of names in place of ``{{ X }}``, ``${X}`` and ``#{X}``; those without value are kept."""

    def value(found: re.Match[str]) -> str:
        written = defines.text_of(found[1] or found[2])
        return found[0] if written is None else written

    return _NAMED.sub(value, text)


def first_mark(source: Source) -> Mark | None:
    """The first use of template syntax in a text, if any. Raises WgslError for a comment that does not end."""
    text = source.text
    if any(sign in text for sign in ("#", "$", "{{", "{%", "@if", "@elif", "@else")):
        for kind, start, end in _found(source):
            if kind == "open comment":
                raise source.error("comment-open", start)
            if kind != "comment":
                return Mark(start, end, _shown(text[start:end]))
        if found := wesl.first_in(text, _comments(source)):
            return Mark(found.start(), found.end(), _shown(text[found.start() :].split("\n")[0]))
    return None


def _comments(source: Source) -> list[tuple[int, int]]:
    return [(start, end) for kind, start, end in _found(source) if kind == "comment"]


def _found(source: Source) -> Iterator[tuple[str, int, int]]:
    """(kind, start, end) of every use of template syntax and of every comment, in order."""
    text, offset, count = source.text, 0, 0
    unclosed: set[str] = set()
    while found := _MARK.search(text, offset):
        start, offset, kind = found.start(), found.end(), found.lastgroup or ""
        opening = found[0][:2]
        if kind == "comment":
            offset = comment_end(text, start)
            if offset < 0:
                yield "open comment", start, len(text)
                return
        elif kind == "line_comment":
            kind = "comment"
        elif kind == "value" and not re.search(r"\w", found[0]):
            offset = start + 2
            continue
        elif kind == "block" and opening not in unclosed:
            end = text.find(_CLOSING[opening], offset)
            offset = end + 2 if end >= 0 else offset
            if end < 0:
                unclosed.add(opening)
        elif kind == "line" and "{" in found[0] and "import" in found[0]:
            offset = _end_of_list(text, start, offset)
        if kind != "comment":
            count += 1
            if count > MOST_MARKS:
                raise source.error("skipped", start, most=MOST_MARKS)
        yield kind, start, offset


def _end_of_list(text: str, start: int, line_end: int) -> int:
    """Where an ``#import a::{...}`` over several lines ends."""
    depth = 0
    for found in _LIST.finditer(text, text.index("{", start)):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if found[0] not in "{}":
            return line_end
        if depth == 0:
            return max(found.end(), line_end)
    return line_end


def _shown(text: str) -> str:
    return " ".join(text[:60].split())
