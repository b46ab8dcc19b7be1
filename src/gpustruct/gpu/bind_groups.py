"""The bind groups of a program, made by the shader's names and set by group."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import wgpu

from ..errors import BindingError, closest
from . import bound_textures
from .bound_buffers import BufferBinder, place

if TYPE_CHECKING:
    from ..wgsl import Module, Variable

_BUFFERS = ("uniform", "storage", "read-only-storage")


class Slot(NamedTuple):
    """One entry of a group's layout, and the variable that it is for."""

    variable: Variable
    entry: Mapping[str, Any]

    @property
    def is_dynamic(self) -> bool:
        """Whether its offset comes with ``set_bind_group``."""
        return bool(self.entry.get("buffer", {}).get("has_dynamic_offset"))


class Group(NamedTuple):
    """One group of a program: its wgpu layout, and its slots in the order of their bindings."""

    number: int
    layout: Any
    slots: tuple[Slot, ...]

    @property
    def names(self) -> list[str]:
        """The names of its variables, in the order of their bindings."""
        return [slot.variable.name for slot in self.slots]


class Binder:
    """Makes the bind groups of one program."""

    def __init__(self, device: Any, module: Module, groups: Iterable[Group]) -> None:
        self.device = device
        self.groups = tuple(groups)
        self._bindings = module.bindings
        self._buffers = BufferBinder(device, module)

    def bind(
        self, given: Mapping[str, Any], groups: Iterable[Group], kept: Mapping[int, Any], where: str
    ) -> tuple[dict[int, Any], dict[str, Any]]:
        """The wgpu bind group of each of `groups`, those in `kept` as they are; and what each name was bound to.

        BindingError for what does not fit, before wgpu sees any of it.
        """
        chosen = list(groups)
        slots = [slot for group in chosen for slot in group.slots]
        self._check_names(given, [slot.variable.name for slot in slots], where)
        found = {slot.variable.name: self._resource(slot, given[slot.variable.name]) for slot in slots}
        _check_writes(slots, found, where)
        made = {group.number: kept.get(group.number) or self._made(group, found) for group in chosen}
        return made, found

    def knows(self, name: str) -> bool:
        """Whether the shader has a binding of this name."""
        return name in self._bindings

    def _check_names(self, given: Mapping[str, Any], wanted: list[str], where: str) -> None:
        for name in given:
            # What the entry points do not use may be given: while a shader is edited, uses come and go.
            if name not in wanted and name not in self._bindings:
                known = ", ".join(wanted) or "none"
                way_out = closest(str(name), wanted, "leave it out")
                raise BindingError.of("bind-unknown", unknown=name, known=known, where=where, way_out=way_out)
        missing = [name for name in wanted if name not in given]
        if missing:
            came = ", ".join(map(str, given)) or "nothing"
            way_out = f"pass {', '.join(f'{name}=...' for name in missing)}"
            raise BindingError.of("bind-missing", missing=", ".join(missing), came=came, where=where, way_out=way_out)

    def _resource(self, slot: Slot, given: Any) -> Any:
        variable = slot.variable
        if variable.kind in _BUFFERS:
            return self._buffers.resource(variable, given, dynamic=slot.is_dynamic)
        if variable.kind in ("sampler", "comparison-sampler"):
            return bound_textures.sampler(self.device, variable, given)
        filtered = slot.entry.get("texture", {}).get("sample_type") == "float"
        return bound_textures.texture(self.device, variable, given, filtered=filtered)

    def _made(self, group: Group, found: Mapping[str, Any]) -> Any:
        entries = [{"binding": slot.variable.binding, "resource": found[slot.variable.name]} for slot in group.slots]
        try:
            return self.device.create_bind_group(layout=group.layout, entries=entries)
        except wgpu.GPUError as error:
            raise _refused(error, group) from None


def _refused(error: Exception, group: Group) -> BindingError:
    """wgpu's word on what wgpu-py does not tell of a view or a sampler: its dimension, its filters."""
    text = " ".join(str(error).split())
    current = text.rpartition("wgpuDeviceCreateBindGroup ")[2]
    slot = next((slot for slot in group.slots if f"inding {slot.variable.binding} " in f"{current} "), None)
    where, way_out = (
        f"Program.bind(...), group {group.number}",
        "create the resource again: it was destroyed, or is of another kind",
    )
    if slot is not None:
        where, kind = place(slot.variable.name), slot.variable.kind
        texture = f"pass the texture itself, or texture.create_view(dimension={slot.variable.view_dimension!r})"
        way_out = {
            "sampler": "pass device.create_sampler(), without compare, and without linear filters where the texture is not filterable",
            "comparison-sampler": "pass device.create_sampler(compare='less')",
        }.get(kind, texture if "texture" in kind else way_out)
    return BindingError.of("bind-refused", current=current, where=where, way_out=way_out)  # type: ignore[return-value]


def _check_writes(slots: list[Slot], found: Mapping[str, Any], where: str) -> None:
    """BindingError where a buffer that one variable writes is also bound to another, which wgpu refuses at the end of a
    command encoder."""
    seen: dict[int, list[Slot]] = {}
    for slot in slots:
        if slot.variable.kind in _BUFFERS:
            seen.setdefault(id(found[slot.variable.name]["buffer"]), []).append(slot)
    for twins in seen.values():
        writer = next((slot for slot in twins if slot.variable.kind == "storage"), None)
        for twin in twins if writer is not None and len(twins) > 1 else ():
            assert writer is not None
            first, second = writer.variable.name, twin.variable.name
            if twin is not writer and (twin.variable.kind != "storage" or _overlap(found[first], found[second])):
                raise BindingError.of("bind-twice", writer=first, first=first, second=second, where=where)


