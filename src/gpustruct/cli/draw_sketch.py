"""gpustruct inspect --python: a render pipeline, with the class of its vertex data, and a pass that draws with it."""

from __future__ import annotations

import itertools
import keyword
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..wgsl import EntryPoint, Module, StageValue

# The kind of vertex format for each scalar, and the kind of texture format.
_KINDS = {
    "f32": ("float32", "8unorm"),
    "f16": ("float16", "8unorm"),
    "i32": ("sint32", "8sint"),
    "u32": ("uint32", "8uint"),
}
_CHANNELS = {1: "r", 2: "rg", 3: "rg", 4: "rgba"}
# WebGPU has no format of three halves; the shader ignores the fourth.
_ROWS_OF_HALVES = {1: 1, 2: 2, 3: 4, 4: 4}


def pair(entries: Iterable[EntryPoint]) -> tuple[EntryPoint, EntryPoint] | None:
    """The first vertex and fragment shader that fit together.

    >>> from gpustruct import wgsl
    >>> text = "@vertex fn vs() -> @builtin(position) vec4f { return vec4f(); } @fragment fn fs(@location(0) x: f32) {}"
    >>> pair(wgsl.parse(text).entry_points.values()) is None
    True
    """
    stages: dict[str, list[EntryPoint]] = {"vertex": [], "fragment": [], "compute": []}
    for entry in entries:
        stages[entry.stage].append(entry)
    pairs = itertools.product(stages["vertex"], stages["fragment"])
    return next((found for found in pairs if _fits(*found)), None)


def _fits(vertex: EntryPoint, fragment: EntryPoint) -> bool:
    passed = {value.location: (value.type, value.interpolation) for value in _located(vertex.outputs)}
    taken = {value.location: (value.type, value.interpolation) for value in _located(fragment.inputs)}
    # A pipeline with two outputs at one location needs an optional feature.
    return taken.items() <= passed.items() and all(value.blend_source is None for value in fragment.outputs)


def _located(values: Iterable[StageValue]) -> list[StageValue]:
    return sorted((value for value in values if value.location is not None), key=lambda value: value.location or 0)


def vertex_class(module: Module, vertex: EntryPoint) -> tuple[str, str]:
    """The name and the text of a Vertex class for what a vertex shader reads; two empty texts if it reads nothing.

    >>> from gpustruct import wgsl
    >>> text = "@vertex fn vs(@location(0) p: vec3f) -> @builtin(position) vec4f { return vec4f(p, 1); }"
    >>> module = wgsl.parse(text)
    >>> print(vertex_class(module, module.entry_points["vs"])[1])
    class VertexInput(vertex.Vertex):
        p: vertex.float32x3
    """
    members = _members(vertex)
    if not members:
        return "", ""
    names = itertools.chain(["VertexInput"], (f"VertexInput{k}" for k in itertools.count(2)))
    name = next(name for name in names if name not in module.structs)
    lines = [f"    {member}: vertex.{_vertex_format(value)}" for member, value in members.items()]
    return name, "\n".join([f"class {name}(vertex.Vertex):", *lines])


def _members(vertex: EntryPoint) -> dict[str, StageValue]:
    found: dict[str, StageValue] = {}
    for value in _located(vertex.inputs):
        is_free = value.name not in found and not keyword.iskeyword(value.name)
        found[value.name if is_free else f"{value.name}_{value.location}"] = value
    return found


def _vertex_format(value: StageValue) -> str:
    layout = value.type.__layout__
    rows = _ROWS_OF_HALVES[layout.rows] if layout.scalar == "f16" else layout.rows
    return _KINDS[layout.scalar][0] + (f"x{rows}" if rows > 1 else "")


def _target_format(value: StageValue) -> str:
    layout = value.type.__layout__
    return _CHANNELS[layout.rows] + _KINDS[layout.scalar][1]


def lines(vertex: EntryPoint, fragment: EntryPoint, class_name: str, *, has_groups: bool) -> Iterator[str]:
    """The lines that make the pipeline and its targets, and draw three vertices."""
    buffers = ""
    if class_name:
        yield f"vertices = gpu.RecordBuffer(device, {class_name}, 3, count=3, usage='VERTEX')"
        members = _members(vertex)
        in_order = [value.location for value in members.values()] == list(range(len(members)))
        locations = "" if in_order else f", locations={ {name: value.location for name, value in members.items()} }"
        buffers = f", 'buffers': [vertex.layout({class_name}{locations})]"
    formats = {value.location: _target_format(value) for value in _located(fragment.outputs)}
    # wgpu-py takes no None between targets. What the shader does not write must have a write_mask of 0 (WebGPU §10.3.5).
    last = max((location or 0 for location in formats), default=-1)
    states = [
        {"format": formats[k]} if k in formats else {"format": "r8unorm", "write_mask": 0} for k in range(last + 1)
    ]
    has_depth = not formats or any(value.builtin == "frag_depth" for value in fragment.outputs)
    yield "pipeline = device.create_render_pipeline("
    yield "    layout=program.layout,"
    yield f"    vertex={{**program.stage({vertex.name!r}){buffers}}},"
    yield f"    fragment={{**program.stage({fragment.name!r}), 'targets': {states}}},"
    yield "    primitive={'topology': 'triangle-list'},"
    if has_depth:
        depth = "{'format': 'depth32float', 'depth_write_enabled': True, 'depth_compare': 'less'}"
        yield f"    depth_stencil={depth},"
    yield ")"
    usage = "usage='RENDER_ATTACHMENT | COPY_SRC'"
    yield "targets = ["
    for state in states:
        yield f"    device.create_texture(size=(256, 256, 1), format={state['format']!r}, {usage}),"
    yield "]"
    yield "encoder = device.create_command_encoder()"
    yield "render_pass = encoder.begin_render_pass("
    attachment = "{'view': target.create_view(), 'load_op': 'clear', 'store_op': 'store'}"
    yield f"    color_attachments=[{attachment} for target in targets],"
    if has_depth:
        yield "    depth_stencil_attachment={"
        texture = f"device.create_texture(size=(256, 256, 1), format='depth32float', {usage})"
        yield f"        'view': {texture}.create_view(),"
        yield "        'depth_load_op': 'clear',"
        yield "        'depth_store_op': 'store',"
        yield "        'depth_clear_value': 1.0,"
        yield "    },"
    yield ")"
    yield "render_pass.set_pipeline(pipeline)"
    if has_groups:
        yield "groups.set(render_pass)"
    if class_name:
        yield "render_pass.set_vertex_buffer(0, vertices.buffer)"
    yield "render_pass.draw(3)"
    yield "render_pass.end()"
    yield "device.queue.submit([encoder.finish()])"
