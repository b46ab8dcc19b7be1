"""The bind group layouts that entry points need, as dictionaries for wgpu. WebGPU §8.1 (GPUBindGroupLayout)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import BindingError, closest
from .parts import EntryPoint, Variable

Entry = dict[str, Any]
# WebGPU §8.1.1 (GPUShaderStage).
STAGES = {"vertex": 1, "fragment": 2, "compute": 4}
_BUFFERS = ("uniform", "storage", "read-only-storage")
_ACCESS = {"read": "read-only", "write": "write-only", "read_write": "read-write"}


def chosen(names: Sequence[str], known: Mapping[str, EntryPoint]) -> list[EntryPoint]:
    """The entry points called `names`, or all of them without names. Raises BindingError for an unknown name."""
    for name in names:
        if name not in known:
            way_out = closest(str(name), known, "pass a text with an entry point, such as @compute fn main")
            raise BindingError.of("entry-point", name=name, known=", ".join(known) or "none", way_out=way_out)
    return [known[name] for name in names] if names else list(known.values())


def used(entry_points: Iterable[EntryPoint], bindings: Mapping[str, Variable]) -> dict[tuple[int, int], Variable]:
    """The variables that `entry_points` use, by group and binding. Raises BindingError if two have the same."""
    found: dict[tuple[int, int], Variable] = {}
    users: dict[str, str] = {}
    for entry in entry_points:
        for name in entry.bindings:
            variable = bindings[name]
            group, binding = variable.group or 0, variable.binding or 0
            other = found.setdefault((group, binding), variable)
            if other.name != name:
                facts = {
                    "first": other.name,
                    "first_user": users[other.name],
                    "second": name,
                    "second_user": entry.name,
                }
                raise BindingError.of("binding-shared", group=group, binding=binding, **facts)
            users.setdefault(name, entry.name)
    return dict(sorted(found.items()))


def layouts(
    entry_points: Sequence[EntryPoint],
    bindings: Mapping[str, Variable],
    *,
    filterable: Mapping[str, bool],
    dynamic_offsets: Iterable[str],
) -> dict[int, list[Entry]]:
    """The entries of each group."""
    dynamic = frozenset(dynamic_offsets)
    _check_names("filterable", filterable, bindings, ("texture", "sampler"))
    _check_names("dynamic_offsets", dynamic, bindings, _BUFFERS)
    filters = _filters(entry_points, filterable)
    found: dict[int, list[Entry]] = {}
    for (group, binding), variable in used(entry_points, bindings).items():
        visibility = 0
        for entry in entry_points:
            visibility |= STAGES[entry.stage] if variable.name in entry.bindings else 0
        details = _details(variable, filters.get(variable.name), variable.name in dynamic)
        found.setdefault(group, []).append({"binding": binding, "visibility": visibility, **details})
    return found


def _check_names(option: str, names: Iterable[str], bindings: Mapping[str, Variable], kinds: tuple[str, ...]) -> None:
    fitting = [name for name, variable in bindings.items() if variable.kind in kinds]
    for name in names:
        if name not in fitting:
            way_out = closest(str(name), fitting, f"leave {option} out")
            what = "a texture or a sampler" if option == "filterable" else "a buffer"
            raise BindingError.of("layout-option", option=option, what=what, name=name, way_out=way_out)


def _filters(entry_points: Sequence[EntryPoint], given: Mapping[str, bool]) -> dict[str, bool]:
    """Whether each texture is filterable and each sampler filtering: as given, else as the shader uses them."""
    found: dict[str, bool] = {}
    for entry in entry_points:
        for texture, sampler in entry.sampled:
            found.setdefault(texture, given.get(sampler, True))
            found[sampler] = found.get(sampler, True) and given.get(texture, True)
    return found | dict(given)


def _details(variable: Variable, filters: bool | None, dynamic: bool) -> Entry:
    kind = variable.kind
    if variable.array_count is not None or kind == "acceleration-structure":
        raise BindingError.of("layout-kind", name=variable.name, type=variable.type_name)
    if kind in _BUFFERS:
        size = variable.min_binding_size or 0
        return {"buffer": {"type": kind, "has_dynamic_offset": dynamic, "min_binding_size": size}}
    if kind == "texture":
        sample_type = variable.sample_type
        if sample_type == "float" and (variable.multisampled or not filters):
            sample_type = "unfilterable-float"
        return {
            "texture": {
                "sample_type": sample_type,
                "view_dimension": variable.view_dimension,
                "multisampled": variable.multisampled,
            }
        }
    if kind == "storage-texture":
        return {
            "storage_texture": {
                "access": _ACCESS[variable.access],
                "format": variable.format,
                "view_dimension": variable.view_dimension,
            }
        }
    if kind == "external-texture":
        return {"external_texture": {}}
    if kind == "comparison-sampler":
        return {"sampler": {"type": "comparison"}}
    return {"sampler": {"type": "non-filtering" if filters is False else "filtering"}}
