"""ShardedBuffer: the records of one batch, split over several devices."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Generic

from ..batches import Batch, from_columns
from ..broadcasting import broadcast
from ..errors import BindingError, SourceError
from ..packing import pack_plan
from . import devices
from .batching import records_of
from .bindings import Record
from .readback import empty_batch
from .records import RecordBuffer
from .transfers import Progress


class ShardedBuffer(Generic[Record]):
    """Records of one type, split over several devices into contiguous parts, whose lengths differ by one at most.

    `targets` are wgpu devices; `T` is a type of fixed size; `capacity` is the total number of records. `data` and `options` are
    those of `RecordBuffer`. `buffers` lists the RecordBuffer of each device, `bounds` the range (start, stop)
    of the last batch that each device holds. Raises what `RecordBuffer` raises; BindingError for a type that ends in a runtime-sized array.

    >>> import numpy as np, wgpu
    >>> from gpustruct import u32
    >>> from gpustruct.gpu import ShardedBuffer
    >>> adapter = wgpu.gpu.request_adapter_sync()
    >>> numbers = ShardedBuffer([adapter.request_device_sync() for _ in range(2)], u32, 100)
    >>> numbers.write(u32(np.arange(7)))
    >>> numbers.bounds, np.asarray(numbers.read())
    ([(0, 4), (4, 7)], array([0, 1, 2, 3, 4, 5, 6], dtype=uint32))
    """

    def __init__(
        self, targets: Sequence[Any], T: type[Record], capacity: int = 1, *, data: Any = None, **options: Any
    ) -> None:
        layout = devices.layout_of_type(T, "ShardedBuffer")
        if layout.is_runtime_sized:
            raise BindingError.of("shard-runtime", type=layout.name)
        if not targets:
            raise BindingError.of("device-type", function="ShardedBuffer", current="no device")
        if "count" in options:
            raise BindingError.of("shard-count")
        total = devices.check_integer("capacity", capacity, 1, 1 << 40, None, "ShardedBuffer")
        if data is not None:
            data = records_of(T, data, "ShardedBuffer")
            total = max(total, pack_plan(data).count)
        each = -(-total // len(targets))
        self.buffers = [RecordBuffer(target, T, each, **options) for target in targets]
        self.bounds = [(0, 0) for _ in targets]
        self._type, self._capacity = T, total
        if data is not None:
            self.write(data)

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        parts = " + ".join(str(stop - start) for start, stop in self.bounds)
        records = f"{self.count} of {self._capacity} records, {self.buffers[0].stride} bytes each"
        return f"<ShardedBuffer of {self._type.__name__}: {records}, on {len(self.buffers)} devices: {parts}>"

    @property
    def capacity(self) -> int:
        """The number of records that all buffers together have room for."""
        return self._capacity

    @property
    def count(self) -> int:
        """The number of records of the last batch."""
        return self.bounds[-1][1]

    def write(self, batch: Any, *, progress: Progress | None = None) -> None:
        """Write a batch, or anything that `RecordBuffer.write` converts: one part to each device.

        `progress` gets (records done, total records). A value that does not fit raises SourceError before its part is
        written; the parts before it have been written.

        >>> import wgpu
        >>> from gpustruct import u32
        >>> ShardedBuffer([wgpu.utils.get_default_device()], u32, 3).write(u32([1, 2, 3]))
        """
        batch = records_of(self._type, batch, f"ShardedBuffer({self._type.__name__}).write")
        if not batch.__shape__:
            batch = broadcast(batch, (1,))
        if len(batch.__shape__) != 1:
            raise SourceError.of("shard-shape", shape=batch.__shape__, type=self._type.__name__)
        count = len(batch)
        if count > self._capacity:
            facts = {"capacity": self._capacity, "count": count, "type": self._type.__name__}
            raise BindingError.of("shard-capacity", **facts)
        edges = [count * k // len(self.buffers) for k in range(len(self.buffers), -1, -1)]
        edges = [count - edge for edge in edges]
        self.bounds = list(itertools.pairwise(edges))
        for buffer, (start, stop) in zip(self.buffers, self.bounds, strict=True):

            def part_progress(done: int, _: int, start: int = start) -> None:
                if progress is not None:
                    progress(start + done, count)

            buffer.write(batch[start:stop], progress=part_progress)

    def read(self) -> Record:
        """The records of the last batch, from all devices, as one batch; the copies overlap.

        >>> import wgpu
        >>> from gpustruct import u32
        >>> numbers = ShardedBuffer([wgpu.utils.get_default_device()], u32, 3)
        >>> numbers.write(u32([1, 2, 3])); len(numbers.read())
        3
        """
        out = empty_batch(self._type, self.count)
        pending = [
            buffer.read_async(0, stop - start, out=_part(out, start, stop))
            for buffer, (start, stop) in zip(self.buffers, self.bounds, strict=True)
        ]
        for read in pending:
            read.result()
        return out


def _part(batch: Any, start: int, stop: int) -> Any:
    """Records [start, stop) over the same, writable columns. (A slice of a batch may have read-only columns.)"""
    columns = tuple(
        _part(column, start, stop) if isinstance(column, Batch) else column[start:stop] for column in batch.__columns__
    )
    return from_columns(type(batch), columns, (stop - start, *batch.__shape__[1:]))
