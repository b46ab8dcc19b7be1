"""Attributes of stage inputs and outputs: `parse` stores those of struct members here, and `declare` writes them."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

_texts: weakref.WeakKeyDictionary[Any, Mapping[str, str]] = weakref.WeakKeyDictionary()


def keep(cls: Any, texts: Mapping[str, str]) -> None:
    """Store the attributes of each member of `cls`, as WGSL text."""
    if texts:
        _texts[cls] = texts


def of(cls: Any) -> Mapping[str, str]:
    """The attributes of the members of `cls`; empty for a class that `parse` did not make."""
    return _texts.get(cls, {})
