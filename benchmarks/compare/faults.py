"""Where a tool's bytes or checks are not WGSL's: the smallest example of each, run on the version that is installed.

A line appears only while the example still shows it. Some of these are choices: numpy and ctypes promise C's rules, and
pygfx writes the struct that its shaders read. What counts is a shader that says something else.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from column_ways import slangpy_device, slangpy_layout
from python_ways import version
from records import SPOT


def line(peer: str, example: str, gives: str, expected: str, note: str) -> dict[str, str]:
    package = peer if peer != "ctypes" else ""
    return {
        "peer": peer,
        "version": version(package),
        "example": example,
        "gives": gives,
        "expected": expected,
        "note": note,
    }


def numpy_aligned() -> dict[str, str]:
    dtype = np.dtype([("a", "f4"), ("b", "3f4")], align=True)
    example = 'np.dtype([("a", "f4"), ("b", "3f4")], align=True)'
    return line("numpy", example, f"b at {dtype.fields['b'][1]}", "b at 16", "C's rules; give offsets")


def ctypes_vector() -> dict[str, str]:
    fields = [("a", ctypes.c_float), ("b", ctypes.c_float * 3)]
    cls: Any = type("S", (ctypes.Structure,), {"_fields_": fields})
    return line(
        "ctypes", "a: c_float, b: c_float * 3", f"b at {cls.b.offset}", "b at 16", "C's rules; add members for gaps"
    )


def pygfx_array() -> dict[str, str]:
    utils: Any = importlib.import_module("pygfx.utils")
    data = utils.array_from_shadertype({"a": "2*3xf4"})
    stride = data["a"].strides[0]
    note = "its shader says array<vec3<f32>,2>; use 2*4xf4"
    return line(
        "pygfx",
        'array_from_shadertype({"a": "2*3xf4"})',
        f"elements {stride} bytes apart",
        "elements 16 bytes apart",
        note,
    )


def pygfx_order() -> dict[str, str]:
    utils: Any = importlib.import_module("pygfx.utils")
    data = utils.array_from_shadertype({"a": "f4", "b": "4xf4"})
    gives = ", ".join(f"{name} at {data.dtype.fields[name][1]}" for name in "ab")
    note = "sorted on purpose, and so is the struct of its own shaders"
    return line("pygfx", 'array_from_shadertype({"a": "f4", "b": "4xf4"})', gives, "a at 0, b at 16", note)


def slangpy_padded() -> dict[str, str]:
    device, stride = slangpy_device(), slangpy_layout(SPOT).stride
    kind = device.info.type.name
    note = f"its {kind} device's rules, not WGSL's"
    return line("slangpy", "float3 a; float3 b; float2 c", f"{stride} bytes", "48 bytes", note)


EXAMPLES: tuple[Callable[[], dict[str, str]], ...] = (
    numpy_aligned,
    ctypes_vector,
    pygfx_array,
    pygfx_order,
    slangpy_padded,
)


def found(others: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    """The lines that still hold here; `others` are those of JavaScript."""
    for example in EXAMPLES:
        try:
            others = [*others, example()]
        except Exception:  # Not installed: run.py has named it.
            continue
    for one in others:
        if one["gives"] != one["expected"]:
            yield one
