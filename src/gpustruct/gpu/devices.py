"""Checks of devices, queues, buffers and numbers, before wgpu gets them."""

from __future__ import annotations

import difflib
import operator
import re
from typing import Any

from ..batches import Batch
from ..errors import BindingError, LayoutError, SourceError
from ..layout import Layout, parts, round_up, wgsl_scalar, whole_number
from ..types import layout_of
from .backend import BufferUsage, gpu_errors, is_a, owner_of, request_adapter

F16 = "shader-f16"
# A RecordBuffer is never mapped itself: staging buffers are.
MAPPED = BufferUsage.MAP_READ | BufferUsage.MAP_WRITE
# WebGPU §5.1: copies and writes start at a multiple of 4 bytes and are a multiple of 4 bytes long.
COPY_ALIGNMENT = 4

NO_ADAPTER = "apt install mesa-vulkan-drivers libvulkan1 (software Vulkan), or the driver of the graphics card"


class _Default:
    device: Any = None


def default_device() -> Any:
    """A device of the preferred adapter, with f16 in shaders if possible. It is made once per process, and again if lost.

    Its limits are the adapter's. It comes from wgpu-py, or from Dawn where the environment variable GPUSTRUCT_WEBGPU is
    "wgpudawn". Raises BindingError if there is no adapter. WebGPU §4.2 (GPU).

    >>> device = default_device()
    >>> device is default_device()
    True
    """
    if _Default.device is None or not _works(_Default.device):
        try:
            adapter = request_adapter()
        except BindingError:
            raise
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise BindingError.of("adapter-missing", current=reason, way_out=NO_ADAPTER) from None
        _Default.device = adapter.request_device_sync(required_features=[F16] if F16 in adapter.features else [])
    return _Default.device


def _works(device: Any) -> bool:
    # A driver that fails to compile a shader may lose the device.
    try:
        device.create_buffer(size=4, usage=BufferUsage.COPY_DST).destroy()
    except gpu_errors():
        return False
    return True


def device_of(target: Any, function: str) -> Any:
    """A device, or the device of a queue; BindingError for anything else."""
    if is_a(target, "GPUQueue"):
        target = owner_of(target)
    if not is_a(target, "GPUDevice"):
        raise BindingError.of("device-type", function=function, current=type(target).__name__)
    return target


def check_buffer(device: Any, buffer: Any, usage: str, function: str) -> None:
    """BindingError unless `buffer` is an unmapped wgpu buffer of `device` that has `usage`."""
    if not is_a(buffer, "GPUBuffer"):
        raise BindingError.of("buffer-type", function=function, current=type(buffer).__name__)
    if owner_of(buffer) is not device:
        raise BindingError.of("buffer-foreign", function=function)
    if not buffer.usage & getattr(BufferUsage, usage):
        raise BindingError.of("buffer-usage", function=function, usage=usage, current=usage_text(buffer.usage))
    if buffer.map_state != "unmapped":
        raise BindingError.of("buffer-mapped", function=function, current=buffer.map_state)


def usage_text(usage: int, flags: Any = BufferUsage) -> str:
    """The flags of a buffer's usage, or of a texture's, as wgpu spells them."""
    names = [name for name in dir(flags) if name.isupper() and usage & getattr(flags, name)]
    return " | ".join(names) or str(usage)


def check_offset(offset: Any, function: str) -> int:
    """A byte offset that a copy may start at, as an int; BindingError otherwise."""
    number = whole_number(offset)
    if number is None or number % COPY_ALIGNMENT:
        suggestion = (number or 0) // COPY_ALIGNMENT * COPY_ALIGNMENT
        facts = {"offset": offset, "suggestion": suggestion, "function": function}
        raise BindingError.of("buffer-offset", multiple=COPY_ALIGNMENT, why="copies", **facts)
    return number


def check_fits(buffer: Any, offset: int, needed: int, function: str) -> None:
    """BindingError unless the buffer holds `needed` bytes, rounded up to whole words, from `offset` on."""
    needed = round_up(COPY_ALIGNMENT, needed)
    if offset + needed > buffer.size:
        facts = {"needed": needed, "offset": offset, "size": buffer.size, "total": offset + needed}
        raise BindingError.of("buffer-small", function=function, **facts)


