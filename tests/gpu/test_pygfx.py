"""Records in a pygfx buffer are on the device as the shader reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pygfx as gfx
from pygfx.renderers.wgpu.engine.shared import get_shared
from pygfx.renderers.wgpu.engine.update import ensure_wgpu_object, update_resource
from wgpu import BufferUsage

from gpustruct import Struct, dtype_of, f32, pack, vec3f


class Particle(Struct):
    position: vec3f
    life: f32
    color: vec3f


def sent(buffer: Any) -> np.ndarray:
    """The buffer's words as its device has them, read with wgpu alone."""
    found = ensure_wgpu_object(buffer)
    update_resource(buffer)
    data = get_shared().device.queue.read_buffer(found)
    return np.frombuffer(data, np.float32).reshape(-1, 8)


def test_a_pygfx_buffer_of_records(device: Any) -> None:
    data = pack(Particle(position=np.arange(30).reshape(10, 3), life=np.arange(10), color=(1, 2, 3)))
    usage = BufferUsage.STORAGE | BufferUsage.COPY_SRC | BufferUsage.COPY_DST
    buffer = gfx.Buffer(data.view(dtype_of(Particle)), usage=usage)
    words = sent(buffer)
    assert words[4].tolist() == [12, 13, 14, 4, 1, 2, 3, 0]

    pack(Particle(position=np.ones((10, 3)), life=7, color=(4, 5, 6)), out=data)
    buffer.update_full()
    assert sent(buffer)[9].tolist() == [1, 1, 1, 7, 4, 5, 6, 0]
