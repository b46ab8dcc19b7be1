"""wgsl-verdicts.json: small modules with what naga and Tint said about them, and measured offsets."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from gpustruct import layout as layouts
from gpustruct.layout import Layout

ENTRIES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "wgsl-verdicts.json").read_text())
# Where the two disagree, the specification's word, and why.
SPECIFICATION = {
    "array<f32,64> (uniform)": "reject",  # Tint has uniform_buffer_standard_layout on, the module does not require it
    "array<vec2f,4> (uniform)": "reject",
    "struct followed by f32 (uniform)": "reject",
    "array<struct{f32},4> (uniform)": "reject",
    "nested @align(16) f32 struct, then f32 (uniform)": "accept",  # naga does not propagate @align
    "requires ubsl + array<f32,64> (uniform)": "accept",  # naga does not know the feature
    "requires ubsl + struct then f32 (uniform)": "accept",
    "atomic in storage read": "reject",  # naga accepts atomics in read-only storage
    "f64": "reject",  # naga's extension types
    "i64/u64": "reject",
}


def verdict(entry: dict[str, Any]) -> str:
    """What the specification says: the backends' word where they agree."""
    words = {entry[backend].split(":")[0] for backend in ("naga", "tint") if entry[backend]}
    return words.pop() if len(words) == 1 else SPECIFICATION[entry["name"]]


def backends_differ(entry: dict[str, Any]) -> bool:
    """Whether naga and Tint part ways: in the verdict, in an offset, or in the minimum binding size."""
    words = {entry[backend].split(":")[0] for backend in ("naga", "tint") if entry[backend]}
    sizes = set((entry.get("min_binding_size") or {}).values())
    return len(words) > 1 or "naga_offsets_differ" in entry or len(sizes) > 1


def offset_of(layout: Layout, path: str) -> int:
    """The byte at which the scalar at `path` starts: ``.a[2].x``, ``[1].m[0].y``."""
    offset = 0
    for step in re.findall(r"\.\w+|\[\d+\]", path):
        unit = layouts.SCALARS[layout.scalar].size if layout.scalar else 0
        if step[0] == "." and layout.kind == "struct":
            member = next(member for member in layout.fields if member.name == step[1:])
            offset, layout = offset + member.offset, member.layout
        elif layout.kind == "vector":
            offset += unit * ("xyzw".index(step[1]) if step[0] == "." else int(step[1:-1]))
        elif layout.kind == "matrix":
            offset += int(step[1:-1]) * (layout.size // layout.columns)
            layout = layouts.vector(layout.rows, layout.scalar)
        else:
            assert layout.element is not None
            offset, layout = offset + int(step[1:-1]) * layout.stride, layout.element
    return offset