def uses_f16(layout: Layout) -> bool:
    """Whether a shader needs f16 to declare the type."""
    return any(wgsl_scalar(part) == "f16" for part in parts(layout))


def check_features(device: Any, layout: Layout) -> None:
    """BindingError if the type needs f16 and the device does not support it."""
    if uses_f16(layout) and F16 not in device.features:
        rule = "device-feature" if F16 in device.adapter.features else "adapter-feature"
        raise BindingError.of(rule, feature=F16, where=layout.name)


def layout_of_type(T: Any, function: str) -> Layout:
    """The layout of a type; SourceError for a batch or a view of one, LayoutError for anything else."""
    kind: Any = type(T) if isinstance(T, Batch) else getattr(type(T), "__type__", None)
    if kind is not None:
        raise SourceError.of("type-instance", function=function, type=kind.__name__)
    if not isinstance(getattr(T, "__layout__", None), Layout):
        raise LayoutError.of("not-a-type", function=function, current=getattr(T, "__name__", repr(T)))
    return layout_of(T)


def check_integer(name: str, value: Any, least: int, most: int, default: int | None, where: str) -> int:
    """`value` as an int from `least` to `most`, or `default` for None; BindingError otherwise."""
    if value is None and default is not None:
        return default
    number = whole_number(value, least, most)
    if number is None:
        facts = {"least": least, "most": most, "current": repr(value) if isinstance(value, str) else value}
        facts["where"] = f"{where}(..., {name}=...)"
        way_out = "leave it out"
        if default is None:
            way_out = f"pass {least} or more" if whole_number(value, most + 1) is None else f"pass {most} or less"
        raise BindingError.of("whole", name=name, way_out=way_out, **facts)
    return number


def check_limit(device: Any, limit: str, value: int, where: str, way_out: str) -> None:
    """BindingError if `value` exceeds a limit of the device.

    If the adapter allows the value, the error says what to request; `way_out` says what helps otherwise.
    """
    most, allowed = device.limits[limit], device.adapter.limits[limit]
    if value > most:
        if value <= allowed:
            way_out = f"request the device with required_limits={{{limit!r}: {value}}}, or {way_out}"
        facts = {"limit": limit, "most": most, "allowed": allowed, "current": value, "where": where}
        raise BindingError.of("limit", way_out=way_out, **facts)


def usage_flags(usage: Any, function: str) -> int:
    """wgpu buffer usage as a number, from a number or from text such as "STORAGE | VERTEX", in upper or lower case."""
    try:
        if isinstance(usage, str):
            flags = 0
            for name in usage.replace("|", " ").split():
                flags |= int(getattr(BufferUsage, name.upper()))
        else:
            flags = operator.index(usage)
    except (AttributeError, TypeError):
        raise _usage_error(usage, repr(usage), function) from None
    if flags & MAPPED or not 0 < flags < 1 << 12:
        raise _usage_error(usage, usage_text(flags), function)
    return flags


def _usage_error(usage: Any, current: str, function: str) -> BindingError:
    words = re.split(r"[\s|,+]+", usage) if isinstance(usage, str) else []
    known = [name for name in dir(BufferUsage) if name.isupper() and not MAPPED & getattr(BufferUsage, name)]
    close = [name for word in words for name in difflib.get_close_matches(word.upper().replace("-", "_"), known, 1)]
    suggestion = " | ".join(dict.fromkeys(close)) or "STORAGE"
    return BindingError.of("usage-value", current=current, function=function, suggestion=repr(suggestion))  # type: ignore[return-value]


def element_of(T: Any) -> Any:
    """The type of one record: the element type of the runtime-sized array that `T` is or ends in, otherwise `T`."""
    layout: Layout = T.__layout__
    if layout.is_runtime_array:
        return T.__element__
    if layout.tail is not None:
        return T.__members__[layout.tail.name].type.__element__
    return T


def dispatch(device: Any, groups: int) -> tuple[int, int, int]:
    """The number of workgroups in x, y and z, in one dimension if the device's limit allows it, otherwise in two."""
    most = device.limits["max-compute-workgroups-per-dimension"]
    if groups <= most:
        return groups, 1, 1
    rows = -(-groups // most)
    if rows > most:
        raise BindingError.of("dispatch", groups=groups, most=most * most)
    return -(-groups // rows), rows, 1
