"""Makes the bind groups of a Program from resources by name, and sets them in a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import wgpu

from ..errors import BindingError, closest
from ..layout import whole_number
from . import backend, texture_resources
from .buffer_resources import BufferBinder, argument

if TYPE_CHECKING:
    from ..wgsl import Module, Variable

_BUFFERS = ("uniform", "storage", "read-only-storage")


class LayoutEntry(NamedTuple):
    """A variable, and its entry in the layout of its group, as wgpu takes it."""

    variable: Variable
    descriptor: Mapping[str, Any]

    @property
    def is_dynamic(self) -> bool:
        """Whether the variable's offset is given with ``set_bind_group``."""
        return bool(self.descriptor.get("buffer", {}).get("has_dynamic_offset"))


class Group(NamedTuple):
    """One group of a program: its wgpu layout, and its entries in the order of their bindings."""

    number: int
    layout: Any
    entries: tuple[LayoutEntry, ...]

    @property
    def names(self) -> list[str]:
        """The names of its variables, in the order of their bindings."""
        return [entry.variable.name for entry in self.entries]


class Binder:
    """Makes the bind groups of one text."""

    def __init__(self, device: Any, module: Module, groups: Iterable[Group]) -> None:
        self.device = device
        self.groups = tuple(groups)
        self._bindings = module.bindings
        self._buffers = BufferBinder(device, module)

    def bind(
        self, given: Mapping[str, Any], groups: Iterable[Group], reused: Mapping[int, Any], where: str
    ) -> tuple[dict[int, Any], dict[str, Any]]:
        """The wgpu bind group of each of `groups`, and the resource of each name. Groups in `reused` are not made again.

        BindingError for a resource that does not fit; all checks come before the first call to wgpu.
        """
        chosen = list(groups)
        entries = [entry for group in chosen for entry in group.entries]
        self._check_names(given, [entry.variable.name for entry in entries], where)
        found = {entry.variable.name: self._resource(entry, given[entry.variable.name]) for entry in entries}
        _check_writes(entries, found, where)
        made = {group.number: reused.get(group.number) or self._create(group, found) for group in chosen}
        return made, found

    def declares(self, name: str) -> bool:
        """Whether the shader has a binding of this name."""
        return name in self._bindings

    def _check_names(self, given: Mapping[str, Any], wanted: list[str], where: str) -> None:
        for name in given:
            # Variables that no entry point uses are allowed: while a shader is edited, uses come and go.
            if name not in wanted and name not in self._bindings:
                known = ", ".join(wanted) or "none"
                way_out = closest(str(name), wanted, "leave it out")
                raise BindingError.of("bind-unknown", unknown=name, known=known, where=where, way_out=way_out)
        missing = [name for name in wanted if name not in given]
        if missing:
            came = ", ".join(map(str, given)) or "nothing"
            way_out = f"pass {', '.join(f'{name}=...' for name in missing)}"
            raise BindingError.of("bind-missing", missing=", ".join(missing), came=came, where=where, way_out=way_out)

    def _resource(self, entry: LayoutEntry, given: Any) -> Any:
        variable = entry.variable
        if variable.kind in _BUFFERS:
            return self._buffers.resource(variable, given, dynamic=entry.is_dynamic)
        if variable.kind in ("sampler", "comparison-sampler"):
            return texture_resources.sampler(self.device, variable, given)
        filtered = entry.descriptor.get("texture", {}).get("sample_type") == "float"
        return texture_resources.texture(self.device, variable, given, filtered=filtered)

    def _create(self, group: Group, found: Mapping[str, Any]) -> Any:
        entries = [
            {"binding": entry.variable.binding, "resource": found[entry.variable.name]} for entry in group.entries
        ]
        try:
            return self.device.create_bind_group(layout=group.layout, entries=entries)
        except wgpu.GPUError as error:
            raise _refused(error, group) from None


