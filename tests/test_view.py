"""view: what is set through it is what the oracle packs; a failed set changes nothing."""

from __future__ import annotations

import copy
import ctypes
import gc
import mmap
import pickle
import struct
import sys
import weakref
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from gpustruct import (
    SourceError,
    Struct,
    _views,
    array,
    atomic,
    batch,
    dtype_of,
    f16,
    f32,
    i32,
    layout_of,
    mat3x3f,
    mat4x4f,
    pack,
    u32,
    vec2h,
    vec3f,
    vec4f,
    view,
)  # fmt: skip
from gpustruct.views import changed_ranges, forget, update
from gpustruct.views.classes import root


class Light(Struct):
    color: vec3f
    power: f32


class Two(Struct):
    one: Light
    other: Light


class Camera(Struct):
    view: mat4x4f
    position: vec3f
    time: f32


class Scene(Struct):
    camera: Camera
    lights: array[Light, 4]
    grid: array[array[Light, 2], 3]
    count: atomic[u32]
    half: vec2h
    turned: mat3x3f
    weights: array[f32, 70]


class System(Struct):
    gravity: vec3f
    n: i32
    lights: array[Light]


class Series(Struct):
    n: u32
    values: array[vec3f]


def set_members(record: Any, source: Any) -> None:
    for name in type(source).__members__:
        setattr(record, name, getattr(source, name))


@given(st.data(), st.integers(0, 2**32 - 1))
def test_setting_every_member_is_packing(data: Any, seed: int) -> None:
    cls = data.draw(strategies.structs())
    source = strategies.random_batch(cls, (), np.random.default_rng(seed))
    count = reference.tail_length(source) if cls.__layout__.is_runtime_sized else None
    record = view(cls, count=count)
    set_members(record, source)
    expected = reference.pack(source)
    assert reference.difference(cls, bytes(record), expected) is None
    # The same over other memory, and once more: nothing is left of what was there.
    memory = bytearray(b"\xff" * (len(expected) + 5))
    other = view(cls, memory, 3, count=count)
    set_members(other, source)
    set_members(other, source)
    assert memory[:3] == b"\xff" * 3
    assert memory[3 + len(expected) :] == b"\xff" * 2
    for name in cls.__members__:
        assert repr(getattr(other, name)) == repr(getattr(record, name))


@given(st.data(), st.integers(0, 2**32 - 1))
def test_reading_gives_what_was_set(data: Any, seed: int) -> None:
    cls = data.draw(strategies.structs(tail=False))
    source = strategies.random_batch(cls, (), np.random.default_rng(seed))
    packed = pack(source)
    record = view(cls, packed)
    again = view(cls)
    for name in cls.__members__:
        setattr(again, name, getattr(record, name))
    assert reference.difference(cls, bytes(again), packed) is None


def test_members_of_members_and_of_arrays() -> None:
    scene = view(Scene)
    scene.camera.view = np.arange(16).reshape(4, 4)
    scene.camera.time += 1.5
    scene.camera.time *= 2
    scene.lights[3].color = (1, 2, 3)
    scene.lights[-4].power = np.float32(4)
    scene.grid[2][1] = {"color": [5, 6, 7], "power": 8}
    scene.count = np.int64(2**32 - 1)
    scene.half = (0.5, -2)
    scene.turned = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    scene.weights = np.arange(70, dtype=">i2")
    data = bytes(scene)
    leaves = reference.leaves(Scene)
    want = {
        ".camera.view[3][0]": 3, ".camera.view[0][3]": 12, ".camera.time": 3, ".lights[3].color[2]": 3, ".lights[0].power": 4,
        ".grid[2][1].color[1]": 6, ".grid[2][1].power": 8, ".half[0]": 0.5, ".half[1]": -2, ".turned[2][0]": 3,
        ".turned[0][2]": 7, ".weights[69]": 69, ".count": 2**32 - 1, ".camera.position[0]": 0,
    }  # fmt: skip
    for path, value in want.items():
        offset, scalar = leaves[path]
        assert struct.unpack_from(reference.CODE[scalar], data, offset)[0] == value, path
    assert type(scene.camera.time) is float
    assert type(scene.count) is int
    assert scene.camera.view[0, 3] == 3
    assert scene.turned.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert [light.power for light in scene.lights] == [4, 0, 0, 0]
    assert len(scene.grid) == 3
    assert len(scene.grid[0]) == 2


