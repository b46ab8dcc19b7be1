"""`where`: which records of a buffer are written, and from which records of a batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import BindingError, SourceError

Run = tuple[int, int, int]


class Selection(NamedTuple):
    """Record `sources[k]` of the batch goes to place `places[k]` of the buffer; no place comes twice."""

    sources: np.ndarray
    places: np.ndarray

    def _breaks(self) -> np.ndarray:
        return np.flatnonzero((np.diff(self.places) != 1) | (np.diff(self.sources) != 1)) + 1

    @property
    def run_count(self) -> int:
        """How many runs there are."""
        return len(self._breaks()) + (len(self.places) > 0)

    @property
    def runs(self) -> list[Run]:
        """(first, behind the last, place of the first): neighbours in the batch that stay neighbours."""
        if not len(self.places):
            return []
        starts = np.concatenate([[0], self._breaks()])
        lengths = np.diff(np.concatenate([starts, [len(self.places)]]))
        first = self.sources[starts]
        return list(zip(first.tolist(), (first + lengths).tolist(), self.places[starts].tolist(), strict=True))

    def in_order(self) -> Selection:
        """The same places, filled from a batch that has one record for each."""
        return Selection(np.arange(len(self.places)), self.places)


def select(where: Any, shape: tuple[int, ...], capacity: int) -> Selection:
    """What `where`, a mask, a slice or indices, makes of a batch of `shape` and a buffer of `capacity` records.

    Raises SourceError where the batch does not match, BindingError for a place outside the buffer.

    >>> select([5, 2, 5], (3,), 10).places.tolist(), select([5, 2, 5], (3,), 10).sources.tolist()
    ([2, 5], [1, 2])
    """
    if len(shape) > 1:
        raise SourceError.of("where-batch", current=f"a batch of shape {shape}", expected="one batch dimension")
    if isinstance(where, slice):
        places, mask_length = _sliced(where, capacity), -1
    else:
        places, mask_length = _indexed(where, capacity)
    count = shape[0] if shape else 1
    if not shape:
        sources = np.zeros(len(places), np.int64)
    elif count == len(places):
        sources = np.arange(count)
    elif count == mask_length:
        sources = places
    else:
        expected = f"{len(places)}" + (f" or {mask_length}" if mask_length >= 0 else "")
        raise SourceError.of("where-batch", current=f"{count} records", expected=f"{expected} records")
    if len(places) > 1 and (np.diff(places) <= 0).any():
        # Sorted, the last of equals: neighbours join up, and the order of copies does not matter.
        order = np.argsort(places, kind="stable")
        places, sources = places[order], sources[order]
        last = np.append(places[1:] != places[:-1], True)
        places, sources = places[last], sources[last]
    return Selection(sources, places)


def _sliced(where: slice, capacity: int) -> np.ndarray:
    try:
        return np.arange(*where.indices(capacity))
    except (TypeError, ValueError) as error:
        raise SourceError.of("where-type", current=f"{where}: {error}") from None


def _indexed(where: Any, capacity: int) -> tuple[np.ndarray, int]:
    try:
        chosen = np.atleast_1d(np.asarray(where))
    except Exception as error:
        raise SourceError.of("where-type", current=f"{type(where).__name__}: {error}") from None
    if chosen.size == 0 and chosen.ndim <= 1 and chosen.dtype.kind == "f":
        chosen = chosen.astype(np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
        raise SourceError.of("where-type", current=f"an array of {chosen.dtype} {chosen.shape}")
    if chosen.dtype.kind == "b":
        if len(chosen) > capacity and chosen[capacity:].any():
            raise BindingError.of("where-range", place=capacity + int(np.argmax(chosen[capacity:])), capacity=capacity)
        return np.flatnonzero(chosen), len(chosen)
    outside = (chosen < 0) | (chosen >= capacity)
    if outside.any():
        raise BindingError.of("where-range", place=int(chosen[np.argmax(outside)]), capacity=capacity)
    return chosen.astype(np.int64), -1
