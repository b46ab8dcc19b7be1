"""Declarations, directives, signatures and const-expressions of WGSL: each fault that was found, and others of its kind."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from gpustruct import WgslError, wgsl

BUFFER = "@group(0) @binding(0) "


def judged(text: str, **options: Any) -> tuple[wgsl.Module | WgslError, dict[str, str]]:
    """The module or the error, and the warnings: their rules with their texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found: wgsl.Module | WgslError = wgsl.parse(text, **options)
        except WgslError as error:
            found = error
    return found, {warning.message.rule: str(warning.message) for warning in caught}  # type: ignore[union-attr]


def taken(text: str, *rules: str, **options: Any) -> wgsl.Module:
    """The module; with warnings of exactly `rules`."""
    module, warned = judged(text, **options)
    assert isinstance(module, wgsl.Module), module
    assert tuple(warned) == rules
    return module


def refused(text: str, rule: str, *rules: str, **options: Any) -> str:
    """The message of the error; with warnings of exactly `rules`."""
    error, warned = judged(text, **options)
    assert isinstance(error, WgslError), "nothing was raised"
    assert error.rule == rule, error
    assert tuple(warned) == rules
    return str(error).split("\n")[0]


@pytest.mark.parametrize(
    ("text", "type_name"),
    [("var<private> m = mat2x2(mat2x2f(1, 2, 3, 4));", "mat2x2f")]
    + [
        (f"enable f16; var<private> m = mat{c}x{r}(mat{c}x{r}{s}());", f"mat{c}x{r}{s}")
        for c in (2, 3, 4)
        for r in (2, 3, 4)
        for s in "fh"
    ],
)
def test_W0_a_matrix_is_made_of_a_matrix(text: str, type_name: str) -> None:
    assert taken(text).variables["m"].type_name == type_name
    assert taken(text.replace("var<private>", "const")).constants


def test_W0_abstract_matrices_become_any_float() -> None:
    text = "enable f16; const m = mat2x2(1, 2, 3, 4); const a: mat2x2f = m; const b: mat2x2h = m; var<private> c = m;"
    module = taken(text)
    assert module.constants["b"] == ((1.0, 2.0), (3.0, 4.0))
    assert module.variables["c"].type_name == "mat2x2f"
    assert taken("var<private> a = array(vec2(1, 2));").variables["a"].type_name == "array<vec2i, 1>"


@pytest.mark.parametrize(
    ("expression", "value"), [("2--one", 3), ("--one", 1), ("2---one", 1), ("2 - --one", 1), ("3*--one--one", 4)]
)
def test_W1_two_minus_signs_are_two_tokens(expression: str, value: int) -> None:
    assert taken(f"const one = 1;\nconst x = {expression};", "naga-minus").constants["x"] == value


@pytest.mark.parametrize("name", ["f16", "clip_distances", "dual_source_blending", "primitive_index"])
def test_W2_enable_knows_the_extensions(name: str) -> None:
    assert taken(f"enable {name};\nvar<private> a: f32;").enabled == (name,)


@pytest.mark.parametrize("names", ["subgroups", "subgroup_size_control", "f16, subgroups", "subgroups,"])
def test_W24_enable_warns_where_naga_does_not_know_the_extension(names: str) -> None:
    text = f"enable {names};\nvar<private> a: f32;"
    _, warned = judged(text)
    taken(text, "naga-enable")
    assert "leave" in warned["naga-enable"]
    assert "line 1" in warned["naga-enable"]
    taken(text, target="tint")


def test_W2_subgroup_size_needs_its_extension() -> None:
    text = "@compute @workgroup_size(64) @subgroup_size(32) fn f() {}"
    taken(f"enable subgroup_size_control; {text}", "naga-enable")
    refused(text, "extension-missing")
    refused("enable subgroup_size_control; " + text.replace("(32)", "(24)"), "attribute-value", "naga-enable")
    refused("enable subgroup_size_control; @fragment @subgroup_size(32) fn f() {}", "attribute-unknown", "naga-enable")


