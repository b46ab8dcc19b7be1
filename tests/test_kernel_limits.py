"""The kernel at its limits: the last record, the longest mask, records closer than a load is wide."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpustruct._kernel as kernel
import reference
from gpustruct import SourceError, Struct, batch, f32, i32, layout_of, mat3x3f, pack, u32, unpack, vec2f, vec3f, vec4f
from gpustruct.dtypes import dtype_of
from gpustruct.packing import pack_into, pack_plan
from gpustruct.types import make_struct
from gpustruct.unpacking import unpack_plan

GUARD = 0xA5
Place = Callable[[np.ndarray], np.ndarray]


@pytest.fixture(params=kernel.isas(), autouse=True)
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    before = kernel.use_isa(request.param)
    yield request.param
    kernel.use_isa(before)


@pytest.fixture
def at_the_end() -> Iterator[Place]:
    """A function that copies an array, strides and all, to where its last byte is the last that can be read."""
    if os.name != "posix":
        pytest.skip("page protection is set with POSIX calls")
    page, pages = mmap.PAGESIZE, 4
    libc, blocks = ctypes.CDLL(None, use_errno=True), []

    def place(array: np.ndarray) -> np.ndarray:
        low, high = np.lib.array_utils.byte_bounds(array)
        block = mmap.mmap(-1, (pages + 1) * page)
        address = ctypes.addressof(ctypes.c_char.from_buffer(block))
        blocks.append((block, address))
        assert high - low <= pages * page
        assert libc.mprotect(ctypes.c_void_p(address + pages * page), page, 0) == 0
        start = pages * page - (high - low) + array.__array_interface__["data"][0] - low
        copied = np.ndarray(array.shape, array.dtype, block, start, array.strides)
        copied[...] = array
        return copied

    yield place
    for _, address in blocks:
        libc.mprotect(ctypes.c_void_p(address + pages * page), page, 3)


def packed_at(made: Any, lead: int, stream: bool) -> bytes:
    """The batch packed `lead` bytes after a line starts, between guards that must stay."""
    bound = pack_plan(made)
    room = np.full(64 + lead + bound.size + 64, GUARD, np.uint8)
    start = (-room.ctypes.data) % 64 + lead
    pack_into(bound, made, room, start, 1, stream)
    assert (room[:start] == GUARD).all() and (room[start + bound.size :] == GUARD).all()
    return room[start : start + bound.size].tobytes()


@pytest.mark.parametrize("count", [2, 3, 46, 47, 48, 49, 50, 95, 96, 97, 130])
def test_masks_of_any_length(count: int) -> None:
    """Records that one structured array holds as they are packed: 48 vec3f are as much as one step masks."""
    cls = make_struct("Rows", {f"v{k}": vec3f for k in range(count)})
    kind = dtype_of(cls)
    for n, lead, stream in itertools.product((1, 2, 5), (0, 16, 40), (False, True)):
        raw = np.random.default_rng(n).integers(0, 256, n * 16 * count, np.uint8)
        want = raw.reshape(-1, 16).copy()
        want[:, 12:] = 0
        assert packed_at(batch(cls, raw.view(kind)), lead, stream) == want.tobytes()
        assert packed_at(batch(cls, raw.view(kind)[::-1]), lead, stream) == (want.reshape(n, -1)[::-1].tobytes())


@pytest.mark.parametrize("lead", [0, 4, 16, 32, 48, 60])
def test_few_masked_records_before_the_first_line(lead: int) -> None:
    """Where a line starts only after all of them, nothing is written after the last."""
    for members, n in itertools.product(({"v": vec3f, "w": vec3f}, {"v": vec3f, "w": vec3f, "x": vec3f}), (1, 2, 3)):
        cls = make_struct("Few", members)
        size = 16 * len(members)
        raw = np.random.default_rng(n).integers(0, 256, n * size, np.uint8)
        want = raw.reshape(-1, 16).copy()
        want[:, 12:] = 0
        for stream in (False, True):
            assert packed_at(batch(cls, raw.view(dtype_of(cls))), lead, stream) == want.tobytes()


def test_a_range_of_masked_records_shorter_than_a_line() -> None:
    """As a thread may have it: what follows its records is another thread's."""
    cls = make_struct("Pair", {"v": vec3f, "w": vec4f})
    raw = np.random.default_rng(3).integers(0, 256, 4 * 32, np.uint8)
    want = raw.reshape(4, 32).copy()
    want[:, 12:16] = 0
    run = pack_plan(batch(cls, raw.view(dtype_of(cls)))).parts[0].run
    for lead, start, mode in itertools.product((0, 4, 16, 32, 60), range(4), (kernel.MODE_PLAIN, kernel.MODE_STREAM)):
        for stop in range(start, 5):
            room = np.full(64 + lead + 4 * 32 + 64, GUARD, np.uint8)
            at = (-room.ctypes.data) % 64 + lead
            end = at + 32 * (stop - start)
            assert run.scatter(room, at, 32, start, stop, mode) == (-1, 0)
            assert room[at:end].tobytes() == want[start:stop].tobytes()
            assert (room[:at] == GUARD).all() and (room[end:] == GUARD).all()


