"""Compares the layouts that `Program` makes with what the device says of the same shader."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import wgpu

from gpustruct import wgsl
from gpustruct.gpu import Program
from gpustruct.gpu.backend import gpu_errors

Combination = tuple[str, ...]
BITS = {"VERTEX": 1, "FRAGMENT": 2, "COMPUTE": 4}
FORMATS = {
    "float": "rgba8unorm",
    "unfilterable-float": "rgba8unorm",
    "sint": "rgba8sint",
    "uint": "rgba8uint",
    "depth": "depth32float",
}
LAYERS = {"2d-array": 2, "cube": 6, "cube-array": 12}


def combinations(module: wgsl.Module) -> list[Combination]:
    """The entry points that a pipeline can have together: a compute shader, or a vertex shader with a fragment shader."""
    stages: dict[str, list[str]] = {"vertex": [], "fragment": [], "compute": []}
    for name, entry in module.entry_points.items():
        stages[entry.stage].append(name)
    pairs = [(vertex, fragment) for vertex in stages["vertex"] for fragment in stages["fragment"]]
    alone = [(vertex,) for vertex in stages["vertex"]] if not pairs else []
    return [*((name,) for name in stages["compute"]), *pairs, *alone]


def _component(type_name: str) -> tuple[str, int]:
    """The scalar of an input's or an output's type, and how many there are."""
    count = re.match(r"vec(\d)", type_name)
    scalar = re.search(r"<(\w+)>", type_name)
    short = {"f": "f32", "h": "f16", "i": "i32", "u": "u32"}
    name = scalar[1] if scalar else short.get(type_name[-1], type_name) if count else type_name
    return name, int(count[1]) if count else 1


def _vertex_buffers(entry: wgsl.EntryPoint) -> list[dict[str, Any]]:
    attributes: list[dict[str, Any]] = []
    for value in entry.inputs:
        if value.location is not None:
            scalar, count = _component(value.type_name)
            kind = {"f32": "float32", "u32": "uint32", "i32": "sint32"}[scalar]
            format_ = kind + (f"x{count}" if count > 1 else "")
            attributes.append({"format": format_, "offset": 16 * len(attributes), "shader_location": value.location})
    return [{"array_stride": 16 * len(attributes), "attributes": attributes}] if attributes else []


def _targets(entry: wgsl.EntryPoint) -> list[dict[str, Any] | None]:
    kinds = {"f32": "8unorm", "u32": "32uint", "i32": "32sint"}
    channels = {1: "r", 2: "rg", 3: "rg", 4: "rgba"}
    located: dict[int, str] = {}
    for value in entry.outputs:
        if value.location is not None:
            scalar, count = _component(value.type_name)
            located[value.location] = channels[count] + kinds[scalar]
    return [{"format": located[k]} if k in located else None for k in range(max(located, default=-1) + 1)]


def pipeline(device: Any, shader: Any, module: wgsl.Module, names: Combination, layout: Any) -> Any:
    """A pipeline of the entry points; wgpu raises a GPUError if `layout` does not fit them."""
    first = module.entry_points[names[0]]
    if first.stage == "compute":
        return device.create_compute_pipeline(layout=layout, compute={"module": shader, "entry_point": first.name})
    options: dict[str, Any] = {
        "vertex": {"module": shader, "entry_point": first.name, "buffers": _vertex_buffers(first)}
    }
    needs_depth = len(names) == 1
    if len(names) > 1:
        second = module.entry_points[names[1]]
        options["fragment"] = {"module": shader, "entry_point": second.name, "targets": _targets(second)}
        needs_depth = any(value.builtin == "frag_depth" for value in second.outputs) or not _targets(second)
    if needs_depth:
        options["depth_stencil"] = {"format": "depth32float", "depth_write_enabled": True, "depth_compare": "always"}
    return device.create_render_pipeline(layout=layout, primitive={"topology": "triangle-list"}, **options)


def resource(device: Any, entry: dict[str, Any], min_size: int) -> Any:
    """Something that a layout entry accepts."""
    if "buffer" in entry:
        return device.create_buffer(size=max(256, -(-min_size // 16) * 16), usage="UNIFORM | STORAGE")
    if "sampler" in entry:
        return device.create_sampler(compare="less" if entry["sampler"]["type"] == "comparison" else None)
    found: dict[str, Any] = entry.get("texture") or entry["storage_texture"]
    view = found["view_dimension"]
    dimension = view if view in ("1d", "3d") else "2d"
    size = {"1d": (8, 1, 1), "3d": (8, 8, 8)}.get(view, (8, 8, LAYERS.get(view, 1)))
    usage = wgpu.TextureUsage.TEXTURE_BINDING if "texture" in entry else wgpu.TextureUsage.STORAGE_BINDING
    format_ = FORMATS[found["sample_type"]] if "texture" in entry else found["format"]
    samples = 4 if found.get("multisampled") else 1
    usage |= wgpu.TextureUsage.RENDER_ATTACHMENT if samples > 1 else 0
    return device.create_texture(size=size, dimension=dimension, format=format_, usage=usage, sample_count=samples)


def bound_entries(program: Program, monkeypatch: Any) -> dict[int, list[dict[str, Any]]]:
    """What `Program.bind` passes to create_bind_group, by group."""
    device, made = program.device, dict[int, list[dict[str, Any]]]()
    create = device.create_bind_group
    layouts = {id(layout): index for index, layout in program.bind_group_layouts.items()}

    def record(**options: Any) -> Any:
        made[layouts[id(options["layout"])]] = options["entries"]
        return create(**options)

    with monkeypatch.context() as patch:
        patch.setitem(vars(device), "create_bind_group", record)
        given: dict[str, Any] = {}
        for group in program._compiled.binder.groups:
            for variable, entry in group.entries:
                given[variable.name] = resource(device, dict(entry), variable.min_binding_size or 0)
        program.bind(given)
    return made


class Counts:
    """What a proof has compared."""

    def __init__(self) -> None:
        self.pipelines = self.entries = self.bits = self.underivable = 0


def prove(device: Any, text: str, monkeypatch: Any, counts: Counts, names: Combination | None = None) -> None:
    """Assert that layouts made from `text` are what the device derives, for each pipeline.

    - A pipeline with our layout is accepted: each binding that it uses is there, with its kind, access and stages.
    - The layout that the device derives accepts the bind groups that `Program.bind` makes: no entry is missing or too many.
    - No stage can be taken out of any entry's visibility.
    """
    module = wgsl.parse(text, target="naga")
    shader = device.create_shader_module(code=text)
    for chosen in combinations(module) if names is None else [names]:
        program = Program(device, text, entry_points=chosen)
        pipeline(device, shader, module, chosen, program.layout)
        made = bound_entries(program, monkeypatch)
        layouts = module.bind_group_layouts(*chosen)
        try:
            derived = pipeline(device, shader, module, chosen, "auto")
        except gpu_errors() as error:
            # One stage samples a texture, the other loads from it: wgpu-native cannot derive a layout for both.
            if "not consistent between stages" not in str(error):
                raise
            counts.underivable += 1
            derived = None
        for group, entries in layouts.items():
            if derived is not None:
                device.create_bind_group(layout=derived.get_bind_group_layout(group), entries=made[group])
            counts.entries += len(entries)
        counts.pipelines += 1
        for group, entries in layouts.items():
            for k, entry in enumerate(entries):
                for bit in (bit for bit in BITS.values() if entry["visibility"] & bit):
                    less = [*entries[:k], {**entry, "visibility": entry["visibility"] & ~bit}, *entries[k + 1 :]]
                    _assert_refused(device, shader, module, chosen, {**layouts, group: less}, entry)
                    counts.bits += 1


def _assert_refused(
    device: Any, shader: Any, module: wgsl.Module, names: Combination, layouts: Any, entry: Any
) -> None:
    groups = [device.create_bind_group_layout(entries=layouts.get(k, [])) for k in range(max(layouts) + 1)]
    layout = device.create_pipeline_layout(bind_group_layouts=groups)
    try:
        pipeline(device, shader, module, names, layout)
    except gpu_errors():
        return
    raise AssertionError(f"no shader of {names} needs the visibility of {entry}")


def random_text(seed: int) -> str:
    """A text with resources of all kinds, functions that use them and call each other, and names that hide them."""
    chance = np.random.default_rng(seed)
    pick = lambda options: options[int(chance.integers(len(options)))]  # noqa: E731
    formats = ["rgba8unorm", "rgba8snorm", "rgba16float", "rgba32float", "r32float", "r32uint", "r32sint", "rgba8uint"]
    values = {"uint": "vec4u()", "sint": "vec4i()"}
    declared: list[tuple[str, str]] = []
    for k in range(int(chance.integers(3, 9))):
        kind = int(chance.integers(0, 10))
        name = f"r{k}"
        if kind == 0:
            type_ = pick(["f32", "vec3f", "mat4x4f", "Thing", "array<vec4f, 3>"])
            declared.append((f"var<uniform> {name}: {type_};", f"_ = {name};"))
        elif kind == 1:
            type_, use = pick(
                [
                    ("array<f32>", f"_ = {name}[0];"),
                    ("array<Thing>", f"_ = arrayLength(&{name});"),
                    ("Thing", f"_ = {name}.a;"),
                ]
            )
            declared.append((f"var<storage> {name}: {type_};", use))
        elif kind == 2:
            type_, use = pick(
                [
                    ("array<f32>", f"{name}[1] = 2;"),
                    ("atomic<u32>", f"atomicAdd(&{name}, 1u);"),
                    ("Thing", f"{name}.b.x = 1;"),
                ]
            )
            declared.append((f"var<storage, read_write> {name}: {type_};", use + "// writes"))
        elif kind in (3, 4):
            shape, at = pick(
                [
                    ("1d", "0, 0"),
                    ("2d", "vec2u(), 0"),
                    ("2d_array", "vec2u(), 0, 0"),
                    ("3d", "vec3u(), 0"),
                    ("multisampled_2d", "vec2u(), 0"),
                ]
            )
            declared.append(
                (f"var {name}: texture_{shape}<{pick(['f32', 'i32', 'u32'])}>;", f"_ = textureLoad({name}, {at});")
            )
        elif kind == 5:
            shape = pick(["cube", "cube_array", "2d", "3d"])
            declared.append(
                (f"var {name}: texture_{shape}<{pick(['f32', 'i32', 'u32'])}>;", f"_ = textureDimensions({name});")
            )
        elif kind == 6:
            shape, at = pick(
                [
                    ("depth_2d", "vec2u(), 0"),
                    ("depth_2d_array", "vec2u(), 0, 0"),
                    ("depth_multisampled_2d", "vec2u(), 0"),
                ]
            )
            declared.append((f"var {name}: texture_{shape};", f"_ = textureLoad({name}, {at});"))
        elif kind == 7:
            texel = pick(formats)
            shape, at = pick([("1d", "0"), ("2d", "vec2u()"), ("2d_array", "vec2u(), 0"), ("3d", "vec3u()")])
            value = next((value for word, value in values.items() if texel.endswith(word)), "vec4f()")
            declared.append(
                (
                    f"var {name}: texture_storage_{shape}<{texel}, write>;",
                    f"textureStore({name}, {at}, {value});// writes",
                )
            )
        elif kind == 8:
            shape, at = pick([("2d", "vec2f()"), ("3d", "vec3f()"), ("cube", "vec3f()"), ("2d_array", "vec2f(), 0")])
            declared.append(
                (f"var {name}: texture_{shape}<f32>;", f"_ = textureSampleLevel({name}, {name}s, {at}, 0);")
            )
            declared.append((f"var {name}s: sampler;", f"_ = {name}s;"))
        else:
            shape, at = pick([("2d", "vec2f()"), ("cube", "vec3f()"), ("2d_array", "vec2f(), 0")])
            declared.append(
                (f"var {name}: texture_depth_{shape};", f"_ = textureSampleCompareLevel({name}, {name}c, {at}, 0.5);")
            )
            declared.append((f"var {name}c: sampler_comparison;", ""))
    text = "struct Thing { a: f32, b: vec3f }\n"
    for k, (declaration, _) in enumerate(declared):
        text += f"@group({k % 3}) @binding({k * 2 % 17}) {declaration}\n"
    names = [re.search(r"(\w+):", declaration)[1] for declaration, _ in declared]  # type: ignore[index]

    def body(writes: bool, calls: list[str], parameter: str = "") -> str:
        lines: list[str] = []
        for (_, use), name in zip(declared, names, strict=True):
            # The parameter hides a resource.
            hides = bool(parameter) and re.search(rf"\b{parameter}\b", use) is not None
            if use and not hides and (writes or "// writes" not in use) and chance.random() < 0.3:
                lines.append(use.split("//")[0])
            elif chance.random() < 0.2:
                lines.append(
                    pick(
                        [
                            f"{{ let {name} = 1; _ = {name}; }}",
                            f"for (var {name} = 0; {name} < 2; {name}++) {{ }}",
                            f"if true {{ var {name}: f32; {name} = 2; }}",
                        ]
                    )
                )
        return " ".join([*lines, *(call for call in calls if chance.random() < 0.4)])

    for k in reversed(range(3)):
        parameter = pick(names)
        text += f"fn write{k}() {{ {body(True, [f'write{j}();' for j in range(k + 1, 3)] + [f'read{j}(1);' for j in range(3)])} }}\n"
        calls = [f"read{j}(2);" for j in range(k + 1, 3)]
        text += f"fn read{k}({parameter}: f32) {{ {body(False, calls, parameter)} }}\n"
    reads, all_ = (
        [f"read{k}(0);" for k in range(3)],
        [f"{what}{k}({0 if what == 'read' else ''});" for what in ("read", "write") for k in range(3)],
    )
    text += f"@compute @workgroup_size(1) fn compute_a() {{ {body(True, all_)} }}\n@compute @workgroup_size(1) fn compute_b() {{ {body(True, all_)} }}\n"
    text += (
        f"@vertex fn vertex(@location(0) at: vec4f) -> @builtin(position) vec4f {{ {body(False, reads)} return at; }}\n"
    )
    text += f"@fragment fn fragment() -> @location(0) vec4f {{ {body(True, all_)} return vec4f(1); }}\n"
    return text
