"""gpustruct inspect --python: a shader's structs as Python classes, and a Program to start from."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import BindingError
from . import draw_sketch
from .printing import printable

if TYPE_CHECKING:
    from ..wgsl import EntryPoint, Module, Variable

_IMPORTS = "import pathlib\n\nimport wgpu\n\nfrom gpustruct import gpu{}\n"
# A struct of such a name would hide what the sketch uses.
_USED = frozenset(
    "pathlib wgpu gpu vertex device program resources groups encoder compute_pass render_pass vertices pipeline "
    "targets target".split()
)
_BUFFERS = ("uniform", "storage", "read-only-storage")
_FORMATS = {"sint": "rgba8sint", "uint": "rgba8uint", "depth": "depth32float"}
_SIZES = {"1d": "(256, 1, 1)", "3d": "(32, 32, 32)", "2d-array": "(256, 256, 2)", "cube": "(256, 256, 6)"}


def sketch(module: Module, name: str) -> str:
    """The text of a Python script that binds everything the shader in file `name` declares.

    >>> from gpustruct import wgsl
    >>> text = "@group(0) @binding(0) var<uniform> time: f32; @compute @workgroup_size(1) fn run() { _ = time; }"
    >>> print(sketch(wgsl.parse(text), "clock.wgsl").splitlines()[-5])
    compute_pass.set_pipeline(program.compute_pipeline('run'))
    """
    from .. import wgsl

    hides = bool(_USED & {cls.__name__ for cls in module.structs.values()})
    classes = wgsl.stubs(module)
    chosen = _entry_points(module)
    drawn = draw_sketch.pair(chosen)
    class_name, class_text = draw_sketch.vertex_class(module, drawn[0]) if drawn else ("", "")
    imports = _IMPORTS.format(", vertex" if class_name else "")
    head = [classes, imports] if hides else [imports, classes]
    if class_name:
        head.append(f"\n{class_text}\n")
    used = {binding for entry in chosen for binding in entry.bindings}
    body = [*_program(module, name, chosen), *_groups(module, used, with_classes=not hides), ""]
    compute = next((entry for entry in chosen if entry.stage == "compute"), None)
    if compute is not None:
        body += [*_compute_pass(compute, has_groups=bool(used)), *([""] if drawn else [])]
    if drawn is not None:
        body += draw_sketch.lines(*drawn, class_name, has_groups=bool(used))
    elif compute is None:
        for entry in chosen:
            body += [f"# For device.create_render_pipeline(layout=program.layout, {entry.stage}=...):"]
            body += [f"program.stage({entry.name!r})"]
    return printable("\n".join([*(part for part in head if part.strip()), "", *body, ""]))


def _program(module: Module, name: str, chosen: list[EntryPoint]) -> Iterator[str]:
    if "f16" in module.enabled:
        yield "adapter = wgpu.gpu.request_adapter_sync()"
        yield "device = adapter.request_device_sync(required_features=['shader-f16'])"
    else:
        yield "device = wgpu.utils.get_default_device()"
    options = ""
    if len(chosen) < len(module.entry_points):
        options = f", entry_points={[entry.name for entry in chosen]!r}"
    used = {override for entry in chosen for override in entry.overrides}
    missing = [key for key in used if not module.overrides[key].has_default]
    if missing:
        yield "# Overrides without a default: give them your values."
        options += f", overrides={dict.fromkeys(sorted(missing), 1)!r}"
    yield f"program = gpu.Program(device, pathlib.Path({name!r}).read_text(encoding='utf-8'){options})"


def _groups(module: Module, used: set[str], *, with_classes: bool) -> Iterator[str]:
    variables = [variable for key, variable in module.bindings.items() if key in used]
    if variables:
        yield "resources = {"
        for variable in variables:
            yield f"    # @group({variable.group}) @binding({variable.binding}): {variable.kind}, {variable.type_name}"
            yield f"    {variable.name!r}: {_resource(module, variable, with_classes=with_classes)},"
        yield "}"
        yield "groups = program.bind(resources)"
    unused = [key for key in module.bindings if key not in used]
    if unused:
        yield f"# No entry point of this program uses {', '.join(unused)}."


def _entry_points(module: Module) -> list[EntryPoint]:
    """All entry points; of those that no one pipeline layout fits, the first."""
    found = list(module.entry_points.values())
    try:
        module.bind_group_layouts()
    except BindingError:
        return found[:1]
    return found


def _resource(module: Module, variable: Variable, *, with_classes: bool) -> str:
    if variable.kind in _BUFFERS:
        layout = variable.type.__layout__
        record, count = layout, 1
        if layout.is_runtime_array:
            record, count = layout.element, 1000
        elif layout.tail is not None:
            count = 1000
        usage = ", usage='UNIFORM'" if variable.kind == "uniform" else ""
        is_class = with_classes and record.name in module.structs and not keyword.iskeyword(record.name)
        type_ = record.name if is_class else f"program.interface.bindings[{variable.name!r}].type"
        return f"gpu.RecordBuffer(device, {type_}, {count}, count={count}{usage})"
    if variable.kind == "sampler":
        return "device.create_sampler()"
    if variable.kind == "comparison-sampler":
        return "device.create_sampler(compare='less')"
    view = variable.view_dimension or "2d"
    size = _SIZES.get(view, "(256, 256, 12)" if view == "cube-array" else "(256, 256, 1)")
    dimension = view if view in ("1d", "3d") else "2d"
    if variable.kind == "storage-texture":
        format_, usage = variable.format, "STORAGE_BINDING"
    else:
        format_ = _FORMATS.get(variable.sample_type or "", "rgba8unorm")
        usage = "TEXTURE_BINDING | COPY_DST"
    options = ""
    if variable.multisampled:
        usage, options = "TEXTURE_BINDING | RENDER_ATTACHMENT", ", sample_count=4"
    elif format_ == "depth32float":
        usage = "TEXTURE_BINDING | RENDER_ATTACHMENT"
    return f"device.create_texture(size={size}, dimension={dimension!r}, format={format_!r}, usage={usage!r}{options})"


def _compute_pass(compute: EntryPoint, *, has_groups: bool) -> Iterator[str]:
    yield "encoder = device.create_command_encoder()"
    yield "compute_pass = encoder.begin_compute_pass()"
    yield f"compute_pass.set_pipeline(program.compute_pipeline({compute.name!r}))"
    if has_groups:
        yield "groups.set(compute_pass)"
    yield "compute_pass.dispatch_workgroups(1)"
    yield "compute_pass.end()"
    yield "device.queue.submit([encoder.finish()])"