@pytest.mark.parametrize("name", ["buffer_view", "subgroup_id", "linear_indexing", "texture_formats_tier1"])
def test_W3_requires_knows_the_features(name: str) -> None:
    assert taken(f"requires {name};\nvar<private> a: f32;", "naga-requires").required == (name,)


@pytest.mark.parametrize(
    ("text", "type_name"),
    [
        ("var<storage> raw: buffer;", "buffer"),
        ("var<storage, read_write> raw: buffer<64>;", "buffer<64>"),
        ("var<uniform> raw: buffer<16 * 4>;", "buffer<64>"),
    ],
)
def test_W4_untyped_buffers(text: str, type_name: str) -> None:
    raw = taken(BUFFER + text, "naga-requires").bindings["raw"]
    assert (raw.type, raw.min_binding_size, raw.type_name) == (None, None, type_name)


def test_W4_where_untyped_buffers_may_not_be() -> None:
    taken("var<workgroup> raw: buffer<64>;", "naga-requires")
    refused(BUFFER + "var<uniform> raw: buffer;", "runtime-space", "naga-requires")
    refused("var<private> raw: buffer<64>;", "buffer-space", "naga-requires")
    refused(BUFFER + "var<storage> raw: buffer<0>;", "buffer-size", "naga-requires")
    refused("struct A { raw: buffer<4> }", "member-opaque", "naga-requires")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("u32(5e9f)", 4294967040),
        ("i32(1e20f)", 2147483520),
        ("i32(-1e20f)", -2147483648),
        ("vec2u(vec2f(1e20, -1)).x", 4294967040),
        ("u32(-1f)", 0),
        ("i32(65504h)", 65504),
        ("u32(5e9)", 4294967295),
    ],
)
def test_W5_floats_become_the_nearest_integer_that_they_hold_too(expression: str, value: int) -> None:
    assert taken(f"enable f16; const big = {expression};").constants["big"] == value


@pytest.mark.parametrize(
    ("count", "value"),
    [
        ("extractBits(12u, 0u, 4u)", 12),
        ("insertBits(0u, 15u, 2u, 4u)", 60),
        ("u32(determinant(mat2x2f(5, 1, 3, 2)))", 7),
        ("bitcast<u32>(0x1p-149f)", 1),
        ("u32((mat2x2f(1, 2, 3, 4) * vec2f(1, 1)).y)", 6),
        ("dot4U8Packed(0x01020304u, 0x01010101u)", 10),
        ("pack4xU8(vec4u(9, 0, 0, 0))", 9),
        ("u32(cross(vec3(2.0, 0, 0), vec3(0.0, 3, 0)).z)", 6),
        ("u32(ldexp(1.5, 2))", 6),
        ("u32(frexp(8.0).exp)", 4),
        ("u32(modf(3.5).whole)", 3),
    ],
)
def test_W6_counts_may_call_any_const_builtin(count: str, value: int) -> None:
    text = f"var<private> a: array<f32, {count}>;"
    warned = () if count.startswith(("dot4", "u32((mat", "u32(cross")) else ("naga-constant",)
    assert taken(text, *warned).variables["a"].type_name == f"array<f32, {value}>"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("texture_storage_2d<rgba8, write>", "enumerant"),
        ("texture_storage_2d<f32, write>", "enumerant"),
        ("texture_storage_3d<rgba8unorm, readwrite>", "enumerant"),
        ("texture_storage_1d<write, rgba8unorm>", "enumerant"),
        ("texture_storage_2d<rgba8unorm, write, 1>", "template-arguments"),
        ("texture_2d<f16>", "template-arguments"),
        ("texture_depth_2d<f32>", "template-arguments"),
    ],
)
def test_W7_textures_have_known_formats(text: str, rule: str) -> None:
    refused(f"enable f16; {BUFFER}var t: {text};", rule)


