"""Shaders of other projects: parsed, or skipped with a reason; no declaration is lost without a word."""

from __future__ import annotations

import contextlib
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from gpustruct import WgslError, wgsl

PACKAGES = ("wgpu", "pygfx", "rendercanvas")
# Templates of pygfx 0.17 (BSD-2-Clause, see the LICENSE beside them): Jinja's blocks and values, includes, conditions.
STORED = sorted((Path(__file__).parent / "data" / "pygfx").glob("*.wgsl"))
COUNTED = {
    "clipping_planes.wgsl": 0, "image_sample.wgsl": 1, "light_phong_simple.wgsl": 0, "light_shadow.wgsl": 3, "mesh_normal_lines.wgsl": 3,
    "std.wgsl": 17, "volume_slice.wgsl": 3,
}  # fmt: skip
DECLARED = re.compile(
    r"(?m)^(?:@[^\n]*?\s)?(?P<kind>struct|var|fn|const|alias|override)(?:\s*<[^>\n]*>)?\s+(?P<name>\w+)"
)


def shaders() -> list[Path]:
    found: list[Path] = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            found += sorted(Path(place).rglob("*.wgsl"))
    return found


def without_comments(text: str) -> str:
    """`text` with blanks in place of comments: the lines stay the same."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])  # noqa: E731
    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.DOTALL)


def declared(text: str) -> list[tuple[int, str, str]]:
    """Line, keyword and name of all that a plain regular expression takes for a declaration."""
    plain = without_comments(text)
    return [
        (plain.count("\n", 0, found.start()) + 1, found["kind"], found["name"]) for found in DECLARED.finditer(plain)
    ]


def lost(text: str, **options: Any) -> list[tuple[int, str, str]]:
    """The declarations that are neither in the module nor listed as skipped."""
    module = wgsl.parse(text, skip=True, **options)
    taken = {
        "struct": {*module.structs, *module.unavailable}, "alias": {*module.aliases, *module.unavailable}, "const": {*module.constants},
        "override": {*module.overrides}, "fn": {*module.functions}, "var": {*module.bindings, *module.variables},
    }  # fmt: skip
    # Attributes may be on separate lines before the keyword.
    listed = {(part.line, word) for part in module.skipped for word in re.findall(r"\w+", part.text)}
    return [
        (line, kind, name)
        for line, kind, name in declared(text)
        if name not in taken[kind] and not any((line + more, name) in listed for more in range(4))
    ]


@pytest.mark.parametrize("path", [*STORED, *shaders()], ids=lambda path: f"{path.parent.name}-{path.name}")
def test_no_declaration_is_lost_unlisted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert lost(text) == []
    assert lost(text, defines={}) == []
    assert lost(text, defines=dict.fromkeys(re.findall(r"\bif (\w+)", text), True)) == []


def test_the_stored_templates_declare_what_was_counted() -> None:
    counted = {path.name: len(declared(path.read_text(encoding="utf-8"))) for path in STORED}
    assert counted == COUNTED
    with_values = wgsl.parse((STORED[0].parent / "std.wgsl").read_text(encoding="utf-8"), skip=True)
    assert "StubColorWrapper" in {*with_values.structs, *with_values.unavailable}


@pytest.mark.parametrize("path", shaders(), ids=lambda path: path.name)
def test_shader(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    module = wgsl.parse(text, skip=True)
    assert all(part.line and part.reason for part in module.skipped)
    taken = len(module.functions) + len(module.structs) + len(module.constants) + len(module.bindings)
    assert taken or module.skipped
    # Whole, most of these are templates: a WgslError, nothing else.
    with contextlib.suppress(WgslError):
        wgsl.parse(text)


def test_templates_keep_what_stands_alone() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in shaders()}
    text = wgsl.parse(texts["text.wgsl"], skip=True)
    assert list(text.structs) == ["VertexInput", "GlyphInfo", "GlyphData"]
    assert text.bindings["s_glyph_data"].access == "read"
    mesh = wgsl.parse(texts["mesh.wgsl"], skip=True)
    assert list(mesh.entry_points) == ["vs_main", "fs_main"]
    reasons = {part.text: part.reason for part in mesh.skipped}
    assert "under a condition: $$ if instanced" in reasons["struct InstanceInfo {"]
    with pytest.raises(WgslError, match="preprocessor"):
        wgsl.parse(texts["mesh.wgsl"])
