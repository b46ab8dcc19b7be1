"""Smaller orders against every order, pictures against the oracle's bytes, tables as people read them."""

from __future__ import annotations

import doctest
import itertools
import os
import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from gpustruct import (
    LayoutError,
    Struct,
    align,
    array,
    f16,
    f32,
    layout_of,
    mat2x2f,
    mat2x3h,
    mat3x3f,
    mat4x4f,
    size,
    u32,
    vec2f,
    vec2h,
    vec3f,
    vec3h,
    vec4f,
)
from gpustruct.report import diagram, suggest
from gpustruct.report.cells import cells_of
from gpustruct.report.hints import half_holds
from gpustruct.report.orders import PROVEN_MEMBERS, smallest_order
from gpustruct.types import PLAIN_TYPES, make_struct
from strategies import structs

IMAGES = Path(__file__).parent.parent / "docs" / "images"


class MaterialBad(Struct):
    roughness: f32
    color: vec4f
    metallic: f32
    emission: vec3f
    opacity: f32
    cutoff: f32


class Light(Struct):
    position: vec3f
    range: f32
    color: vec3f
    kind: u32


class Camera(Struct):
    view: mat4x4f
    projection: mat4x4f
    position: vec3f
    time: f32


class Scene(Struct):
    camera: Camera
    ambient: vec3f
    light_count: u32
    lights: array[Light, 8]


class Terrain(Struct):
    normal_matrix: mat3x3f
    uv_transform: mat2x3h
    tint: vec3h
    opacity: f16
    uv: vec2h
    layer: u32
    weights: array[f32, 6]
    offsets: array[vec3f, 4]


class One(Struct):
    value: f32


class Mixed(Struct):
    direction: vec3f
    a: f32
    b: f32


# The smallest size over all orders, by the rules and nothing else.


