"""Writes the pages of the error rules, with what each small case prints on this machine."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from gpustruct.errors import pages

ROOT = Path(__file__).parents[1]


def printed() -> dict[str, str]:
    """For "Class rule", the message of its case. Without a device, or what the tests need, some or all are left out."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        import test_error_pages
    except ImportError:
        return {}

    found: dict[str, str] = {}
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, case in pages.cases().items():
            with contextlib.suppress(Exception):
                found[name] = str(test_error_pages.outcome(case["code"], name))
        os.chdir(home)
    return found


def write(folder: Path) -> None:
    """Write a page for each rule, and the page that lists them. Files that are up to date stay as they are."""
    folder.mkdir(exist_ok=True)
    messages = printed()
    listing = [
        "# Errors",
        "One page for each rule. An error has the name of its rule in `error.rule`; the names are stable. `error.explain()` and\n"
        "`gpustruct explain NAME` print a page without a network; NAME may also be a whole message.",
    ]
    for cls in pages.CLASSES:
        listing += [f"## {cls.__name__}", (cls.__doc__ or "").split("\n")[0]]
        entries = []
        for rule in sorted(cls.templates):
            name = f"{cls.__name__}-{rule}".lower()
            text = pages.page(rule, cls, messages.get(f"{cls.__name__} {rule}", ""))
            _put(folder / f"{name}.md", f"---\norphan: true\n---\n\n{text}")
            entries.append(f"- [{rule}]({name}.md)")
        listing.append("\n".join(entries))
    _put(folder / "index.md", "\n\n".join(listing) + "\n")


def _put(file: Path, text: str) -> None:
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
