"""Tokens to a tree of named tuples, by the grammar in grammar.lark.

Every node knows its `offset` in the text. Nothing here knows what a name means.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import lark
from lark.lexer import Lexer, LexerState

from . import expected, tables
from .source import BYTE_ORDER_MARK, Source, short
from .tokens import Span, Token, tokens


class Name(NamedTuple):
    """An identifier with its template list: a type, a value, or the callee of a call."""

    offset: int
    text: str
    arguments: tuple[Any, ...] | None = None


class Literal(NamedTuple):
    offset: int
    text: str


class Call(NamedTuple):
    offset: int
    callee: Name
    arguments: tuple[Any, ...]


class Parenthesized(NamedTuple):
    offset: int
    inner: Any


class Access(NamedTuple):
    """`.name` where `name` is text, `[index]` where it is None."""

    offset: int
    name: str | None
    index: Any


class Postfix(NamedTuple):
    offset: int
    base: Any
    steps: tuple[Access, ...]


class Unary(NamedTuple):
    offset: int
    signs: tuple[str, ...]
    operand: Any


class Chain(NamedTuple):
    """Operands joined by operators of one precedence, folded from the left."""

    offset: int
    operands: tuple[Any, ...]
    signs: tuple[Token, ...]


class Attribute(NamedTuple):
    offset: int
    name: str
    arguments: tuple[Any, ...]
    has_brackets: bool


class Member(NamedTuple):
    """A member of a struct, or a parameter of a function. A function's result is one without a name."""

    offset: int
    name: str
    attributes: tuple[Attribute, ...]
    type: Name


class Declaration(NamedTuple):
    """One declaration or directive at module scope. `kind` is its keyword; attributes it cannot have are empty.

    `body` is the range of a function's body in the text, with the braces.
    """

    kind: str
    offset: int
    name: str = ""
    type: Name | None = None
    value: Any = None
    attributes: tuple[Attribute, ...] = ()
    members: tuple[Member, ...] = ()
    words: tuple[Token, ...] = ()
    result: Member | None = None
    body: tuple[int, int] = (0, 0)


class _UnorderedOperators(Exception):
    """An expression has operators side by side that the specification does not order."""

    def __init__(self, sign: Token) -> None:
        super().__init__(sign)
        self.sign = sign


_BITWISE = ("&", "|", "^")
_LOGICAL = ("&&", "||")
_RELATIONAL = ("<", ">", "<=", ">=", "==", "!=")
_SHIFT = ("<<", ">>")
_ADDITIVE = ("+", "-")


def _ordered(operands: list[Any], signs: list[Token]) -> Any:
    """The tree of a flat list of operands and operators (WGSL §8.18, operator precedence and associativity)."""
    if not signs:
        return operands[0]
    texts = {sign.text for sign in signs}
    for level, same, most in ((_BITWISE, True, 0), (_LOGICAL, True, 0), (_RELATIONAL, False, 1), (_SHIFT, False, 1)):
        if not texts.isdisjoint(level):
            split = [sign for sign in signs if sign.text in level]
            mixed = [sign for sign in split if sign.text != split[0].text] if same else split[most:]
            if level in (_BITWISE, _SHIFT):
                mixed += [sign for sign in signs if sign.text not in level]
            if mixed:
                raise _UnorderedOperators(mixed[0])
            return _folded(operands, signs, level)
    return _folded(operands, signs, _ADDITIVE if not texts.isdisjoint(_ADDITIVE) else tuple(texts))


def _folded(operands: list[Any], signs: list[Token], level: tuple[str, ...]) -> Any:
    parts: list[Any] = []
    between: list[Token] = []
    start = 0
    for index, sign in enumerate(signs):
        if sign.text in level:
            parts.append(_ordered(operands[start : index + 1], signs[start:index]))
            between.append(sign)
            start = index + 1
    parts.append(_ordered(operands[start:], signs[start:]))
    return Chain(parts[0].offset, tuple(parts), tuple(between))