@pytest.mark.parametrize("space", ["", "<private>", "<workgroup>", "<storage>"])
def test_W8_a_pointer_is_no_variable(space: str) -> None:
    before = BUFFER if space in ("", "<storage>") else ""
    refused(f"{before}var{space} p: ptr<function, f32>;", "pointer-variable")


def refused_pointer(type_: str, rule: str) -> None:
    refused(f"alias P = {type_};", rule)
    refused(f"fn f(p: {type_}) {{}}", rule)


@pytest.mark.parametrize(
    ("type_", "rule"),
    [
        ("ptr<nowhere, f32>", "enumerant"),
        ("ptr<handle, sampler>", "enumerant"),
        ("ptr<function>", "template-arguments"),
        ("ptr<1, f32>", "enumerant"),
        ("ptr<Private, f32>", "enumerant"),
    ],
)
def test_W9_pointers_name_an_address_space(type_: str, rule: str) -> None:
    refused_pointer(type_, rule)


@pytest.mark.parametrize(
    ("type_", "rule"),
    [
        ("ptr<function, Missing>", "unresolved"),
        ("ptr<private, array<Missing, 2>>", "unresolved"),
        ("ptr<function, 3>", "template-arguments"),
        ("ptr<function, ptr<function, f32>>", "pointer-type"),
        ("ptr<function, sampler>", "pointer-type"),
        ("ptr<uniform, bool>", "host-shareable"),
        ("ptr<function, array<u32>>", "runtime-space"),
    ],
)
def test_W10_pointers_point_to_a_type_that_is_declared_and_fits_the_space(type_: str, rule: str) -> None:
    refused_pointer(type_, rule)


@pytest.mark.parametrize(
    ("type_", "rule"),
    [
        ("ptr<function, f32, read>", "access"),
        ("ptr<private, f32, read_write>", "access"),
        ("ptr<uniform, f32, read>", "access"),
        ("ptr<storage, f32, write>", "enumerant"),
        ("ptr<storage, f32, nothing>", "enumerant"),
    ],
)
def test_W11_only_pointers_into_storage_take_an_access_mode(type_: str, rule: str) -> None:
    refused_pointer(type_, rule)


def refused_attributes(attributes: str, rule: str) -> None:
    refused(f"struct V {{ {attributes} a: vec4f }}", rule)
    refused(f"@fragment fn f({attributes} a: vec4f) {{}}", rule)


@pytest.mark.parametrize("argument", ["nowhere", "auto", "LOCATION", "vec4g", "n.x"])
def test_W12_a_location_names_what_is_declared(argument: str) -> None:
    refused_attributes(f"@location({argument})", "unresolved")


@pytest.mark.parametrize(
    ("attribute", "rule"),
    [
        ("@location(-1)", "attribute-number"),
        ("@location(0 - 1)", "attribute-number"),
        ("@location(i32(-7))", "attribute-number"),
        ("@location(4294967295)", "constant-fault"),
        ("@location(1.5)", "integer-wanted"),
        ("@location(true)", "integer-wanted"),
        ("@location", "attribute-arguments"),
    ],
)
def test_W13_a_location_is_a_number_from_0(attribute: str, rule: str) -> None:
    refused_attributes(attribute, rule)


@pytest.mark.parametrize("name", ["nothing", "Position", "1", "vertex_id", "global_id", "position.x"])
def test_W14_a_builtin_value_must_be_known(name: str) -> None:
    refused_attributes(f"@builtin({name})", "builtin-unknown")


@pytest.mark.parametrize("how", ["smooth", "flat, center", "linear, first", "1", "perspective, either", "flat, linear", "Flat"])  # fmt: skip
def test_W15_interpolation_has_known_types_and_samplings(how: str) -> None:
    refused_attributes(f"@location(0) @interpolate({how})", "attribute-word")


@pytest.mark.parametrize(
    ("attributes", "rule"),
    [
        ("@interpolate(flat)", "attribute-needs"),
        ("@builtin(position) @interpolate(flat)", "attribute-needs"),
        ("@invariant", "attribute-needs"),
        ("@location(0) @invariant", "attribute-needs"),
        ("@location(0) @builtin(position)", "attribute-both"),
    ],
)
def test_W16_interpolate_and_invariant_need_what_they_speak_of(attributes: str, rule: str) -> None:
    refused_attributes(attributes, rule)


