"""The arguments of pack and unpack at their limits: what is accepted, what is refused, and which bytes change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpustruct import SourceError, Struct, array, f32, i32, pack, u32, unpack, vec2f, vec3f, vec4f

GUARD = 0xA5


class Point(Struct):
    position: vec3f
    id: u32


class Tail(Struct):
    count: u32
    values: array[u32]


def points(n: int) -> Any:
    return Point(position=np.arange(3 * n).reshape(n, 3), id=np.arange(n))


def words(n: int) -> np.ndarray:
    """The bytes of `points(n)`, by hand."""
    rows = np.zeros(n, [("position", "f4", 3), ("id", "u4")])
    rows["position"], rows["id"] = np.arange(3 * n).reshape(n, 3), np.arange(n)
    return rows.view(np.uint8)


def refused(rule: str, call: Any) -> None:
    with pytest.raises(SourceError) as caught:
        call()
    assert caught.value.rule == rule


@pytest.mark.parametrize("offset", [1, 16, 4096, 100_000])
def test_bytes_before_the_offset_are_zero_in_a_new_array_and_stay_in_out(offset: int) -> None:
    for _ in range(5):  # New memory is often zero by chance, used memory is not.
        dirty = np.full(offset + 64, GUARD, np.uint8)
        del dirty
        data = pack(points(4), offset=offset)
        assert data.nbytes == offset + 64 and not data[:offset].any()
        assert data[offset:].tobytes() == words(4).tobytes()
    out = np.full(offset + 64 + 8, GUARD, np.uint8)
    assert np.shares_memory(pack(points(4), out=out, offset=offset), out)
    assert (out[:offset] == GUARD).all() and (out[-8:] == GUARD).all()
    assert out[offset:-8].tobytes() == words(4).tobytes()


def test_an_out_ends_with_the_last_value_or_later() -> None:
    values = np.arange(9, dtype=np.float32).reshape(3, 3)
    for nbytes in (44, 45, 47, 48, 60):
        out = np.full(nbytes, GUARD, np.uint8)
        pack(vec3f(values), out=out)
        assert [out[16 * k :][:12].view(np.float32).tolist() for k in range(3)] == values.tolist()
    refused("out-small", lambda: pack(vec3f(values), out=np.zeros(43, np.uint8)))
    refused("out-small", lambda: pack(vec3f(values), out=np.zeros(47, np.uint8), offset=4))


def test_bytes_between_strided_records_stay_where_out_ends_with_the_last_value() -> None:
    values = np.arange(9, dtype=np.float32).reshape(3, 3)
    out = np.full(2 * 48 + 12, GUARD, np.uint8)
    pack(vec3f(values), out=out, stride=48)
    for k in range(3):
        assert out[48 * k :][:12].view(np.float32).tolist() == values[k].tolist()
        assert (out[48 * k + 16 : 48 * (k + 1)] == GUARD).all()


def test_strides() -> None:
    for stride in (16, 32, 48, 4096):
        data = pack(points(3), stride=stride)
        assert data.nbytes == 2 * stride + 16
        rows = np.lib.stride_tricks.as_strided(data, (3, 16), (stride, 1))
        assert rows.tobytes() == words(3).tobytes()
        assert not np.delete(data, np.add.outer(np.arange(3) * stride, np.arange(16)).ravel()).any()
    for stride in (0, 8, 12, 15, 17, 20, 24, 40, -16, 2**31):
        refused("stride-value", lambda stride=stride: pack(points(3), stride=stride))
        refused("stride-value", lambda stride=stride: unpack(Point, bytes(4096), stride=stride))
    refused("stride-tail", lambda: pack(Tail(count=1, values=[1, 2]), stride=16))


def test_records_before_a_fault_are_zero_too() -> None:
    for bad in (0, 1, 3):
        out = np.full(8 + 64 + 8, GUARD, np.uint8)
        ids = np.arange(4)
        ids[bad] = -1
        with pytest.raises(SourceError, match=rf"Point\.id\[{bad}\]"):
            pack(Point(position=np.ones((4, 3)), id=ids), out=out, offset=8)
        assert (out[:8] == GUARD).all() and not out[8:72].any() and (out[72:] == GUARD).all()


@pytest.mark.parametrize("extra", [0, 1, 4])
def test_data_end_with_a_value_a_record_or_where_the_next_one_starts(extra: int) -> None:
    """`extra` bytes more are no whole records."""
    memory = np.arange(400, dtype=np.uint8)
    for type_, size, stride in ((vec3f, 12, 16), (vec3f, 12, 48), (vec2f, 8, 8), (Point, 16, 32)):
        record = -(-size // 16) * 16 if type_ is not vec2f else 8
        for end in {size, record, stride}:
            data = memory[: 2 * stride + end + extra]
            if extra and 2 * stride + end + extra not in {2 * stride + other for other in (size, record, stride)}:
                refused("data-size", lambda t=type_, d=data, s=stride: unpack(t, d, stride=s))
            else:
                assert len(unpack(type_, data, stride=stride)) == 3


def test_counts_and_offsets() -> None:
    data = words(5)
    for count in range(6):
        assert np.asarray(unpack(Point, data, count=count).id).tolist() == list(range(count))
    for count in (-1, 6, 2**40):
        refused("count-value", lambda count=count: unpack(Point, data, count=count))
    assert unpack(Point, data, offset=32).id.tolist() == [2, 3, 4]
    assert len(unpack(Point, data, offset=80)) == 0
    refused("data-small", lambda: unpack(Point, data, offset=81))
    refused("data-small", lambda: unpack(Tail, bytes(3)))
    refused("data-small", lambda: unpack(Tail, bytes(16), offset=13))
    assert unpack(Tail, bytes(16), offset=12).values.size == 0


@pytest.mark.parametrize("end", [12, 16, 48])
def test_out_gets_the_last_record_of_data_that_end_early(end: int) -> None:
    memory = np.random.default_rng(1).integers(0, 100, 4 * 48, np.uint8)
    data = memory[: 3 * 48 + end]
    out = vec3f(np.zeros((4, 3), np.float32))
    assert unpack(vec3f, data, stride=48, out=out) is out
    assert np.asarray(out).tobytes() == b"".join(memory[48 * k :][:12].tobytes() for k in range(4))


def test_columns_of_out() -> None:
    data = words(4)
    good = Point(position=np.zeros((4, 3)), id=np.zeros(4, np.int64))
    unpack(Point, data, out=good)
    assert good.id.tolist() == [0, 1, 2, 3] and good.position[3].tolist() == [9, 10, 11]
    position, number = np.zeros((4, 3), np.float32), np.zeros(4, np.uint32)
    refused("out-columns", lambda: unpack(Point, data, out=vec4f(np.zeros((4, 4), np.float32))))
    for n in (3, 5):
        refused(
            "out-columns", lambda n=n: unpack(Point, data, out=Point(position=np.zeros((n, 3)), id=np.zeros(n, int)))
        )
    refused("out-columns", lambda: unpack(Point, data, out=Point(position=position, id=np.zeros((), np.uint32))))
    refused("out-columns", lambda: unpack(Point, data, out=Point(position=np.zeros(3, np.float32), id=number)))
    frozen = np.zeros(4, np.uint32)
    frozen.flags.writeable = False
    refused("out-columns", lambda: unpack(Point, data, out=Point(position=position, id=frozen)))
    for made in (u32, i32):
        refused("out-dtype", lambda made=made: unpack(made, bytes(16), out=made(np.zeros(4, np.bool_))))
    refused("out-dtype", lambda: unpack(f32, bytes(16), out=f32(np.zeros(4, np.int32))))
