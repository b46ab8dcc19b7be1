"""Every block of Python in README.md, CONTRIBUTING.md and docs/ runs, each page in a new folder from its first block to its last."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

# pygfx configures wgpu's default device when it is imported, so it comes before the first page that makes the device.
import pygfx  # noqa: F401
import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(?:python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
# The pages of the rules break the rules; tests/test_error_pages.py runs their code.
PAGES = [page for page in FILES if page.parent.name != "errors" and BLOCK.search(page.read_text())]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(
    page: Path, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text()
    if "wgpu" in text or "gpustruct.gpu" in text:
        request.getfixturevalue("device")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page.stem}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        if ">>> " not in found[1]:
            # dont_inherit: this file's own __future__ imports are not the page's.
            exec(compile("\n" * line + found[1], str(page), "exec", dont_inherit=True), names)
            continue
        test = doctest.DocTestParser().get_doctest(found[1], names, page.stem, str(page), line)
        names = test.globs
        result = runner.run(test, clear_globs=False)
        assert result.attempted and not result.failed


def test_no_example_is_outside_of_a_block() -> None:
    for page in FILES:
        outside = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        assert ">>> " not in outside, page


def test_pages_with_examples_are_found() -> None:
    assert {"README", "start", "layout", "numpy", "sources", "wgsl", "gpu"} <= {page.stem for page in PAGES}


def test_every_page_is_in_a_table_of_contents() -> None:
    docs = ROOT / "docs"
    pages = {page.relative_to(docs).with_suffix("").as_posix() for page in FILES if docs in page.parents}
    tables = re.findall(r"^```\{toctree\}\n(.*?)^```$", "".join(map(Path.read_text, FILES)), re.MULTILINE | re.DOTALL)
    assert {page for page in pages if not page.startswith("errors/")} - {"index"} <= set("\n".join(tables).split())
