"""The vertex formats, and Vertex, the base of classes for interleaved vertex and instance buffers.

WebGPU §10.3.6 (GPUVertexFormat): its 41 formats under its names, with an underscore where it has a hyphen.
"""

from __future__ import annotations

from typing import Any

from . import layout as layouts
from .layout import VERTEX
from .members import attributed, core_of
from .types import StructMeta, TypeBase, TypeMeta, arrays_of, make_struct, plain_type, u32

# Users import them from there, and signatures should say gpustruct.vertex.float32x3.
MODULE = f"{__package__}.vertex"


def _formats(name: str, scalar: str, counts: tuple[int, ...]) -> tuple[Any, ...]:
    made = ((f"{name}x{rows}" if rows > 1 else name, rows) for rows in counts)
    return tuple(plain_type(layouts.vertex_format(spelled, scalar, rows), spelled, MODULE) for spelled, rows in made)


uint8, uint8x2, uint8x4 = _formats("uint8", "uint8", (1, 2, 4))
sint8, sint8x2, sint8x4 = _formats("sint8", "sint8", (1, 2, 4))
unorm8, unorm8x2, unorm8x4 = _formats("unorm8", "unorm8", (1, 2, 4))
snorm8, snorm8x2, snorm8x4 = _formats("snorm8", "snorm8", (1, 2, 4))
uint16, uint16x2, uint16x4 = _formats("uint16", "uint16", (1, 2, 4))
sint16, sint16x2, sint16x4 = _formats("sint16", "sint16", (1, 2, 4))
unorm16, unorm16x2, unorm16x4 = _formats("unorm16", "unorm16", (1, 2, 4))
snorm16, snorm16x2, snorm16x4 = _formats("snorm16", "snorm16", (1, 2, 4))
float16, float16x2, float16x4 = _formats("float16", "f16", (1, 2, 4))
float32, float32x2, float32x3, float32x4 = _formats("float32", "f32", (1, 2, 3, 4))
uint32, uint32x2, uint32x3, uint32x4 = _formats("uint32", "u32", (1, 2, 3, 4))
sint32, sint32x2, sint32x3, sint32x4 = _formats("sint32", "i32", (1, 2, 3, 4))
unorm10_10_10_2 = plain_type(layouts.vertex_format("unorm10_10_10_2", "unorm10_10_10_2", 4), module=MODULE)
unorm8x4_bgra = plain_type(layouts.vertex_format("unorm8x4_bgra", "unorm8x4_bgra", 4), module=MODULE)

# Every format, by the name that wgpu knows.
FORMATS: dict[str, Any] = {
    name.replace("_", "-"): value
    for name, value in list(globals().items())
    if isinstance(value, TypeMeta) and value.__module__ == MODULE
}


class Vertex(TypeBase, metaclass=StructMeta):
    """The base of vertex and instance buffers: annotate members with vertex formats, get records and batches of them.

    Each member is one attribute of the vertex shader, an ``array[float32x4, 4]`` four of them. A member starts at a
    multiple of its format's size or of 4, whichever is less; records are a multiple of 4 bytes apart; nothing else is
    padded. A Vertex class is a type like any other: `layout_of`, `pack`, `unpack`, `batch`, `view`, `dtype_of`,
    `diagram`, `suggest` and `RecordBuffer` accept it.

    Columns of floats are encoded for normalized formats, to the nearest integer, ties to even; a value outside
    [0, 1] or [-1, 1], or NaN, is a SourceError that names the record. Columns of the format's own integers (uint8
    for unorm8x4) are copied as they are. A column for unorm8x4_bgra is red, green, blue, alpha. For this format and
    unorm10_10_10_2, columns of packed words (one uint32 a record) are copied too. `unpack` gives floats. Raises
    LayoutError at the class line. WebGPU §10.3.6 (vertex state).

    >>> import numpy as np
    >>> from gpustruct import pack
    >>> from gpustruct.vertex import Vertex, float32x3, snorm8x4, unorm8x4, unorm16x2
    >>> class Corner(Vertex):
    ...     position: float32x3
    ...     normal: snorm8x4
    ...     uv: unorm16x2
    ...     color: unorm8x4
    >>> corners = Corner(position=np.zeros((5, 3)), normal=[0.0, 0, 1, 0], uv=[0.5, 1], color=[1.0, 0.5, 0, 1])
    >>> pack(corners).nbytes, pack(corners)[20:24]
    (120, array([255, 128,   0, 255], dtype=uint8))
    """

    __slots__ = ()
    __rules__ = VERTEX


def as_declared(T: Any) -> Any:
    """The type that a shader declares for `T`: the same offsets, with a u32 for each packed format.

    >>> from gpustruct import Struct, f32, wgsl
    >>> class Point(Struct):
    ...     color: unorm8x4
    ...     size: f32
    >>> as_declared(Point).color.type
    u32
    """
    return _as_declared(T, {})


def _as_declared(T: Any, made: dict[Any, Any]) -> Any:
    layout, core = T.__layout__, core_of(T)
    if core not in made:
        made[core] = u32 if layouts.unpack_function(core.__layout__) else core
        if core.__layout__.kind == "struct":
            inner = {m.name: _as_declared(core.__members__[m.name].type, made) for m in core.__layout__.fields}
            if any(type_ is not core.__members__[name].type for name, type_ in inner.items()):
                members = {m.name: attributed(inner[m.name], m) for m in core.__layout__.fields}
                made[core] = make_struct(core.__name__, members, core.__module__)
    return T if made[core] is core else arrays_of(made[core], [count for count, _ in layout.axes])