def end_of(order: tuple[tuple[int, int], ...]) -> int:
    end = 0
    for own_align, own_size in order:
        end = -(-end // own_align) * own_align + own_size
    return end


def orders_end(members: list[Any], *, last: int) -> int:
    """The least bytes before a following member that is aligned to `last`."""
    measures = [(reference.layout(member).align, reference.layout(member).size) for member in members]
    return min(-(-end_of(order) // last) * last for order in set(itertools.permutations(measures)))


def random_members(rng: random.Random) -> list[Any]:
    every = [*PLAIN_TYPES.values(), One, Mixed, array[vec3f, 2], array[f32, 3], array[One, 2], array[mat2x2f, 2]]
    usual = [f32, u32, vec2f, vec3f, vec4f, One, f16]
    pool = rng.choice([every, usual])
    return [rng.choice(pool) for _ in range(rng.choice([2, 3, 4, 5, 6, 6, 7]))]


def test_no_order_of_400_random_structs_is_smaller() -> None:
    rng = random.Random(7)
    shrunk = 0
    for _ in range(400):
        members = random_members(rng)
        tail = rng.choice([None, None, None, f32, vec3f, vec2f])
        named = {f"m{i}": member for i, member in enumerate(members)}
        T = make_struct("T", named | ({"tail": array[tail]} if tail else {}))
        found = suggest(T, uniform=False)
        step = reference.layout(tail).align if tail else max(reference.layout(m).align for m in members)
        assert found.proven
        assert found.bytes_after == orders_end(members, last=step), named
        made = reference.layout(found.apply())
        assert found.bytes_after == (made.header if tail else made.size)
        assert bool(found) == (found.apply() is not T)
        shrunk += bool(found)
    assert 100 < shrunk < 400


def test_uniform_structs_stay_legal_and_no_legal_order_is_smaller() -> None:
    rng = random.Random(11)
    constrained = 0
    for _ in range(1500):
        members = [rng.choice([f32, vec3f, vec2f, One, Mixed, array[vec3f, 2]]) for _ in range(rng.randint(2, 5))]
        T = make_struct("T", {f"m{i}": member for i, member in enumerate(members)})
        if not reference.uniform_legal(T):
            continue
        found = suggest(T)
        sizes = []
        for order in itertools.permutations(range(len(members))):
            U = make_struct("T", {f"m{i}": members[i] for i in order})
            if reference.uniform_legal(U):
                sizes.append(reference.layout(U).size)
        assert found.bytes_after == min(sizes)
        assert reference.uniform_legal(found.apply())
        constrained += min(sizes) > suggest(T, uniform=False).bytes_after
    assert constrained > 10


def test_of_the_smallest_orders_it_is_the_one_that_moves_least() -> None:
    rng = random.Random(3)
    for _ in range(60):
        members = random_members(rng)[:6]
        T = make_struct("T", {f"m{i}": member for i, member in enumerate(members)})
        measures = [(reference.layout(m).align, reference.layout(m).size) for m in members]
        step = max(own for own, _ in measures)

        def moved(order: tuple[int, ...]) -> int:
            return sum(a > b for a, b in itertools.combinations(order, 2))

        found = smallest_order(layout_of(T), uniform=False).indices
        ends = {
            order: -(-end_of(tuple(measures[i] for i in order)) // step) * step
            for order in itertools.permutations(range(len(members)))
        }
        assert moved(found) == min(moved(order) for order, end in ends.items() if end == min(ends.values()))


def test_twelve_members_that_all_differ_are_proven() -> None:
    members: list[Any] = [Annotated[f32, align(4 << k)] for k in range(6)]
    members += [Annotated[array[f16, 7 * k + 1], align(2 << k)] for k in range(6)]
    random.Random(5).shuffle(members)
    assert len(members) == PROVEN_MEMBERS
    T = make_struct("T", {f"m{i}": member for i, member in enumerate(members)})
    assert suggest(T).proven


def test_a_struct_of_1023_members_gets_an_answer() -> None:
    rng = random.Random(2)
    T = make_struct("T", {f"m{i}": rng.choice([f32, vec3f, vec2f, vec4f]) for i in range(1023)})
    found = suggest(T)
    types = [spec.type for spec in T.__members__.values()]
    # 4 bytes after a vec3f can hold an f32 and nothing else here, so this is the minimum.
    gaps = 4 * max(0, types.count(vec3f) - types.count(f32))
    used = sum(reference.layout(type_).size for type_ in types)
    assert found.bytes_after == -(-(used + gaps) // 16) * 16
    assert reference.layout(found.apply()).size == found.bytes_after


def test_material() -> None:
    found = suggest(MaterialBad)
    assert (found.bytes_before, found.bytes_after, found.proven) == (80, 48, True)
    assert reference.layout(found.apply()).size == 48
    assert str(found).splitlines()[:4] == [
        "MaterialBad: 80 -> 48 bytes a record, 40 % less (proven minimal)",
        "  order: color, roughness, metallic, opacity, emission, cutoff",
        "  saves 32 bytes a record, 32 MB for a million",
        "  cache lines of 64 bytes a record: 2.00 -> 1.50",
    ]
    assert found.saved(10) == 320
    assert "proven minimal" in found._repr_html_()
    assert found.apply().__name__ == "MaterialBad"


def test_cache_lines_are_counted_record_by_record() -> None:
    found = suggest(MaterialBad)
    for stride, lines in zip((80, 48), found.cache_lines(64), strict=True):
        touched = [len({byte // 64 for byte in range(k * stride, (k + 1) * stride)}) for k in range(64)]
        assert lines == sum(touched) / 64


def test_the_author_order_stands_where_it_is_smallest() -> None:
    found = suggest(Camera)
    assert not found
    assert found.apply() is Camera
    assert str(found) == "Camera: 144 bytes a record, no order is smaller (proven minimal)"


def test_attributes_stay_on_their_members_and_the_tail_stays_last() -> None:
    class T(Struct):
        a: f32
        b: Annotated[f32, align(32)]
        c: Annotated[vec3f, size(20)]
        d: f32
        rest: array[vec3f]

    found = suggest(T)
    made = found.apply()
    assert found.order[-1] == "rest"
    assert (made.b.align, made.c.size) == (32, 20)
    assert found.bytes_after == reference.layout(made).header < reference.layout(T).header


def test_suggest_takes_structs_only() -> None:
    with pytest.raises(LayoutError, match="suggest takes a struct") as caught:
        suggest(vec3f)
    assert caught.value.rule == "suggest-struct"
    with pytest.raises(LayoutError, match="layout_of takes a gpustruct type"):
        suggest(3)
    Weights = make_struct("Weights", {"values": array[f32, 6]})
    with pytest.raises(LayoutError, match="array stride"):
        suggest(Weights, uniform=True)


def hint(type_: Any, rule: str) -> Any:
    (found,) = [hint for hint in suggest(type_).hints if hint.rule == rule]
    return found


def test_hint_room_behind_a_vec3() -> None:
    filled = hint(make_struct("T", {"range": f32, "position": vec3f}), "vec3-room")
    assert str(filled) == "  vec3-room: range fills the 4 bytes after position (vec3f)"
    free = hint(make_struct("T", {"position": vec3f, "color": vec4f}), "vec3-room")
    assert free.text == "4 bytes after position (vec3f) stay free: one more f32 there costs nothing"
    assert reference.layout(free.type).size == 32


def test_hint_scalars_share_a_slot() -> None:
    grouped = hint(MaterialBad, "scalars-group")
    assert grouped.text == "roughness, metallic, opacity share one slot of 16 bytes instead of 3"


def test_hint_nested_struct_shrinks() -> None:
    Loose = make_struct("Loose", {"range": f32, "position": vec3f, "color": vec3f, "kind": u32})
    found = hint(make_struct("T", {"head": vec4f, "loose": array[Loose, 8]}), "nested")
    assert "Loose (loose) shrinks from 48 to 32 bytes" in found.text
    assert found.saved == 8 * 16
    assert reference.layout(found.type).size == 16 + 8 * 32


def test_hint_f16_reads_the_values() -> None:
    T = make_struct("T", {"position": vec4f, "color": vec4f, "alpha": vec4f})
    positions = np.full((5, 4), 1e6)
    found = hint(T(position=positions, color=(1, 0.5, 0.25, 1), alpha=(0, 1, 2, 3)), "f16")
    assert found.members == ("color", "alpha")
    assert found.saved == 16
    assert reference.layout(found.type).size == 32
    assert "suggest(batch) reads the values" in hint(T, "f16").text


@given(st.lists(st.floats(width=64, allow_nan=True), max_size=5))
def test_f16_holds_what_numpy_says(values: list[float]) -> None:
    column = np.array(values, np.float64)
    with np.errstate(all="ignore"):
        half = column.astype(np.float16).astype(np.float64)
    normal = (np.abs(column) <= 65504) & ((np.abs(column) >= 2.0**-14) | (column == 0)) | ~np.isfinite(column)
    assert half_holds(column) == bool(normal.all())
    if half_holds(column):
        finite = np.isfinite(column) & (column != 0)
        assert np.all(np.abs(half[finite] - column[finite]) <= np.abs(column[finite]) * 2.0**-11)


def test_hint_vec4_packing() -> None:
    found = hint(make_struct("Weights", {"values": array[f32, 64]}), "uniform-vec4")
    assert found.text == (
        "in var<uniform>, values takes 256 bytes as array[vec4f, 16], read as values[i / 4u][i % 4u]; "
        "1024 with each element padded to 16"
    )
    assert reference.uniform_legal(found.type)


def taken(measure: reference.Measure) -> int:
    return measure.header + measure.tail_stride or measure.size


@given(structs())
def test_any_struct_has_a_suggestion_that_holds(cls: Any) -> None:
    found = suggest(cls)
    made = found.apply()
    before, after = reference.layout(cls), reference.layout(made)
    assert set(made.__members__) == set(cls.__members__)
    assert after.size <= before.size
    assert reference.uniform_legal(made) or not reference.uniform_legal(cls)
    for each in found.hints:
        if each.saved and each.rule != "uniform-vec4":
            assert taken(reference.layout(each.type)) == taken(after) - each.saved
    assert str(found)
    assert found._repr_html_().count("<tr") > 1


# Pictures.


@given(structs())
def test_cells_are_the_bytes_of_the_record(cls: Any) -> None:
    cells, _ = cells_of(layout_of(cls))
    covered = [byte for cell in cells for byte in range(cell.start, cell.stop)]
    measure = reference.layout(cls)
    assert covered == list(range(taken(measure)))
    scalars = {
        byte
        for offset, scalar in reference.leaves(cls).values()
        for byte in range(offset, offset + reference.BYTES[scalar])
    }
    for cell in cells:
        inside = scalars & set(range(cell.start, cell.stop))
        if cell.kind == "padding":
            assert not inside
        elif cell.kind == "value":
            assert inside == set(range(cell.start, cell.stop))


@given(structs())
def test_pictures_are_well_formed_and_stay_inside(cls: Any) -> None:
    root = ET.fromstring(diagram(cls, title='<&"'))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for path in root.iter("{http://www.w3.org/2000/svg}path"):
        if path.attrib.get("class", "").startswith("gs-"):
            numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", path.attrib["d"])]
            assert all(0 <= number <= max(width, height) for number in numbers)


def test_a_huge_array_is_cut_and_says_so() -> None:
    svg = diagram(make_struct("T", {"values": array[f32, 2**28], "lights": array[Light, 2**20], "n": u32}))
    assert len(svg) < 20_000
    assert "more rows" in svg


@pytest.mark.parametrize("type_", [f32, vec3f, mat3x3f, array[vec3f], array[Light], array[array[One, 3], 2]])
def test_types_that_are_no_structs_have_a_picture(type_: Any) -> None:
    ET.fromstring(diagram(type_))


def pictures() -> Iterator[tuple[str, str]]:
    for cls in (Camera, Scene, Terrain, MaterialBad):
        yield cls.__name__, diagram(cls)
    yield "MaterialGood", diagram(suggest(MaterialBad).apply(), title="MaterialBad, in the order of suggest")


@pytest.mark.parametrize(("name", "svg"), list(pictures()))
def test_the_pictures_of_the_documentation_are_current(name: str, svg: str) -> None:
    assert (IMAGES / f"{name}.svg").read_text(encoding="utf-8") == svg


def test_the_documentation_says_what_is_so() -> None:
    page = Path(__file__).parent.parent / "docs" / "report.md"
    result = doctest.testfile(os.fspath(page), module_relative=False, encoding="utf-8")
    assert result.attempted > 5
    assert result.failed == 0


# Tables.


def test_table_marks_padding_and_ends_with_notes() -> None:
    class T(Struct):
        a: f32
        m: mat3x3f
        h: f16

    assert str(layout_of(T)) == "\n".join(
        [
            "T: size 80, align 16, stride 80, padding 38 bytes (48 %)",
            "offset  size  align  type     name",
            "     0     4      4  f32      a",
            "     4    12                  (padding)",
            "    16    48     16  mat3x3f  m",
            "          12                  (padding inside)",
            "    64     2      2  f16      h",
            "    66    14                  (padding)",
            "uniform: legal",
            "f16: the shader needs `enable f16;`, the device the feature shader-f16",
        ]
    )


@given(structs())
def test_every_table_accounts_for_the_padding(cls: Any) -> None:
    layout = layout_of(cls)
    rows = list(layout.rows_of_table())
    top = [row for row in rows if row[4] in cls.__members__]
    assert [int(row[0]) for row in top] == [getattr(cls, row[4]).offset for row in top]
    assert len(top) == len(cls.__members__)
    assert len(layout._repr_html_().split("<tr")) == len(rows) + 2
    assert str(layout).startswith(f"{layout.name}: ")


def test_the_summary_of_a_runtime_sized_struct_tells_header_from_element() -> None:
    T = make_struct("T", {"n": u32, "points": array[vec3f]})
    assert layout_of(T).summary() == (
        "T: header 16, align 16, stride 16, runtime-sized, padding 12 bytes in the header, 4 an element"
    )


def test_uniform_faults_are_noted() -> None:
    T = make_struct("T", {"a": array[f32, 3], "n": f32})
    (note,) = layout_of(T).notes()
    assert note.startswith("uniform: array stride must be a multiple of 16 in uniform (current: 4) - at T.a")
    many = make_struct("T", {f"a{i}": array[f32, 3] for i in range(9)})
    assert layout_of(many).notes()[-1].endswith("more faults; check_uniform() lists all")


def test_naga_note_and_its_remedy() -> None:
    Inner = make_struct("Inner", {"a": Annotated[u32, align(16)]})
    Outer = make_struct("Outer", {"n": u32, "inner": Inner})
    note = "Outer.inner starts at 16, naga aligns it to 4 only; write Annotated[Inner, align(16)]"
    assert layout_of(Outer).naga_notes() == [note]
    assert layout_of(make_struct("Outer", {"n": u32, "inner": Annotated[Inner, align(16)]})).naga_notes() == []
    assert layout_of(make_struct("Outer", {"n": u32, "inner": array[Inner, 2]})).naga_notes() != []


def test_captions_of_html_tables_do_not_wrap() -> None:
    layout = layout_of(MaterialBad)
    for shown in (layout, suggest(MaterialBad), layout.diff(suggest(MaterialBad).apply())):
        (caption,) = re.findall(r"<caption[^>]*>", shown._repr_html_())
        assert "white-space:nowrap" in caption


def test_diff() -> None:
    changed = layout_of(MaterialBad).diff(suggest(MaterialBad).apply())
    assert changed
    assert str(changed).splitlines()[0] == "MaterialBad -> MaterialBad: size 80 -> 48, align 16, padding 36 -> 4 bytes"
    assert ("~", "color", "vec4f", "16 -> 0", "16") in changed.rows
    assert "<table" in changed._repr_html_()
    assert not layout_of(Light).diff(layout_of(Light))
    other = layout_of(Light).diff(make_struct("Light", {"position": vec3f, "range": u32, "age": f32}))
    assert [row[:2] for row in other.rows] == [
        ("", "position"),
        ("~", "range"),
        ("+", "age"),
        ("-", "color"),
        ("-", "kind"),
    ]
    with pytest.raises(LayoutError, match="layout_of takes a gpustruct type"):
        layout_of(Light).diff(3)


def test_a_hint_that_cannot_be_built_is_left_out() -> None:
    # 2**28 elements of 16 bytes are more than a type may take; as they are they take a quarter of it.
    huge = make_struct("Huge", {"a": array[f32, 2**28], "b": f32})
    assert not [hint for hint in suggest(huge).hints if hint.rule == "uniform-vec4"]
    large = make_struct("Large", {"a": array[f32, 2**26], "b": f32})
    assert [hint.members for hint in suggest(large).hints if hint.rule == "uniform-vec4"] == [("a",)]
