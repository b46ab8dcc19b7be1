"""WGSL text in, WGSL text out: parse, declare, check. lark is loaded by the first parse."""

from ..errors import BackendWarning
from .comparing import check
from .module import Diagnostic, EntryPoint, Module, Override, Skipped, StageValue, Variable
from .parsing import parse
from .writing import declare

__all__ = [
    "BackendWarning",
    "Diagnostic",
    "EntryPoint",
    "Module",
    "Override",
    "Skipped",
    "StageValue",
    "Variable",
    "check",
    "declare",
    "parse",
]


def __dir__() -> list[str]:
    return sorted(__all__)
