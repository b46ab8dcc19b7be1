"""Columns with more records than memory, disks or 64 bits can count: numpy makes them of one value, or of a sparse file.

Each function answers at once with its own error, or does what needs no memory for each record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpustruct import (
    GpuStructError,
    Struct,
    align,
    array,
    batch,
    diagram,
    dtype_of,
    f32,
    layout_of,
    pack,
    pack_to,
    size,
    struct_of,
    suggest,
    u32,
    uniform_safe,
    unpack,
    vec2f,
    vec3f,
    vertex,
    view,
    wgsl,
)


class Particle(Struct):
    position: vec3f
    life: f32


class Tail(Struct):
    count: u32
    points: array[vec2f]


MANY = 2**58  # numpy has no arrays of 2^63 bytes
# Memory that a process may ask for beside what it has: otherwise a system that promises more than it has could end it.
MOST_MEMORY = 8 << 30


@pytest.fixture(autouse=True)
def limits(cpu_limit: None) -> Iterator[None]:
    resource = pytest.importorskip("resource", reason="this system has no limits for a process")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (held + MOST_MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_DATA, before)


def sparse(folder: Path, shape: tuple[int, ...], dtype: Any) -> np.memmap:
    path = folder / f"{len(list(folder.iterdir()))}"
    path.touch()
    os.truncate(path, int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize)
    return np.memmap(path, dtype, "r+", shape=shape)


def one(value: Any, *shape: int) -> np.ndarray:
    return np.broadcast_to(np.array(value), shape)


ENORMOUS: dict[str, Callable[[Path], Any]] = {
    "floats": lambda _: {"position": one(np.float32(1), MANY, 3), "life": one(np.float32(1), MANY)},
    "bytes beyond 64 bits": lambda _: {"position": (1, 2, 3), "life": one(np.float32(1), 2**60)},
    "one more": lambda _: {"position": (1, 2, 3), "life": one(np.float32(1), 2**60 + 1)},
    "doubles": lambda _: {"position": one(1e300, MANY, 3), "life": one(1.0, MANY)},
    "integers": lambda _: {"position": one(np.int8(1), MANY, 3), "life": one(np.uint64(1), MANY)},
    "two dimensions": lambda _: {"position": one(np.float32(1), 2**29, 2**29, 3), "life": one(1.0, 2**29, 2**29)},
    "the other byte order": lambda _: {"position": one(np.array(1, ">f4"), MANY, 3), "life": one(1.0, MANY)},
    "objects": lambda _: {"position": one(np.array(1, object), MANY, 3), "life": one(np.array(1, object), MANY)},
    "text": lambda _: {"position": one("a", MANY, 3), "life": one("1", MANY)},
    "another shape": lambda _: {"position": one(np.float32(1), MANY, 4), "life": one(np.float32(1), MANY)},
    "another length": lambda _: {"position": one(np.float32(1), MANY, 3), "life": one(np.float32(1), MANY - 1)},
    "records": lambda _: one(np.zeros((), [("position", "f4", 3), ("life", "f4")]), MANY),
    "packed records": lambda _: one(np.zeros((), dtype_of(Particle)), MANY),
    "objects in an array": lambda _: one(np.array({"position": (1, 2, 3), "life": 1}, object), MANY),
    "ranges": lambda _: {"position": range(MANY), "life": range(MANY)},
    "a range": lambda _: range(MANY),
    "maps": lambda path: {
        "position": sparse(path, (2**40, 3), np.float32),
        "life": sparse(path, (2**40,), np.float32),
    },
    "reversed maps": lambda path: {
        "position": sparse(path, (2**40, 3), np.float32)[::-2],
        "life": sparse(path, (2**40,), np.int32)[::2],
    },
    "a map of records": lambda path: sparse(path, (2**39,), dtype_of(Particle)),
    "a map of bytes": lambda path: sparse(path, (2**43,), np.uint8),
}


def calls(source: Any, path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What a program does with a source, and with a batch of it if there is one."""
    try:
        made = batch(Particle, source)
    except GpuStructError:
        made = source
    out = np.zeros(64, np.uint8)
    yield "batch", lambda: batch(Particle, source)
    if isinstance(source, dict):
        yield "a class", lambda: Particle(**source)
        yield "a member of a view", lambda: setattr(view(Particle), "position", source["position"])
    yield "a tail", lambda: pack(Tail(count=1, points=source))
    yield "pack", lambda: pack(made)
    yield "pack to out", lambda: pack(made, out=out)
    yield "pack from an offset", lambda: pack(made, out=out, offset=16)
    yield "pack with a stride", lambda: pack(made, stride=64)
    yield "pack with a stride, to out", lambda: pack(made, out=out, stride=1 << 20)
    yield "pack on threads", lambda: pack(made, threads=2)
    yield "pack_to", lambda: pack_to(path / "out", made)
    yield "repr", lambda: repr(made)
    yield "view", lambda: view(Particle, made)
    yield "unpack", lambda: unpack(Particle, source)
    yield "unpack to out", lambda: unpack(Particle, np.zeros(32, np.uint8), out=made)
    yield "unpack a count", lambda: unpack(Particle, np.zeros(32, np.uint8), count=2**60)
    for function in (layout_of, dtype_of, struct_of, suggest, diagram, uniform_safe, size, align):
        yield function.__name__, lambda function=function: function(source)
        yield f"{function.__name__} of a batch", lambda function=function: function(made)
    for function in (wgsl.parse, wgsl.declare, wgsl.stubs, vertex.layout):
        yield function.__name__, lambda function=function: function(source)
    yield "wgsl.check", lambda: wgsl.check("struct P { x: f32 }", source)
    yield "vertex.check", lambda: vertex.check("", source)


