"""How many threads to use, and work that goes on while this one does something else. The ranges: see `_kernel`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import SourceError
from .layout import whole_number

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# Below this many bytes waking a thread costs more than it saves; each is worth waking for so many more. Two or
# three cores have hardly more memory bandwidth than one, so there it takes more (docs/performance.md).
SPLIT_BYTES = 3 << 20
RANGE_BYTES = 1 << 19
FEW_CORES = 3
MOST = 1024

Work = Callable[[], tuple[int, int]]


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
    """Begin `work()` in another Python thread; does not wait."""
    # Once at most: a pool that could not begin a thread keeps the work in its queue all the same.
    unclaimed = threading.Lock()

    def once() -> tuple[int, int]:
        return work() if unclaimed.acquire(blocking=False) else (-1, 0)

    try:
        return _executor().submit(once)
    except RuntimeError:
        # No thread can begin: the system has none left, or the interpreter is about to end.
        from concurrent.futures import Future

        done = Future[tuple[int, int]]()
        done.set_result(once())
        return done
