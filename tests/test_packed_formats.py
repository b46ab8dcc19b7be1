"""Packed formats as members of a Struct: a u32 in the shader, floats or small integers in Python. numpy is the oracle.

Random structs of every test contain them too: see `strategies.structs`.
"""

from __future__ import annotations

import dataclasses
import pickle
from typing import Annotated, Any

import numpy as np
import pytest

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
    struct_of,
    u32,
    uniform_safe,
    unpack,
    vec3f,
    view,
    wgsl,
)
from gpustruct.formats import FORMATS
from gpustruct.types import make_struct
from gpustruct.vertex import float16x2, sint8x4, snorm8x4, snorm16x2, uint8x4, unorm8x4, unorm16x2

# The format, the function that reads it, its numbers, their dtype in the record, and what 1 is stored as.
FUNCTIONS: list[tuple[Any, str, int, str, int]] = [
    (snorm8x4, "unpack4x8snorm", 4, "i1", 127),
    (unorm8x4, "unpack4x8unorm", 4, "u1", 255),
    (sint8x4, "unpack4xI8", 4, "i1", 1),
    (uint8x4, "unpack4xU8", 4, "u1", 1),
    (snorm16x2, "unpack2x16snorm", 2, "<i2", 32767),
    (unorm16x2, "unpack2x16unorm", 2, "<u2", 65535),
    (float16x2, "unpack2x16float", 2, "<f2", 1),
]
by_format = pytest.mark.parametrize(
    ("made", "function", "rows", "stored", "one"), FUNCTIONS, ids=[row[1] for row in FUNCTIONS]
)


class Light(Struct):
    position: vec3f
    color: unorm8x4
    normal: snorm8x4
    range: f32


LIGHT = np.dtype([("position", "<f4", 3), ("color", "u1", 4), ("normal", "i1", 4), ("range", "<f4"), ("pad", "V8")])


def lights(n: int) -> tuple[Light, bytes]:
    rng = np.random.default_rng(n)
    position, color, normal = rng.normal(size=(n, 3)), rng.uniform(0, 1, (n, 4)), rng.uniform(-1, 1, (n, 4))
    packed = np.zeros(n, LIGHT)
    packed["position"], packed["range"] = position, np.arange(n)
    packed["color"], packed["normal"] = np.rint(color * 255), np.rint(normal * 127)
    return Light(position=position, color=color, normal=normal, range=np.arange(n)), packed.tobytes()


