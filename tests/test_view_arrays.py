"""Arrays in views: slices, columns, batches, lists that are too short; and a view as a batch of one."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from gpustruct import (
    SourceError,
    Struct,
    array,
    batch,
    dtype_of,
    f32,
    layout_of,
    mat3x3f,
    pack,
    u32,
    uniform_safe,
    unpack,
    vec3f,
    view,
)  # fmt: skip
from gpustruct.batches import as_batch
from gpustruct.views import update, zero_filled


class Light(Struct):
    color: vec3f
    power: f32


class Camera(Struct):
    turned: mat3x3f
    time: f32


class Scene(Struct):
    camera: Camera
    lights: array[Light, 4]
    grid: array[array[Light, 2], 3]
    ids: array[u32, 6]


class System(Struct):
    n: u32
    lights: array[Light]


def light(k: float) -> bytes:
    return struct.pack("<4f", k, k + 1, k + 2, 10 * k)


def value(k: float) -> dict[str, Any]:
    return {"color": (k, k + 1, k + 2), "power": 10 * k}


def test_slices_are_records_over_the_same_bytes() -> None:
    scene = view(Scene)
    middle = scene.lights[1:3]
    assert len(middle) == 2
    middle[0] = value(1)
    middle[-1].power = 7
    assert bytes(scene.lights) == bytes(16) + light(1) + struct.pack("<4f", 0, 0, 0, 7) + bytes(16)
    assert bytes(scene.lights[2:]) == bytes(scene.lights)[32:]
    assert len(scene.lights[4:]) == len(scene.lights[3:1]) == 0
    assert bytes(scene.lights[-3:][:1]) == light(1)
    assert len(scene.grid[1:][0][1:]) == 1


@pytest.mark.parametrize(
    "values",
    [
        [value(1), value(2)],
        (((1, 2, 3), 10), ((2, 3, 4), 20)),
        Light(color=[(1, 2, 3), (2, 3, 4)], power=[10, 20]),
        {"color": [(1, 2, 3), (2, 3, 4)], "power": [10, 20]},
        np.array([((1, 2, 3), 10), ((2, 3, 4), 20)], dtype_of(Light)),
        [Light(color=(1, 2, 3), power=10), Light(color=(2, 3, 4), power=20)],
    ],
    ids=["dicts", "tuples", "batch", "columns", "structured", "batches of one"],
)
def test_slices_take_as_many_records_as_they_have(values: Any) -> None:
    scene = view(Scene)
    scene.lights[1:3] = values
    assert bytes(scene.lights) == bytes(16) + light(1) + light(2) + bytes(16)
    # From another view, and from an overlapping part of the same.
    scene.lights[0:2] = scene.lights[1:3]
    assert bytes(scene.lights) == light(1) + light(2) + light(2) + bytes(16)
    before = bytes(scene)
    for wrong in ([value(1)], [value(1)] * 3, Light(color=[(1, 2, 3)], power=1), value(1) | {"power": [1, 2, 3]}, 5):
        with pytest.raises(SourceError):
            scene.lights[1:3] = wrong
    assert bytes(scene) == before
    with pytest.raises(SourceError):
        scene.lights[4:] = [value(1)]
    scene.lights[4:] = []


def test_a_slice_has_no_step() -> None:
    with pytest.raises(IndexError, match=r"no step \(current: 2\) - at Scene\.lights; slice one member of all of them"):
        view(Scene).lights[::2]
    scene = view(Scene)
    scene.lights.power[::2] = 3  # The way out that the error names.
    assert [one.power for one in scene.lights] == [3, 0, 3, 0]


def test_members_of_all_records_are_columns() -> None:
    scene = view(Scene)
    scene.lights.color = np.arange(12).reshape(4, 3)
    scene.lights.power = 2
    scene.lights.power *= np.arange(4)
    assert bytes(scene.lights) == struct.pack("<16f", *[0, 1, 2, 0, 3, 4, 5, 2, 6, 7, 8, 4, 9, 10, 11, 6])
    assert scene.lights.color.shape == (4, 3)
    assert scene.lights[1:3].power.tolist() == [2, 4]
    scene.lights[1:3].color[:, 0] = 9
    assert scene.lights.color[:, 0].tolist() == [0, 9, 9, 9]
    scene.grid.power = np.arange(6).reshape(3, 2)
    assert scene.grid[2][0].power == 4
    scene.grid[1].power = 8
    assert scene.grid.power.tolist() == [[0, 1], [8, 8], [4, 5]]
    system = view(System, count=3)
    system.lights.power = [1, 2, 3]
    assert system.lights[2].power == 3
    lights = view(Light, count=2)
    lights.color = (1, 2, 3)
    assert bytes(lights) == struct.pack("<8f", 1, 2, 3, 0, 1, 2, 3, 0)


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("scene.lights.power = [1, 2, 3]", "record-shape"),
        ("scene.lights.power = np.ones((2, 4))", "record-shape"),
        ("scene.lights.color = np.ones((3, 4))", "column-shape"),
        ("scene.lights.color = np.full((4, 3), 1e39)", "range-float"),
        ("scene.lights.power = 1j", "column-dtype"),
        ("scene.lights.power = [1, None, 2, 3]", "column-masked column-missing-value"),
        ("scene.ids = zero_filled([1, -1])", "range-integer"),
        ("scene.ids = zero_filled(range(7))", "column-source record-shape"),
        ("scene.lights = zero_filled([((1, 2, 3), 1)] * 5)", "record-length"),
        ("scene.lights = zero_filled([((1, 2), 1)])", "record-shape"),
        ("scene.ids = [1, 2]", "record-shape"),
        ("scene.lights = []", "record-length"),
    ],
)
def test_what_fails_changes_nothing(code: str, rule: str) -> None:
    memory = np.random.default_rng(1).integers(0, 60, layout_of(Scene).size, np.uint8)
    before = memory.tobytes()
    with pytest.raises(SourceError) as caught:
        exec(code, {**globals(), "scene": view(Scene, memory)})
    assert caught.value.rule in rule.split()
    assert memory.tobytes() == before


def test_lists_that_are_too_short_are_filled_on_request() -> None:
    scene = view(Scene)
    scene.ids = [9] * 6
    scene.lights = [value(9)] * 4
    scene.ids = zero_filled([1, 2])
    scene.lights = zero_filled([value(1)])
    assert scene.ids.tolist() == [1, 2, 0, 0, 0, 0]
    assert bytes(scene.lights) == light(1) + bytes(48)
    scene.lights = zero_filled([])
    scene.ids = zero_filled(())
    assert not any(bytes(scene))
    scene.update({"lights": zero_filled([value(2)]), "ids": zero_filled(np.arange(3))})
    assert scene.ids.tolist() == [0, 1, 2, 0, 0, 0]
    assert bytes(scene.lights) == light(2) + bytes(48)
    scene.grid = zero_filled([[value(1), value(2)]])
    assert bytes(scene.grid) == light(1) + light(2) + bytes(64)
    scene.grid[0] = zero_filled([value(3)])
    assert bytes(scene.grid) == light(3) + bytes(80)


def test_lists_that_are_too_short_say_how() -> None:
    scene = view(Scene)
    with pytest.raises(SourceError, match=r"a list of 4, or zero_filled\(values\) for zeros after them"):
        scene.lights = [value(1)]
    with pytest.raises(SourceError, match=r"give it 6 numbers, or zero_filled\(values\) for zeros after them"):
        scene.ids = [1, 2]
    with pytest.raises(SourceError) as caught:
        scene.ids = range(8)
    assert "zero_filled" not in str(caught.value)


def test_zero_filled_values_in_records() -> None:
    records = batch(Scene, [{"camera": (np.eye(3), 1), "lights": zero_filled([value(1)]), "grid": zero_filled([]), "ids": zero_filled([5])}])  # fmt: skip
    assert records.ids.tolist() == [[5, 0, 0, 0, 0, 0]]
    assert records.lights.power.tolist() == [[10, 0, 0, 0]]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("camera.tiem = 1", "did you mean 'time'?"),
        ("camera.tiem", "did you mean 'time'?"),
        ("camera.mass = 1", "use one of turned, time"),
        ("scene.lights.colour", "did you mean 'color'?"),
        ("scene.lights.colour = 1", "did you mean 'color'?"),
        ("scene.lights[1].powr = 1", "did you mean 'power'?"),
        ("view(f32).x", "use v[...]"),
    ],
)
def test_a_misspelt_member_says_what_is_right(code: str, said: str) -> None:
    with pytest.raises(AttributeError) as caught:
        exec(code, {**globals(), "camera": view(Camera), "scene": view(Scene)})
    assert said in str(caught.value)


def test_views_print_in_lines() -> None:
    camera = view(Camera)
    camera.time = 0.25
    assert repr(camera) == (
        "view of Camera (64 bytes)\n  turned  mat3x3f  [[0, 0, 0], [0, 0, 0], [0, 0, 0]]\n  time    f32      0.25"
    )
    assert repr(view(Scene).lights[1:]) == "view of 3 x Light (48 bytes)\n  color  vec3f  (3, 3)\n  power  f32    (3,)"
    assert repr(view(vec3f)) == "view of vec3f (16 bytes): [0, 0, 0]"
    assert repr(view(f32, count=3)) == "view of 3 x f32 (12 bytes): [0, 0, 0]"
    for made in (view(Scene), view(Scene).grid, view(System, count=0), view(Light, count=0)):
        assert len(repr(made).split("\n")) < 12


def filled(cls: Any, count: int | None = None) -> Any:
    record = view(cls, count=count)
    memoryview(record)[:] = bytes(k % 60 for k in range(len(bytes(record))))
    return record


def test_a_view_is_a_batch_of_one_wherever_a_batch_is_taken() -> None:
    scene, lights = filled(Scene), filled(Light, 4)
    camera = scene.camera
    # pack, unpack into it, batch, constructors, mappings, lists, twins, layout_of.
    again = unpack(Scene, pack(scene), out=view(Scene))
    for name in ("turned", "time"):
        assert np.array_equal(getattr(again.camera, name), getattr(camera, name), equal_nan=True)
    assert pack(scene).nbytes == layout_of(Scene).record_stride
    assert batch(Scene, scene).ids.tolist() == scene.ids.tolist()
    made = Scene(camera=camera, lights=scene.lights, grid=scene.grid, ids=scene.ids)
    assert pack(made).tobytes() == pack(scene).tobytes()
    mapped = batch(Scene, {"camera": camera, "lights": scene.lights, "grid": scene.grid, "ids": [1, 2, 3, 4, 5, 6]})
    assert pack(mapped.lights).tobytes() == bytes(scene.lights)
    listed = batch(Light, [lights[0], {"color": (1, 2, 3), "power": 4}, Light(color=(1, 1, 1), power=1)])
    assert pack(listed).tobytes()[:16] == bytes(lights[0])
    assert layout_of(scene) is layout_of(Scene)
    assert layout_of(scene.lights) is layout_of(Light)
    assert pack(lights).tobytes() == bytes(lights)
    assert pack(lights[1:3]).tobytes() == bytes(lights)[16:48]
    assert pack(filled(System, 3)).nbytes == 16 + 3 * 16
    numbers = view(f32)
    numbers[...] = 2.5
    record = view(Camera)
    record.time = numbers
    assert record.time == 2.5
    assert pack(Camera(turned=np.eye(3), time=numbers)).view(np.float32)[12] == 2.5
    weights = view(array[f32, 6])
    weights[...] = range(6)

    class Weights(Struct):
        values: array[f32, 6]

    of_weights = view(Weights)
    of_weights.values = weights
    safe = uniform_safe(Weights, "vec4")
    assert pack(safe(of_weights)).view(np.float32).tolist() == [0, 1, 2, 3, 4, 5, 0, 0]


def test_the_batch_of_a_view_sees_its_bytes() -> None:
    record = view(Light)
    made = as_batch(record)
    record.power = 5
    assert made.power == 5
    assert pack(made).tobytes() == bytes(record)
    assert as_batch(made) is made
    assert as_batch(3) == 3
    assert as_batch(Light) is Light


@pytest.mark.parametrize("T", [f32, vec3f, mat3x3f, array[f32, 3], array[Light, 2], Light, Scene])
@pytest.mark.parametrize("count", [None, 0, 1, 3])
def test_every_view_packs_to_its_own_bytes(T: Any, count: int | None) -> None:
    record = view(T, count=count)
    as_batch(record)
    assert pack(record).nbytes == len(bytes(record))
    update_none = getattr(type(record), "update", None)
    if update_none is not None:
        update(record, {})


def test_a_slice_up_to_the_end_of_bytes_without_the_last_padding() -> None:
    memory = bytearray(28)  # Two vec3f: 12 bytes, 4 of padding, 12 bytes.
    vectors = view(vec3f, memory, count=2)
    vectors[1:] = [(4, 5, 6)]
    assert struct.unpack_from("<3f", memory, 16) == (4, 5, 6)
    assert len(bytes(vectors[1:])) == 12
    assert len(bytes(vectors[:1])) == 16
    assert pack(vectors).view(np.float32).tolist() == [0, 0, 0, 0, 4, 5, 6, 0]
