"""The kernel against the naive packer: every instruction set, store mode, alignment, range and way back."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import conftest
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpustruct._kernel as kernel
import reference
import strategies
from gpustruct import (
    SourceError,
    Struct,
    align,
    array,
    f16,
    f32,
    i32,
    mat3x3f,
    mat4x4f,
    pack,
    u32,
    unpack,
    vec2f,
    vec3f,
    vec4f,
)
from gpustruct.columns import collect
from gpustruct.dtypes import dtype_of
from gpustruct.packing import bind, check_values, pack_into, pack_plan
from gpustruct.types import make_struct
from gpustruct.unpacking import unpack_plan
from gpustruct.workloads import MaterialBad

GUARD = 0xA5


def test_every_instruction_set_is_reported() -> None:
    # At the end of the tests, by conftest.py.
    sources = "".join(path.read_text() for path in (Path(__file__).parent.parent / "csrc").glob("isa*.c"))
    named = set(re.findall(r'\bname = "([^"]+)"', sources))
    assert named == set(conftest.INSTRUCTION_SETS) and named >= set(kernel.isas())


@pytest.fixture(params=kernel.isas())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    before = kernel.use_isa(request.param)
    yield request.param
    kernel.use_isa(before)


def guarded(batch: Any, *, lead: int, stream: bool, threads: int | None) -> bytes:
    """The batch's bytes packed `lead` bytes into a guarded buffer; the guards must stay."""
    bound = pack_plan(batch)
    room = np.full(64 + lead + bound.size + 64, GUARD, np.uint8)
    start = (-room.ctypes.data) % 64 + lead
    pack_into(bound, batch, room, start, threads, stream)
    assert (room[:start] == GUARD).all(), "bytes before the records were written"
    assert (room[start + bound.size :] == GUARD).all(), "bytes behind the records were written"
    return room[start : start + bound.size].tobytes()


def check_every_way(cls: Any, batch: Any) -> None:
    want = reference.pack(batch)
    for name, stream in itertools.product(kernel.isas(), (False, True)):
        before = kernel.use_isa(name)
        try:
            for lead, threads in ((0, None), (4, 1), (1, 3), (16, 1), (48, 3)):
                got = guarded(batch, lead=lead, stream=stream, threads=threads)
                assert reference.difference(cls, got, want) is None, (name, stream, lead, threads)
        finally:
            kernel.use_isa(before)


@given(st.data())
def test_random_batches_on_every_path(data: st.DataObject) -> None:
    cls = data.draw(strategies.types())
    check_every_way(cls, data.draw(strategies.batches(cls)))


@given(st.data())
def test_random_batches_come_back(data: st.DataObject) -> None:
    cls = data.draw(strategies.structs(tail=False))
    batch = data.draw(strategies.batches(cls))
    packed = pack(batch)
    views = unpack(cls, packed)
    assert reference.difference(cls, pack(views).tobytes(), packed.tobytes()) is None
    for name in kernel.isas():
        before = kernel.use_isa(name)
        try:
            out = writable_like(views)
            assert unpack(cls, packed, out=out) is out
            assert reference.difference(cls, pack(out).tobytes(), packed.tobytes()) is None, name
            out = writable_like(views)
            for part in unpack_plan(cls, out).parts:
                for start, stop in halves(part.run.records):
                    place = part.base + start * part.stride
                    assert part.run.gather(packed, place, part.stride, start, stop, kernel.MODE_STREAM) == (-1, 0)
            assert reference.difference(cls, pack(out).tobytes(), packed.tobytes()) is None, name
        finally:
            kernel.use_isa(before)


