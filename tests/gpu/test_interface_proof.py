"""Layouts and bind groups against the device: every WGSL text of wgpu, pygfx and rendercanvas, and random ones.

See `interface_proof.prove` for what is compared. Templates of pygfx are compared as pygfx expands them while it renders.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pygfx as gfx
import pytest
from pygfx.renderers.wgpu.engine import bloom, edl, effectpasses
from rendercanvas.offscreen import RenderCanvas

from gpustruct import WgslError, wgsl
from interface_proof import Counts, prove, random_text

PACKAGES = ("wgpu", "pygfx", "rendercanvas")


# A docstring with an example.
DOCUMENTATION = "Overloadable class attribute"


def strings() -> Iterator[tuple[Path, str]]:
    """Every string with an entry point in the packages' Python files."""
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.origin is not None
        for file in sorted(Path(spec.origin).parent.rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and re.search(r"@(compute|vertex|fragment)\b[^{]*\bfn\b", node.value)
                    and not node.value.startswith(DOCUMENTATION)
                ):
                    yield file, node.value


SPHERE = gfx.sphere_geometry(1, 8, 4)
POSITIONS = np.random.default_rng(0).random((12, 3)).astype(np.float32)
POINTS = gfx.Geometry(positions=POSITIONS, colors=np.ones((12, 4), np.float32), sizes=np.ones(12, np.float32))
PIXELS = np.zeros((8, 8), np.float32)
PASSES = {
    name: getattr(module, name)
    for module in (bloom, edl, effectpasses)
    for name in dir(module)
    if name.endswith("Pass")
}
PASSES = {
    name: kind for name, kind in PASSES.items() if name not in ("EffectPass", "FullQuadPass", "PPAAPass", "OutputPass")
}


def materials(prefix: str) -> list[str]:
    return sorted(name for name in dir(gfx) if name.startswith(prefix) and name.endswith("Material"))


def made(material: str, **options: Any) -> Any:
    return getattr(gfx, material)(**options)


def volume(material: str) -> Any:
    return gfx.Volume(
        gfx.Geometry(grid=gfx.Texture(np.zeros((4, 4, 4), np.float32), dim=3)), made(material, clim=(0, 1))
    )


def textured_mesh() -> Any:
    texture = gfx.Texture(np.zeros((16, 16, 4), np.uint8), dim=2, generate_mipmaps=True)
    return gfx.Mesh(SPHERE, gfx.MeshPhongMaterial(map=gfx.TextureMap(texture)))


def shadowed_mesh() -> Any:
    mesh = gfx.Mesh(SPHERE, gfx.MeshPhongMaterial())
    mesh.cast_shadow = mesh.receive_shadow = True
    return mesh


def see_through_mesh(mode: str) -> Any:
    return gfx.Mesh(SPHERE, gfx.MeshBasicMaterial(opacity=0.5, alpha_mode=mode))


SCENES: dict[str, Callable[[], Any]] = {
    **{
        name: lambda name=name: gfx.Mesh(SPHERE, made(name))
        for name in materials("Mesh")
        if name != "MeshAbstractMaterial"
    },
    **{name: lambda name=name: gfx.Points(POINTS, made(name)) for name in materials("Points")},
    **{name: lambda name=name: gfx.Line(POINTS, made(name)) for name in materials("Line")},
    **{
        name: lambda name=name: volume(name)
        for name in materials("Volume")
        if name not in ("VolumeBasicMaterial", "VolumeRayMaterial")
    },
    "unlit volume": lambda: volume("VolumeIsoMaterial"),
    "Image": lambda: gfx.Image(gfx.Geometry(grid=gfx.Texture(PIXELS, dim=2)), gfx.ImageBasicMaterial(clim=(0, 1))),
    "colormap": lambda: gfx.Image(
        gfx.Geometry(grid=gfx.Texture(PIXELS, dim=2)), gfx.ImageBasicMaterial(clim=(0, 1), map=gfx.cm.viridis)
    ),
    "iridescence": lambda: gfx.Mesh(SPHERE, gfx.MeshPhysicalMaterial(iridescence=1)),
    "Text": lambda: gfx.Text("hello", material=gfx.TextMaterial()),
    "Grid": lambda: gfx.Grid(None, gfx.GridMaterial(), orientation="xz"),
    "Background": lambda: gfx.Background(None, gfx.BackgroundMaterial("#fff")),
    "clipped": lambda: gfx.Mesh(SPHERE, gfx.MeshBasicMaterial(clipping_planes=[(0, 0, 1, 0)])),
    "mipmaps": textured_mesh,
    "shadows": shadowed_mesh,
    **{
        f"blended {mode}": lambda mode=mode: see_through_mesh(mode)
        for mode in ("weighted_blend", "weighted_solid", "dither")
    },
    **{name: lambda: gfx.Mesh(SPHERE, gfx.MeshBasicMaterial()) for name in PASSES},
}


