"""How Python code spells a layout's type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .arithmetic import SCALAR_SIZE

if TYPE_CHECKING:
    from .measures import Layout


def python_name(layout: Layout) -> str:
    """How Python code spells this type: ``array[vec3f, 8]`` for ``array<vec3f, 8>``."""
    return layout.name.replace("<", "[").replace(">", "]")


def vec4_array(layout: Layout, times: int = 1) -> str:
    """The array of vec4 that holds what `layout`, an array, holds, or so many times that; "" where there is none."""
    scalars = layout.used // SCALAR_SIZE.get(layout.core.scalar, 4) * times
    if layout.core.kind in ("scalar", "vector") and layout.core.scalar != "f16":
        return f"array[vec4{layout.core.scalar[0]}, {-(-scalars // 4)}]"
    return ""
