"""Columns that overlap other memory, or have none: each comes from a fault that was found."""

from __future__ import annotations

import _thread
import gc
import threading
import time
from typing import Any

import numpy as np
import pytest

from gpustruct import SourceError, Struct, array, f32, pack, u32, unpack, vec3f, vec4f


class Pair(Struct):
    a: f32
    b: f32


class Point(Struct):
    position: vec3f
    life: f32
    id: u32


class Tail(Struct):
    count: u32
    values: array[vec3f]


class Numbers(Struct):
    a: u32
    v: array[u32]


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("n", [1, 4, 100, 5000])
def test_out_over_the_end_of_a_structured_column(n: int, order: str) -> None:
    memory = np.zeros(12 * n + 8 * n + 16, np.uint8)
    rows = memory[: 12 * n].view([("a", "f4"), ("z", "f4"), ("b", "f4")])
    rows["a"], rows["b"] = np.arange(n), 1000 + np.arange(n)
    batch = Pair(a=rows[order[0]], b=rows[order[1]])
    want = pack(batch).copy()
    offset = 12 * n - 4
    assert np.array_equal(pack(batch, out=memory, offset=offset)[offset : offset + 8 * n], want)


def test_a_header_over_the_tails_column() -> None:
    memory = np.zeros(400, np.uint8)
    values = memory[:160].view("f4").reshape(10, 4)[:, :3]
    values[...] = np.arange(30).reshape(10, 3)
    batch = Tail(count=7, values=values)
    want = pack(batch).copy()
    assert np.array_equal(pack(batch, out=memory)[: want.nbytes], want)


def test_a_failed_pack_over_a_column_leaves_it() -> None:
    memory = np.zeros(400, np.uint8)
    values = memory[4:36].view("i4")
    values[...] = np.arange(8)
    values[5] = -1
    before = memory.copy()
    with pytest.raises(SourceError, match=r"Numbers\.v\[5\]"):
        pack(Numbers(a=9, v=values), out=memory)
    assert np.array_equal(memory, before)


def test_columns_over_the_data_they_come_from() -> None:
    memory = np.zeros(400, np.uint8)
    memory[:40].view("u4")[:] = np.arange(10) + 100
    out = Numbers(a=memory[20:24].view("u4").reshape(()), v=np.empty(9, "u4"))
    unpack(Numbers, memory[:40], out=out)
    assert out.v.tolist() == list(range(101, 110)) and int(out.a) == 100


def test_large_columns_over_the_data_they_come_from() -> None:
    class Number(Struct):
        a: f32

    n = 3_000_000
    memory = np.zeros(8 * n, np.uint8)
    data, column = memory[: 4 * n], memory[2 * n : 6 * n].view("f4")
    data.view("f4")[:] = np.arange(n)
    unpack(Number, data, out=Number(a=column))
    assert np.array_equal(column, np.arange(n, dtype="f4"))


def test_columns_that_share_memory_are_no_out() -> None:
    data = pack(Pair(a=np.arange(4), b=7))
    shared = np.zeros(4, "f4")
    with pytest.raises(SourceError, match="memory of its own"):
        unpack(Pair, data, out=Pair(a=shared, b=shared))
    lapping = np.lib.stride_tricks.as_strided(np.zeros(8, "f4"), (4,), (2,))
    with pytest.raises(SourceError, match="array of its own"):
        unpack(Pair, data, out=Pair(a=lapping, b=np.zeros(4, "f4")))
    rows = np.zeros(4, [("b", "f4"), ("a", "f4")])
    unpack(Pair, data, out=Pair(a=rows["a"], b=rows["b"]))
    assert rows["a"].tolist() == [0, 1, 2, 3] and rows["b"].tolist() == [7, 7, 7, 7]


class Subclass(np.ndarray):
    pass


@pytest.mark.parametrize("make", [lambda a: a, lambda a: a.view(Subclass)])
@pytest.mark.parametrize("dtype", [object, [("x", "f4"), ("o", object)]])
def test_python_objects_are_no_bytes(make: Any, dtype: Any) -> None:
    objects = make(np.zeros(100, dtype))
    batch = Point(position=np.ones((4, 3)), life=1, id=1)
    with pytest.raises(SourceError, match="Python objects"):
        pack(batch, out=objects)
    with pytest.raises(SourceError, match="Python objects"):
        unpack(Point, objects)
    assert str(objects[0])
    del objects
    gc.collect()


def test_field_names_are_no_objects() -> None:
    rows = np.zeros(4, [("Origin", "f4"), ("b", "f8")])
    assert pack(f32([1, 2]), out=rows).nbytes == rows.nbytes
    assert pack(f32([1, 2]), out=memoryview(rows)).nbytes == rows.nbytes


def test_offsets_beyond_all_memory() -> None:
    empty = Point(position=np.zeros((0, 3)), life=[], id=np.zeros(0, int))
    for offset in (2**62, 2**64, 2**70):
        with pytest.raises(SourceError):
            pack(empty, out=bytearray(8), offset=offset)
        with pytest.raises(SourceError):
            pack(empty, offset=offset)


def test_nothing_is_written_after_an_interrupt() -> None:
    n = 2_000_000
    batch = Point(position=np.ones((n, 3)), life=np.ones(n), id=np.arange(n))
    out = np.zeros(n * 32, np.uint8)
    for _ in range(5):
        out[:] = 0
        timer = threading.Timer(0.002, _thread.interrupt_main)
        try:
            timer.start()
            pack(batch, out=out, threads=64)
            for _ in range(3000):
                time.sleep(0.01)  # The interrupt ends it, however late it comes; one long sleep it would not end.
        except KeyboardInterrupt:
            pass
        timer.join()
        seen = out.copy()
        time.sleep(0.02)
        assert np.array_equal(out, seen)


def test_a_column_right_after_the_last_record_is_no_overlap() -> None:
    # The records are 48 bytes apart, so the last one's stride ends inside the column.
    memory = np.arange(48 * 3 + 16 + 4 * 16, dtype=np.uint8)
    data, column = memory[: 48 * 3 + 16], memory[48 * 3 + 16 :].view(np.float32).reshape(4, 4)
    expected = np.array([data[48 * k :][:16] for k in range(4)]).view(np.float32)
    unpack(vec4f, data, stride=48, out=vec4f(column))
    np.testing.assert_array_equal(column, expected)
