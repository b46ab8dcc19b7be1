"""Remembers which bytes of views were last sent to a buffer, so that only changed ones are sent again."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from .. import _views

# Changed bytes closer than this are sent in one write, because another write would cost more than the bytes between.
GAP = 4096


class SentBytes:
    """The bytes that one buffer certainly holds because a view sent them.

    Every step is safe to interrupt: bytes are dropped before anything else is written, and are remembered only after
    they were sent. Hold `lock` from the first until the last of these steps.
    """

    __slots__ = ("__weakref__", "_known", "_recorded")

    # One lock for all buffers, because some writes go to several.
    lock = threading.RLock()

    def __init__(self) -> None:
        # Offset -> the bytes that are there. No two overlap.
        self._known: dict[int, bytearray] = {}
        # Ranges that an encoder writes when it is submitted. We cannot know when, so their content is never certain again.
        self._recorded: list[tuple[int, int]] = []

    @property
    def has_recorded(self) -> bool:
        """Whether an encoder may still write to the buffer."""
        return bool(self._recorded)

    def take(self, record: Any, offset: int) -> tuple[bytearray, list[tuple[int, int]]]:
        """A copy of the view's bytes, and the (start, size) of those that differ from the bytes known at `offset`.

        The bytes known there are dropped: call `remember` with the copy once the difference was sent.
        """
        now = memoryview(record)
        before = self._known.pop(offset, None)
        if before is None or len(before) != now.nbytes:
            return bytearray(now), [(0, now.nbytes)] if now.nbytes else []
        return before, _views.differences(now, before, GAP)

    def remember(self, offset: int, data: bytearray) -> None:
        """Remember that `data` is at `offset` now, unless an encoder may still write there."""
        if not any(start < offset + len(data) and offset < stop for start, stop in self._recorded):
            self._known[offset] = data

    def overwritten(self, start: int, stop: int, *, recorded: bool = False) -> None:
        """Forget bytes [start, stop): they are about to be written, or (`recorded`) will be when an encoder is submitted."""
        if recorded:
            joined = [(low, high) for low, high in self._recorded if low <= stop and start <= high]
            apart = [(low, high) for low, high in self._recorded if not (low <= stop and start <= high)]
            self._recorded = [*apart, (min([start, *(low for low, _ in joined)]), max([stop, *(h for _, h in joined)]))]
        if self._known:
            self._known = {k: v for k, v in self._known.items() if stop <= k or k + len(v) <= start}


_sent: weakref.WeakKeyDictionary[Any, SentBytes] = weakref.WeakKeyDictionary()


def sent_to(target: Any) -> SentBytes:
    """What is known about `target`, which is referenced weakly."""
    with SentBytes.lock:
        found = _sent.get(target)
        return _sent.setdefault(target, SentBytes()) if found is None else found


def changed_ranges(record: Any, target: Any, offset: int = 0) -> list[tuple[int, int]]:
    """The ranges (first byte, bytes) that differ from the bytes last taken for `target` at `offset`.

    `target` is the object that receives the bytes, such as a wgpu buffer; it is referenced weakly. The first call
    returns all bytes. Offsets and sizes of ranges are multiples of 4; close ranges are joined. From now on the bytes count as
    taken: call ``forget(target)`` if they did not arrive, or if anything else writes there.

    >>> from gpustruct import Struct, f32, vec3f, view
    >>> from gpustruct.views import changed_ranges
    >>> class Light(Struct):
    ...     color: vec3f
    ...     power: f32
    >>> light, buffer = view(Light), type("Buffer", (), {})()
    >>> changed_ranges(light, buffer), changed_ranges(light, buffer)
    ([(0, 16)], [])
    >>> light.power = 2
    >>> changed_ranges(light, buffer)
    [(12, 4)]
    """
    sent = sent_to(target)
    with sent.lock:
        data, ranges = sent.take(record, offset)
        for start, size in ranges:
            sent.overwritten(offset + start, offset + start + size)
        sent.remember(offset, data)
    return ranges


def forget(target: Any, *, recorded: bool = False) -> None:
    """Make everything count as changed for `target`; if `recorded` into a command encoder, from now on at each call.

    Call it after writing to `target` without gpustruct; gpustruct's own writes are known already.

    >>> from gpustruct.views import forget
    >>> forget(type("Buffer", (), {})())
    """
    sent = sent_to(target)
    with sent.lock:
        sent.overwritten(0, 1 << 62, recorded=recorded)
