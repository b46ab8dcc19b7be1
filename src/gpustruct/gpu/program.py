"""Program: a shader's text with its pipelines, layouts and bind groups, all made from what the text says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import wgpu

from .. import wgsl
from ..errors import BindingError, WgslError, closest
from ..wgsl import bind_groups as layouts_of
from . import devices
from .bind_groups import Binder, BindGroups, Group, Slot

Number = int | float | bool


class _Made(NamedTuple):
    """Everything that follows from one text."""

    text: str
    interface: wgsl.Module
    entry_points: dict[str, wgsl.EntryPoint]
    overrides: dict[str | int, Number]
    module: Any
    entries: dict[int, list[dict[str, Any]]]
    layout: Any
    binder: Binder


class Program:
    """A shader on a device: parsed, compiled, and its layouts made once.

    `text` is the WGSL; `entry_points` names those to use, by default all. What one of them uses is in the layouts,
    visible to the stages that use it, and nothing else: see `gpustruct.wgsl.Module.bind_group_layouts`, which also
    explains `filterable` and `dynamic_offsets`. `overrides` has values of override constants, by name or @id, for
    all pipelines.

    Everything that it makes is a wgpu object; any part can be made by hand instead. A render pipeline is wgpu's own
    call: ``device.create_render_pipeline(layout=program.layout, vertex={**program.stage("vs"), "buffers": ...}, ...)``.

    Raises WgslError for a text that is refused, by gpustruct or by the device; BindingError for unknown entry points or
    names, and where two variables share a @group and @binding. WebGPU §9 (shader modules), §8 (resource binding).

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
        self._names = (entry_points,) if isinstance(entry_points, str) else tuple(entry_points)
        self._filterable = dict(filterable or {})
        self._dynamic_offsets, self._label = tuple(dynamic_offsets), label
        self._pipelines: dict[Any, Any] = {}
        self._made = self._make(text, dict(overrides or {}), None)

    # What it has.

    @property
    def device(self) -> Any:
        """The wgpu device."""
        return self._device

    @property
    def text(self) -> str:
        """The WGSL text."""
        return self._made.text

    @property
    def interface(self) -> wgsl.Module:
        """What `gpustruct.wgsl.parse` says of the text."""
        return self._made.interface

    @property
    def module(self) -> Any:
        """The wgpu shader module."""
        return self._made.module

    @property
    def layout(self) -> Any:
        """The wgpu pipeline layout of the entry points."""
        return self._made.layout

    @property
    def bind_group_layouts(self) -> dict[int, Any]:
        """The wgpu bind group layout of each group; a group that the text leaves out has an empty one."""
        return {group.number: group.layout for group in self._made.binder.groups}

    def __repr__(self) -> str:
        return f"<Program of {', '.join(self._made.entry_points) or 'no entry point'}>"

    # Making it.

    def _make(self, text: str, overrides: dict[str | int, Number], before: _Made | None) -> _Made:
        # wgpu-native reads WGSL with naga.
        interface = wgsl.parse(text, overrides=overrides or None, target="naga")
        chosen = layouts_of.chosen(self._names, interface.entry_points)
        options: dict[str, Any] = {"filterable": self._filterable, "dynamic_offsets": self._dynamic_offsets}
        names = [entry.name for entry in chosen]
        entries = interface.bind_group_layouts(*names, **options) if names else {}
        groups = self._groups(interface, chosen, entries, before)
        return _Made(
            text,
            interface,
            {entry.name: entry for entry in chosen},
            overrides,
            self._compiled(text),
            entries,
            self._layout(groups, before),
            Binder(self._device, interface, groups),
        )

    def _compiled(self, text: str) -> Any:
        try:
            return self._device.create_shader_module(label=self._label, code=text)
        except wgpu.GPUError as error:
            message = str(error).strip()
            lines = [line.strip() for line in message.splitlines() if line.strip()]
            facts = {"current": lines[-1] if lines else type(error).__name__, "message": message}
            raise WgslError.of("device-refused", where="Program(...)", **facts) from None

    def _groups(
        self,
        interface: wgsl.Module,
        chosen: list[wgsl.EntryPoint],
        entries: Mapping[int, list[dict[str, Any]]],
        before: _Made | None,
    ) -> list[Group]:
        variables = layouts_of.used(chosen, interface.bindings)
        kept = {} if before is None else {group.number: group.layout for group in before.binder.groups}
        found: list[Group] = []
        for index in range(max(entries, default=-1) + 1):
            wanted = entries.get(index, [])
            is_kept = before is not None and index in kept and before.entries.get(index, []) == wanted
            layout = kept[index] if is_kept else self._bind_group_layout(wanted, index)
            slots = tuple(Slot(variables[index, entry["binding"]], entry) for entry in wanted)
            found.append(Group(index, layout, slots))
        return found

    def _bind_group_layout(self, entries: list[dict[str, Any]], index: int) -> Any:
        try:
            return self._device.create_bind_group_layout(label=f"{self._label} {index}".strip(), entries=entries)
        except (wgpu.GPUError, ValueError) as error:
            current = " ".join(str(error).split())
            raise BindingError.of("layout-refused", current=current, where=f"Program(...), group {index}") from None

    def _layout(self, groups: list[Group], before: _Made | None) -> Any:
        wanted = [group.layout for group in groups]
        if before is not None and wanted == [group.layout for group in before.binder.groups]:
            return before.layout
        try:
            return self._device.create_pipeline_layout(label=self._label, bind_group_layouts=wanted)
        except wgpu.GPUError as error:
            current = " ".join(str(error).split())
            raise BindingError.of("layout-refused", current=current, where="Program(...)") from None

    # Using it.

    def stage(self, name: str, *, overrides: Mapping[str | int, Number] | None = None) -> dict[str, Any]:
        """An entry point as wgpu's pipelines take it: ``{"module": ..., "entry_point": ..., "constants": ...}``.

        `overrides` adds to those of the program. Raises BindingError for an entry point that the program has not, and
        where an override that it uses has no value; WgslError for a value that does not fit.

        >>> import wgpu
        >>> from gpustruct.gpu import Program
        >>> program = Program(wgpu.utils.get_default_device(), '''
        ... @id(7) override side: u32 = 8;
        ... @compute @workgroup_size(side, side) fn run() {}
        ... ''')
        >>> program.stage("run", overrides={"side": 4})["constants"]
        {'7': 4.0}
        """
        made = self._made
        if name not in made.entry_points:
            known = ", ".join(made.entry_points) or "none"
            way_out = closest(str(name), made.entry_points, "make the Program of a text with an entry point")
            raise BindingError.of("entry-point", name=name, known=known, way_out=way_out)
        values, interface = made.overrides, made.interface
        if overrides:
            values = {**values, **overrides}
            interface = wgsl.parse(made.text, overrides=values, target="naga")
        entry = interface.entry_points[name]
        self._check_values(entry, interface)
        constants: dict[str, float] = {}
        for key in _named(values, interface):
            found = interface.overrides[key]
            if found.value is not None:
                constants[key if found.id is None else str(found.id)] = float(found.value)
        return {"module": made.module, "entry_point": name, "constants": constants}

    def _check_values(self, entry: wgsl.EntryPoint, interface: wgsl.Module) -> None:
        known = interface.overrides
        missing = [name for name in entry.overrides if known[name].value is None and not known[name].has_default]
        if missing:
            facts = {"missing": ", ".join(missing), "first": missing[0], "where": entry.name}
            raise BindingError.of("overrides-missing", **facts)

    def compute_pipeline(self, name: str = "", *, overrides: Mapping[str | int, Number] | None = None) -> Any:
        """The wgpu compute pipeline of an entry point: made once, and again after `reload`.

        Without a name, that of the only compute shader. Raises what `stage` raises, and BindingError for an entry point
        of another stage, or where the device's limits do not allow it. WebGPU §10.2 (GPUComputePipeline).

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
            except wgpu.GPUError as error:
                current = " ".join(str(error).split())
                raise BindingError.of(
                    "pipeline-refused", current=current, where=f"compute_pipeline({name!r})"
                ) from None
        return self._pipelines[key]

    def _compute(self) -> list[str]:
        return [name for name, entry in self._made.entry_points.items() if entry.stage == "compute"]

    def _only_compute(self) -> str:
        names = self._compute()
        if len(names) != 1:
            way_out = f"pass its name: compute_pipeline({names[0]!r})" if names else "use program.stage for others"
            raise BindingError.of("program-name", count=len(names), way_out=way_out, where="compute_pipeline()")
        return names[0]

    def _check_compute(self, name: str) -> None:
        stage = self._made.entry_points[name].stage
        if stage != "compute":
            names = self._compute()
            way_out = f"use program.stage({name!r}) in create_render_pipeline"
            if names:
                way_out += f", or compute_pipeline({names[0]!r})"
            where = f"compute_pipeline({name!r})"
            raise BindingError.of("program-stage", name=name, stage=stage, where=where, way_out=way_out)

    def bind(self, resources: Mapping[str, Any] | None = None, /, **named: Any) -> BindGroups:
        """The bind groups of the whole program, by the shader's names; `resources` may be a mapping of them.

        - a buffer: a `RecordBuffer`, whose type is compared with the shader's; a wgpu buffer, all of it; or a dictionary
          of ``buffer``, ``offset`` and ``size``, such as `RecordBuffer.binding` returns.
        - a texture: a wgpu texture view, or a texture for the view that the shader declares.
        - a sampler.

        What the text declares and no entry point uses may be given, and is left out. Everything is checked before wgpu sees
        it. Raises BindingError for missing and unknown names, another kind, layout, device or format, a missing usage flag,
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
        return BindGroups(lambda: self._made.binder, {**(resources or {}), **named}, None, "Program.bind(...)")

    def bind_group(self, index: int, resources: Mapping[str, Any] | None = None, /, **named: Any) -> BindGroups:
        """`bind` for one group, where groups change at different times: one a frame, one a material.

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
        most = len(self._made.binder.groups) - 1
        if most < 0:
            raise BindingError.of("groups-missing", where=f"Program.bind_group({index!r}, ...)")
        number = devices.whole("index", index, 0, most, None, "Program.bind_group")
        where = f"Program.bind_group({number}, ...)"
        return BindGroups(lambda: self._made.binder, {**(resources or {}), **named}, number, where)

    def reload(self, text: str, *, overrides: Mapping[str | int, Number] | None = None) -> tuple[int, ...]:
        """Take another text, for shaders that are edited while they run; returns the groups whose layout changed.

        The text is parsed and compiled first: if it is refused, the program stays as it is. Layouts that are the same stay
        the same objects, and so do bind groups: those of `bind` fit themselves to the new text when they are set next,
        with the resources that they have. Ask `compute_pipeline` for the pipeline each time, and make render pipelines
        again. `overrides` replaces those of the program; without it they stay, as far as the text still declares them.

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
        before = self._made
        values = dict(before.overrides if overrides is None else overrides)
        if overrides is None and values:
            declared = wgsl.parse(text, target="naga").overrides
            ids = {str(override.id) for override in declared.values()}
            values = {key: value for key, value in values.items() if key in declared or str(key) in ids}
        made = self._make(text, values, before)
        self._made = made
        self._pipelines.clear()
        layouts = {group.number: group.layout for group in before.binder.groups}
        return tuple(group.number for group in made.binder.groups if layouts.get(group.number) is not group.layout)


def _named(values: Mapping[str | int, Number], interface: wgsl.Module) -> list[str]:
    """The names of the overrides that `values` has, by name or by @id."""
    keys = {str(key) for key in values}
    return [name for name, found in interface.overrides.items() if name in keys or str(found.id) in keys]
