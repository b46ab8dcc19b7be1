"""Texel formats of storage textures, each with its channel type in the shader. WGSL §6.5.1 (texel formats)."""

from __future__ import annotations

_FLOAT = """rgba8unorm rgba8snorm rgba16float r32float rg32float rgba32float bgra8unorm
    rgba16unorm rgba16snorm rg8unorm rg8snorm rg16unorm rg16snorm rg16float r8unorm r8snorm r16unorm r16snorm r16float
    rgb10a2unorm rg11b10ufloat"""
_UNSIGNED = "rgba8uint rgba16uint r32uint rg32uint rgba32uint rg8uint rg16uint r8uint r16uint rgb10a2uint"
_SIGNED = "rgba8sint rgba16sint r32sint rg32sint rgba32sint rg8sint rg16sint r8sint r16sint"

FORMATS: dict[str, str] = {
    **dict.fromkeys(_FLOAT.split(), "f32"),
    **dict.fromkeys(_UNSIGNED.split(), "u32"),
    **dict.fromkeys(_SIGNED.split(), "i32"),
}
