"""Ranges of records over a shared pool of threads."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .errors import SourceError

# Below this many bytes handing ranges out costs more than it saves (docs/performance.md).
SPLIT_BYTES = 4 << 20
RANGE_BYTES = 2 << 20
MOST = 1024

Work = Callable[[int, int], tuple[int, int]]


class _Pool:
    executor: ThreadPoolExecutor | None = None


def available() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _executor() -> ThreadPoolExecutor:
    if _Pool.executor is None:
        _Pool.executor = ThreadPoolExecutor(min(MOST, 4 * available()), thread_name_prefix="gpustruct")
    return _Pool.executor


def _forget() -> None:
    # A forked child has the pool's object but none of its threads.
    _Pool.executor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def choose(records: int, stride: int, count: int | None) -> int:
    """How many threads to use: `count` where it is given, else as many as the bytes are worth."""
    if count is None:
        nbytes = records * stride
        return 1 if nbytes < SPLIT_BYTES else max(1, min(available(), nbytes // RANGE_BYTES))
    try:
        number = 0 if isinstance(count, bool) else operator.index(count)
    except TypeError:
        number = 0
    if not 1 <= number <= MOST:
        raise SourceError.of("threads-value", threads=count, function="pack")
    return max(1, min(number, records))


def over_ranges(work: Work, records: int, stride: int, count: int | None) -> list[tuple[int, int]]:
    """Call `work(start, stop)` over all records, in ranges, one a thread; their results in order."""
    workers = choose(records, stride, count)
    if workers == 1:
        return [work(0, records)]
    # Whole lines of 64 bytes where records allow it, so that no two threads share one.
    step = -(-records // workers)
    step = -(-step // 16) * 16 if step > 64 else step
    starts = list(range(0, records, step))
    pool = _executor()
    futures: list[Any] = [pool.submit(work, start, min(start + step, records)) for start in starts[1:]]
    first = work(0, min(step, records))
    return [first, *(future.result() for future in futures)]
