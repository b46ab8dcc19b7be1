"""The kind of a variable's binding, and the details of texture types. WGSL §6.5.

The words are those of WebGPU §8.1 (GPUBindGroupLayoutEntry).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .kinds import Type
from .parts import VariableKind


class Resource(NamedTuple):
    """The fields of `Variable` from `kind` on, in the same order."""

    kind: VariableKind
    sample_type: str | None = None
    view_dimension: str | None = None
    multisampled: bool | None = None
    format: str | None = None
    array_count: int | None = None


_SAMPLE_TYPES = {"f32": "float", "i32": "sint", "u32": "uint"}
_SPACES: tuple[VariableKind, ...] = ("uniform", "workgroup", "private", "immediate")
_WHOLE: dict[str, VariableKind] = {
    "sampler": "sampler",
    "sampler_comparison": "comparison-sampler",
    "texture_external": "external-texture",
    "acceleration_structure": "acceleration-structure",
}
_TEXTURE = re.compile(
    r"texture_(?P<of>depth_|storage_)?(?P<multisampled>multisampled_)?(?P<dimension>\w+)(?:<(?P<first>\w+)[^>]*>)?"
)
_ARRAY = re.compile(r"binding_array<(?P<element>.+?)(?:, (?P<count>\d+))?>")


def resource(space: str, access: str, kind: Type) -> Resource:
    """The kind and the details of a variable of type `kind` in an address space."""
    name, count = kind.name, None
    if array := _ARRAY.fullmatch(name):
        name, count = array["element"], int(array["count"] or 0)
    if space == "storage":
        return Resource("read-only-storage" if access == "read" else "storage", array_count=count)
    if space in _SPACES:
        return Resource(space, array_count=count)
    texture = _TEXTURE.fullmatch(name)
    if name.split("<")[0] in _WHOLE or texture is None:
        return Resource(_WHOLE.get(name.split("<")[0], "texture"), array_count=count)
    dimension = texture["dimension"].replace("_", "-")
    if texture["of"] == "storage_":
        return Resource("storage-texture", view_dimension=dimension, format=texture["first"], array_count=count)
    sample_type = "depth" if texture["of"] else _SAMPLE_TYPES[texture["first"]]
    return Resource("texture", sample_type, dimension, texture["multisampled"] is not None, array_count=count)
