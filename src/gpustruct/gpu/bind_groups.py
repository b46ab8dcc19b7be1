"""BindGroups: the bind groups that `Program.bind` makes, set in a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import BindingError, closest
from ..layout import whole_number
from .binder import Binder, Group, LayoutEntry
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
        self._make(current(), self._resources, [])

    def _make(self, binder: Binder, resources: Mapping[str, Any], changed: list[str]) -> None:
        chosen = [group for group in binder.groups if self._index in (None, group.number)]
        reused = {group.number: self.groups[group.number] for group in chosen if self._can_reuse(group, changed)}
        self.groups, self._bound = binder.bind(resources, chosen, reused, self._where)
        self._layouts = {group.number: group for group in chosen}
        self._binder = binder
        entries = [entry for group in chosen for entry in group.entries]
        self._dynamic = dict.fromkeys(entry.variable.name for entry in entries if entry.is_dynamic)
        self._records = [
            (entry.variable.name, records, records.buffer, records.count if binder.follows_count(entry) else None)
            for entry in entries
            if isinstance(records := resources[entry.variable.name], BindableRecords)
        ]
        self._watched = {entry.variable.name: binder.watch(self._bound[entry.variable.name]) for entry in entries}

    def _can_reuse(self, group: Group, changed: Iterable[str]) -> bool:
        old = self._layouts.get(group.number)
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
            self._make(binder, {k: given for k, given in self._resources.items() if binder.declares(k)}, changed)
        for name, watch in self._watched.items():
            if watch is not None and watch.destroyed:
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
        if offsets or self._dynamic:
            self._check_offsets(offsets)
        for index, group in self.groups.items():
            entries = self._layouts[index].entries if self._dynamic else ()
            set_bind_group(index, group, [offsets[entry.variable.name] for entry in entries if entry.is_dynamic])

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
