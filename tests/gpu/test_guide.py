"""docs/gpu.md runs as it stands."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "gpu.md"


def test_the_guide(device: Any) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(GUIDE), module_relative=False, optionflags=flags)
    assert tried > 20
    assert not failed
