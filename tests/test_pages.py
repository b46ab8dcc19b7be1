"""The examples (`>>>`) of CONTRIBUTING.md and of every page in docs/ run."""

from __future__ import annotations

import doctest
from pathlib import Path

# pygfx configures wgpu's default device when it is imported, so it comes before the first page that makes the device.
import pygfx  # noqa: F401
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    page for page in [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))] if ">>> " in page.read_text()
]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page: Path, request: pytest.FixtureRequest) -> None:
    test = doctest.DocTestParser().get_doctest(page.read_text(), {}, page.stem, str(page), 0)
    if any("wgpu" in example.source or "gpustruct.gpu" in example.source for example in test.examples):
        request.getfixturevalue("device")
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert result.attempted and not result.failed


def test_pages_with_examples_are_found() -> None:
    assert {"start", "layout", "coming", "wgsl", "gpu"} <= {page.stem for page in PAGES}


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = (ROOT / "docs" / "index.md").read_text().split()
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"} <= set(listed)
