"""What one case says."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """`wrong` in place of @@ raises `rule`; what the pattern `advice` finds, as `put` has it, must run there.

    Where the advice is an action and nothing to type, `fixed` is the whole code after it.
    """

    rule: str
    code: str
    wrong: str
    advice: str
    put: str = "@@"
    fixed: str = ""


def struct(*lines: str, head: str = "class S(Struct):", tail: str = "") -> str:
    """A class statement, and a line after it."""
    return "\n".join([head, *(f"    {line}" for line in lines), tail])