@pytest.mark.parametrize(
    "attributes", ["@builtin(primitive_index)", "@builtin(clip_distances)", "@location(0) @blend_src(0)", "@builtin(subgroup_size)"]
)  # fmt: skip
def test_W17_what_an_extension_brings_is_refused_without_it(attributes: str) -> None:
    warned = ("naga-subgroups",) if "subgroup" in attributes else ()
    refused(f"struct V {{ {attributes} a: vec4f }}", "extension-missing", *warned)
    refused(f"@fragment fn f({attributes} a: vec4f) {{}}", "extension-missing", *warned)


def test_W17_with_the_extension_they_are_taken() -> None:
    taken("enable primitive_index; struct V { @builtin(primitive_index) a: u32 }")
    taken("enable clip_distances; struct V { @builtin(clip_distances) a: array<f32, 4> }")
    refused("enable clip_distances; struct V { @builtin(clip_distances) a: array<f32, 9> }", "builtin-type")


@pytest.mark.parametrize("text", [";enable f16;", "enable f16;; requires pointer_composite_access;",
                                  "/* a */ ; // b\ndiagnostic(off, a.b);", "enable f16; ; enable f16;"])  # fmt: skip
def test_W18_no_directive_after_a_semicolon(text: str) -> None:
    refused(text, "directive-late")


@pytest.mark.parametrize(
    "text",
    [
        "diagnostic(off, derivative_uniformity);\ndiagnostic(error, derivative_uniformity);",
        "diagnostic(off, a.b); diagnostic(info, c.d); diagnostic(warning, a.b);",
        "@diagnostic(off, derivative_uniformity) @diagnostic(error, derivative_uniformity) fn f() {}",
        "@diagnostic(off, a.b) @diagnostic(info, a.b) @fragment fn f() {}",
    ],
)
def test_W19_diagnostics_may_not_conflict(text: str) -> None:
    refused(text, "diagnostic-conflict")


def test_W19_the_same_twice_is_fine() -> None:
    taken("diagnostic(off, a.b); diagnostic(off, a.b);")
    taken("diagnostic(off, a.b); @diagnostic(info, a.b) fn f() {}")
    refused("@diagnostic(loud, a.b) fn f() {}", "severity")


@pytest.mark.parametrize(
    "text",
    ["@must_use fn f() {}", "@must_use fn f(a: f32) {}", "@must_use @diagnostic(off, a.b) fn f() {}"],
)
def test_W20_must_use_needs_a_result(text: str) -> None:
    refused(text, "must-use")
    taken("@must_use fn f() -> f32 { return 1.0; }")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("fn f(a: Missing) -> f32 { return 1.0; }", "unresolved"),
        ("fn f() -> Missing {}", "unresolved"),
        ("fn f(a: vec3) {}", "template-arguments"),
        ("fn f(a: array<f32, 0>) {}", "array-count"),
        ("fn f(a: array<f32>) {}", "parameter-type"),
        ("fn f(a: atomic<u32>) {}", "parameter-type"),
        ("fn f() -> sampler {}", "result-type"),
        ("fn f() -> ptr<function, f32> {}", "result-type"),
        ("fn f(a: f32, a: f32) {}", "name-twice"),
        ("fn f(loop: f32) {}", "name"),
        ("const n = 1; fn f(a: n) {}", "not-a-type"),
        ("fn f(@location(0) a: f32) {}", "interface-outside"),
        ("fn f(@align(16) a: f32) {}", "attribute-unknown"),
        ("@vertex fn f() {}", "vertex-position"),
        ("@vertex fn f() -> vec4f {}", "interface-missing"),
        ("@fragment fn f(a: sampler) {}", "parameter-type"),
        ("@fragment fn f(@location(0) a: u32) {}", "interpolate-flat"),
        ("struct I { @location(0) a: f32 } @fragment fn f(@location(0) a: f32, i: I) {}", "interface-twice"),
    ],
)
def test_W21_signatures_are_judged(text: str, rule: str) -> None:
    refused(text, rule)


