"""Shaders that two compilers judged and a device measured, through parse."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from gpustruct import WgslError, layout_of, wgsl
from truth import CASES
from wgsl_verdicts import ENTRIES, backends_differ, offset_of, verdict


def parsed(text: str) -> tuple[wgsl.Module | WgslError, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result: wgsl.Module | WgslError = wgsl.parse(text)
        except WgslError as error:
            result = error
    assert all(issubclass(warning.category, wgsl.BackendWarning) for warning in caught)
    return result, [str(warning.message) for warning in caught]


def test_the_verdicts_are_all_there() -> None:
    assert len(ENTRIES) == 119
    assert sum(map(backends_differ, ENTRIES)) >= 14


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_verdict(entry: dict[str, Any]) -> None:
    result, warned = parsed(entry["wgsl"])
    assert ("reject" if isinstance(result, WgslError) else "accept") == verdict(entry), result
    assert bool(warned) == backends_differ(entry), warned
    if isinstance(result, WgslError):
        assert result.rule
        assert result.line >= 1
        assert result.column >= 1
        assert str(result).count(" | ") >= 1
        return
    binding = result.bindings.get(entry.get("binding", ""))
    if entry.get("offsets"):
        assert binding is not None
        layout = layout_of(binding.type)
        offsets = {path: offset_of(layout, path.removeprefix(binding.name)) for path in entry["offsets"]}
        assert offsets == entry["offsets"]
    if entry.get("min_binding_size"):
        # Tint's number where there is one: naga's leaves out what it does not propagate.
        sizes = entry["min_binding_size"]
        assert binding is not None
        assert binding.min_binding_size == sizes.get("tint", sizes.get("naga"))


@pytest.mark.parametrize("entry", [e for e in ENTRIES if "naga_offsets_differ" in e], ids=lambda entry: entry["name"])
def test_a_warning_names_the_remedy_that_makes_naga_agree(entry: dict[str, Any]) -> None:
    _, warned = parsed(entry["wgsl"])
    (text,) = warned
    mark, member = re.search(r"write (@align\(\d+\)) (\w+)$", text).groups()  # type: ignore[union-attr]
    repaired = re.sub(rf"([{{,]){member}:", rf"\1{mark} {member}:", entry["wgsl"])
    assert repaired != entry["wgsl"]
    module, warned = parsed(repaired)
    assert warned == []
    assert isinstance(module, wgsl.Module)
    offsets = entry["offsets"]
    layout = layout_of(module.bindings[entry["binding"]].type)
    assert {path: offset_of(layout, path.removeprefix(entry["binding"])) for path in offsets} == offsets


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["root"] + str(case.get("size")))
def test_measured_offsets(case: dict[str, Any]) -> None:
    module, warned = parsed(case["wgsl"])
    assert warned == []
    assert isinstance(module, wgsl.Module)
    layout = layout_of(module.structs[case["root"]])
    assert {path: offset_of(layout, path) for path in case["offsets"]} == case["offsets"]
    if "stride" in case:
        assert layout.record_stride == case["stride"] or layout.stride == case["stride"]
