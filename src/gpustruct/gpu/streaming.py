"""Columns that lie in files: what was packed is let go, so that a file larger than memory can pass."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from ..columns import Columns

# Smaller batches stay where they are: they may be wanted again.
LARGE_BYTES = 64 << 20
SHARED_MODES = ("r", "r+", "w+")


def file_columns(columns: Columns) -> list[tuple[np.ndarray, Any]]:
    """The columns that are maps of files, with their maps; none where that cannot be told."""
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


def forget(columns: list[tuple[np.ndarray, Any]], start: int, stop: int) -> None:
    """Let the pages of records [start, stop) go; whoever reads them again gets them from the file."""
    for view, memory in columns:
        low, high = np.lib.array_utils.byte_bounds(view[start:stop])
        origin = np.frombuffer(memory, np.uint8).__array_interface__["data"][0]
        first = -(-(low - origin) // mmap.PAGESIZE) * mmap.PAGESIZE
        length = (high - origin) // mmap.PAGESIZE * mmap.PAGESIZE - first
        if length > 0:
            memory.madvise(mmap.MADV_DONTNEED, first, length)
