"""Text to tokens: the declarations of a text, each as a list of tokens without comments and function bodies.

WGSL §3.2 (blankspace), §3.3 (comments), §3.5 (literals), §3.9 (template lists).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .source import BLANK, BYTE_ORDER_MARK, LINE_BREAK, MOST_TOKENS, Source

MAX_NESTING = 127
# Replaces a template's `{{ value }}` (see templates.py). It is not WGSL, so a declaration that contains it is refused.
PLACEHOLDER = "\x01"

LINE_COMMENT = f"//[^{LINE_BREAK}]*"
DIGITS = r"0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*(?:[pP][+-]?[0-9]+)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
# What no name holds: re compiles these few much faster than the rest of Unicode.
_NOT_IN_NAMES = rf"\x00-/:-@\[-^`{{-\x7f\u200e\u200f{LINE_BREAK}{BYTE_ORDER_MARK}"
NAME = f"[^0-9{_NOT_IN_NAMES}][^{_NOT_IN_NAMES}]*"
_TOKEN = re.compile(
    rf"(?P<blank>[{BLANK}]+|{LINE_COMMENT})|(?P<comment>/\*)|(?P<name>{NAME})"
    rf"|(?P<number>(?:{DIGITS})(?:l[iuf]|[iufh])?)"
    r"|(?P<sign>->|<<=|<<|<=|&&|\|\||==|!=|\+\+|--|[-+*/%&|^~!<>=(){}\[\],;:.@])"
)
_COMMENT_MARK = re.compile(r"/\*|\*/")
_BETWEEN = re.compile(f"(?P<blank>[{BLANK}]+|{LINE_COMMENT})|(?P<semicolon>;)|/\\*")
_PLACEHOLDER = re.compile(rf"[\w{PLACEHOLDER}]+")
_STOP = re.compile(rf"[{{}};]|{LINE_COMMENT}|/\*")

KEYWORDS = {
    word: word.upper()
    for word in "enable requires diagnostic const override const_assert alias struct var fn true false".split()
}
# lark leaves tokens whose names start with an underscore out of the tree.
SIGNS = {
    "@": "_AT",
    "(": "_PAREN",
    ")": "_PAREN_END",
    "[": "_BRACKET",
    "]": "_BRACKET_END",
    "{": "_BRACE",
    "}": "_BRACE_END",
    ",": "_COMMA",
    ";": "_SEMICOLON",
    ":": "_COLON",
    "=": "_EQUAL",
    ".": "_DOT",
    "->": "_ARROW",
    "-": "MINUS",
    "*": "STAR",
    "&": "AND",
    "!": "BANG",
    "~": "TILDE",
    **dict.fromkeys("< > <= == != << + / % | ^ && ||".split(), "BINARY"),
}
TOKEN_WORDS = {kind: f"`{text}`" for text, kind in {**KEYWORDS, **SIGNS}.items() if kind != "BINARY"} | {
    "NAME": "a name",
    "NUMBER": "a number",
    "BINARY": "an operator",
    "BODY": "a function body",
    "_TEMPLATE": "`<`",
    "_TEMPLATE_END": "`>`",
}


class Span(NamedTuple):
    """The text of one declaration: from `start` to `end`, with its first brace at `brace` (-1 if it has none)."""

    start: int
    end: int
    brace: int


def comment_end(text: str, start: int) -> int:
    """Where the block comment that begins at `start` ends, or -1 if it does not end. Comments nest (§3.3)."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return -1


def end_of_comment(source: Source, start: int) -> int:
    """Where the block comment that begins at `start` ends. Raises WgslError if it does not."""
    end = comment_end(source.text, start)
    if end < 0:
        raise source.error("comment-open", start)
    return end


def next_start(source: Source, offset: int) -> tuple[int, bool]:
    """Where the next declaration starts, after blanks and comments, and whether lone semicolons come before it."""
    has_semicolon = False
    while found := _BETWEEN.match(source.text, offset):
        has_semicolon |= found.lastgroup == "semicolon"
        offset = found.end() if found.lastgroup else end_of_comment(source, offset)
    return offset, has_semicolon


def declaration_span(source: Source, start: int) -> Span:
    """The declaration that begins at `start`: up to its semicolon or its closing brace."""
    text, offset, depth, brace = source.text, start, 0, -1
    while found := _STOP.search(text, offset):
        offset = found.end()
        sign = found[0]
        if sign == "/*":
            offset = end_of_comment(source, found.start())
        elif sign == ";" and depth == 0:
            return Span(start, offset, brace)
        elif sign == "{":
            brace = found.start() if brace < 0 else brace
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth <= 0:
                return Span(start, offset, brace)
    if depth:
        raise source.error("brace-open", brace)
    return Span(start, len(text), brace)


