"""Read, write and compare WGSL text: parse, declare, check, stubs. The first parse imports lark."""

from ..errors import BackendWarning
from .class_text import stubs
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
    "stubs",
]


def __dir__() -> list[str]:
    return sorted(__all__)
