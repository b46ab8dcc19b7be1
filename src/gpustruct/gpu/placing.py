"""Scattered records: compacted, sent up in one piece, and put in their places by a compute shader."""

from __future__ import annotations

from typing import Any

from .places import Placement
from .upload import Uploader

# Up to so many runs a copy command for each costs less than the shader (docs/performance.md).
MANY_RUNS = 64


class Placer:
    """The shader that puts compacted records in their places, and the buffers that feed it."""

    def __init__(self, device: Any, uploader: Uploader) -> None:
        self._device, self._uploader = device, uploader

    def write(self, buffer: Any, batch: Any, chosen: Placement, base: int, stride: int) -> bool:
        return False
