"""Extensions of the language, as data: what `enable` and `requires` may name, and what each backend makes of it.

WGSL §4.1 (extensions). `naga` is wgpu-native 29's.
"""

from __future__ import annotations

from typing import NamedTuple


class Extension(NamedTuple):
    """Whether naga takes the directive, and if not, what to do for it."""

    naga: bool = True
    remedy: str = ""


# §4.1.1, enable-extensions.
ENABLE = {
    "f16": Extension(),
    "clip_distances": Extension(),
    "dual_source_blending": Extension(),
    "primitive_index": Extension(),
    "subgroups": Extension(False, "leave the directive out there, naga has the subgroup functions without it"),
    "subgroup_size_control": Extension(False, "leave it and @subgroup_size out there"),
}
# §4.1.2, language extensions. `requires` only documents them, so that it can be left out.
STANDARD_LAYOUT = "uniform_buffer_standard_layout"
REQUIRES = {
    "readonly_and_readwrite_storage_textures": Extension(),
    "packed_4x8_integer_dot_product": Extension(),
    "pointer_composite_access": Extension(),
    "unrestricted_pointer_parameters": Extension(False, "pass pointers into function and private variables only"),
    STANDARD_LAYOUT: Extension(False, "keep to the strict layout: uniform_safe(T) makes it"),
    "subgroup_id": Extension(False, "leave the directive out there, naga has the builtin values without it"),
    "subgroup_uniformity": Extension(False, "leave the directive out there, it adds no syntax"),
    "texture_and_sampler_let": Extension(False, "name the texture or sampler itself where you use it"),
    "texture_formats_tier1": Extension(False, "leave the directive out there, naga has the formats without it"),
    "linear_indexing": Extension(False, "compute the index from global_invocation_id and num_workgroups"),
    "fragment_depth": Extension(False, "leave the directive out there"),
    "immediate_address_space": Extension(False, "leave the directive out there, naga has var<immediate> without it"),
    "swizzle_assignment": Extension(False, "assign one component at a time"),
    "buffer_view": Extension(False, "declare the buffer with the type of what is in it"),
}
# What one backend adds to `enable`: names, or how they begin.
NAGA_ENABLE = ("wgpu_mesh_shader", "wgpu_ray_query", "wgpu_cooperative_matrix", "draw_index")
TINT_ENABLE = ("chromium_",)

_PACKED = "2x16float 2x16snorm 2x16unorm 4x8snorm 4x8unorm 4xI8 4xU8".split()
_NUMBERS = "use f32, i32 or u32, split in two where 64 bits are needed"
_TAKEN = "parse(text, target='naga') takes it, parse(text, skip=True) leaves the declaration out"
# What naga calls a type and the specification does not, with the way out.
NAGA_TYPES = {
    **dict.fromkeys(("f64", "i64", "u64"), f"{_NUMBERS}, or parse(text, target='naga')"),
    "binding_array": f"bind each by itself or use a texture array; {_TAKEN}",
    "acceleration_structure": _TAKEN,
    "ray_query": _TAKEN,
}
# Built-in functions that naga does not compute in const-expressions.
NAGA_NOT_CONSTANT = frozenset(
    f"""bitcast determinant extractBits faceForward frexp insertBits ldexp mix modf quantizeToF16 reflect refract smoothstep
    transpose {" ".join(f"{verb}{name}" for verb in ("pack", "unpack") for name in _PACKED)} pack4xI8Clamp pack4xU8Clamp""".split()
)
NAGA_ATOMICS = ("f32", "i64", "u64")
NAGA_ATTRIBUTES = {"early_depth_test": (0, 1)}
