"""Uploader: batches packed straight into staging memory, chunk by chunk."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

import wgpu

from ..batches import as_batch
from ..layout import round_up
from ..packing import pack_plan
from . import devices
from .backend import refused
from .bindings import count_written, wgpu_buffer
from .chunking import LINE, spans_of
from .frames import Frame
from .staging import CHUNKS, DEFAULT_CHUNKS, StagingPool
from .transfers import SMALL_BYTES, Progress, Transfers


class Uploader(Transfers):
    """Packs batches straight into staging memory that the device copies from.

    `device` is a wgpu device (or its queue). `chunk_size`, in bytes, and `chunks`, their number, bound the
    staging memory; left out they suit the adapter. Up to `small_bytes` a batch goes through wgpu's own
    ``write_buffer``, from memory that is used again. `threads` packs with so many threads, None chooses by
    size, up to 8. An uploader may be used from several threads: uploads take turns.

    Every upload is submitted before `write` returns, so the queue's order is the order of the calls:
    behind what you submitted before, ahead of what you submit later.

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
        size = devices.whole("chunk_size", chunk_size, 256, 1 << 30, size, "Uploader")
        count = devices.whole("chunks", chunks, 2, 256, count, "Uploader")
        workers = None if threads is None else devices.whole("threads", threads, 1, 1024, 1, "Uploader")
        small = devices.whole("small_bytes", small_bytes, 0, 1 << 30, SMALL_BYTES, "Uploader")
        super().__init__(device, StagingPool(device, round_up(LINE, size), count), workers, small)

    @classmethod
    def of(cls, device: Any) -> Uploader:
        """The uploader that `write_buffer` and every RecordBuffer of this device share.

        >>> import wgpu
        >>> device = wgpu.utils.get_default_device()
        >>> Uploader.of(device) is Uploader.of(device)
        True
        """
        device = devices.device_of(device, "Uploader.of")
        # Kept on the device itself, so that it goes when the device goes.
        held = vars(device)
        return held.get("_gpustruct_uploader") or held.setdefault("_gpustruct_uploader", cls(device))

    @property
    def device(self) -> Any:
        """The wgpu device that uploads go to."""
        return self._device

    def __repr__(self) -> str:
        pool = self._pool
        most = f"{self.staging_bytes} bytes of staging memory, at most {pool.count} chunks of {pool.chunk_size}"
        return f"<Uploader to {self._device.adapter.info['device']}: {most}; without it up to {self._small_bytes}>"

    @property
    def staging_bytes(self) -> int:
        """Bytes of staging memory held at the moment."""
        return self._pool.nbytes + sum(chunk.size for chunk in self._lent)

    def write(
        self, buffer: Any, batch: Any, offset: int = 0, *, encoder: Any = None, progress: Progress | None = None
    ) -> None:
        """Pack a batch (or a view) and copy its records into `buffer`, a wgpu buffer or a RecordBuffer, from byte `offset` on.

        All values are checked before the first byte is copied: a buffer is never half-written. A copy is a
        multiple of 4 bytes; where the records are not (an odd number of 2-byte or 6-byte ones), the bytes
        beside them are read first and kept. The buffer may end where the last value does: 12 bytes hold one vec3f.
        With `encoder` the copies are recorded there, in staging memory of their own that is held until `recall()`,
        to be called when you have submitted it. `progress` is
        called with (records done, records in all) after each chunk; where all values have to be checked first, that
        is the first half of it. Memory-mapped columns (numpy.memmap) are released once packed, so that they may be
        larger than memory.

        After any exception, Ctrl-C too, the uploader works as before. An interrupted write leaves each record as
        it was or as it was to be, and all of them where they fit into one chunk side by side.

        Raises SourceError if a value does not fit; BindingError for what is no buffer of this device, lacks
        COPY_DST, is mapped, destroyed or too small, if `offset` is no multiple of 4, or if the device is lost.
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
        devices.check_buffer(self._device, buffer, "COPY_DST", "write")
        offset = devices.check_offset(offset, "write")
        devices.check_room(buffer, offset, bound.extent, "write")
        with self.turn:
            self.keep(records)
            self.put(buffer, batch, spans_of(bound, offset, buffer.size), encoder=encoder, progress=progress)
            count_written(records, offset + bound.extent)

    @contextlib.contextmanager
    def frame(self) -> Generator[None]:
        """All writes inside go to the device together, in one submit at the end, in order; or none of them.

        It holds for this uploader's writes, and so for those of every RecordBuffer that has it: `write`, `append`,
        `write_header`, `clear`, `resize`, and `write_buffer` where the uploader is ``Uploader.of(device)``. Values are checked and packed at
        once, so columns may change after each call. An exception that leaves the `with` drops all of its writes, and
        RecordBuffers have the count and capacity from before; of a write whose exception you catch inside, nothing is sent. A frame inside a frame is part of it. The memory of all writes is held until the end; other threads' writes wait until then.
        Writes with `encoder` are not part of it.

        Of a view all is sent. Reading a buffer that the frame has written to raises BindingError: the read would come
        before the writes. Raises BindingError at the end if a buffer was destroyed or mapped, or the device is lost.

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
        with self.turn:
            if self._frame is not None:
                yield
                return
            self._pool.reclaim()
            frame = Frame(self._pool)
            # None twice: an interrupt may come just before the first.
            try:
                try:
                    self._frame = frame
                    yield
                    frame.finish()
                finally:
                    self._frame = None
                    frame.end()
            except wgpu.GPUError as error:
                raise refused(error, "frame") from None
            finally:
                self._frame = None
                self._pool.reclaim()

    def recall(self) -> None:
        """Take back the staging memory of every `write(..., encoder=...)` whose encoder has been submitted.

        >>> import wgpu
        >>> Uploader(wgpu.utils.get_default_device()).recall()
        """
        with self.turn:
            # Not destroyed: an encoder that was not submitted yet would end the process.
            self._lent.clear()

    def close(self) -> None:
        """Give all staging memory back; the uploader makes new chunks if it is used again.

        >>> import wgpu
        >>> uploader = Uploader(wgpu.utils.get_default_device())
        >>> uploader.close()
        >>> uploader.staging_bytes
        0
        """
        with self.turn:
            self.recall()
            self._pool.close()
