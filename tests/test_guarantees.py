"""Each promise of docs/guarantees.md names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROWS = re.findall(r"^\| (?!promise|-)(.+) \| (.+) \|$", (ROOT / "docs" / "guarantees.md").read_text(), re.M)


def test_there_are_promises() -> None:
    assert len(ROWS) > 20


@pytest.mark.parametrize(("promise", "tests"), ROWS, ids=[promise[:40] for promise, _ in ROWS])
def test_each_promise_names_tests(promise: str, tests: str) -> None:
    named = re.findall(r"`(tests/[^`]+)`", tests)
    assert named, promise
    for name in named:
        file, _, function = name.partition("::")
        text = (ROOT / file).read_text()
        assert "def test_" in text
        assert not function or f"def {function}(" in text, name
