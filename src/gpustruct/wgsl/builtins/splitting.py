"""``modf`` and ``frexp``, whose results are structs that WGSL text cannot name. WGSL §17.5.27, §17.5.40."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from .. import kinds
from ..kinds import ABSTRACT_FLOAT, ABSTRACT_INT, Type
from ..values import Value
from .call import FLOATS, Builtin, Call


@cache
def _result(function: str, second: str, rows: int, scalar: str) -> Type:
    other = scalar if second == "whole" else ABSTRACT_INT if scalar == ABSTRACT_FLOAT else "i32"
    shape = f"vec{rows}_" if rows > 1 else ""
    name = f"__{function}_result_{shape}{'abstract' if scalar == ABSTRACT_FLOAT else scalar}"
    members = (("fract", kinds.vector(rows, scalar)), (second, kinds.vector(rows, other)))
    return Type(name, "struct", None, f"{name} has no memory layout", members=members, depth=1)


def _split(function: Callable[[float], tuple[Any, Any]], second: str) -> Callable[[Call], Value]:
    def run(call: Call) -> Value:
        rows, scalar, (numbers,) = call.columns(FLOATS)
        first, other = zip(*map(function, numbers), strict=True)
        kind = _result(call.name, second, rows, scalar)
        return Value(kind, (first, other) if rows > 1 else (first[0], other[0]))

    return run


FUNCTIONS: dict[str, Builtin] = {
    "modf": (1, _split(math.modf, "whole")),
    "frexp": (1, _split(math.frexp, "exp")),
}
