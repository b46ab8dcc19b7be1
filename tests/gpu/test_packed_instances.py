"""The field of examples/instances.py, drawn from packed vertex data and from structs of float32 in a storage buffer."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpustruct import Struct, layout_of, pack, unpack, vec2f, vec3f, vec4f, vertex, wgsl
from gpustruct.gpu import Program, RecordBuffer

COUNT, WIDTH, HEIGHT = 120_000, 640, 400


class Plain(Struct):
    position: vec3f
    normal: vec3f
    light: vec2f
    color: vec4f


ENTRY = """
@group(0) @binding(1) var<storage, read> plain: array<Plain>;
@vertex fn from_structs(@builtin(vertex_index) i: u32, @builtin(instance_index) n: u32) -> Corner {
    return tulip(i, plain[n].position, plain[n].normal, plain[n].light, plain[n].color.rgb);
}
"""


@pytest.fixture(scope="module")
def example() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
        return importlib.import_module("instances")


@pytest.fixture(scope="module")
def columns(example: Any) -> dict[str, np.ndarray]:
    return example.field(COUNT)


def draw(device: Any, example: Any, records: Any, target: str) -> np.ndarray:
    """The picture, from a batch of Tulip or of Plain."""
    is_packed = isinstance(records, example.Tulip)
    entry = "corner" if is_packed else "from_structs"
    text = example.SHADER + wgsl.declare(Plain) + ENTRY
    program = Program(device, text, entry_points=(entry, "paint"))
    buffer = RecordBuffer(device, type(records), usage="VERTEX" if is_packed else "STORAGE", data=records)
    scene = RecordBuffer(device, example.Scene, usage="UNIFORM", data=example.Scene(size=(WIDTH, HEIGHT), time=0.25))
    groups = program.bind(scene=scene, plain=buffer) if not is_packed else program.bind(scene=scene)
    layouts = [vertex.layout(example.Tulip, step_mode="instance")] if is_packed else []
    pipeline = device.create_render_pipeline(
        layout=program.layout,
        vertex={**program.stage(entry), "buffers": layouts},
        fragment={**program.stage("paint"), "targets": [{"format": target}]},
        primitive={"topology": "triangle-strip"},
    )
    texture = device.create_texture(size=(WIDTH, HEIGHT, 1), format=target, usage="RENDER_ATTACHMENT | COPY_SRC")
    attachment = {"view": texture.create_view(), "load_op": "clear", "store_op": "store", "clear_value": (0, 0, 0, 0)}
    encoder = device.create_command_encoder()
    drawing = encoder.begin_render_pass(color_attachments=[attachment])
    drawing.set_pipeline(pipeline)
    groups.set(drawing)
    if is_packed:
        drawing.set_vertex_buffer(0, buffer.buffer)
    drawing.draw(16, COUNT)
    drawing.end()
    device.queue.submit([encoder.finish()])
    dtype = np.dtype("f4" if "float" in target else "u1")
    layout = {"bytes_per_row": WIDTH * 4 * dtype.itemsize, "rows_per_image": HEIGHT}
    data = device.queue.read_texture({"texture": texture}, layout, (WIDTH, HEIGHT, 1))
    return np.frombuffer(data, dtype).reshape(HEIGHT, WIDTH, 4)


def plain(columns: dict[str, Any]) -> Plain:
    return Plain(**{**columns, "normal": np.asarray(columns["normal"])[:, :3]})


def test_the_pictures_are_equal_within_the_steps_of_the_formats(
    device: Any, example: Any, columns: dict[str, np.ndarray]
) -> None:
    assert (layout_of(example.Tulip).stride, layout_of(Plain).stride) == (24, 64)
    packed = draw(device, example, example.Tulip(**columns), "rgba32float")
    structs = draw(device, example, plain(columns), "rgba32float")
    # Where something was drawn: positions are float32 in both, so not a pixel moves.
    assert np.array_equal(packed[..., 3], structs[..., 3])
    assert packed[..., 3].mean() > 0.5
    # The most that half a step can change in `tulip`: the vector that is normalized is longer than 1.
    sun, sky = np.array([2.6, 2.0, 1.4]), np.array([0.34, 0.32, 0.45])
    normal, light, color = np.sqrt(3) / 254, 1 / 131070, 1 / 510
    most = color * (sun + sky) + (normal + light) * sun + light * sky
    apart = np.abs(packed - structs)[..., :3].max((0, 1))
    assert (apart <= most).all()
    # What was rounded shows.
    assert (apart > most / 8).all()


def test_the_pictures_are_equal_from_the_values_that_unpack_gives(
    device: Any, example: Any, columns: dict[str, np.ndarray]
) -> None:
    tulips = example.Tulip(**columns)
    decoded = unpack(example.Tulip, pack(tulips))
    values = {name: getattr(decoded, name) for name in columns}
    for target, step in ("rgba32float", 1e-4), ("rgba8unorm-srgb", 1):
        packed = draw(device, example, tulips, target)
        structs = draw(device, example, plain(values), target)
        # A device may multiply by a reciprocal where we divide; in a thin triangle the difference grows.
        assert np.abs(packed.astype(float) - structs).max() <= step, target


def test_in_eight_bits_few_pixels_differ_by_more_than_one(
    device: Any, example: Any, columns: dict[str, np.ndarray]
) -> None:
    packed = draw(device, example, example.Tulip(**columns), "rgba8unorm-srgb").astype(int)
    structs = draw(device, example, plain(columns), "rgba8unorm-srgb").astype(int)
    apart = np.abs(packed - structs).max(-1)
    differ = [int((apart > k).sum()) for k in range(3)]
    assert 0 < apart.max() <= 3, f"the largest difference is {apart.max()} of 255"
    assert differ[1] < 2560, f"pixels that differ by more than 0, 1 and 2: {differ}"
