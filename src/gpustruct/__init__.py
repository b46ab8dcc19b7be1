"""gpustruct: the `struct` module for the GPU.

A class says what a WGSL struct looks like; gpustruct packs columns of Python data into exactly those
bytes, and reads them back. `gpustruct.wgsl` reads and writes WGSL text, `gpustruct.gpu` fills wgpu
buffers; both are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .dtypes import dtype_of, struct_of
from .errors import BackendWarning, BindingError, GpuStructError, LayoutError, SourceError, WgslError
from .layout import Layout
from .packing import pack
from .sources import batch
from .types import (
    Field,
    Struct,
    align,
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
    size,
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
from .views import view

if TYPE_CHECKING:
    from . import gpu as gpu
    from . import wgsl as wgsl
    from .report import diagram, suggest
    from .uniform import uniform_safe

__version__ = "0.1.0"

# The two rooms are no part of `import *`: that would load wgpu and lark.
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

_ROOMS = ("gpu", "wgsl")
_LATER = {"diagram": "report", "suggest": "report", "uniform_safe": "uniform"}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _LATER:
        value = getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *_LATER})
