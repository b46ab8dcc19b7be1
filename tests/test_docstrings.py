"""Every public name explains itself with an example; pytest runs the examples as doctests."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpustruct
from gpustruct import layout_of, types
from gpustruct.formats import FORMATS

# The plain types and the vertex formats are families: they are made in one line each. TypeBase and docs/vertex.md explain them.
FORMAT_NAMES = {made.__name__: made for made in FORMATS.values()}
FAMILY = {*types.PLAIN_TYPES, *FORMAT_NAMES}
MODULES = ("wgsl", "vertex", "gpu", "views")
API = (Path(__file__).parents[1] / "docs" / "api.md").read_text()


def public() -> list[tuple[str, Any]]:
    found = [(name, getattr(gpustruct, name)) for name in gpustruct.__all__ if name not in FAMILY]
    for part in MODULES:
        module = importlib.import_module(f"gpustruct.{part}")
        names = [name for name in module.__all__ if name not in FAMILY.union(gpustruct.__all__)]
        found += [(f"{part}.{name}", getattr(module, name)) for name in names]
    return found


def methods() -> list[tuple[str, Any]]:
    """The public methods and properties of Layout and of every public class that is no type."""
    found = []
    for name, thing in public():
        if inspect.isclass(thing) and not isinstance(thing, types.TypeMeta) and not issubclass(thing, Exception):
            ours = [base for base in thing.__mro__ if base.__module__.startswith("gpustruct")]
            for member, value in ((member, value) for base in ours for member, value in vars(base).items()):
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


def test_the_reference_has_every_public_name() -> None:
    described = set(re.findall(r"^\.\. auto(?:class|function|exception):: gpustruct\.(\S+)", API, re.MULTILINE))
    for whole in re.findall(r"^\.\. automodule:: gpustruct\.(\w+)\n   :members:", API, re.MULTILINE):
        described |= {f"{whole}.{name}" for name in importlib.import_module(f"gpustruct.{whole}").__all__}
    assert {name for name, _ in public()} - described == set()
    assert {name for name in described if not name.startswith("wgsl.")} - {name for name, _ in public()} == set()


def test_the_reference_has_every_plain_type_and_format() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (?:(\d+) \| )?\((n.*)\) \|$", API, re.MULTILINE)
    assert sorted(row[0] for row in rows) == sorted(FAMILY)
    for name, size, align, shape in rows:
        made = FORMAT_NAMES.get(name) or getattr(gpustruct, name)
        known = layout_of(made)
        assert (known.size, known.align if align else None) == (int(size), int(align) if align else None), name
        inner = tuple(int(part) for part in shape.split(",")[1:] if part.strip())
        assert np.asarray(gpustruct.unpack(made, bytes(3 * known.stride))).shape == (3, *inner), name
