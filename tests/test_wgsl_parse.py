"""parse: every kind of declaration, const-expressions, errors with their place."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpustruct import GpuStructError, WgslError, atomic, f32, layout_of, pack, u32, vec3f, wgsl


def fails(text: str, **options: Any) -> WgslError:
    with pytest.raises(WgslError) as caught:
        wgsl.parse(text, **options)
    return caught.value


def test_a_parsed_struct_packs_like_a_handwritten_one() -> None:
    module = wgsl.parse("struct Particle { position: vec3f, life: f32 }")
    particle = module.structs["Particle"]
    data = pack(particle(position=np.arange(6.0).reshape(2, 3), life=7.0)).view(np.float32)
    assert data.tolist() == [0, 1, 2, 7, 3, 4, 5, 7]


def test_a_whole_module() -> None:
    module = wgsl.parse("""
        enable f16, primitive_index; requires pointer_composite_access; diagnostic(off, derivative_uniformity);
        diagnostic(warning, chromium.unreachable_code,);
        const WIDTH = 4u; override tile: u32 = WIDTH * 2; @id(1200) override scale: f32; override flag = true;
        alias Row = array<vec4<f32>, WIDTH>; alias Handle = texture_2d<f32>;
        struct Light { @align(16) color: vec3<f16>, @size(8) kind: u32, }
        struct Varyings { @builtin(position) at: vec4f, @location(0) @interpolate(flat, either) index: u32 }
        const_assert WIDTH == 4;
        @group(0) @binding(0) var<uniform> rows: Row;
        @group(0) @binding(WIDTH - 3) var<storage, read_write> lights: array<Light>;
        @group(1) @binding(0) var image: Handle;
        @group(1) @binding(1) var linear: sampler;
        var<workgroup> shared_sum: array<atomic<u32>, tile>;
        var<private> counter = 3;
        var<immediate> factor: vec2f;
        fn helper(a: array<f32, 4>) -> f32 { if (a[0] > 1.0) { return a[1]; } /* } */ return 0.0; // }
        }
        @vertex fn vs(@builtin(vertex_index) i: u32) -> Varyings { return Varyings(); }
        @fragment fn fs(in: Varyings) -> @location(0) vec4f { return in.at; };
        @compute @workgroup_size(tile, WIDTH) fn main() {}
    """)
    assert module.enabled == ("f16", "primitive_index")
    assert module.required == ("pointer_composite_access",)
    assert module.constants == {"WIDTH": 4}
    assert {name: (o.id, o.type, o.value) for name, o in module.overrides.items()} == {
        "tile": (None, "u32", 8),
        "scale": (1200, "f32", None),
        "flag": (None, "bool", True),
    }
    assert list(module.structs) == ["Light", "Varyings"]
    assert module.aliases["Row"].__layout__.size == 64
    assert "texture_2d<f32>" in module.unavailable["Handle"]
    found = {name: (v.group, v.binding, v.space, v.access, v.min_binding_size) for name, v in module.bindings.items()}
    assert found == {
        "rows": (0, 0, "uniform", "read", 64),
        "lights": (0, 1, "storage", "read_write", 16),
        "image": (1, 0, "handle", "read", None),
        "linear": (1, 1, "handle", "read", None),
    }
    assert module.bindings["image"].type_name == "texture_2d<f32>"
    assert {name: (v.space, v.access) for name, v in module.variables.items()} == {
        "shared_sum": ("workgroup", "read_write"),
        "counter": ("private", "read_write"),
        "factor": ("immediate", "read"),
    }
    assert module.variables["counter"].type_name == "i32"
    assert module.functions == ("helper", "vs", "fs", "main")
    assert {n: (e.stage, e.workgroup_size) for n, e in module.entry_points.items()} == {
        "vs": ("vertex", None),
        "fs": ("fragment", None),
        "main": ("compute", (8, 4, 1)),
    }
    assert module.skipped == ()


EXPRESSIONS: list[tuple[str, Any]] = [
    # Bits, and sums of products.
    ("countOneBits(15u)", 4), ("countLeadingZeros(1)", 31), ("countTrailingZeros(8u)", 3), ("firstLeadingBit(16u)", 4),
    ("firstLeadingBit(-1)", -1), ("firstLeadingBit(-9)", 3), ("firstLeadingBit(0u)", 4294967295), ("firstTrailingBit(12)", 2),
    ("reverseBits(1u)", 2147483648), ("countOneBits(vec2(3u, 7u))", (2, 3)), ("dot(vec2(1, 2), vec2(3, 4))", 11),
    ("length(vec2(3.0, 4))", 5.0), ("length(-2.0)", 2.0), ("distance(vec2f(1, 1), vec2f(4, 5))", 5.0),
    # Integers: the specification's operators, precedence and literals.
    ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 / 2", 3), ("-7 / 2", -3), ("-7 % 3", -1), ("7 % -3", 1), ("1 << 4", 16),
    ("0xFFu >> 4u", 15), ("6 & 3", 2), ("6 | 3", 7), ("6 ^ 3", 5), ("~0u", 4294967295), ("~0", -1), ("0x1F", 31),
    ("- - 4", 4), ("2147483647i + 1i", -2147483648), ("0u - 1u", 4294967295), ("4294967295u * 2u", 4294967294),
    ("1 + 1 - 1 + 1", 2), ("100 / 10 / 5", 2), ("10 - 2 - 3", 5), ("-2147483647i - 1i", -2147483648),
    # Floats: literals, rounding to the type.
    ("1.5 + 1", 2.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("2.5e-1f", 0.25), ("1f", 1.0), ("0x1p4", 16.0),
    ("0x1.8p1f", 3.0), ("0x.8", 0.5), ("0.1f", float(np.float32(0.1))), ("7.5 % 2.0", 1.5), ("1f / 4f", 0.25),
    ("f32(1) / 3", float(np.float32(1) / np.float32(3))),
    # Bools and comparisons.
    ("true && !false", True), ("false || true", True), ("1 < 2", True), ("2 <= 1", False), ("1 == 1.0", True),
    ("true != false", True), ("true & false", False), ("true | false", True), ("false && (1 / 0 == 0)", False),
    ("1 + 1 == 2 && 3 > 2", True), ("(1<2) == (2>1)", True),
    # What && and || skip is no fault.
    ("true || (1 / 0 == 0)", True), ("false && (array(1, 2)[5] == 1)", False), ("false && (sqrt(-1.0) > 0)", False),
    ("true || ((1 << 40u) > 0)", True), ("false && (1u % 0u == 1)", False), ("false && all(vec2(1 / 0) == vec2(1))", False),
    ("true || bool(1 / 0)", True), ("false && (u32(1e30) == 0)", False), ("true || (false && (1 / 0 == 0))", True),
    ("false && LATER == 41", False), ("false && (clamp(1, 2, 0) == 1)", False), ("false || (1 < 2) || (1 / 0 == 0)", True),
    # Built-ins and conversions.
    ("min(3, 4)", 3), ("max(3u, 4)", 4), ("abs(-3)", 3), ("clamp(9, 0, 5)", 5), ("select(1, 2, true)", 2),
    ("select(1, 2.0, false)", 1.0), ("u32(3.7)", 3), ("i32(-3.7)", -3), ("u32(-1i)", 4294967295), ("i32(4294967295u)", -1),
    ("u32(true)", 1), ("bool(2)", True), ("f32(7u)", 7.0), ("u32(-5.0)", 0), ("sqrt(16.0)", 4.0), ("floor(-1.5)", -2.0),
    ("round(2.5)", 2.0), ("sign(-3)", -1), ("pow(2.0, 10.0)", 1024.0), ("mix(0.0, 4.0, 0.25)", 1.0), ("fract(1.25)", 0.25),
    # Vectors, matrices, arrays, structs and their parts.
    ("vec3(1, 2, 3)", (1, 2, 3)), ("vec3u(7)", (7, 7, 7)), ("vec4(vec2(1, 2), 3, 4).zw", (3, 4)), ("vec3<f32>()", (0.0,) * 3),
    ("vec2(1, 2) + vec2(3, 4)", (4, 6)), ("vec2(1, 2) * 3", (3, 6)), ("vec2(1, 5) < vec2(2, 3)", (True, False)),
    ("vec3(1, 2, 3).y", 2), ("vec3(1, 2, 3).bgr", (3, 2, 1)), ("vec3(1, 2, 3)[2]", 3), ("array(4, 5, 6)[1]", 5),
    ("array<vec2u, 2>(vec2u(1, 2), vec2u(3, 4))[1].x", 3), ("Pair(3, vec2(1.5, 2)).b.x", 1.5), ("Pair().a", 0),
    ("mat2x2f(1, 2, 3, 4)[1]", (3.0, 4.0)), ("mat2x3(vec3(1.0), vec3(2.0))[1][2]", 2.0), ("all(vec2(true, false))", False),
    ("any(vec2(true, false))", True), ("select(vec2(1, 2), vec2(3, 4), vec2(true, false))", (3, 2)), ("Pairs()[1].a", 0),
    ("vec2f(1, 2).x", 1.0), ("-vec2(1, 2)", (-1, -2)), ("max(vec2(1, 5), vec2(3))", (3, 5)), ("vec2u(vec2f(1.9, 2.1))", (1, 2)),
    ("Pair(9, vec2f()) . a", 9), ("array(1, 2.5)[0]", 1.0), ("LATER + 1", 42), ("(vec2(LATER) / 2).x", 20),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
@pytest.mark.filterwarnings("ignore::gpustruct.BackendWarning")
def test_constant(text: str, value: Any) -> None:
    before = "struct Pair { a: u32, b: vec2f } alias Pairs = array<Pair, 2>;"
    found = wgsl.parse(f"{before} const x = {text}; const LATER = 41;").constants["x"]
    assert found == value
    assert type(found) is type(value)


FAULTS: list[tuple[str, str]] = [
    ("clamp(1, 2, 0)", "constant-fault"), ("mat2x2f(vec3f(), 1.0)", "arguments"), ("mat2x2f(vec2f(), 1, 2)", "arguments"),
    ("dot(1, 2)", "arguments"), ("length(vec2u(1, 2))", "arguments"), ("countOneBits(1.5)", "arguments"), ("1 && 2 || 3", "operators-mixed"),
    # What && and || skip must be a bool all the same.
    ("true || 31u", "operator"), ("false && 1", "operator"), ("false && 1.5", "operator"), ("true || vec2(1, 1).x", "operator"),
    ("false && vec2(true, true)", "operator"), ("true || (true && 1)", "operator"), ("true || !1", "operator"), ("false && (1 / 0)", "operator"),
    ("false && array(1, 2)[5]", "operator"), ("true || (1 << 40u)", "operator"), ("false && sqrt(-1.0)", "operator"), ("false && (1u % 0u)", "operator"),
    ("true || false || 1", "operator"), ("(true || 1) == false", "operator"), ("select(true, false, false && 3)", "operator"),
    ("false && (vec2(1 / 0) == vec2(1))", "operator"), ("false && nope", "unresolved"), ("false && (1u == 1i)", "no-conversion"),
    ("true || clamp(1, 2, 0)", "operator"), ("true || dot(1, 2)", "arguments"), ("false && vec3(1).w", "no-component"), ("true || true + true", "operator"),
    ("1 / 0", "constant-fault"), ("1.0 / 0", "constant-fault"), ("9223372036854775807 + 1", "constant-fault"),
    ("1 << 64", "constant-fault"), ("1u << 32", "constant-fault"), ("0u << 32", "constant-fault"), ("5u >> 32", "constant-fault"), ("1 << 4294967295u", "constant-fault"), ("3u << 31", "constant-fault"), ("u32(-1)", "constant-fault"),
    ("2147483648i", "constant-fault"), ("1e400", "constant-fault"), ("1e39f", "constant-fault"), ("sqrt(-1.0)", "constant-fault"),
    ("array(1)[1]", "constant-fault"), ("1u + 1i", "no-conversion"), ("1u + 1.5", "no-conversion"), ("true + true", "operator"),
    ("1 < true", "operator"), ("!1", "operator"), ("-1u", "operator"), ("~1.0", "operator"), ("1 && 2", "operator"),
    ("vec2(1) + vec3(1)", "operator"), ("vec2(1, 2, 3)", "arguments"), ("vec3(1).w", "no-component"), ("nope + 1", "unresolved"),
    ("f()", "not-constant"), ("v + 1", "not-constant"), ("x", "cycle"), ("a & b == c", "operators-mixed"), ("1 << 2 << 3", "operators-mixed"),
    ("1 < 2 < 3", "operators-mixed"), ("true && true || true", "operators-mixed"), ("1 | 2 & 3", "operators-mixed"),
    ("1 + 2 << 3", "operators-mixed"), ("01", "literal"), ("1x", "syntax"), ("0x", "literal"), ("1.0u", "literal"),
    ("&1", "operator"), ("atomic<u32>()", "not-constructible"), ("array<u32>()", "not-constructible"),
    ("tile + 1", "override-constant"), ("", "syntax"), ("1 +", "syntax"), ("(1", "syntax"), ("1 2", "syntax"),
    ("select(1, 2)", "arguments"),
    ("select()", "arguments"),
    ("min()", "arguments"),
    ("any(1)", "arguments"), ("min(true, false)", "arguments"), ("i32(vec2(1))", "arguments"), ("array(1, true)", "no-conversion"),
    ("bool(1) == 1", "no-conversion"), ("f32", "not-constant"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rule"), FAULTS, ids=[text for text, _ in FAULTS])
@pytest.mark.filterwarnings("ignore:naga accepts these operators")
def test_no_constant(text: str, rule: str) -> None:
    error = fails(
        f"fn f() {{}} var<private> v: u32; override tile: u32 = 1; const a = 1; const b = 1; const c = 1;\nconst x = {text};"
    )
    assert error.rule == rule, error
    assert error.line in (1, 2)


def test_calls_in_counts_are_computed() -> None:
    module = wgsl.parse("const n = normalize(vec2(3.0, 4)).y; struct A { @size(u32(n * 10)) a: f32 }")
    assert module.constants == {"n": 0.8}
    assert layout_of(module.structs["A"]).size == 8
    assert fails("const n = textureLoad(); fn f() {}").rule == "not-constant"


def test_overrides() -> None:
    text = "override n: u32; @id(3) override m = n * 2u; var<workgroup> w: array<f32, m + 1>; @compute @workgroup_size(n) fn f() {}"
    free = wgsl.parse(text)
    assert free.overrides["m"].value is None
    assert free.entry_points["f"].workgroup_size == (None, 1, 1)
    assert "override" in free.variables["w"].type_name
    bound = wgsl.parse(text, overrides={"n": 4})
    assert bound.overrides["m"].value == 8
    assert bound.entry_points["f"].workgroup_size == (4, 1, 1)
    assert bound.variables["w"].type_name == "array<f32, 9>"
    assert wgsl.parse(text, overrides={"n": np.uint32(4), 3: 5}).overrides["m"].value == 5
    assert wgsl.parse(text, overrides={"3": 5}).overrides["m"].value == 5
    for bad, rule in (({"k": 1}, "override-unknown"), ({"n": -1}, "override-value"), ({"n": 1.5}, "override-value"),
                      ({"n": "4"}, "override-value"), ({"n": float("nan")}, "override-value"), ({"n": None}, "override-value")):  # fmt: skip
        assert fails(text, overrides=bad).rule == rule
    for place in ("struct A { a: array<f32, n> }", "@group(0) @binding(0) var<storage> a: array<f32, n>;",
                  "var<private> a: array<f32, n>;", "struct A { @size(n) a: f32 }", "const c = n;", "const_assert n == 1u;",
                  "alias A = array<array<f32, n>, 2>;", "@group(n) @binding(0) var<uniform> u: f32;"):  # fmt: skip
        assert fails(f"override n: u32 = 8; {place}", overrides={"n": 4}).rule in (
            "override-space",
            "override-constant",
            "array-inner",
        )


PLACES: list[tuple[str, str, int, int]] = [
    ("@id(65536) override a: u32;", "override-id", 1, 2),
    ("@id(1) override a: u32; @id(1) override b: u32;", "override-id-twice", 1, 26),
    ("diagnostic(loud, derivative_uniformity);", "severity", 1, 12),
    ("@group(0) @binding(0) var a: texture_2d;", "template-arguments", 1, 30),
    ("@group(0) @binding(0) var a: texture_2d<bool>;", "template-arguments", 1, 30),
    ("@group(0) @binding(0) var a: texture_storage_2d<rgba8unorm>;", "template-arguments", 1, 30),
    ("@group(0) @binding(0) var a: sampler<f32>;", "template-arguments", 1, 30),
    ("var<private> a: u32 = 1i;", "no-conversion", 1, 23),
    ("struct A {\n  x: f32,\n  x: f32\n}", "name-twice", 3, 3),
    ("struct A { x: f32 }\r\nstruct A { x: f32 }", "name-twice", 2, 8),
    ("struct A {\n  v: vec5f,\n}", "unresolved", 2, 6),
    ("struct A { v: vec3 }", "template-arguments", 1, 15),
    ("struct A { v: vec3<A> }", "cycle", 1, 8),
    ("struct A { b: B } struct B { a: array<A, 2> }", "cycle", 1, 26),
    ("alias A = B; alias B = A;", "cycle", 1, 20),
    ("struct A { }", "struct-empty", 1, 8),
    ("struct loop { a: f32 }", "name", 1, 8),
    ("struct A { target: f32 }", "name", 1, 12),
    ("struct A { __x: f32 }", "name", 1, 12),
    ("struct A { a: f32 ", "brace-open", 1, 10),
    ("const x = /* /* */ 1;", "comment-open", 1, 11),
    ("const a = 1", "syntax-end", 1, 11),
    ("let a = 1;", "syntax", 1, 1),
    ("enable f17;", "extension-unknown", 1, 8),
    ("const a = 1; enable f16;", "directive-late", 1, 14),
    ("var a: f32;", "binding-missing", 1, 5),
    ("var<storage> a: f32;", "binding-missing", 1, 14),
    ("@group(0) @binding(0) var<private> a: f32;", "binding-extra", 1, 36),
    ("@group(0) @binding(-1) var<uniform> a: f32;", "attribute-number", 1, 12),
    ("@group(0) @group(0) @binding(1) var<uniform> a: f32;", "attribute-repeated", 1, 12),
    ("@group(0) @binding(0) var<uniform, read> a: f32;", "access", 1, 36),
    ("@group(0) @binding(0) var<storage, write> a: f32;", "access", 1, 36),
    ("@group(0) @binding(0) var<storage> a: f32 = 1;", "variable-value", 1, 45),
    ("@group(0) @binding(0) var<uniform> a: texture_2d<f32>;", "handle", 1, 36),
    ("@group(0) @binding(0) var a: f32;", "handle", 1, 27),
    ("var<push_constant> a: f32;", "space-unknown", 1, 5),
    ("var<workgroup> a: array<f32>;", "runtime-space", 1, 16),
    ("var<private> a: atomic<u32>;", "atomic-space", 1, 14),
    ("var<private> a;", "variable-type", 1, 14),
    ("struct A { t: sampler }", "member-opaque", 1, 15),
    ("@compute fn main() {}", "attribute-missing", 1, 13),
    ("@fragment @compute @workgroup_size(1) fn main() {}", "stage-twice", 1, 12),
    ("@workgroup_size(1) fn main() {}", "attribute-unknown", 1, 2),
    ("@compute @workgroup_size(0) fn main() {}", "workgroup-size", 1, 26),
    ("fn main();", "syntax", 1, 10),
    ("const_assert 1 > 2;", "assertion", 1, 1),
    ("const_assert 1;", "assertion", 1, 1),
    ("struct A { @align(16, 16) a: f32 }", "attribute-arguments", 1, 13),
    ("struct A { b: bool } @group(0) @binding(0) var<uniform> a: A;", "host-shareable", 1, 57),
    ("#import bevy::x\nstruct A { a: f32 }", "preprocessor", 1, 1),
    ("struct A { a: array<f32, {{ count }}> }", "preprocessor", 1, 26),
    ("fn f() {\n#ifdef X\n}\n#endif\n}", "preprocessor", 2, 1),
    ("fn f() { let a = ${value}; }", "preprocessor", 1, 18),
    ("struct A { a: f32 } }", "syntax", 1, 21),
    ("const \u0e31 = 1;", "name", 1, 7),
    ("struct A { a: f32 }\u2028const x = $;", "preprocessor", 2, 11),
    ("const a: u32 = -1;", "constant-fault", 1, 16),
    ("const a = 1; fn a() {}", "name-twice", 1, 17),
    ("struct A { a: array<f32, 1.5> }", "integer-wanted", 1, 26),
    ("struct A { a: f32<u32> }", "unresolved", 1, 15),
    ("alias A = f32; struct B { a: A<u32> }", "template-arguments", 1, 30),
    ("const n = 1; struct B { a: n }", "not-a-type", 1, 28),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rule", "line", "column"), PLACES, ids=[rule for _, rule, *_ in PLACES])
def test_an_error_shows_its_place(text: str, rule: str, line: int, column: int) -> None:
    error = fails(text)
    assert (error.rule, error.line, error.column) == (rule, line, column), error
    message, source, caret = str(error).rsplit("\n", 2)
    assert isinstance(error, GpuStructError)
    assert "; " in message
    assert source.startswith(f"  {line} | ")
    marked = text.splitlines()[line - 1][column - 1]
    assert source[caret.index("^")] == marked


def test_names_may_shadow_what_is_predeclared() -> None:
    module = wgsl.parse("""
        struct vec3f { x: f32, y: f32, z: f32 }  const i32 = 3;  fn max() {}
        struct P { a: f32, b: vec3f, c: array<f32, i32>, size: f32, align: u32, array: u32, f32: f32 }
    """)
    layout = layout_of(module.structs["P"])
    assert [member.offset for member in layout.fields] == [0, 4, 16, 28, 32, 36, 40]
    assert fails("fn max() {} const a = max(1, 2);").rule == "not-constant"


def test_identifiers_are_unicode_and_not_normalised() -> None:
    module = wgsl.parse("struct Größe { Δx: f32, 日本: u32, é: f32, e\u0301: f32 }")
    assert [member.name for member in layout_of(module.structs["Größe"]).fields] == ["Δx", "日本", "é", "e\u0301"]


def test_template_lists_are_found_as_the_specification_says() -> None:
    constants = wgsl.parse("const a = 1; const b = 2; const c = a<b; const d = (a < b) == (b > a);").constants
    assert constants == {"a": 1, "b": 2, "c": True, "d": True}
    text = "struct A { a: array<u32, select(2, 3, 1 < 2)>, b: array<array<u32,2>,2>}"
    assert wgsl.parse(text).structs["A"].b.offset == 12
    # A `>` inside brackets closes no list that was opened outside of them.
    assert wgsl.parse("const a = 1; const b = 2; const c = a < select(1, 2, b > a);").constants["c"] is True
    assert wgsl.parse("const a: array<u32,2>=array<u32,2>(1,2);").constants["a"] == (1, 2)
    shifts = wgsl.parse(
        "const a = 8 >> 1; const b = 8>=1; const c = vec2<u32>(8>>1).x; const d = array<u32,4>>(1);", skip=True
    )
    assert shifts.constants == {"a": 4, "b": True, "c": 4}
    assert [part.text for part in shifts.skipped] == ["const d"]


def test_skip_takes_what_stands_alone() -> None:
    module = wgsl.parse(
        "#import a::b\n"
        "const N = 2;\n"
        "const M = {{ m }};\n"
        "struct A { a: f32, }\n"
        "#ifdef BIG\n"
        "struct B { b: f32 }\n"
        "#else\n"
        "struct B { b: u32 }\n"
        "#endif\n"
        "struct C {\n#ifdef BIG\n c: f32,\n#endif\n d: f32 }\n"
        "struct D { b: B }\n"
        "fn f() {\n#ifdef BIG\n if (true) {\n#endif\n }\n"
        "fn g() { let x = {{ y }}; }\n"
        "struct E { a: array<A, N> }\n"
        "@group(#{GROUP}) @binding(0) var<uniform> e: E;\n",
        skip=True,
    )
    assert list(module.structs) == ["A", "E"]
    assert module.functions == ("f", "g")
    reasons = {part.text: part.reason for part in module.skipped}
    assert reasons["#import a::b"] == "it is not WGSL"
    assert "placeholder" in reasons["const M = {{ m }};"]
    assert "under a condition: #ifdef BIG" in reasons["struct B { b: f32 }"]
    assert "inclusion: #ifdef BIG" in reasons["struct C {"]
    assert "'B'" in reasons["struct D"]
    assert "placeholder" in reasons["@group(#{GROUP}) @binding(0) var<uniform> e: E;"]


def test_aliases_and_atomics_are_the_same_classes() -> None:
    module = wgsl.parse("alias F = f32; alias V = vec3<F>; alias W = V; struct A { a: atomic<u32>, b: W }")
    assert module.aliases == {"F": f32, "V": vec3f, "W": vec3f}
    assert (module.structs["A"].a.type, module.structs["A"].b.type) == (atomic[u32], vec3f)


def test_f16_needs_enabling_where_the_text_is_a_whole_module() -> None:
    assert fails("struct A { a: f16 } fn f() {}").rule == "f16-disabled"
    assert fails("const a = 1h; fn f() {}").rule == "f16-disabled"
    assert wgsl.parse("enable f16; struct A { a: f16 } fn f() {}").structs["A"].a.size == 2
    # A fragment gets its directives from the text that it is joined to.
    assert wgsl.parse("struct A { a: vec3h } alias B = A;").structs["A"].a.size == 6
    assert wgsl.parse("struct A { a: vec3h } const a = 1;", skip=True).structs["A"].a.size == 6
    for text in ("const a = 1h;", "alias A = vec2h;", "struct A { a: f16 } const b = 1;", "override a: f16;"):
        assert fails(text).rule == "f16-disabled"


def test_warnings_can_be_filtered_and_come_with_errors_too() -> None:
    with pytest.warns(wgsl.BackendWarning, match="naga accepts f64"), pytest.raises(WgslError):
        wgsl.parse("struct A { a: f64 }")
    with pytest.warns(wgsl.BackendWarning, match="uniform_buffer_standard_layout"):
        module = wgsl.parse(
            "struct A { a: array<f32, 5> } @group(0) @binding(0) var<uniform> a: A;", standard_layout=True
        )
    assert module.bindings["a"].min_binding_size == 20


def test_only_text_is_parsed() -> None:
    for other in (b"const a = 1;", None, 3):
        with pytest.raises(WgslError, match="must be a str"):
            wgsl.parse(other)  # type: ignore[arg-type]


def test_import_loads_no_lark() -> None:
    program = (
        "import sys, gpustruct, gpustruct.wgsl\n"
        "gpustruct.wgsl.declare(gpustruct.vec3f)\n"
        "assert 'lark' not in sys.modules\n"
        "gpustruct.wgsl.parse('const a = 1;')\n"
        "assert 'lark' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_documentation_says_what_is_so() -> None:
    page = Path(__file__).parent.parent / "docs" / "wgsl.md"
    result = doctest.testfile(os.fspath(page), module_relative=False, encoding="utf-8")
    assert result.attempted > 20
    assert result.failed == 0


def test_a_module_prints_as_the_names_in_it() -> None:
    text = (
        """#import a
    enable f16;
    override tile: u32 = 8; @id(2) override other: f32;
    const N = 4; const V = vec2(1.5, 2); const A = array(array(1, 2), array(3, 4)); const LONG = vec4f(0.125, 0.25, 0.5, 0.75);
    struct Light { color: vec3f } struct Flags { on: bool } alias Lights = array<Light, N>;
    @group(0) @binding(1) var<uniform> lights: Lights; @group(2) @binding(0) var albedo: texture_2d<f32>;
    fn shade() {} @compute @workgroup_size(1) fn main() {}
    """
        + "".join(f"var<private> v{k}: u32;" for k in range(10))
        + f"var<private> {'w' * 5000}: u32;"
    )
    assert repr(wgsl.parse(text, skip=True)).splitlines() == [
        "Module",
        "  structs       Light",
        "  aliases       Lights",
        "  constants     N = 4, V = (1.5, 2.0), A, LONG",
        "  overrides     tile = 8, other",
        "  bindings      lights (0, 1), albedo (2, 0)",
        "  variables     v0, v1, v2, v3, v4, v5, v6, v7 and 3 more",
        "  entry_points  main (compute)",
        "  functions     shade",
        "  enabled       f16",
        "  unavailable   Flags",
        "  skipped       line 1",
    ]
    assert repr(wgsl.Module()) == "Module"
    deep = "const c0 = array(1, 2);" + "".join(f"const c{k + 1} = array(c{k}, c{k});" for k in range(12))
    assert len(repr(wgsl.parse(deep))) < 200
    assert len(repr(wgsl.parse(f"var<private> {'w' * 5000}: u32;"))) < 100
