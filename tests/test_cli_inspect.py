"""gpustruct inspect: what it shows, kept word for word, its JSON against the schema, its pictures."""

from __future__ import annotations

import json
import os
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import reference
from gpustruct import wgsl
from gpustruct.cli import main
from gpustruct.cli.inspecting import struct_data
from strategies import structs

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden" / "inspect"
SCHEMA = json.loads((ROOT / "docs" / "inspect.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _in_the_golden_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)


# To take over intended changes: GPUSTRUCT_GOLDEN=write pytest tests/test_cli_inspect.py, and read the difference.
@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.wgsl")))
def test_output_word_for_word(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", f"{name}.wgsl"]) == 0
    shown = capsys.readouterr().out
    if os.environ.get("GPUSTRUCT_GOLDEN") == "write":
        (GOLDEN / f"{name}.txt").write_text(shown, encoding="utf-8")
    assert shown == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["inspect", "--json", *arguments]) == 0
    data = json.loads(capsys.readouterr().out)
    validate(data)
    return data["inputs"]


def validate(data: Any) -> None:
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(data, SCHEMA)


def test_json_says_what_parse_says(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = as_json(capsys, "scene.wgsl")
    module = wgsl.parse(Path("scene.wgsl").read_text(encoding="utf-8"))
    assert [struct["name"] for struct in found["structs"]] == list(module.structs)
    assert {b["name"]: (b["group"], b["binding"], b["min_binding_size"]) for b in found["bindings"]} == {
        name: (b.group, b.binding, b.min_binding_size) for name, b in module.bindings.items()
    }
    material = next(struct for struct in found["structs"] if struct["name"] == "MaterialBad")
    assert material["suggestion"]["bytes_after"] == 48
    assert (material["size"], material["unused"]) == (80, 36)


def test_json_carries_the_interface(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "it.wgsl"
    path.write_text("""diagnostic(off, derivative_uniformity);
    @id(3) override size: u32;
    @group(0) @binding(1) var photo: texture_2d<f32>;
    @group(0) @binding(2) var linear: sampler;
    @group(0) @binding(3) var target_: texture_storage_2d<rgba8unorm, write>;
    var<workgroup> tile: array<f32, 8>;
    struct In { @location(2) @interpolate(flat) id: u32, @builtin(position) place: vec4f }
    @fragment fn shade(in: In) -> @location(0) vec4f { return textureSample(photo, linear, vec2f()); }
    @compute @workgroup_size(size) fn fill() { tile[0] = 1; textureStore(target_, vec2u(), vec4f()); }
    """)
    (found,) = as_json(capsys, str(path))
    photo, linear, target = found["bindings"]
    assert (photo["kind"], photo["sample_type"], photo["view_dimension"]) == ("texture", "float", "2d")
    assert (linear["kind"], target["kind"], target["format"]) == ("sampler", "storage-texture", "rgba8unorm")
    shade, fill = found["entry_points"]
    assert [value["location"] for value in shade["inputs"]] == [2, None]
    assert shade["sampled"] == [{"texture": "photo", "sampler": "linear"}]
    assert (fill["bindings"], fill["variables"], fill["overrides"]) == (["target_"], ["tile"], ["size"])
    assert (fill["workgroup_size"], fill["workgroup_bytes"], fill["line"]) == ([None, 1, 1], 32, 9)
    assert found["overrides"][0]["has_default"] is False
    assert found["diagnostics"] == [{"severity": "off", "rule": "derivative_uniformity", "line": 1}]
    assert found["lines"]["In"] == 7
    assert main(["inspect", str(path)]) == 0
    shown = capsys.readouterr().out
    assert (
        "  shade: fragment\n    takes: @location(2) @interpolate(flat) id: u32; @builtin(position) place: vec4f\n"
        in shown
    )
    assert "    samples: photo through linear\n" in shown
    assert "  fill: compute, workgroups of ? x 1 x 1, 32 bytes of workgroup memory\n" in shown
    assert "  @id(3) size: u32, needs a value\n" in shown


def test_json_of_every_golden_shader_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    shaders = sorted(path.name for path in GOLDEN.glob("*.wgsl"))
    assert [part["name"] for part in as_json(capsys, *shaders)] == shaders


@given(structs())
def test_json_of_any_struct_is_valid_and_true(cls: Any) -> None:
    data = json.loads(json.dumps(struct_data(cls), allow_nan=False))
    validate({"format": 1, "inputs": [{"name": "x", "structs": [data]}]})
    measure = reference.layout(cls)
    assert (data["size"], data["align"]) == (measure.size, measure.align)
    assert (not data["uniform"]) == reference.uniform_legal(cls)


def test_one_struct(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "--struct", "Light", "scene.wgsl"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Light: size 32")
    assert "MaterialBad" not in shown and "bindings" not in shown
    (found,) = as_json(capsys, "--struct", "Light", "scene.wgsl")
    assert [struct["name"] for struct in found["structs"]] == ["Light"]
    assert main(["inspect", "--struct", "Nobody", "scene.wgsl"]) == 2
    assert "it has Light, MaterialBad, Camera" in capsys.readouterr().err


def test_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "pictures"
    assert main(["inspect", "--svg", os.fspath(folder), "scene.wgsl"]) == 0
    assert {path.name for path in folder.iterdir()} >= {"Light.svg", "MaterialBad.svg", "Camera.svg"}
    for path in folder.iterdir():
        ET.parse(path)
    main(["inspect", "--svg", os.fspath(folder), "scene.wgsl", "remarks.wgsl"])
    assert (folder / "scene.Light.svg").exists()
    (tmp_path / "file").write_text("")
    assert main(["inspect", "--svg", os.fspath(tmp_path / "file"), "scene.wgsl"]) == 2
    assert "the folder for pictures must be writable" in capsys.readouterr().err


def test_a_text_that_is_no_wgsl_is_shown_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.wgsl"
    bad.write_text("struct A {\n  x: f64,\n}\n")
    assert main(["inspect", os.fspath(bad), "scene.wgsl"]) == 1
    found = capsys.readouterr()
    assert f"{bad}:2:" in found.err
    assert "  2 |   x: f64," in found.err
    assert "MaterialBad" in found.out


def test_templates_are_taken_in_part(capsys: pytest.CaptureFixture[str]) -> None:
    shader = os.fspath(GOLDEN.parent / "check" / "template.wgsl")
    for arguments in ([shader], ["--skip", shader]):
        assert main(["inspect", *arguments]) == 0
        assert "\nskipped\n  line 1: " in capsys.readouterr().out


def test_folders_are_walked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.wgsl", "one/b.wgsl", "two/b.wesl", ".hidden/c.wgsl", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("struct Light { color: vec3f, range: f32 }")
    found = as_json(capsys, os.fspath(tmp_path))
    names = [f"{tmp_path}/{name}" for name in ("a.wgsl", "one/b.wgsl", "two/b.wesl")]
    assert [part["name"].replace(os.sep, "/") for part in found] == names
    assert main(["inspect", os.fspath(tmp_path), "--svg", os.fspath(tmp_path / "pictures")]) == 0
    pictures = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert pictures[0] == "a.Light.svg" and len(pictures) == 3
    assert "one.b.Light.svg" in pictures[1] and "two.b.Light.svg" in pictures[2]
    (tmp_path / "empty").mkdir()
    capsys.readouterr()
    assert main(["inspect", os.fspath(tmp_path / "empty")]) == 2
    assert "a folder must contain .wgsl or .wesl files" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_does_not_hide_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.wgsl").write_bytes(b"// caf\xe9")
    (tmp_path / "b.wgsl").write_text("struct Light { color: vec3f, range: f32 }")
    (tmp_path / "c.wgsl").write_bytes(b"\xff")
    assert main(["inspect", os.fspath(tmp_path)]) == 2
    found = capsys.readouterr()
    assert "Light: size 16" in found.out
    assert [line.partition(" - at ")[2] for line in found.err.splitlines()] == [
        f"{tmp_path / name}; convert it" for name in ("a.wgsl", "c.wgsl")
    ]


def test_a_target_takes_what_it_adds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shader = os.fspath(GOLDEN.parent / "check" / "wide.wgsl")
    assert main(["inspect", shader]) == 1
    capsys.readouterr()
    assert main(["inspect", "--target", "naga", shader]) == 0
    assert "Wide.many: i64 is a type of naga, not of WGSL" in capsys.readouterr().out


def test_a_python_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "schemas_here.py").write_text(
        "from gpustruct import Struct, f32, vec3f\n"
        "class Outer:\n    class Light(Struct):\n        range: f32\n        position: vec3f\n"
    )
    (tmp_path / "schemas_broken.py").write_text("raise SystemExit('no')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert main(["inspect", "schemas_here:Outer.Light"]) == 0
    assert capsys.readouterr().out.startswith("Light: size 32")
    (found,) = as_json(capsys, "schemas_here:Outer.Light")
    assert found["structs"][0]["suggestion"]["order"] == ["position", "range"]
    for wrong in ("schemas_here:Nobody", "schemas_here:Outer", "schemas_broken:Light", "schemas_nowhere:Light"):
        assert main(["inspect", wrong]) == 2
        assert capsys.readouterr().err.startswith("gpustruct: module:Class must name")
