"""The interface of a shader as plain data, the way docs/inspect.schema.json describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..wgsl import EntryPoint, Module, StageValue, Variable


def of(module: Module) -> dict[str, Any]:
    """Bindings, other variables, entry points, overrides, directives, and the line of each declaration."""
    return {
        "bindings": [_binding(variable) for variable in module.bindings.values()],
        "variables": [_variable(variable) for variable in module.variables.values()],
        "entry_points": [_entry_point(entry) for entry in module.entry_points.values()],
        "overrides": [
            {
                "name": o.name,
                "id": o.id,
                "type": o.type,
                "value": o.value,
                "has_default": o.has_default,
                "line": o.line,
            }
            for o in module.overrides.values()
        ],
        "enabled": list(module.enabled),
        "required": list(module.required),
        "diagnostics": [{"severity": d.severity, "rule": d.rule, "line": d.line} for d in module.diagnostics],
        "lines": dict(module.lines),
    }


def _variable(variable: Variable) -> dict[str, Any]:
    return {
        "name": variable.name,
        "space": variable.space,
        "access": variable.access,
        "type": variable.type_name,
        "line": variable.line,
    }


def _binding(variable: Variable) -> dict[str, Any]:
    return {
        "group": variable.group,
        "binding": variable.binding,
        **_variable(variable),
        "min_binding_size": variable.min_binding_size,
        "kind": variable.kind,
        "sample_type": variable.sample_type,
        "view_dimension": variable.view_dimension,
        "multisampled": variable.multisampled,
        "format": variable.format,
        "array_count": variable.array_count,
    }


def _entry_point(entry: EntryPoint) -> dict[str, Any]:
    return {
        "name": entry.name,
        "stage": entry.stage,
        "workgroup_size": entry.workgroup_size,
        "line": entry.line,
        "inputs": [_stage_value(value) for value in entry.inputs],
        "outputs": [_stage_value(value) for value in entry.outputs],
        "bindings": list(entry.bindings),
        "variables": list(entry.variables),
        "overrides": list(entry.overrides),
        "sampled": [{"texture": texture, "sampler": sampler} for texture, sampler in entry.sampled],
        "workgroup_bytes": entry.workgroup_bytes,
    }


def _stage_value(value: StageValue) -> dict[str, Any]:
    return {
        "name": value.name,
        "type": value.type_name,
        "location": value.location,
        "builtin": value.builtin,
        "interpolation": list(value.interpolation),
        "blend_source": value.blend_source,
        "invariant": value.invariant,
        "line": value.line,
    }