def column(rows: int, stored: str, one: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Values with the ends of the format's range, and what is stored for them."""
    rng = np.random.default_rng(one)
    if one > 1:
        low = -1.0 if stored[-2] == "i" else 0.0
        values = rng.uniform(low, 1, (n, rows))
        values[:3] = [[low], [0], [1]]
        return values, np.rint(values * one).astype(stored)
    if stored == "<f2":
        values = rng.normal(size=(n, rows))
        values[:3] = [[65504], [-65504], [2.0**-24]]
        return values, values.astype("<f2")
    info = np.iinfo(stored)
    values = rng.integers(info.min, info.max, (n, rows), endpoint=True)
    values[:2] = [[info.min], [info.max]]
    return values, values.astype(stored)


@by_format
def test_every_packed_format_is_a_u32(made: Any, function: str, rows: int, stored: str, one: int) -> None:
    S = make_struct("S", {"a": f32, "b": made, "c": array[made, 3], "d": vec3f, "e": made, "f": array[made]})
    U = make_struct("S", {"a": f32, "b": u32, "c": array[u32, 3], "d": vec3f, "e": u32, "f": array[u32]})
    for ours, theirs in zip(layout_of(S).fields, layout_of(U).fields, strict=True):
        assert (ours.offset, ours.size, ours.align) == (theirs.offset, theirs.size, theirs.align)
    assert (layout_of(S).size, layout_of(S).align, layout_of(S).stride, layout_of(S).padding) == (
        layout_of(U).size, layout_of(U).align, layout_of(U).stride, layout_of(U).padding,
    )  # fmt: skip
    comment = f",  // {made.__name__}, read with {function}\n"
    assert wgsl.declare(S) == (
        f"struct S {{\n  a: f32,\n  b: u32{comment}  c: array<u32, 3>{comment}  d: vec3f,\n  e: u32{comment}"
        f"  f: array<u32>{comment}}}\n"
    )
    for padding in ("attributes", "members"):
        assert wgsl.declare(S, padding=padding).count(comment) == 4
    assert [spec.type.__name__ for spec in wgsl.check(S, wgsl.declare(S)).__members__.values()] == [
        "f32", "u32", "array[u32, 3]", "vec3f", "u32", "array[u32]",
    ]  # fmt: skip


@by_format
def test_bytes_and_values_of_every_packed_format(made: Any, function: str, rows: int, stored: str, one: int) -> None:
    values, want = column(rows, stored, one, 300)
    S = make_struct("S", {"a": f32, "b": made, "c": vec3f, "d": array[made, 2]})
    dtype = np.dtype({"names": ["a", "b", "c", "d"], "formats": ["<f4", (stored, rows), ("<f4", 3), (stored, (2, rows))],
                      "offsets": [0, 4, 16, 28], "itemsize": 48})  # fmt: skip
    packed = np.zeros(300, dtype)
    packed["a"], packed["b"], packed["c"], packed["d"] = 1, want, 2, np.stack([want[::-1], want], 1)
    made_batch = S(a=1.0, b=values, c=np.full((300, 3), 2.0), d=np.stack([values[::-1], values], 1))
    assert pack(made_batch).tobytes() == packed.tobytes()
    # The format's own numbers are copied.
    assert pack(S(a=1.0, b=want, c=np.full((300, 3), 2.0), d=packed["d"])).tobytes() == packed.tobytes()
    assert pack(batch(S, packed)).tobytes() == packed.tobytes()
    read = unpack(S, packed.tobytes())
    numbers = np.maximum(want / one, -1).astype("f4") if one > 1 else want
    assert np.array_equal(read.b, numbers) and np.array_equal(read.d, np.stack([numbers[::-1], numbers], 1))
    assert read.b.dtype == numbers.dtype
    assert pack(read).tobytes() == packed.tobytes()
    assert dtype_of(S)["b"] == np.dtype((stored, rows)) and dtype_of(S).fields["d"][1] == 28  # type: ignore[index]


def test_a_color_costs_4_bytes_in_storage() -> None:
    made, want = lights(1000)
    assert layout_of(Light).size == 32
    assert pack(made).tobytes() == want
    with_vectors = make_struct("L", {"position": vec3f, "color": array[f32, 4], "normal": array[f32, 4], "range": f32})
    assert layout_of(with_vectors).size == 48


def test_views_hold_numbers_not_words() -> None:
    one = view(Light)
    one.color, one.normal = [1.0, 0.5, 0, 1], (0, 0, -1.0, 1)
    assert bytes(one)[12:20] == bytes([255, 128, 0, 255, 0, 0, 129, 127])
    assert one.color.tolist() == [1, np.float32(128 / 255), 0, 1] and one.normal.tolist() == [0, 0, -1, 1]
    one.update(color=np.array([1, 2, 3, 4], np.uint8))
    assert bytes(one)[12:16] == bytes([1, 2, 3, 4])
    before = bytes(one)
    with pytest.raises(SourceError, match=r"unorm8 holds numbers from 0 to 1 \(current: 1.5\) - at Light.color\[1\]"):
        one.color = [0, 1.5, 0, 0]
    assert bytes(one) == before
    many = view(make_struct("Many", {"tags": array[uint8x4, 3], "lights": array[Light, 2]}))
    many.tags[1] = [1, 2, 3, 255]
    many.lights[1].color = [0.0, 1, 0, 0]
    assert bytes(many)[4:8] == bytes([1, 2, 3, 255]) and bytes(many)[16 + 32 + 12 :][:4] == bytes([0, 255, 0, 0])


@dataclasses.dataclass
class Lamp:
    position: tuple[float, float, float]
    color: tuple[float, float, float, float]
    normal: Any
    range: float


@pytest.mark.parametrize("kind", ["dict", "tuple", "list", "dataclass", "columns", "structured", "words of bytes"])
def test_sources_of_every_kind(kind: str) -> None:
    made, want = lights(9)
    rows = [(made.position[k], made.color[k], made.normal[k], float(k)) for k in range(9)]
    names = ("position", "color", "normal", "range")
    sources: dict[str, Any] = {
        "dict": [dict(zip(names, row, strict=True)) for row in rows],
        "tuple": [tuple(value.tolist() if hasattr(value, "tolist") else value for value in row) for row in rows],
        "list": [list(row) for row in rows],
        "dataclass": [Lamp(*row) for row in rows],
        "columns": {name: [row[k] for row in rows] for k, name in enumerate(names)},
        "structured": np.frombuffer(want, LIGHT)[list(names)],
        "words of bytes": {"position": made.position, "color": np.frombuffer(want, LIGHT)["color"],
                           "normal": np.frombuffer(want, LIGHT)["normal"], "range": np.arange(9)},
    }  # fmt: skip
    assert pack(batch(Light, sources[kind])).tobytes() == want


def test_dask_columns() -> None:
    dask = pytest.importorskip("dask.array")
    made, want = lights(50)
    columns = {name: dask.from_array(np.asarray(getattr(made, name)), chunks=7) for name in Light.__members__}
    assert pack(batch(Light, columns)).tobytes() == want


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        (
            "color",
            1.25,
            r"unorm8 holds numbers from 0 to 1 \(current: 1.25\) - at Light.color\[3, 2\]; clip the column",
        ),
        ("color", -0.01, r"unorm8 holds numbers from 0 to 1 \(current: -0.01\) - at Light.color\[3, 2\]"),
        ("normal", np.nan, r"snorm8 holds numbers from -1 to 1 \(current: nan\) - at Light.normal\[3, 2\]"),
    ],
)
def test_a_number_out_of_range_names_the_record(member: str, value: float, message: str) -> None:
    made, _ = lights(5)
    columns = {name: np.array(getattr(made, name)) for name in Light.__members__}
    columns[member][3, 2] = value
    out = np.full(5 * 32, 7, np.uint8)
    with pytest.raises(SourceError, match=message):
        pack(Light(**columns), out=out)


