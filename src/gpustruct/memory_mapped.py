"""Memory-mapped columns: their pages are released once packed, so that files larger than memory can be read."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np

from .batches import Batch
from .columns import Columns
from .packing import Part, columns_of

# The pages of smaller batches stay in memory, because they may be read again.
LARGE_BYTES = 64 << 20
SHARED_MODES = ("r", "r+", "w+")


class MappedColumns:
    """The memory-mapped columns of `parts`, which pack into `nbytes` bytes in all; empty if these are few."""

    def __init__(self, batch: Batch, parts: Sequence[Part], nbytes: int) -> None:
        self._columns: dict[int, list[tuple[np.ndarray, Any]]] = {}
        if nbytes >= LARGE_BYTES:
            self._columns = {id(part): _mapped(columns_of(batch, part)) for part in parts}

    def __bool__(self) -> bool:
        return any(self._columns.values())

    def release(self, part: Part, start: int, stop: int) -> None:
        """Release the pages of records [start, stop); they are read from the file again when needed."""
        for view, memory in self._columns.get(id(part), []):
            low, high = np.lib.array_utils.byte_bounds(view[start:stop])
            origin = np.frombuffer(memory, np.uint8).__array_interface__["data"][0]
            first = -(-(low - origin) // mmap.PAGESIZE) * mmap.PAGESIZE
            length = (high - origin) // mmap.PAGESIZE * mmap.PAGESIZE - first
            if length > 0:
                memory.madvise(mmap.MADV_DONTNEED, first, length)


def _mapped(columns: Columns) -> list[tuple[np.ndarray, Any]]:
    """The columns that are memory-mapped files, with their maps; empty if that cannot be found out."""
    if not hasattr(mmap, "MADV_DONTNEED") or len(columns.shape) != 1:
        return []
    found: list[tuple[np.ndarray, Any]] = []
    for view in columns.views:
        base: Any = view
        shared = False
        while isinstance(base, np.ndarray):
            # A copy-on-write map would lose what was written to it.
            shared = shared or (isinstance(base, np.memmap) and base.mode in SHARED_MODES)
            base = base.base
        if shared and isinstance(base, mmap.mmap) and view.ndim and view.shape[0] == columns.shape[0]:
            found.append((view, base))
    return found
