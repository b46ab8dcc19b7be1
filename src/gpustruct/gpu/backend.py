"""wgpu-py's private names, its error texts, and how its answers can get lost: no other module knows these."""

from __future__ import annotations

import contextlib
import time
import traceback
import weakref
from collections.abc import Generator
from typing import Any

import wgpu
from wgpu._async import async_sleep

from ..errors import BindingError

# Seconds until a wait looks for the first time at whether the device is alive; each look comes after twice as long.
FIRST_LOOK, LAST_LOOK = 0.03, 16.0
# Seconds after which a device that has answered nothing at all is given up.
LONGEST_WAIT = 600.0
# Seconds that a coroutine sleeps before it looks again; the first time none.
LONGEST_NAP = 0.002
# Seconds after which nobody holds the lock of an Event any more.
HELD_TOO_LONG = 0.3


def owner_of(thing: Any) -> Any:
    """The device that a wgpu object belongs to."""
    # wgpu-py keeps it in an attribute that it does not document, on every object alike.
    return getattr(thing, "_device", None)


def lost(device: Any) -> bool:
    """Whether the device was destroyed: it never answers again."""
    return getattr(device, "_poller", device) is None


def refused(error: Exception, function: str) -> BindingError:
    """What wgpu says when a device or a buffer is gone, in our words."""
    current = " ".join(str(error).split())
    return BindingError.of("device-lost", function=function, current=current)  # type: ignore[return-value]


class _Watch:
    """Stands in for `destroy` of one buffer, and knows whether it was called."""

    def __init__(self, buffer: Any) -> None:
        # Weak: nothing but the buffer itself holds on to this.
        self._buffer, self.destroyed = weakref.ref(buffer), False

    def __call__(self) -> None:
        buffer = self._buffer()
        if buffer is not None:
            type(buffer).destroy(buffer)
            self.destroyed = True


def check_alive(device: Any, buffer: Any, function: str) -> None:
    """BindingError if the buffer was destroyed or the device is lost.

    A submit that uses either ends the process: wgpu-native takes errors of a submit for fatal, and wgpu-py does not
    know which buffers were destroyed. So the device is asked once for each buffer, whose `destroy` then says it.
    A device lost by itself is noticed when an encoder is finished.
    """
    if lost(device):
        raise BindingError.of("device-lost", function=function, current="destroyed")
    watch = vars(buffer).get("destroy")
    if watch.__class__ is not _Watch:
        _ask_alive(device, buffer, function)
        vars(buffer)["destroy"] = _Watch(buffer)
    elif watch.destroyed:
        _ask_alive(device, buffer, function)


def _ask_alive(device: Any, buffer: Any, function: str) -> None:
    # wgpu says what is the matter when it refuses a write, and a write of one byte it refuses always, without effect
    # (WebGPU §19.1: the size must be a multiple of 4).
    try:
        device.queue.write_buffer(buffer, 0, b"\0")
    except wgpu.GPUError as error:
        if "destroyed" in str(error) or "lost" in str(error):
            raise refused(error, function) from None
        # wgpu-py's error and its frames refer to one another, and to the buffer: it would outlive its last user.
        traceback.clear_frames(error.__traceback__)


def mapped_memory(buffer: Any, size: int) -> memoryview | None:
    """The first `size` bytes of a buffer mapped for writing; None where wgpu-py does not hand them out."""
    mapped_range = getattr(buffer, "_experimental_get_mapped_range", None)
    return None if mapped_range is None else mapped_range(0, size)


