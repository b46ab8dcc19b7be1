"""BindGroups: the bind groups that `Program.bind` makes, set in a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import BindingError, closest
from ..layout import whole_number
from ..wgsl import Variable
from .binder import Binder, Group, Selection
from .bindings import BindableRecords


class BindGroups:
    """The bind groups that `Program.bind` makes. `groups` has the wgpu objects by index; `set` sets them in a pass.

    Before it sets them, `set` makes a group again if `Program.reload` changed its layout, if a RecordBuffer in it was
    resized, or if the records in use changed and the shader's array has no fixed length: ``arrayLength`` is exact at every
    `set`. Pass `RecordBuffer.binding`'s result for a binding that never changes.

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

    __slots__ = (
        "__weakref__",
        "_binder",
        "_bound",
        "_chosen",
        "_current",
        "_hooks",
        "_index",
        "_records",
        "_resources",
        "_where",
        "groups",
    )

    def __init__(
        self,
        current: Callable[[], Binder],
        resources: dict[str, Any],
        index: int | None,
        where: str,
    ) -> None:
        self._current, self._resources = current, resources
        self._index, self._where = index, where
        binder = current()
        self._make(binder, binder.selection(index), resources, {})

    def _make(self, binder: Binder, chosen: Selection, resources: Mapping[str, Any], reused: Mapping[int, Any]) -> None:
        self.groups: dict[int, Any]
        self.groups, bound, self._hooks = binder.bind(resources, chosen, reused, self._where)
        self._binder, self._chosen, self._bound = binder, chosen, bound
        self._records = [
            (name, records, bound[name]["buffer"], records.count if follows_count else None)
            for name, follows_count in chosen.buffers
            if isinstance(records := resources[name], BindableRecords)
        ]

    def _can_reuse(self, group: Group, changed: Iterable[str]) -> bool:
        old = next((old for old in self._chosen.groups if old.number == group.number), None)
        is_same = old is not None and old.layout is group.layout and old.names == group.names
        return is_same and not any(name in changed for name in group.names)

    def _update(self) -> None:
        """Adapt to the program's current text, and to resized buffers. BindingError for a destroyed buffer or texture."""
        binder = self._current()
        changed = [
            name
            for name, records, buffer, count in self._records
            if records.buffer is not buffer or (count is not None and records.count != count)
        ]
        if changed or binder is not self._binder:
            chosen = binder.selection(self._index)
            reused = {
                group.number: self.groups[group.number] for group in chosen.groups if self._can_reuse(group, changed)
            }
            declared = {name: given for name, given in self._resources.items() if binder.declares(name)}
            self._make(binder, chosen, declared, reused)
        for name, hook in self._hooks.items():
            if hook is not None and hook.destroyed:
                raise BindingError.of("bind-destroyed", name=name, where="groups.set(...)")

    def set(self, encoder: Any, /, **offsets: int) -> None:
        """Set the groups in a compute pass, a render pass or a render bundle encoder.

        `offsets` has the byte offset of each buffer with dynamic offsets, by the shader's name. Take them from
        `RecordBuffer.offsets`. Raises BindingError for an offset that is missing, unknown, not aligned, or too large; for a
        buffer or a texture that was destroyed; and what `Program.bind` raises, if a group must be made again.

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
        set_bind_group = getattr(encoder, "set_bind_group", None)
        if set_bind_group is None:
            raise BindingError.of("pass-type", current=type(encoder).__name__)
        self._update()
        if offsets or self._chosen.dynamic:
            self._check_offsets(offsets)
        for index, group in self.groups.items():
            numbered = self._chosen.numbered[index] if offsets else ()
            set_bind_group(index, group, [offsets[name] for _, name, slot in numbered if slot.is_dynamic])

    def _check_offsets(self, offsets: Mapping[str, Any]) -> None:
        where, names = "groups.set(...)", self._chosen.dynamic
        for name in offsets:
            if name not in names:
                known = ", ".join(names) or "none"
                way_out = closest(name, names, f"leave it out, or make the Program with dynamic_offsets=[{name!r}]")
                raise BindingError.of("offsets-unknown", unknown=name, known=known, where=where, way_out=way_out)
        missing = [name for name in names if name not in offsets]
        if missing:
            way_out = ", ".join(f"{name}=0" for name in missing)
            raise BindingError.of("offsets-missing", missing=", ".join(missing), where=where, way_out=way_out)
        for name in names:
            self._check_offset(self._chosen.slots[name].variable, offsets[name])

    def _check_offset(self, variable: Variable, offset: Any) -> None:
        kind = "uniform" if variable.kind == "uniform" else "storage"
        multiple = self._binder.device.limits[f"min-{kind}-buffer-offset-alignment"]
        bound = self._bound[variable.name]
        most = bound["buffer"].size - bound["offset"] - bound["size"]
        number = whole_number(offset, 0, most)
        if number is None or number % multiple:
            where = f"groups.set(..., {variable.name}=...)"
            raise BindingError.of("offsets-value", multiple=multiple, most=most, current=offset, where=where)
