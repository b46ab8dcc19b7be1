"""What parse says about a shader's interface: expectations by hand, from the specification."""

from __future__ import annotations

from typing import Any

import pytest

from gpustruct import WgslError, wgsl

HANDLES = """
@group(0) @binding(0) var photo: texture_2d<f32>;
@group(0) @binding(1) var other: texture_2d<f32>;
@group(0) @binding(2) var linear: sampler;
@group(0) @binding(3) var compare: sampler_comparison;
@group(0) @binding(4) var shadows: texture_depth_2d_array;
@group(1) @binding(0) var<uniform> scale: f32;
@group(1) @binding(1) var<storage> table: array<f32>;
@group(1) @binding(2) var<storage, read_write> sums: array<f32>;
override count: u32 = 4;
override twice = 2 * count;
override free: f32;
const limit = 10;
var<workgroup> tile: array<f32, 60>;
var<private> seed: u32;
"""


def entry(text: str, name: str = "main") -> Any:
    return wgsl.parse(HANDLES + text).entry_points[name]


def compute(body: str, more: str = "") -> Any:
    return entry(f"{more}\n@compute @workgroup_size(1) fn main() {{ {body} }}")


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("texture_1d<f32>", ("texture", "float", "1d", False, None)),
        ("texture_2d<i32>", ("texture", "sint", "2d", False, None)),
        ("texture_2d_array<u32>", ("texture", "uint", "2d-array", False, None)),
        ("texture_3d<f32>", ("texture", "float", "3d", False, None)),
        ("texture_cube<f32>", ("texture", "float", "cube", False, None)),
        ("texture_cube_array<f32>", ("texture", "float", "cube-array", False, None)),
        ("texture_multisampled_2d<u32>", ("texture", "uint", "2d", True, None)),
        ("texture_depth_2d", ("texture", "depth", "2d", False, None)),
        ("texture_depth_2d_array", ("texture", "depth", "2d-array", False, None)),
        ("texture_depth_cube", ("texture", "depth", "cube", False, None)),
        ("texture_depth_cube_array", ("texture", "depth", "cube-array", False, None)),
        ("texture_depth_multisampled_2d", ("texture", "depth", "2d", True, None)),
        ("texture_storage_1d<r32uint, write>", ("storage-texture", None, "1d", None, "r32uint")),
        ("texture_storage_2d<rgba8unorm, read>", ("storage-texture", None, "2d", None, "rgba8unorm")),
        ("texture_storage_2d_array<r32float, read_write>", ("storage-texture", None, "2d-array", None, "r32float")),
        ("texture_storage_3d<rgba16float, write>", ("storage-texture", None, "3d", None, "rgba16float")),
        ("texture_external", ("external-texture", None, None, None, None)),
        ("sampler", ("sampler", None, None, None, None)),
        ("sampler_comparison", ("comparison-sampler", None, None, None, None)),
    ],
)
@pytest.mark.filterwarnings("ignore:wgpu-native refuses texture_external")
def test_textures_and_samplers_say_what_they_are(type_: str, expected: tuple[Any, ...]) -> None:
    for text in (f"var it: {type_};", f"alias T = {type_}; @group(0) @binding(0) var it: T;"):
        text = text if "binding" in text else f"@group(0) @binding(0) {text}"
        it = wgsl.parse(text).bindings["it"]
        assert (it.kind, it.sample_type, it.view_dimension, it.multisampled, it.format) == expected


def test_buffers_and_other_variables_say_what_they_are() -> None:
    module = wgsl.parse(HANDLES)
    kinds = {name: variable.kind for name, variable in (module.bindings | module.variables).items()}
    assert [kinds[name] for name in ("scale", "table", "sums", "tile", "seed")] == [
        "uniform",
        "read-only-storage",
        "storage",
        "workgroup",
        "private",
    ]


