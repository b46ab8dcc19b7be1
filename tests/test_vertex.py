"""Vertex classes: where members are, what is packed, and what comes back. numpy's structured arrays are the oracle."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest
import wgpu

from gpustruct import (
    LayoutError,
    SourceError,
    Struct,
    WgslError,
    align,
    array,
    batch,
    diagram,
    dtype_of,
    f32,
    layout_of,
    pack,
    size,
    suggest,
    unpack,
    vec3f,
    vertex,
    view,
    wgsl,
)
from gpustruct.formats import FORMATS
from gpustruct.types import make_struct
from gpustruct.vertex import (
    Vertex,
    float16x2,
    float32,
    float32x3,
    float32x4,
    location,
    sint16x2,
    snorm8x4,
    snorm16,
    uint8,
    unorm8x4,
    unorm8x4_bgra,
    unorm16x2,
)


class Corner(Vertex):
    position: float32x3
    normal: snorm8x4
    uv: unorm16x2
    color: unorm8x4


CORNER = np.dtype([("position", "<f4", 3), ("normal", "i1", 4), ("uv", "<u2", 2), ("color", "u1", 4)])


def corners(n: int, dtype: str = "f4") -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    return {
        "position": rng.normal(size=(n, 3)).astype(dtype),
        "normal": rng.uniform(-1, 1, (n, 4)).astype(dtype),
        "uv": rng.uniform(0, 1, (n, 2)).astype(dtype),
        "color": rng.uniform(0, 1, (n, 4)).astype(dtype),
    }


def by_numpy(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    packed = np.zeros(len(columns["position"]), CORNER)
    packed["position"] = columns["position"]
    for name, scale in (("normal", 127), ("uv", 65535), ("color", 255)):
        packed[name] = np.rint(columns[name].astype("f8") * scale)
    return packed


def bytes_of(name: str) -> int:
    """What WebGPU's table says, read from the format's name."""
    if "-" in name:
        return 4
    base, _, count = name.partition("x")
    return int(base.lstrip("abcdefghijklmnopqrstuvwxyz")) // 8 * int(count or 1)


def test_the_formats_are_those_of_webgpu() -> None:
    assert set(FORMATS) == set(wgpu.VertexFormat) and len(FORMATS) == 41
    for name, made in FORMATS.items():
        assert getattr(vertex, name.replace("-", "_")) is made
        layout = layout_of(made)
        assert (layout.size, layout.align) == (bytes_of(name), min(4, bytes_of(name)))
        assert pickle.loads(pickle.dumps(made)) is made


def test_a_corner_takes_24_bytes() -> None:
    layout = layout_of(Corner)
    assert [field.offset for field in layout.fields] == [0, 12, 16, 20]
    assert (layout.size, layout.align, layout.stride, layout.padding) == (24, 4, 24, ())


def test_small_formats_stand_close_and_records_a_multiple_of_4_apart() -> None:
    class Small(Vertex):
        a: uint8
        b: snorm16
        c: uint8
        d: float32
        e: uint8

    layout = layout_of(Small)
    assert [field.offset for field in layout.fields] == [0, 2, 4, 8, 12]
    assert layout.size == layout.stride == 16 and layout.align == 4

    class One(Vertex):
        a: uint8

    assert layout_of(One).size == 4 and pack(One(a=[1, 2])).tolist() == [1, 0, 0, 0, 2, 0, 0, 0]


def test_the_layout_is_what_wgpu_takes() -> None:
    assert vertex.layout(Corner) == {
        "array_stride": 24,
        "step_mode": "vertex",
        "attributes": [
            {"format": "float32x3", "offset": 0, "shader_location": 0},
            {"format": "snorm8x4", "offset": 12, "shader_location": 1},
            {"format": "unorm16x2", "offset": 16, "shader_location": 2},
            {"format": "unorm8x4", "offset": 20, "shader_location": 3},
        ],
    }


def test_locations_count_up_from_attributes_and_arguments() -> None:
    class Instance(Vertex):
        world: Annotated[array[float32x4, 4], location(5)]
        tint: unorm8x4_bgra
        id: Annotated[uint8, location(0)]

    def locations(**options: Any) -> list[int]:
        return [row["shader_location"] for row in vertex.layout(Instance, **options)["attributes"]]

    assert locations() == [5, 6, 7, 8, 9, 0]
    assert locations(locations={"tint": 12}) == [5, 6, 7, 8, 12, 0]
    assert locations(locations={"world": 1, "id": 6}) == [1, 2, 3, 4, 5, 6]
    assert [row["offset"] for row in vertex.layout(Instance)["attributes"]] == [0, 16, 32, 48, 64, 68]
    assert vertex.layout(Instance, step_mode="instance")["step_mode"] == "instance"

    class Further(Instance):
        extra: float32

    assert [row["shader_location"] for row in vertex.layout(Further)["attributes"]][-1] == 1


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4"])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
def test_floats_are_encoded(n: int, dtype: str) -> None:
    columns = corners(n, dtype)
    made = Corner(**columns)
    assert pack(made).tobytes() == by_numpy(columns).tobytes()
    assert pack(batch(Corner, columns)).tobytes() == by_numpy(columns).tobytes()


def test_own_integers_are_copied() -> None:
    packed = by_numpy(corners(100))
    columns = {name: packed[name] for name in CORNER.names or ()}
    assert pack(Corner(**columns)).tobytes() == packed.tobytes()
    assert pack(batch(Corner, packed)).tobytes() == packed.tobytes()
    assert dtype_of(Corner) == CORNER


def test_unpack_gives_floats_and_views_where_there_can_be() -> None:
    packed = by_numpy(corners(100))
    data = packed.view(np.uint8)
    got = unpack(Corner, data)
    for name, scale in (("normal", 127), ("uv", 65535), ("color", 255)):
        want = np.maximum(packed[name].astype("f4") / np.float32(scale), -1)
        assert getattr(got, name).dtype == np.float32 and np.array_equal(getattr(got, name), want)
    assert np.shares_memory(got.position, packed) and np.array_equal(got.position, packed["position"])
    part = unpack(Corner, data, count=3, offset=24)
    assert np.array_equal(part.color, got.color[1:4])
    apart = np.zeros((100, 32), np.uint8)
    apart[:, :24] = data.reshape(100, 24)
    assert np.array_equal(unpack(Corner, apart.reshape(-1), stride=32).uv, got.uv)


def test_unpack_into_columns_of_every_kind() -> None:
    packed = by_numpy(corners(100))
    out = Corner(
        position=np.zeros((100, 3)),
        normal=np.zeros((100, 4), "i1"),
        uv=np.zeros((100, 2), "f2"),
        color=np.zeros((100, 4)),
    )
    unpack(Corner, packed.view(np.uint8), out=out)
    assert np.array_equal(out.normal, packed["normal"]) and np.array_equal(out.position, packed["position"])
    assert np.array_equal(out.uv, (packed["uv"] / 65535).astype("f2")) and np.array_equal(
        out.color, packed["color"] / 255
    )


def test_records_and_views() -> None:
    rows = [
        {"position": (1, 2, 3), "normal": (0.0, 0.5, -1, 1), "uv": (0.25, 1.0), "color": np.array([1, 2, 3, 4], "u1")},
        {"position": (4, 5, 6), "normal": [1.0, 0, 0, 0], "uv": np.array([1, 0.5]), "color": (1.0, 0.5, 0.0, 1.0)},
    ]
    packed = np.zeros(2, CORNER)
    packed["position"] = [(1, 2, 3), (4, 5, 6)]
    packed["normal"] = [(0, 64, -127, 127), (127, 0, 0, 0)]
    packed["uv"] = [(16384, 65535), (65535, 32768)]
    packed["color"] = [(1, 2, 3, 4), (255, 128, 0, 255)]
    assert pack(batch(Corner, rows)).tobytes() == packed.tobytes()
    record = view(Corner)
    record.update(rows[1])
    assert bytes(record) == packed[1:].tobytes() and record.color.tolist() == [
        1.0,
        np.float32(128) / np.float32(255),
        0,
        1,
    ]
    assert pack(record).tobytes() == packed[1:].tobytes()
    many = view(Corner, packed.view(np.uint8), count=2)
    assert many[0].uv.tolist() == [np.float32(16384) / np.float32(65535), 1.0]
    many.color = np.array([9, 8, 7, 6], "u1")
    assert packed["color"].tolist() == [[9, 8, 7, 6]] * 2


@pytest.mark.parametrize("bad", [1.5, -0.1, np.nan, np.inf])
@pytest.mark.parametrize("at", [0, 1, 57, 99])
def test_a_float_out_of_range_names_its_record(at: int, bad: float) -> None:
    columns = corners(100)
    columns["color"][at, 2] = bad
    made, out = Corner(**columns), np.full(2400, 0xA5, np.uint8)
    with pytest.raises(SourceError, match=rf"at Corner\.color\[{at}, 2\]") as caught:
        pack(made, out=out)
    assert caught.value.rule == "range-normalized" and not out.any()
    rows = [{name: column[k].tolist() for name, column in columns.items()} for k in range(100)]
    with pytest.raises(SourceError, match=rf"at Corner\.color\[{at}, 2\]"):
        batch(Corner, rows)


def test_integers_of_another_width_are_refused() -> None:
    columns = corners(3)
    for wrong in (np.zeros((3, 4), "i8"), np.ones((3, 4), "u2"), np.ones((3, 4), bool), [[0, 0, 0, 1]] * 3):
        with pytest.raises(SourceError, match="unorm8 cannot be made from") as caught:
            Corner(**{**columns, "color": wrong})
        assert caught.value.rule == "column-dtype"


def test_arrays_of_formats() -> None:
    class Instance(Vertex):
        world: array[float32x4, 4]
        weights: array[uint8, 3]
        shades: array[unorm8x4, 2]

    layout = layout_of(Instance)
    assert [field.offset for field in layout.fields] == [0, 64, 68] and layout.size == 76
    world, shades = np.arange(32.0).reshape(2, 4, 4), np.linspace(0, 1, 16).reshape(2, 2, 4)
    made = Instance(world=world, weights=[[1, 2, 3], [4, 5, 6]], shades=shades)
    want = np.zeros(2, [("world", "<f4", (4, 4)), ("weights", "u1", 3), ("pad", "u1"), ("shades", "u1", (2, 4))])
    want["world"], want["weights"], want["shades"] = world, [[1, 2, 3], [4, 5, 6]], np.rint(shades * 255)
    assert pack(made).tobytes() == want.tobytes()
    assert np.array_equal(unpack(Instance, pack(made)).shades, want["shades"] / np.float32(255))
    assert len(vertex.layout(Instance)["attributes"]) == 9


def test_attributes_move_members() -> None:
    class Padded(Vertex):
        a: Annotated[uint8, size(4)]
        b: Annotated[sint16x2, align(16)]

    assert Padded.b.offset == 16 and layout_of(Padded).size == 32


@pytest.mark.parametrize("name", ["Corner", "Local"])
def test_pickling(name: str) -> None:
    class Local(Vertex):
        a: Annotated[float16x2, location(3)]
        b: array[uint8, 2]

    made = {"Corner": Corner, "Local": Local}[name]
    again = pickle.loads(pickle.dumps(made))
    assert layout_of(again) == layout_of(made) and vertex.layout(again) == vertex.layout(made)
    assert issubclass(again, Vertex) and (again is Corner) == (name == "Corner")
    values = pickle.loads(pickle.dumps(Corner(**corners(3))))
    assert pack(values).tobytes() == by_numpy(corners(3)).tobytes()


def test_it_is_shown_and_reordered() -> None:
    shown = str(layout_of(Corner))
    assert "snorm8x4" in shown and "uniform" not in shown
    assert "unorm16x2" in diagram(Corner)
    mixed = make_struct("Mixed", {"a": uint8, "b": float32, "c": uint8}, base=Vertex)
    found = suggest(mixed)
    assert (found.bytes_before, found.bytes_after) == (12, 8)
    assert issubclass(found.apply(), Vertex)


SHADER = """
struct Input { @location(0) position: vec3f, @builtin(vertex_index) index: u32, @location(2) uv: vec2f }
@vertex fn vs(v: Input, @location(3) color: vec4f) -> @builtin(position) vec4f { return vec4f(v.position, 1); }
@vertex fn ids(@location(1) id: vec4u) -> @builtin(position) vec4f { return vec4f(0); }
@fragment fn fs(@location(9) color: vec4f) {}
"""


def test_check_compares_a_class_with_a_shader() -> None:
    vertex.check(Corner, SHADER, "vs")
    with pytest.raises(
        WgslError, match=r"id: vec4u reads snorm8x4\) - at location 1 of ids, Corner.normal; use uint8x4"
    ):
        vertex.check(Corner, SHADER, "ids")
    vertex.check(make_struct("V", {"id": uint8}, base=Vertex), SHADER, "ids", locations={"id": 1})
    with pytest.raises(WgslError, match="none for color: vec4f") as caught:
        vertex.check(Corner, SHADER, "vs", locations={"color": 7})
    assert caught.value.rule == "vertex-location"
    for wrong in ("", "fs", "sv"):
        with pytest.raises(WgslError, match="must be a vertex shader"):
            vertex.check(Corner, SHADER, wrong)
    with pytest.raises(LayoutError):
        vertex.check(vec3f, SHADER, "vs")
    with pytest.raises(WgslError) as caught:
        vertex.check(Corner, SHADER, "vs", locations={"color": 7, "uv": 8})
    assert len(str(caught.value).splitlines()) == 2


def test_wgsl_has_no_declaration_of_vertex_data() -> None:
    for made in (Corner, float32x3, array[float32x3]):
        with pytest.raises(LayoutError, match="declare takes host-shareable types"):
            wgsl.declare(made)


def test_vertex_data_and_structs_do_not_mix() -> None:
    with pytest.raises(LayoutError, match="use vec3f"):
        make_struct("S", {"a": float32x3})
    with pytest.raises(LayoutError, match="use float32x3"):
        make_struct("V", {"a": vec3f}, base=Vertex)
    with pytest.raises(LayoutError, match="Vertex class"):
        make_struct("V", {"a": Corner}, base=Vertex)
    with pytest.raises(LayoutError, match="give it a count"):
        make_struct("V", {"a": array[float32x3]}, base=Vertex)
    with pytest.raises(LayoutError):
        make_struct("S", {"a": Annotated[f32, location(1)]})
    with pytest.raises(LayoutError, match=r"var<uniform>"):
        layout_of(Corner).check_uniform()
    with pytest.raises(LayoutError):
        type("Both", (Struct, Vertex), {})


def test_strides_and_locations_stay_within_the_limits() -> None:
    class Device:
        limits: ClassVar = {"max-vertex-attributes": 129, "max-vertex-buffer-array-stride": 2064}

    def words(count: int) -> Any:
        return make_struct("V", {"a": array[float32x4, count]}, base=Vertex)

    assert len(vertex.layout(words(16))["attributes"]) == 16
    with pytest.raises(LayoutError, match=r"has 16 locations, from 0 \(current: 16\) - at V\.a"):
        vertex.layout(words(17))
    with pytest.raises(LayoutError, match=r"at most 2048 bytes \(current: 2064\) - at V"):
        vertex.layout(words(129))
    assert len(vertex.layout(words(129), device=Device)["attributes"]) == 129
    with pytest.raises(LayoutError, match=r"at most 2064 bytes \(current: 2080\)"):
        vertex.layout(words(130), device=Device)


def test_the_limits_are_read_from_a_real_device(device: Any) -> None:
    most = device.limits["max-vertex-attributes"]
    V = make_struct("V", {"a": float32}, base=Vertex)
    assert vertex.layout(V, locations={"a": most - 1}, device=device)["attributes"][0]["shader_location"] == most - 1
    with pytest.raises(LayoutError, match=f"has {most} locations"):
        vertex.layout(V, locations={"a": most}, device=device)