def _refused(error: Exception, group: Group) -> BindingError:
    """The BindingError for what only wgpu can check: wgpu-py has no attributes for a view's dimension or a sampler's filters."""
    current, binding = backend.refused_binding(error)
    entry = next((entry for entry in group.entries if entry.variable.binding == binding), None)
    where, way_out = (
        f"Program.bind(...), group {group.number}",
        "create the resource again: it was destroyed, or is of another kind",
    )
    if entry is not None:
        where, kind = argument(entry.variable.name), entry.variable.kind
        texture = f"pass the texture itself, or texture.create_view(dimension={entry.variable.view_dimension!r})"
        way_out = {
            "sampler": "pass device.create_sampler(), without compare, and without linear filters where the texture is not filterable",
            "comparison-sampler": "pass device.create_sampler(compare='less')",
        }.get(kind, texture if "texture" in kind else way_out)
    return BindingError.of("bind-refused", current=current, where=where, way_out=way_out)  # type: ignore[return-value]


def _check_writes(entries: list[LayoutEntry], found: Mapping[str, Any], where: str) -> None:
    """BindingError if a buffer that one variable writes is also bound to another: wgpu refuses that when the encoder ends."""
    seen: dict[int, list[LayoutEntry]] = {}
    for entry in entries:
        if entry.variable.kind in _BUFFERS:
            seen.setdefault(id(found[entry.variable.name]["buffer"]), []).append(entry)
    for users in seen.values():
        writer = next((entry for entry in users if entry.variable.kind == "storage"), None)
        for other in users if writer is not None and len(users) > 1 else ():
            assert writer is not None
            first, second = writer.variable.name, other.variable.name
            if other is not writer and (other.variable.kind != "storage" or _overlap(found[first], found[second])):
                raise BindingError.of("bind-twice", writer=first, first=first, second=second, where=where)


def _overlap(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return a["offset"] < b["offset"] + b["size"] and b["offset"] < a["offset"] + a["size"]


class BindGroups:
    """The bind groups that `Program.bind` makes. `groups` has the wgpu objects by index; `set` sets them in a pass.

    If `Program.reload` changed the layout of a group, `set` makes that group again, from the same resources.

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
        reused = {group.number: self.groups[group.number] for group in chosen if self._has_group_of(group)}
        self.groups, self._bound = binder.bind(resources, chosen, reused, self._where)
        self._layouts = {group.number: group for group in chosen}
        self._binder = binder
        dynamic = [entry.variable.name for group in chosen for entry in group.entries if entry.is_dynamic]
        self._dynamic = dict.fromkeys(dynamic)

    def _has_group_of(self, group: Group) -> bool:
        old = self._layouts.get(group.number)
        return old is not None and old.layout is group.layout and old.names == group.names

    def _update(self) -> None:
        """Adapt to the program's current text."""
        binder = self._current()
        if binder is not self._binder:
            self._make(binder, {name: given for name, given in self._resources.items() if binder.declares(name)})

    def set(self, encoder: Any, /, **offsets: int) -> None:
        """Set the groups in a compute pass, a render pass or a render bundle encoder.

        `offsets` has the byte offset of each buffer with dynamic offsets, by the shader's name. Take them from
        `RecordBuffer.offsets`. Raises BindingError for an offset that is missing, unknown, not aligned, or too large.

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
        self._update()
        if offsets or self._dynamic:
            self._check_offsets(offsets)
        for index, group in self.groups.items():
            entries = self._layouts[index].entries if self._dynamic else ()
            encoder.set_bind_group(
                index, group, [offsets[entry.variable.name] for entry in entries if entry.is_dynamic]
            )

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
            for entry in group.entries:
                if entry.is_dynamic:
                    self._check_offset(entry, offsets[entry.variable.name])

    def _check_offset(self, entry: LayoutEntry, offset: Any) -> None:
        kind = "uniform" if entry.variable.kind == "uniform" else "storage"
        multiple = self._binder.device.limits[f"min-{kind}-buffer-offset-alignment"]
        bound = self._bound[entry.variable.name]
        most = bound["buffer"].size - bound["offset"] - bound["size"]
        number = whole_number(offset, 0, most)
        if number is None or number % multiple:
            where = f"groups.set(..., {entry.variable.name}=...)"
            raise BindingError.of("offsets-value", multiple=multiple, most=most, current=offset, where=where)