def test_arrays_of_bindings_have_the_kind_of_one_and_a_count() -> None:
    text = """@group(0) @binding(0) var many: binding_array<texture_2d<f32>, 4>;
    @group(0) @binding(1) var open: binding_array<sampler>;
    @group(0) @binding(2) var<storage> data: binding_array<f32, 3>;"""
    found = wgsl.parse(text, target="naga").bindings
    assert [(v.kind, v.view_dimension, v.array_count) for v in found.values()] == [
        ("texture", "2d", 4),
        ("sampler", None, 0),
        ("read-only-storage", None, 3),
    ]


@pytest.mark.parametrize(
    ("body", "used"),
    [
        ("sums[0] = scale;", "scale sums"),
        ("sums[0] = /* scale /* table */ */ 1; // scale\n", "sums"),
        ("let scale = 1.0; sums[0] = scale;", "sums"),
        ("let scale = scale; sums[0] = scale;", "scale sums"),
        ("sums[0] = 1; { let scale = 2.0; sums[0] = scale; } sums[1] = scale;", "scale sums"),
        ("{ let scale = 2.0; } { sums[1] = scale; }", "scale sums"),
        ("for (var scale = 0; scale < 4; scale++) { sums[scale] = 1; }", "sums"),
        ("for (var scale = i32(scale); scale < 4; scale++) { }", "scale"),
        ("for (var scale = 0; scale < 4; scale++) { } sums[0] = scale;", "scale sums"),
        ("for (;;) { let scale = 1.0; break; } sums[0] = scale;", "scale sums"),
        ("var<function> scale: f32 = 1; sums[0] = scale;", "sums"),
        ("const scale = 1.0; sums[0] = scale;", "sums"),
        ("var scale: array<f32, 2>; scale[0] = table[0];", "table"),
        ("loop { let table = 1.0; continuing { let scale = table; break if scale > 0; } }", ""),
        ("loop { let scale = 1.0; break; } let y = scale;", "scale"),
        ("switch i32(table[0]) { case 1: { let scale = 1; } default: { let y = scale; } }", "scale table"),
        ("_ = scale;", "scale"),
        ("_ = &sums;", "sums"),
        ("let p = &table[1]; let y = *p;", "table"),
        ("let s = Scale(1).scale;", ""),
        ("let s = Scale(1). scale;", ""),
        ("let s = Scale(1). /* */ scale;", ""),
        ("let x = 1.0; let y = x+scale;", "scale"),
        ("let x = 1.scale;", ""),
        ("if true { sums[0] = 1; } else if false { _ = scale; }", "scale sums"),
        ("let y = arrayLength(&table);", "table"),
        ("let z = array<f32, limit>()[0] + scale;", "scale"),
        ("@diagnostic(off, scale) if true { _ = &sums; }", "sums"),
    ],
)
def test_bodies_use_the_names_that_nothing_hides(body: str, used: str) -> None:
    assert compute(body, "struct Scale { scale: i32 }").bindings == tuple(used.split())


def test_parameters_hide_names_of_the_module() -> None:
    found = compute("sums[0] = f(1.0, 2);", "fn f(scale: f32, table: i32) -> f32 { return scale * f32(table); }")
    assert found.bindings == ("sums",)


def test_calls_are_followed_in_any_order_of_the_text() -> None:
    text = """
    @compute @workgroup_size(1) fn main() { outer(); }
    @compute @workgroup_size(1) fn none() { let outer = 1; }
    fn outer() { inner(); seed = 1; }
    fn inner() { sums[0] = scale + tile[0]; }
    fn unused() { _ = table[0]; }
    """
    found = entry(text)
    assert (found.bindings, found.variables, found.overrides) == (("scale", "sums"), ("tile", "seed"), ())
    assert entry(text, "none").bindings == ()
    assert found.workgroup_bytes == 240


def test_overrides_are_used_through_types_sizes_and_each_other() -> None:
    assert compute("let x = twice;").overrides == ("count", "twice")
    assert compute("let x = free;").overrides == ("free",)
    assert entry("@compute @workgroup_size(count) fn main() {}").overrides == ("count",)
    text = "var<workgroup> sized: array<f32, twice>; @compute @workgroup_size(1) fn main() { sized[0] = 1; }"
    assert (entry(text).overrides, entry(text).workgroup_bytes) == (("count", "twice"), 32)
    text = (
        "var<workgroup> sized: array<f32, n>; override n: u32; @compute @workgroup_size(1) fn main() { sized[0] = 1; }"
    )
    assert entry(text).workgroup_bytes is None
    assert wgsl.parse(text, overrides={"n": 5}).entry_points["main"].workgroup_bytes == 32


