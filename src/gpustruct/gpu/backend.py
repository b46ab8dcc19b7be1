"""The only module that knows wgpu-py's private names and error texts, and that its answers can get lost."""

from __future__ import annotations

import contextlib
import re
import sys
import time
import traceback
import weakref
from collections.abc import Callable, Generator
from typing import Any

import wgpu
from wgpu._async import async_sleep

from ..errors import BindingError

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


def owner_of(thing: Any) -> Any:
    """The device that a wgpu object belongs to."""
    # wgpu-py documents no attribute for this, but every object has the same one.
    return getattr(thing, "_device", None)


def lost(device: Any) -> bool:
    """Whether the device was destroyed. It will never answer again."""
    return getattr(device, "_poller", device) is None


def refused(error: Exception, function: str) -> BindingError:
    """The BindingError for an error of wgpu about a destroyed buffer or a lost device."""
    current = " ".join(str(error).split())
    return BindingError.of("device-lost", function=function, current=current)  # type: ignore[return-value]


def refused_binding(error: Exception) -> tuple[str, int | None]:
    """What wgpu says about a bind group or a view that it refuses, and the number of the binding that it names."""
    text = re.split(r"In wgpu[A-Z]\w* ", " ".join(str(error).split()))[-1]
    number = re.search(r"[Bb]inding (\d+)\b", text)
    return text, int(number[1]) if number else None


class _DestroyHook:
    """Replaces the `destroy` method of one buffer or texture, and records whether it was called."""

    def __init__(self, resource: Any) -> None:
        # Weak, because the resource owns this object.
        self._resource, self.destroyed = weakref.ref(resource), False

    def __call__(self) -> None:
        resource = self._resource()
        if resource is not None:
            type(resource).destroy(resource)
            self.destroyed = True


def watch(resource: Any) -> _DestroyHook:
    """The object that records whether a buffer or a texture is destroyed from now on. It must be alive now."""
    hook = vars(resource).get("destroy")
    if hook.__class__ is not _DestroyHook:
        hook = vars(resource)["destroy"] = _DestroyHook(resource)
    return hook


def was_destroyed(resource: Any) -> bool:
    """Whether a buffer or a texture was destroyed since `watch` or `check_alive` saw it."""
    hook = vars(resource).get("destroy")
    return hook.__class__ is _DestroyHook and hook.destroyed


def check_alive(device: Any, buffer: Any, function: str) -> None:
    """BindingError if the buffer was destroyed or the device is lost.

    A submit that uses either ends the process, because wgpu-native treats errors of a submit as fatal; and wgpu-py does not
    know which buffers were destroyed. So the device is asked once for each buffer, and after that a hook on `destroy` tells.
    If the driver loses the device, finishing an encoder raises the error.
    """
    if lost(device):
        raise BindingError.of("device-lost", function=function, current="destroyed")
    hook = vars(buffer).get("destroy")
    if hook.__class__ is not _DestroyHook:
        _ask_alive(device, buffer, function)
        watch(buffer)
    elif hook.destroyed:
        _ask_alive(device, buffer, function)


def _ask_alive(device: Any, buffer: Any, function: str) -> None:
    # wgpu always refuses a write of one byte, which therefore has no effect (WebGPU §19.1: the size must be a multiple of 4).
    # Its error text says whether the buffer or the device is the reason.
    try:
        device.queue.write_buffer(buffer, 0, b"\0")
    except wgpu.GPUError as error:
        if "destroyed" in str(error) or "lost" in str(error):
            raise refused(error, function) from None
        # wgpu-py's error and its frames refer to each other, and so would keep the buffer alive.
        traceback.clear_frames(error.__traceback__)


def write_from(device: Any, memory: Any) -> Callable[[Any, int, int, int], None]:
    """A function ``(buffer, target, source, size)`` that does ``queue.write_buffer(buffer, target, memory, source, size)``.

    For many small writes: in each call, wgpu-py looks up the memory's address and checks both ranges, which takes as long as
    wgpu-native's write. The caller makes sure that the range of `memory`, an array of bytes, exists and is not empty;
    wgpu-native checks that of the buffer.
    """
    queue = device.queue
    names = vars(sys.modules[type(queue).__module__])
    if not {"ffi", "libf"} <= set(names) or not hasattr(queue, "_internal"):
        # Another version or another backend of wgpu-py.
        return lambda buffer, target, source, size: queue.write_buffer(buffer, target, memory, source, size)
    native_write, start = names["libf"].wgpuQueueWriteBuffer, names["ffi"].from_buffer("uint8_t []", memory)

    def write(buffer: Any, target: int, source: int, size: int) -> None:
        native_write(queue._internal, buffer._internal, target, start + source, size)

    return write


def mapped_memory(buffer: Any, size: int) -> memoryview | None:
    """The first `size` bytes of a buffer mapped for writing; None if this version of wgpu-py gives no access to them."""
    mapped_range = getattr(buffer, "_experimental_get_mapped_range", None)
    return None if mapped_range is None else mapped_range(0, size)


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
        except wgpu.GPUError as error:
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


def _wait(event: Any, seconds: float) -> bool:
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
    buffer = device.create_buffer(size=8, usage=wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST)
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
    while not _wait(promise._thread_event, pause):
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
