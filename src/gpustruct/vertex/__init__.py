"""Vertex data: classes of interleaved vertex and instance buffers, their formats, and their description for pipelines.

    from gpustruct import vertex
    from gpustruct.vertex import Vertex, float32x3, snorm8x4, unorm8x4, unorm16x2

    class Corner(Vertex):
        position: float32x3
        normal: snorm8x4
        uv: unorm16x2
        color: unorm8x4

    vertex.layout(Corner)               # for the `buffers` of a pipeline's vertex state

classes   Vertex; Annotated[T, location(n)], and align, size as in a Struct; array[float32x4, 4] for a matrix
formats   float32 to float32x4, float16, uint8, unorm8, snorm16 and so on: the 41 of WebGPU, with unorm8x4_bgra and
          unorm10_10_10_2 for the two whose names have hyphens
pipelines layout(V): the buffer's layout as wgpu takes it; check(V, text, entry): whether a shader can read it
indices   uint16 and uint32, in a RecordBuffer with usage="INDEX"
"""

from ..formats import (
    Vertex,
    float16,
    float16x2,
    float16x4,
    float32,
    float32x2,
    float32x3,
    float32x4,
    sint8,
    sint8x2,
    sint8x4,
    sint16,
    sint16x2,
    sint16x4,
    sint32,
    sint32x2,
    sint32x3,
    sint32x4,
    snorm8,
    snorm8x2,
    snorm8x4,
    snorm16,
    snorm16x2,
    snorm16x4,
    uint8,
    uint8x2,
    uint8x4,
    uint16,
    uint16x2,
    uint16x4,
    uint32,
    uint32x2,
    uint32x3,
    uint32x4,
    unorm8,
    unorm8x2,
    unorm8x4,
    unorm8x4_bgra,
    unorm10_10_10_2,
    unorm16,
    unorm16x2,
    unorm16x4,
)
from ..members import location
from .attributes import layout
from .checking import check

__all__ = [
    "Vertex",
    "check",
    "float16",
    "float16x2",
    "float16x4",
    "float32",
    "float32x2",
    "float32x3",
    "float32x4",
    "layout",
    "location",
    "sint8",
    "sint8x2",
    "sint8x4",
    "sint16",
    "sint16x2",
    "sint16x4",
    "sint32",
    "sint32x2",
    "sint32x3",
    "sint32x4",
    "snorm8",
    "snorm8x2",
    "snorm8x4",
    "snorm16",
    "snorm16x2",
    "snorm16x4",
    "uint8",
    "uint8x2",
    "uint8x4",
    "uint16",
    "uint16x2",
    "uint16x4",
    "uint32",
    "uint32x2",
    "uint32x3",
    "uint32x4",
    "unorm8",
    "unorm8x2",
    "unorm8x4",
    "unorm8x4_bgra",
    "unorm10_10_10_2",
    "unorm16",
    "unorm16x2",
    "unorm16x4",
]