class Mapping:
    """A buffer that is being mapped: for `mode` "READ" or "WRITE".

    wgpu-py answers through a callback. A Ctrl-C inside that callback is printed and swallowed, and the answer
    never comes; the buffer is mapped all the same. `wait` notices, and maps it once more.
    """

    def __init__(self, buffer: Any, mode: str) -> None:
        self._buffer, self._mode = buffer, mode
        self._promise = self._request()

    def _request(self) -> Any:
        if self._mode == "READ":
            try:
                # Without the empty submit that wgpu-py adds otherwise.
                return _map(self._buffer, "READ_NOSYNC")
            except (ValueError, KeyError, TypeError):
                pass
        return _map(self._buffer, self._mode)

    @property
    def arrived(self) -> bool:
        """Whether the answer has come, so that `wait` returns at once."""
        return self._promise._thread_event.is_set()

    def wait(self, function: str) -> None:
        """Wait for the answer; BindingError if the device is lost, refuses, or answers nothing for ten minutes.

        It can be called again: after an interrupt, and after it has returned.
        """
        device = owner_of(self._buffer)
        try:
            while not _answered(device, self._promise, function):
                self._map_again()
            self._promise.sync_wait()
        except RuntimeError as error:
            # wgpu-py's word for a mapping that was refused.
            raise refused(error, function) from None
        except wgpu.GPUError as error:
            raise refused(error, function) from None
        if lost(device):
            # What was mapped went with the device.
            raise BindingError.of("device-lost", function=function, current="destroyed")

    def _map_again(self) -> None:
        """The answer got lost: take the buffer for mapped, as it is, and ask again."""
        promise = self._promise
        promise._wgpu_set_input(1)
        promise.sync_wait()
        self._buffer.unmap()
        self._promise = self._request()

    def __await__(self) -> Generator[Any, Any, None]:
        """Let a coroutine of any event loop that wgpu-py knows sleep until `wait` has no need to.

        BindingError if the device answers nothing for ten minutes. Where the answer got lost, or the device is, it
        ends too, and `wait` says the rest.
        """
        # Not wgpu-py's own: it would never end where the answer got lost.
        began, nap, seen = time.monotonic(), 0.0, False
        later: Any = None
        while not self.arrived and not seen and not lost(owner_of(self._buffer)):
            if time.monotonic() - began > LONGEST_WAIT:
                raise _silent("read_async")
            if nap >= LONGEST_NAP:
                # Answers come in order: once a later question has its answer, so has this one, or never will.
                if later is None:
                    later = _question(owner_of(self._buffer))
                seen = later._thread_event.is_set()
            yield from async_sleep(nap).__await__()
            nap = min(LONGEST_NAP, nap + 0.0001)


def _silent(function: str) -> BindingError:
    return BindingError.of("device-silent", function=function, seconds=round(LONGEST_WAIT))  # type: ignore[return-value]


def _map(buffer: Any, mode: str) -> Any:
    wakes = getattr(getattr(owner_of(buffer), "_poller", None), "_event", None)
    _free(wakes)
    try:
        return buffer.map_async(mode)
    except BaseException:
        _free(wakes)
        raise


def _wait(event: Any, seconds: float) -> bool:
    if event.is_set():
        return True
    _free(event)
    try:
        return bool(event.wait(seconds))
    except BaseException as error:
        _free(event)
        if isinstance(error, RuntimeError) and error.__context__ is not None:
            # The interrupt came before the Event had its lock back, which it then failed to release.
            raise error.__context__ from None
        raise


def _free(event: Any) -> None:
    """Release the lock of a threading.Event if an interrupt left it held; its users would wait for ever.

    Python may raise KeyboardInterrupt after `with` has taken a lock and before its block begins. An Event holds its
    lock for microseconds.
    """
    interrupt: BaseException | None = None
    deadline, freed = time.monotonic() + HELD_TOO_LONG, False
    while not freed:
        try:
            _release(event, deadline)
            freed = True
        except BaseException as error:
            # One more interrupt, which would leave the lock held once more: it is raised when that is over.
            interrupt = error
    if interrupt is not None:
        raise interrupt


def _release(event: Any, deadline: float) -> None:
    lock = getattr(getattr(event, "_cond", None), "_lock", None)
    while lock is not None and lock.locked():
        # Looked at, not taken: an interrupt would leave it held.
        time.sleep(0.001)
        if time.monotonic() > deadline:
            with contextlib.suppress(RuntimeError):
                lock.release()
            break


def _question(device: Any) -> Any:
    """A promise that is kept once the device has done everything submitted so far."""
    # wgpu-py's own, on_submitted_work_done_async, raises a TypeError in wgpu-py 0.32. A buffer that no submit uses
    # would be mapped at once.
    buffer = device.create_buffer(size=8, usage=wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST)
    encoder = device.create_command_encoder()
    encoder.clear_buffer(buffer)
    device.queue.submit([encoder.finish()])
    return _map(buffer, "READ")


def _answered(device: Any, promise: Any, function: str) -> bool:
    """Wait for a promise; False where its answer got lost: the device has answered what was asked later.

    Answers come in order, so a slow device is no reason to give up: it is slow with the later questions too.
    """
    began, pause, seen = time.monotonic(), FIRST_LOOK, False
    later: list[Any] = []
    while not _wait(promise._thread_event, pause):
        if lost(device):
            raise BindingError.of("device-lost", function=function, current="destroyed")
        if time.monotonic() - began > LONGEST_WAIT:
            raise _silent(function)
        if seen:
            return promise._thread_event.is_set()
        # Seen answered, one more pause: another thread may be about to deliver the promise's own answer.
        seen = any(question._thread_event.is_set() for question in later)
        if not seen:
            later.append(_question(device))
        pause = min(LAST_LOOK, 2 * pause)
    return True