def test_overrides_say_whether_they_have_a_default() -> None:
    found = wgsl.parse(HANDLES).overrides
    assert {name: override.has_default for name, override in found.items()} == {
        "count": True,
        "twice": True,
        "free": False,
    }


@pytest.mark.parametrize(
    ("type_", "size"),
    [
        ("f32", 16),
        ("atomic<u32>", 16),
        ("bool", 16),
        ("array<bool, 5>", 32),
        ("vec3<bool>", 16),
        ("array<vec3<bool>, 2>", 32),
        ("mat3x3f", 48),
        ("Flags", 48),
        ("array<Flags, 3>", 144),
        ("array<Plain, 3>", 48),
    ],
)
def test_workgroup_memory_counts_every_type(type_: str, size: int) -> None:
    text = f"""struct Plain {{ a: vec3f, b: f32 }}
    struct Flags {{ a: bool, @size(16) b: bool, @align(16) c: vec2<bool> }}
    var<workgroup> it: {type_};
    @compute @workgroup_size(1) fn main() {{ _ = &it; }}"""
    assert wgsl.parse(text).entry_points["main"].workgroup_bytes == size


@pytest.mark.parametrize(
    ("more", "body", "sampled"),
    [
        ("", "let x = textureSampleLevel(photo, linear, vec2f(), 0);", [("photo", "linear")]),
        ("", "let x = textureSampleLevel((photo), ((linear)), vec2f(), 0);", [("photo", "linear")]),
        ("", "let x = textureLoad(photo, vec2u(), 0);", []),
        ("", "let x = textureGather(1, photo, linear, vec2f());", [("photo", "linear")]),
        ("", "let x = textureGather(limit, photo, linear, vec2f());", [("photo", "linear")]),
        ("", "let x = textureSampleCompareLevel(shadows, compare, vec2f(), 0, 1.0);", [("shadows", "compare")]),
        ("", "let x = textureGatherCompare(shadows, compare, vec2f(), 0, 1.0);", [("shadows", "compare")]),
        ("", "let x = textureDimensions(photo).x; _ = linear;", []),
        (
            "fn f(a: vec2f, t: texture_2d<f32>, s: sampler) -> vec4f { return textureSampleLevel(t, s, a, 0); }",
            "let x = f(vec2f(array<f32, 2>(1, 2)[0], 1), photo, linear) + f(vec2f(), other, linear);",
            [("photo", "linear"), ("other", "linear")],
        ),
        (
            "fn g(t: texture_2d<f32>) -> vec4f { return f(linear, t); }"
            "fn f(s: sampler, t: texture_2d<f32>) -> vec4f { return textureSampleLevel(t, s, vec2f(), 0); }",
            "let x = g(other); let y = textureLoad(photo, vec2u(), 0);",
            [("other", "linear")],
        ),
        (
            "fn f(t: texture_2d<f32>) -> vec4f { return textureLoad(t, vec2u(), 0); }",
            "let x = f(photo); _ = linear;",
            [],
        ),
        (
            "fn textureSampleLevel(t: texture_2d<f32>, s: sampler) -> vec4f { return textureLoad(t, vec2u(), 0); }",
            "let x = textureSampleLevel(photo, linear);",
            [],
        ),
    ],
)
def test_textures_that_samplers_read_are_known(more: str, body: str, sampled: list[tuple[str, str]]) -> None:
    assert list(compute(body, more).sampled) == sampled


