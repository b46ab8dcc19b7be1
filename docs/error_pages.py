"""Writes the pages of the error rules: from the templates in `gpustruct.errors` and the cases of the tests."""

from __future__ import annotations

import re
from pathlib import Path

from gpustruct import BackendWarning, BindingError, LayoutError, SourceError, WgslError

TESTS = Path(__file__).parents[1] / "tests"
CLASSES = (LayoutError, SourceError, WgslError, BindingError, BackendWarning)


def cases() -> dict[str, tuple[str, str]]:
    """For each rule, the shortest case of the tests that breaks it: its code and its message."""
    found: dict[str, tuple[str, str]] = {}
    for folder in ("bad_schemas", "bad_sources", "bad_bindings"):
        for file in sorted((TESTS / folder).glob("*.txt")):
            for block in re.split(r"^# ", file.read_text(), flags=re.MULTILINE)[1:]:
                lines = block.partition("\n")[2].rstrip().split("\n")
                code = "\n".join(line for line in lines if not line.startswith(">")).strip("\n")
                answer = [line[2:] for line in lines if line.startswith(">")]
                if len(answer) < 2 or " " not in answer[0]:
                    continue
                rule = answer[0].split()[1]
                if rule not in found or len(code) < len(found[rule][0]):
                    found[rule] = code, "\n".join(answer[1:])
    return found


def page(rule: str, cls: type, template: str, case: tuple[str, str] | None) -> str:
    """The page of one rule."""
    parts = [
        "---\norphan: true\n---",
        f"# {rule}",
        f"`{cls.__name__}` with `error.rule == {rule!r}`."
        if cls is not BackendWarning
        else f"`{cls.__name__}`, rule `{rule}`.",
        "The message says the rule, the current value, where it is, and what to write in its place. Names in braces are the\n"
        "facts of the case:",
        f"```text\n{template}\n```",
    ]
    if case:
        parts += [
            "## A small case",
            f"```python\n{case[0]}\n```",
            "## What it prints, and the way out",
            f"```text\n{case[1]}\n```",
        ]
    return "\n\n".join(parts) + "\n"


def write(folder: Path) -> None:
    """Write a page for each rule, and the page that lists them. Files that are up to date stay as they are."""
    known = cases()
    folder.mkdir(exist_ok=True)
    listing = [
        "# Errors",
        "One page for each rule. An error has the name of its rule in `error.rule`; the names are stable.",
    ]
    for cls in CLASSES:
        listing += [f"## {cls.__name__}", (cls.__doc__ or "").split("\n")[0]]
        entries = []
        for rule, template in sorted(cls.templates.items()):
            name = f"{cls.__name__}-{rule}".lower()
            _put(folder / f"{name}.md", page(rule, cls, template, known.get(rule)))
            entries.append(f"- [{rule}]({name}.md)")
        listing.append("\n".join(entries))
    _put(folder / "index.md", "\n\n".join(listing) + "\n")


def _put(file: Path, text: str) -> None:
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
