"""Packs a chunk plan into memory, in this thread or in another, and checks values without packing them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _kernel, threads
from ..batches import Batch
from ..columns import Columns
from ..memory_mapped import MappedColumns
from ..packing import Part, columns_of, fault
from .chunking import ChunkPlan, Span

# Mapped memory is written with streaming stores, which bypass the caches.
STORES = _kernel.MODE_STREAM
# Values are checked in blocks of this many bytes: large enough for all threads, small enough to report progress.
CHECK_BYTES = 8 << 20


class Packing:
    """Packs one chunk plan. It keeps the batch and the memory alive until it is done."""

    def __init__(self, batch: Batch, plan: ChunkPlan, workers: int, mode: int) -> None:
        self._batch, self._plan, self._workers, self._mode = batch, plan, workers, mode
        self._refused: tuple[Part, int, int] | None = None
        self._future: Any = None

    def begin(self, memory: Any, owner: Any = None) -> None:
        """Start to pack into `memory`, which belongs to `owner`: that object is kept alive until all is packed."""
        if self._workers == 1:
            self._run(memory)
            return

        def work(_owner: Any = owner) -> tuple[int, int]:
            self._run(memory)
            return -1, 0

        self._future = threads.begin(work)

    def _run(self, memory: Any) -> None:
        for piece in self._plan.pieces:
            part, stride = piece.part, piece.part.stride
            if not part.streamable and stride > part.run.size:
                _kernel.zero(memory, piece.at, 0, (piece.stop - piece.start) * stride, 1)
            mode = self._mode if part.streamable else _kernel.MODE_PLAIN
            record, leaf = part.run.scatter(memory, piece.at, stride, piece.start, piece.stop, mode, self._workers)
            if record >= 0:
                self._refused = (part, record, leaf)
                return

    def finish(self) -> None:
        """Wait until all is packed. Raises SourceError for the first value that does not fit."""
        self.wait()
        if self._refused is not None:
            raise fault(self._batch, *self._refused)

    def wait(self) -> None:
        """Wait until all is packed."""
        if self._future is not None:
            self._future.result()


def pack_now(batch: Batch, plan: ChunkPlan, memory: Any) -> None:
    """Pack a plan in this thread. Raises SourceError for the first value that does not fit."""
    packing = Packing(batch, plan, 1, _kernel.MODE_PLAIN)
    packing.begin(memory)
    packing.finish()


def check_spans(
    batch: Batch, spans: Sequence[Span], workers: int, files: MappedColumns, checked: Callable[[int], object]
) -> None:
    """Raise SourceError for the first value that does not fit. After each block, `checked` gets its number of records."""
    for span in spans:
        must_check = may_fail(columns_of(batch, span.part))
        step = max(1, CHECK_BYTES // span.part.stride)
        for start in range(span.start, span.stop, step):
            stop = min(span.stop, start + step)
            if must_check:
                count = 1 if (stop - start) * span.part.stride < threads.SPLIT_BYTES else workers
                run, stride = span.part.run, span.part.stride
                record, leaf = run.scatter(None, 0, stride, start, stop, _kernel.MODE_CHECK, count)
                if record >= 0:
                    raise fault(batch, span.part, record, leaf)
                files.release(span.part, start, stop)
            checked(stop - start)


def may_fail(columns: Columns) -> bool:
    """Whether the dtypes of the columns allow a value that is out of range for its member.

    >>> from gpustruct import f32
    >>> from gpustruct.columns import collect
    >>> may_fail(collect(f32(np.zeros(3, np.float32)))), may_fail(collect(f32(np.zeros(3))))
    (False, True)
    """
    return any(
        not _always_fits(view.dtype, leaf.scalar) for leaf, view in zip(columns.leaves, columns.views, strict=True)
    )


def _always_fits(dtype: np.dtype, scalar: str) -> bool:
    kind, size = dtype.kind, dtype.itemsize
    if kind == "b":
        return True
    if scalar == "u32":
        return kind == "u" and size <= 4
    if scalar == "i32":
        return (kind == "i" and size <= 4) or (kind == "u" and size < 4)
    if kind == "f":
        return size <= (4 if scalar == "f32" else 2)
    return scalar == "f32" or size == 1 or (kind == "i" and size == 2)
