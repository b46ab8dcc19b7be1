"""`wgsl.check` and `gpustruct check`: each fault that was found, and others of its kind."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from gpustruct import SourceError, Struct, WgslError, array, batch, dtype_of, f32, mat2x2f, mat3x3f, vec3f, wgsl
from gpustruct.cli.findings import check_text

SCENE = "struct S { a: f32, b: vec3f, c: u32 }"


class Padded(ctypes.Structure):
    _fields_ = [
        ("a", ctypes.c_float),
        ("_pad", ctypes.c_uint8 * 12),
        ("b", ctypes.c_float * 3),
        ("c", ctypes.c_uint32),
    ]


POINT = np.dtype([("value", "f4", 3), ("_pad", "V4")])
LIGHT = np.dtype([("color", "f4", 3), ("pad", "V4"), ("range", "f4", 3), ("", "V4")])


@pytest.mark.parametrize(
    ("T", "text"),
    [
        (np.dtype([("a", "f4"), ("_pad", "V12"), ("b", "f4", 3), ("c", "u4")]), SCENE),
        (np.dtype([("a", "f4"), ("x", "V4"), ("y", "V4", 2), ("b", "f4", 3), ("c", "u4")]), SCENE),
        (np.dtype([("a", "f4"), ("_pad0", "f4", 3), ("b", "f4", 3), ("c", "u4")]), SCENE),
        (np.dtype([("a", "f4"), ("unused", "u1", 12), ("b", "f4", 3), ("c", "u4")]), SCENE),
        (Padded, SCENE),
        (np.dtype([("a", "f4", 3), ("_pad", "V4")]), "struct S { a: vec3f }"),
        (np.dtype([("points", POINT, 4)]), "struct S { points: array<vec3f, 4> }"),
        (np.dtype([("m", POINT, 3)]), "struct S { m: mat3x3f }"),
        (
            np.dtype([("n", "u4"), ("_p", "V12"), ("lights", LIGHT, 2)]),
            "struct Light { color: vec3f, range: vec3f } struct S { n: u32, lights: array<Light, 2> }",
        ),
        # The shader writes it out too.
        (np.dtype([("a", "f4"), ("_pad", "V4"), ("b", "f4", 2)]), "struct S { a: f32, _pad: u32, b: vec2f }"),
    ],
)
def test_F27_padding_that_a_dtype_writes_out_is_passed_over(T: Any, text: str) -> None:
    assert wgsl.check(T, text, name="S") is not None


@pytest.mark.parametrize(
    ("T", "text", "member"),
    [
        # Too short: what follows is elsewhere.
        (np.dtype([("a", "f4"), ("_pad", "V8"), ("b", "f4", 3), ("c", "u4")]), SCENE, "b"),
        # The attribute is on a member.
        (np.dtype([("a", "f4"), ("_pad", "V24"), ("c", "u4")]), SCENE, "b"),
        (np.dtype([("a", "f4"), ("_pad", "u4", 6), ("c", "u4")]), SCENE, "_pad"),
        # It is not called like padding and not void.
        (np.dtype([("a", "f4"), ("speed", "f4", 3), ("b", "f4", 3), ("c", "u4")]), SCENE, "speed"),
        (np.dtype([("a", "f4"), ("pad", "V8")]), "struct S { a: f32, pad: u32 }", "pad"),
        (np.dtype([("b", "V12"), ("c", "u4")]), "struct S { b: vec3f, c: u32 }", "b"),
        (np.dtype([("points", np.dtype([("v", "f4", 2), ("_", "V8")]), 4)]), "struct S { points: array<vec3f, 4> }", "points"),
    ],
)  # fmt: skip
def test_F27_what_differs_is_still_told(T: Any, text: str, member: str) -> None:
    with pytest.raises(WgslError) as caught:
        wgsl.check(T, text, name="S")
    assert any(line.split()[:2] == ["Python", member] for line in str(caught.value).split("\n"))


@pytest.mark.parametrize(
    ("T", "text"),
    [
        (np.dtype([("a", "f4"), ("_pad", "V12"), ("b", "f4", 3), ("c", "u4")]), SCENE),
        (np.dtype([("x", "V4"), ("a", "f4"), ("y", "V4", 2), ("b", "f4", 3), ("c", "u4")]), SCENE),
        (np.dtype([("a", ">f4"), ("", "V1"), ("b", "f8", 3), ("c", "u2")]), SCENE),
        (
            np.dtype([("n", "u4"), ("_p", "V12"), ("lights", LIGHT, 2)]),
            "struct Light { color: vec3f, range: vec3f } struct S { n: u32, lights: array<Light, 2> }",
        ),
    ],
)
def test_F27_batch_passes_over_void_fields(T: Any, text: str) -> None:
    S = wgsl.parse(text).structs["S"]
    first, last = next(name for name in T.names if T[name].kind != "V"), T.names[-1]
    source = np.zeros(2, T)
    source[first] = [1, 2]
    number = source[last]["color"] if last == "lights" else source[last]
    number[...] = 7
    for given in (source, source[::-1][::-1], source.view(np.recarray)):
        found = batch(S, given)
        assert getattr(found, first).tolist() == [1, 2]
        assert (getattr(found, last).color if last == "lights" else getattr(found, last)).reshape(-1).tolist() == [
            7
        ] * number.size
    single = batch(S, source[1])
    assert getattr(single, first) == 2
    with pytest.raises(SourceError, match=rf"S\.{last}"):
        batch(S, np.zeros(2, [(name, "V4" if name == last else T[name]) for name in T.names if name]))


def test_F27_the_dtype_that_gpustruct_makes_agrees() -> None:
    class Padding(Struct):
        a: f32
        m: mat3x3f
        points: array[vec3f, 3]
        many: array[mat3x3f, 2]
        nested: array[array[vec3f, 2], 2]
        small: mat2x2f

    assert wgsl.check(dtype_of(Padding), wgsl.declare(Padding), name="Padding").__name__ == "Padding"


# gpustruct check.

STORED = "\n@group(0) @binding(0) var<storage> p: array<P>;"


def rules(text: str) -> list[str]:
    return [finding.rule for finding in check_text(text, "a.wgsl")]


@pytest.mark.parametrize(
    "text",
    [
        "struct V { @builtin(vertex_index) i: u32, @location(0) p: vec3f }\n"
        "@vertex fn vs(v: V) -> @builtin(position) vec4f { return vec4f(v.p, 1); }",
        # Nobody in this text uses it: another does, as an output.
        "struct O { @location(0) i: f32, @builtin(position) p: vec4f, @location(1) j: f32 }",
        "struct Hit { distance: f32, normal: vec3f }\nfn hit(ray: vec3f) -> Hit { return Hit(1.0, ray); }",
        "struct Hit { distance: f32, normal: vec3f }\nfn hit() { var closest: Hit; }",
        "struct Hit { distance: f32, normal: vec3f }\nalias H = Hit;\nfn hit(h: array<H, 2>) {}",
        "struct Hit { distance: f32, normal: vec3f }\nvar<private> hit: Hit;",
        "struct Hit { d: f32, n: vec3f }\nstruct Hits { first: Hit, n: vec4f }\nfn hits(h: Hits) {}",
        "struct Hit { d: f32, n: vec3f }\nstruct P { a: vec4f }" + STORED + "\nfn hit(h: Hit) {}",
    ],
)
def test_W37_what_lies_in_no_buffer_wastes_nothing(text: str) -> None:
    assert rules(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "struct P { d: f32, n: vec3f }",
        "struct P { d: f32, n: vec3f }\nstruct Q { a: array<P, 4>, b: vec4f }",
        "struct P { d: f32, n: vec3f }\n// P is not used: fn f(p: P)\n/* P */",
        "struct P { d: f32, n: vec3f }" + STORED + "\nfn f(p: P) {}",
        "struct P { @location(0) d: f32, @location(1) n: vec3f }" + STORED,
        "struct P { d: f32, n: vec3f }\nvar<immediate> p: P;",
        "struct P { d: f32, n: vec3f }\nfn f(p: ptr<storage, array<P>>) {}",
        "struct P { d: f32, n: vec3f }\nstruct V { d: f32, n: vec3f }\nfn f(p: ptr<uniform, P>, v: V) {}",
    ],
)
def test_W37_what_lies_in_a_buffer_does(text: str) -> None:
    # A pointer to a buffer needs a language feature that naga has not got.
    assert [rule for rule in rules(text) if rule != "naga-requires"] == ["waste"]


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ("a: f32, pad0: vec3<u32>", "16 of 32 bytes of padding (50 %), 16 of them caused by pad0: vec3u, padding that is itself aligned; write it as scalars: 3 x u32"),
        ("n: u32, _pad: vec2f, m: u32", "pad: vec2f, padding that is itself aligned; write it as scalars: 2 x f32"),
        ("a: f32, p_pad: vec3f, b: f32, unused1: vec3f", "p_pad: vec3f and unused1: vec3f, padding that is itself aligned; write it as scalars: 3 x f32, 3 x f32"),
        ("a: u32, padding: array<vec3u, 1>", "padding: array<vec3u, 1>, padding that is itself aligned; write it as scalars: 3 x u32"),
        # The struct itself adds no padding: another order helps, or nothing does.
        ("a: f32, paddle: vec3f", "16 bytes less in the order paddle, a"),
    ],
)  # fmt: skip
def test_W37_padding_by_hand_that_makes_padding_is_named(members: str, said: str) -> None:
    (finding,) = check_text(f"struct P {{ {members} }}{STORED}", "a.wgsl", most=10)
    assert finding.message.endswith(said)


def test_W37_padding_by_hand_that_fits_is_no_finding() -> None:
    assert rules("struct P { a: f32, pad0: u32, pad1: u32, pad2: u32, n: vec3f, pad3: f32 }" + STORED) == []


# One finding for one cause.

FIVE = range(5)


@pytest.mark.parametrize(
    ("text", "rule", "others"),
    [
        ("struct I { @align(16) a: u32 }" + "".join(f"\nstruct O{k} {{ n: u32, i: I }}" for k in FIVE), "naga-align", "O1, O2, O3, O4"),
        (
            "struct I { a: array<u32, 4> }"
            + "".join(f"\nstruct O{k} {{ n: vec4u, i: I }}\n@group(0) @binding({k}) var<uniform> o{k}: O{k};" for k in FIVE),
            "array-stride-uniform",
            "o1, o2, o3, o4",
        ),
        (
            "struct I { a: array<u32, 4> }" + "".join(f"\n@group(0) @binding({k}) var<uniform> o{k}: I;" for k in FIVE),
            "array-stride-uniform",
            "o1, o2, o3, o4",
        ),
        (
            "struct I { m: mat2x2f }\nstruct K { i: I }\nstruct A { k: K }"
            + "".join(f"\n@group(0) @binding({k}) var<uniform> o{k}: A;" for k in FIVE),
            "naga-matrix",
            "o1, o2, o3, o4",
        ),
        ("".join(f"\nconst C{k} = 1--2;" for k in FIVE), "naga-minus", "line 3, line 4, line 5, line 6"),
    ],
)  # fmt: skip
def test_one_cause_in_five_places_is_one_finding(text: str, rule: str, others: str) -> None:
    (finding,) = check_text(text, "a.wgsl")
    assert finding.rule == rule
    assert finding.message.endswith(f" (and in {others})")


def test_several_causes_are_several_findings() -> None:
    text = """struct I { a: array<u32, 4>, b: array<u32, 8> }