def test_inputs_come_from_structs_and_from_single_parameters() -> None:
    text = """
    struct Corner { @location(0) position: vec3f, @location(3) uv: vec2f }
    struct Out {
      @builtin(position) @invariant place: vec4f,
      @location(1) @interpolate(linear, centroid) uv: vec2f,
      @location(2) @interpolate(flat, either) id: u32,
    }
    @vertex fn vs(@builtin(instance_index) i: u32, corner: Corner, @location(7) extra: vec4<f32>) -> Out { }
    @fragment fn fs(in: Out, @builtin(front_facing) front: bool) -> @location(0) vec4f { }
    """
    found = wgsl.parse(text).entry_points
    vs, fs = found["vs"], found["fs"]
    assert [(v.name, v.type_name, v.location, v.builtin, v.line) for v in vs.inputs] == [
        ("i", "u32", None, "instance_index", 8),
        ("position", "vec3f", 0, None, 2),
        ("uv", "vec2f", 3, None, 2),
        ("extra", "vec4f", 7, None, 8),
    ]
    assert [(v.name, v.location, v.builtin, v.interpolation, v.invariant) for v in vs.outputs] == [
        ("place", None, "position", (), True),
        ("uv", 1, None, ("linear", "centroid"), False),
        ("id", 2, None, ("flat", "either"), False),
    ]
    assert [(v.name, v.type_name, v.type) for v in fs.inputs][-1] == ("front", "bool", None)
    assert [(v.name, v.location, v.type_name) for v in fs.outputs] == [("", 0, "vec4f")]


def test_blend_sources_are_kept() -> None:
    text = """enable dual_source_blending;
    struct Out { @location(0) @blend_src(0) a: vec4f, @location(0) @blend_src(1) b: vec4f }
    @fragment fn fs() -> Out { }"""
    outputs = wgsl.parse(text).entry_points["fs"].outputs
    assert [value.blend_source for value in outputs] == [0, 1]


def test_directives_and_lines_are_kept() -> None:
    text = "diagnostic(off, derivative_uniformity);\ndiagnostic(info, chromium.thing);\n\nconst a = 1;\nfn f() {}\nalias B = f32;"
    module = wgsl.parse(text)
    assert [(d.severity, d.rule, d.line) for d in module.diagnostics] == [
        ("off", "derivative_uniformity", 1),
        ("info", "chromium.thing", 2),
    ]
    assert module.lines == {"a": 4, "f": 5, "B": 6}


STAGES = """struct Out {
  @builtin(position) @invariant place: vec4f,
  @location(1) @interpolate(linear, centroid) uv: vec2f,
  @location(2) @interpolate(flat) id: u32,
}
"""


def test_stage_structs_survive_being_written() -> None:
    assert wgsl.declare(*wgsl.parse(STAGES).structs.values()) == STAGES


# Recursion, and texts that are long on purpose.


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("fn f() { f(); }", "f -> f"),
        ("fn f() { g(); } fn g() { f(); }", "f -> g -> f"),
        ("fn a() { b(); } fn b() { c(); } fn c() { b(); }", "b -> c -> b"),
    ],
)
def test_recursion_is_refused(text: str, path: str) -> None:
    with pytest.raises(WgslError, match=path) as raised:
        wgsl.parse(text)
    assert raised.value.rule == "cycle"
    module = wgsl.parse(
        text + "@compute @workgroup_size(1) fn main() { f(); }".replace("f()", text[3] + "()"), skip=True
    )
    assert [part.text for part in module.skipped] == [f"fn {text[3]}"]
    assert list(module.entry_points) == ["main"]


def test_a_local_of_the_functions_name_is_no_recursion() -> None:
    assert wgsl.parse("fn f() -> i32 { let f = 1; return f; }").functions == ("f",)


def test_deep_chains_of_calls() -> None:
    count = 9_000
    text = "".join(f"fn go{i}() {{ go{i + 1}(); }}\n" for i in range(count))
    text += f"fn go{count}() {{ _ = scale; }}\n@compute @workgroup_size(1) fn main() {{ go0(); }}"
    assert entry(text).bindings == ("scale",)


def test_many_entry_points_over_many_functions() -> None:
    count = 3_000
    text = "".join(f"@group(0) @binding({i}) var<uniform> u{i}: f32;\n" for i in range(count))
    text += "".join(f"fn go{i}() {{ _ = u{i}; {f'go{i - 1}();' if i else ''} }}\n" for i in range(count))
    text += "".join(f"@compute @workgroup_size(1) fn e{i}() {{ go{i}(); }}\n" for i in range(count))
    found = wgsl.parse(text).entry_points
    assert [len(found[f"e{i}"].bindings) for i in range(count)] == list(range(1, count + 1))


