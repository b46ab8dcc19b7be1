"""Program: a shader on a device, with the layouts, pipelines and bind groups that its text declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import wgsl
from ..errors import BindingError, closest
from . import devices
from .backend import gpu_errors
from .bind_groups import BindGroups
from .compiled_text import Compiler, Number


class Program:
    """A shader on a device: parsed, compiled, and with its layouts.

    `text` is WGSL; `entry_points` names the entry points to use, by default all. The layouts have exactly the bindings
    that these use, each visible to the stages that use it: see `gpustruct.wgsl.Module.bind_group_layouts`, which also
    explains `filterable` and `dynamic_offsets`. `overrides` has the values of override constants, by name or @id, for all
    pipelines.

    Everything is a wgpu object, and you can make any part by hand instead. Make render pipelines with wgpu:
    ``device.create_render_pipeline(layout=program.layout, vertex={**program.stage("vs"), "buffers": ...}, ...)``.

    Raises WgslError for a text that gpustruct or the device refuses; BindingError for unknown entry points or names, and
    if two variables share a @group and @binding. WebGPU §9 (shader modules), §8 (resource binding).

    >>> import numpy as np, wgpu
    >>> from gpustruct import Struct, f32, vec3f
    >>> from gpustruct.gpu import Program, RecordBuffer
    >>> class Body(Struct):
    ...     position: vec3f
    ...     mass: f32
    >>> device = wgpu.utils.get_default_device()
    >>> program = Program(device, '''
    ... struct Body { position: vec3f, mass: f32 }
    ... @group(0) @binding(0) var<uniform> wind: vec3f;
    ... @group(0) @binding(1) var<storage, read_write> bodies: array<Body>;
    ... @compute @workgroup_size(64) fn move_all(@builtin(global_invocation_id) id: vec3u) {
    ...   if id.x < arrayLength(&bodies) { bodies[id.x].position += wind; }
    ... }
    ... ''')
    >>> bodies = RecordBuffer(device, Body, data=Body(position=np.zeros((3, 3)), mass=1))
    >>> groups = program.bind(wind=RecordBuffer(device, vec3f, data=[1, 2, 3], usage="UNIFORM"), bodies=bodies)
    >>> encoder = device.create_command_encoder()
    >>> run = encoder.begin_compute_pass()
    >>> run.set_pipeline(program.compute_pipeline("move_all"))
    >>> groups.set(run)
    >>> run.dispatch_workgroups(*bodies.dispatch_size(64))
    >>> run.end()
    >>> device.queue.submit([encoder.finish()])
    >>> bodies.read().position[2]
    array([1., 2., 3.], dtype=float32)
    """

    def __init__(
        self,
        device: Any,
        text: str,
        *,
        entry_points: Sequence[str] = (),
        overrides: Mapping[str | int, Number] | None = None,
        filterable: Mapping[str, bool] | None = None,
        dynamic_offsets: Iterable[str] = (),
        label: str = "",
    ) -> None:
        self._device = devices.device_of(device, "Program")
        self._label = label
        self._pipelines: dict[Any, Any] = {}
        options = {"filterable": dict(filterable or {}), "dynamic_offsets": tuple(dynamic_offsets)}
        names = (entry_points,) if isinstance(entry_points, str) else tuple(entry_points)
        self._compiler = Compiler(self._device, names, options, label)
        self._compiled = self._compiler.compile(text, dict(overrides or {}), None)

    @property
    def device(self) -> Any:
        """The wgpu device."""
        return self._device

    @property
    def text(self) -> str:
        """The WGSL text."""
        return self._compiled.text

    @property
    def interface(self) -> wgsl.Module:
        """The text as `gpustruct.wgsl.parse` reads it."""
        return self._compiled.interface

    @property
    def module(self) -> Any:
        """The wgpu shader module."""
        return self._compiled.module

    @property
    def layout(self) -> Any:
        """The wgpu pipeline layout of the entry points."""
        return self._compiled.layout

    @property
    def bind_group_layouts(self) -> dict[int, Any]:
        """The wgpu bind group layout of each group. A group without bindings, before the last, has an empty one."""
        return {group.number: group.layout for group in self._compiled.binder.groups}

    def __repr__(self) -> str:
        return f"<Program of {', '.join(self._compiled.entry_points) or 'no entry point'}>"

    def stage(self, name: str, *, overrides: Mapping[str | int, Number] | None = None) -> dict[str, Any]:
        """An entry point for a wgpu pipeline: ``{"module": ..., "entry_point": ..., "constants": ...}``.

        `overrides` adds to those of the program. Raises BindingError for an entry point that the program does not have, and
        if an override that it uses has no value; WgslError for a value that does not fit.

        >>> import wgpu
        >>> from gpustruct.gpu import Program
        >>> program = Program(wgpu.utils.get_default_device(), '''
        ... @id(7) override side: u32 = 8;
        ... @compute @workgroup_size(side, side) fn run() {}
        ... ''')
        >>> program.stage("run", overrides={"side": 4})["constants"]
        {'7': 4.0}
        """
        compiled = self._compiled
        if name not in compiled.entry_points:
            known = ", ".join(compiled.entry_points) or "none"
            way_out = closest(str(name), compiled.entry_points, "make the Program of a text with an entry point")
            raise BindingError.of("entry-point", name=name, known=known, way_out=way_out)
        values, interface = compiled.overrides, compiled.interface
        if overrides:
            values = {**values, **overrides}
            interface = self._compiler.parse(compiled.text, values)
        entry = interface.entry_points[name]
        self._check_values(entry, interface)
        constants: dict[str, float] = {}
        for key in _named(values, interface):
            found = interface.overrides[key]
            if found.value is not None:
                constants[key if found.id is None else str(found.id)] = float(found.value)
        return {"module": compiled.module, "entry_point": name, "constants": constants}

    def _check_values(self, entry: wgsl.EntryPoint, interface: wgsl.Module) -> None:
        known = interface.overrides
        missing = [name for name in entry.overrides if known[name].value is None and not known[name].has_default]
        if missing:
            facts = {"missing": ", ".join(missing), "first": missing[0], "where": entry.name}
            raise BindingError.of("overrides-missing", **facts)

    def compute_pipeline(self, name: str = "", *, overrides: Mapping[str | int, Number] | None = None) -> Any:
        """The wgpu compute pipeline of an entry point. It is made once, and again after `reload`.

        You may leave out the name of the only compute shader. Raises what `stage` raises, and BindingError for an entry point
        of another stage, or if the device's limits do not allow it. WebGPU §10.2 (GPUComputePipeline).

        >>> import wgpu
        >>> from gpustruct.gpu import Program
        >>> program = Program(wgpu.utils.get_default_device(), "@compute @workgroup_size(64) fn run() {}")
        >>> program.compute_pipeline("run") is program.compute_pipeline()
        True
        """
        name = name or self._only_compute()
        key = (name, tuple(sorted((str(k), v) for k, v in (overrides or {}).items())))
        if key not in self._pipelines:
            stage = self.stage(name, overrides=overrides)
            self._check_compute(name)
            try:
                self._pipelines[key] = self._device.create_compute_pipeline(
                    label=f"{self._label} {name}".strip(), layout=self.layout, compute=stage
                )
            except gpu_errors() as error:
                current = " ".join(str(error).split())
                raise BindingError.of(
                    "pipeline-refused", current=current, where=f"compute_pipeline({name!r})"
                ) from None
        return self._pipelines[key]

    def _compute(self) -> list[str]:
        return [name for name, entry in self._compiled.entry_points.items() if entry.stage == "compute"]

    def _only_compute(self) -> str:
        names = self._compute()
        if len(names) != 1:
            way_out = f"pass its name: compute_pipeline({names[0]!r})" if names else "use program.stage for others"
            raise BindingError.of("program-name", count=len(names), way_out=way_out, where="compute_pipeline()")
        return names[0]

    def _check_compute(self, name: str) -> None:
        stage = self._compiled.entry_points[name].stage
        if stage != "compute":
            names = self._compute()
            way_out = f"use program.stage({name!r}) in create_render_pipeline"
            if names:
                way_out += f", or compute_pipeline({names[0]!r})"
            where = f"compute_pipeline({name!r})"
            raise BindingError.of("program-stage", name=name, stage=stage, where=where, way_out=way_out)

    def bind(self, resources: Mapping[str, Any] | None = None, /, **named: Any) -> BindGroups:
        """The bind groups of the whole program, from resources by the shader's names.

        Pass them as keywords, or as a mapping. Each variable takes:

        - a buffer: a `RecordBuffer`, whose type must match the shader's; all of a wgpu buffer; or a dictionary of
          ``buffer``, ``offset`` and ``size``, such as `RecordBuffer.binding` returns.
        - a texture: a wgpu texture view, or a texture, of which the view that the shader declares is made.
        - a sampler.

        You may pass resources for variables that no entry point uses; they are ignored. All checks come before the first call
        to wgpu. Raises BindingError for missing and unknown names, a wrong kind, type, device or format, a missing usage flag,
        and for offsets and sizes that do not fit. WebGPU §8.2 (GPUBindGroup).

        >>> import wgpu
        >>> from gpustruct import f32
        >>> from gpustruct.gpu import Program, RecordBuffer
        >>> device = wgpu.utils.get_default_device()
        >>> program = Program(device, '''
        ... @group(0) @binding(0) var<storage, read_write> numbers: array<f32>;
        ... @compute @workgroup_size(64) fn double(@builtin(global_invocation_id) id: vec3u) { numbers[id.x] *= 2; }
        ... ''')
        >>> program.bind(number=RecordBuffer(device, f32, data=[1, 2, 3]))
        Traceback (most recent call last):
        ...
        gpustruct.errors.BindingError: a resource must be named like a binding of the shader (unknown: number; it has numbers) - at Program.bind(...); did you mean 'numbers'?
        """
        where = "Program.bind(...)"
        return BindGroups(lambda: self._compiled.binder, _all_resources(resources, named, where), None, where)

    def bind_group(self, index: int, resources: Mapping[str, Any] | None = None, /, **named: Any) -> BindGroups:
        """`bind` for one group only. Use it if groups change at different times, such as once per frame and once per material.

        >>> import wgpu
        >>> from gpustruct import f32
        >>> from gpustruct.gpu import Program, RecordBuffer
        >>> device = wgpu.utils.get_default_device()
        >>> program = Program(device, '''
        ... @group(0) @binding(0) var<uniform> time: f32;
        ... @group(1) @binding(0) var<storage, read_write> numbers: array<f32>;
        ... @compute @workgroup_size(1) fn run() { numbers[0] = time; }
        ... ''')
        >>> list(program.bind_group(1, numbers=RecordBuffer(device, f32, data=[1, 2, 3])).groups)
        [1]
        """
        most = len(self._compiled.binder.groups) - 1
        if most < 0:
            raise BindingError.of("groups-missing", where=f"Program.bind_group({index!r}, ...)")
        number = devices.check_integer("index", index, 0, most, None, "Program.bind_group")
        where = f"Program.bind_group({number}, ...)"
        return BindGroups(lambda: self._compiled.binder, _all_resources(resources, named, where), number, where)

    def reload(self, text: str, *, overrides: Mapping[str | int, Number] | None = None) -> tuple[int, ...]:
        """Replace the text, for shaders that are edited while they run. Returns the groups whose layout changed.

        The text is parsed and compiled first: if it is refused, the program does not change. A layout that does not change stays
        the same object. Bind groups from `bind` adapt to the new text the next time they are set, with the same resources; a
        group whose layout did not change keeps its wgpu object. Call `compute_pipeline` for each use, and make render pipelines
        again. `overrides` replaces those of the program; by default the values of all that the new text declares are kept.

        Raises what `Program` raises.

        >>> import wgpu
        >>> from gpustruct.gpu import Program
        >>> text = "@group(0) @binding(0) var<uniform> time: f32; @compute @workgroup_size(1) fn run() { _ = time; }"
        >>> program = Program(wgpu.utils.get_default_device(), text)
        >>> program.reload(text.replace("_ = time", "let now = 2 * time"))
        ()
        >>> program.reload(text.replace("f32", "vec4f"))
        (0,)
        """
        before = self._compiled
        values = dict(before.overrides if overrides is None else overrides)
        if overrides is None and values:
            declared = self._compiler.parse(text, {}).overrides
            ids = {str(override.id) for override in declared.values()}
            values = {key: value for key, value in values.items() if key in declared or str(key) in ids}
        compiled = self._compiled = self._compiler.compile(text, values, before)
        self._pipelines.clear()
        layouts = {group.number: group.layout for group in before.binder.groups}
        return tuple(group.number for group in compiled.binder.groups if layouts.get(group.number) is not group.layout)


def _all_resources(resources: Any, named: dict[str, Any], where: str) -> dict[Any, Any]:
    if resources is None:
        return named
    if not isinstance(resources, Mapping):
        raise BindingError.of("bind-mapping", current=type(resources).__name__, where=where)
    given: dict[Any, Any] = {**resources}
    for name in named:
        if name in given:
            raise BindingError.of("bind-both", name=name, where=where)
    return given | named


def _named(values: Mapping[str | int, Number], interface: wgsl.Module) -> list[str]:
    """The names of the overrides that `values` names, by name or by @id."""
    keys = {str(key) for key in values}
    return [name for name, found in interface.overrides.items() if name in keys or str(found.id) in keys]
