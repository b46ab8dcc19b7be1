"""`where`: which records of a buffer are written, and from which records of a batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import BindingError, SourceError


class Run(NamedTuple):
    """Records [start, stop) of the batch, which go to the buffer's records from `target` on."""

    start: int
    stop: int
    target: int


class Selection(NamedTuple):
    """Record `sources[k]` of the batch goes to record `targets[k]` of the buffer. Targets ascend, so none repeats."""

    sources: np.ndarray
    targets: np.ndarray

    def _breaks(self) -> np.ndarray:
        return np.flatnonzero((np.diff(self.targets) != 1) | (np.diff(self.sources) != 1)) + 1

    @property
    def run_count(self) -> int:
        """The number of `runs`."""
        return len(self._breaks()) + (len(self.targets) > 0)

    @property
    def runs(self) -> list[Run]:
        """The longest ranges of records that are contiguous both in the batch and in the buffer."""
        if not len(self.targets):
            return []
        starts = np.concatenate([[0], self._breaks()])
        lengths = np.diff(np.concatenate([starts, [len(self.targets)]]))
        first = self.sources[starts]
        rows = zip(first.tolist(), (first + lengths).tolist(), self.targets[starts].tolist(), strict=True)
        return [Run(*row) for row in rows]

    def with_sources_in_order(self) -> Selection:
        """The same targets, for a batch that has one record for each of them."""
        return Selection(np.arange(len(self.targets)), self.targets)


def select(where: Any, shape: tuple[int, ...], capacity: int) -> Selection:
    """The selection that `where` (a mask, a slice or indices) makes, for a batch of `shape` and a buffer of `capacity` records.

    If an index repeats, the last record wins. Raises SourceError where the batch does not match `where`, BindingError for
    a record outside the buffer.

    >>> select([5, 2, 5], (3,), 10).targets.tolist(), select([5, 2, 5], (3,), 10).sources.tolist()
    ([2, 5], [1, 2])
    """
    if len(shape) > 1:
        raise SourceError.of("where-batch", current=f"a batch of shape {shape}", expected="one batch dimension")
    if isinstance(where, slice):
        targets, mask_length = _sliced(where, capacity), -1
    else:
        targets, mask_length = _indexed(where, shape, capacity)
    count = shape[0] if shape else 1
    if not shape:
        sources = np.zeros(len(targets), np.int64)
    elif count == len(targets):
        sources = np.arange(count)
    elif count == mask_length:
        sources = targets
    else:
        expected = f"{len(targets)}" + (f" or {mask_length}" if mask_length >= 0 else "")
        raise SourceError.of("where-batch", current=f"{count} records", expected=f"{expected} records")
    if len(targets) > 1 and (np.diff(targets) <= 0).any():
        # Sorted targets make longer runs, and the order of the copies does not matter.
        order = np.argsort(targets, kind="stable")
        targets, sources = targets[order], sources[order]
        last = np.append(targets[1:] != targets[:-1], True)
        targets, sources = targets[last], sources[last]
    return Selection(sources, targets)


def _sliced(where: slice, capacity: int) -> np.ndarray:
    try:
        return np.arange(*where.indices(capacity))
    except (TypeError, ValueError) as error:
        raise SourceError.of("where-type", current=f"{where}: {error}") from None


def _indexed(where: Any, shape: tuple[int, ...], capacity: int) -> tuple[np.ndarray, int]:
    """The indices that a mask or a list of indices names, and the mask's length, -1 for indices."""
    try:
        chosen = np.atleast_1d(np.asarray(where))
    except Exception as error:
        raise SourceError.of("where-type", current=f"{type(where).__name__}: {error}") from None
    if chosen.size == 0 and chosen.ndim <= 1 and chosen.dtype.kind == "f":
        chosen = chosen.astype(np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
        raise SourceError.of("where-type", current=f"an array of {chosen.dtype} {chosen.shape}")
    try:
        return _checked(chosen, shape, capacity)
    except MemoryError:
        raise SourceError.of("where-type", current=f"{len(chosen)} entries, which do not fit into memory") from None


def _checked(chosen: np.ndarray, shape: tuple[int, ...], capacity: int) -> tuple[np.ndarray, int]:
    if chosen.dtype.kind == "b":
        beyond = chosen[capacity:][: 1 if chosen.strides == (0,) else None]
        if beyond.any():
            raise BindingError.of("where-range", index=capacity + int(np.argmax(beyond)), capacity=capacity)
        return np.flatnonzero(chosen), len(chosen)
    if shape and shape[0] != len(chosen):
        raise SourceError.of("where-batch", current=f"{shape[0]} records", expected=f"{len(chosen)} records")
    if not shape and chosen.strides == (0,):
        chosen = chosen[:1]  # one index, any number of times
    outside = (chosen < 0) | (chosen >= capacity)
    if outside.any():
        raise BindingError.of("where-range", index=int(chosen[np.argmax(outside)]), capacity=capacity)
    return chosen.astype(np.int64), -1
