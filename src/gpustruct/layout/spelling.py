"""How Python code spells a layout's type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .scalars import SCALARS

if TYPE_CHECKING:
    from .measures import Layout


def python_name(layout: Layout) -> str:
    """How Python code spells this type: ``array[vec3f, 8]`` for ``array<vec3f, 8>``."""
    return layout.name.replace("<", "[").replace(">", "]")


def vec4_array(layout: Layout, times: int = 1) -> str:
    """The array of vec4 that holds what `layout`, an array, holds, or so many times that; "" where there is none."""
    core = layout.core
    if core.kind not in ("scalar", "vector") or SCALARS[core.scalar].size != 4:
        return ""
    scalars = layout.used // 4 * times
    return f"array[vec4{SCALARS[core.scalar].suffix}, {-(-scalars // 4)}]"
