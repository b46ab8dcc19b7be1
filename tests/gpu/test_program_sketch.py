"""gpustruct inspect --python: the Python that it prints runs, and binds everything that the shader declares."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpustruct import layout_of, vertex, wgsl
from gpustruct.cli import main
from interface_proof import random_text

TEXTS = {
    "compute": """struct Params { dt: f32, count: u32 } struct Body { position: vec3f, mass: f32 }
    @group(0) @binding(0) var<uniform> params: Params; @group(0) @binding(1) var<storage, read_write> bodies: array<Body>;
    @compute @workgroup_size(64) fn step(@builtin(global_invocation_id) id: vec3u) { bodies[id.x].mass += params.dt; }""",
    "render": """@group(0) @binding(0) var photo: texture_2d<f32>; @group(0) @binding(1) var linear: sampler; @group(1) @binding(0) var<uniform> tint: vec4f;
    @vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f { return vec4f(f32(i)); }
    @fragment fn fs(@builtin(position) at: vec4f) -> @location(0) vec4f { return tint * textureSample(photo, linear, at.xy); }""",
    "an override without a default": "override n: u32; @compute @workgroup_size(n) fn f() {}",
    "two variables at one binding": """@group(0) @binding(0) var<uniform> a: f32; @group(0) @binding(0) var<storage, read_write> b: array<f32>;
    @compute @workgroup_size(1) fn f() { _ = a; } @compute @workgroup_size(1) fn g() { b[0] = 1; }""",
    "names that Python reserves": """struct lambda { x: f32 } @group(0) @binding(0) var<uniform> elif: lambda; @group(0) @binding(1) var<uniform> del: f32;
    @compute @workgroup_size(1) fn raise() { _ = elif; _ = del; }""",
    "names that the sketch uses": """struct device { x: f32 } struct gpu { y: device } @group(0) @binding(0) var<uniform> program: gpu;
    @group(0) @binding(1) var<storage, read_write> wgpu: array<device>; @compute @workgroup_size(1) fn groups() { wgpu[0] = program.y; }""",
    "a struct with a tail": """struct Table { head: vec4f, values: array<f32> } @group(0) @binding(0) var<storage, read_write> table: Table;
    @compute @workgroup_size(1) fn f() { table.values[0] = table.head.x; }""",
    "arrays and atomics": """@group(0) @binding(0) var<storage, read_write> counts: array<atomic<u32>, 4>; @group(0) @binding(1) var<storage> m: array<mat3x3f>;
    @compute @workgroup_size(1) fn f() { atomicAdd(&counts[0], u32(m[0][0].x)); }""",
    "vertex data": """struct In { @location(1) at: vec2f, @location(0) lambda: vec4f } struct Out { @builtin(position) place: vec4f, @location(0) @interpolate(flat) id: vec2u }
    @vertex fn vs(in: In, @location(4) id: vec2u, @location(7) at: f32) -> Out { return Out(in.lambda + vec4f(in.at, at, 1), id); }
    @fragment fn fs(o: Out) -> @location(0) vec2u { return o.id; }""",
    "several targets and a depth": """struct Pixel { @location(2) a: vec4f, @location(0) b: i32, @builtin(frag_depth) depth: f32 }
    @vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f { return vec4f(f32(i & 1) * 4 - 1, f32(i >> 1) * 4 - 1, 0.5, 1); }
    @fragment fn fs() -> Pixel { return Pixel(vec4f(1, 0, 1, 1), -7, 0.25); }""",
    "a depth alone": """@vertex fn vs(@location(0) p: vec3f) -> @builtin(position) vec4f { return vec4f(p, 1); } @fragment fn fs() {}""",
    "the second fragment shader fits": """struct Out { @builtin(position) place: vec4f, @location(0) x: f32 }
    @fragment fn first(@location(0) x: vec4f) -> @location(0) vec4f { return x; } @vertex fn vs() -> Out { return Out(); }
    @fragment fn second(@location(0) x: f32) -> @location(0) f32 { return x; }""",
    "shaders that do not fit": """@vertex fn vs() -> @builtin(position) vec4f { return vec4f(); }
    @fragment fn fs(@location(0) x: f32) -> @location(0) vec4f { return vec4f(x); }""",
    "compute and render": """@group(0) @binding(0) var<storage, read_write> out: array<vec4f>; @group(0) @binding(1) var<uniform> size: f32;
    struct VertexInput { @location(0) p: vec4f } @compute @workgroup_size(64) fn run(@builtin(global_invocation_id) i: vec3u) { out[i.x] = vec4f(size); }
    @vertex fn vs(v: VertexInput) -> @builtin(position) vec4f { return v.p * size; } @fragment fn fs() -> @location(0) vec3f { return vec3f(size); }""",
    "nothing used": "struct A { x: f32 } @group(0) @binding(0) var<uniform> a: A;",
    "nothing at all": "const x = 1;",
}  # fmt: skip


def printed(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> tuple[str, dict[str, Any]]:
    """What the command prints for a text, and the names that it defines when it runs."""
    file = tmp_path / "shader.wgsl"
    file.write_text(text, encoding="utf-8")
    assert main(["inspect", "--python", str(file)]) == 0
    code = capsys.readouterr().out
    names: dict[str, Any] = {"__name__": "start"}
    exec(compile(code, "start.py", "exec"), names)
    return code, names


@pytest.mark.parametrize("name", TEXTS)
def test_the_printed_python_runs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = wgsl.parse(TEXTS[name])
    code, names = printed(tmp_path, capsys, TEXTS[name])
    program = names["program"]
    used = {binding for entry in program._compiled.entry_points.values() for binding in entry.bindings}
    assert set(names.get("resources", {})) == used
    assert all(name in code for name in module.bindings)
    stages = {entry.stage for entry in module.entry_points.values()}
    assert ("pipeline" in names) == ({"vertex", "fragment"} <= stages and name != "shaders that do not fit")
    for struct, cls in module.structs.items():
        if struct.isidentifier() and struct not in ("lambda", "device", "gpu"):
            wgsl.check(names[struct], TEXTS[name])
            assert names[struct] is not cls


@pytest.mark.parametrize("name", ["vertex data", "a depth alone", "compute and render", "render"])
def test_the_printed_class_of_vertex_data_is_what_the_shader_reads(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, names = printed(tmp_path, capsys, TEXTS[name])
    classes = [made for made in names.values() if isinstance(made, type) and issubclass(made, vertex.Vertex)]
    inputs = [value for value in wgsl.parse(TEXTS[name]).entry_points["vs"].inputs if value.location is not None]
    assert len(classes) == bool(inputs)
    for made in classes:
        locations = re.search(r"locations=(\{.*?\})", code)
        vertex.check(made, TEXTS[name], "vs", locations=ast.literal_eval(locations[1]) if locations else None)
        assert len(layout_of(made).fields) == len(inputs)


def test_the_printed_pass_draws(device: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, names = printed(tmp_path, capsys, TEXTS["several targets and a depth"])
    first, _, last = names["targets"]
    assert (first.format, last.format) == ("r8sint", "rgba8unorm")
    rows = {"bytes_per_row": 1024, "rows_per_image": 256}
    queue = names["device"].queue
    pixels = np.frombuffer(queue.read_texture({"texture": last}, rows, (256, 256, 1)), np.uint8)
    assert (pixels.reshape(-1, 4) == (255, 0, 255, 255)).all()
    assert set(queue.read_texture({"texture": first}, {"bytes_per_row": 256}, (256, 256, 1))) == {256 - 7}


@pytest.mark.parametrize("name", ["shaders that do not fit", "nothing used"])
def test_there_is_no_pipeline_of_shaders_that_do_not_fit(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, names = printed(tmp_path, capsys, TEXTS[name])
    assert "pipeline" not in names
    assert ("program.stage('fs')" in code) == (name == "shaders that do not fit")


@pytest.mark.parametrize("seed", range(20))
def test_the_printed_python_runs_for_random_texts(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = random_text(seed)
    _, names = printed(tmp_path, capsys, text)
    assert set(names["resources"]) == {
        name for entry in wgsl.parse(text).entry_points.values() for name in entry.bindings
    }


def test_as_a_script(tmp_path: Path) -> None:
    (tmp_path / "my shader.wgsl").write_text(TEXTS["compute"], encoding="utf-8")
    shell = {"cwd": tmp_path, "capture_output": True, "text": True, "check": True}
    sketch = subprocess.run(
        [sys.executable, "-m", "gpustruct", "inspect", "--python", "my shader.wgsl"], **shell
    ).stdout
    (tmp_path / "start.py").write_text(sketch, encoding="utf-8")
    subprocess.run([sys.executable, "start.py"], **shell)
    assert "class Body(Struct):" in sketch
    assert "'bodies': gpu.RecordBuffer(device, Body, 1000, count=1000)" in sketch


def test_one_shader_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.wgsl").write_text("const a = 1;", encoding="utf-8")
    (tmp_path / "b.wgsl").write_text("const a = 1;", encoding="utf-8")
    assert main(["inspect", "--python", str(tmp_path / "a.wgsl"), str(tmp_path / "b.wgsl")]) == 2
    assert "--python takes one shader" in capsys.readouterr().err
