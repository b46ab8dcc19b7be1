"""Wrong bindings, each with the exact words of its error: bad_bindings/*.txt. Nothing of them reaches wgpu.

The files have the format of bad_schemas. Run as a script, this writes them again with the messages of today: read the diff.
"""

from __future__ import annotations

import ast
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wgpu
from wgpu.backends.wgpu_native import _api

import gpustruct
from gpustruct import Struct, f16, f32, vec2f, vec4f
from gpustruct.gpu import Program, RecordBuffer
from messages import Case, read, write_again

FOLDER = Path(__file__).parent.parent / "bad_bindings"
# Only wgpu can check these: wgpu-py has no attribute for a view's dimension, levels and aspect, for a sampler's filters, or for
# what was destroyed before gpustruct saw it. It refuses them while the group is made, before any command is recorded.
REFUSED = FOLDER / "refused-by-wgpu.txt"
CASES = [case for file in sorted(FOLDER.glob("*.txt")) for case in read(file)]
ASKED = {"wgpuDeviceCreateBindGroup", "wgpuTextureCreateView"}


class Body(Struct):
    position: vec2f
    mass: f32


class Swapped(Struct):
    mass: f32
    position: vec2f


class Renamed(Struct):
    position: vec2f
    weight: f32


class Halves(Struct):
    position: vec2f
    mass: f16


class Short(Struct):
    position: vec2f


class Long(Struct):
    position: vec2f
    mass: f32
    age: f32
    name: vec2f


class Outer(Struct):
    body: Swapped
    scale: f32


TIME = """@group(0) @binding(0) var<uniform> time: vec4f; @group(0) @binding(1) var<storage, read_write> sums: array<f32>;
@compute @workgroup_size(1) fn run() { sums[0] = time.x; }"""
STORE = "@group(0) @binding(0) var image: texture_storage_2d<rgba8unorm, write>; @compute @workgroup_size(1) fn run() { textureStore(image, vec2u(), vec4f()); }"


class Counting:
    """wgpu-native's functions, and the names of those that this thread calls."""

    def __init__(self, functions: Any) -> None:
        self._functions, self.called, self._thread = functions, list[str](), threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        # The garbage collector may release objects at any time.
        if threading.get_ident() == self._thread and "Release" not in name:
            self.called.append(name)
        return getattr(self._functions, name)


def new_device(**limits: int) -> Any:
    # The default limits of WebGPU: the messages are the same on every device.
    limits = {"min-uniform-buffer-offset-alignment": 256, "min-storage-buffer-offset-alignment": 256, **limits}
    adapter = wgpu.gpu.request_adapter_sync()
    features = [name for name in ("shader-f16",) if name in adapter.features]
    return adapter.request_device_sync(required_features=features, required_limits=limits)