def test_what_columns_are_refused() -> None:
    with pytest.raises(SourceError, match=r"uint8.*300.*Tagged.tag\[0, 1\]"):
        pack(make_struct("Tagged", {"tag": uint8x4})(tag=[[1, 300, 0, 0]]))
    with pytest.raises(SourceError, match="unorm8 cannot be made from int64"):
        Light(position=np.zeros((2, 3)), color=[[1, 0, 0, 1]] * 2, normal=[0.0, 0, 0, 1], range=1)
    with pytest.raises(SourceError, match=r"Light\.color"):
        Light(position=np.zeros((2, 3)), color=np.zeros((2, 3)), normal=[0.0, 0, 0, 1], range=1)


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {row[0].__name__ for row in FUNCTIONS}))
def test_other_formats_are_refused_in_a_struct(name: str) -> None:
    made = FORMATS[name]
    for type_ in (made, array[made, 2], array[made]):
        with pytest.raises(LayoutError, match=r"members must be host-shareable"):
            make_struct("S", {"a": f32, "b": type_})


def test_check_accepts_a_u32_and_nothing_else() -> None:
    text = wgsl.declare(Light)
    assert wgsl.check(Light, text).__name__ == "Light"
    assert wgsl.check(dtype_of(Light), text, name="Light").__name__ == "Light"
    for other in ("i32", "f32", "vec4f", "vec4u", "atomic<u32>", "array<u32, 1>"):
        changed = text.replace("color: u32", f"color: {other}")
        for mine in (Light, dtype_of(Light)):
            with pytest.raises(WgslError, match=r"must be the same on both sides(.|\n)*color") as caught:
                wgsl.check(mine, changed, name="Light")
            assert caught.value.rule == "check-differs"
    with pytest.raises(WgslError, match="color"):
        wgsl.check(np.dtype([("color", "u1", (2, 2))]), "struct C { color: u32 }", name="C")
    with pytest.raises(WgslError, match="color"):
        wgsl.check(make_struct("C", {"color": f32}), "struct C { color: u32 }")


