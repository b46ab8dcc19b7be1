"""Structs that are illegal in ``var<uniform>``, each in its own way."""

from __future__ import annotations

from typing import Annotated, Any

from gpustruct import (
    align,
    array,
    f16,
    f32,
    i32,
    mat2x2f,
    mat2x2h,
    mat3x2f,
    mat3x3f,
    mat3x3h,
    mat4x4f,
    size,
    u32,
    vec2f,
    vec2h,
    vec2i,
    vec2u,
    vec3f,
    vec3h,
    vec4f,
    vec4h,
)
from gpustruct.types import make_struct

ONE = make_struct("One", {"a": f32})
THREE = make_struct("Three", {"a": f32, "b": vec2f, "c": u32})
WIDE = make_struct("Wide", {"v": vec3f, "n": array[u32, 3], "k": i32})
NESTED = make_struct("Nested", {"n": u32, "one": ONE, "x": f32, "w": array[vec2f, 3]})

MEMBERS: dict[str, dict[str, Any]] = {
    "scalars": {"values": array[f32, 64]},
    "count not a multiple of 4": {"values": array[i32, 7], "after": f32},
    "unsigned after a scalar": {"before": f32, "values": array[u32, 5], "after": vec3f},
    "pairs": {"values": array[vec2f, 5], "t": f32},
    "integer pairs": {"a": array[vec2i, 2], "b": array[vec2u, 3]},
    "arrays of arrays": {"grid": array[array[f32, 3], 5]},
    "arrays of arrays of arrays": {"t": f32, "grid": array[array[array[vec2f, 3], 2], 2]},
    "matrices of pairs": {"m": array[mat3x2f, 3], "n": array[mat2x2f, 2]},
    "halves": {"h": array[f16, 9], "f": f32},
    "half vectors": {"a": array[vec2h, 3], "b": array[vec3h, 2], "c": array[vec4h, 2]},
    "half matrices": {"a": array[mat2x2h, 3], "b": array[mat3x3h, 2]},
    "a struct after a scalar": {"t": f32, "one": ONE},
    "a scalar after a struct": {"one": ONE, "t": f32},
    "a struct between scalars": {"t": f32, "three": THREE, "u": f32},
    "arrays of small structs": {"items": array[ONE, 4], "t": f32},
    "arrays of structs": {"t": f32, "items": array[THREE, 3]},
    "arrays of arrays of structs": {"items": array[array[THREE, 2], 3]},
    "a struct with an array": {"wide": WIDE, "t": f32},
    "arrays of structs with arrays": {"items": array[WIDE, 3], "more": array[f32, 3]},
    "structs in structs": {"a": u32, "nested": NESTED, "b": f32, "list": array[NESTED, 2]},
    "attributes": {"a": Annotated[f32, size(12)], "b": Annotated[array[f32, 3], align(32)], "c": Annotated[ONE, size(8)], "d": u32},
    "an array after a matrix": {"m": mat3x3f, "k": f32, "values": array[f32, 2], "l": mat4x4f},
    "legal beside illegal": {"ok": array[vec4f, 2], "not": array[f32, 2], "fine": array[mat4x4f, 2]},
    "names that clash": {"i": array[f32, 3], "i_j": array[f32, 2], "value": array[f32, 1]},
}  # fmt: skip
CASES = {name: make_struct("Block", members) for name, members in MEMBERS.items()}