def scope(device: Any) -> dict[str, Any]:
    def shader(variables: str, body: str = "", structs: str = "", **options: Any) -> Program:
        structs += "struct Body { position: vec2f, mass: f32 }\n" if "Body" in variables + structs else ""
        first = "@group(0) @binding(0) " if variables else ""
        return Program(
            device, f"{structs}\n{first}{variables}\n@compute @workgroup_size(1) fn run() {{ {body} }}", **options
        )

    def buffer(size: int = 1024, usage: str = "UNIFORM | STORAGE", on: Any = device) -> Any:
        return on.create_buffer(size=size, usage=usage)

    def texture(
        format: str = "rgba8unorm",
        size: Any = (8, 8, 1),
        usage: str = "TEXTURE_BINDING",
        on: Any = device,
        **options: Any,
    ) -> Any:
        return on.create_texture(size=size, format=format, usage=usage, **options)

    two = TIME.replace("@group(0) @binding(1)", "@group(1) @binding(0)")
    limited = new_device(
        **{
            "max-uniform-buffer-binding-size": 65536,
            "max-storage-buffer-binding-size": 1 << 27,
            "max-buffer-size": 1 << 28,
        }
    )
    dynamic = Program(device, TIME, dynamic_offsets=["time"])
    sums = RecordBuffer(device, f32, data=[1, 2])
    spaced = RecordBuffer(device, vec4f, data=np.zeros((3, 4)), usage="UNIFORM", dynamic_offsets=True)
    return {
        **{name: getattr(gpustruct, name) for name in gpustruct.__all__},
        **{cls.__name__: cls for cls in (Body, Swapped, Renamed, Halves, Short, Long, Outer)},
        "np": np, "wgpu": wgpu, "device": device, "other": new_device(), "limited": limited,
        "Program": Program, "RecordBuffer": RecordBuffer, "shader": shader, "buffer": buffer, "texture": texture,
        "PROGRAM": Program(device, TIME), "TWO_GROUPS": Program(device, two), "small_limits": Program(limited, TIME), "DYNAMIC": dynamic,
        "BODIES": shader("var<storage> bodies: array<Body>;", "_ = bodies[0];"),
        "IMAGE": shader("var image: texture_2d<f32>;", "_ = textureLoad(image, vec2u(), 0);"),
        "SAMPLED": shader("var image: texture_2d<f32>; @group(0) @binding(1) var s: sampler;", "_ = textureSampleLevel(image, s, vec2f(), 0);"),
        "STORE": Program(device, STORE),
        "SUMS": sums, "TIME": RecordBuffer(device, vec4f, data=[[1, 2, 3, 4]], usage="UNIFORM"),
        "DYNAMIC_GROUPS": dynamic.bind(time=spaced, sums=sums), "PASS": device.create_command_encoder().begin_compute_pass(),
    }  # fmt: skip


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    return scope(new_device())


def test_there_are_enough_cases_and_no_two_share_a_title_or_a_message() -> None:
    ours = [case for case in CASES if case.file != REFUSED]
    assert len(ours) >= 100
    assert len({(case.file, case.title) for case in CASES}) == len(CASES)
    assert all(case.expected.startswith("BindingError ") for case in CASES)
    # The few that share one are the same mistake, made in two ways.
    assert len({case.expected for case in ours}) >= len(ours) - 8


STORAGE_LIMIT = "max-storage-buffer-binding-size"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file.stem}: {case.title}")
def test_the_exact_message_and_no_call_to_wgpu(
    case: Case, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if case.title == "storage above the device's limit" and names["device"].adapter.limits[STORAGE_LIMIT] > 2**27:
        pytest.skip("its message is that of an adapter that allows no more than 128 MiB")
    found = dict(names)
    # All but the wrong call, and everything that is made for its arguments.
    *setup, last = ast.parse(case.code).body
    for statement in setup:
        exec(compile(ast.unparse(statement), str(case.file), "exec"), found)
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    call = last.value
    function = eval(ast.unparse(call.func), found)
    arguments = [eval(ast.unparse(argument), found) for argument in call.args]
    keywords = {keyword.arg: eval(ast.unparse(keyword.value), found) for keyword in call.keywords}
    counting = Counting(_api.libf)
    monkeypatch.setattr(_api, "libf", counting)
    with pytest.raises(gpustruct.BindingError) as raised:
        function(*arguments, **keywords)
    monkeypatch.undo()
    assert f"BindingError {raised.value.rule}\n{raised.value}" == case.expected
    if case.file == REFUSED:
        assert set(counting.called) <= ASKED
        assert raised.value.rule == "bind-refused"
    else:
        assert counting.called == []


def test_the_calls_are_counted(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(_api.libf)
    monkeypatch.setattr(_api, "libf", counting)
    names["PROGRAM"].bind(time=names["TIME"], sums=names["SUMS"])
    assert counting.called == ["wgpuDeviceCreateBindGroup"]


if __name__ == "__main__":
    device = new_device()
    for file in sorted(FOLDER.glob("*.txt")):
        write_again(file, lambda: scope(device))