def test_numpy_views_read_and_write_the_bytes() -> None:
    camera = view(Camera)
    position = camera.position
    camera.position = (1, 2, 3)
    assert position.tolist() == [1, 2, 3]
    camera.position += 1
    position *= 2
    assert camera.position.tolist() == [4, 6, 8]
    camera.view = np.arange(16).reshape(4, 4)
    camera.view = camera.view.T
    assert camera.view.tolist() == np.arange(16).reshape(4, 4).T.tolist()
    assert camera.view.base is not None


def test_bytes_live_as_long_as_anyone_sees_them() -> None:
    camera = view(Camera)
    camera.time = 2
    kept = memoryview(camera)
    color = view(Scene).lights[2].color
    del camera
    gc.collect()
    assert struct.unpack_from("<f", kept, 76)[0] == 2
    assert color.tolist() == [0, 0, 0]


Pair = namedtuple("Pair", "color power")


@pytest.mark.parametrize(
    "value",
    [
        {"color": (1, 2, 3), "power": 4},
        {"power": np.array(4), "color": np.array([1, 2, 3])},
        ((1, 2, 3), 4),
        [[1.0, 2, 3], np.float16(4)],
        Pair((1, 2, 3), 4),
        Light(color=[1, 2, 3], power=4),
        view(Light, pack(Light(color=[1, 2, 3], power=4))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_whole_struct_from_anything(value: Any) -> None:
    scene = view(Scene)
    scene.lights[1] = value
    expected = struct.pack("<4f", 1, 2, 3, 4)
    assert bytes(scene.lights[1]) == expected
    scene.lights = [value] * 4
    assert bytes(scene.lights) == expected * 4
    scene.lights = Light(color=np.tile([1, 2, 3], (4, 1)), power=4)
    assert bytes(scene.lights) == expected * 4
    other = view(Scene)
    other.lights = {"color": np.tile([1, 2, 3], (4, 1)), "power": [4, 4, 4, 4]}
    assert bytes(other.lights) == expected * 4
    other.lights = scene.lights
    other.lights[0] = other.lights[1]
    assert bytes(other.lights) == expected * 4
    other.grid = [[value, value]] * 3
    assert bytes(other.grid) == expected * 6


BAD: list[tuple[str, str]] = [
    ("scene.count = -1", "range-integer"),
    ("scene.count = 2**32", "range-integer"),
    ("scene.count = 2**70", "range-integer"),
    ("scene.camera.time = 10**400", "range-float"),
    ("scene.count = 1.0", "column-dtype"),
    ("scene.count = np.float32(1)", "column-dtype"),
    ("scene.count = np.array([1])", "record-shape"),
    ("scene.count = 'one'", "column-dtype"),
    ("scene.count = 1j", "column-dtype"),
    ("scene.camera.time = None", "column-masked"),
    ("scene.camera.time = 1e39", "range-float"),
    ("scene.camera.time = np.float64(-1e39)", "range-float"),
    ("scene.camera.time = [1.0]", "record-shape"),
    ("scene.camera.time = {}", "column-source"),
    ("scene.camera.position = (1, 2)", "record-shape"),
    ("scene.camera.position = 1", "record-shape"),
    ("scene.camera.position = (1, None, 3)", "column-masked"),
    ("scene.camera.position = (1, 'b', 3)", "column-dtype"),
    ("scene.camera.position = (1, [2], 3)", "column-source"),
    ("scene.camera.position = np.zeros((1, 3))", "record-shape"),
    ("scene.camera.position = np.array([1, 2, 1e39])", "range-float"),
    ("scene.camera.position = np.zeros(3, 'datetime64[s]')", "column-dtype"),
    ("scene.camera.view = np.zeros(16)", "matrix-flat"),
    ("scene.camera.view = np.full((4, 4), 1e39)", "range-float"),
    ("scene.half = (1, 65520)", "range-float"),
    ("scene.half = (1, 1e9)", "range-float"),
    ("scene.weights = np.r_[np.zeros(69), 1e39]", "range-float"),
    ("scene.weights = [0.0] * 69 + [1e39]", "range-float"),
    ("scene.weights = [0.0] * 69", "record-shape"),
    ("scene.camera = {'time': 1}", "record-members"),
    ("scene.camera = {'view': np.eye(4), 'position': (1, 2, 3), 'time': 1, 'more': 2}", "record-members"),
    ("scene.camera = 3", "record-kind"),
    ("scene.camera = Light(color=(1, 2, 3), power=1)", "record-shape"),
    ("scene.camera = Camera(view=np.zeros((2, 4, 4)), position=(1, 2, 3), time=1)", "record-shape"),
    ("scene.lights = [((1, 2, 3), 4)] * 3", "record-length"),
    ("scene.lights = [((1, 2, 3), 4)] * 3 + [((1, 2, 3), 1e39)]", "range-float"),
    ("scene.lights = 5", "record-length"),
    ("scene.lights = {'color': np.zeros((3, 3)), 'power': 1}", "record-shape"),
    ("scene.lights = scene.grid", "record-shape"),
    ("scene.lights[0] = ((1, 2, 1e39), 4)", "range-float"),
    ("scene.update({'camera': {'time': 7}, 'count': -1})", "range-integer"),
    ("scene.update({'camera.time': 7, 'nothing': 1})", "columns-unknown"),
    ("scene.update({'camera.nothing': 7})", "columns-unknown"),
    ("scene.update({'count.x': 7})", "columns-unknown"),
    ("scene.update({'lights.power': 7})", "columns-unknown"),
    ("scene.update({3: 7})", "columns-unknown"),
    ("scene.update([('count', 7)])", "view-update"),
    ("scene.update(camera={'time': 1, 'view': np.zeros(3)})", "column-shape record-shape"),
    ("scene[...]", "view-whole"),
    ("scene[0]", "view-whole"),
    ("scene[...] = 3", "view-whole"),
]


@pytest.mark.parametrize(("code", "rule"), BAD)
def test_a_failed_set_leaves_the_bytes_as_they_were(code: str, rule: str) -> None:
    memory = np.random.default_rng(1).integers(0, 60, layout_of(Scene).size, np.uint8)
    scene, before = view(Scene, memory), memory.tobytes()
    with pytest.raises(SourceError) as caught:
        exec(code, {**globals(), "scene": scene})
    assert caught.value.rule in rule.split()
    assert memory.tobytes() == before


@pytest.mark.parametrize(
    "code",
    ["scene.nothing = 1", "scene.camera.nothing = 1", "del scene.count", "scene.lights.nothing = 1", "scene.__dict__"],
)
def test_unknown_names_are_attribute_errors(code: str) -> None:
    with pytest.raises(AttributeError):
        exec(code, {"scene": view(Scene)})


def test_where_a_fault_is() -> None:
    scene = view(Scene)
    with pytest.raises(SourceError, match=r"at Scene\.camera\.position\[2\];"):
        scene.camera.position = (1, 2, 1e39)
    with pytest.raises(SourceError, match=r"at Scene\.lights\.color\[3, 1\];"):
        scene.lights = [((1, 2, 3), 4)] * 3 + [((1, 1e39, 3), 4)]


def test_the_namespace_holds_members_only() -> None:
    names = [name for name in dir(view(Scene)) if not name.startswith("__")]
    assert set(names) == {*Scene.__members__, "update"}
    assert [name for name in dir(view(Scene).lights) if not name.startswith("__")] == ["color", "power"]


def test_a_member_called_update_hides_the_method() -> None:
    class Mixer(Struct):
        update: f32
        size: u32
        owner: vec3f

    mixer = view(Mixer)
    mixer.update, mixer.size, mixer.owner = 0.5, 3, (1, 2, 3)
    update(mixer, {"update": 2}, size=4)
    assert (mixer.update, mixer.size, mixer.owner.tolist()) == (2, 4, [1, 2, 3])


def test_update_sets_many() -> None:
    scene = view(Scene)
    scene.update({"camera.position": (1, 2, 3), "camera": {"time": 2}, "count": 5}, half=(1, 2))
    assert scene.camera.position.tolist() == [1, 2, 3]
    assert (scene.camera.time, scene.count, scene.half.tolist()) == (2, 5, [1, 2])
    scene.camera.update(time=9)
    assert scene.camera.time == 9
    system = view(System, count=2)
    system.update(n=-3, lights=[((1, 2, 3), 4)] * 2)
    assert bytes(system) == struct.pack("<3fi8f", 0, 0, 0, -3, 1, 2, 3, 4, 1, 2, 3, 4)


def test_plain_types_are_written_whole() -> None:
    matrix = view(mat4x4f)
    matrix[...] = np.arange(16).reshape(4, 4)
    assert np.frombuffer(matrix, np.float32).tolist() == np.arange(16).reshape(4, 4).T.ravel().tolist()
    assert matrix[...][1, 0] == 4
    number = view(f16)
    number[...] = 1.5
    assert bytes(number) == struct.pack("<e", 1.5)
    assert number[...] == 1.5
    with pytest.raises(SourceError):
        matrix[0] = 1
    values = view(array[f32, 3])
    values[...] = (1, 2, 3)
    assert bytes(values) == struct.pack("<3f", 1, 2, 3)


def test_arrays_of_records() -> None:
    lights = view(Light, count=3)
    lights[1].power = 2
    lights[2] = lights[1]
    assert bytes(lights) == struct.pack("<12f", 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2)
    assert [light.power for light in lights] == [0, 2, 2]
    vectors = view(vec3f, count=2)
    vectors[1] = (1, 2, 3)
    assert bytes(vectors) == struct.pack("<4x4x4x4x3f4x", 1, 2, 3)
    assert vectors[-1].tolist() == [1, 2, 3]
    with pytest.raises(SourceError):
        vectors[0] = (1, 2)
    for index in (3, -4):
        with pytest.raises(IndexError):
            lights[index]
    with pytest.raises(TypeError):
        lights["a"]
    assert len(view(Light, count=0)) == 0
    assert len(view(array[Light, 5])) == 5


def test_runtime_sized_types_take_a_length() -> None:
    system = view(System, count=3)
    assert len(bytes(system)) == 16 + 3 * 16
    system.lights[2].power = 5
    system.lights[0] = ((1, 2, 3), 4)
    system.n = -2
    assert bytes(system) == struct.pack("<3fi12f", 0, 0, 0, -2, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 5)
    series = view(Series, bytes(16 + 5 * 16))
    assert series.values.shape == (5, 3)
    series = view(Series, count=2)
    series.values = [(1, 2, 3), (4, 5, 6)]
    assert bytes(series) == struct.pack("<I12x3f4x3f4x", 0, 1, 2, 3, 4, 5, 6)
    with pytest.raises(SourceError) as caught:
        series.values = np.zeros((3, 3))
    assert caught.value.rule == "record-shape"
    assert len(view(array[Light], count=2)) == 2
    assert len(view(System, count=0).lights) == 0
    with pytest.raises(SourceError):
        view(System)


def test_over_memory_of_others() -> None:
    memory = bytearray(64)
    light = view(Light, memory, 8)
    light.power = 1.5
    assert memory == bytes(20) + struct.pack("<f", 1.5) + bytes(40)
    with pytest.raises(BufferError):
        memory.append(1)
    with mmap.mmap(-1, 4096) as pages:
        view(Light, pages, 4080).power = 3
        gc.collect()
        assert pages[4092:] == struct.pack("<f", 3)
    frozen = view(Light, bytes(16))
    assert frozen.power == 0
    assert not frozen.color.flags.writeable
    for code in ("frozen.power = 1", "frozen.color = (1, 2, 3)", "frozen.update(power=1)"):
        with pytest.raises(SourceError) as caught:
            exec(code, {"frozen": frozen})
        assert caught.value.rule == "view-readonly"
    nested = view(Scene, bytes(layout_of(Scene).size))
    for code in (
        "nested.camera = {}",
        "nested.lights[0] = ((1, 2, 3), 4)",
        "nested.lights = []",
        "nested.camera.time = 1",
    ):
        with pytest.raises(SourceError) as caught:
            exec(code, {"nested": nested})
        assert caught.value.rule == "view-readonly"


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ((Light, bytes(15)), "view-data"),
        ((Light, bytes(20), 5), "view-data"),
        ((Light, "text"), "view-data"),
        ((Light, np.zeros((8, 8))[:, ::2]), "view-data"),
        ((Light, bytes(16), -1), "offset-value"),
        ((Light, bytes(16), 1.5), "offset-value"),
        ((Light, None, 4), "view-data"),
        ((int,), "view-type"),
        ((Struct,), "view-type"),
        ((Light(color=(1, 2, 3), power=1),), "view-type"),
    ],
)
def test_what_view_refuses(arguments: Any, rule: str) -> None:
    with pytest.raises(SourceError) as caught:
        view(*arguments)
    assert caught.value.rule == rule


@pytest.mark.parametrize("count", [-1, 1.5, True, "3", 2**40])
def test_counts_that_view_refuses(count: Any) -> None:
    with pytest.raises(SourceError) as caught:
        view(Light, count=count)
    assert caught.value.rule == "view-count"


def test_no_way_into_other_bytes() -> None:
    light = view(Light)
    empty = type(light).__new__(type(light))
    for code in ("empty.power", "empty.power = 1", "empty.color", "type(light).__init__(light)"):
        with pytest.raises(TypeError):
            exec(code, {"empty": empty, "light": light})
    assert bytes(empty) == b""
    with pytest.raises(TypeError):
        type(view(Scene)).weights.__set__(light, np.zeros(70))
    with pytest.raises(TypeError):
        type(light).power.__get__(3, int)


def test_views_pickle_and_copy_with_their_bytes() -> None:
    for record in (view(Camera), view(mat4x4f), view(System, count=2)):
        again = pickle.loads(pickle.dumps(record))
        assert bytes(again) == bytes(record)
        assert repr(copy.copy(record)) == repr(record)


def test_a_view_is_a_batch_of_one() -> None:
    scene = view(Scene)
    set_members(scene, strategies.random_batch(Scene, (), np.random.default_rng(0), special=False))
    assert pack(batch(Scene, scene)).tobytes() == bytes(scene)


class Buffer:
    pass


def test_changed_ranges_are_exact_words() -> None:
    memory = bytearray(20_000)
    record = view(array[f32, 5000], memory)
    buffer, other = Buffer(), Buffer()
    assert changed_ranges(record, buffer) == [(0, 20_000)]
    assert changed_ranges(record, buffer) == []
    record[...][4] = 1
    memory[9_999] = 1
    assert changed_ranges(record, buffer) == [(16, 4), (9_996, 4)]
    record[...][2:4] = 1
    record[...][9] = 2
    record[...][4] = 1
    assert changed_ranges(record, buffer) == [(8, 32)]
    assert changed_ranges(record, other) == [(0, 20_000)]
    record[...][4999] = np.float32(7)
    assert changed_ranges(record, other) == [(19_996, 4)]
    forget(buffer)
    assert changed_ranges(record, buffer) == [(0, 20_000)]
    half = view(f16)
    assert changed_ranges(half, buffer, 20_000) == [(0, 2)]
    half[...] = 1
    assert changed_ranges(half, buffer, 20_000) == [(0, 2)]


@given(st.binary(min_size=1, max_size=700), st.lists(st.tuples(st.integers(0, 699), st.integers(0, 255)), max_size=9))
def test_applying_the_changes_gives_the_bytes(data: bytes, writes: list[tuple[int, int]]) -> None:
    memory = bytearray(data + bytes(-len(data) % 4))
    record, buffer = view(array[u32, len(memory) // 4], memory), Buffer()
    there = bytearray(memory)
    changed_ranges(record, buffer)
    for at, value in writes:
        memory[at % len(memory)] = value
    for first, size in changed_ranges(record, buffer):
        assert first % 4 == size % 4 == 0
        there[first : first + size] = memoryview(record)[first : first + size]
    assert there == memory


def test_another_view_over_the_same_place_makes_all_of_it_changed() -> None:
    first, second, buffer = view(array[f32, 8]), view(array[f32, 4]), Buffer()
    changed_ranges(first, buffer)
    changed_ranges(second, buffer, 16)
    assert changed_ranges(first, buffer) == [(0, 32)]
    assert changed_ranges(second, buffer, 32) == [(0, 16)]
    assert changed_ranges(first, buffer) == []


def test_changes_a_gap_apart_are_sent_together() -> None:
    record, buffer = view(array[f32, 5000]), Buffer()
    changed_ranges(record, buffer)
    for between, expected in ((4096, [(0, 4104)]), (4100, [(0, 4), (4104, 4)])):
        record[...][0] += 1
        record[...][1 + between // 4] += 1
        assert changed_ranges(record, buffer) == expected


def test_a_view_of_another_size_at_the_same_place_is_sent_whole() -> None:
    first, second, buffer = view(array[f32, 8]), view(array[f32, 4]), Buffer()
    changed_ranges(first, buffer)
    assert changed_ranges(second, buffer) == [(0, 16)]
    assert changed_ranges(first, buffer) == [(0, 32)]


def test_what_an_encoder_may_still_write_is_never_known() -> None:
    record, buffer = view(array[f32, 8]), Buffer()
    changed_ranges(record, buffer)
    forget(buffer, recorded=True)
    for _ in range(3):
        assert changed_ranges(record, buffer) == [(0, 32)]


def test_bytes_beside_a_view_stay_known() -> None:
    left, right, buffer = view(array[f32, 8]), view(array[f32, 8]), Buffer()
    for offset in (32, 0, 64):
        changed_ranges(right if offset == 32 else left, buffer, offset)
    assert changed_ranges(right, buffer, 32) == []


def test_a_buffer_is_kept_weakly() -> None:
    buffer = Buffer()
    changed_ranges(view(f32), buffer)
    kept = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert kept() is None


def test_vectors_are_read_as_numbers_of_their_type() -> None:
    record = view(vec4f)
    record[...] = np.array([1, 2, 3, 4], ">f8")
    assert record[...].dtype == np.float32
    record[...] = [1, 2.5, np.float64(3), True]
    assert record[...].tolist() == [1, 2.5, 3, 1]
    record[...] = (np.nan, np.inf, -np.inf, -0.0)
    assert bytes(record)[4:] == struct.pack("<3f", np.inf, -np.inf, -0.0)


def test_no_reference_is_lost_or_kept() -> None:
    scene, color = view(Scene), (1.25, 2.5, 3.75)

    def use() -> None:
        scene.camera.position = color
        scene.lights = [{"color": color, "power": 1}] * 4
        scene.update(count=2)
        bytes(scene), memoryview(scene.lights), np.frombuffer(scene.camera, np.uint8), scene.camera.view
        batch(Light, [(color, 1.5)] * 3)
        with pytest.raises(SourceError):
            scene.lights = [1]

    use()
    before = sys.getrefcount(None), sys.getrefcount(color)
    for _ in range(200):
        use()
    gc.collect()
    assert abs(sys.getrefcount(None) - before[0]) < 100
    assert sys.getrefcount(color) == before[1]


def test_views_are_buffers_of_every_kind() -> None:
    record = view(Light, bytes(range(16)))
    for made in (memoryview(record), np.asarray(memoryview(record)), np.frombuffer(record, np.uint8)):
        assert bytes(made) == bytes(range(16))
    assert memoryview(record).readonly
    assert memoryview(record).format == "B"
    with pytest.raises(TypeError):
        struct.pack_into("<f", record, 0, 1.0)
    struct.pack_into("<f", writable := view(Light), 12, 2.0)
    assert writable.power == 2


def test_bytes_of_python_objects_are_left_alone() -> None:
    objects = np.array([object() for _ in range(8)], object)
    kept = list(objects)
    fields = np.zeros(4, [("a", "O"), ("b", "f8")])
    for data in (objects, memoryview(objects), fields, (ctypes.py_object * 8)(*kept)):
        with pytest.raises(SourceError) as caught:
            view(Light, data)
        assert caught.value.rule == "view-data"
    assert all(one is other for one, other in zip(objects, kept, strict=True))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda rows: pickle.loads(pickle.dumps(rows))])
def test_rows_of_records_pickle_and_copy_with_their_bytes(again: Any) -> None:
    scene = view(Scene)
    scene.lights[1].power, scene.grid[2][1].power = 3, 4
    pairs = view(array[Light, 2], count=2)
    rows = [scene.lights, scene.grid, scene.grid[2], pairs, pairs[1], view(Light, count=3), view(Light, count=0)]
    for made in (*rows, view(array[Light], count=2), view(f32, count=2), view(array[array[Light, 2]], count=2)):
        other = again(made)
        assert (type(other).__name__, type(other).__bases__) == (type(made).__name__, type(made).__bases__)
        assert (len(other), bytes(other)) == (len(made), bytes(made))
        assert len(memoryview(other)) == 0 or not np.shares_memory(np.frombuffer(other), np.frombuffer(made))
    assert again(scene.lights)[1].power == 3
    assert again(scene.grid)[2][1].power == 4


def test_records_are_taken_by_their_number() -> None:
    lights = view(Scene).lights
    lights[-4].power = 2
    assert lights[np.int8(0)].power == 2
    for number in (4, -5, 2**70, -(2**70)):
        with pytest.raises(IndexError, match=r"below their count, 4 .current: -?\d+. - at Scene.lights"):
            lights[number]
        with pytest.raises(IndexError):
            lights[number] = {"color": (1, 1, 1), "power": 1}
    for index in ("x", 1.0, None, (0, 1)):
        with pytest.raises(
            TypeError, match=r"records are taken by number, or by a slice .* use v\[i\], v\[i:j\], or a loop"
        ):
            lights[index]


def test_a_record_of_a_structured_array_comes_as_a_batch() -> None:
    record, array = view(Two), np.zeros(2, dtype_of(Light))
    array["power"] = 7
    record.one = batch(Light, array[1])
    assert (record.one.power, record.other.power) == (7, 0)


def test_no_view_is_longer_than_its_bytes() -> None:
    """`view` checks it first; this is the last check before addresses are made."""
    member = root(vec4f, None)
    for nbytes, offset in ((15, 0), (16, 1), (16, 17), (16, -1)):
        with pytest.raises(ValueError, match="must fit"):
            _views.view_at(member, np.zeros(nbytes, np.uint8), offset)


def test_no_element_of_read_only_bytes_is_set() -> None:
    memory = bytes(64)
    for kind, value in ((vec3f, (1, 2, 3)), (vec4f, (1, 2, 3, 4)), (u32, 7)):
        with pytest.raises(SourceError) as caught:
            view(kind, memory, count=4)[1] = value
        assert caught.value.rule == "view-readonly"
    assert memory == bytes(64)