@pytest.mark.parametrize("stride", [-4, -3, -2, -1, 0, 1, 2, 3, 4, 5])
def test_records_closer_than_a_scalar(stride: int, at_the_end: Place) -> None:
    memory = np.random.default_rng(1).integers(0, 256, 2000, np.uint8)
    for n, inner in itertools.product((1, 2, 3, 4, 5, 129), ((), (2,), (3,), (4,))):
        steps = (stride, *(4,) * len(inner))
        start = 1200 if stride < 0 else 0
        column = at_the_end(np.ndarray((n, *inner), np.float32, memory, start, steps))
        type_ = {(): f32, (2,): vec2f, (3,): vec3f, (4,): vec4f}[inner]
        cls = make_struct("Close", {"a": type_, "b": vec4f, "c": type_})
        zeros = np.zeros((n, 4), np.float32)
        want = pack(cls(a=column.copy(), b=zeros, c=column.copy()))
        plain = unpack(cls, want)
        assert plain.a.tobytes() == column.tobytes() and plain.c.tobytes() == column.tobytes()
        for lead, stream in itertools.product((0, 16), (False, True)):
            assert packed_at(cls(a=column, b=zeros, c=column), lead, stream) == want.tobytes()


SHAPES: list[dict[str, Any]] = [
    {"v": vec3f, "s": f32}, {"p": vec2f, "q": vec2f}, {"p": vec2f, "a": f32, "b": u32}, {"a": f32, "b": f32, "p": vec2f},
    {"a": f32, "b": u32, "c": i32, "d": f32}, {"v": vec4f}, {"v": vec3f}, {"m": mat3x3f},
]  # fmt: skip


@pytest.mark.parametrize("members", SHAPES, ids=lambda members: "-".join(t.__name__ for t in members.values()))
def test_no_column_is_read_past_its_last_scalar(members: dict[str, Any], at_the_end: Place) -> None:
    cls = make_struct("Shape", members)
    rng = np.random.default_rng(2)
    for n, wide in itertools.product((*range(1, 14), 128, 131), (False, True)):
        columns = {}
        for name, spec in cls.__members__.items():
            floats = np.dtype(np.float64 if wide else np.float32)
            integers = np.dtype(np.int64 if wide else {u32: np.uint32, i32: np.int32}.get(spec.type, np.int32))
            values = rng.integers(0, 1000, (n, *spec.inner))
            columns[name] = at_the_end(values.astype(integers if spec.type in (u32, i32) else floats))
        made = cls(**columns)
        want = reference.pack(made)
        for lead, stream in itertools.product((0, 16, 8), (False, True)):
            assert packed_at(made, lead, stream) == want, (n, wide, lead, stream)


@pytest.mark.parametrize("members", SHAPES, ids=lambda members: "-".join(t.__name__ for t in members.values()))
@pytest.mark.parametrize("gap", [1, 2, 5])
def test_wide_columns_with_gaps_between_records(members: dict[str, Any], gap: int) -> None:
    """Values that are converted, and not where the next ones of a dense column would be."""
    cls = make_struct("Shape", members)
    for n in (1, 5, 9, 64, 130):
        columns = {}
        for name, spec in cls.__members__.items():
            wide = np.int64 if spec.type in (u32, i32) else np.float64
            count = int(np.prod(spec.inner, dtype=int))
            block = np.random.default_rng(n).integers(0, 1000, (n, count + gap)).astype(wide)
            columns[name] = block[:, :count].reshape((n, *spec.inner), copy=False)
        made = cls(**columns)
        want = reference.pack(made)
        for lead, stream in itertools.product((0, 16), (False, True)):
            assert packed_at(made, lead, stream) == want


class Pair(Struct):
    a: u32
    b: i32
    v: vec2f