class Token(NamedTuple):
    """One token: the terminal's name in the grammar, its text, and its offset."""

    type: str
    text: str
    offset: int
    # lark reads these attributes of the last token to make the token for the end of the text.
    line = column = end_line = end_column = end_pos = None

    @property
    def start_pos(self) -> int:
        return self.offset


def tokens(source: Source, span: Span) -> list[Token]:
    """The tokens of one declaration. A function's body is the one token BODY."""
    found = list(_raw_tokens(source, span))
    _mark_templates(found)
    return list(_joined(source, found))


def _raw_tokens(source: Source, span: Span) -> Iterator[list[str | int]]:
    text, offset, end = source.text, span.start, span.end
    match, function = _TOKEN.match, False
    # `in_size` is 1 after @workgroup_size, and 1 more for each open parenthesis after that.
    in_size, before = 0, ""
    while offset < end:
        found = match(text, offset, end)
        if found is None:
            if text[offset] == PLACEHOLDER and source.shown[offset] != PLACEHOLDER:
                if in_size < 2:
                    raise source.error("placeholder", offset)
                # A workgroup size from a template is unknown, like one that depends on an override.
                placeholder = _PLACEHOLDER.match(text, offset)
                assert placeholder is not None
                yield ["NAME", PLACEHOLDER, offset]
                offset = placeholder.end()
                continue
            rule = "byte-order-mark" if text[offset] == BYTE_ORDER_MARK else "character"
            raise source.error(rule, offset, character=repr(text[offset]))
        group, start, offset = found.lastgroup, offset, found.end()
        if group == "comment":
            offset = end_of_comment(source, start)
        elif group != "blank":
            word = found[0]
            kind = "NUMBER"
            if group == "name":
                kind = KEYWORDS.get(word, "NAME")
            elif group == "sign":
                kind = SIGNS.get(word, "OTHER")
            if function and start == span.brace:
                yield ["BODY", "", start]
                return
            source.tokens += 1
            if source.tokens > MOST_TOKENS:
                raise source.error("tokens", span.start, most=MOST_TOKENS)
            function |= kind == "FN"
            if word == "workgroup_size" and before == "_AT":
                in_size = 1
            elif in_size:
                in_size += {"(": 1, ")": -1}.get(word, 0)
                in_size *= in_size > 1
            before = kind
            if word == "--":
                # Decrement is only legal in function bodies, so that the longest legal token is a minus (§3.2).
                source.double_minus.append(start)
                yield ["MINUS", "-", start]
                kind, word, start = "MINUS", "-", start + 1
            yield [kind, word, start]


def _mark_templates(found: list[list[str | int]]) -> None:
    # The algorithm of the specification (§3.9). `<<` and `<=` are one token each here; `>` is always one by itself.
    pending: list[tuple[int, int]] = []
    depth, before = 0, ""
    for index, token in enumerate(found):
        kind, text = token[0], token[1]
        if text == "<":
            if before in ("NAME", "VAR"):
                pending.append((index, depth))
        elif text == ">":
            if pending and pending[-1][1] == depth:
                found[pending.pop()[0]][0], token[0] = "_TEMPLATE", "_TEMPLATE_END"
        elif text in ("(", "["):
            depth += 1
        elif text in (")", "]"):
            while pending and pending[-1][1] >= depth:
                pending.pop()
            depth = max(0, depth - 1)
        elif text in ("&&", "||"):
            while pending and pending[-1][1] >= depth:
                pending.pop()
        elif text in (";", "{", ":") or (text == "=" and not _closes_comparison(found, index)):
            depth = 0
            pending.clear()
        before = kind


def _closes_comparison(found: list[list[str | int]], index: int) -> bool:
    before = found[index - 1] if index else None
    return before is not None and before[0] == "BINARY" and before[1] == ">" and before[2] == found[index][2] - 1  # type: ignore[operator]


def _joined(source: Source, found: list[list[str | int]]) -> Iterator[Token]:
    nesting, index = 0, 0
    while index < len(found):
        kind, text, offset = found[index]
        index += 1
        if kind == "BINARY" and text == ">" and index < len(found):
            following = found[index]
            if following[2] == offset + 1 and following[0] in ("BINARY", "_EQUAL") and following[1] in (">", "="):  # type: ignore[operator]
                text, index = f">{following[1]}", index + 1
        elif kind in ("_PAREN", "_BRACKET", "_TEMPLATE"):
            nesting += 1
            if nesting > MAX_NESTING:
                raise source.error("nesting", offset, depth=nesting, most=MAX_NESTING)  # type: ignore[arg-type]
        elif kind in ("_PAREN_END", "_BRACKET_END", "_TEMPLATE_END"):
            nesting -= 1
        yield Token(kind, text, offset)  # type: ignore[arg-type]