def test_textures_handed_through_many_parameters_are_bounded() -> None:
    names = [f"t{i}" for i in range(120)] + [f"s{i}" for i in range(120)]
    head = ", ".join(f"{name}: {'S' if name[0] == 's' else 'T'}" for name in names)
    body = "".join(f"_ = textureSampleLevel(t{i}, s{j}, p, 0);" for i in range(120) for j in range(120))
    handed = ", ".join(names)
    text = f"alias S = sampler; alias T = texture_2d<f32>; fn go0({head}) {{ {body} }}"
    text += "".join(f"fn go{i}({head}) {{ go{i - 1}({handed}); }}" for i in range(1, 90))
    with pytest.raises(WgslError) as raised:
        wgsl.parse(text)
    assert raised.value.rule == "sampled-pairs"


@pytest.mark.parametrize(
    "junk", ["((((((", "))))]]]", "array<array<array<", "var<var<", "}}}}", "for for for", "let let", "@@(", ". . ."]
)
def test_bodies_may_hold_anything(junk: str) -> None:
    text = (
        f"@group(0) @binding(0) var<uniform> u: f32; @compute @workgroup_size(1) fn main() {{ _ = u; {junk * 1000} }}"
    )
    module = wgsl.parse(text, skip=True)
    assert "u" in module.bindings or module.skipped


@pytest.mark.parametrize(
    ("body", "sampled"),
    [
        ("let t = photo; let s = linear; _ = textureSampleLevel(t, s, vec2f(), 0);", [("photo", "linear")]),
        ("let t: texture_2d<f32> = photo; _ = textureSampleLevel(t, linear, vec2f(), 0);", [("photo", "linear")]),
        ("let t = (photo); let u = t; _ = textureSampleLevel(u, linear, vec2f(), 0);", [("photo", "linear")]),
        (
            "let t = photo; { let t = other; _ = t; } _ = textureSampleLevel(t, linear, vec2f(), 0);",
            [("photo", "linear")],
        ),
        ("let t = photo; { let t = other; _ = textureSampleLevel(t, linear, vec2f(), 0); }", [("other", "linear")]),
        ("let photo = other; _ = textureSampleLevel(photo, linear, vec2f(), 0);", [("other", "linear")]),
        ("{ let t = photo; _ = t; } let t = other; _ = read(t, linear);", [("other", "linear")]),
        ("let t = photo; if true { let t = 1 + 2; _ = t; } _ = read(t, linear);", [("photo", "linear")]),
        ("let t = textureLoad(photo, vec2u(), 0); _ = read(other, linear); _ = t;", [("other", "linear")]),
        ("let t = 1; _ = textureSampleLevel(photo, linear, vec2f(), f32(t));", [("photo", "linear")]),
    ],
)
def test_a_let_is_another_name_for_a_texture_or_a_sampler(body: str, sampled: list[tuple[str, str]]) -> None:
    module = wgsl.parse(
        """@group(0) @binding(0) var photo: texture_2d<f32>; @group(0) @binding(1) var other: texture_2d<f32>;
        @group(0) @binding(2) var linear: sampler;
        fn read(t: texture_2d<f32>, s: sampler) -> vec4f { let u = t; return textureSampleLevel(u, s, vec2f(), 0); }
        @compute @workgroup_size(1) fn run() { """
        + body
        + " }",
        target="naga",
    )
    assert list(module.entry_points["run"].sampled) == sampled


def test_naga_takes_flat_for_the_default_of_integers() -> None:
    text = "struct V { @builtin(position) at: vec4f, @location(0) id: vec4i } @vertex fn vs() -> V { return V(); } @fragment fn fs(v: V) {}"
    assert list(wgsl.parse(text, target="naga").entry_points) == ["vs", "fs"]
    for target in ("spec", "tint"):
        with pytest.raises(WgslError) as raised:
            wgsl.parse(text, target=target)
        assert raised.value.rule == "interpolate-flat"
