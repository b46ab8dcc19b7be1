"""Maps buffers. An answer of wgpu-py can get lost: this module detects that, and asks again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from typing import Any

from wgpu._async import async_sleep

from ...errors import BindingError
from .liveness import lost, owner_of, refused
from .packages import BufferUsage, gpu_errors, of

# Seconds between checks that the device is alive, while something waits for it: each pause is twice the one before.
FIRST_PAUSE, LAST_PAUSE = 0.03, 16.0
# A device that answers nothing for this many seconds is given up.
LONGEST_WAIT = 600.0
# The longest sleep, in seconds, of a coroutine between two checks. The first sleep is 0.
LONGEST_SLEEP = 0.002
# An Event whose lock is held for this many seconds was left locked by an interrupt.
LOCK_TIMEOUT = 0.3
# Callbacks whose answers got lost: one for each Ctrl-C inside a callback, so there are few.
_lost_callbacks: list[Any] = []


class Mapping:
    """A buffer that is being mapped, with `mode` "READ" or "WRITE".

    wgpu-py answers through a callback. A Ctrl-C inside that callback is printed and swallowed: the buffer is mapped, but
    the answer never arrives. `wait` detects this, and maps the buffer again.
    """

    def __init__(self, buffer: Any, mode: str) -> None:
        self._buffer, self._mode = buffer, mode
        self._promise = self._request()

    def _request(self) -> Any:
        if self._mode == "READ":
            try:
                # This mode leaves out an empty submit that wgpu-py would add.
                return _map(self._buffer, "READ_NOSYNC")
            except (ValueError, KeyError, TypeError):
                pass
        return _map(self._buffer, self._mode)

    @property
    def arrived(self) -> bool:
        """Whether the answer has arrived, so that `wait` returns at once."""
        _poll(owner_of(self._buffer))
        return self._promise._thread_event.is_set()

    def wait(self, function: str) -> None:
        """Wait for the answer. BindingError if the device is lost, refuses, or answers nothing for ten minutes.

        You may call it again, after an interrupt or after it has returned.
        """
        device = owner_of(self._buffer)
        try:
            while not _answered(device, self._promise, function):
                self._map_again()
            self._promise.sync_wait()
        except RuntimeError as error:
            # wgpu-py raises this if the mapping was refused.
            raise refused(error, function) from None
        except gpu_errors() as error:
            raise refused(error, function) from None
        if lost(device):
            # The mapped memory is gone, too.
            raise BindingError.of("device-lost", function=function, current="destroyed")

    def _map_again(self) -> None:
        """The answer got lost, so the buffer is mapped: tell wgpu-py so, unmap it, and map it again."""
        promise = self._promise
        # wgpu-py frees the callback with the promise. If wgpu-native calls it after all, its code must still be there.
        _lost_callbacks.append(promise._keepalive)
        promise._wgpu_set_input(1)
        promise.sync_wait()
        self._buffer.unmap()
        self._promise = self._request()

    def __await__(self) -> Generator[Any, Any, None]:
        """Sleep in any event loop that wgpu-py supports, until `wait` would return at once.

        Also ends if the answer got lost or the device is lost: then `wait` deals with it. BindingError if the device
        answers nothing for ten minutes.
        """
        # wgpu-py's own __await__ would never end if the answer got lost.
        began, pause, later_arrived = time.monotonic(), 0.0, False
        later: Any = None
        while not self.arrived and not later_arrived and not lost(owner_of(self._buffer)):
            if time.monotonic() - began > LONGEST_WAIT:
                raise _silent("read_async")
            if pause >= LONGEST_SLEEP:
                # Answers arrive in order: when that of a later request is here, this one is here too or got lost.
                if later is None:
                    later = _later_request(owner_of(self._buffer))
                later_arrived = later._thread_event.is_set()
            yield from async_sleep(pause).__await__()
            pause = min(LONGEST_SLEEP, pause + 0.0001)


def _silent(function: str) -> BindingError:
    return BindingError.of("device-silent", function=function, seconds=round(LONGEST_WAIT))  # type: ignore[return-value]


def _map(buffer: Any, mode: str) -> Any:
    # wgpu-py's polling thread waits for this Event.
    event = getattr(getattr(owner_of(buffer), "_poller", None), "_event", None)
    _unlock(event)
    try:
        return buffer.map_async(mode)
    except BaseException:
        _unlock(event)
        raise


def _poll(device: Any) -> None:
    """Let a package without a polling thread call the callbacks that are due."""
    if not of(device).has_poller:
        device._poll()


def _wait(device: Any, event: Any, seconds: float) -> bool:
    """Wait for an Event, at most `seconds`. Returns whether it is set."""
    deadline = time.monotonic() + seconds
    while not of(device).has_poller and not event.is_set():
        _poll(device)
        if event.wait(LONGEST_SLEEP) or time.monotonic() > deadline:
            return event.is_set()
    if event.is_set():
        return True
    _unlock(event)
    try:
        return bool(event.wait(seconds))
    except BaseException as error:
        _unlock(event)
        if isinstance(error, RuntimeError) and error.__context__ is not None:
            # The interrupt came before the Event had taken its lock again, so that releasing it failed.
            raise error.__context__ from None
        raise


def _unlock(event: Any) -> None:
    """Release the lock of a threading.Event if an interrupt left it locked: its users would wait for ever.

    Python may raise KeyboardInterrupt after `with` has taken a lock and before its block begins. An Event needs its
    lock only for microseconds.
    """
    interrupt: BaseException | None = None
    deadline, done = time.monotonic() + LOCK_TIMEOUT, False
    while not done:
        try:
            _release(event, deadline)
            done = True
        except BaseException as error:
            # A second interrupt must not leave the lock held either. It is raised at the end.
            interrupt = error
    if interrupt is not None:
        raise interrupt


def _release(event: Any, deadline: float) -> None:
    lock = getattr(getattr(event, "_cond", None), "_lock", None)
    while lock is not None and lock.locked():
        # Taking the lock ourselves could leave it held after an interrupt, so we only look.
        time.sleep(0.001)
        if time.monotonic() > deadline:
            with contextlib.suppress(RuntimeError):
                lock.release()
            break


def _later_request(device: Any) -> Any:
    """A promise that is fulfilled after the device has finished everything submitted so far."""
    # wgpu-py's on_submitted_work_done_async raises a TypeError in wgpu-py 0.32. The submit is needed: a buffer that no submit
    # uses is mapped at once.
    buffer = device.create_buffer(size=8, usage=BufferUsage.MAP_READ | BufferUsage.COPY_DST)
    encoder = device.create_command_encoder()
    encoder.clear_buffer(buffer)
    device.queue.submit([encoder.finish()])
    return _map(buffer, "READ")


def _answered(device: Any, promise: Any, function: str) -> bool:
    """Wait for a promise. False if its answer got lost: the device has answered a later request.

    Answers arrive in order, so a slow device is not mistaken for a lost answer: later requests are slow, too.
    """
    began, pause, later_arrived = time.monotonic(), FIRST_PAUSE, False
    later: list[Any] = []
    while not _wait(device, promise._thread_event, pause):
        if lost(device):
            raise BindingError.of("device-lost", function=function, current="destroyed")
        if time.monotonic() - began > LONGEST_WAIT:
            raise _silent(function)
        if later_arrived:
            return promise._thread_event.is_set()
        # Pause once more after a later answer: another thread may be about to deliver the promise's own.
        later_arrived = any(request._thread_event.is_set() for request in later)
        if not later_arrived:
            later.append(_later_request(device))
        pause = min(LAST_PAUSE, 2 * pause)
    return True
