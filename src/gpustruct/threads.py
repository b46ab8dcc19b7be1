"""Ranges of records over a shared pool of threads."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import SourceError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# Below this many bytes handing ranges out costs more than it saves (docs/performance.md).
SPLIT_BYTES = 8 << 20
RANGE_BYTES = 6 << 20
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
        # Here, for it takes a tenth of the time that the whole package takes to import.
        from concurrent.futures import ThreadPoolExecutor

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
    step = _step(records, workers)
    futures = begin_ranges(work, step, records, workers - 1) if step < records else []
    try:
        first = work(0, min(step, records))
        return [first, *(future.result() for future in futures)]
    except BaseException:
        # Interrupted: no range may go on writing into memory that its owner has back.
        for future in futures:
            future.cancel()
        for future in futures:
            if not future.cancelled():
                future.exception()
        raise


def _step(records: int, workers: int) -> int:
    # Whole lines of 64 bytes where records allow it, so that no two threads share one.
    step = -(-records // workers)
    return -(-step // 16) * 16 if step > 64 else step


def begin_ranges(work: Work, start: int, stop: int, workers: int) -> list[Future[tuple[int, int]]]:
    """Begin `work(start, stop)` over records [start, stop) in other threads, in ranges; does not wait."""
    step = max(1, _step(stop - start, workers))
    return [_begin(work, at, min(at + step, stop)) for at in range(start, stop, step)]


def _begin(work: Work, start: int, stop: int) -> Future[tuple[int, int]]:
    # Once at most: a pool that could not begin a thread keeps the range in its queue all the same.
    unclaimed = threading.Lock()

    def once() -> tuple[int, int]:
        return work(start, stop) if unclaimed.acquire(blocking=False) else (-1, 0)

    try:
        return _executor().submit(once)
    except RuntimeError:
        # No thread can begin: the system has none left, or the interpreter is about to end.
        from concurrent.futures import Future

        done = Future[tuple[int, int]]()
        done.set_result(once())
        return done
