"""Which bytes of views a buffer was last sent, so that only what changed is sent again."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from .. import _views

# Changed bytes closer than this are sent together: a write of its own costs more than they do.
GAP = 4096


class SentBytes:
    """What one buffer holds for certain because a view sent it.

    Every step is safe to interrupt: bytes are dropped before anything else is written, and are remembered only after
    they were sent. Hold `lock` from the first until the last of these steps.
    """

    __slots__ = ("__weakref__", "_known", "_recorded")

    # One for all buffers: some writes go to several at once.
    lock = threading.RLock()

    def __init__(self) -> None:
        # Offset -> the bytes that are there. No two overlap.
        self._known: dict[int, bytearray] = {}
        # Ranges that an encoder writes once it is submitted, which nobody tells us: never certain again.
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
        """Bytes `data` are at `offset` now, unless an encoder may still write there."""
        if not any(start < offset + len(data) and offset < stop for start, stop in self._recorded):
            self._known[offset] = data

    def overwritten(self, start: int, stop: int, *, recorded: bool = False) -> None:
        """Bytes [start, stop) are about to be written, or (`recorded`) will be when an encoder is submitted."""
        if recorded:
            joined = [(low, high) for low, high in self._recorded if low <= stop and start <= high]
            apart = [(low, high) for low, high in self._recorded if not (low <= stop and start <= high)]
            self._recorded = [*apart, (min([start, *(low for low, _ in joined)]), max([stop, *(h for _, h in joined)]))]
        if self._known:
            self._known = {k: v for k, v in self._known.items() if stop <= k or k + len(v) <= start}


_sent: weakref.WeakKeyDictionary[Any, SentBytes] = weakref.WeakKeyDictionary()


def sent_to(target: Any) -> SentBytes:
    """What is known of `target`, which is kept weakly."""
    found = _sent.get(target)
    return _sent.setdefault(target, SentBytes()) if found is None else found


def changed_ranges(record: Any, target: Any, offset: int = 0) -> list[tuple[int, int]]:
    """(first byte, bytes) of what differs from the bytes last taken for `target` at `offset`.

    `target` is whatever the bytes go to, such as a wgpu buffer; it is kept weakly. The first time that is
    all of them. Ranges start at multiples of 4 and have such sizes; close ones are joined. The bytes count as
    taken from now on: call ``forget(target)`` where they did not arrive, or where anything else writes there.

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
    """Everything counts as changed for `target` again; if `recorded` into a command encoder, from now on always.

    Call it after writing there by other means than gpustruct, whose own writes count already.

    >>> from gpustruct.views import forget
    >>> forget(type("Buffer", (), {})())
    """
    sent = sent_to(target)
    with sent.lock:
        sent.overwritten(0, 1 << 62, recorded=recorded)