@pytest.mark.parametrize("sizes", ["1u, 1i", "1i, 1, 1u", "n, 1i", "1u, m"])
def test_W22_sizes_of_workgroups_have_one_type(sizes: str) -> None:
    refused(f"const n = 1u; override m: i32; @compute @workgroup_size({sizes}) fn f() {{}}", "workgroup-types")
    taken("@compute @workgroup_size(1, 1u, 2) fn f() {}")


@pytest.mark.parametrize("name", ["filtering_parameters", "f16", "subgroups", "everything"])
def test_W23_requires_refuses_what_is_no_feature(name: str) -> None:
    refused(f"requires {name};\nvar<private> a: f32;", "extension-unknown")


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("var<immediate> h: f16;", ""),
        ("var<immediate> h: vec2h;", ""),
        ("var<immediate> h: A;", "struct A { a: f32, b: f16 }"),
        ("var<immediate> h: B;", "struct A { b: f16 } struct B { a: A }"),
    ],
)
def test_W25_naga_refuses_halves_in_immediate(text: str, types: str) -> None:
    taken(f"enable f16; {types} {text}", "naga-immediate")
    taken("var<immediate> h: f32;")


@pytest.mark.parametrize(
    "text",
    ["var<private> a: i64 = 1li;", "const a = 1li;", "const a = 3lu;", "const a = 1.5lf;", "struct A { a: vec2<f64> }"],
)
def test_W26_numbers_of_64_bits_are_nagas(text: str) -> None:
    message = refused(text, "extension-type", "naga-type")
    assert "use f32, i32 or u32" in message
    taken(text, target="naga")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("var<storage, read_write> a: atomic<f32>;", "extension-type"),
        ("var<storage, read_write> a: atomic<u64>;", "extension-type"),
        ("var a: texture_storage_2d<r32uint, atomic>;", "enumerant"),
        ("var a: acceleration_structure;", "extension-type"),
        ("var a: binding_array<sampler, 4>;", "extension-type"),
    ],
)
def test_W27_F21_types_of_naga_warn_and_are_taken_for_naga(text: str, rule: str) -> None:
    message = refused(BUFFER + text, rule, "naga-type")
    assert "u64" in text or "two of them" not in message
    assert taken(BUFFER + text, target="naga").bindings["a"].type is None
    refused(BUFFER + text, rule, target="tint")


@pytest.mark.parametrize(
    ("type_", "access"),
    [
        ("texture_storage_2d<rgba8unorm, write>", "write"),
        ("texture_storage_3d<r32uint, read>", "read"),
        ("texture_storage_1d<r32float, read_write>", "read_write"),
        ("texture_2d<f32>", "read"),
        ("sampler", "read"),
    ],
)
def test_W34_storage_textures_report_their_access(type_: str, access: str) -> None:
    assert taken(f"{BUFFER}var t: {type_};").bindings["t"].access == access


@pytest.mark.parametrize("name", ["subgroup_id", "linear_indexing", "swizzle_assignment", "buffer_view"])
def test_W35_the_remedy_fits_the_feature(name: str) -> None:
    _, warned = judged(f"requires {name};\nvar<private> a: f32;")
    assert "uniform_safe" not in warned["naga-requires"]
    _, warned = judged("requires uniform_buffer_standard_layout;")
    assert "uniform_safe" in warned["naga-requires"]


@pytest.mark.parametrize(
    "text",
    ["var t: binding_array<texture_2d<f32>, 4>;", "var t: binding_array<sampler>;", "var t: acceleration_structure;"],
)
def test_W36_F21_the_remedy_fits_the_type(text: str) -> None:
    error, warned = judged(BUFFER + text)
    for message in (str(error), warned["naga-type"]):
        assert "bit" not in message
        assert "skip=True" in message


