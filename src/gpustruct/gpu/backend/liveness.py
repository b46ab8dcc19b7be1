"""Which device owns an object, and whether it and the device still exist."""

from __future__ import annotations

import re
import traceback
import weakref
from typing import Any

from ...errors import BindingError
from .packages import gpu_errors


def owner_of(thing: Any) -> Any:
    """The device that a wgpu object belongs to."""
    # wgpu-py documents no attribute for this, but every object has the same one.
    return getattr(thing, "_device", None)


def lost(device: Any) -> bool:
    """Whether the device was destroyed. It will never answer again."""
    promise = getattr(device, "_lost_promise", None)
    if promise is not None:
        # Dawn's devices keep this promise, which is fulfilled at the next poll. After that they report no errors.
        device._poll()
        return bool(promise._thread_event.is_set())
    return getattr(device, "_poller", device) is None


def refused(error: Exception, function: str) -> BindingError:
    """The BindingError for an error of wgpu about a destroyed buffer or a lost device."""
    _free(error)
    current = " ".join(str(error).split())
    return BindingError.of("device-lost", function=function, current=current)  # type: ignore[return-value]


def _free(error: Exception) -> None:
    """Let go of what the calls that failed hold.

    An error of wgpu-py and its frames refer to each other, and so keep the buffer alive. They also hold views of the memory
    that was to be written: Python 3.11 crashes when the garbage collector clears such a view before its users.
    """
    traceback.clear_frames(error.__traceback__)


def refused_binding(error: Exception) -> tuple[str, int | None]:
    """What wgpu says about a bind group or a view that it refuses, and the number of the binding that it names."""
    text = re.split(r"In wgpu[A-Z]\w* ", " ".join(str(error).split()))[-1]
    number = re.search(r"[Bb]inding (\d+)\b", text)
    return text, int(number[1]) if number else None


class DestroyHook:
    """Replaces the `destroy` method of one buffer or texture; `destroyed` says whether it was called.

    It also keeps what never changes, because wgpu-py looks that up in each call: the device, the usage, and the size.
    """

    def __init__(self, resource: Any) -> None:
        # Weak, because the resource owns this object.
        self._resource, self.destroyed = weakref.ref(resource), False
        self.owner, self.usage, self.size = owner_of(resource), resource.usage, resource.size

    def __call__(self) -> None:
        resource = self._resource()
        if resource is not None:
            type(resource).destroy(resource)
            self.destroyed = True


def watch(resource: Any) -> DestroyHook:
    """The hook that records whether a buffer or a texture is destroyed, from the first time that it is watched."""
    hook = resource.__dict__.get("destroy")
    if hook.__class__ is not DestroyHook:
        hook = resource.__dict__["destroy"] = DestroyHook(resource)
    return hook


def check_alive(device: Any, buffer: Any, function: str) -> None:
    """BindingError if the buffer was destroyed or the device is lost.

    A submit that uses either ends the process, because wgpu-native treats errors of a submit as fatal; and wgpu-py does not
    know which buffers were destroyed. So the device is asked once for each buffer, and after that a hook on `destroy` tells.
    If the driver loses the device, finishing an encoder raises the error.
    """
    if lost(device):
        raise BindingError.of("device-lost", function=function, current="destroyed")
    hook = vars(buffer).get("destroy")
    if hook.__class__ is not DestroyHook:
        _ask_alive(device, buffer, function)
        watch(buffer)
    elif hook.destroyed:
        _ask_alive(device, buffer, function)
        raise BindingError.of("device-lost", function=function, current="the buffer was destroyed")


def _ask_alive(device: Any, buffer: Any, function: str) -> None:
    # wgpu always refuses a write of one byte, which therefore has no effect (WebGPU §19.1: the size must be a multiple of 4).
    # Its error text says whether the buffer or the device is the reason. Dawn's names a lost device, but not a destroyed
    # buffer; there, a submit that uses the buffer raises an error and does no harm.
    try:
        device.queue.write_buffer(buffer, 0, b"\0")
    except gpu_errors() as error:
        if "destroyed" in str(error) or "lost" in str(error):
            raise refused(error, function) from None
        _free(error)
