"""A Vertex class against what a vertex shader reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import wgsl
from ..errors import WgslError, closest
from ..formats import FORMATS
from ..layout import RECORD_SCALARS, Layout
from .attributes import Attribute, attributes_of

# The scalars of the shader's types that a format may be read as, by the suffix of what it holds (WebGPU §10.3.6).
READ_AS = {"f": ("f32", "f16"), "h": ("f32", "f16"), "i": ("i32",), "u": ("u32",)}


def check(V: Any, text: str, entry: str = "", *, locations: Mapping[str, int] | None = None) -> None:
    """Raise WgslError if the vertex shader `entry` of `text` reads locations that records of `V` cannot give it.

    Each location that the shader reads must be an attribute of `V`, and its format one that the shader's type takes:
    f32 for float, unorm and snorm formats, u32 for uint, i32 for sint. The number of components may differ, as WebGPU
    allows. Attributes that the shader does not read are no fault. `entry` may be left out if there is one vertex
    shader; `locations` is that of `layout`. All differences are in the one message, a line each. WebGPU §10.3.6.

    >>> from gpustruct import vertex
    >>> from gpustruct.vertex import Vertex, float32x3, uint8x4
    >>> class Point(Vertex):
    ...     position: float32x3
    ...     color: uint8x4
    >>> text = "@vertex fn vs(@location(0) p: vec3f, @location(1) c: vec4f) -> @builtin(position) vec4f { return vec4f(p, 1); }"
    >>> try:
    ...     vertex.check(Point, text, "vs")
    ... except Exception as error:
    ...     print(error)
    the shader's type must take the format (current: c: vec4f reads uint8x4) - at location 1 of vs, Point.color; use unorm8x4, or make it vec4u in the shader
    """
    module = wgsl.parse(text)
    found = {one.location: one for one in attributes_of(V, locations, "vertex.check")}
    shaders = {name: point for name, point in module.entry_points.items() if point.stage == "vertex"}
    if not entry and len(shaders) == 1:
        entry = next(iter(shaders))
    if entry not in shaders:
        way_out = closest(entry, shaders, "write one: @vertex fn")
        raise WgslError.of(
            "vertex-entry", current=entry or "no name", where=f"vertex.check({V.__name__})", way_out=way_out
        )
    faults = list(_faults(V, shaders[entry], found))
    if faults:
        error = WgslError("\n".join(map(str, faults)))
        error.rule = faults[0].rule
        raise error


def _faults(V: Any, shader: Any, found: Mapping[int, Attribute]) -> Iterator[WgslError]:
    for value in shader.inputs:
        if value.location is None:
            continue
        where = f"location {value.location} of {shader.name}"
        attribute = found.get(value.location)
        if attribute is None:
            facts = {"name": value.name, "type": value.type_name, "first": next(iter(V.__members__))}
            yield WgslError.of("vertex-location", where=where, location=value.location, V=V.__name__, **facts)
            continue
        layout: Layout = FORMATS[attribute.format].__layout__
        suffix = RECORD_SCALARS[layout.scalar].suffix
        read: Layout | None = getattr(value.type, "__layout__", None)
        if read is None or read.scalar in READ_AS[suffix]:
            continue
        scalar = READ_AS[suffix][0]
        kind = f"vec{read.rows}{scalar[0]}" if read.kind == "vector" else scalar
        facts = {"name": value.name, "type": value.type_name, "format": attribute.format, "kind": kind}
        where = f"{where}, {V.__name__}.{attribute.member}"
        yield WgslError.of("vertex-format", where=where, instead=_instead(layout, read), **facts)


def _instead(layout: Layout, read: Layout) -> str:
    """A format of the shader's kind, with as many components as the member has."""
    kinds = {"f32": ("unorm", "float"), "f16": ("unorm", "float"), "i32": ("sint",), "u32": ("uint",)}[read.scalar]
    bits = 8 * layout.size // layout.rows
    rows = f"x{layout.rows}" if layout.rows > 1 else ""
    names = [f"{kind}{wide}{rows}" for kind in kinds for wide in (bits, 32)]
    return next((name for name in names if name in FORMATS), f"{kinds[-1]}32x4")
