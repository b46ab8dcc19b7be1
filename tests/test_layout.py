"""The four rules, the sizes of bindings and the uniform rules: by hand, by brute force, and against the oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
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
    mat2x3h,
    mat3x3f,
    mat4x2h,
    mat4x4f,
    size,
    types,
    u32,
    vec2f,
    vec3f,
    vec3h,
    vec4f,
)
from gpustruct.layout import building, extent, naga, records_in
from gpustruct.types import make_struct

# WGSL 14.4.1, the table of alignments and sizes.
PLAIN = {
    **dict.fromkeys(("f32", "i32", "u32"), (4, 4)),
    **{f"vec{n}{c}": ({2: 8, 3: 16, 4: 16}[n], 4 * n) for n in (2, 3, 4) for c in "fiu"},
    "f16": (2, 2),
    "vec2h": (4, 4),
    "vec3h": (8, 6),
    "vec4h": (8, 8),
    "mat2x2f": (8, 16),
    "mat3x2f": (8, 24),
    "mat4x2f": (8, 32),
    "mat2x3f": (16, 32),
    "mat3x3f": (16, 48),
    "mat4x3f": (16, 64),
    "mat2x4f": (16, 32),
    "mat3x4f": (16, 48),
    "mat4x4f": (16, 64),
    "mat2x2h": (4, 8),
    "mat3x2h": (4, 12),
    "mat4x2h": (4, 16),
    "mat2x3h": (8, 16),
    "mat3x3h": (8, 24),
    "mat4x3h": (8, 32),
    "mat2x4h": (8, 16),
    "mat3x4h": (8, 24),
    "mat4x4h": (8, 32),
}


def test_the_table_is_complete() -> None:
    assert PLAIN.keys() == types.PLAIN_TYPES.keys()
    assert len([name for name in PLAIN if name.startswith("mat")]) == 18


@pytest.mark.parametrize("name", PLAIN)
def test_align_and_size_of_plain_types(name: str) -> None:
    layout = layout_of(types.PLAIN_TYPES[name])
    assert (layout.align, layout.size) == PLAIN[name]
    assert layout.min_binding_size == layout.size
    assert layout.stride == reference.up(layout.align, layout.size)


def test_atomics_are_as_large_as_what_they_hold() -> None:
    assert (layout_of(atomic[u32]).align, layout_of(atomic[i32]).size) == (4, 4)


# The seeds: structs that people got wrong, with the numbers that hold.


class Camera(Struct):
    view: mat4x4f
    projection: mat4x4f
    inverse: mat4x4f
    position: vec3f
    time: f32


class CameraTimeFirst(Struct):
    view: mat4x4f
    projection: mat4x4f
    inverse: mat4x4f
    time: f32
    position: vec3f


class A(Struct):
    v: vec3f
    w: f32


class B(Struct):
    v: vec3f
    w: vec3f


class Light(Struct):
    position: vec3f
    intensity: f32
    color: vec3f
    radius: f32


class Scene(Struct):
    ambient: vec4f
    num_lights: u32
    lights: array[Light, 8]


class AlignedB(Struct):
    a: f32
    b: Annotated[f32, align(16)]


class SizedV(Struct):
    v: Annotated[vec3f, size(16)]
    f: f32


class MaterialBad(Struct):
    roughness: f32
    albedo: vec4f
    metallic: f32
    emission: vec3f
    ior: f32
    alpha: f32


class MaterialGood(Struct):
    albedo: vec4f
    emission: vec3f
    roughness: f32
    metallic: f32
    ior: f32
    alpha: f32


class VelocityMass(Struct):
    velocity: vec3f
    mass: f32


class MassVelocity(Struct):
    mass: f32
    velocity: vec3f


class SceneParams(Struct):
    view: mat4x4f
    ambient: vec3f
    light_count: u32


class Member(Struct):
    id: u32
    position: vec3f


class MyUniforms(Struct):
    velocity: vec3f
    num_active: u32
    members: array[Member, 16]


class Params(Struct):
    gravity: vec3f
    dt: f32
    alive: u32


class Weights(Struct):
    values: array[f32, 64]


class Particle(Struct):
    position: vec3f
    life: f32
    velocity: vec3f


class System(Struct):
    gravity: vec3f
    dt: f32
    particles: array[Particle]


SEEDS: list[tuple[Any, int, dict[str, int]]] = [
    (Camera, 208, {"position": 192, "time": 204}),
    (CameraTimeFirst, 224, {"time": 192, "position": 208}),
    (A, 16, {"w": 12}),
    (B, 32, {"w": 16}),
    (Light, 32, {"position": 0, "intensity": 12, "color": 16, "radius": 28}),
    (Scene, 288, {"lights": 32}),
    (AlignedB, 32, {"b": 16}),
    (SizedV, 32, {"f": 16}),
    (MaterialBad, 80, {}),
    (MaterialGood, 48, {}),
    (VelocityMass, 16, {}),
    (MassVelocity, 32, {}),
    (SceneParams, 80, {"light_count": 76}),
    (Member, 32, {}),
    (MyUniforms, 528, {"members": 16}),
    (Params, 32, {}),
    (Weights, 256, {}),
]


@pytest.mark.parametrize(("cls", "bytes_", "offsets"), SEEDS, ids=lambda value: getattr(value, "__name__", ""))
def test_seeds(cls: Any, bytes_: int, offsets: dict[str, int]) -> None:
    assert layout_of(cls).size == layout_of(cls).stride == bytes_
    assert {name: getattr(cls, name).offset for name in offsets} == offsets


def test_struct_alignment_follows_an_attribute() -> None:
    assert layout_of(AlignedB).align == 16


def test_array_of_vec3f_has_stride_16() -> None:
    assert layout_of(array[vec3f]).stride == 16
    assert layout_of(array[vec3f, 5]).size == 80


def test_system_with_a_runtime_tail() -> None:
    layout = layout_of(System)
    assert (layout.header, layout.align, layout.stride) == (16, 16, 32)
    for n in (1, 2, 1000, 10**9):
        assert layout.binding_size(n) == 16 + 32 * n
        assert layout.length(16 + 32 * n) == n


def test_padding_is_every_gap_at_this_depth() -> None:
    assert layout_of(MassVelocity).padding == ((4, 12), (28, 4))
    assert layout_of(SizedV).padding == ((12, 4), (20, 12))
    assert layout_of(VelocityMass).padding == ()
    assert layout_of(mat3x3f).used == 36
    assert [(m.name, m.offset, m.size, m.align, m.type) for m in layout_of(AlignedB).fields] == [
        ("a", 0, 4, 4, "f32"),
        ("b", 16, 4, 16, "f32"),
    ]


def test_a_batch_has_the_layout_of_its_type() -> None:
    assert layout_of(vec3f([1, 2, 3])) is layout_of(vec3f)


# Binding sizes: the floor formula, by brute force over every size that a buffer binding may have.


class HeaderBelowMinimum(Struct):
    head: vec4f
    values: array[f32]


class HalfTail(Struct):
    head: f16
    values: array[f16]


class HalfTailEven(Struct):
    head: u32
    values: array[f16]


class BytesTail(Struct):
    head: f16
    values: array[array[f16, 3]]


class WideAlign(Struct):
    head: Annotated[f32, align(64)]
    values: array[vec2f]


RUNTIME = [
    *[System, HeaderBelowMinimum, HalfTail, HalfTailEven, BytesTail, WideAlign],
    *[array[f16], array[f32], array[vec3f], array[vec3h], array[array[f16, 3]], array[mat2x3h], array[Light]],
]


def lengths_by_brute_force(cls: Any, up_to: int) -> dict[int, int]:
    """arrayLength -> the smallest legal binding that gives it. WebGPU: a multiple of 4, minBindingSize or more."""
    kind = reference.layout(cls)
    step = kind.tail_stride
    found: dict[int, int] = {}
    for size_ in range(0, up_to + 1, 4):
        if size_ >= kind.size:
            found.setdefault((size_ - kind.header) // step, size_)
    return found


@pytest.mark.parametrize("cls", RUNTIME, ids=lambda cls: cls.__name__)
def test_binding_sizes_against_the_floor_formula(cls: Any) -> None:
    layout = layout_of(cls)
    assert layout.min_binding_size == reference.layout(cls).size
    found = lengths_by_brute_force(cls, 40 * layout.stride + 300)
    for n in range(1, 40):
        assert layout.representable(n) == (n in found)
        if n in found:
            assert layout.binding_size(n) == found[n]
            assert layout.length(found[n]) == n
        else:
            with pytest.raises(BindingError) as caught:
                layout.binding_size(n)
            nearest = next(k for k in range(n, 10_000) if k in found)
            assert caught.value.rule == "length-representable"
            assert f"bind {nearest} records" in str(caught.value)


@given(strategies.structs(tail=True), st.integers(1, 100))
def test_binding_sizes_of_random_structs(cls: Any, n: int) -> None:
    layout, kind = layout_of(cls), reference.layout(cls)
    assert (layout.header, layout.stride, layout.min_binding_size) == (kind.header, kind.tail_stride, kind.size)
    found = lengths_by_brute_force(cls, kind.header + kind.tail_stride * n + kind.size + 8)
    assert layout.representable(n) == (n in found)
    if n in found:
        assert layout.binding_size(n) == found[n]


def test_the_three_exceptions() -> None:
    layout = layout_of(HeaderBelowMinimum)
    assert [layout.representable(n) for n in (0, 1, 3, 4, 5)] == [False, False, False, True, True]
    assert [layout_of(array[f16]).representable(n) for n in (1, 2, 3, 4)] == [False, True, False, True]
    assert [layout_of(HalfTail).representable(n) for n in (1, 2, 3, 4)] == [True, False, True, False]
    assert layout.length(36) == 5
    assert not layout.representable(0)
    assert not layout.representable(-1)
    assert not layout.representable(1.5)  # type: ignore[arg-type]


def test_a_huge_alignment_is_answered_at_once() -> None:
    class Wide(Struct):
        head: Annotated[f32, align(2**28)]
        values: array[f32]

    with pytest.raises(BindingError, match="bind 67108863 records"):
        layout_of(Wide).binding_size(5)


def test_records_of_a_type_without_a_tail_are_counted_too() -> None:
    assert layout_of(Light).binding_size(10) == 320
    assert layout_of(vec3f).binding_size(3) == 48
    assert layout_of(vec3f).length(48) == 3
    assert layout_of(f16).binding_size(4) == 8


# Uniform: legal or not as the specification says, and the rule that is named.


class Inner(Struct):
    a: f32


class InnerThenMember(Struct):
    inner: Inner
    b: f32


class Three(Struct):
    a: f32
    b: f32
    c: f32


class ThreeThenMember(Struct):
    three: Three
    d: f32


class InnerThenMemberLegal(Struct):
    inner: Annotated[Inner, size(16)]
    b: f32


class InnerAtFour(Struct):
    a: f32
    inner: Inner


class InnerAtSixteen(Struct):
    a: f32
    inner: Annotated[Inner, align(16)]


class ArrayAtFour(Struct):
    a: f32
    grid: array[mat2x2f, 2]


class Counter(Struct):
    n: atomic[u32]


class Deep(Struct):
    outer: array[Weights, 2]


UNIFORM: list[tuple[Any, list[str]]] = [
    (Weights, ["array-stride-uniform"]),
    (InnerThenMember, ["gap-uniform"]),
    (ThreeThenMember, ["gap-uniform"]),
    (InnerThenMemberLegal, []),
    (InnerAtFour, ["offset-uniform"]),
    (InnerAtSixteen, []),
    (ArrayAtFour, ["offset-uniform"]),
    (Counter, ["atomic-uniform"]),
    (System, ["runtime-uniform"]),
    (Deep, ["array-stride-uniform"]),
    (Camera, []),
    (Scene, []),
    (MyUniforms, []),
    (array[vec3f, 4], []),
    (array[f32, 4], ["array-stride-uniform"]),
    (array[mat4x2h, 3], []),
    (array[vec2f, 4], ["array-stride-uniform"]),
    (vec3h, []),
]


@pytest.mark.parametrize(("cls", "rules"), UNIFORM, ids=lambda value: getattr(value, "__name__", ""))
def test_uniform_rules(cls: Any, rules: list[str]) -> None:
    assert [fault.rule for fault in layout_of(cls).uniform_faults()] == rules
    assert reference.uniform_legal(cls) is not bool(rules)
    if rules:
        with pytest.raises(LayoutError) as caught:
            layout_of(cls).check_uniform()
        assert caught.value.rule == rules[0]
    else:
        layout_of(cls).check_uniform()


@given(strategies.types(max_depth=2))
def test_uniform_legality_of_random_types(cls: Any) -> None:
    assert bool(layout_of(cls).uniform_faults()) is not reference.uniform_legal(cls)


def test_standard_layout_lifts_all_but_atomics_and_runtime_arrays() -> None:
    for cls, rules in UNIFORM:
        kept = [rule for rule in rules if rule in ("atomic-uniform", "runtime-uniform")]
        assert [fault.rule for fault in layout_of(cls).uniform_faults(standard_layout=True)] == kept


def test_weights_names_the_three_ways_out() -> None:
    with pytest.raises(LayoutError) as caught:
        layout_of(Weights).check_uniform()
    assert str(caught.value) == (
        "array stride must be a multiple of 16 in uniform (current: 4) - at Weights.values; "
        "use array[vec4f, 16], uniform_safe(Weights), or var<storage>"
    )


@given(strategies.types())
def test_random_types_against_the_oracle(cls: Any) -> None:
    layout, kind = layout_of(cls), reference.layout(cls)
    assert (layout.align, layout.size) == (kind.align, kind.size)
    assert layout.counted_stride == (kind.tail_stride or kind.stride)
    places = {offset + i for offset, scalar in reference.leaves(cls).values() for i in range(reference.BYTES[scalar])}
    assert layout.used == len(places)
    gaps = {gap.offset + i for gap in layout.padding for i in range(gap.size)}
    assert not gaps & places
    assert all(0 <= place < layout.size for place in gaps | places)


@given(strategies.structs(max_depth=0, tail=False, attributes="anywhere"))
def test_padding_and_scalars_fill_a_flat_struct(cls: Any) -> None:
    # Gaps inside arrays and matrices count as theirs, not as this struct's.
    layout = layout_of(cls)
    inside = sum(member.layout.size - member.layout.used for member in layout.fields)
    assert sum(gap.size for gap in layout.padding) + layout.used + inside == layout.size


def nested(inner: Any, levels: int, width: int) -> Any:
    for level in range(levels):
        inner = make_struct(f"Level{level}", {f"m{k}": inner for k in range(width)})
    return inner


def test_what_is_asked_of_a_type_costs_each_struct_in_it_once() -> None:
    # 4 ** 12 places of one struct: looking at each of them would not end.
    Leaf = make_struct("Leaf", {"a": f32, "b": Annotated[f32, align(16)]})
    layout = layout_of(nested(Leaf, 12, 4))
    assert layout.size == 32 * 4**12
    assert layout.used == 8 * 4**12
    assert layout.uniform_faults() == []
    assert len(layout.naga_notes()) == 0
    assert layout.notes() == ["uniform: legal"]
    assert repr(layout) == f"<Layout of {layout.summary()}>"
    assert layout in {layout}
    Wrong = make_struct("Wrong", {"a": array[f32, 2], "b": array[f32, 2]})
    faults = layout_of(nested(Wrong, 12, 4)).uniform_faults()
    strides = [str(fault) for fault in faults if fault.rule == "array-stride-uniform"]
    # Both arrays are to be mended, each of them once.
    assert len(strides) == 2
    assert len(faults) < 12 * 2 * 4


def test_a_struct_that_stands_twice_has_its_faults_told_once() -> None:
    Inner = make_struct("Inner", {"weights": array[f32, 4]})
    Outer = make_struct("Outer", {"first": Inner, "second": array[Inner, 2], "third": array[f32, 4]})
    places = [str(fault).split(" - at ")[1].split(";")[0] for fault in layout_of(Outer).uniform_faults()]
    assert places == ["Outer.first.weights", "Outer.third"]


@pytest.mark.parametrize(
    ("members", "offsets", "size"),
    [
        # Offsets and sizes that naga gave on a device (gfx-rs/wgpu#4377).
        (lambda S: {"a": u32, "b": S}, (0, 4), 20),
        (lambda S: {"a": u32, "b": Annotated[S, align(16)]}, None, 32),
        (lambda S: {"a": vec4f, "b": S}, None, 32),
        (lambda S: {"a": u32, "b": S, "c": u32}, (0, 4, 20), 24),
        (lambda S: {"a": u32, "b": array[S, 2]}, (0, 4), 36),
    ],
)
def test_where_naga_puts_what_it_does_not_align(
    members: Callable[[Any], dict[str, Any]], offsets: tuple[int, ...] | None, size: int
) -> None:
    S = make_struct("S", {"a": Annotated[u32, align(16)]})
    layout = layout_of(make_struct("T", members(S)))
    found = list(naga.departures(layout))
    if offsets is None:
        assert found == []
        assert layout.naga_notes() == []
        assert layout.size == size
    else:
        assert [(departure.offsets, departure.size) for departure in found] == [(offsets, size)]
        (note,) = layout.naga_notes()
        assert note.startswith("T.b starts at 16, naga aligns it to 4 only; write Annotated[")


@pytest.mark.parametrize(("made", "own"), [(u32, 4), (vec3f, 12), (array[vec3f, 2], 32)])
def test_size_is_at_least_the_types_own(made: Any, own: int) -> None:
    assert layout_of(types.make_struct("S", {"a": Annotated[made, size(own)]})).fields[0].size == own
    with pytest.raises(LayoutError) as caught:
        types.make_struct("S", {"a": Annotated[made, size(own - 1)]})
    assert caught.value.rule == "size-small"


@pytest.mark.parametrize(("count", "rule"), [(2**31 - 1, "array-bytes"), (2**31, "array-count"), (0, "array-count")])
def test_the_largest_count(count: int, rule: str) -> None:
    with pytest.raises(LayoutError) as caught:
        _ = array[f32, count]
    assert caught.value.rule == rule


def test_the_largest_struct() -> None:
    """One scalar more would make 2^31 bytes."""
    values, last = building.array(layout_of(f32), 2**29 - 2), ("last", layout_of(f32), None, None, None)
    assert building.struct("Large", [("values", values, None, None, None), last]).size == 2**31 - 4
    with pytest.raises(LayoutError) as caught:
        building.struct("Large", [("values", values, None, None, None), last, ("more", *last[1:])])
    assert caught.value.rule == "array-bytes"


@pytest.mark.parametrize("count", [-1, 0, 2**31])
def test_the_counts_of_a_layout(count: int) -> None:
    with pytest.raises(LayoutError) as caught:
        building.array(layout_of(f32), count)
    assert caught.value.rule == "array-count"


@pytest.mark.parametrize("value", [True, False, np.True_, 1.0, "1", None])
def test_numbers_are_whole_numbers(value: Any) -> None:
    layout = layout_of(array[vec3f])
    assert not layout.representable(value)
    for call in (layout.binding_size, layout.length):
        with pytest.raises((LayoutError, BindingError)):
            call(value)


@pytest.mark.parametrize(("type_", "stride"), [(vec3f, 16), (vec3h, 8), (f32, 4), (mat3x3f, 48)])
def test_a_length_needs_a_whole_record(type_: Any, stride: int) -> None:
    """A variable of vec3f needs 12 bytes, but array<vec3f> with one element 16."""
    layout = layout_of(type_)
    assert [layout.length(n) for n in (stride, 2 * stride - 1, 2 * stride)] == [1, 1, 2]
    for short in (0, stride - 4, stride - 1):
        with pytest.raises(LayoutError) as caught:
            layout.length(short)
        assert caught.value.rule == "length-size"


def test_gaps_side_by_side_are_one() -> None:
    made = make_struct("Gaps", {"a": Annotated[u32, size(8)], "b": vec4f, "c": Annotated[u32, size(4)]})
    assert layout_of(made).padding == ((4, 12), (36, 12))


@pytest.mark.parametrize(("type_", "size_", "stride"), [(vec3f, 12, 16), (vec4f, 16, 16), (vec3h, 6, 8)])
def test_the_last_record_needs_no_padding(type_: Any, size_: int, stride: int) -> None:
    layout = layout_of(type_)
    for n in range(1, 5):
        least = (n - 1) * stride + size_
        assert extent(layout, n) == least
        assert [records_in(layout, nbytes) for nbytes in (least - 1, least, least + stride - 1)] == [n - 1, n, n]
