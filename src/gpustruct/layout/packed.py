"""Packed formats in storage: the vertex formats that WGSL reads from a u32, so that a struct can hold them.

WGSL §17.12 (data unpacking built-in functions).
"""

from __future__ import annotations

from .record import Layout
from .rules import WGSL

# The function that reads each from a u32. The pack function with the rest of its name makes the u32.
UNPACK_FUNCTIONS = {
    "snorm8x4": "unpack4x8snorm",
    "unorm8x4": "unpack4x8unorm",
    "sint8x4": "unpack4xI8",
    "uint8x4": "unpack4xU8",
    "snorm16x2": "unpack2x16snorm",
    "unorm16x2": "unpack2x16unorm",
    "float16x2": "unpack2x16float",
}


def unpack_function(layout: Layout) -> str:
    """The WGSL function that reads what is inside the arrays of `layout` from a u32; "" for other types.

    >>> from gpustruct import array, layout_of, u32
    >>> from gpustruct.vertex import unorm8x4
    >>> unpack_function(layout_of(array[unorm8x4, 8])), unpack_function(layout_of(u32))
    ('unpack4x8unorm', '')
    """
    core = layout.core
    return UNPACK_FUNCTIONS.get(core.name, "") if core.kind == "vector" else ""


def is_host_shareable(layout: Layout) -> bool:
    """Whether a shader can declare the type in a buffer: a type of WGSL, or a packed format as a u32.

    >>> from gpustruct import layout_of
    >>> from gpustruct.vertex import float32x3, unorm8x4
    >>> is_host_shareable(layout_of(unorm8x4)), is_host_shareable(layout_of(float32x3))
    (True, False)
    """
    return layout.rules == WGSL or bool(unpack_function(layout))


def wgsl_name(layout: Layout) -> str:
    """The type as a shader declares it, a packed format as u32.

    >>> from gpustruct import array, layout_of
    >>> from gpustruct.vertex import unorm8x4
    >>> wgsl_name(layout_of(array[unorm8x4, 8]))
    'array<u32, 8>'
    """
    return layout.name.replace(layout.core.name, "u32") if unpack_function(layout) else layout.name


def wgsl_scalar(layout: Layout) -> str:
    """The scalar that a shader declares inside the arrays of `layout`; "" for a struct.

    >>> from gpustruct import array, layout_of, vec2h
    >>> from gpustruct.vertex import float16x2
    >>> wgsl_scalar(layout_of(array[vec2h])), wgsl_scalar(layout_of(float16x2))
    ('f16', 'u32')
    """
    return "u32" if unpack_function(layout) else layout.core.scalar
