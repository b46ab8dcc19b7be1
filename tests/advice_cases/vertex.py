"""The ways out of errors about vertex data."""

from __future__ import annotations

from .case import Case, struct

VERTEX = struct("a: @@", head="class V(Vertex):")
POINT = struct("a: float32x3", "b: Annotated[unorm8x4, vertex.location(1)]", head="class Point(Vertex):")
SHADER = "@vertex fn vs(@location(0) p: vec3f, @location(1) c: vec4f) -> @builtin(position) vec4f { return c; }"
COLOR = struct("color: unorm8x4", head="class C(Vertex):")

CASES = [
    *(
        Case("LayoutError member-vertex", struct("a: @@"), wrong, r"use (\w+)")
        for wrong in ("float32x3", "uint8", "sint16x4", "float16", "array[snorm16x4, 4]")
    ),
    *(
        Case("LayoutError vertex-member", VERTEX, wrong, r"use (.+)")
        for wrong in ("f32", "vec2f", "vec3h", "vec4u", "i32", "mat4x4f", "mat2x3f", "array[vec3f, 2]")
    ),
    Case("LayoutError vertex-member", VERTEX, "array[float32x3]", "count: (.+)"),
    Case(
        "LayoutError vertex-type",
        POINT + "\nlayout_of(Point).check_uniform()",
        "",
        "use a subclass of Struct",
        fixed=struct("a: vec3f", head="class Point(Struct):", tail="layout_of(Point).check_uniform()"),
    ),
    Case("LayoutError vertex-class", "@@\nvertex.layout(Corner)", "Corner = vec3f", "one: (.+)"),
    Case("LayoutError vertex-step-mode", POINT + "\nvertex.layout(Point, step_mode=@@)", "'vertices'", "use ('instance')"),
    Case("LayoutError vertex-locations", POINT + "\nvertex.layout(Point, locations=@@)", "[0]", "pass (.+)"),
    Case(
        "LayoutError vertex-locations",
        POINT.replace("a:", "place:") + "\nvertex.layout(Point, locations={@@: 3})",
        "'plaec'",
        r"mean ('place')\?",
    ),
    Case("LayoutError vertex-location-twice", POINT + "\nvertex.layout(Point, @@)", "locations={'b': 0}", "as (.+)"),
    *(
        Case("LayoutError location-value", VERTEX, f"Annotated[unorm8, vertex.location({wrong})]", r"use (\d+)", put="Annotated[unorm8, vertex.location(@@)]")
        for wrong in ("-1", "1.0", "'1'", "True", "2**31")
    ),
    *(
        Case("SourceError range-normalized", f"{COLOR}\ncolor = np.array([0, 0.5, {wrong}, 1])\npack(C(color=@@))", "color", "first: (.+)")
        for wrong in ("1.5", "-0.1", "np.nan", "np.inf", "-np.inf")
    ),
    *(
        Case("SourceError column-dtype", f"{COLOR}\ncolor = {column}\npack(C(color=@@))", "color", ": (.+)")
        for column in ("[0, 128, 255, 255]", "[0, 1, 0, 1]", "np.ones((3, 4), bool)", "[0, 4000, 5, 1]", "np.full((2, 4), 65535, 'u2')")
    ),
    Case("WgslError vertex-entry", POINT + f"\nvertex.check(Point, {SHADER!r}, '@@')", "sv", "use one of (.+)"),
    Case("WgslError vertex-location", POINT + f"\nvertex.check(Point, {SHADER!r}, 'vs', @@)", "locations={'b': 2}", "such as (.+), or", put="locations={'b': 1}"),
    *(
        Case("WgslError vertex-format", struct("a: float32x3", "b: @@", head="class Point(Vertex):") + f"\nvertex.check(Point, {SHADER!r})", wrong, r"use (\w+),")
        for wrong in ("uint8x4", "sint8x2", "uint16", "sint32x3", "uint32")
    ),
]  # fmt: skip