@group(0) @binding(0) var<uniform> i: I;
@group(0) @binding(1) var<uniform> x: array<f32, 4>;
@group(0) @binding(2) var<uniform> y: array<f32, 4>;"""
    assert rules(text) == ["array-stride-uniform"] * 4
    marked = "struct I { @align(16) a: u32 }\nstruct J { @align(32) a: u32 }\nstruct A { n: u32, i: I }\nstruct B { n: u32, i: J }"
    assert rules(marked) == ["naga-align"] * 2


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("struct P { d: f32, n: vec3f }", (1, 8)),
        ("struct  P { d: f32, n: vec3f }", (1, 9)),
        ("// struct P\nstruct\n  P { d: f32, n: vec3f }", (3, 3)),
        ("struct Q { a: P, p: array<P, 2> } struct P { d: f32, n: vec3f }", (1, 42)),
    ],
)
def test_a_finding_stands_at_the_name_of_its_struct(text: str, place: tuple[int, int]) -> None:
    assert [(finding.line, finding.column) for finding in check_text(text, "a.wgsl") if "P has" in finding.message] == [
        place
    ]


@pytest.mark.parametrize(
    "rest", ["/*" * 20_000, "struct B {" * 10_000, "alias a " * 10_000, "/* x */ / " * 10_000, "// /*\n" * 10_000]
)
def test_what_follows_does_not_hide_a_finding(rest: str) -> None:
    assert "waste" in rules(f"struct P {{ d: f32, n: vec3f }}\n{rest}")