@pytest.mark.parametrize(
    "member",
    [
        "@builtin(position) p: vec4f",
        "@location(0) p: vec2f",
        "@location(2) @interpolate(flat, either) p: u32",
        "@builtin(position) @invariant p: vec4f",
        "@align(16) @location(1) p: f32",
    ],
)
def test_W38_declare_keeps_the_attributes_of_stage_structs(member: str) -> None:
    text = f"struct V {{\n  {member},\n  @location(7) q: f32,\n}}\n"
    struct = taken(text).structs["V"]
    assert wgsl.declare(struct) == text
    assert "@location(7) q" in wgsl.declare(struct, padding="members")


F12 = [
    "override n: u32 = 0; var<workgroup> w: array<u32, n>;",
    "override n: u32 = 0; @compute @workgroup_size(n) fn main() {}",
    "override n: i32 = 0; override b: i32 = 10 / n;",
    "override n: u32 = 0; override b: u32 = 1u << (n + 40u);",
    "override n: i32 = 0; var<workgroup> w: array<u32, 10 / n>;",
    "override n: i32 = -1; @compute @workgroup_size(1, n) fn main() {}",
    "override n: u32 = 0; var<private> a = vec2(1, 2)[n + 2];",
    "override n: u32 = 0; @compute @workgroup_size(n - 1, n % n) fn main() {}",
]


@pytest.mark.parametrize("text", F12)
def test_F12_overrides_are_judged_once_their_values_are_given(text: str) -> None:
    taken(text)
    error, _ = judged(text, overrides={"n": 0 if "-1" not in text else -1})
    assert isinstance(error, WgslError)


def test_F12_with_values_it_goes_away() -> None:
    assert taken(F12[0], overrides={"n": 8}).variables["w"].type_name == "array<u32, 8>"
    assert taken(F12[0]).variables["w"].type_name == "array<u32, override>"
    assert taken(F12[1], overrides={"n": 8}).entry_points["main"].workgroup_size == (8, 1, 1)
    assert taken(F12[1]).entry_points["main"].workgroup_size == (None, 1, 1)
    assert taken(F12[2], overrides={"n": 5}).overrides["b"].value == 2
    assert taken(F12[2]).overrides["b"].value is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("override a: i32 = 1; override b: i32 = a / 0;", "constant-fault"),
        ("override a: u32; override b = a << 32;", "constant-fault"),
        ("override a: u32; override b: i32 = a;", "no-conversion"),
        ("override a: u32; override b = a + 1i;", "no-conversion"),
        ("override a: f32; var<workgroup> w: array<u32, a>;", "integer-wanted"),
        ("override a: bool; @compute @workgroup_size(a) fn f() {}", "integer-wanted"),
        ("override a: i32 = 1 / 0;", "constant-fault"),
        ("override a: u32 = 1; override b: bool = a;", "no-conversion"),
    ],
)
def test_F12_what_no_value_mends_is_refused_at_once(text: str, rule: str) -> None:
    refused(text, rule)


@pytest.mark.parametrize("sizes", ["0", "1, 0", "-1", "1, 1, 2 - 2"])
def test_F20_sizes_of_workgroups_are_positive(sizes: str) -> None:
    message = refused(f"@compute @workgroup_size({sizes}) fn main() {{}}", "workgroup-size")
    assert "must be positive" in message
    assert message.endswith("use 1 or more")


def test_targets() -> None:
    uniform = f"struct A {{ a: array<f32, 4> }} {BUFFER}var<uniform> a: A;"
    taken(uniform, target="tint")
    refused(uniform, "array-stride-uniform", target="naga")
    refused("enable chromium_internal_graphite;", "extension-unknown", "naga-extension")
    taken("enable chromium_internal_graphite;", target="tint")
    refused("enable wgpu_ray_query;", "extension-unknown", "naga-extension")
    taken("enable wgpu_ray_query;", target="naga")
    taken("enable subgroups;", target="tint")
    taken("enable subgroups;", "naga-enable", target="naga")
    taken("@fragment @early_depth_test(force) fn f() {}", target="naga")
    refused("@fragment @early_depth_test(force) fn f() {}", "attribute-unknown")
    refused("const a = 1;", "target", target="wgpu")