@pytest.mark.parametrize("first", [0, 1, 62, 63, 64, 65, 500])
def test_the_first_of_several_faults_on_the_way_back(first: int) -> None:
    """Whichever member has it, and however far apart they are; the earlier member where one record has two."""
    n = 1000
    for a, b in ((first, first), (first, first + 1), (first + 1, first), (first, 999), (999, first)):
        records = np.zeros(n, dtype_of(Pair))
        records["a"][a:], records["b"][b:] = 256, -1
        out = Pair(a=np.empty(n, np.uint8), b=np.empty(n, np.uint8), v=np.empty((n, 2)))
        name, at = ("a", a) if a <= b else ("b", b)
        with pytest.raises(SourceError, match=rf"Pair\.{name}\[{at}\]"):
            unpack(Pair, records.view(np.uint8), out=out)


@pytest.mark.parametrize("members", SHAPES, ids=lambda members: "-".join(t.__name__ for t in members.values()))
def test_every_number_of_records_comes_back(members: dict[str, Any], at_the_end: Place) -> None:
    """Four at a time and the rest; nothing is written past the last scalar of a column."""
    cls = make_struct("Shape", members)
    size = layout_of(cls).stride
    for n, mode in itertools.product((*range(1, 14), 63, 64, 65, 131), (kernel.MODE_PLAIN, kernel.MODE_STREAM)):
        data = np.random.default_rng(n).integers(0, 256, n * size, np.uint8)
        views = unpack(cls, data)
        out = cls(**{name: at_the_end(np.zeros_like(getattr(views, name), order="C")) for name in members})
        for part in unpack_plan(cls, out).parts:
            assert part.run.gather(data, 0, size, 0, n, mode) == (-1, 0)
        assert all(getattr(out, name).tobytes() == getattr(views, name).tobytes() for name in members), (n, mode)


@pytest.mark.parametrize("stride", [-60, -44, -28, 28, 32, 44, 60])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_masked_records_that_end_with_their_last_value(count: int, stride: int, at_the_end: Place) -> None:
    """The padding after the last record may be no memory that can be read, and any other may hold anything."""
    cls = make_struct("Rows", {f"v{k}": vec3f for k in range(count)})
    names, offsets = list(cls.__members__), [16 * k for k in range(count)]
    size = 16 * count - 4
    step = stride + (16 * count - 32) * (1 if stride > 0 else -1)
    kind = np.dtype({"names": names, "formats": ["3f4"] * count, "offsets": offsets, "itemsize": size})
    for n, lead, stream in itertools.product((1, 2, 3, 4, 5, 9), (0, 16, 40), (False, True)):
        memory = at_the_end(np.random.default_rng(n).integers(0, 256, (n - 1) * abs(step) + size, np.uint8))
        starts = [k * abs(step) for k in range(n)][:: 1 if step > 0 else -1]
        rows = np.ndarray((n,), kind, memory, starts[0], (step,))
        want = b"".join(memory[at + 16 * k :][:12].tobytes() + bytes(4) for at in starts for k in range(count))
        assert packed_at(batch(cls, rows), lead, stream) == want


@pytest.mark.parametrize("mode", [kernel.MODE_PLAIN, kernel.MODE_STREAM])
@pytest.mark.parametrize("gap", [4, 8, 52])
def test_bytes_between_the_values_of_a_column_stay(gap: int, mode: int) -> None:
    """Only a column that is written completely goes out in whole lines."""
    cls = make_struct("Both", {"v": vec3f, "s": f32, "m": mat3x3f})
    size = layout_of(cls).stride
    for n, dtype in itertools.product((1, 5, 64, 300), (np.float32, np.float64)):
        data = np.random.default_rng(n).random(n * size // 4, np.float32).view(np.uint8)
        views, blocks, columns = unpack(cls, data), {}, {}
        for name in cls.__members__:
            shape = getattr(views, name).shape
            inner = np.dtype(dtype).itemsize * int(np.prod(shape[1:], dtype=int))
            blocks[name] = np.full((n, inner + gap), GUARD, np.uint8)
            columns[name] = blocks[name][:, :inner].view(dtype).reshape(shape, copy=False)
        out = cls(**columns)
        for part in unpack_plan(cls, out).parts:
            for start, stop in ((0, n // 2), (n // 2, n)):
                assert part.run.gather(data, start * size, size, start, stop, mode) == (-1, 0)
        for name, block in blocks.items():
            assert (block[:, -gap:] == GUARD).all() and np.array_equal(getattr(out, name), getattr(views, name))
