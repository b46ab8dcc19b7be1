"""The table of builtin values of entry points. WGSL §13.3.1.1 (built-in values)."""

from __future__ import annotations

from typing import NamedTuple

from . import naga_additions


class BuiltinValue(NamedTuple):
    """One use of a builtin value: its stage and direction, its type, and the extension or language feature it needs."""

    name: str
    stage: str
    direction: str
    type: str
    enable: str = ""
    requires: str = ""


VALUES = [
    BuiltinValue("vertex_index", "vertex", "input", "u32"),
    BuiltinValue("instance_index", "vertex", "input", "u32"),
    BuiltinValue("clip_distances", "vertex", "output", "array<f32, N>, N from 1 to 8", "clip_distances"),
    BuiltinValue("position", "vertex", "output", "vec4f"),
    BuiltinValue("position", "fragment", "input", "vec4f"),
    BuiltinValue("front_facing", "fragment", "input", "bool"),
    BuiltinValue("frag_depth", "fragment", "output", "f32"),
    BuiltinValue("primitive_index", "fragment", "input", "u32", "primitive_index"),
    BuiltinValue("sample_index", "fragment", "input", "u32"),
    BuiltinValue("sample_mask", "fragment", "input", "u32"),
    BuiltinValue("sample_mask", "fragment", "output", "u32"),
    BuiltinValue("local_invocation_id", "compute", "input", "vec3u"),
    BuiltinValue("local_invocation_index", "compute", "input", "u32"),
    BuiltinValue("global_invocation_id", "compute", "input", "vec3u"),
    BuiltinValue("global_invocation_index", "compute", "input", "u32", requires="linear_indexing"),
    BuiltinValue("workgroup_id", "compute", "input", "vec3u"),
    BuiltinValue("workgroup_index", "compute", "input", "u32", requires="linear_indexing"),
    BuiltinValue("num_workgroups", "compute", "input", "vec3u"),
    BuiltinValue("subgroup_invocation_id", "compute", "input", "u32", "subgroups"),
    BuiltinValue("subgroup_invocation_id", "fragment", "input", "u32", "subgroups"),
    BuiltinValue("subgroup_size", "compute", "input", "u32", "subgroups"),
    BuiltinValue("subgroup_size", "fragment", "input", "u32", "subgroups"),
    BuiltinValue("subgroup_id", "compute", "input", "u32", "subgroups"),
    BuiltinValue("num_subgroups", "compute", "input", "u32", "subgroups"),
]
# naga accepts the subgroup values without the directive, which it refuses.
NAGA_VALUES = [
    *(BuiltinValue(*fields) for fields in naga_additions.BUILTIN_VALUES),
    *(value._replace(enable="") for value in VALUES if value.enable == "subgroups"),
]
MOST_CLIP_DISTANCES = 8


def find(name: str, *, naga: bool) -> list[BuiltinValue]:
    """The uses of `name`; with `naga`, those that only naga has come first."""
    return [value for value in ((NAGA_VALUES if naga else []) + VALUES) if value.name == name]