@pytest.mark.parametrize(
    "text", ["const a = 1h;", "alias A = f16;", "struct S { a: f16 } const n = 1;", "override a: f16;", "alias P = ptr<function, vec2h>;"]
)  # fmt: skip
def test_f16_needs_its_extension_even_where_nothing_uses_it(text: str) -> None:
    refused(text, "f16-disabled")
    taken(f"enable f16; {text}")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("pow(-1.0, 2.0)", "naga"), ("pow(0f, 0f)", "naga"), ("pow(vec2(1.0, 0.0), vec2(0.0, -1.0))", "naga"),
        ("0x1.000001p0f", "both"), ("0x1p-200f", "both"), ("length(vec2f(1e30, 0))", "both"), ("normalize(vec2f(1e-30, 0))", "naga"),
        ("determinant(mat2x2f(1e20, 1e20, 1e20, 1e20))", "both"), ("1e30f % 1e-30f", "naga"), ("bitcast<i32>(4294967295)", "both"),
    ],
)  # fmt: skip
def test_values_that_no_compiler_or_only_naga_takes_are_refused(text: str, rule: str) -> None:
    refused(f"const a = {text};", "constant-fault")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 >> 64u", 0), ("-1 >> 100u", -1), ("0 << 64u", 0), ("-(-9223372036854775807 - 1)", -(2**63)), ("abs(-2147483647i - 1i)", -(2**31)),
        ("bitcast<vec2u>(vec2(2147483648, -1))", (2**31, 2**32 - 1)), ("bitcast<u32>(0f)", 0), ("u32(0x1.fffffep+30f)", 2**31 - 128),
    ],
)  # fmt: skip
def test_values_that_the_specification_gives(expression: str, value: Any) -> None:
    module, _ = judged(f"const a = {expression};")
    assert isinstance(module, wgsl.Module), module
    assert module.constants["a"] == value


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("const a = 3.4028235e38f;", "tint-overflow"), ("enable f16; const a = 65519h;", "tint-overflow"), ("const a: f32 = 3.4028235e38;", "tint-overflow"),
        ("const_assert (1 + 1) == 2;", "naga-assert"), ("const_assert (vec2(1, 2)).x == 1;", "naga-assert"), ("enable f16; const a = 0x1p1h;", "naga-literal"),
        ("const a = 0x1.00000000000001p0;", "naga-literal"), ("const a = true & false;", "naga-constant"), ("const a = transpose(mat2x2f());", "naga-constant"),
        ("struct V { @location(0) @interpolate(flat,) a: u32 }", "naga-comma"), ("struct V { @location(0) @interpolate(linear) a: u32 }", "tint-interpolate"),
        ("fn f(p: ptr<storage, f32>) {}", "naga-requires"), ("@compute @workgroup_size(1) fn f(@builtin(workgroup_index) i: u32) {}", "naga-requires"),
    ],
)  # fmt: skip
def test_warnings_of_what_one_compiler_refuses(text: str, rule: str) -> None:
    taken(text, rule)


def test_no_warning_where_both_compilers_take_it() -> None:
    taken("const_assert (1 + 1 == 2);")
    taken("const_assert(true);")
    taken("const a = 3.4028234e38f; const b = 0x1p-149f; const c = true && false;")
    taken("fn f(p: ptr<function, f32>, q: ptr<private, f32>) {}")


