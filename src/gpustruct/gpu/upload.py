"""Uploader: packs batches straight into staging memory, chunk by chunk."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from ..batches import as_batch
from ..layout import round_up
from ..packing import pack_plan
from . import devices
from .bindings import count_written, wgpu_buffer
from .chunking import LINE, spans_of
from .staging import CHUNKS, DEFAULT_CHUNKS, StagingPool
from .transfers import SMALL_BYTES, Progress, Transfers


class Uploader:
    """Packs batches straight into staging memory that the device copies from.

    `device` is a wgpu device or its queue. Staging memory is at most `chunks` chunks of `chunk_size` bytes; the defaults
    depend on the adapter. A batch of up to `small_bytes` goes through wgpu's ``write_buffer`` instead. `threads` is the number of
    threads that pack; None chooses by size, up to 4 for a discrete GPU and 8 for others. Several threads may use an
    uploader: their uploads run one after the other.

    Every upload is submitted before `write` returns, so the queue's order is the order of the calls: after what you
    submitted before, and before what you submit later.

    Raises BindingError for what is no device, and for numbers out of range.

    >>> import numpy as np, wgpu
    >>> from gpustruct import vec3f
    >>> from gpustruct.gpu import Uploader, read_buffer
    >>> device = wgpu.utils.get_default_device()
    >>> buffer = device.create_buffer(size=1600, usage=wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC)
    >>> Uploader(device).write(buffer, vec3f(np.ones((100, 3))))
    >>> float(np.asarray(read_buffer(device, buffer, vec3f)).sum())
    300.0
    """

    def __init__(
        self,
        device: Any,
        *,
        chunk_size: int | None = None,
        chunks: int | None = None,
        threads: int | None = None,
        small_bytes: int | None = None,
    ) -> None:
        device = devices.device_of(device, "Uploader")
        size, count = CHUNKS.get(device.adapter.info.get("adapter_type", ""), DEFAULT_CHUNKS)
        size = devices.check_integer("chunk_size", chunk_size, 256, 1 << 30, size, "Uploader")
        count = devices.check_integer("chunks", chunks, 2, 256, count, "Uploader")
        workers = None if threads is None else devices.check_integer("threads", threads, 1, 1024, 1, "Uploader")
        small = devices.check_integer("small_bytes", small_bytes, 0, 1 << 30, SMALL_BYTES, "Uploader")
        # For the modules of gpustruct.gpu.
        self.transfers = Transfers(device, StagingPool(device, round_up(LINE, size), count), workers, small)

    @classmethod
    def of(cls, device: Any) -> Uploader:
        """The uploader that `write_buffer` and every RecordBuffer of this device share.

        >>> import wgpu
        >>> device = wgpu.utils.get_default_device()
        >>> Uploader.of(device) is Uploader.of(device)
        True
        """
        device = devices.device_of(device, "Uploader.of")
        # Stored on the device, so that both live equally long.
        held = vars(device)
        return held.get("_gpustruct_uploader") or held.setdefault("_gpustruct_uploader", cls(device))

    @property
    def device(self) -> Any:
        """The wgpu device that uploads go to."""
        return self.transfers.device

    def __repr__(self) -> str:
        pool = self.transfers.pool
        memory = f"{self.staging_bytes} bytes of staging memory, at most {pool.count} chunks of {pool.chunk_size}"
        small = f"write_buffer up to {self.transfers.small_bytes} bytes"
        return f"<Uploader to {self.device.adapter.info['device']}: {memory}; {small}>"

    @property
    def staging_bytes(self) -> int:
        """Bytes of staging memory that are allocated now."""
        return self.transfers.staging_bytes

    def write(
        self, buffer: Any, batch: Any, offset: int = 0, *, encoder: Any = None, progress: Progress | None = None
    ) -> None:
        """Pack a batch or a view, and copy its records into `buffer` (a wgpu buffer or a RecordBuffer) from byte `offset` on.

        All values are checked before the first byte is copied: a buffer is never half-written. WebGPU copies multiples of
        4 bytes. If the records are not (an odd number of 2-byte or 6-byte ones), the bytes before and after them are read first and kept. The
        buffer may end where the last value does: 12 bytes hold one vec3f.

        `encoder` records the copies there instead of submitting them. They use extra staging memory, which is held until
        you call `recall()`, after you have submitted the encoder. `progress` is called with (records done, total
        records) after each chunk. If all values must be checked first, the check is the first half. Memory-mapped columns
        (numpy.memmap) are released once packed, so they may be larger than memory.

        The uploader works on after any exception, Ctrl-C included. After an interrupted write, each record has either its old
        or its new value; if all records are in one contiguous chunk, all of them have old values or all have new ones.

        Raises SourceError if a value does not fit; BindingError for what is no buffer of this device, lacks
        COPY_DST, is mapped, destroyed or too small; if `offset` is not a multiple of 4; and if the device is lost.
        WebGPU §13.4 (buffer copies).

        >>> import wgpu
        >>> from gpustruct import u32
        >>> device = wgpu.utils.get_default_device()
        >>> buffer = device.create_buffer(size=16, usage=wgpu.BufferUsage.COPY_DST)
        >>> uploader = Uploader(device)
        >>> encoder = device.create_command_encoder()
        >>> uploader.write(buffer, u32([1, 2, 3, 4]), encoder=encoder)
        >>> device.queue.submit([encoder.finish()])
        >>> uploader.recall()
        """
        batch = as_batch(batch)
        bound = pack_plan(batch, "write")
        records, buffer = buffer, wgpu_buffer(buffer)
        devices.check_buffer(self.device, buffer, "COPY_DST", "write")
        offset = devices.check_offset(offset, "write")
        devices.check_fits(buffer, offset, bound.extent, "write")
        with self.transfers.lock:
            self.transfers.save_count(records)
            spans = spans_of(bound, offset, buffer.size)
            self.transfers.put(buffer, batch, spans, encoder=encoder, progress=progress)
            count_written(records, offset + bound.extent)

    def frame(self) -> AbstractContextManager[None]:
        """Send all writes inside a ``with`` block to the device in one submit, in order, at its end; or none of them.

        It covers the writes of this uploader and of every RecordBuffer that uses it: `write`, `append`, `write_header`,
        `clear`, `resize`; and `write_buffer`, if this is ``Uploader.of(device)``. Each call checks and packs its values, so
        you may change the columns after it. Writes with `encoder` do not belong to the frame.

        An exception that leaves the ``with`` block drops all of its writes, and each RecordBuffer gets back the count and the
        capacity that it had. If you catch the exception of one write inside the block, only that write is dropped. A
        frame inside a frame is part of the outer one. The memory of all writes is held until the end, and other threads'
        writes wait until then. Views are sent whole.

        Raises BindingError for a read of a buffer that the frame has written to, because it would run before the writes; and at
        the end if a buffer was destroyed or mapped, or the device is lost.

        >>> import numpy as np, wgpu
        >>> from gpustruct import u32
        >>> from gpustruct.gpu import RecordBuffer
        >>> device = wgpu.utils.get_default_device()
        >>> ids, counts = RecordBuffer(device, u32, 8), RecordBuffer(device, u32, 8)
        >>> with Uploader.of(device).frame():
        ...     ids.write(u32([1, 2, 3]))
        ...     counts.write(u32([70, 80]))
        >>> np.asarray(ids.read()), np.asarray(counts.read())
        (array([1, 2, 3], dtype=uint32), array([70, 80], dtype=uint32))
        """
        return self.transfers.frame()

    def recall(self) -> None:
        """Release the staging memory of all `write(..., encoder=...)`. Call it after you have submitted the encoders.

        >>> import wgpu
        >>> Uploader(wgpu.utils.get_default_device()).recall()
        """
        self.transfers.release_encoder_chunks()

    def close(self) -> None:
        """Release all staging memory. The uploader allocates it again if you use it again.

        >>> import wgpu
        >>> uploader = Uploader(wgpu.utils.get_default_device())
        >>> uploader.close()
        >>> uploader.staging_bytes
        0
        """
        with self.transfers.lock:
            self.recall()
            self.transfers.pool.close()
