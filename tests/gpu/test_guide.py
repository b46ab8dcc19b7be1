"""The guides that need a device run as they stand."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("name", "least"), [("gpu.md", 20), ("pygfx.md", 10), ("interface.md", 15), ("vertex.md", 15)])
def test_the_guide(device: Any, name: str, least: int) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(DOCS / name), module_relative=False, optionflags=flags)
    assert tried > least
    assert not failed
