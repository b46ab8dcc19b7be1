"""How many threads to use, and work in another thread. `_kernel` shares a run's records among threads."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import SourceError
from .layout import whole_number

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# From SPLIT_BYTES on, waking a thread saves more than it costs; one more for each RANGE_BYTES. Two or three cores have
# hardly more memory bandwidth than one, so they need more bytes (docs/performance.md).
SPLIT_BYTES = 3 << 20
RANGE_BYTES = 1 << 19
FEW_CORES = 3
MOST = 1024

Work = Callable[[], tuple[int, int]]


def available() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@functools.cache
def _executor() -> ThreadPoolExecutor:
    # Imported here: it takes a tenth of the time of importing gpustruct.
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(min(MOST, 4 * available()), thread_name_prefix="gpustruct")


if hasattr(os, "register_at_fork"):
    # A forked child has the executor but none of its threads.
    os.register_at_fork(after_in_child=_executor.cache_clear)


def choose(records: int, stride: int, count: int | None) -> int:
    """How many threads to use: `count`, or, where it is None, as many as pay for themselves."""
    if count is None:
        nbytes = records * stride
        if nbytes < SPLIT_BYTES:
            return 1
        cores = available()
        least, each = (16 << 20, 8 << 20) if cores <= FEW_CORES else (SPLIT_BYTES, RANGE_BYTES)
        return max(1, min(cores, nbytes // each)) if nbytes >= least else 1
    number = whole_number(count, 1, MOST)
    if number is None:
        raise SourceError.of("threads-value", threads=count, function="pack")
    return max(1, min(number, records))


def begin(work: Work) -> Future[tuple[int, int]]:
    """Start `work()` in another Python thread, without waiting for it."""
    # At most once: an executor that could not start a thread still keeps the work in its queue.
    unclaimed = threading.Lock()

    def once() -> tuple[int, int]:
        return work() if unclaimed.acquire(blocking=False) else (-1, 0)

    try:
        return _executor().submit(once)
    except RuntimeError:
        # No thread can start: the system has none left, or the interpreter is shutting down.
        from concurrent.futures import Future

        done = Future[tuple[int, int]]()
        done.set_result(once())
        return done
