"""declare: text that parse reads back to the same layout, on every backend."""

from __future__ import annotations

import re
import warnings
from typing import Annotated, Any

import pytest
from hypothesis import given, settings

import strategies
from gpustruct import Struct, WgslError, align, array, atomic, f16, f32, layout_of, size, types, u32, vec3f, wgsl
from gpustruct.layout import Layout
from truth import CASES, build

PACKED = "|".join(name.__name__ for name in strategies.PACKED)


def places(layout: Layout, names: tuple[str, ...] | None = None) -> Any:
    """All that memory knows of a layout: where which type is, at every depth."""
    members = [
        (member.name, member.offset, places(member.layout))
        for member in layout.fields
        if names is None or member.name in names
    ]
    kind = re.sub(PACKED, "u32", layout.name) if layout.core.kind != "struct" else layout.kind
    inner = places(layout.element) if layout.element is not None else None
    return kind, layout.size, layout.align, layout.stride, layout.count, members, inner


def reread(text: str, name: str) -> Layout:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return layout_of(wgsl.parse(text).structs[name])


@settings(max_examples=200, deadline=None)
@given(strategies.structs())
def test_parse_of_declare_gives_the_same_layout(cls: Any) -> None:
    layout = layout_of(cls)
    assert places(reread(wgsl.declare(cls), cls.__name__)) == places(layout)


@settings(max_examples=200, deadline=None)
@given(strategies.structs())
def test_explicit_padding_moves_nothing(cls: Any) -> None:
    layout = layout_of(cls)
    with_attributes = reread(wgsl.declare(cls, padding="attributes"), cls.__name__)
    assert places(with_attributes) == places(layout)
    # Nothing is left to the compiler.
    ends = [member.offset for member in with_attributes.fields[1:]] + [layout.size]
    sized = [(m, end) for m, end in zip(with_attributes.fields, ends, strict=True) if not m.layout.is_runtime_array]
    assert all(member.offset + member.size == end for member, end in sized)
    with_members = reread(wgsl.declare(cls, padding="members"), cls.__name__)
    assert (with_members.size, with_members.align, with_members.stride) == (layout.size, layout.align, layout.stride)
    found = {member.name: member.offset for member in with_members.fields}
    assert {member.name: member.offset for member in layout.fields}.items() <= found.items()
    assert with_members.padding == () or with_members.tail is not None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["root"] + str(case.get("size")))
def test_measured_types(case: dict[str, Any]) -> None:
    cls = build(case)
    assert places(reread(wgsl.declare(cls), case["root"])) == places(layout_of(cls))


def test_inner_align_stands_on_every_outer_member() -> None:
    inner = types.make_struct("Inner", {"a": Annotated[u32, align(32)], "b": f32})
    middle = types.make_struct("Middle", {"n": u32, "inner": inner})
    outer = types.make_struct("Outer", {"n": u32, "grid": array[middle, 2], "tail": array[inner]})
    assert wgsl.declare(outer) == (
        "struct Inner {\n  @align(32) a: u32,\n  b: f32,\n}\n\n"
        "struct Middle {\n  n: u32,\n  @align(32) inner: Inner,\n}\n\n"
        "struct Outer {\n  n: u32,\n  @align(32) grid: array<Middle, 2>,\n  @align(32) tail: array<Inner>,\n}\n"
    )


def test_padding_forms() -> None:
    item = types.make_struct("Item", {"a": f32, "v": vec3f, "pad0": f32, "b": Annotated[f32, size(24)], "w": vec3f})
    assert wgsl.declare(item, padding="attributes") == (
        "struct Item {\n  @size(16) a: f32,\n  v: vec3f,\n  pad0: f32,\n  @size(32) b: f32,\n  @size(16) w: vec3f,\n}\n"
    )
    assert wgsl.declare(item, padding="members") == (
        "struct Item {\n  a: f32,\n  pad1: u32,\n  pad2: u32,\n  pad3: u32,\n  v: vec3f,\n  pad0: f32,\n  b: f32,\n"
        "  pad4: u32,\n  pad5: u32,\n  pad6: u32,\n  pad7: vec4u,\n  w: vec3f,\n  pad8: u32,\n}\n"
    )


def test_f16_is_enabled_where_it_is_used() -> None:
    half = types.make_struct("Half", {"a": f16})
    assert wgsl.declare(types.make_struct("Whole", {"a": f32})).startswith("struct")
    assert wgsl.declare(types.make_struct("Holder", {"a": array[half, 3]})).startswith("enable f16;\n\nstruct Half")


def test_several_types_share_their_structs() -> None:
    inner = types.make_struct("Inner", {"a": f32})
    text = wgsl.declare(types.make_struct("A", {"i": inner}), array[inner], types.make_struct("B", {"i": inner}), vec3f)
    assert re.findall(r"struct (\w+)", text) == ["Inner", "A", "B"]
    assert wgsl.declare() == ""
    assert wgsl.declare(vec3f, array[atomic[u32]]) == ""


def test_one_name_means_one_struct() -> None:
    one, same, other = (types.make_struct("Item", {"a": kind}) for kind in (f32, f32, u32))
    assert wgsl.declare(one, same) == wgsl.declare(one)
    with pytest.raises(WgslError, match="two different structs named Item"):
        wgsl.declare(types.make_struct("A", {"i": one}), types.make_struct("B", {"i": other}))


def test_a_struct_named_like_a_type_hides_it() -> None:
    hiding = types.make_struct("vec3f", {"x": f32, "y": f32, "z": f32})
    user = types.make_struct("User", {"a": f32, "b": hiding})
    assert places(reread(wgsl.declare(user), "User")) == places(layout_of(user))
    with pytest.raises(WgslError, match="struct vec3f"):
        wgsl.declare(user, types.make_struct("Other", {"a": vec3f}))


def test_what_is_refused() -> None:
    with pytest.raises(WgslError, match="'zeros'"):
        wgsl.declare(vec3f, padding="zeros")  # type: ignore[arg-type]

    class Named(Struct):
        a: f32

    assert wgsl.declare(Named(a=1.0)) == wgsl.declare(Named)
