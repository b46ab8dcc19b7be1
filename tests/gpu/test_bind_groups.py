"""Bind groups after what they are made of has changed: resized buffers, other counts, other texts, destroyed resources."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import numpy as np
import pytest
import wgpu

from gpustruct import BackendWarning, BindingError, Struct, WgslError, f32, mat3x2f, u32, vec2f, vec4f, wgsl
from gpustruct.gpu import Program, RecordBuffer, Uploader, backend

LENGTH = """
@group(0) @binding(0) var<storage> items: array<f32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32, 2>;
@compute @workgroup_size(1) fn run() { found[0] = arrayLength(&items); found[1] = bitcast<u32>(items[0]); }
"""


def run(program: Program, groups: Any, **offsets: int) -> None:
    encoder = program.device.create_command_encoder()
    compute_pass = encoder.begin_compute_pass()
    compute_pass.set_pipeline(program.compute_pipeline())
    groups.set(compute_pass, **offsets)
    compute_pass.dispatch_workgroups(1)
    compute_pass.end()
    program.device.queue.submit([encoder.finish()])


class Lengths:
    """A program that reports the length of an array and its first item."""

    def __init__(self, device: Any, items: Any) -> None:
        self.program = Program(device, LENGTH)
        self.found = RecordBuffer(device, u32, 2, count=2)
        self.groups = self.program.bind(items=items, found=self.found)

    def ask(self) -> tuple[int, float]:
        run(self.program, self.groups)
        length, bits = np.asarray(self.found.read())
        return int(length), float(np.array([bits], np.uint32).view(np.float32)[0])


def test_a_resized_buffer_is_bound_again(device: Any) -> None:
    items = RecordBuffer(device, f32, data=[5, 6, 7])
    lengths = Lengths(device, items)
    assert lengths.ask() == (3, 5)
    made, old = lengths.groups.groups[0], items.buffer
    items.resize(1000)
    assert items.buffer is not old
    items.write(f32(np.arange(900)))
    assert lengths.ask() == (900, 0)
    assert lengths.groups.groups[0] is not made


def test_array_length_follows_the_records_in_use(device: Any) -> None:
    items = RecordBuffer(device, f32, 100)
    items.write(f32([4, 5]))
    lengths = Lengths(device, items)
    assert lengths.ask() == (2, 4)
    items.append(f32([1, 2, 3]))
    assert lengths.ask() == (5, 4)
    items.count = 50
    assert lengths.ask() == (50, 4)
    items.write(f32([8]))
    assert lengths.ask() == (1, 8)
    items.clear()
    with pytest.raises(BindingError) as raised:
        lengths.ask()
    assert raised.value.rule == "buffer-empty"
    items.write(f32([9]))
    assert lengths.ask() == (1, 9)


def test_nothing_is_made_again_while_nothing_changes(device: Any) -> None:
    items = RecordBuffer(device, f32, data=[1, 2, 3])
    lengths = Lengths(device, items)
    made = dict(lengths.groups.groups)
    for value in range(5):
        items.write(f32([value, 0, 0]))
        assert lengths.ask() == (3, value)
    assert lengths.groups.groups == made


def test_only_the_group_of_the_changed_buffer_is_made_again(device: Any) -> None:
    text = LENGTH.replace("@group(0) @binding(1)", "@group(1) @binding(0)")
    program, items, found = (
        Program(device, text),
        RecordBuffer(device, f32, data=[1]),
        RecordBuffer(device, u32, 2, count=2),
    )
    groups = program.bind(items=items, found=found)
    first, second = groups.groups[0], groups.groups[1]
    items.resize(10)
    run(program, groups)
    assert groups.groups[0] is not first
    assert groups.groups[1] is second


def test_a_fixed_size_ignores_the_count(device: Any) -> None:
    program = Program(
        device,
        "@group(0) @binding(0) var<uniform> w: array<vec4f, 4>; @compute @workgroup_size(1) fn f() { _ = w[0]; }",
    )
    weights = RecordBuffer(device, vec4f, 8, usage="UNIFORM")
    groups = program.bind(w=weights)
    made = groups.groups[0]
    weights.write(vec4f(np.ones((3, 4))))
    run(program, groups)
    assert groups.groups[0] is made


def test_a_binding_given_as_a_dictionary_never_changes(device: Any) -> None:
    items = RecordBuffer(device, f32, data=[1, 2, 3])
    lengths = Lengths(device, items.binding(2))
    items.count = 1
    assert lengths.ask() == (2, 1)
    items.resize(50)
    with pytest.raises(BindingError) as raised:
        lengths.ask()
    assert raised.value.rule == "bind-destroyed"


def test_a_dropped_frame_puts_the_old_buffer_back(device: Any) -> None:
    items = RecordBuffer(device, f32, data=[1, 2, 3])
    lengths = Lengths(device, items)

    def fail() -> None:
        with Uploader.of(device).frame():
            items.resize(500)
            items.write(f32(np.ones(400)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert lengths.ask() == (3, 1)
    with Uploader.of(device).frame():
        items.resize(500)
        items.write(f32(np.ones(400)))
    assert lengths.ask() == (400, 1)


def test_a_resized_buffer_with_dynamic_offsets(device: Any) -> None:
    class Step(Struct):
        by: u32

    text = """struct Step { by: u32 } @group(0) @binding(0) var<uniform> step: Step;
    @group(0) @binding(1) var<storage, read_write> sum: u32; @compute @workgroup_size(1) fn add() { sum += step.by; }"""
    program = Program(device, text, dynamic_offsets=["step"])
    steps = RecordBuffer(device, Step, data=Step(by=[1, 2]), usage="UNIFORM", dynamic_offsets=True)
    total = RecordBuffer(device, u32, 1, count=1)
    groups = program.bind(step=steps, sum=total)
    steps.resize(8)
    steps.append(Step(by=[10, 20]))
    for offset in steps.offsets():
        run(program, groups, step=offset)
    assert np.asarray(total.read()).tolist() == [33]


@pytest.mark.parametrize("kind", ["buffer", "texture", "view"])
def test_what_is_destroyed_raises_before_a_submit_that_would_end_the_process(device: Any, kind: str) -> None:
    if kind == "buffer":
        text = "@group(0) @binding(0) var<uniform> a: vec4f; @compute @workgroup_size(1) fn f() { _ = a; }"
        resource = given = device.create_buffer(size=16, usage="UNIFORM")
    else:
        text = "@group(0) @binding(0) var a: texture_2d<f32>; @compute @workgroup_size(1) fn f() { _ = textureLoad(a, vec2u(), 0); }"
        resource = device.create_texture(size=(4, 4, 1), format="rgba8unorm", usage="TEXTURE_BINDING")
        given = resource.create_view() if kind == "view" else resource
    program = Program(device, text)
    groups = program.bind(a=given)
    run(program, groups)
    resource.destroy()
    with pytest.raises(BindingError) as raised:
        run(program, groups)
    assert raised.value.rule == "bind-destroyed"


def test_the_destroyed_buffer_is_really_destroyed(device: Any) -> None:
    program = Program(
        device, "@group(0) @binding(0) var<uniform> a: vec4f; @compute @workgroup_size(1) fn f() { _ = a; }"
    )
    buffer = device.create_buffer(size=16, usage="UNIFORM | COPY_DST")
    program.bind(a=buffer)
    buffer.destroy()
    with pytest.raises(backend.gpu_errors(), match="destroyed") as raised:
        device.queue.write_buffer(buffer, 0, bytes(16))
    # See `backend.liveness._free`.
    traceback.clear_frames(raised.tb)


# Reload.

TWO = """
struct Camera { eye: vec4f }
@group(0) @binding(0) var<uniform> camera: Camera;
@group(1) @binding(0) var<storage, read_write> items: array<f32>;
override scale = 2.0;
@compute @workgroup_size(1) fn run() { items[0] = scale * camera.eye.x; }
"""


class Camera(Struct):
    eye: vec4f


def reloadable(device: Any, **options: Any) -> tuple[Program, Any, Any]:
    program = Program(device, TWO, **options)
    camera = RecordBuffer(device, Camera, data=Camera(eye=[[3, 0, 0, 0]]), usage="UNIFORM")
    items = RecordBuffer(device, f32, data=[0])
    return program, program.bind(camera=camera, items=items), items


def test_a_reload_with_the_same_interface_keeps_every_object(device: Any) -> None:
    program, groups, items = reloadable(device)
    kept = (program.layout, dict(program.bind_group_layouts), dict(groups.groups))
    pipeline = program.compute_pipeline()
    assert program.reload(TWO.replace("scale *", "10 + scale *")) == ()
    run(program, groups)
    assert np.asarray(items.read()).tolist() == [16]
    assert (program.layout, dict(program.bind_group_layouts), dict(groups.groups)) == kept
    assert program.compute_pipeline() is not pipeline


def test_a_reload_makes_only_the_changed_groups_again(device: Any) -> None:
    program, groups, items = reloadable(device)
    first, second = groups.groups[0], groups.groups[1]
    layouts = program.bind_group_layouts
    wider = TWO.replace("eye: vec4f", "eye: vec4f, more: vec4f")
    assert program.reload(wider) == (0,)
    assert program.bind_group_layouts[0] is not layouts[0]
    assert program.bind_group_layouts[1] is layouts[1]
    # The camera no longer fits, so the groups stay as they were, and say so each time.
    for _ in range(2):
        with pytest.raises(BindingError) as raised:
            run(program, groups)
        assert raised.value.rule == "bind-differs"
    assert groups.groups == {0: first, 1: second}
    assert program.reload(TWO) == (0,)
    run(program, groups)
    assert np.asarray(items.read()).tolist() == [6]
    assert groups.groups[1] is second


def test_a_reload_that_needs_another_resource_says_which(device: Any) -> None:
    program, groups, _ = reloadable(device)
    more = TWO.replace("override", "@group(1) @binding(1) var<uniform> gain: f32;\noverride").replace(
        "scale *", "gain * scale *"
    )
    assert program.reload(more) == (1,)
    with pytest.raises(BindingError) as raised:
        run(program, groups)
    assert raised.value.rule == "bind-missing"
    assert "gain" in str(raised.value)


def test_a_reload_without_a_binding_leaves_it_out(device: Any) -> None:
    program, groups, items = reloadable(device)
    text = TWO.replace("@group(0) @binding(0) var<uniform> camera: Camera;", "").replace("camera.eye.x", "50")
    assert program.reload(text) == (0,)
    run(program, groups)
    assert np.asarray(items.read()).tolist() == [100]
    program.reload(TWO)
    run(program, groups)
    assert np.asarray(items.read()).tolist() == [6]


@pytest.mark.parametrize(
    "text",
    [
        "fn (",
        "",
        TWO.replace("run()", "run(x: u32)"),
        TWO.replace("camera.eye.x", "nothing"),
        TWO.replace("var<uniform> camera: Camera", "var<uniform> camera: Lens"),
    ],
)
def test_a_refused_reload_changes_nothing(device: Any, text: str) -> None:
    program, groups, items = reloadable(device, entry_points=["run"])
    before = (program.text, program.module, program.layout, program.interface)
    pipeline = program.compute_pipeline()
    with pytest.raises((WgslError, BindingError)):
        program.reload(text)
    assert (program.text, program.module, program.layout, program.interface) == before
    assert program.compute_pipeline() is pipeline
    run(program, groups)
    assert np.asarray(items.read()).tolist() == [6]


def test_overrides_stay_over_a_reload_while_they_are_declared(device: Any) -> None:
    program, groups, items = reloadable(device, overrides={"scale": 7})
    program.reload(TWO.replace("eye.x", "eye.x + 1"))
    run(program, groups)
    assert np.asarray(items.read()).tolist() == [22]
    program.reload(TWO.replace("override scale = 2.0;", "const scale = 4.0;"))
    run(program, groups)
    assert np.asarray(items.read()).tolist() == [12]
    program.reload(TWO, overrides={"scale": 5})
    run(program, groups)
    assert np.asarray(items.read()).tolist() == [15]


# Warnings.

NESTED = """struct Inner { m: mat3x2f } struct Outer { inner: Inner }
@group(0) @binding(0) var<uniform> outer: Outer;
@compute @workgroup_size(1) fn run() { _ = outer.inner.m; }"""


class Inner(Struct):
    m: mat3x2f


class Outer(Struct):
    inner: Inner


@pytest.mark.parametrize("call", ["parse", "check", "Program", "reload", "stage"])
def test_warnings_name_the_line_of_the_caller(device: Any, call: str) -> None:
    program = Program(device, "@compute @workgroup_size(1) fn run() {}")
    text = NESTED + "override scale = 1.0;" * (call == "stage")
    if call == "stage":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = Program(device, text)
    calls = {
        "parse": lambda: wgsl.parse(text),
        "check": lambda: wgsl.check(Outer, text),
        "Program": lambda: Program(device, text),
        "reload": lambda: program.reload(text),
        "stage": lambda: program.stage("run", overrides={"scale": 2}),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        calls[call]()
    if backend.of(device).compiler != "naga" and call in ("Program", "reload", "stage"):
        # A program warns of its own device's compiler alone, and the text has a fault of naga.
        assert not caught
        return
    assert {warning.category for warning in caught} == {BackendWarning}
    assert {(warning.filename, warning.lineno) for warning in caught} == {
        (__file__, calls[call].__code__.co_firstlineno)
    }


SEVERAL = """struct Body { position: vec2f, mass: f32 }
@group(0) @binding(0) var<uniform> time: vec4f;
@group(0) @binding(1) var<storage, read_write> bodies: array<Body>;
@group(0) @binding(2) var photo: texture_2d<f32>;
@group(0) @binding(3) var linear: sampler;
@group(0) @binding(4) var image: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(1) fn run() {
    bodies[0].mass = time.x;
    textureStore(image, vec2u(), textureSampleLevel(photo, linear, vec2f(), 0.0));
}"""


def several(device: Any) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """What fits SEVERAL, and what does not fit one of its variables."""

    def texture(**options: Any) -> Any:
        found = {"size": (8, 8, 1), "format": "rgba8unorm", "usage": "TEXTURE_BINDING | STORAGE_BINDING", **options}
        return device.create_texture(**found)

    class Body(Struct):
        position: vec2f
        mass: f32

    class Swapped(Struct):
        mass: f32
        position: vec2f

    other = wgpu.gpu.request_adapter_sync().request_device_sync()
    buffer, image = device.create_buffer(size=1024, usage="UNIFORM | STORAGE"), texture()
    destroyed = device.create_buffer(size=1024, usage="UNIFORM | STORAGE")
    gone = texture()
    good = {
        "time": RecordBuffer(device, vec4f, 1, count=1, usage="UNIFORM"),
        "bodies": RecordBuffer(device, Body, 10, count=10),
        "photo": texture(),
        "linear": device.create_sampler(),
        "image": image,
    }
    program = Program(device, SEVERAL)
    program.bind({**good, "bodies": destroyed, "photo": gone})
    destroyed.destroy()
    gone.destroy()
    wrong = [
        ("time", RecordBuffer(device, vec4f, 1, count=1)),
        ("time", {"buffer": buffer, "offset": 8, "size": 16}),
        ("time", {"buffer": buffer, "offset": 0, "size": 12}),
        ("time", {"buffer": buffer, "offset": 1024, "size": 16}),
        ("time", other.create_buffer(size=16, usage="UNIFORM")),
        ("bodies", RecordBuffer(device, Swapped, 10, count=10)),
        ("bodies", RecordBuffer(device, Body, 10)),
        ("bodies", destroyed),
        ("bodies", {"buffer": buffer, "offset": 0, "size": 18}),
        ("bodies", {"buffer": buffer, "offset": 0, "size": 1 << 40}),
        ("photo", texture(format="rgba8uint")),
        ("photo", texture(format="r32float", usage="TEXTURE_BINDING")),
        ("photo", texture(size=(8, 8, 1), sample_count=4, usage="TEXTURE_BINDING | RENDER_ATTACHMENT")),
        ("photo", texture(dimension="3d")),
        ("photo", texture(usage="COPY_SRC")),
        ("photo", gone),
        ("photo", good["linear"]),
        ("photo", image),
        ("linear", other.create_sampler()),
        ("image", texture(format="rgba8uint")),
        ("image", buffer),
    ]
    return good, wrong


def test_every_check_is_made_in_each_bind(device: Any) -> None:
    good, wrong = several(device)
    used = Program(device, SEVERAL)
    used.bind(good)
    for name, thing in wrong:
        with pytest.raises(BindingError) as first:
            Program(device, SEVERAL).bind({**good, name: thing})
        for _ in range(2):
            with pytest.raises(BindingError) as again:
                used.bind({**good, name: thing})
            assert str(again.value) == str(first.value)
        used.bind(good)
    assert len(wrong) >= 20
