"""What a wgpu device, queue or buffer can do, asked for in one place, before wgpu is asked to do it."""

from __future__ import annotations

import operator
from typing import Any

import wgpu

from ..errors import BindingError
from ..layout import Layout

F16 = "shader-f16"
# WebGPU §5.1: copies and writes start at a multiple of 4 bytes and are a multiple of 4 bytes long.
COPY_ALIGNMENT = 4

NO_ADAPTER = "apt install mesa-vulkan-drivers libvulkan1 (software Vulkan), or the driver of the graphics card"


class _Default:
    device: Any = None


def default_device() -> Any:
    """A device of the preferred adapter, made once for the process, with f16 in shaders where there is any.

    Its limits are the adapter's own. Raises BindingError where no adapter answers. WebGPU §4.2 (GPU).

    >>> device = default_device()
    >>> device is default_device()
    True
    """
    if _Default.device is None:
        try:
            adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise BindingError.of("adapter-missing", current=reason, way_out=NO_ADAPTER) from None
        _Default.device = adapter.request_device_sync(required_features=[F16] if F16 in adapter.features else [])
    return _Default.device


def owner_of(thing: Any) -> Any:
    """The device that a wgpu object belongs to."""
    # wgpu-py keeps it in an attribute that it does not document, on every object alike.
    return getattr(thing, "_device", None)


def device_of(target: Any, function: str) -> Any:
    """The device behind a device or a queue; BindingError for anything else."""
    if isinstance(target, wgpu.GPUQueue):
        target = owner_of(target)
    if not isinstance(target, wgpu.GPUDevice):
        raise BindingError.of("device-type", function=function, current=type(target).__name__)
    return target


def check_buffer(device: Any, buffer: Any, usage: str, function: str) -> None:
    """BindingError unless `buffer` is an unmapped wgpu buffer of `device` that has `usage`."""
    if not isinstance(buffer, wgpu.GPUBuffer):
        raise BindingError.of("buffer-type", function=function, current=type(buffer).__name__)
    if owner_of(buffer) is not device:
        raise BindingError.of("buffer-foreign", function=function)
    if not buffer.usage & getattr(wgpu.BufferUsage, usage):
        raise BindingError.of("buffer-usage", function=function, usage=usage, current=usage_text(buffer.usage))
    if buffer.map_state != "unmapped":
        raise BindingError.of("buffer-mapped", function=function, current=buffer.map_state)


def usage_text(usage: int) -> str:
    """The flags of a buffer usage, as wgpu spells them."""
    names = [name for name in dir(wgpu.BufferUsage) if name.isupper() and usage & getattr(wgpu.BufferUsage, name)]
    return " | ".join(names) or str(usage)


def check_offset(offset: Any, function: str) -> int:
    """A byte offset that a copy may start at, as an int; BindingError otherwise."""
    try:
        number = -1 if isinstance(offset, bool) else operator.index(offset)
    except TypeError:
        number = -1
    if number < 0 or number % COPY_ALIGNMENT:
        suggestion = max(0, number) // COPY_ALIGNMENT * COPY_ALIGNMENT
        facts = {"offset": offset, "suggestion": suggestion, "function": function}
        raise BindingError.of("buffer-offset", multiple=COPY_ALIGNMENT, why="copies", **facts)
    return number


def check_room(buffer: Any, offset: int, needed: int, function: str) -> None:
    """BindingError unless `needed` bytes from `offset` lie inside the buffer."""
    if offset + needed > buffer.size:
        facts = {"needed": needed, "offset": offset, "size": buffer.size, "total": offset + needed}
        raise BindingError.of("buffer-small", function=function, **facts)


def uses_f16(layout: Layout) -> bool:
    """Whether any scalar inside is an f16."""
    core = layout.core
    return core.scalar == "f16" or any(uses_f16(member.layout) for member in core.fields)


def check_features(device: Any, layout: Layout) -> None:
    """BindingError where a type needs f16 and the device lacks it."""
    if uses_f16(layout) and F16 not in device.features:
        raise BindingError.of("device-feature", feature=F16, where=layout.name)


def check_binding(device: Any, size: int, where: str) -> None:
    """BindingError where a storage binding of `size` bytes exceeds the device's limit."""
    most = device.limits["max-storage-buffer-binding-size"]
    if size > most:
        allowed = device.adapter.limits["max-storage-buffer-binding-size"]
        facts = {"current": size, "most": most, "allowed": allowed, "where": where}
        raise BindingError.of("limit", limit="max-storage-buffer-binding-size", **facts)


def whole(name: str, value: Any, least: int, most: int, default: int, where: str) -> int:
    """`value` as an int from `least` to `most`, `default` for None; BindingError otherwise."""
    if value is None:
        return default
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise BindingError.of(
            "whole", name=name, least=least, most=most, current=value, where=f"{where}(..., {name}=...)"
        )
    return number