def render(name: str) -> None:
    """Render one scene offscreen."""
    renderer = gfx.renderers.WgpuRenderer(RenderCanvas(size=(64, 64)))
    renderer.effect_passes = [PASSES[name]()] if name in PASSES else []
    scene, camera = gfx.Scene(), gfx.PerspectiveCamera(70, 1)
    lights = [gfx.AmbientLight(), gfx.DirectionalLight(), gfx.PointLight(), gfx.SpotLight()]
    for light in lights[1:]:
        light.cast_shadow = name == "shadows"
        light.local.position = (1, 2, 3)
    # Without lights pygfx uses another template.
    scene.add(SCENES[name](), *(lights if name != "unlit volume" else ()))
    camera.show_object((0, 0, 0, 2))
    renderer.render(scene, camera)


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    """The texts that pygfx gives to wgpu for each scene; each text once."""
    found: dict[str, list[str]] = {}
    kind, seen = type(gfx.renderers.wgpu.get_shared().device), set[str]()
    create = kind.create_shader_module
    with pytest.MonkeyPatch.context() as patch:
        for name in SCENES:

            def record(self: Any, *, code: str, name: str = name, **options: Any) -> Any:
                if code not in seen:
                    seen.add(code)
                    found.setdefault(name, []).append(code)
                return create(self, code=code, **options)

            patch.setattr(kind, "create_shader_module", record)
            render(name)
    return found


def test_every_text_that_pygfx_makes(texts: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    device, counts = gfx.renderers.wgpu.get_shared().device, Counts()
    for text in (text for found in texts.values() for text in found):
        prove(device, text, monkeypatch, counts)
    assert counts.pipelines >= 40
    assert counts.entries >= 200
    assert counts.bits >= 250


def test_every_text_in_the_packages_python_files(
    texts: dict[str, list[str]], device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered = [set(re.findall(r"\bfn (\w+)", text)) for found in texts.values() for text in found]
    whole, parts, counts = 0, 0, Counts()
    for file, text in strings():
        try:
            wgsl.parse(text, target="naga")
        except WgslError:
            # Part of a template that a scene expands: its functions are in there.
            names = set(re.findall(r"\bfn (\w+)", text))
            assert any(names <= found for found in rendered), f"{file}: {text[:200]}"
            parts += 1
        else:
            prove(device, text, monkeypatch, counts)
            whole += 1
    assert (whole >= 8, parts >= 8) == (True, True)


def test_every_template_is_expanded_in_some_scene(texts: dict[str, list[str]]) -> None:
    rendered = {name for found in texts.values() for text in found for name in re.findall(r"\bfn (\w+)", text)}
    files = [
        file
        for package in PACKAGES
        for file in sorted(Path(importlib.util.find_spec(package).origin).parent.rglob("*.wgsl"))
    ]  # type: ignore[union-attr,arg-type]
    unreached = {
        file.name
        for file in files
        if (names := set(re.findall(r"(?m)^\s*fn (\w+)", file.read_text()))) and not names & rendered
    }
    assert len(files) >= 33
    assert not unreached


@pytest.mark.parametrize("seed", range(150))
def test_random_texts(device: Any, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    counts = Counts()
    prove(device, random_text(seed), monkeypatch, counts)
    assert counts.pipelines == 3


def test_the_proof_fails_for_an_entry_too_many(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """@group(0) @binding(0) var<uniform> a: f32; @group(0) @binding(1) var<uniform> b: f32;
    @compute @workgroup_size(1) fn run() { let c = a; }"""
    prove(device, text, monkeypatch, Counts())
    original = wgsl.Module.bind_group_layouts

    def too_many(self: Any, *names: str, **options: Any) -> Any:
        found = original(self, *names, **options)
        return {0: [*found[0], {**found[0][0], "binding": 1}]}

    monkeypatch.setattr(wgsl.Module, "bind_group_layouts", too_many)
    with pytest.raises((AssertionError, KeyError)):
        prove(device, text, monkeypatch, Counts())


def test_the_proof_fails_for_a_stage_too_many(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """@group(0) @binding(0) var<uniform> a: f32;
    @vertex fn vs() -> @builtin(position) vec4f { return vec4f(a); } @fragment fn fs() -> @location(0) vec4f { return vec4f(); }"""
    prove(device, text, monkeypatch, Counts())
    original = wgsl.Module.bind_group_layouts
    monkeypatch.setattr(
        wgsl.Module, "bind_group_layouts", lambda *a, **k: {0: [{**original(*a, **k)[0][0], "visibility": 3}]}
    )
    with pytest.raises(AssertionError, match="needs the visibility"):
        prove(device, text, monkeypatch, Counts())
