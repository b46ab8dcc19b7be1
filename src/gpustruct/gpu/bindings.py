"""The type of a RecordBuffer, its sizes, and its bindings."""

from __future__ import annotations

import math
import threading
from typing import Any, Generic, TypeVar

from ..batches import Batch
from ..errors import BindingError
from ..layout import round_up
from . import devices
from .backend import BufferUsage, gpu_errors, refused

USAGE = BufferUsage.STORAGE
COPIES = BufferUsage.COPY_SRC | BufferUsage.COPY_DST


SMALLER_TYPE = "use a type of fewer bytes, such as one with shorter arrays"

Record = TypeVar("Record", bound=Batch)


class BindableRecords(Generic[Record]):
    """Records of one type in a wgpu buffer that can be bound. `RecordBuffer` adds reads and writes."""

    def __init__(
        self,
        device: Any,
        T: type[Record],
        capacity: int = 1,
        *,
        count: int = 0,
        usage: Any = USAGE,
        dynamic_offsets: bool = False,
        standard_layout: bool = False,
        label: str = "",
    ) -> None:
        self._device = devices.device_of(device, "RecordBuffer")
        layout = devices.layout_of_type(T, "RecordBuffer")
        self._type, self._layout, self._label = T, layout, label
        self._element = devices.element_of(T)
        self._usage = devices.usage_flags(usage, "RecordBuffer")
        if self._usage & BufferUsage.UNIFORM:
            layout.check_uniform(standard_layout=standard_layout)
        self._dynamic = bool(dynamic_offsets)
        self._stride, self._base = layout.counted_stride, layout.header
        if self._dynamic:
            if layout.is_runtime_sized:
                raise BindingError.of("dynamic-runtime", type=layout.name)
            self._stride = round_up(self._alignment(), self._stride)
        self._capacity = devices.check_integer("capacity", capacity, 1, 1 << 40, None, "RecordBuffer")
        self._count = devices.check_integer("count", count, 0, self._capacity, None, "RecordBuffer")
        self._most: int = self._device.limits[self._binding_limit()]
        self._buffer = self._create(self._capacity)
        self._lock = threading.RLock()

    @property
    def buffer(self) -> Any:
        """The wgpu buffer; `resize` replaces it."""
        return self._buffer

    @property
    def device(self) -> Any:
        """The wgpu device that the buffer is on."""
        return self._device

    @property
    def type(self) -> type[Record]:
        """The gpustruct type of the buffer."""
        return self._type

    @property
    def capacity(self) -> int:
        """The number of records that the buffer has room for."""
        return self._capacity

    @property
    def count(self) -> int:
        """The number of records in use: bindings, dispatches and reads cover these.

        Writes increase it to include the last record written. Set it yourself where a shader writes the records; that writes no
        bytes. Raises BindingError for more than the capacity.

        >>> import wgpu
        >>> from gpustruct import vec3f
        >>> from gpustruct.gpu import RecordBuffer
        >>> points = RecordBuffer(wgpu.utils.get_default_device(), vec3f, 100)
        >>> points.count = 64
        >>> points.dispatch_size(64), points.binding()["size"]
        ((1, 1, 1), 1024)
        """
        return self._count

    @count.setter
    def count(self, count: int) -> None:
        self._count = devices.check_integer(
            "count", count, 0, self._capacity, None, f"RecordBuffer({self._layout.name})"
        )

    @property
    def is_dynamic(self) -> bool:
        """Whether the records are spaced for dynamic offsets (``dynamic_offsets=True``)."""
        return self._dynamic

    @property
    def stride(self) -> int:
        """Bytes from one record to the next."""
        return self._stride

    @property
    def base(self) -> int:
        """The byte at which the first record starts: the size of the header, 0 without one."""
        return self._base

    def __len__(self) -> int:
        return self._count

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        records = f"{self._count} of {self._capacity} records, {self._stride} bytes each"
        usage = devices.usage_text(self._usage & ~COPIES) or "copies only"
        return f"<RecordBuffer of {self._type.__name__}: {records}, {usage}>"

    def _alignment(self) -> int:
        kind = "uniform" if self._usage & BufferUsage.UNIFORM else "storage"
        return self._device.limits[f"min-{kind}-buffer-offset-alignment"]

    def _binding_size(self, count: int) -> int:
        """Bytes to bind for `count` records: whole words; in storage, a size for which ``arrayLength`` is `count`."""
        size = self._base + count * self._stride
        if size % devices.COPY_ALIGNMENT == 0 and size >= self._layout.size:
            return size
        if self._usage & BufferUsage.STORAGE:
            return self._layout.binding_size(count)
        return round_up(devices.COPY_ALIGNMENT, max(self._base + count * self._stride, self._layout.size))

    def _binding_limit(self) -> str:
        kind = "uniform" if self._usage & BufferUsage.UNIFORM else "storage"
        return f"max-{kind}-buffer-binding-size"

    def _create(self, capacity: int) -> Any:
        # A binding has a minimum size, which may be larger than a few records.
        size = round_up(4, max(self._base + capacity * self._stride, self._layout.size))
        limit = "max-buffer-size"
        fitting = (self._device.limits[limit] // 4 * 4 - self._base) // self._stride
        way_out = f"use several buffers of {fitting} records or fewer" if fitting > 0 else SMALLER_TYPE
        devices.check_limit(self._device, limit, size, f"RecordBuffer({self._layout.name})", way_out)
        try:
            return self._device.create_buffer(label=self._label, size=size, usage=self._usage | COPIES)
        except gpu_errors() as error:
            raise refused(error, "RecordBuffer") from None

    # Bindings.

    def binding(self, count: int | None = None) -> dict[str, Any]:
        """The resource for a bind group in which ``arrayLength`` is exactly `count`, by default all records in use.

        It is a wgpu buffer binding: ``{"buffer": …, "offset": 0, "size": bytes}``. With `dynamic_offsets` it covers one
        record, and `offsets` gives the offset of each. Raises BindingError for a count that no binding can have (the
        error says which can), more than the capacity, or more than the device's limit (see `bindings`).

        >>> import wgpu
        >>> from gpustruct import vec3f
        >>> from gpustruct.gpu import RecordBuffer
        >>> points = RecordBuffer(wgpu.utils.get_default_device(), vec3f, 100)
        >>> points.binding(10)["size"]
        160
        """
        if self._dynamic:
            size = round_up(devices.COPY_ALIGNMENT, self._layout.size)
            devices.check_limit(self._device, self._binding_limit(), size, "binding()", self._smaller_type())
            return {"buffer": self._buffer, "offset": 0, "size": size}
        number = self._count if count is None and self._count else self._bound_count(count, "binding")
        size = self._binding_size(number)
        if size > self._most:
            self._check_binding(size, f"binding({number})")
        return {"buffer": self._buffer, "offset": 0, "size": size}

    def _check_binding(self, size: int, where: str) -> None:
        fitting = (self._most - self._base) // self._stride
        if fitting < 1:
            way_out = self._smaller_type()
        elif self._splits():
            way_out = f"use bindings(), or bind {fitting} records or fewer"
        else:
            way_out = f"bind {fitting} records or fewer"
        devices.check_limit(self._device, self._binding_limit(), size, where, way_out)

    def _smaller_type(self) -> str:
        uniform = self._usage & BufferUsage.UNIFORM
        return f"{SMALLER_TYPE}, or bind it as var<storage> (usage='STORAGE')" if uniform else SMALLER_TYPE

    def _splits(self) -> int:
        """The number of records in each of several bindings; 0 where several are impossible."""
        step = self._alignment() // math.gcd(self._alignment(), self._stride)
        most = self._device.limits[self._binding_limit()]
        return 0 if self._layout.tail is not None else most // self._stride // step * step

    def bindings(self, count: int | None = None) -> list[dict[str, Any]]:
        """As few bindings as the device's limits allow, together of `count` records.

        Each starts at a multiple of the device's offset alignment; its first record is ``offset // stride``. Raises
        BindingError as `binding` does.

        >>> import wgpu
        >>> from gpustruct import vec3f
        >>> from gpustruct.gpu import RecordBuffer
        >>> points = RecordBuffer(wgpu.utils.get_default_device(), vec3f, 100)
        >>> [resource["size"] for resource in points.bindings(10)]
        [160]
        """
        number = self._bound_count(count, "bindings")
        if self._dynamic:
            return [self.binding()]
        size, each = self._binding_size(number), self._splits()
        if size <= self._device.limits[self._binding_limit()]:
            return [self.binding(number)]
        if not each:
            self._check_binding(size, f"bindings() of {self._layout.name}")
        return [
            {"buffer": self._buffer, "offset": at * self._stride, "size": self._binding_size(min(each, number - at))}
            for at in range(0, number, each)
        ]

    def offsets(self, count: int | None = None) -> list[int]:
        """The dynamic offset of each record, in bytes, for ``set_bind_group(index, group, [offset])``.

        Raises BindingError without ``dynamic_offsets=True``, or for more records than the capacity.

        >>> import wgpu
        >>> from gpustruct import Struct, mat4x4f
        >>> from gpustruct.gpu import RecordBuffer
        >>> class Model(Struct):
        ...     matrix: mat4x4f
        >>> usage = BufferUsage.UNIFORM
        >>> models = RecordBuffer(wgpu.utils.get_default_device(), Model, 3, usage=usage, dynamic_offsets=True)
        >>> [offset % models.device.limits["min-uniform-buffer-offset-alignment"] for offset in models.offsets(3)]
        [0, 0, 0]
        """
        if not self._dynamic:
            raise BindingError.of("dynamic-missing", type=self._layout.name)
        number = self._bound_count(count, "offsets")
        return list(range(0, number * self._stride, self._stride))

    def dispatch_size(self, workgroup_size: int, count: int | None = None) -> tuple[int, int, int]:
        """The number of workgroups for one invocation per record: ``dispatch_workgroups(*size)``.

        By default for all records in use. If the device does not allow so many workgroups in one dimension, there are several rows:
        ``index = id.x + id.y * num_workgroups.x * workgroup_size``. Raises BindingError for more than two dimensions allow.

        >>> import wgpu
        >>> from gpustruct import vec3f
        >>> from gpustruct.gpu import RecordBuffer
        >>> RecordBuffer(wgpu.utils.get_default_device(), vec3f, 1000).dispatch_size(64, 1000)
        (16, 1, 1)
        """
        size = devices.check_integer("workgroup_size", workgroup_size, 1, 1 << 16, None, "dispatch_size")
        number = devices.check_integer("count", count, 0, self._capacity, self._count, "dispatch_size")
        return devices.dispatch(self._device, -(-number // size))

    def _bound_count(self, count: Any, function: str) -> int:
        if count is None and not self._count:
            facts = {"type": self._layout.name, "capacity": self._capacity, "function": function}
            raise BindingError.of("buffer-empty", **facts)
        return devices.check_integer("count", count, 1, self._capacity, self._count or None, function)


def wgpu_buffer(buffer: Any) -> Any:
    """The wgpu buffer of a RecordBuffer; anything else unchanged.

    >>> wgpu_buffer(None) is None
    True
    """
    return buffer.buffer if isinstance(buffer, BindableRecords) else buffer


def count_written(buffer: Any, end: int) -> None:
    """Increase the count of a RecordBuffer to the records that start before byte `end`; ignore a wgpu buffer.

    >>> import wgpu
    >>> from gpustruct import vec4f
    >>> from gpustruct.gpu import RecordBuffer
    >>> points = RecordBuffer(wgpu.utils.get_default_device(), vec4f, 100)
    >>> count_written(points, 33)
    >>> points.count
    3
    """
    if isinstance(buffer, BindableRecords):
        reached = -(-(end - buffer.base) // buffer.stride)
        buffer.count = max(buffer.count, min(buffer.capacity, reached))