@pytest.mark.parametrize(
    ("expression", "rule"),
    [
        ("u32(clamp(n, 5u, 3u))", "constant-fault"), ("extractBits(n, 20u, 20u)", "constant-fault"), ("insertBits(n, n, 20u, 20u)", "constant-fault"),
        ("u32(smoothstep(1.0, 1.0, f32(n)))", "constant-fault"), ("u32(ldexp(f32(n), 200))", "constant-fault"), ("vec2(n, 1u)[2]", "constant-fault"),
        ("clamp(1u, n + 5u, 3u)", ""), ("extractBits(7u, n + 20u, 20u)", ""), ("u32(smoothstep(1.0, f32(n), 2.0))", ""), ("u32(pow(-1.0, f32(n)))", ""), ("7u % n", ""),
    ],
)  # fmt: skip
def test_F12_constants_among_the_arguments_are_judged_at_once(expression: str, rule: str) -> None:
    for value in ("", " = 0", " = 1"):
        text = f"override n: u32{value}; override m: u32 = {expression};"
        if rule:
            refused(text, rule)
        else:
            assert isinstance(judged(text)[0], wgsl.Module)


@pytest.mark.parametrize("format_", ["r64uint, atomic", "r64uint, write"])
def test_W27_F21_texel_formats_of_naga(format_: str) -> None:
    text = f"{BUFFER}var t: texture_storage_2d<{format_}>;"
    refused(text, "enumerant", *["naga-type"] * 1)
    taken(text, target="naga")
    refused(text, "enumerant", target="tint")


@pytest.mark.parametrize("type_", ["array<f32, 4>", "array<array<f32, 2>, 2>", "A", "B"])
def test_immediate_data_holds_no_arrays_except_on_naga(type_: str) -> None:
    text = f"struct A {{ a: f32, b: array<u32, 2> }} struct B {{ a: A }} var<immediate> v: {type_};"
    refused(text, "immediate-array", "naga-type")
    taken(text, target="naga")
    refused(text, "immediate-array", target="tint")
    taken("struct A { a: f32, b: mat2x2f } var<immediate> v: A;")


@pytest.mark.parametrize("text", ["const binding_array = 1;", "struct binding_array { a: u32 }", "fn f(binding_array: u32) {}", "alias binding_array = u32;"])  # fmt: skip
def test_binding_array_is_a_name_like_others(text: str) -> None:
    taken(text)


@pytest.mark.parametrize(
    ("text", "extension"),
    [
        ("@group(0) @binding(0) var t: binding_array<texture_2d<f32>, 8>;", "binding_array"),
        ("@group(0) @binding(0) var t: binding_array<texture_2d<f32>>;", "binding_array"),
        ("@group(0) @binding(0) var a: acceleration_structure;", "acceleration_structure"),
        ("@group(0) @binding(0) var a: binding_array<acceleration_structure, 2>;", "binding_array"),
    ],
)
@pytest.mark.filterwarnings("ignore::gpustruct.wgsl.BackendWarning")
def test_F21_extensions_of_naga_are_named_and_each_way_out_works(text: str, extension: str) -> None:
    with pytest.raises(WgslError) as caught:
        wgsl.parse(text)
    message = str(caught.value)
    assert f"{extension}, an extension of naga" in message and "use f32" not in message
    assert "skip=True" in message and "target='naga'" in message
    assert not wgsl.parse(text, skip=True).bindings
    wgsl.parse(text, target="naga")


@pytest.mark.filterwarnings("ignore::gpustruct.wgsl.BackendWarning")
def test_F21_a_ray_query_is_a_variable_of_a_function() -> None:
    with pytest.raises(WgslError, match="ray_query, an extension of naga"):
        wgsl.parse("var<private> q: ray_query;")
    with pytest.raises(WgslError, match="declare it as a variable of a function"):
        wgsl.parse("var<private> q: ray_query;", target="naga")
    wgsl.parse("fn f() { var q: ray_query; }", target="naga")


@pytest.mark.parametrize("name", ["i64", "u64", "f64"])
@pytest.mark.filterwarnings("ignore::gpustruct.wgsl.BackendWarning")
def test_F21_numbers_of_64_bits_are_split(name: str) -> None:
    with pytest.raises(WgslError, match="use f32, i32 or u32, two of them for 64 bits"):
        wgsl.parse(f"struct S {{ a: {name} }}")
