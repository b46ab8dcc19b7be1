"""Shaders of installed packages: parsed, or skipped with a reason."""

from __future__ import annotations

import contextlib
import importlib.util
from pathlib import Path

import pytest

from gpustruct import WgslError, wgsl

PACKAGES = ("wgpu", "pygfx", "rendercanvas")


def shaders() -> list[Path]:
    found: list[Path] = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            found += sorted(Path(place).rglob("*.wgsl"))
    return found


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


@pytest.mark.skipif(not shaders(), reason="pygfx is not installed")
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
