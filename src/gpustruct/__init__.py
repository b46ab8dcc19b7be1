"""gpustruct: the `struct` module for the GPU.

A class describes a WGSL struct. gpustruct packs columns of Python data into the bytes of that struct, and reads them back.

    from gpustruct import Struct, f32, pack, vec3f
    from gpustruct.gpu import RecordBuffer

    class Particle(Struct):
        position: vec3f
        life: f32

    particles = Particle(position=P, life=L)            # columns: arrays of shape (n, 3) and (n,)
    data = pack(particles)                              # n × 16 bytes
    buffer = RecordBuffer(device, Particle, data=particles)

types     f32 i32 u32 f16; vec2f to vec4u; mat2x2f to mat4x4h; atomic[u32]; array[T, N], array[T];
          Struct; Annotated[T, align(16)], Annotated[T, size(32)]
layout    layout_of(T): sizes, offsets, padding, sizes of bindings; diagram(T), suggest(T)
batches   T(member=column, ...), batch(T, source); dtype_of(T), struct_of(dtype)
bytes     pack(batch), unpack(T, data); pack_to(path, batch)
uniforms  view(T), uniform_safe(T)
vertices  gpustruct.vertex: Vertex, 41 formats, layout
WGSL      gpustruct.wgsl: parse, declare, check
device    gpustruct.gpu: RecordBuffer, Uploader, write_buffer, read_buffer
errors    GpuStructError: LayoutError, SourceError, WgslError, BindingError; BackendWarning

`help(gpustruct.pack)` explains a function. The modules wgsl, vertex and gpu are imported when they are
first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import BackendWarning, BindingError, GpuStructError, LayoutError, SourceError, WgslError
from .layout import Layout
from .members import align, size
from .packing import pack
from .types import (
    Field,
    Struct,
    array,
    atomic,
    f16,
    f32,
    i32,
    layout_of,
    mat2x2f,
    mat2x2h,
    mat2x3f,
    mat2x3h,
    mat2x4f,
    mat2x4h,
    mat3x2f,
    mat3x2h,
    mat3x3f,
    mat3x3h,
    mat3x4f,
    mat3x4h,
    mat4x2f,
    mat4x2h,
    mat4x3f,
    mat4x3h,
    mat4x4f,
    mat4x4h,
    u32,
    vec2f,
    vec2h,
    vec2i,
    vec2u,
    vec3f,
    vec3h,
    vec3i,
    vec3u,
    vec4f,
    vec4h,
    vec4i,
    vec4u,
)
from .unpacking import unpack

if TYPE_CHECKING:
    from . import gpu as gpu
    from . import vertex as vertex
    from . import wgsl as wgsl
    from .dtypes import dtype_of
    from .files import pack_to
    from .inferring import struct_of
    from .report import diagram, suggest
    from .sources import batch
    from .uniform import uniform_safe
    from .views import view

__version__ = "0.1.0"

# `import *` leaves out the subpackages, which would load wgpu and lark.
__all__ = [
    "BackendWarning",
    "BindingError",
    "Field",
    "GpuStructError",
    "Layout",
    "LayoutError",
    "SourceError",
    "Struct",
    "WgslError",
    "align",
    "array",
    "atomic",
    "batch",
    "diagram",
    "dtype_of",
    "f16",
    "f32",
    "i32",
    "layout_of",
    "mat2x2f",
    "mat2x2h",
    "mat2x3f",
    "mat2x3h",
    "mat2x4f",
    "mat2x4h",
    "mat3x2f",
    "mat3x2h",
    "mat3x3f",
    "mat3x3h",
    "mat3x4f",
    "mat3x4h",
    "mat4x2f",
    "mat4x2h",
    "mat4x3f",
    "mat4x3h",
    "mat4x4f",
    "mat4x4h",
    "pack",
    "pack_to",
    "size",
    "struct_of",
    "suggest",
    "u32",
    "uniform_safe",
    "unpack",
    "vec2f",
    "vec2h",
    "vec2i",
    "vec2u",
    "vec3f",
    "vec3h",
    "vec3i",
    "vec3u",
    "vec4f",
    "vec4h",
    "vec4i",
    "vec4u",
    "view",
]


class _Exports(list[str]):
    """The type of ``__all__`` at run time: iterating gives the names, as `import *` needs, but none seems to be in it.

    `help` prints each class in full whose name is in ``__all__``. That would be 3,000 lines; this way it prints the overview.
    """

    def __contains__(self, name: object) -> bool:
        return False


globals()["__all__"] = _Exports(__all__)

_SUBPACKAGES = ("gpu", "vertex", "wgsl")
_LATER = {
    "batch": "sources",
    "diagram": "report",
    "dtype_of": "dtypes",
    "pack_to": "files",
    "struct_of": "inferring",
    "suggest": "report",
    "uniform_safe": "uniform",
    "view": "views",
}


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _LATER:
        value = getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBPACKAGES, "__version__"])
