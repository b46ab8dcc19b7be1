"""Conditions of preprocessors and template engines, evaluated with the names of ``parse(..., defines=...)``.

One expression language covers the C preprocessor, naga_oil, WESL and Jinja: names, numbers, quoted text,
comparisons, ``! && ||`` or ``not and or``, parentheses, ``defined(X)`` and ``X is defined``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import WgslError
from .source import LINE_BREAK, short

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"[^\"\\\n]*\"|'[^'\\\n]*')|(?P<number>0[xX][0-9a-fA-F]+|\d+\.?\d*)[iuf]?\b"
    r"|(?P<name>[^\W\d]\w*)|(?P<sign>&&|\|\||==|!=|<=|>=|[<>!()\-]))"
)
# `!` binds closer than `==`, as `~` does in Python and `not` does not.
_SIGNS = {"&&": "and", "||": "or", "!": "~"}
_WORDS = {"true": "True", "false": "False"}
_LONGEST = 1000
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class _Undecided(Exception):
    """This module cannot evaluate the expression."""


class Branches:
    """The branches of one condition, in order. Only one of them is taken."""

    def __init__(self) -> None:
        self.is_settled = self.is_undecided = False

    def is_taken(self, condition: bool | None) -> bool | None:
        """Whether the next branch is taken, where `condition` is its own; None if that cannot be decided."""
        if self.is_settled or condition is False:
            return False
        if condition is None or self.is_undecided:
            self.is_undecided = True
            return None
        self.is_settled = True
        return True


class Defines:
    """The defined names and their values. Without a mapping, every condition stays undecided.

    A name that is not in the mapping is false, and 0 in a comparison. A name with the value False or None counts as
    not defined.
    """

    def __init__(self, given: Mapping[str, Any] | None) -> None:
        for name, value in (given or {}).items():
            if not isinstance(name, str) or not _is_value(value):
                raise WgslError.of("defines-value", name=name, value=short(repr(value), 60))
        self._decides = given is not None
        self._given = dict(given or {})
        self._values = {
            name: value for name, value in (given or {}).items() if value is not None and value is not False
        }

    def define(self, name: str, text: str) -> None:
        """Do what ``#define name text`` does."""
        if self._decides:
            self._values[name] = _value_of(text)

    def undefine(self, name: str) -> None:
        self._values.pop(name, None)

    def is_defined(self, name: str) -> bool | None:
        """Whether `name` is defined; None without a mapping."""
        return name in self._values if self._decides else None

    def is_true(self, expression: str) -> bool | None:
        """Whether `expression` is true; None if that cannot be decided."""
        if not self._decides:
            return None
        try:
            return bool(self._evaluated(ast.parse(_as_python(expression), mode="eval").body))
        except (_Undecided, SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            return None

    def text_of(self, name: str) -> str | None:
        """The value of `name` as WGSL text; None if it has none."""
        value = self._given.get(name)
        if value is None:
            return None
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _evaluated(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._values.get(name, False)
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
                return not self._evaluated(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._evaluated(operand)
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self._evaluated(value) for value in values)
            case ast.BoolOp(values=values):
                return any(self._evaluated(value) for value in values)
            case ast.Call(func=ast.Name(id="defined"), args=[ast.Name(id=name)]):
                return name in self._values
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compared(left, ops, others)
            case _:
                raise _Undecided

    def _compared(self, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]) -> bool:
        nodes = [left, *others]
        values = [self._evaluated(node) for node in nodes]
        # In MODE == FAST, if MODE is a text and FAST has no value, FAST means the text "FAST".
        if any(isinstance(value, str) for value in values):
            values = [
                node.id if isinstance(node, ast.Name) and node.id not in self._values else value
                for node, value in zip(nodes, values, strict=True)
            ]
        if any(type(op) not in _COMPARISONS for op in ops):
            raise _Undecided
        return all(_COMPARISONS[type(op)](a, b) for op, a, b in zip(ops, values, values[1:], strict=False))


def _is_value(value: Any) -> bool:
    if isinstance(value, str):
        return not set(value) & set(LINE_BREAK)
    return value is None or isinstance(value, int | float)


def _value_of(text: str) -> Any:
    text = text.strip()
    if not text:
        return True
    if text in ("true", "false"):
        return text == "true"
    found = re.fullmatch(r"(-?\d{1,20})[iu]?", text)
    return int(found[1]) if found else text


def _as_python(expression: str) -> str:
    """`expression` in Python's syntax. Raises _Undecided for tokens that are not in `_TOKEN`."""
    expression = expression.strip()
    if len(expression) > _LONGEST:
        raise _Undecided
    expression = re.sub(r"\b([^\W\d]\w*)\s+is\s+defined\b", r"defined(\1)", expression)
    expression = re.sub(r"\bdefined\s+([^\W\d]\w*)", r"defined(\1)", expression)
    parts: list[str] = []
    offset = 0
    while offset < len(expression):
        found = _TOKEN.match(expression, offset)
        if found is None:
            raise _Undecided
        offset = found.end()
        text = found[found.lastgroup or 0]
        parts.append(_SIGNS.get(text) or _WORDS.get(text) or text)
    return " ".join(parts)
