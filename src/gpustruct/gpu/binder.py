"""Makes the bind groups of a text from resources by name, after checking each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import BindingError, closest
from . import backend
from .buffer_resources import BufferSlot, argument
from .texture_resources import SamplerSlot, TextureSlot

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


Slot = BufferSlot | TextureSlot | SamplerSlot


class Selection(NamedTuple):
    """All groups of a program or one of them, and a slot for each of their variables, by name."""

    groups: tuple[Group, ...]
    slots: Mapping[str, Slot]
    # The slots of each group, with the numbers of their bindings.
    numbered: Mapping[int, tuple[tuple[int, str, Slot], ...]]
    dynamic: tuple[str, ...]
    # The names of buffers, and whether the binding of a RecordBuffer depends on how many records are in use.
    buffers: tuple[tuple[str, bool], ...]
    writes: bool


NO_GROUPS = Selection((), {}, {}, (), (), False)


class Binder:
    """Makes the bind groups of one text."""

    def __init__(self, device: Any, module: Module, groups: Iterable[Group]) -> None:
        self.device = device
        self.groups = tuple(groups)
        self._module = module
        self._slots = {entry.variable.name: self._slot(entry) for group in self.groups for entry in group.entries}
        self._selections = {number: self._select(number) for number in (None, *range(len(self.groups)))}

    def _slot(self, entry: LayoutEntry) -> Slot:
        variable = entry.variable
        if variable.kind in _BUFFERS:
            return BufferSlot(self.device, self._module, variable, is_dynamic=entry.is_dynamic)
        if variable.kind in ("sampler", "comparison-sampler"):
            return SamplerSlot(self.device, variable)
        filtered = entry.descriptor.get("texture", {}).get("sample_type") == "float"
        return TextureSlot(self.device, variable, filtered=filtered)

    def _select(self, number: int | None) -> Selection:
        groups = tuple(group for group in self.groups if number in (None, group.number))
        slots = {name: self._slots[name] for group in groups for name in group.names}
        numbered = {
            group.number: tuple(
                (entry.descriptor["binding"], entry.variable.name, slots[entry.variable.name])
                for entry in group.entries
            )
            for group in groups
        }
        dynamic = tuple(name for name, slot in slots.items() if slot.is_dynamic)
        buffers = tuple((name, slot.follows_count) for name, slot in slots.items() if isinstance(slot, BufferSlot))
        return Selection(groups, slots, numbered, dynamic, buffers, any(slot.writes for slot in slots.values()))

    def selection(self, number: int | None) -> Selection:
        """The group of this number, or all groups for None. Empty for a group that the text does not have."""
        return self._selections.get(number, NO_GROUPS)

    def bind(
        self, given: Mapping[str, Any], chosen: Selection, reused: Mapping[int, Any], where: str
    ) -> tuple[dict[int, Any], dict[str, Any], dict[str, backend.DestroyHook | None]]:
        """The wgpu bind group of each group in `chosen`; what each name is bound to; the hook of each buffer and texture.

        Groups in `reused` are not made again.
        BindingError for a resource that does not fit; all checks come before the first call to wgpu.
        """
        slots = chosen.slots
        if given.keys() != slots.keys():
            self._check_names(given, list(slots), where)
        found: dict[str, Any] = {}
        hooks: dict[str, backend.DestroyHook | None] = {}
        for name, slot in slots.items():
            found[name], hooks[name] = slot.resource(given[name])
        if chosen.writes and len({*hooks.values()}) < len(hooks):
            _check_writes(slots, found, hooks, where)
        made: dict[int, Any] = {}
        for group in chosen.groups:
            number = group.number
            made[number] = reused[number] if number in reused else self._create(group, chosen.numbered[number], found)
        return made, found, hooks

    def declares(self, name: str) -> bool:
        """Whether the shader has a binding of this name."""
        return name in self._module.bindings

    def _check_names(self, given: Mapping[str, Any], wanted: list[str], where: str) -> None:
        for name in given:
            if not isinstance(name, str):
                raise BindingError.of("bind-name", current=repr(name), known=", ".join(wanted) or "none", where=where)
            # Variables that no entry point uses are allowed: while a shader is edited, uses come and go.
            if name not in wanted and not self.declares(name):
                known = ", ".join(wanted) or "none"
                way_out = closest(name, wanted, "leave it out")
                raise BindingError.of("bind-unknown", unknown=name, known=known, where=where, way_out=way_out)
        missing = [name for name in wanted if name not in given]
        if missing:
            came = ", ".join(given) or "nothing"
            way_out = f"pass {', '.join(f'{name}=...' for name in missing)}"
            raise BindingError.of("bind-missing", missing=", ".join(missing), came=came, where=where, way_out=way_out)

    def _create(self, group: Group, numbered: Iterable[tuple[int, str, Slot]], found: Mapping[str, Any]) -> Any:
        entries = [
            {
                "binding": binding,
                "resource": slot.for_wgpu(found[name]) if isinstance(slot, TextureSlot) else found[name],
            }
            for binding, name, slot in numbered
        ]
        try:
            return self.device.create_bind_group(layout=group.layout, entries=entries)
        except backend.gpu_errors() as error:
            raise _refused(error, group) from None


def _refused(error: Exception, group: Group) -> BindingError:
    """The BindingError for what only wgpu can check: wgpu-py has no attributes for a view's dimension or a sampler's filters."""
    current, binding = backend.refused_binding(error)
    entry = next((entry for entry in group.entries if entry.variable.binding == binding), None)
    where, way_out = f"Program.bind(...), group {group.number}", "create the resource again"
    if entry is not None:
        where, kind = argument(entry.variable.name), entry.variable.kind
        texture = f"pass the texture itself, or texture.create_view(dimension={entry.variable.view_dimension!r})"
        way_out = {
            "sampler": "pass device.create_sampler(), without compare, and without linear filters where the texture is not filterable",
            "comparison-sampler": "pass device.create_sampler(compare='less')",
        }.get(kind, texture if "texture" in kind else way_out)
    return BindingError.of("bind-refused", current=current, where=where, way_out=way_out)  # type: ignore[return-value]


def _check_writes(slots: Mapping[str, Slot], found: Mapping[str, Any], hooks: Mapping[str, Any], where: str) -> None:
    """BindingError if what one variable writes is also bound to another: wgpu refuses that when the encoder ends."""
    # A hook belongs to one buffer or texture.
    users: dict[Any, list[str]] = {}
    for name, hook in hooks.items():
        users.setdefault(hook, []).append(name)
    for names in users.values():
        writer = next((name for name in names if slots[name].writes), None)
        for other in names if writer is not None else ():
            assert writer is not None
            if other != writer and (not slots[other].writes or _overlap(found[writer], found[other])):
                what = "buffer" if slots[writer].variable.kind in _BUFFERS else "texture"
                facts = {"writer": writer, "first": writer, "second": other}
                raise BindingError.of("bind-twice", what=what, where=where, **facts)


def _overlap(a: Any, b: Any) -> bool:
    if not isinstance(a, Mapping):
        return True
    return a["offset"] < b["offset"] + b["size"] and b["offset"] < a["offset"] + a["size"]
