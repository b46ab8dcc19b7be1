"""Which bytes of a view have changed since they were last taken for a buffer."""

from __future__ import annotations

import weakref
from typing import Any

from .. import _views

# Changed bytes closer than this go up together: a write of its own costs more than they do.
GAP = 4096

# What went up last, for each buffer: offset -> the bytes that lie there.
_uploaded: weakref.WeakKeyDictionary[Any, dict[int, bytearray]] = weakref.WeakKeyDictionary()
# Buffers that a command encoder writes when it is submitted. Nobody says when that is, so what they hold is never
# known again.
_recorded: weakref.WeakSet[Any] = weakref.WeakSet()


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
    now = memoryview(record)
    if target in _recorded:
        return [(0, now.nbytes)] if now.nbytes else []
    known = _uploaded.setdefault(target, {})
    before = known.get(offset)
    for start in [k for k, held in known.items() if k < offset + now.nbytes and offset < k + len(held)]:
        if start != offset:
            del known[start]
    if before is not None and len(before) == now.nbytes:
        return _views.differences(now, before, GAP)
    known[offset] = bytearray(now)
    return [(0, now.nbytes)] if now.nbytes else []


def forget(target: Any, *, recorded: bool = False) -> None:
    """Everything counts as changed for `target` again; if `recorded` into a command encoder, from now on always.

    gpustruct calls it before each write of its own; call it after writing there by other means.

    >>> from gpustruct.views import forget
    >>> forget(type("Buffer", (), {})())
    """
    if recorded:
        _recorded.add(target)
    _uploaded.pop(target, None)