def test_parse_leaves_a_u32() -> None:
    found = wgsl.parse(wgsl.declare(Light)).structs["Light"]
    assert found.color.type is u32 and found.normal.type is u32
    assert "uint" not in wgsl.stubs(wgsl.parse(wgsl.declare(Light))) and "u32" in wgsl.stubs(
        wgsl.parse(wgsl.declare(Light))
    )


def test_declare_repeats_attributes_and_needs_no_f16() -> None:
    class Half(Struct):
        a: Annotated[float16x2, align(16), size(8)]
        b: f32

    assert wgsl.declare(Half) == (
        "struct Half {\n  @align(16) @size(8) a: u32,  // float16x2, read with unpack2x16float\n  b: f32,\n}\n"
    )
    assert not any("enable f16" in note for note in layout_of(Half).notes())


def test_a_struct_may_not_hide_u32() -> None:
    inner = make_struct("u32", {"a": f32})
    with pytest.raises(WgslError, match="u32"):
        wgsl.declare(make_struct("S", {"a": inner, "b": unorm8x4}))


def test_uniform_rules_are_those_of_a_u32() -> None:
    layout_of(Light).check_uniform()
    with pytest.raises(LayoutError, match="array stride must be a multiple of 16 in uniform"):
        layout_of(make_struct("Palette", {"colors": array[unorm8x4, 8]})).check_uniform()
    for arrays in ("pad", "vec4"):
        safe = uniform_safe(make_struct("Palette", {"colors": array[unorm8x4, 2]}), arrays)
        assert "fn palette_colors(i: u32) -> u32 {" in safe.wgsl
        assert "value: u32,  // unorm8x4, read with unpack4x8unorm" in safe.wgsl
        data = pack(safe(safe.original(colors=[[1.0, 0, 0, 1], [0.0, 1, 0, 1]])))
        assert data.tolist() == [255, 0, 0, 255, *[0] * 12, 0, 255, 0, 255, *[0] * 12]


def test_reports_name_the_format_and_the_function() -> None:
    shown = str(layout_of(Light))
    assert "    12     4      4  unorm8x4  color" in shown
    assert "unorm8x4: the shader declares u32 and reads it with unpack4x8unorm" in shown
    assert "snorm8x4: the shader declares u32 and reads it with unpack4x8snorm" in shown
    html: Any = layout_of(Light)
    assert "unorm8x4" in html._repr_html_() and "unorm8x4" in diagram(Light)
    assert repr(Light.color) == "<Field Light.color: unorm8x4, offset=12, size=4, align=4>"


def test_pickles() -> None:
    made, want = lights(4)
    assert pack(pickle.loads(pickle.dumps(made))).tobytes() == want

    class Local(Struct):
        color: unorm8x4
        tags: array[uint8x4, 2]

    again = pickle.loads(pickle.dumps(Local))
    assert again.__layout__ == Local.__layout__ and again.color.type is unorm8x4


def test_a_dtype_of_it_asks_what_its_bytes_are() -> None:
    with pytest.raises(LayoutError, match="color"):
        struct_of(dtype_of(Light), "Light", {"position": vec3f})
    again = struct_of(dtype_of(Light), "Light", {"position": vec3f, "color": unorm8x4, "normal": snorm8x4})
    assert again.__layout__ == Light.__layout__


def test_masks_indices_and_slices() -> None:
    made, want = lights(10)
    rows = np.frombuffer(want, LIGHT)
    for chosen in (slice(2, 8, 3), [5, 1, 5], np.arange(10) % 2 == 0, slice(None, None, -1)):
        assert pack(made[chosen]).tobytes() == rows[chosen].tobytes()
