"""The cases of test_advice.py: what is wrong, and what the message says to type instead."""

from __future__ import annotations

import types as python_types
from typing import Annotated, Any, Literal

import numpy as np

import gpustruct
from gpustruct import types

from .case import Case
from .layout import LAYOUT, LAYOUT_NOTHING

CASES: list[Case] = [*LAYOUT]
# Rules whose message has nothing to type at its end, and why.
NOTHING_TO_TYPE: dict[str, str] = {**LAYOUT_NOTHING}


def scope() -> dict[str, Any]:
    """The names that the code of a case may use. It runs in a module of its own, as a user's does."""
    names = {name: getattr(gpustruct, name) for name in gpustruct.__all__}
    module = python_types.ModuleType("advice")
    vars(module).update(names)
    vars(module).update(Annotated=Annotated, Literal=Literal, np=np, gpustruct=gpustruct)
    vars(module).update(make_struct=types.make_struct, wgsl=gpustruct.wgsl)
    return vars(module)
