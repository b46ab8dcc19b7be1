"""verify: the device as the oracle, and proof that it can say no."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings

import truth
from gpustruct import (
    BindingError,
    LayoutError,
    Struct,
    align,
    array,
    atomic,
    f16,
    f32,
    i32,
    layout_of,
    mat2x2f,
    mat2x3f,
    mat3x2h,
    mat3x3f,
    pack,
    u32,
    vec2f,
    vec2h,
    vec3f,
    vec3h,
    vec4f,
)
from gpustruct.gpu import verify
from gpustruct.types import PLAIN_TYPES, make_struct
from strategies import structs


@pytest.mark.long
@settings(max_examples=320, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(structs(max_members=4, max_depth=1, max_count=3))
def test_random_structs(device: Any, cls: Any) -> None:
    report = verify(cls, device)
    assert report, f"{report}\n{layout_of(cls)}"


@pytest.mark.parametrize("case", range(len(truth.CASES)))
def test_modules_of_the_truth(device: Any, case: int) -> None:
    report = verify(truth.build(truth.CASES[case]), device)
    assert report, str(report)


@pytest.mark.parametrize("name", sorted(PLAIN_TYPES))
def test_plain_types(device: Any, name: str) -> None:
    assert verify(PLAIN_TYPES[name], device)


class Inner(Struct):
    rows: mat2x2f
    count: i32


class Everything(Struct):
    half: f16
    halves: vec3h
    turned: mat3x2h
    table: Annotated[array[array[vec2f, 3], 2], align(16)]
    inner: array[Inner, 2]
    counter: atomic[u32]
    tail: array[Inner]


class Uniform(Struct):
    a: vec2f
    inner: Annotated[Inner, align(16)]
    after: Annotated[f32, align(16)]


@pytest.mark.parametrize(
    "T",
    [
        Everything,
        Uniform,
        array[f16],
        array[vec3f],
        array[Inner],
        array[Inner, 3],
        array[array[f32, 3], 5],
        array[f32, 200_000],
    ],
    ids=str,
)
def test_shapes_of_types(device: Any, T: Any) -> None:
    assert verify(T, device)


def test_uniform_is_asked_where_it_is_legal(device: Any) -> None:
    assert "uniform read" in verify(Uniform, device).checks
    assert "uniform read" not in verify(array[f32, 4], device).checks


def moved(cls: Any, name: str, by: int) -> Any:
    """A copy of `cls` whose layout says that a member starts `by` bytes away from where it does."""
    wrong = make_struct(cls.__name__, {member: cls.__members__[member].type for member in cls.__members__})
    fields = tuple(
        dataclasses.replace(field, offset=field.offset + by) if field.name == name else field
        for field in layout_of(cls).fields
    )
    type.__setattr__(wrong, "__layout__", dataclasses.replace(layout_of(cls), fields=fields))
    return wrong


class Light(Struct):
    position: vec3f
    intensity: f32
    color: vec3f
    on: vec2h
    last: Annotated[f32, align(16)]


def test_a_wrong_layout_is_reported(device: Any) -> None:
    assert verify(Light, device)
    report = verify(moved(Light, "intensity", 24), device)
    assert not report
    read = next(fault for fault in report.faults if fault.how == "storage read" and fault.where == "Light.intensity[0]")
    assert read.expected == 36
    assert "Light.intensity[0]: the layout says byte 36, the device reads" in str(report)
    write = next(fault for fault in report.faults if fault.how == "storage write" and "intensity" in fault.where)
    assert (write.expected, write.found) == (36, 12)
    assert any(fault.how == "uniform read" for fault in report.faults)


def test_a_wrong_half_is_reported(device: Any) -> None:
    report = verify(moved(Light, "on", 14), device)
    assert {fault.where for fault in report.faults} == {"Light.on[0]", "Light.on[0][0]"}
    assert {(fault.expected, fault.found, fault.total) for fault in report.faults} >= {(42, 28, 6)}


def test_a_wrong_stride_is_reported(device: Any) -> None:
    wrong = make_struct("Light", {"position": vec3f})
    type.__setattr__(wrong, "__layout__", dataclasses.replace(layout_of(wrong), size=32))
    report = verify(wrong, device)
    assert not report
    assert "arrayLength" in str(report)


def test_matrices_are_row_col(device: Any) -> None:
    """A matrix packed from [row, col] maps vectors in the shader as ``M @ v`` does in numpy."""
    import wgpu

    matrix = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    square = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]], np.float32)

    class Input(Struct):
        m: mat2x3f
        n: mat3x3f

    code = """
        struct Input { m: mat2x3f, n: mat3x3f }
        @group(0) @binding(0) var<storage, read_write> given: Input;
        @group(0) @binding(1) var<storage, read_write> made: array<vec3f, 2>;
        @compute @workgroup_size(1) fn main() {
            made[0] = given.m * vec2f(10.0, 100.0);
            made[1] = given.n * vec3f(10.0, 100.0, 1000.0);
        }"""
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    buffers = [
        device.create_buffer_with_data(data=pack(Input(m=matrix, n=square)), usage=usage),
        device.create_buffer(size=32, usage=usage),
    ]
    compute = {"module": device.create_shader_module(code=code), "entry_point": "main"}
    pipeline = device.create_compute_pipeline(layout="auto", compute=compute)
    entries = [{"binding": k, "resource": {"buffer": buffer}} for k, buffer in enumerate(buffers)]
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(pipeline)
    work.set_bind_group(0, group)
    work.dispatch_workgroups(1)
    work.end()
    device.queue.submit([encoder.finish()])
    made = np.frombuffer(device.queue.read_buffer(buffers[1]), np.float32).reshape(2, 4)[:, :3]
    np.testing.assert_array_equal(made[0], matrix @ [10, 100])
    np.testing.assert_array_equal(made[1], square @ [10, 100, 1000])


def test_names_that_the_shader_uses(device: Any) -> None:
    odd = make_struct("SOURCE_", {"ASK": f32, "FOUND": vec4f, "i0": make_struct("i0", {"s0": f32})})
    assert verify(odd, device)


def test_refusals(device: Any, new_device: Any) -> None:
    with pytest.raises(LayoutError, match="takes a gpustruct type"):
        verify(float, device)
    with pytest.raises(BindingError, match="takes a wgpu device or its queue"):
        verify(f32, "device")
    limit = "max-storage-buffer-binding-size"
    small = new_device(required_limits={limit: 1 << 16})
    with pytest.raises(BindingError, match=limit):
        verify(array[f32, small.limits[limit] // 4 + 1], small)


def test_f16_needs_the_feature(new_device: Any) -> None:
    plain = new_device()
    assert verify(vec3f, plain)
    with pytest.raises(BindingError, match="the device needs the feature shader-f16"):
        verify(Everything, plain)


def test_a_lost_default_device_is_replaced(device: Any, new_device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpustruct.gpu import devices

    gone = new_device()
    gone.destroy()
    monkeypatch.setattr(devices._Default, "device", gone)
    assert devices.default_device() is not gone
    assert verify(Light)


def test_report_prints(device: Any) -> None:
    text = str(verify(Light, device))
    assert text.startswith("Light: every leaf is where the layout says; ")
    assert "arrayLength 3" in text
