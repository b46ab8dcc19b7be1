"""Program on the device: what entry points use against naga's own layouts, compute and render, dynamic offsets, reload."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import wgpu

from gpustruct import BindingError, Struct, WgslError, array, f32, vec2f, vec4f, wgsl
from gpustruct.gpu import Program, RecordBuffer

COUNT = 6


def random_module(seed: int) -> str:
    """Functions that call each other and use, or hide, uniforms."""
    chance = random.Random(seed)
    text = "".join(f"@group({i % 2}) @binding({i}) var<uniform> u{i}: f32;\n" for i in range(COUNT))
    names = [f"u{i}" for i in range(COUNT)]
    shapes = [
        "_ = $;",
        "let $ = 1.0; _ = $;",
        "{ let $ = 2; _ = $; }",
        "for (var $ = 0; $ < 2; $++) { let x = $; }",
        "if $ > 1.0 { return; }",
        "{ let $ = $; _ = $; }",
        "{ var<function> $: f32 = 1; $ = 2; }",
    ]
    for index in reversed(range(8)):
        lines, hidden = [], set[str]()
        for _ in range(chance.randrange(4)):
            name, shape = chance.choice(names), chance.choice(shapes)
            if name in hidden:
                continue
            hidden |= {name} if shape.startswith("let") else set()
            lines.append(shape.replace("$", name))
        lines += [f"go{other}();" for other in range(index + 1, 8) if chance.random() < 0.3]
        head = "@compute @workgroup_size(1) " if index < 3 else ""
        name = f"entry{index}" if index < 3 else f"go{index}"
        lines = [line for line in lines if line not in ("go1();", "go2();")]
        text += f"{head}fn {name}() {{ {' '.join(lines)} }}\n"
    return text


@pytest.mark.parametrize("seed", range(100))
def test_entry_points_use_what_naga_says(device: Any, seed: int) -> None:
    text = random_module(seed)
    module = wgsl.parse(text)
    shader = device.create_shader_module(code=text)
    buffer = device.create_buffer(size=16, usage=wgpu.BufferUsage.UNIFORM)
    for name, entry in module.entry_points.items():
        pipeline = device.create_compute_pipeline(layout="auto", compute={"module": shader, "entry_point": name})
        for group in {module.bindings[used].group for used in entry.bindings}:
            numbers = [module.bindings[used].binding for used in entry.bindings if module.bindings[used].group == group]
            entries = [
                {"binding": number, "resource": {"buffer": buffer, "offset": 0, "size": 16}} for number in numbers
            ]
            # It refuses a binding too many, and one too few.
            device.create_bind_group(layout=pipeline.get_bind_group_layout(group), entries=entries)


class Body(Struct):
    position: vec2f
    mass: f32


STEP = """
struct Body { position: vec2f, mass: f32 }
@group(0) @binding(0) var<uniform> wind: vec2f;
@group(0) @binding(1) var<storage, read_write> bodies: array<Body>;
override factor = 1.0;
@compute @workgroup_size(64) fn step(@builtin(global_invocation_id) id: vec3u) {
  if id.x < arrayLength(&bodies) { bodies[id.x].position += factor * wind; }
}
"""


def run(program: Program, groups: Any, **overrides: Any) -> None:
    encoder = program.device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(program.compute_pipeline(overrides=overrides))
    groups.set(compute)
    compute.dispatch_workgroups(1)
    compute.end()
    program.device.queue.submit([encoder.finish()])


def bound(device: Any) -> dict[str, Any]:
    return {
        "wind": RecordBuffer(device, vec2f, data=[[1, 2]], usage="UNIFORM"),
        "bodies": RecordBuffer(device, Body, data=Body(position=np.zeros((5, 2)), mass=1)),
    }


def test_overrides_are_constants_of_the_pipeline(device: Any) -> None:
    program, given = Program(device, STEP, overrides={"factor": 3}), bound(device)
    groups = program.bind(given)
    run(program, groups)
    assert given["bodies"].read().position.tolist() == [[3, 6]] * 5
    run(program, groups, factor=10)
    assert given["bodies"].read().position.tolist() == [[13, 26]] * 5


def test_a_reload_keeps_what_fits_and_a_refused_one_changes_nothing(device: Any) -> None:
    program, given = Program(device, STEP), bound(device)
    groups = program.bind(given)
    made, layout = groups.groups[0], program.layout
    for broken in ("fn (", STEP.replace("factor * wind", "factor * nothing")):
        with pytest.raises(WgslError):
            program.reload(broken)
    assert (program.text, program.layout) == (STEP, layout)
    assert program.reload(STEP.replace("+= factor", "-= factor")) == ()
    run(program, groups)
    assert given["bodies"].read().position.tolist() == [[-1, -2]] * 5
    assert groups.groups[0] is made
    assert program.layout is layout
    # Fewer bindings: another layout, and the same groups fit it.
    assert program.reload(STEP.replace("factor * wind", "vec2f(5)")) == (0,)
    run(program, groups)
    assert given["bodies"].read().position.tolist() == [[4, 3]] * 5
    program.reload(STEP.replace("position: vec2f, mass: f32", "mass: f32, position: vec2f"))
    with pytest.raises(BindingError, match="memory of the shader's struct") as raised:
        run(program, groups)
    assert raised.value.rule == "bind-differs"
    assert "position" in str(raised.value)


RENDER = """
@group(0) @binding(0) var photo: texture_2d<f32>;
@group(0) @binding(1) var nearest: sampler;
@group(0) @binding(2) var<uniform> tint: vec4f;
struct Out { @builtin(position) place: vec4f, @location(0) uv: vec2f }
@vertex fn vs(@builtin(vertex_index) i: u32) -> Out {
  let uv = vec2f(f32(i & 1u), f32(i >> 1u)) * 2;
  return Out(vec4f(uv * 2 - 1, 0, 1), uv);
}
fn read(t: texture_2d<f32>, s: sampler, uv: vec2f) -> vec4f { return textureSample(t, s, uv); }
@fragment fn fs(in: Out) -> @location(0) vec4f { return tint * read(photo, nearest, in.uv); }
"""


def test_a_render_pipeline_by_name(device: Any) -> None:
    program = Program(device, RENDER)
    (entries,) = program.interface.bind_group_layouts("vs", "fs").values()
    assert [entry["visibility"] for entry in entries] == [wgpu.ShaderStage.FRAGMENT] * 3
    assert entries[0]["texture"]["sample_type"] == "float"
    photo = device.create_texture(
        size=(1, 1, 1), format="rgba8unorm", usage=wgpu.TextureUsage.TEXTURE_BINDING | wgpu.TextureUsage.COPY_DST
    )
    device.queue.write_texture({"texture": photo}, bytes([255, 128, 0, 255]), {"bytes_per_row": 4}, (1, 1, 1))
    target = device.create_texture(
        size=(4, 4, 1), format="rgba8unorm", usage=wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC
    )
    pipeline = device.create_render_pipeline(
        layout=program.layout,
        vertex=program.stage("vs"),
        fragment={**program.stage("fs"), "targets": [{"format": "rgba8unorm"}]},
        primitive={"topology": "triangle-list"},
    )
    tint = RecordBuffer(device, vec4f, data=[[1, 1, 1, 1]], usage="UNIFORM")
    groups = program.bind(photo=photo, nearest=device.create_sampler(), tint=tint)
    encoder = device.create_command_encoder()
    attachment = {"view": target.create_view(), "load_op": "clear", "store_op": "store", "clear_value": (0, 0, 0, 0)}
    draw = encoder.begin_render_pass(color_attachments=[attachment])
    draw.set_pipeline(pipeline)
    groups.set(draw)
    draw.draw(3)
    draw.end()
    device.queue.submit([encoder.finish()])
    layout = {"bytes_per_row": 16, "rows_per_image": 4}
    pixels = np.frombuffer(device.queue.read_texture({"texture": target}, layout, (4, 4, 1)), np.uint8)
    assert pixels.reshape(16, 4).tolist() == [[255, 128, 0, 255]] * 16


def test_two_variables_in_one_place() -> None:
    text = """@group(0) @binding(0) var<uniform> a: f32; @group(0) @binding(0) var<storage> b: array<f32>;
    @compute @workgroup_size(1) fn f() { _ = a; } @compute @workgroup_size(1) fn g() { _ = b[0]; }"""
    module = wgsl.parse(text)
    assert module.bind_group_layouts("f")[0][0]["buffer"]["type"] == "uniform"
    assert module.bind_group_layouts("g")[0][0]["buffer"]["type"] == "read-only-storage"
    with pytest.raises(BindingError) as raised:
        module.bind_group_layouts()
    assert raised.value.rule == "binding-shared"


def test_filters_can_be_said_by_name() -> None:
    module = wgsl.parse(RENDER)
    kinds = [
        (list(entry)[2], list(entry.values())[2]) for entry in module.bind_group_layouts(filterable={"photo": False})[0]
    ]
    assert kinds[0][1]["sample_type"] == "unfilterable-float"
    assert kinds[1][1]["type"] == "non-filtering"


def test_a_fixed_array_takes_records_of_its_elements(device: Any) -> None:
    program = Program(
        device,
        "@group(0) @binding(0) var<uniform> w: array<vec4f, 4>; @compute @workgroup_size(1) fn f() { _ = w[0]; }",
    )
    assert list(program.bind(w=RecordBuffer(device, vec4f, 4, usage="UNIFORM")).groups) == [0]
    assert list(program.bind(w=RecordBuffer(device, array[vec4f, 4], usage="UNIFORM")).groups) == [0]
    with pytest.raises(BindingError) as raised:
        program.bind(w=RecordBuffer(device, vec4f, 3, usage="UNIFORM"))
    assert raised.value.rule == "bind-small"
