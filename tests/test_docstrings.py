"""Every public name explains itself with an example; pytest runs the examples as doctests."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest

import gpustruct
from gpustruct import types

# The plain types are one family: they are made in one line each, and TypeBase explains them.
FAMILY = set(types.PLAIN_TYPES)


def public() -> list[tuple[str, Any]]:
    found = [(name, getattr(gpustruct, name)) for name in gpustruct.__all__ if name not in FAMILY]
    for room in ("wgsl", "gpu"):
        module = importlib.import_module(f"gpustruct.{room}")
        found += [(f"{room}.{name}", getattr(module, name)) for name in getattr(module, "__all__", ())]
    return found


def methods() -> list[tuple[str, Any]]:
    """The public methods and properties of Layout and of every public class that is no type."""
    found = []
    for name, thing in public():
        if inspect.isclass(thing) and not isinstance(thing, types.TypeMeta) and not issubclass(thing, Exception):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    found.append((f"{name}.{member}", value))
    return found


@pytest.mark.parametrize(("name", "thing"), public(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_public_name_has_an_example(name: str, thing: Any) -> None:
    text = inspect.getdoc(thing) or ""
    assert text, f"{name} has no docstring"
    first = text.split("\n\n")[0]
    assert first.rstrip().endswith((".", ":", "``")), f"{name} does not begin with a sentence: {first!r}"
    assert ">>> " in text, f"{name} has no example"


@pytest.mark.parametrize(("name", "thing"), methods(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_public_method_has_a_docstring(name: str, thing: Any) -> None:
    assert inspect.getdoc(thing), f"{name} has no docstring"


def test_the_family_explains_itself() -> None:
    assert ">>> " in (inspect.getdoc(types.TypeBase) or "")
