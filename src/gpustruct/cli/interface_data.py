"""The interface of a shader as plain data, in the form that docs/inspect.schema.json describes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..wgsl import EntryPoint, Module, StageValue, Variable


def of(module: Module) -> dict[str, Any]:
    """Bindings, other variables, entry points, overrides, directives, and the line of each declaration."""
    return {
        "bindings": [_binding(variable) for variable in module.bindings.values()],
        "variables": [_variable(variable) for variable in module.variables.values()],
        "entry_points": [_entry_point(entry) for entry in module.entry_points.values()],
        "overrides": [asdict(override) for override in module.overrides.values()],
        "enabled": list(module.enabled),
        "required": list(module.required),
        "diagnostics": [asdict(diagnostic) for diagnostic in module.diagnostics],
        "lines": dict(module.lines),
    }


def _variable(variable: Variable) -> dict[str, Any]:
    data = {name: getattr(variable, name) for name in ("name", "space", "access", "line")}
    return {**data, "type": variable.type_name}


def _binding(variable: Variable) -> dict[str, Any]:
    names = ("group", "binding", "min_binding_size", "kind", "sample_type", "view_dimension", "multisampled", "format")
    return {**_variable(variable), **{name: getattr(variable, name) for name in (*names, "array_count")}}


def _entry_point(entry: EntryPoint) -> dict[str, Any]:
    names = ("name", "stage", "workgroup_size", "line", "workgroup_bytes")
    return {
        **{name: getattr(entry, name) for name in names},
        **{name: list(getattr(entry, name)) for name in ("bindings", "variables", "overrides")},
        "inputs": [_stage_value(value) for value in entry.inputs],
        "outputs": [_stage_value(value) for value in entry.outputs],
        "sampled": [{"texture": texture, "sampler": sampler} for texture, sampler in entry.sampled],
    }


def _stage_value(value: StageValue) -> dict[str, Any]:
    names = ("name", "location", "builtin", "blend_source", "invariant", "line")
    data = {name: getattr(value, name) for name in names}
    return {**data, "type": value.type_name, "interpolation": list(value.interpolation)}
