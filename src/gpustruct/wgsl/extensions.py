"""The names that `enable` and `requires` may have, and whether naga (of wgpu-native 29) accepts each directive.

WGSL §4.1 (extensions).
"""

from __future__ import annotations

from typing import NamedTuple


class Extension(NamedTuple):
    """Whether naga accepts the directive, and if not, what to write for naga."""

    naga: bool = True
    remedy: str = ""


# §4.1.1, enable-extensions.
ENABLE = {
    "f16": Extension(),
    "clip_distances": Extension(),
    "dual_source_blending": Extension(),
    "primitive_index": Extension(),
    "subgroups": Extension(False, "leave the directive out for naga, which has the subgroup functions without it"),
    "subgroup_size_control": Extension(False, "leave it and @subgroup_size out for naga"),
}
# §4.1.2, language extensions. `requires` only documents that a module needs them, so it can be left out.
STANDARD_LAYOUT = "uniform_buffer_standard_layout"
REQUIRES = {
    "readonly_and_readwrite_storage_textures": Extension(),
    "packed_4x8_integer_dot_product": Extension(),
    "pointer_composite_access": Extension(),
    "unrestricted_pointer_parameters": Extension(False, "pass pointers into function and private variables only"),
    STANDARD_LAYOUT: Extension(False, "use the strict layout, as uniform_safe(T) does"),
    "subgroup_id": Extension(False, "leave the directive out for naga, which has the builtin values without it"),
    "subgroup_uniformity": Extension(False, "leave the directive out for naga: it adds no syntax"),
    "texture_and_sampler_let": Extension(False, "name the texture or sampler itself where you use it"),
    "texture_formats_tier1": Extension(False, "leave the directive out for naga, which has the formats without it"),
    "linear_indexing": Extension(False, "compute the index from global_invocation_id and num_workgroups"),
    "fragment_depth": Extension(False, "leave the directive out for naga"),
    "immediate_address_space": Extension(
        False, "leave the directive out for naga, which has var<immediate> without it"
    ),
    "swizzle_assignment": Extension(False, "assign one component at a time"),
    "buffer_view": Extension(False, "declare the buffer with the type of its contents"),
}
# How the names begin that Tint adds to `enable`.
TINT_ENABLE = ("chromium_",)
