"""What the annotation of a member says: its type and its attributes, or an error that says what to write instead."""

from __future__ import annotations

import typing
from typing import Annotated, Any

from . import layout as layouts
from .batches import Batch
from .classes import TypeBase, TypeMeta
from .errors import LayoutError, brief
from .layout import VERTEX, WGSL, Layout, Rules
from .members import DeclaredType, align, location, size


def declared_type(annotation: Any, where: str, rules: Rules = WGSL) -> DeclaredType:
    """A member's type and attributes from its annotation; LayoutError if it has none."""
    marks: tuple[Any, ...] = ()
    if typing.get_origin(annotation) is Annotated:
        marks, annotation = annotation.__metadata__, annotation.__origin__
    if not isinstance(annotation, TypeMeta) or not hasattr(annotation, "__layout__"):
        raise LayoutError.of("member-type", current=spell(annotation), where=where, way_out=instead_of(annotation))
    _check_rules(annotation, where, rules)
    values: dict[str, int] = {}
    for mark in marks:
        if not isinstance(mark, align | size) and not (isinstance(mark, location) and rules == VERTEX):
            name, layout = annotation.__name__, annotation.__layout__
            ways = [f"Annotated[{name}, align({max(layout.align, 16)})]"]
            if not layout.is_runtime_sized:
                ways.append(f"Annotated[{name}, size({layouts.round_up(16, layout.size)})]")
            raise LayoutError.of("attribute-unknown", current=brief(mark), where=where, way_out=" or ".join(ways))
        kind = type(mark).__name__
        if kind in values:
            raise LayoutError.of("attribute-twice", attribute=kind, where=where)
        least, most = (0, layouts.MAX_COUNT) if kind == "location" else (1, None)
        number = layouts.whole_number(mark.value, least, most)
        if number is None and kind == "location":
            raise LayoutError.of("location-value", value=brief(mark.value), where=where)
        if number is None:
            layout = annotation.__layout__
            suggestion = layout.size if kind == "size" else max(layout.align, 16)
            raise LayoutError.of(f"{kind}-value", suggestion=suggestion, value=brief(mark.value), where=where)
        values[kind] = number
    return annotation, values.get("align"), values.get("size"), values.get("location")


def _check_rules(type_: Any, where: str, rules: Rules) -> None:
    """Raise LayoutError for a member that is placed by other rules than its struct."""
    layout: Layout = type_.__layout__
    core = layout.core
    if rules == WGSL and not layouts.is_host_shareable(layout):
        raise LayoutError.of("member-vertex", current=type_.__name__, where=where, way_out=_host_way_out(core))
    if rules == VERTEX and (layout.rules != VERTEX or core.kind == "struct" or layout.is_runtime_array):
        raise LayoutError.of("vertex-member", current=type_.__name__, where=where, way_out=_vertex_way_out(layout))


def _host_way_out(core: Layout) -> str:
    """The host-shareable type that a shader sees a vertex format as."""
    if core.kind == "struct":
        return "use a subclass of Struct, or make this class one of Vertex"
    suffix = layouts.RECORD_SCALARS[core.scalar].suffix
    scalar = {"f": "f32", "h": "f16", "i": "i32", "u": "u32"}[suffix]
    return f"use {f'vec{core.rows}{suffix}' if core.kind == 'vector' else scalar}"


def _vertex_way_out(layout: Layout) -> str:
    core = layout.core
    if core.kind == "struct":
        return "write its members in the class body"
    if layout.is_runtime_array:
        return f"give it a count: array[{core.python_name}, 4]"
    rows = core.rows if core.kind in ("vector", "matrix") else 1
    base = {"f": "float32", "h": "float16", "i": "sint32", "u": "uint32"}[layouts.RECORD_SCALARS[core.scalar].suffix]
    name = f"{base}x{4 if base == 'float16' and rows == 3 else rows}" if rows > 1 else base
    return f"use {f'array[{name}, {core.columns}]' if core.kind == 'matrix' else name}"


def spell(thing: Any) -> str:
    """How a message names what was given instead of a type."""
    if isinstance(thing, Batch):
        return f"a batch of {type(thing).__name__}"
    return thing.__name__ if isinstance(thing, type) else brief(thing)


def instead_of(thing: Any) -> str:
    """The way out where `thing` is no type that has a layout."""
    if thing is bool:
        return "use u32: WGSL's bool is not host-shareable"
    if thing is float or spell(thing) in ("float64", "double", "f64"):
        return "use f32"
    if thing is int or spell(thing) in ("int64", "uint64", "int8", "uint8", "int16", "uint16"):
        return "use i32 or u32"
    if isinstance(thing, TypeMeta) and TypeBase in thing.__bases__:
        example = {"atomic": "atomic[u32]", "array": "array[f32, 8]"}.get(thing.__name__)
        return f"give it its parameter: {example}" if example else f"use a subclass of {spell(thing)}"
    if isinstance(thing, TypeMeta) and thing is not TypeBase:
        return "WGSL types cannot contain themselves: keep an index, u32, into an array of them"
    return "use f32, f16, i32, u32, vec3f, mat4x4f, atomic[u32], array[f32, 8] or a subclass of Struct"
