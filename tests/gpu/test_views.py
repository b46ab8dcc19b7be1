"""Views on a device: their bytes arrive, only what changed goes up, other writes are not overlooked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import wgpu

from gpustruct import BindingError, Struct, array, f16, f32, mat4x4f, u32, vec3f, view
from gpustruct.gpu import read_buffer, write_buffer

USAGE = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC


class Light(Struct):
    color: vec3f
    power: f32


class Scene(Struct):
    camera: mat4x4f
    lights: array[Light, 4]
    count: u32


def test_a_view_goes_up(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = device.create_buffer(size=256, usage=USAGE)
    scene = view(Scene)
    scene.camera = np.arange(16.0).reshape(4, 4)
    sent: list[int] = []
    original = type(device.queue).write_buffer

    def counted(queue: Any, target: Any, at: int, data: Any, *rest: Any) -> None:
        sent.append(memoryview(data).nbytes)
        original(queue, target, at, data, *rest)

    monkeypatch.setattr(type(device.queue), "write_buffer", counted)
    write_buffer(device.queue, buffer, scene)
    assert np.array_equal(read_buffer(device, buffer, Scene, 1).camera[0], np.arange(16.0).reshape(4, 4))
    sent.clear()
    write_buffer(device.queue, buffer, scene)
    assert not sent, "nothing has changed"
    scene.lights[3].power = 5
    write_buffer(device.queue, buffer, scene)
    assert sum(sent) == 4
    assert read_buffer(device, buffer, Scene, 1).lights.power[0, 3] == 5
    # Another write to the buffer: what the view holds there is no longer known.
    write_buffer(device, buffer, f32(np.zeros(60)))
    write_buffer(device.queue, buffer, scene)
    assert read_buffer(device, buffer, Scene, 1).lights.power[0, 3] == 5


def test_rows_of_views_and_odd_ones(device: Any) -> None:
    buffer = device.create_buffer(size=64, usage=USAGE)
    write_buffer(device, buffer, f32(np.ones(16)))
    rows = view(Light, count=3)
    rows[2].power = 7
    write_buffer(device, buffer, rows)
    assert read_buffer(device, buffer, Light, 3).power.tolist() == [0, 0, 7]

    class Half(Struct):
        a: f16
        b: f16
        c: f16

    odd = view(Half)
    odd.c = 2
    write_buffer(device, buffer, odd, 48)
    words = np.asarray(read_buffer(device, buffer, u32, 16))
    assert words[12] == 0 and words[13] == 0x3F804000


def test_refusals(device: Any) -> None:
    buffer = device.create_buffer(size=16, usage=USAGE)
    with pytest.raises(BindingError):
        write_buffer(device, buffer, view(Scene))
    with pytest.raises(BindingError):
        write_buffer(device, buffer, view(Light), 2)
    with pytest.raises(BindingError):
        write_buffer(device, "buffer", view(Light))
