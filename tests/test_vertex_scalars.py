"""The kernel's conversions for vertex formats against numpy's own arithmetic, on every instruction set, byte for byte."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import gpustruct._kernel as kernel
from gpustruct import _numbers, _records, _views
from gpustruct.columns import SCALAR_CODES, Source
from gpustruct.layout import Leaf
from gpustruct.plan import lower

FLOATS = ("f2", "f4", "f8")
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
# How many integers stand for [0, 1], the smallest float, the integers' own dtype.
NORMALIZED = {
    "unorm8": (255, 0, "u1"),
    "snorm8": (127, -1, "i1"),
    "unorm16": (65535, 0, "u2"),
    "snorm16": (32767, -1, "i2"),
}
NARROW = {"uint8": "u1", "sint8": "i1", "uint16": "u2", "sint16": "i2"}
BYTES = {"unorm8x4_bgra": 1, "unorm10_10_10_2": 1} | {
    name: int(dtype[1]) for name, dtype in NARROW.items() | {(name, row[2]) for name, row in NORMALIZED.items()}
}
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 127, 128, 129, 1000)


@pytest.fixture(params=kernel.isas(), autouse=True)
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    before = kernel.use_isa(request.param)
    yield request.param
    kernel.use_isa(before)


def run(members: Sequence[tuple[str, int, tuple[int, ...], np.ndarray]], size: int, data: Any, forward: bool) -> Any:
    """Pack or unpack (scalar, offset, inner shape, column) members of records of `size` bytes; what did not fit."""
    leaves, sources = [], []
    for k, (scalar, offset, shape, column) in enumerate(members):
        steps = [BYTES[scalar] * int(np.prod(shape[d + 1 :])) for d in range(len(shape))]
        leaves.append(Leaf((f"m{k}",), offset, scalar, tuple(zip(shape, steps, strict=True))))
        code = kernel.TYPE_CODES[column.dtype.str[1:]]
        sources.append(Source(k, 0, code, not column.dtype.isnative, column.strides[1:], column.strides[0]))
    columns = [column for *_, column in members]
    count = len(columns[0])
    plan = kernel.Plan(*lower(tuple(leaves), tuple(sources), size, forward), size)
    strides = np.array([[column.strides[0]] for column in columns], np.int64)
    made = kernel.Run(plan, columns, tuple(columns), strides, np.array([count], np.int64), not forward)
    return (made.scatter if forward else made.gather)(data, 0, size, 0, count, kernel.MODE_PLAIN)


def packed(scalar: str, column: np.ndarray, size: int | None = None) -> np.ndarray:
    """Records of one member, as their bytes; all of them must fit."""
    shape = column.shape[1:]
    needed = BYTES[scalar] * int(np.prod(shape))
    size = size or -(-needed // 4) * 4
    data = np.full((len(column), size), 0xA5, np.uint8)
    assert run([(scalar, 0, shape, column)], size, data, True) == (-1, 0)
    assert (data[:, needed:] == 0).all(), "padding is zero"
    return data[:, :needed]


def unpacked(scalar: str, data: np.ndarray, column: np.ndarray) -> np.ndarray:
    data = np.ascontiguousarray(data)
    assert run([(scalar, 0, column.shape[1:], column)], data.shape[1], data, False) == (-1, 0)
    return column


def encoded(scalar: str, values: np.ndarray) -> np.ndarray:
    """The integers that stand for `values`: float64 holds the products of smaller floats exactly."""
    return np.rint(values.astype("f8") * NORMALIZED[scalar][0]).astype(NORMALIZED[scalar][2])


def as_bytes(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(len(array), -1).view(np.uint8)


def some_floats(low: int, shape: tuple[int, ...], dtype: Any, seed: int = 1) -> np.ndarray:
    values = np.random.default_rng(seed).uniform(low, 1, shape)
    flat = values.reshape(-1)
    flat[: len(flat) // 4] = np.resize([low, 1, 0, -0.0, 0.5], len(flat) // 4)
    return values.astype(dtype)


def arrangements(values: np.ndarray) -> Iterator[np.ndarray]:
    """The same values in columns that are dense, spaced, reversed, transposed and of the other byte order."""
    yield values
    spaced = np.zeros((*values.shape, 2), values.dtype)
    spaced[..., 0] = values
    yield spaced[..., 0]
    yield values[::-1].copy()[::-1]
    yield values[..., ::-1].copy()[..., ::-1] if values.ndim > 1 else values
    yield np.asfortranarray(values)
    yield values.astype(values.dtype.newbyteorder())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scalar", NORMALIZED)
def test_floats_are_rounded_to_nearest(scalar: str, dtype: str) -> None:
    low = NORMALIZED[scalar][1]
    for n, inner in itertools.product(SIZES, ((), (2,), (4,), (3, 4))):
        values = some_floats(low, (n, *inner), dtype, n)
        for column in arrangements(values):
            assert (packed(scalar, column) == as_bytes(encoded(scalar, values))).all(), (n, inner)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("scalar", NORMALIZED)
def test_ties_go_to_even(scalar: str, dtype: str) -> None:
    """All that is half between two integers, as near as the type comes, and its neighbours on both sides."""
    scale, low, _ = NORMALIZED[scalar]
    ties = ((np.arange(low * scale, scale) + 0.5) / scale).astype(dtype)
    values = np.concatenate([ties, np.nextafter(ties, np.inf, dtype=dtype), np.nextafter(ties, -np.inf, dtype=dtype)])
    assert (packed(scalar, values) == as_bytes(encoded(scalar, values))).all()


def test_halves_are_exact_ties_somewhere() -> None:
    """0.5 is 127.5 of 255 and 63.5 of 127: to 128 and 64, both even."""
    half = np.array([0.5], "f4")
    assert packed("unorm8", half).tolist() == [[128]] and packed("snorm8", half).tolist() == [[64]]
    assert packed("snorm8", -half).view("i1").tolist() == [[-64]]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scalar", NORMALIZED)
def test_every_integer_comes_back(scalar: str, dtype: str) -> None:
    scale, low, own = NORMALIZED[scalar]
    info = np.iinfo(own)
    integers = np.arange(info.min, info.max + 1).astype(own)
    want = np.maximum(integers.astype("f8") / scale, low).astype(dtype)
    data = np.zeros((len(integers), 4), np.uint8)
    data[:, : integers.itemsize] = as_bytes(integers)
    for out in (
        np.empty(len(integers), dtype),
        np.empty((len(integers), 2), dtype)[:, 0],
        np.empty(len(integers), dtype)[::-1],
    ):
        assert np.array_equal(unpacked(scalar, data, out), want)
    swapped = np.empty(len(integers), np.dtype(dtype).newbyteorder())
    assert np.array_equal(unpacked(scalar, data, swapped), want)
    if dtype != "f2":
        back = integers.copy()
        back[back == info.min] = max(info.min, -scale if low else 0)
        assert (packed(scalar, want) == as_bytes(back)).all(), "what was read is written as it was"


@pytest.mark.parametrize("scalar", NORMALIZED)
def test_own_integers_are_copied(scalar: str) -> None:
    own = NORMALIZED[scalar][2]
    info = np.iinfo(own)
    for inner in ((), (2,), (4,)):
        values = np.random.default_rng(3).integers(info.min, info.max + 1, (129, *inner)).astype(own)
        for column in arrangements(values):
            assert (packed(scalar, column) == as_bytes(values)).all()
        data = np.zeros((129, 8), np.uint8)
        data[:, : values[0].nbytes] = as_bytes(values)
        assert np.array_equal(unpacked(scalar, data, np.zeros_like(values)), values)


def unorm10(values: np.ndarray) -> np.ndarray:
    wide = np.rint(values.astype("f8") * [1023, 1023, 1023, 3]).astype("u4")
    return wide[..., 0] | wide[..., 1] << 10 | wide[..., 2] << 20 | wide[..., 3] << 30


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("inner", [(4,), (3, 4), (2, 3, 4), (100, 4)])
def test_four_in_one_word(inner: tuple[int, ...], dtype: str) -> None:
    for n in (1, 2, 3, 17, 129):
        values = some_floats(0, (n, *inner), dtype, n)
        bgra = np.rint(values.astype("f8") * 255).astype("u1")[..., [2, 1, 0, 3]]
        for column in arrangements(values):
            assert (packed("unorm10_10_10_2", column) == as_bytes(unorm10(values))).all()
            assert (packed("unorm8x4_bgra", column) == as_bytes(bgra)).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_four_in_one_word_come_back(dtype: str) -> None:
    words = np.random.default_rng(5).integers(0, 2**32, 1000, dtype="u4")
    words[:4] = 0, 2**32 - 1, 1023, 3 << 30
    parts = np.stack([words & 1023, words >> 10 & 1023, words >> 20 & 1023, words >> 30], axis=-1)
    want = (parts / [1023, 1023, 1023, 3]).astype(dtype)
    data = words[:, None].view(np.uint8)
    for out in arrangements(np.zeros((1000, 4), dtype)):
        assert np.array_equal(unpacked("unorm10_10_10_2", data, out), want)
        assert np.array_equal(unpacked("unorm8x4_bgra", data, out), (data[:, [2, 1, 0, 3]] / 255).astype(dtype))


def test_bytes_of_rgba_become_bgra_and_back() -> None:
    values = np.random.default_rng(6).integers(0, 256, (129, 4), dtype="u1")
    for column in arrangements(values):
        assert (packed("unorm8x4_bgra", column) == values[:, [2, 1, 0, 3]]).all()
    assert (unpacked("unorm8x4_bgra", values[:, [2, 1, 0, 3]], np.zeros_like(values)) == values).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scalar", [*NORMALIZED, "unorm8x4_bgra", "unorm10_10_10_2"])
@pytest.mark.parametrize("at", [0, 1, 2, 7, 8, 9, 63, 128, 998, 999])
def test_what_does_not_fit_is_found(scalar: str, dtype: str, at: int) -> None:
    low = NORMALIZED.get(scalar, (0, 0))[1]
    tiny = np.finfo(dtype).smallest_subnormal
    above, below = (
        np.nextafter(np.array(1, dtype), np.array(2, dtype)),
        np.nextafter(np.array(low, dtype), np.array(-2, dtype)),
    )
    bad = [above, below, np.nan, -np.nan, np.inf, -np.inf, 6e4, -6e4, -tiny if low == 0 else -1.5]
    for value, component in itertools.product(bad, (0, 3)):
        values = np.full((1000, 4), 0.25, dtype)
        values[at, component] = value
        for column in (values, values[:, ::-1].copy()[:, ::-1], values.astype(np.dtype(dtype).newbyteorder())):
            data = np.zeros((1000, 4 * BYTES[scalar]), np.uint8)
            assert run([(scalar, 0, (4,), column)], data.shape[1], data, True) == (at, 0), (value, component)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("scalar", NARROW)
def test_narrow_integers(scalar: str, dtype: str) -> None:
    have, want = np.iinfo(dtype), np.iinfo(NARROW[scalar])
    low, high = max(have.min, want.min), min(have.max, want.max)
    rng = np.random.default_rng(7)
    for inner in ((), (2,), (4,)):
        values = rng.integers(low, high + 1, (129, *inner), dtype=np.int64).astype(dtype)
        values.reshape(-1)[:2] = low, high
        for column in arrangements(values):
            assert (packed(scalar, column) == as_bytes(values.astype(NARROW[scalar]))).all()
    for value in (want.min - 1, want.max + 1, have.min, have.max):
        if have.min <= value <= have.max and not want.min <= value <= want.max:
            values = np.full(1000, low, dtype)
            values[777:] = value
            assert run([(scalar, 0, (), values)], 4, np.zeros(4000, np.uint8), True) == (777, 0)


@pytest.mark.parametrize("dtype", [*INTEGERS, "f8"])
@pytest.mark.parametrize("scalar", NARROW)
def test_narrow_integers_come_back(scalar: str, dtype: str) -> None:
    own = np.iinfo(NARROW[scalar])
    every = np.arange(own.min, own.max + 1).astype(NARROW[scalar])
    low, high = (own.min, own.max) if dtype == "f8" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    fits = (every >= low) & (every <= high) if dtype != "f8" else np.ones(len(every), np.bool_)
    data = np.zeros((len(every), 4), np.uint8)
    data[:, : every.itemsize] = as_bytes(every)
    assert np.array_equal(unpacked(scalar, data[fits], np.zeros(int(fits.sum()), dtype)), every[fits].astype(dtype))
    if not fits.all():
        first = int(np.flatnonzero(~fits)[0])
        assert run([(scalar, 0, (), np.zeros(len(every), dtype))], 4, data, False) == (first, 0)


def test_booleans_are_0_and_1() -> None:
    values = np.random.default_rng(8).integers(0, 2, (129, 4)).astype(np.bool_)
    for scalar in NARROW:
        assert (packed(scalar, values) == as_bytes(values.astype(NARROW[scalar]))).all()


def test_members_side_by_side() -> None:
    """A corner of 24 bytes, as a renderer has it, from every mix of column dtypes; and the first fault of several."""
    rng = np.random.default_rng(9)
    for n, kinds in itertools.product((1, 5, 128, 1000), itertools.product(("f4", "f8"), repeat=3)):
        normal, uv, color = (rng.uniform(low, 1, (n, k)).astype(dtype)
                             for low, k, dtype in zip((-1, 0, 0), (4, 2, 4), kinds, strict=True))  # fmt: skip
        flags = rng.integers(0, 256, (n, 2))
        corner = np.dtype(
            [("normal", "i1", 4), ("uv", "u2", 2), ("color", "u1", 4), ("flags", "u1", 2), ("pad", "u1", 10)]
        )
        want = np.zeros(n, corner)
        want["normal"], want["uv"] = encoded("snorm8", normal), encoded("unorm16", uv)
        want["color"], want["flags"] = encoded("unorm8", color), flags
        members = [
            ("snorm8", 0, (4,), normal),
            ("unorm16", 4, (2,), uv),
            ("unorm8", 8, (4,), color),
            ("uint8", 12, (2,), flags),
        ]
        data = np.full(24 * n, 0xA5, np.uint8)
        assert run(members, 24, data, True) == (-1, 0)
        assert data.tobytes() == want.tobytes()
        uv[n // 2, 1], color[n - 1, 0] = 1.5, -0.5
        assert run(members, 24, data, True) == (n // 2, 1)


class Asked(Exception):
    """What a Leaf asks Python about."""


def leaf(scalar: str, *axes: tuple[int, int], check: Any = None) -> _numbers.NumberWriter:
    def ask(index: tuple[int, ...], value: Any) -> np.ndarray:
        raise Asked(index, value)

    return _numbers.NumberWriter(SCALAR_CODES[scalar], BYTES[scalar], axes, check or ask)


def written(writer: _numbers.NumberWriter, value: Any, size: int) -> list[int]:
    out = np.zeros(size, np.uint8)
    _records.write_value(writer, value, out, size)
    return out.tolist()


def seen(writer: _numbers.NumberWriter, data: list[int]) -> Any:
    owner = np.array(data, np.uint8)
    member = _views.MemberDescriptor("m", "T.m", 0, len(data), writer, None, -1, 0, None)
    return _views.view_at(member, owner, 0)


@pytest.mark.parametrize("scalar", NORMALIZED)
def test_numbers_of_python_are_encoded(scalar: str) -> None:
    low, size = NORMALIZED[scalar][1], BYTES[scalar]
    values = [1.0, low / 4, 0.5, 1 / 3]
    want = encoded(scalar, np.array(values)).view(np.uint8).tolist()
    assert written(leaf(scalar, (4, size)), values, 4 * size) == want
    assert written(leaf(scalar, (2, 2 * size), (2, size)), [(1.0, low / 4), [0.5, 1 / 3]], 4 * size) == want
    for dtype in ("f8", "f4"):
        array = np.array(values, dtype)
        got = written(leaf(scalar, (4, size)), array, 4 * size)
        assert got == encoded(scalar, array).view(np.uint8).tolist()
    own = np.array([1, 2, 3, 4], NORMALIZED[scalar][2])
    assert written(leaf(scalar, (4, size)), own, 4 * size) == own.view(np.uint8).tolist()
    spaced = written(leaf(scalar, (2, 4)), values[:2], 4 + size)
    assert spaced[:size] + spaced[4:] == want[: 2 * size] and not any(spaced[size:4])
    assert written(leaf(scalar), 1 / 3, size) == want[3 * size :]


@pytest.mark.parametrize("value", [1.5, -1.5, float("nan"), 1, True, "1", None, 2**70, np.float64(2), np.int64(1)])
@pytest.mark.parametrize("scalar", [*NORMALIZED, "unorm8x4_bgra", "unorm10_10_10_2"])
def test_what_is_no_float_that_fits_is_asked_about(scalar: str, value: Any) -> None:
    with pytest.raises(Asked):
        written(leaf(scalar, (4, BYTES[scalar])), [0.5, value, 0.5, 0.5], 4 * BYTES[scalar])
    if scalar in NORMALIZED:
        with pytest.raises(Asked):
            written(leaf(scalar), value, BYTES[scalar])


@pytest.mark.parametrize("scalar", NARROW)
def test_integers_of_python_fit_or_are_asked_about(scalar: str) -> None:
    info, size = np.iinfo(NARROW[scalar]), BYTES[scalar]
    for value in (info.min, info.max, 1, np.int64(7), np.uint8(7), True):
        assert written(leaf(scalar), value, size) == np.array([value], NARROW[scalar]).view("u1").tolist()
    for value in (info.min - 1, info.max + 1, 2**31, 2**63, -(2**80), 1.0, np.float32(1), "1"):
        with pytest.raises(Asked):
            written(leaf(scalar), value, size)
    assert written(leaf(scalar, (2, size)), (1, info.max), 2 * size) == (
        np.array([1, info.max], NARROW[scalar]).view("u1").tolist()
    )


def test_four_in_one_word_are_written_by_arrays() -> None:
    def as_floats(index: tuple[int, ...], value: Any) -> np.ndarray:
        return np.array(value, np.float64)

    values = [1.0, 0.5, 0.25, 1.0]
    word = unorm10(np.array(values)).tobytes()
    assert written(leaf("unorm10_10_10_2", (4, 1), check=as_floats), values, 4) == list(word)
    assert written(leaf("unorm8x4_bgra", (4, 1), check=as_floats), values, 4) == [64, 128, 255, 255]
    rows = np.array([values, values[::-1]])
    got = written(leaf("unorm10_10_10_2", (2, 8), (4, 1), check=as_floats), rows, 12)
    assert got == list(word) + [0] * 4 + list(unorm10(rows[1]).tobytes())
    with pytest.raises(ValueError, match="cannot be written"):
        leaf("unorm10_10_10_2", (3, 1))
    with pytest.raises(ValueError, match="cannot be written"):
        leaf("unorm8x4_bgra")


@pytest.mark.parametrize("scalar", NORMALIZED)
def test_views_show_floats(scalar: str) -> None:
    scale, low, own = NORMALIZED[scalar]
    size = BYTES[scalar]
    integers = np.array([1, np.iinfo(own).max, 0, np.iinfo(own).min], own)
    data = integers.view(np.uint8).tolist()
    want = np.maximum(integers.astype("f8") / scale, low)
    got = seen(leaf(scalar, (4, size)), data)
    assert got.dtype == np.float32 and np.array_equal(got, want.astype("f4"))
    with pytest.raises(ValueError, match="read-only"):
        got[0] = 1
    assert seen(leaf(scalar), data[:size]) == want[0]
    assert np.array_equal(seen(leaf(scalar, (2, 2 * size), (2, size)), data), want.astype("f4").reshape(2, 2))
    many = seen(leaf(scalar, (100, size)), data * 25)
    assert np.array_equal(many, np.tile(want, 25).astype("f4"))
    assert seen(leaf(scalar, (0, size)), []).shape == (0,)


def test_views_show_words_of_four() -> None:
    word = list(unorm10(np.array([1.0, 0.5, 0.0, 2 / 3])).tobytes())
    assert np.array_equal(seen(leaf("unorm10_10_10_2", (4, 1)), word), np.array([1, 512 / 1023, 0, 2 / 3], "f4"))
    assert np.array_equal(
        seen(leaf("unorm8x4_bgra", (4, 1)), [1, 2, 3, 255]), np.array([3, 2, 1, 255], "f4") / np.float32(255)
    )


@pytest.mark.parametrize("scalar", NARROW)
def test_views_show_narrow_integers_in_place(scalar: str) -> None:
    size, info = BYTES[scalar], np.iinfo(NARROW[scalar])
    owner = np.array([info.min, info.max, 3, 4], NARROW[scalar]).view(np.uint8)
    member = _views.MemberDescriptor("m", "T.m", 0, len(owner), leaf(scalar, (4, size)), None, -1, 0, None)
    array = _views.view_at(member, owner, 0)
    assert array.dtype == np.dtype(NARROW[scalar]) and array.tolist() == [info.min, info.max, 3, 4]
    array[0] = 9
    assert owner.view(NARROW[scalar])[0] == 9
    assert seen(leaf(scalar), owner[size : 2 * size].tolist()) == info.max
