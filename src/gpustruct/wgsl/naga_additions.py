"""What naga (wgpu-native 29, Firefox) accepts besides WGSL, and the constants that it does not compute.

How naga lays out structs is in layout/naga.py; which directives it accepts is a column of the tables in extensions.py.
"""

from __future__ import annotations

# Directives: names that `enable` may have, or how they begin.
ENABLE = ("wgpu_mesh_shader", "wgpu_ray_query", "wgpu_cooperative_matrix", "draw_index")
SCALARS_64_BIT = ("i64", "u64", "f64")
ATOMICS = ("f32", "i64", "u64")
_PARSE = "parse(text, target='naga') accepts it, parse(text, skip=True) leaves the declaration out"
# Types, with the way out where the specification is the target.
TYPES = {
    **dict.fromkeys(SCALARS_64_BIT, "use f32, i32 or u32, two of them for 64 bits, or parse(text, target='naga')"),
    "binding_array": f"bind each by itself or use a texture array; {_PARSE}",
    "acceleration_structure": _PARSE,
    "ray_query": _PARSE,
}
TEXEL_FORMAT = "r64uint"
# Attributes of functions, with the numbers of arguments.
ATTRIBUTES = {"early_depth_test": (0, 1)}
# The fields of a BuiltinValue.
BUILTIN_VALUES = [
    ("view_index", "vertex", "input", "u32"),
    ("view_index", "fragment", "input", "u32"),
    ("barycentric", "fragment", "input", "vec3f"),
    ("draw_index", "vertex", "input", "u32", "draw_index"),
]
_PACKED = "2x16float 2x16snorm 2x16unorm 4x8snorm 4x8unorm 4xI8 4xU8".split()
# Built-in functions that naga does not compute in const-expressions.
NOT_CONSTANT = frozenset(
    f"""bitcast determinant extractBits faceForward frexp insertBits ldexp mix modf quantizeToF16 reflect refract smoothstep
    transpose {" ".join(f"{verb}{name}" for verb in ("pack", "unpack") for name in _PACKED)} pack4xI8Clamp pack4xU8Clamp""".split()
)
