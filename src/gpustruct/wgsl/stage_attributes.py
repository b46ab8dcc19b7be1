"""The attributes of stage inputs and outputs that `parse` found on a struct's members, kept for `declare`."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

_texts: weakref.WeakKeyDictionary[Any, Mapping[str, str]] = weakref.WeakKeyDictionary()


def keep(cls: Any, texts: Mapping[str, str]) -> None:
    """Keep the attributes of each member of `cls`, as WGSL writes them."""
    if texts:
        _texts[cls] = texts


def of(cls: Any) -> Mapping[str, str]:
    """The attributes of the members of `cls`; empty for a class that no shader declared."""
    return _texts.get(cls, {})
