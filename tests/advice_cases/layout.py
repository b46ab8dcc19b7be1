"""The ways out of LayoutError."""

from __future__ import annotations

from .case import Case, struct

MEMBER = struct("a: @@")
HALVES = struct("h: @@", head="class Halves(Struct):", tail="layout_of(Halves).check_uniform()")
TAIL = struct("n: u32", "values: @@", head="class T(Struct):")


def nested(depth: int) -> str:
    return "array[" * depth + "f32" + ", 2]" * depth


def uniform(*lines: str, inner: str = "") -> str:
    return struct(*lines, head=f"{inner}\nclass S(Struct):", tail="layout_of(S).check_uniform()")


ATOMIC_INSIDE = struct("n: atomic[i32]", "@@", tail="layout_of(S).check_uniform()")
INNER = struct("a: f32", head="class Inner(Struct):")
TWIN = "layout_of(uniform_safe(S).type).check_uniform()"

LAYOUT = [
    # What a member may be.
    Case("LayoutError member-type", MEMBER, "bool", "use (u32):"),
    Case("LayoutError member-type", MEMBER, "float", "use (f32)"),
    Case("LayoutError member-type", MEMBER, "int", "use (i32) or"),
    Case("LayoutError member-type", MEMBER, "int", "or (u32)"),
    Case("LayoutError member-type", MEMBER, "np.float64", "use (f32)"),
    Case("LayoutError member-type", MEMBER, "np.int16", "use (i32)"),
    Case("LayoutError member-type", MEMBER, "array", r"parameter: (array\[f32, 8\])"),
    Case("LayoutError member-type", MEMBER, "atomic", r"parameter: (atomic\[u32\])"),
    Case("LayoutError member-type", MEMBER, "str", r"f16, i32, u32, vec3f, mat4x4f, (atomic\[u32\])"),
    Case("LayoutError member-type", MEMBER, "None", r"(array\[f32, 8\])"),
    Case("LayoutError member-type", MEMBER, "Struct", "a subclass of Struct", fixed=INNER + struct("a: Inner")),
    Case("LayoutError member-type", struct("n: u32", "a: '@@'"), "S", r"keep an index, (u32)"),
    Case("LayoutError member-name", struct("@@: f32"), "loop", "for example to '(.+)'"),
    Case("LayoutError member-name", struct("@@: f32"), "__x", "for example to '(.+)'"),
    Case("LayoutError member-name", struct("@@: f32"), "_", "for example to '(.+)'"),
    Case("LayoutError member-name", "make_struct('S', {'@@': f32})", "2d", "for example to '(.+)'"),
    Case("LayoutError member-name", "make_struct('S', {'@@': f32})", "a b", "for example to '(.+)'"),
    Case("LayoutError struct-name", "class @@(Struct):\n    a: f32", "target", "for example to '(.+)'"),
    Case("LayoutError struct-name", "make_struct('@@', {'a': f32})", "", "for example to '(.+)'"),
    Case("LayoutError struct-name", "make_struct('@@', {'a': f32})", "my struct", "for example to '(.+)'"),
    Case("LayoutError member-default", struct("a: f32@@"), " = 1.5", "column instead: (.+)", "\nS(@@)"),
    Case("LayoutError member-default", struct("a: vec3f@@"), " = (0, 0, 0)", "column instead: (.+)", "\nS(@@)"),
    Case("LayoutError member-hidden", struct("a: f32", "def @@(self): pass"), "a", "example to (.+)"),
    Case("LayoutError member-hidden", struct("a: f32", "@property", "def @@(self): pass"), "a", "example to (.+)"),
    Case("LayoutError member-twice", INNER + struct("@@: f32", head="class T(Inner):"), "a", "example to (.+)"),
    Case("LayoutError struct-empty", struct("@@"), "pass", "such as `(.+)`"),
    Case("LayoutError struct-empty", struct("@@"), "def f(self): pass", "such as `(.+)`"),
    Case("LayoutError struct-empty", "make_struct('S', @@)", "{}", "such as `value: (.+)`", "{'value': @@}"),
    Case("LayoutError struct-option", struct("a: f32", "@@", head="class S(Struct, align=16):"), "", "remove them", fixed=struct("value: Annotated[f32, align(16)]")),
    Case("LayoutError struct-option", "class S(Struct@@", ", packed=True):\n    a: f32", "such as `(.+)`", "):\n    @@"),
    Case("LayoutError struct-attribute", struct("a: f32", "@@"), "__slots__ = ('b',)", "remove it", ""),
    Case("LayoutError struct-attribute", struct("a: f32", "@@"), "__layout__ = 3", "remove it, or rename it", "layout_ = 3"),
    Case("LayoutError plain-bases", "@@", "class Z(f32): pass", "`(.+)`", "class Z(Struct):\n    @@"),
    Case("LayoutError plain-bases", "@@", "class Z(array): pass", "`(.+)`", "class Z(Struct):\n    @@"),
    Case("LayoutError plain-bases", "@@", "class Z(atomic): pass", "`(.+)`", "class Z(Struct):\n    @@"),
    Case("LayoutError plain-bases", "@@", "class Z(array[f32, 3]): pass", "`(.+)`", "class Z(Struct):\n    @@"),
    Case("LayoutError struct-bases", INNER + struct("b: u32", head="class Z(@@):"), "Inner, dict", "extend (.+), and"),
    Case("LayoutError struct-bases", struct("b: u32", head="class Z(@@):"), "dict, Struct", "extend (.+), and"),
    Case("LayoutError struct-extends-runtime", TAIL.replace("@@", "array[f32]") + struct("m: u32", head="\nclass Q(T):@@"), "", "extend a struct without the array, and add the array last", fixed=struct("n: u32", head="class T(Struct):") + struct("m: u32", "values: array[f32]", head="class Q(T):")),
    Case("LayoutError member-count", "make_struct('S', {f'm{i}': f32 for i in range(@@)})", "1024", "into nested structs or arrays", fixed="make_struct('S', {'m': array[f32, 1024]})"),
    Case("LayoutError nesting-depth", "@@", nested(16), "flatten the inner types", fixed=nested(14).replace("[f32, 2]", "[f32, 8]")),
    Case("LayoutError annotation-name", struct("a: 'Inner'") + "@@", "", "define (Inner) at module level, above the class", fixed=INNER + struct("a: 'Inner'")),
    Case("LayoutError annotation-name", struct("a: '@@'"), "vec3f]", "write a type that Python can evaluate", "vec3f"),
    Case("LayoutError annotation-name", struct("a: '@@'"), "Annotated[f32]", "write a type that Python can evaluate", "Annotated[f32, align(4)]"),
    Case("LayoutError annotation-name", struct("a: '@@'"), "np.vec3f", "write a type that Python can evaluate", "vec3f"),
    # Arrays and atomics.
    Case("LayoutError array-element", "@@", "array[bool, 4]", "use (u32):", "array[@@, 4]"),
    Case("LayoutError array-element", "@@", "array[int, 4]", "use i32 or (u32)", "array[@@, 4]"),
    Case("LayoutError array-element", "@@", "array[array, 4]", "parameter: (.+)", "array[@@, 4]"),
    Case("LayoutError array-element", "@@", "array[()]", r"use (f32), f16", "array[@@]"),
    Case("LayoutError array-element", "@@", "array[int, 0]", r"use (i32) or", "array[@@, 1]"),
    Case("LayoutError array-element", "array[@@, 4]", "array[f32]", "a count: (.+)"),
    Case("LayoutError array-element", "array[@@]", "array[vec3f]", "a count: (.+)"),
    Case("LayoutError array-element", "array[@@, 0]", "array[vec3f]", "a count: (.+)", fixed="array[array[vec3f, 8], 1]"),
    Case("LayoutError array-element", struct("n: u32", "@@", head="class P(Struct):", tail="array[P, 2]"), "values: array[f32]", "count: `(.+)`"),
    *(Case("LayoutError array-count", "@@", wrong, r"use (array\[.+, 1\]) or") for wrong in ("array[f32, 0]", "array[vec3f, -1]", "array[f32, 2.0]", "array[f32, True]", "array[f32, '8']", "array[array[f32, 2], None]", "array[f32, 2, 3]", "array[f32, 2**31]", "array[f32, Literal[2, 3]]")),
    Case("LayoutError array-count", "@@", "array[f32, 0]", r"larger count, or (\S+) for"),
    Case("LayoutError array-bytes", "@@", "array[vec4f, 2**27]", r"use (array\[.+\]) at most"),
    Case("LayoutError array-bytes", "@@", "array[mat4x3f, 2**26]", r"use (array\[.+\]) at most"),
    Case("LayoutError array-bytes", "@@", "array[array[f16, 1000], 2**22]", r"use (array\[.+\]) at most"),
    Case("LayoutError array-bytes", "@@", "array[vec4f, 2**27]", r"or (\S+) for as many"),
    Case("LayoutError array-bytes", struct("n: u32", "a: @@", "b: array[f32, 400_000_000]"), "array[f32, 400_000_000]", "make a smaller", "f32"),
    *(Case("LayoutError atomic-type", "@@", wrong, r"use (atomic\[u32\])") for wrong in ("atomic[f32]", "atomic[int]", "atomic[u32, i32]")),
    Case("LayoutError atomic-type", "@@", "atomic[atomic[u32]]", r"or (atomic\[i32\])"),
    Case("LayoutError runtime-not-last", struct("values: @@", "n: u32"), "array[f32]", "give it a count: (.+)"),
    Case("LayoutError runtime-not-last", struct("values: @@", "n: u32"), "array[mat3x3f]", "give it a count: (.+)"),
    Case("LayoutError runtime-not-last", struct("@@"), "values: array[f32]\n    n: u32", "move it to the end", "n: u32\n    values: array[f32]"),
    Case("LayoutError runtime-nested", struct("n: u32", "@@", head="class P(Struct):") + struct("p: P"), "values: array[f32]", "a count, `(.+)`"),
    Case("LayoutError runtime-nested", struct("n: u32", "values: array[f32]", head="class P(Struct):") + struct("@@"), "p: P", "a separate storage variable", "p: u32\nlayout_of(P).binding_size(3)"),
    # Attributes.
    *(Case("LayoutError align-value", struct("x: Annotated[f32, align(@@)]"), wrong, r"such as (\d+)") for wrong in ("0", "-4", "12", "16.0", "True", "'16'", "2**31")),
    Case("LayoutError align-value", struct("x: Annotated[mat4x4f, align(@@)]"), "3", r"such as (\d+)"),
    Case("LayoutError align-multiple", struct("x: Annotated[vec3f, align(@@)]"), "8", r"use (\d+)"),
    Case("LayoutError align-multiple", struct("x: Annotated[array[vec2f, 2], align(@@)]"), "4", r"use (\d+)"),
    *(Case("LayoutError size-value", struct("x: Annotated[mat4x4f, size(@@)]"), wrong, r"use (\d+) or more") for wrong in ("0", "16.5", "-1", "'a'", "2**31", "False")),
    Case("LayoutError size-small", struct("x: Annotated[vec3f, size(@@)]"), "8", r"use (\d+) or more"),
    Case("LayoutError size-runtime", struct("x: @@"), "Annotated[array[f32], size(64)]", "leave it out", "array[f32]"),
    Case("LayoutError attribute-twice", struct("x: Annotated[f32, align(16)@@]"), ", align(16)", "keep one of them", ""),
    *(Case("LayoutError attribute-unknown", struct("x: @@"), f"Annotated[{kind}, 'first']", "use (.+) or Annotated") for kind in ("f32", "mat4x4f", "array[vec3f, 9]")),
    *(Case("LayoutError attribute-unknown", struct("x: @@"), f"Annotated[{kind}, align]", " or (Annotated.+)") for kind in ("f32", "mat4x4f", "array[vec3f, 9]", "f16")),
    Case("LayoutError attribute-unknown", struct("x: @@"), "Annotated[array[vec3f], 16]", "use (Annotated.+)"),
    Case("LayoutError attribute-place", struct("x: @@"), "array[Annotated[f32, align(16)], 4]", "itself: (.+)"),
    Case("LayoutError attribute-place", struct("x: @@"), "array[Annotated[vec3f, align(16), size(48)]]", "itself: (Annotated.+), size", "@@]"),
    # Uniform.
    Case("LayoutError array-stride-uniform", HALVES, "array[f32, 8]", "use (array.+), uniform_safe"),
    Case("LayoutError array-stride-uniform", HALVES, "array[array[i32, 3], 3]", "use (array.+), uniform_safe"),
    Case("LayoutError array-stride-uniform", HALVES.replace("@@", "array[f16, 8]") + "@@", "", r"use (uniform_safe\(.+\)) or", fixed=struct("h: array[f16, 8]", tail=TWIN)),
    Case("LayoutError array-stride-uniform", "layout_of(@@).check_uniform()", "array[u32, 6]", "use (array.+) or"),
    Case("LayoutError array-stride-uniform", "layout_of(@@).check_uniform()", "array[mat2x2h, 6]", "use var<storage>", fixed="layout_of(array[mat2x2h, 6]).binding_size(1)"),
    Case("LayoutError offset-uniform", uniform("n: f32", "i: @@", inner=INNER), "Inner", r"use (.+), uniform_safe"),
    Case("LayoutError offset-uniform", uniform("n: vec2f", "i: @@"), "array[mat2x2f, 2]", r"use (.+), uniform_safe"),
    Case("LayoutError offset-uniform", uniform("n: f32", "i: Inner", inner=INNER) + "@@", "", r"uniform_safe\(S\)", fixed=INNER + struct("n: f32", "i: Inner", tail=TWIN)),
    Case("LayoutError gap-uniform", uniform("@@", "n: f32", inner=INNER), "i: Inner", r"use `(.+)`, uniform_safe"),
    Case("LayoutError gap-uniform", uniform("i: Inner", "n: f32", inner=INNER) + "@@", "", r"uniform_safe\(S\)", fixed=INNER + struct("i: Inner", "n: f32", tail=TWIN)),
    Case("LayoutError atomic-uniform", uniform("n: @@"), "atomic[u32]", r"use (\w+),"),
    Case("LayoutError atomic-uniform", uniform("n: @@"), "atomic[i32]", r"use (\w+),"),
    Case("LayoutError runtime-uniform", uniform("n: vec4f", "v: @@"), "array[vec4f]", "a count: (.+), or"),
    Case("LayoutError runtime-uniform", uniform("n: vec4f", "v: @@"), "array[f32]", "a count: (.+), or"),
    Case("LayoutError runtime-uniform", "layout_of(@@).check_uniform()", "array[vec2u]", "a count: (.+), or"),
    Case("LayoutError runtime-uniform", "layout_of(@@).check_uniform()", "array[mat2x2h]", "use var<storage>", fixed="layout_of(array[mat2x2h]).binding_size(1)"),
    Case("LayoutError uniform-safe-arrays", struct("v: array[f32, 8]", tail="uniform_safe(S, arrays=@@)"), "'vec3'", "use ('pad')"),
    Case("LayoutError uniform-safe-arrays", struct("v: array[f32, 8]", tail="uniform_safe(S, arrays=@@)"), "None", "('vec4')"),
    Case("LayoutError uniform-safe-type", "@@", "uniform_safe(array[mat2x2h, 3])", "`(.+)`", "@@\nuniform_safe(Uniform)"),
    Case("LayoutError uniform-safe-type", "@@", "uniform_safe(array[f32, 4])", "`(.+)`", "@@\nuniform_safe(Uniform)"),
    Case("LayoutError uniform-safe-variable", struct("v: array[f32, 8]", tail="uniform_safe(S, variable=@@)"), "'S'", "the name of the var<uniform> in the shader", "'settings'"),
    # What takes a type.
    *(Case("LayoutError not-a-type", "layout_of(@@)", wrong, "class such as (vec3f)") for wrong in ("3", "int", "None", "Struct", "array")),
    Case("LayoutError not-a-type", "layout_of(@@)", "3", r", (array\[f32, 4\]) or"),
    Case("LayoutError suggest-struct", "suggest(@@)", "vec3f", "a subclass of Struct", fixed=INNER + "\nsuggest(Inner)"),
    Case("LayoutError dtype-type", "dtype_of(@@)", "3", "class such as (vec3f)"),
    Case("LayoutError dtype-type", "dtype_of(@@)", "float", r", (array\[f32, 4\]) or"),
    Case("LayoutError dtype-runtime", "@@", "dtype_of(array[vec3f])", "use (.+) for"),
    Case("LayoutError dtype-runtime", TAIL.replace("@@", "array[array[f32, 2]]") + "\n@@", "dtype_of(T)", "use (.+) for"),
    Case("LayoutError dtype-source", "struct_of(@@, name='S')", "np.dtype('f4')", "pass one of them, with a name for each field", "np.dtype([('a', 'f4')])"),
    Case("LayoutError dtype-bits", "import ctypes\nclass B(ctypes.Structure):\n    _fields_ = @@\nstruct_of(B)", "[('a', ctypes.c_uint32, 4), ('b', ctypes.c_uint32, 28)]", r"such as (\(.flags.+\))$", "[@@]"),
    Case("LayoutError dtype-types", "struct_of(np.dtype([('color', 'f4', 4)]), name='S', types=@@)", "3", "pass (.+)"),
    Case("LayoutError dtype-ask", "struct_of(np.dtype([('a', 'f4'), ('color', 'f4', 4)]), name='S'@@)", "", "which: (.+)", ", @@"),
    Case("LayoutError dtype-ask", "struct_of(np.dtype([('m', 'f4', (4, 4)), ('v', 'f4', 3)]), name='S'@@)", "", "which: (.+)", ", @@"),
    Case("LayoutError dtype-ask", "struct_of(np.dtype([('b', 'f8', 3), ('n', 'i8')]), name='S'@@)", "", "which: (.+)", ", @@"),
    Case("LayoutError dtype-ask", "from gpustruct.vertex import unorm8x4, unorm16x2\nstruct_of(np.dtype([('c', 'u1', (3, 4)), ('uv', 'u2', 2)]), name='S'@@)", "", "which: (.+)", ", @@"),
    Case("LayoutError dtype-ask", "from gpustruct.vertex import Vertex, snorm8, unorm8x4\nstruct_of(np.dtype([('c', 'u1', 4), ('n', 'i1', 3), ('p', 'f8', 3)]), name='S', base=Vertex@@)", "", "which: (.+)", ", @@"),
    Case("LayoutError dtype-base", "struct_of(np.dtype([('a', 'f4')]), name='S', base=@@)", "f32", "pass (Struct), or"),
    Case("LayoutError dtype-base", "struct_of(np.dtype([('a', 'f4')]), name='S', base=@@)", "[Struct]", "pass (Struct), or"),
    Case("LayoutError dtype-answers", "struct_of(np.dtype([('a', 'f4')]), name='S'@@)", ", types={'b': vec3f}", "or leave them out", ""),
    Case("LayoutError dtype-answers", "struct_of(np.dtype([('a', [('b', 'f4'), ('c', 'f4')])]), name='S', types={@@: f32})", "'b'", "dotted names for nested members", "'a.b'"),
    Case("LayoutError length-size", "layout_of(vec3f).length(@@)", "8", r"bind (\d+) bytes"),
    Case("LayoutError length-size", struct("h: vec4f", "v: array[f32]", tail="layout_of(S).length(@@)"), "'16'", r"bind (\d+) bytes"),
]  # fmt: skip

LAYOUT_NOTHING: dict[str, str] = {}
