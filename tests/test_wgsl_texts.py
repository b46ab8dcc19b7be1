"""What parse accepts and refuses, beside the specification, naga and Tint, over thousands of small texts."""

from __future__ import annotations

import warnings
from collections import Counter

import pytest

import wgsl_texts
from gpustruct import BackendWarning, WgslError, wgsl
from wgsl_texts import ENTRIES

AREAS = sorted({entry["area"] for entry in ENTRIES})


def judged(text: str) -> tuple[str, set[str]]:
    """Our verdict, and the compilers that warnings speak of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            wgsl.parse(text)
            said = "accept"
        except WgslError as error:
            said = "refuse" if error.rule and error.line else "an error without a place"
    assert all(isinstance(warning.message, BackendWarning) for warning in caught)
    return said, {warning.message.rule.partition("-")[0] for warning in caught}  # type: ignore[union-attr]


def test_the_texts_are_all_there() -> None:
    assert len(ENTRIES) == len({entry["text"] for entry in ENTRIES}) > 4_300
    assert min(Counter(entry["spec"] for entry in ENTRIES).values()) > 1_700
    for word in (
        "attribute",
        "directive",
        "signature",
        "builtin",
        "extension",
        "handles",
        "variables",
        "names",
        "text",
    ):
        assert sum(entry["area"].startswith(word) for entry in ENTRIES) > 60
    for entry in ENTRIES:
        # Where both compilers say the same, the specification says it too, or the file gives the reason.
        said = {entry[backend].partition(":")[0] for backend in ("naga", "tint")} - {"panic"}
        assert said != {"accept", "refuse"} - {entry["spec"]} or "why" in entry


@pytest.mark.parametrize("area", AREAS)
def test_parse_follows_the_specification_and_warns_of_compilers_that_do_not(area: str) -> None:
    wrong: list[str] = []
    for entry in ENTRIES:
        if entry["area"] != area:
            continue
        said, warned = judged(entry["text"])
        if said != entry.get("ours", entry["spec"]):
            wrong.append(f"{said}: {entry['text']}")
        if entry["spec"] == "accept" and "ours" not in entry:
            refusing = {backend for backend in ("naga", "tint") if entry[backend] != "accept"}
            if refusing - warned and "note" not in entry:
                wrong.append(f"no warning of {refusing - warned}: {entry['text']}")
            if warned - refusing:
                wrong.append(f"a warning of {warned - refusing}: {entry['text']}")
    assert wrong == []


def test_the_column_of_naga_is_that_of_the_installed_wgpu() -> None:
    wgpu = pytest.importorskip("wgpu")
    naga = wgsl_texts.device(wgpu)
    # A text that ends naga's process cannot be asked again in this one.
    asked = [entry for entry in ENTRIES if not entry["naga"].startswith("panic")]
    assert len(asked) >= len(ENTRIES) - 1
    changed = [
        entry["text"]
        for entry in asked
        if wgsl_texts.verdict(naga, entry["text"]).partition(":")[0] != entry["naga"].partition(":")[0]
    ]
    assert changed == [], "python tests/wgsl_texts.py writes the column again"