def error_of(work: Callable[[], Any]) -> GpuStructError | None:
    try:
        work()
    except GpuStructError as error:
        return error
    return None


@pytest.mark.parametrize("name", ENORMOUS)
def test_every_function_answers(name: str, tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir()
    source = ENORMOUS[name](tmp_path / "maps")
    for call, work in calls(source, tmp_path):
        error = error_of(work)
        assert error is None or (error.rule and len(str(error)) < 3000), call
    assert [entry.name for entry in tmp_path.iterdir()] == ["maps"]


@pytest.mark.parametrize("count", [2**58, 2**59, 2**60, 2**60 + 1, 2**60 + 4, 2**61 - 1])
def test_what_pack_says(count: int, tmp_path: Path) -> None:
    made = Particle(position=(1, 2, 3), life=one(np.float32(1), count))
    with pytest.raises(GpuStructError, match=rf"must fit into memory \(current: {16 * count} bytes\)"):
        pack(made)
    with pytest.raises(GpuStructError, match=rf"must be large enough for the records, {16 * count} bytes"):
        pack(made, out=np.zeros(64, np.uint8))
    with pytest.raises(GpuStructError, match=rf"must fit on its disk \(current: {16 * count} bytes"):
        pack_to(tmp_path / "out", made)
    with pytest.raises(GpuStructError, match="must be large enough for the records"):
        pack(made, out=np.zeros(64, np.uint8), threads=1)
    error = error_of(lambda: pack(made[-1]))
    assert (error.rule if error else pack(made[-1]).view(np.float32).tolist()) == (
        [1, 2, 3, 1] if count < 2**59 else "column-size"
    )


def test_a_map_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    data = sparse(tmp_path, (2**39,), dtype_of(Particle))
    data[2**38]["life"] = 7
    assert batch(Particle, data).life[2**38] == unpack(Particle, data).life[2**38] == 7
    assert pack(batch(Particle, data)[2**38 : 2**38 + 2]).view(np.float32).tolist() == [0, 0, 0, 7, 0, 0, 0, 0]