def halves(count: int) -> list[tuple[int, int]]:
    """Two ranges, as two threads would have them."""
    return [(0, count // 2), (count // 2, count)]


def writable_like(batch: Any) -> Any:
    from gpustruct.batches import Batch, from_columns

    columns = tuple(
        writable_like(column) if isinstance(column, Batch) else np.full(column.shape, 7, column.dtype)
        for column in batch.__columns__
    )
    return from_columns(type(batch), columns, batch.__shape__)


SIZES = (0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 127, 128, 129, 1000)


class Particle(Struct):
    position: vec3f
    life: f32
    velocity: vec3f
    id: u32
    color: vec4f


class Odd(Struct):
    a: f32
    b: f32
    c: f32
    d: f32
    e: f32


class Mixed(Struct):
    pair: vec2f
    one: f32
    two: f32
    three: f32
    four: f32
    other: vec2f
    lone: f32
    gap: vec3f
    turn: mat3x3f
    full: mat4x4f


SHAPES: list[dict[str, Any]] = [
    {"v": vec4f}, {"v": vec3f, "w": u32}, dict.fromkeys("abcd", f32), {"p": vec2f, "q": vec2f},
    {"p": vec2f, "a": f32, "b": f32}, {"v": vec3f}, {"a": f32, "b": f32, "p": vec2f}, {"a": f32, "p": vec2f},
]  # fmt: skip


def struct_of_slots(count: int, first: int) -> Any:
    """A struct of `count` slots, each of the next shape."""
    members: dict[str, Any] = {}
    for k in range(count):
        aligned = {name: Annotated[type_, align(16)] if not i else type_
                   for i, (name, type_) in enumerate(SHAPES[(first + k) % len(SHAPES)].items())}  # fmt: skip
        members |= {f"{name}{k}": type_ for name, type_ in aligned.items()}
    return make_struct("Slots", members)


SLOTS = [struct_of_slots(count, count * 3) for count in range(1, 9)]


@pytest.mark.parametrize("cls", [Particle, Odd, Mixed, *SLOTS])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("mode", [kernel.MODE_PLAIN, kernel.MODE_STREAM])
def test_columns_keep_their_borders(isa: str, cls: Any, n: int, mode: int) -> None:
    """Columns side by side in one guarded block, at odd places: nothing between them may change."""
    packed = pack(strategies.random_batch(cls, (n,), np.random.default_rng(n)))
    views = unpack(cls, packed)
    block = np.full(8192 + 2 * packed.nbytes + 256 * len(cls.__members__), GUARD, np.uint8)
    owned = np.zeros(block.shape, np.bool_)
    columns, at = {}, 4
    for name in cls.__members__:
        view = getattr(views, name)
        columns[name] = np.ndarray(view.shape, view.dtype, block, at)
        owned[at : at + view.nbytes] = True
        at += view.nbytes + 36
    out = cls(**columns)
    for part in unpack_plan(cls, out).parts:
        for start, stop in halves(n):
            assert part.run.gather(packed, start * part.stride, part.stride, start, stop, mode) == (-1, 0)
    assert (block[~owned] == GUARD).all()
    assert all(np.array_equal(getattr(out, name), getattr(views, name), equal_nan=True) for name in columns)


@pytest.mark.parametrize("cls", [Particle, Odd, Mixed, *SLOTS])
@pytest.mark.parametrize("n", SIZES)
def test_sizes_around_the_blocks(cls: Any, n: int) -> None:
    check_every_way(cls, strategies.random_batch(cls, (n,), np.random.default_rng(n)))


SOURCES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")
TARGETS = {"f32": f32, "f16": f16, "i32": i32, "u32": u32}


def edge_values(dtype: np.dtype, target: str) -> np.ndarray:
    """Values at the edges of both types that still fit the target."""
    if dtype.kind == "f":
        wide = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            2**-24,
            2**-25,
            3 * 2**-26,
            2**-14,
            65504,
            65519,
            1e-8,
            1 / 3,
            np.nan,
            np.inf,
            -np.inf,
            2049,
            1025.5,
        ]
        wide += [6.1e-5, -5.96e-8, 0.99975586, 1.0009765625 + 2**-11] * 3
        if target == "f32":
            wide += [3.4e38, -3.4e38, 1e-45, 1e-40]
        with np.errstate(over="ignore"):
            values = np.array(wide).astype(dtype)
        if target == "f16":
            values = values[~(np.isfinite(values) & (np.abs(values.astype("f8")) >= 65520))]
        return values[~np.isinf(values) | np.isinf(np.array(wide)[: len(values)])] if dtype.itemsize == 2 else values
    if dtype.kind == "b":
        return np.array([True, False] * 9)
    info = np.iinfo(dtype)
    low, high = {"f32": (-(2**63), 2**64), "f16": (-65519, 65519), "i32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1)}[
        target
    ]
    low, high = max(low, info.min), min(high, info.max)
    picks = [low, low + 1, high, high - 1, 0, 1, high // 2, 33, 100, max(low, -1)]
    return np.array([value for value in picks * 2 if low <= value <= high], dtype)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("order", ["<", ">"])
def test_every_conversion(source: str, target: str, order: str) -> None:
    dtype = np.dtype(source).newbyteorder(order)
    if dtype.kind == "f" and target in ("i32", "u32"):
        with pytest.raises(SourceError):
            make_struct("One", {"x": TARGETS[target]})(x=np.zeros(3, dtype))
        return
    values = edge_values(np.dtype(source), target)
    cls = make_struct("One", {"x": TARGETS[target], "y": array[TARGETS[target], 3]})
    wide = np.resize(values, (len(values), 3)).astype(dtype)
    check_every_way(cls, cls(x=values.astype(dtype), y=wide))
    spaced = np.zeros((len(values), 2), dtype)
    spaced[:, 0] = values
    check_every_way(cls, cls(x=spaced[::-1, 0], y=wide[:, ::-1]))


def test_halves_round_as_the_reference_does(isa: str) -> None:
    """Every half's neighbourhood: the half itself, the ties on both sides, and a hair off each."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    ties = (halves[:-1] + halves[1:]) / 2
    values = np.concatenate([halves, ties, np.nextafter(ties, np.inf), np.nextafter(ties, 0)])
    values = np.concatenate([values, -values])
    cls = make_struct("One", {"x": f16})
    for source in (values, values.astype(np.float32)):
        want = source.astype(np.float16)
        assert (pack(cls(x=source)).view(np.uint16) == want.view(np.uint16)).all()
    every = np.arange(65536, dtype=np.uint16).view(np.float16)
    back = cls(x=np.empty(65536, np.float32))
    unpack(cls, every.view(np.uint8), out=back)
    assert np.array_equal(back.x, every.astype(np.float32), equal_nan=True)


@pytest.mark.parametrize("count", range(1, 9))
def test_records_that_start_in_any_lane_of_a_line(isa: str, count: int) -> None:
    rng = np.random.default_rng(count)
    for dtype, n in itertools.product(
        (np.float32, np.float64), (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 21, 22, 23, 24, 25, 90)
    ):
        cls = SLOTS[count - 1]
        columns = {name: rng.integers(0, 1000, (n, *spec.inner)) for name, spec in cls.__members__.items()}
        batch = cls(**{name: c if name.startswith("w") else c.astype(dtype) for name, c in columns.items()})
        want = reference.pack(batch)
        for lead, stream in itertools.product((0, 16, 32, 48, 8), (False, True)):
            got = guarded(batch, lead=lead, stream=stream, threads=1)
            assert reference.difference(cls, got, want) is None, (n, lead, stream)


@pytest.mark.parametrize("lead", [0, 16, 32, 48])
def test_a_bad_value_is_named_wherever_lines_start(isa: str, lead: int) -> None:
    cls = make_struct("Two", {"v": vec3f, "i": u32, "w": vec4f})
    for at in (0, 1, 2, 3, 4, 5, 50, 94, 95, 96, 97, 98, 99):
        columns = {"v": np.ones((100, 3)), "i": np.ones(100, np.int64), "w": np.ones((100, 4), np.float32)}
        columns["v"][at:, 2] = 1e300
        columns["i"][min(at + 1, 99) :] = -1
        batch = cls(**columns)
        room = np.zeros(32 * 100 + 128, np.uint8)
        with pytest.raises(SourceError, match=rf"Two\.v\[{at}"):
            pack_into(bind(batch), batch, room, (-room.ctypes.data) % 64 + lead, 1, True)


BAD = [
    ("u32", np.int64, -1), ("u32", np.int64, 2**32), ("i32", np.int64, 2**31), ("i32", np.int64, -(2**31) - 1),
    ("i32", np.uint32, 2**31), ("u32", np.int8, -1), ("u32", np.uint64, 2**63), ("i32", np.uint64, 2**64 - 1),
    ("f32", np.float64, 3.5e38), ("f32", np.float64, -1e300), ("f16", np.float64, 65520.0), ("f16", np.float32, 1e10),
    ("f16", np.int32, 65520), ("f16", np.uint16, 65535), ("f16", np.int64, -(2**62)),
]  # fmt: skip


@pytest.mark.parametrize(("target", "dtype", "value"), BAD)
@pytest.mark.parametrize("at", [0, 1, 63, 64, 65, 777, 999])
def test_the_first_bad_value_is_named(isa: str, target: str, dtype: Any, value: Any, at: int) -> None:
    cls = make_struct("One", {"ok": vec4f, "x": TARGETS[target], "y": TARGETS[target]})
    x = np.zeros(1000, dtype)
    x[at:] = value
    y = np.zeros(1000, dtype)
    y[min(at + 1, 999) :] = value
    batch = cls(ok=np.ones(4), x=x, y=y)
    out = np.full(1000 * pack(cls(ok=np.ones(4), x=0, y=0)).nbytes + 8, GUARD, np.uint8)
    for threads in (1, 4):
        out[:] = GUARD
        with pytest.raises(SourceError, match=rf"One\.x\[{at}\]"):
            pack(batch, out=out, threads=threads)
        assert (out[:-8] == 0).all() and (out[-8:] == GUARD).all()
        with pytest.raises(SourceError, match=rf"One\.x\[{at}\]"):
            check_values(bind(batch), batch, threads)


def test_an_infinity_beside_a_bad_value_is_not_named() -> None:
    values = np.array([[0, np.inf, np.nan], [np.inf, -np.inf, 1e300]])
    with pytest.raises(SourceError, match=r"vec3f\[1, 2\]"):
        pack(vec3f(values))


def test_wide_loads_stay_inside_the_column(isa: str) -> None:
    """Columns that end where readable memory ends: a load past the last vec3 would crash."""
    mmap = pytest.importorskip("mmap", reason="needs mmap")
    if os.name != "posix":
        pytest.skip("page protection is set with POSIX calls")
    import ctypes

    page = mmap.PAGESIZE
    block = mmap.mmap(-1, 3 * page)
    base = ctypes.addressof(ctypes.c_char.from_buffer(block))
    libc = ctypes.CDLL(None, use_errno=True)
    for edge in (0, 2 * page):
        assert libc.mprotect(ctypes.c_void_p(base + edge), page, 0) == 0
    try:
        floats = np.frombuffer(block, np.float32, page // 4, page)
        floats[:] = np.arange(page // 4)
        used = floats[(page // 4) % 3 :].reshape(-1, 3)
        for column in (used, used[::-1], used[-1:], used[1::2], used[::-2]):
            cls = make_struct("Three", {"v": vec3f, "w": f32})
            got = pack(cls(v=column, w=np.float32(1))).view(np.float32).reshape(-1, 4)
            assert (got[:, :3] == column).all() and (got[:, 3] == 1).all()
            got = pack(vec3f(column)).view(np.float32).reshape(-1, 4)
            assert (got[:, :3] == column).all()
        doubles = np.frombuffer(block, np.float64, page // 8, page)[(page // 8) % 3 :].reshape(-1, 3)
        doubles[:] = np.arange(doubles.size).reshape(-1, 3)
        scalars = np.frombuffer(block, np.int64, 64, 2 * page - 512)
        scalars[:] = np.arange(64)
        for count in (64, 63, 62, 61, 7, 6, 5):
            batch = make_struct("Both", {"v": vec3f, "i": u32})(v=doubles[-count:], i=scalars[-count:])
            assert pack(batch).tobytes() == reference.pack(batch)
        head = np.frombuffer(block, np.float32, 3 * 300, page).reshape(-1, 3)
        assert (pack(vec3f(head[::-1])).view(np.float32).reshape(-1, 4)[:, :3] == head[::-1]).all()
        out = np.frombuffer(block, np.uint8, 48 * (page // 48), 2 * page - 48 * (page // 48))
        batch = strategies.random_batch(Particle, (page // 48,), np.random.default_rng(1), special=False)
        for stream in (False, True):
            pack_into(bind(batch), batch, out, 0, None, stream)
            assert out.tobytes() == reference.pack(batch)
        # The last record of a structured array may end with its last member, without the padding behind it.
        full, names = dtype_of(MaterialBad), [name for name in dtype_of(MaterialBad).names if name != "__padding"]
        members = {"names": names, "formats": [full[name] for name in names], "itemsize": 68}
        members["offsets"] = [full.fields[name][1] for name in names]
        for count, lead, stream in itertools.product((1, 2, 3, 17), (0, 16, 40), (False, True)):
            block[page : 2 * page] = os.urandom(page)
            start = 2 * page - (count - 1) * 80 - 68
            rows = np.ndarray((count,), np.dtype(members), block, start, (80,))
            for name in names:
                rows[name] = np.random.default_rng(count).random(rows[name].shape)
            batch = MaterialBad(**{name: rows[name] for name in names})
            assert guarded(batch, lead=lead, stream=stream, threads=1) == reference.pack(batch)
        # Records that leave as they lie, fewer than a line of them: nothing before the first is read.
        block[page : page + 64] = np.arange(16, dtype=np.float32).tobytes()
        for count, lead, stream in itertools.product((1, 2, 3, 4), (0, 16, 32, 36, 48), (False, True)):
            batch = vec4f(np.ndarray((count, 4), np.float32, block, page))
            assert guarded(batch, lead=lead, stream=stream, threads=1) == reference.pack(batch)
        # Lines that start within a record read one record further.
        floats[:] = np.arange(page // 4)
        for count, lead in itertools.product((5, 6, 7, 8, 9, 40), (16, 48)):
            room = np.zeros(32 * 40 + 128, np.uint8)
            start = (-room.ctypes.data) % 64 + lead
            batch = make_struct("Pair", {"a": vec3f, "s": f32, "b": vec3f})(a=used[-count:], s=1.0, b=used[-count:])
            pack_into(bind(batch), batch, room, start, 1, True)
            assert room[start : start + 32 * count].tobytes() == reference.pack(batch)
    finally:
        for edge in (0, 2 * page):
            libc.mprotect(ctypes.c_void_p(base + edge), page, 3)


def test_out_over_a_column(isa: str) -> None:
    floats = np.arange(4000, dtype=np.float32)
    want = pack(vec3f(floats[:3000].reshape(-1, 3).copy()))
    got = pack(vec3f(floats[:3000].reshape(-1, 3)), out=floats)
    assert (got[: want.nbytes] == want).all()


def test_gaps_of_a_wider_stride_stay(isa: str) -> None:
    batch = strategies.random_batch(Particle, (37,), np.random.default_rng(2), special=False)
    out = np.full(37 * 256, GUARD, np.uint8)
    pack(batch, out=out, stride=256)
    rows = out.reshape(37, 256)
    assert rows[:, :48].tobytes() == reference.pack(batch) and (rows[:, 48:] == GUARD).all()
    fresh = pack(batch, stride=256)
    assert fresh.nbytes == 36 * 256 + 48
    assert (unpack(Particle, fresh, stride=256).position == batch.position.astype(np.float32)).all()


def test_large_arrays_become_loops(isa: str) -> None:
    inner = make_struct("Inner", {"p": vec3f, "q": f16, "m": mat3x3f})
    cls = make_struct(
        "Large", {"head": f32, "inner": array[array[inner, 9], 40], "flat": array[f32, 3000], "last": u32}
    )
    batch = strategies.random_batch(cls, (3,), np.random.default_rng(3))
    check_every_way(cls, batch)
    packed = pack(batch)
    out = writable_like(unpack(cls, packed))
    unpack(cls, packed, out=out)
    assert reference.difference(cls, pack(out).tobytes(), packed.tobytes()) is None


def test_members_of_one_structured_array_share_a_column(isa: str) -> None:
    dtype = np.dtype(
        {
            "names": ["p", "l", "v", "i", "c"],
            "formats": ["3f4", "f4", "3f4", "u4", "4f4"],
            "offsets": [0, 12, 16, 28, 32],
            "itemsize": 64,
        }
    )
    rows = np.random.default_rng(4).integers(0, 255, 100 * 64, np.uint8).view(dtype)
    columns = {"position": rows["p"], "life": rows["l"], "velocity": rows["v"], "id": rows["i"], "color": rows["c"]}
    batch = Particle(**columns)
    assert bind(batch).parts[0].run.columns == 1
    assert len(collect(batch).arrays) == 1
    assert pack(batch).tobytes() == rows.view(np.uint8).reshape(100, 64)[:, :48].tobytes()


def test_isa_names() -> None:
    assert kernel.isas()[-1] == "portable"
    with pytest.raises(ValueError, match="this machine runs"):
        kernel.use_isa("abacus")
