"""Makes the bind groups of a text from resources by name, after checking each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import BindingError, closest
from . import backend
from .buffer_resources import BufferBinder, argument
from .texture_resources import check_sampler, check_texture, view_of

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
        """The wgpu bind group of each of `groups`, and what each name is bound to. Groups in `reused` are not made again.

        BindingError for a resource that does not fit; all checks come before the first call to wgpu.
        """
        chosen = list(groups)
        entries = [entry for group in chosen for entry in group.entries]
        self._check_names(given, [entry.variable.name for entry in entries], where)
        found = {entry.variable.name: self._checked(entry, given[entry.variable.name]) for entry in entries}
        _check_writes(entries, found, where)
        made = {group.number: reused.get(group.number) or self._create(group, found) for group in chosen}
        return made, found

    def follows_count(self, entry: LayoutEntry) -> bool:
        """Whether the binding of a RecordBuffer for this entry depends on how many records are in use."""
        return not entry.is_dynamic and not self._buffers.fixed_size(entry.variable)

    def watch(self, resource: Any) -> Any:
        """An object that records whether a bound buffer or texture is `destroyed` later; None for a sampler."""
        if isinstance(resource, Mapping):
            return backend.watch(resource["buffer"])
        texture = resource.texture if backend.is_a(resource, "GPUTextureView") else resource
        return backend.watch(texture) if backend.is_a(texture, "GPUTexture") else None

    def declares(self, name: str) -> bool:
        """Whether the shader has a binding of this name."""
        return name in self._bindings

    def _check_names(self, given: Mapping[str, Any], wanted: list[str], where: str) -> None:
        for name in given:
            if not isinstance(name, str):
                raise BindingError.of("bind-name", current=repr(name), known=", ".join(wanted) or "none", where=where)
            # Variables that no entry point uses are allowed: while a shader is edited, uses come and go.
            if name not in wanted and name not in self._bindings:
                known = ", ".join(wanted) or "none"
                way_out = closest(name, wanted, "leave it out")
                raise BindingError.of("bind-unknown", unknown=name, known=known, where=where, way_out=way_out)
        missing = [name for name in wanted if name not in given]
        if missing:
            came = ", ".join(given) or "nothing"
            way_out = f"pass {', '.join(f'{name}=...' for name in missing)}"
            raise BindingError.of("bind-missing", missing=", ".join(missing), came=came, where=where, way_out=way_out)

    def _checked(self, entry: LayoutEntry, given: Any) -> Any:
        """The binding of a buffer; a texture, a view or a sampler as it was given."""
        variable = entry.variable
        if variable.kind in _BUFFERS:
            return self._buffers.resource(variable, given, dynamic=entry.is_dynamic)
        if variable.kind in ("sampler", "comparison-sampler"):
            check_sampler(self.device, variable, given)
        else:
            filtered = entry.descriptor.get("texture", {}).get("sample_type") == "float"
            check_texture(self.device, variable, given, filtered=filtered)
        return given

    def _create(self, group: Group, found: Mapping[str, Any]) -> Any:
        entries: list[dict[str, Any]] = []
        for variable, _ in group.entries:
            resource = found[variable.name]
            resource = view_of(variable, resource) if "texture" in variable.kind else resource
            entries.append({"binding": variable.binding, "resource": resource})
        try:
            made = self.device.create_bind_group(layout=group.layout, entries=entries)
        except backend.gpu_errors() as error:
            raise _refused(error, group) from None
        return made


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


def _check_writes(entries: list[LayoutEntry], found: Mapping[str, Any], where: str) -> None:
    """BindingError if what one variable writes is also bound to another: wgpu refuses that when the encoder ends."""
    users: dict[int, list[Variable]] = {}
    for entry in entries:
        variable = entry.variable
        resource = found[variable.name]["buffer"] if variable.kind in _BUFFERS else found[variable.name]
        users.setdefault(id(resource), []).append(variable)
    for variables in users.values():
        writer = next((variable for variable in variables if _writes(variable)), None)
        for other in variables if writer is not None and len(variables) > 1 else ():
            assert writer is not None
            if other is not writer and (not _writes(other) or _overlap(found[writer.name], found[other.name])):
                what = "buffer" if writer.kind in _BUFFERS else "texture"
                facts = {"writer": writer.name, "first": writer.name, "second": other.name}
                raise BindingError.of("bind-twice", what=what, where=where, **facts)


def _writes(variable: Variable) -> bool:
    return variable.kind == "storage" or (variable.kind == "storage-texture" and variable.access != "read")


def _overlap(a: Any, b: Any) -> bool:
    if not isinstance(a, Mapping):
        return True
    return a["offset"] < b["offset"] + b["size"] and b["offset"] < a["offset"] + a["size"]