def _overlap(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return a["offset"] < b["offset"] + b["size"] and b["offset"] < a["offset"] + a["size"]


class BindGroups:
    """The bind groups that `Program.bind` made: `groups` has the wgpu objects by index, `set` sets them in a pass.

    After `Program.reload` it is made again, of the same resources, where the layout of a group changed.

    >>> import wgpu
    >>> from gpustruct import f32
    >>> from gpustruct.gpu import Program, RecordBuffer
    >>> device = wgpu.utils.get_default_device()
    >>> program = Program(device, '''
    ... @group(0) @binding(0) var<storage, read_write> numbers: array<f32>;
    ... @compute @workgroup_size(64) fn double(@builtin(global_invocation_id) id: vec3u) { numbers[id.x] *= 2; }
    ... ''')
    >>> groups = program.bind(numbers=RecordBuffer(device, f32, data=[1, 2, 3]))
    >>> list(groups.groups)
    [0]
    """

    def __init__(
        self,
        current: Callable[[], Binder],
        resources: Mapping[str, Any],
        index: int | None,
        where: str,
    ) -> None:
        self._current, self._resources = current, dict(resources)
        self._index, self._where = index, where
        self._layouts: dict[int, Group] = {}
        self.groups: dict[int, Any] = {}
        self._make(current(), self._resources)

    def _make(self, binder: Binder, resources: Mapping[str, Any]) -> None:
        chosen = [group for group in binder.groups if self._index in (None, group.number)]
        kept = {group.number: self.groups[group.number] for group in chosen if self._is_made_for(group)}
        self.groups, self._bound = binder.bind(resources, chosen, kept, self._where)
        self._layouts = {group.number: group for group in chosen}
        self._binder = binder
        dynamic = [slot.variable.name for group in chosen for slot in group.slots if slot.is_dynamic]
        self._dynamic = dict.fromkeys(dynamic)

    def _is_made_for(self, group: Group) -> bool:
        made = self._layouts.get(group.number)
        return made is not None and made.layout is group.layout and made.names == group.names

    def _follow(self) -> None:
        """Fit the program's current text."""
        binder = self._current()
        if binder is not self._binder:
            self._make(binder, {name: given for name, given in self._resources.items() if binder.knows(name)})

    def set(self, encoder: Any, /, **offsets: int) -> None:
        """Set the groups in a compute pass, a render pass or a render bundle encoder.

        `offsets` has the byte offset of each buffer with dynamic offsets, by the shader's name: one of
        `RecordBuffer.offsets`. Raises BindingError where one is missing, unknown, or not aligned.

        >>> import numpy as np, wgpu
        >>> from gpustruct import Struct, f32, vec4f
        >>> from gpustruct.gpu import Program, RecordBuffer
        >>> class Step(Struct):
        ...     by: f32
        >>> device = wgpu.utils.get_default_device()
        >>> program = Program(device, '''
        ... struct Step { by: f32 }
        ... @group(0) @binding(0) var<uniform> step: Step;
        ... @group(0) @binding(1) var<storage, read_write> sum: f32;
        ... @compute @workgroup_size(1) fn add() { sum += step.by; }
        ... ''', dynamic_offsets=["step"])
        >>> steps = RecordBuffer(device, Step, data=Step(by=[1, 2, 4]), usage="UNIFORM", dynamic_offsets=True)
        >>> sum = RecordBuffer(device, f32, 1, count=1)
        >>> groups = program.bind(step=steps, sum=sum)
        >>> encoder = device.create_command_encoder()
        >>> run = encoder.begin_compute_pass()
        >>> run.set_pipeline(program.compute_pipeline("add"))
        >>> for offset in steps.offsets():
        ...     groups.set(run, step=offset)
        ...     run.dispatch_workgroups(1)
        >>> run.end()
        >>> device.queue.submit([encoder.finish()])
        >>> np.asarray(sum.read())
        array([7.], dtype=float32)
        """
        self._follow()
        if offsets or self._dynamic:
            self._check_offsets(offsets)
        for index, group in self.groups.items():
            slots = self._layouts[index].slots if self._dynamic else ()
            encoder.set_bind_group(index, group, [offsets[slot.variable.name] for slot in slots if slot.is_dynamic])

    def _check_offsets(self, offsets: Mapping[str, Any]) -> None:
        where, names = "groups.set(...)", list(self._dynamic)
        for name in offsets:
            if name not in names:
                known = ", ".join(names) or "none"
                way_out = closest(name, names, f"leave it out, or make the Program with dynamic_offsets=[{name!r}]")
                raise BindingError.of("offsets-unknown", unknown=name, known=known, where=where, way_out=way_out)
        missing = [name for name in names if name not in offsets]
        if missing:
            way_out = ", ".join(f"{name}=0" for name in missing)
            raise BindingError.of("offsets-missing", missing=", ".join(missing), where=where, way_out=way_out)
        for group in self._layouts.values():
            for slot in group.slots:
                if slot.is_dynamic:
                    self._check_offset(slot, offsets[slot.variable.name])

    def _check_offset(self, slot: Slot, offset: Any) -> None:
        kind = "uniform" if slot.variable.kind == "uniform" else "storage"
        multiple = self._binder.device.limits[f"min-{kind}-buffer-offset-alignment"]
        bound = self._bound[slot.variable.name]
        most = bound["buffer"].size - bound["offset"] - bound["size"]
        try:
            number = operator.index(offset)
        except TypeError:
            number = -1
        if number % multiple or not 0 <= number <= most:
            where = f"groups.set(..., {slot.variable.name}=...)"
            raise BindingError.of("offsets-value", multiple=multiple, most=most, current=offset, where=where)
