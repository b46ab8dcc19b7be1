"""pack_to: packed records in a file, page by page, so that they may be larger than memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from . import _kernel, threads
from .batches import Batch, as_batch
from .errors import SourceError
from .memory_mapped import MappedColumns
from .packing import BoundPlan, fault, fewer_records, pack_plan

# Large enough to keep all threads busy, and to make a write cheap for its size.
PAGE_BYTES = 8 << 20


def pack_to(path: str | os.PathLike[str], batch: Any, *, progress: Callable[[int, int], object] | None = None) -> None:
    """Pack a batch's records into a file: exactly the bytes that `pack` gives, and no header.

    Memory is needed for one page, 8 MiB or one record, however large the batch is. Memory-mapped columns
    (numpy.memmap) are read once and released once packed, so they may be larger than memory too, and may be
    those of the very file that is replaced. `progress` is called with (records done, records in all) after
    each page; values are checked as they are packed, so there is no separate pass.

    The records go to a new file in the same folder, which is renamed to `path` once it is complete: after any
    error, Ctrl-C too, `path` is as it was before. It keeps the permissions of a file that it replaces; a symbolic
    link stays one.

    Raises SourceError if a value does not fit, if `path` is not a regular file, or if the records need more bytes
    than the whole disk has; OSError from the system, for example if a folder is missing or the disk is full.

    >>> import os, tempfile
    >>> import numpy as np
    >>> from gpustruct import Struct, dtype_of, f32, pack_to, vec3f
    >>> class Particle(Struct):
    ...     position: vec3f
    ...     life: f32
    >>> path = os.path.join(tempfile.mkdtemp(), "particles.bin")
    >>> pack_to(path, Particle(position=np.zeros((1000, 3)), life=np.arange(1000)))
    >>> np.memmap(path, dtype_of(Particle), "r")["life"][-1]
    np.float32(999.0)
    """
    target = _target(path)
    batch = as_batch(batch)
    bound = pack_plan(batch, "pack_to")
    _check_disk(os.path.dirname(target), bound, batch)
    aside = os.path.join(os.path.dirname(target), f".gpustruct-{os.getpid()}-{os.urandom(6).hex()}")
    try:
        with open(aside, "xb") as file:
            _write(file, batch, bound, progress)
        if os.path.exists(target):
            os.chmod(aside, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(aside, target)
    except BaseException as error:
        # An interrupt may come before the file exists.
        if os.path.exists(aside):
            os.unlink(aside)
        if isinstance(error, OSError) and error.filename == aside:
            # The user does not know about the temporary file.
            raise OSError(error.errno, error.strerror, target) from None
        raise


def _check_disk(folder: str, bound: BoundPlan, batch: Batch) -> None:
    # Free bytes say too little: a file system may compress.
    if bound.size < PAGE_BYTES or not os.path.isdir(folder):
        return
    import shutil  # loading it takes time

    total = shutil.disk_usage(folder).total
    if bound.size > total:
        way_out = fewer_records(batch, "pack_to(path, batch[:1_000_000])")
        raise SourceError.of("file-disk", needed=bound.size, total=total, way_out=way_out)


def _write(file: IO[bytes], batch: Batch, bound: BoundPlan, progress: Callable[[int, int], object] | None) -> None:
    mapped = MappedColumns(batch, bound.parts, bound.size)
    total, done = sum(part.run.records for part in bound.parts), 0
    for part in bound.parts:
        records, stride = part.run.records, part.stride
        step = max(1, PAGE_BYTES // stride)
        page = np.empty(min(step, records) * stride, np.uint8)
        for start in range(0, records, step):
            stop = min(records, start + step)
            workers = threads.choose(stop - start, stride, None)
            record, leaf = part.run.scatter(page, 0, stride, start, stop, _kernel.MODE_PLAIN, workers)
            if record >= 0:
                raise fault(batch, part, record, leaf)
            file.write(page[: (stop - start) * stride].data)
            mapped.release(part, start, stop)
            done += stop - start
            if progress is not None:
                progress(done, total)


def _target(path: Any) -> str:
    """The absolute path of the file, with links resolved; SourceError if it is not a regular file."""
    if not isinstance(path, str | os.PathLike):
        raise SourceError.of("file-path", current=type(path).__name__)
    try:
        target = os.path.realpath(os.fsdecode(path))
        mode = os.stat(target).st_mode if os.path.exists(target) else stat.S_IFREG
    except ValueError as error:
        raise SourceError.of("file-path", current=f"{path!r}: {error}") from None
    if not stat.S_ISREG(mode):
        current = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
        raise SourceError.of("file-kind", current=f"{target} is {current}")
    return target
