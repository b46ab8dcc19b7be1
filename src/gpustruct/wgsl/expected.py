"""The text of syntax errors: the tokens that are possible at a place, and today's form of old spellings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .source import Source, short
from .tokens import TOKEN_WORDS, Span, Token

_GROUPS = {
    "a declaration": {"CONST", "STRUCT", "ALIAS", "CONST_ASSERT", "ENABLE", "REQUIRES", "DIAGNOSTIC", "FN", "VAR", "OVERRIDE", "_AT"},
    "an expression": {"NUMBER", "TRUE", "FALSE", "NAME", "_PAREN", "MINUS", "STAR", "AND", "BANG", "TILDE"},
    "an operator": {"BINARY", "MINUS", "STAR", "AND"},
}  # fmt: skip
# These may follow every name or value, so that naming them would not help.
_ALWAYS = {"_TEMPLATE", "_DOT", "_BRACKET"}
_OLD_BRACKETS = re.compile(r"\[\[\s*(?P<name>\w+)(?P<rest>[^\]]{0,200})\]\]")
# What replaces old attributes. Those not listed only lost their brackets.
_OLD_NAMES = {
    "block": "remove [[block]]: a struct needs no attribute",
    "stride": "remove [[stride(...)]]: an array's stride follows from its element, @size and @align change that",
    "access": "write the access mode in the variable: var<storage, read>",
    "offset": "remove [[offset(...)]]: @align, or @size on the member before, moves a member",
    "override": "write `override` in place of `let`: @id(1) override name: type;",
}
_OLD_WORDS = {
    "type": "write `alias`: `type` is its old spelling",
    "typedef": "write `alias`: `typedef` is not WGSL",
    "let": "write `const`: `let` is allowed in functions only",
    "static": "write `const` or `var<private>`: `static` is not WGSL",
    "pub": "remove `pub`: everything in a module is visible",
    "export": "remove `export`: everything in a module is visible",
    "uniform": "write @group(0) @binding(0) var<uniform> and the type after the name",
    "enum": "write a `const` for each value: WGSL has no enumerations",
}


def words_for(kinds: Iterable[str]) -> str:
    """The names of tokens, as a phrase.

    >>> words_for({"_COMMA", "_BRACE_END", "_TEMPLATE"})
    '`,` or `}`'
    """
    left = set(kinds)
    words: list[str] = []
    for word, group in _GROUPS.items():
        if group <= left:
            words.append(word)
            left -= group
    if words or left - _ALWAYS:
        left -= _ALWAYS
    words += sorted(TOKEN_WORDS[kind] for kind in left if kind in TOKEN_WORDS)
    return " or ".join(words) if len(words) < 5 else ", ".join([*words[:-1], f"or {words[-1]}"])


def way_out(source: Source, span: Span, token: Token) -> str:
    """What to write in place of `token`."""
    text = source.text[span.start : min(span.end, span.start + 20_000)]
    place = token.offset - span.start
    first = re.match(r"\w+", text)
    if first and place == 0 and first[0] in _OLD_WORDS and re.match(r"\w+\s+\w", text):
        return _OLD_WORDS[first[0]]
    if old := _OLD_BRACKETS.match(text, place) or _OLD_BRACKETS.match(text, max(0, place - 1)):
        return _without_brackets(old["name"], old["rest"])
    if token.text in ("struct", "const", "alias") and text.startswith("@"):
        name = re.match(r"@\s*(\w+)", text)
        attribute = " ".join(text[:place].split())
        if token.text == "const" and name and name[1] == "id":
            return f"write {short(attribute, 60)} override: only an override has an @id"
        if token.text == "struct" and name and name[1] in ("align", "size"):
            return f"put {short(attribute, 60)} on a member: a struct takes no attributes"
        return f"remove {short(attribute, 60)}: {token.text} takes no attributes"
    if token.text == "[" and re.search(r"[:=]\s*$", text[:place]):
        return "write array<type, count> for a type, array(values) for a value"
    if token.text == ";" and text.startswith("struct"):
        return "write `,`: commas separate members"
    return "correct the declaration"


def _without_brackets(name: str, rest: str) -> str:
    if name in _OLD_NAMES:
        return _OLD_NAMES[name]
    if name == "stage":
        stage = re.search(r"\w+", rest)
        return f"write @{stage[0] if stage else 'vertex'}: attributes have no brackets around them"
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", name + rest) if part.strip()]
    return f"write {' '.join('@' + part for part in parts)}: attributes have no brackets around them"