class _Tree:
    """lark calls the method of each rule with the rule's parts, innermost rules first."""

    def expression(self, parts: list[Any]) -> Any:
        return parts[0] if len(parts) == 1 else _ordered(parts[::2], parts[1::2])

    def operand(self, parts: list[Any]) -> Any:
        if len(parts) == 1:
            return parts[0]
        return Unary(parts[0].offset, tuple(sign.text for sign in parts[:-1]), parts[-1])

    def primary(self, parts: list[Any]) -> Any:
        return parts[0] if len(parts) == 1 else Postfix(parts[0].offset, parts[0], tuple(parts[1:]))

    def index(self, parts: list[Any]) -> Access:
        return Access(parts[0].offset, None, parts[0])

    def component(self, parts: list[Any]) -> Access:
        return Access(parts[0].offset, parts[0].text, None)

    def literal(self, parts: list[Any]) -> Literal:
        return Literal(parts[0].offset, parts[0].text)

    def group(self, parts: list[Any]) -> Parenthesized:
        return Parenthesized(parts[0].offset, parts[0])

    def call(self, parts: list[Any]) -> Call:
        return Call(parts[0].offset, parts[0], tuple(parts[1:]))

    def type(self, parts: list[Any]) -> Name:
        name = parts[0]
        return Name(name.offset, name.text, tuple(parts[1:]) or None)

    def attribute(self, parts: list[Any]) -> Attribute:
        return Attribute(parts[0].offset, parts[0].text, parts[1] if len(parts) > 1 else (), len(parts) > 1)

    def brackets(self, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    def member(self, parts: list[Any]) -> Member:
        *attributes, name, type_ = parts
        return Member(name.offset, name.text, tuple(attributes), type_)

    def result(self, parts: list[Any]) -> Member:
        *attributes, type_ = parts
        return Member(type_.offset, "", tuple(attributes), type_)

    def typed(self, parts: list[Any]) -> dict[str, Any]:
        return {"type": parts[0]}

    def initial(self, parts: list[Any]) -> dict[str, Any]:
        return {"value": parts[0]}

    def space(self, parts: list[Any]) -> dict[str, Any]:
        return {"words": tuple(parts)}

    def directive(self, parts: list[Any]) -> Declaration:
        return Declaration(parts[0].text, parts[0].offset, words=tuple(parts[1:]))

    def assertion(self, parts: list[Any]) -> Declaration:
        return Declaration("const_assert", parts[0].offset, value=parts[1])

    def alias(self, parts: list[Any]) -> Declaration:
        return Declaration("alias", parts[1].offset, parts[1].text, parts[2])

    def struct(self, parts: list[Any]) -> Declaration:
        return Declaration("struct", parts[1].offset, parts[1].text, members=tuple(parts[2:]))

    def function(self, parts: list[Any]) -> Declaration:
        keyword = next(index for index, part in enumerate(parts) if isinstance(part, Token) and part.type == "FN")
        name, *members = parts[keyword + 1 : -1]
        result = members.pop() if members and not members[-1].name else None
        return Declaration(
            "fn", name.offset, name.text, attributes=tuple(parts[:keyword]), members=tuple(members), result=result
        )

    def declared(self, parts: list[Any]) -> Declaration:
        attributes = tuple(part for part in parts if isinstance(part, Attribute))
        keyword, *rest = parts[len(attributes) :]
        facts: dict[str, Any] = {}
        for part in rest:
            facts.update(part if isinstance(part, dict) else {"offset": part.offset, "name": part.text})
        return Declaration(keyword.text, attributes=attributes, **facts)


class _TokenLexer(Lexer):
    """Passes the tokens of tokens.py to lark."""

    __future_interface__ = 2

    def __init__(self, configuration: Any) -> None:
        pass

    def lex(self, lexer_state: LexerState, parser_state: Any) -> Iterator[Any]:
        return iter(lexer_state.text)  # type: ignore[arg-type]


@cache
def _grammar() -> lark.Lark:
    return tables.parser(_TokenLexer, _Tree())


def tree(source: Source, span: Span) -> Declaration:
    """Parse the declaration in `span`. Raises WgslError if it breaks the grammar."""
    found = tokens(source, span)
    try:
        declaration: Declaration = _grammar().parse(found)  # type: ignore[arg-type, assignment]
        return declaration._replace(body=(span.brace, span.end)) if declaration.kind == "fn" else declaration
    except lark.UnexpectedToken as error:
        token: Any = error.token
        wanted = expected.words_for(error.accepts or error.expected)
        if token.type == "$END":
            raise source.error("syntax-end", max(span.start, span.end - 1), expected=wanted) from None
        # The second is its three bytes, decoded as Latin-1.
        if BYTE_ORDER_MARK in token.text or "\xef\xbb\xbf" in token.text:
            raise source.error("byte-order-mark", token.offset) from None
        if token.text == "import" and token.offset == span.start:  # Of WESL.
            mark = source.shown[span.start : span.end].split("\n")[0]
            raise source.error("preprocessor", span.start, mark=f"`{short(mark, 60)}`") from None
        way_out = expected.way_out(source, span, token)
        raise source.error("syntax", token.offset, expected=wanted, found=token.text or "{", way_out=way_out) from None
    except _UnorderedOperators as error:
        raise source.error("operators-mixed", error.sign.offset, sign=error.sign.text) from None
