"""Columns of packed words, one integer of 32 bits a record: what takes them, and what the errors of the others say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpustruct import SourceError, array, batch, dtype_of, pack, unpack, view
from gpustruct.types import make_struct
from gpustruct.vertex import (
    Vertex,
    float16x2,
    sint16x2,
    snorm8x4,
    uint8x4,
    unorm8x4,
    unorm8x4_bgra,
    unorm10_10_10_2,
    unorm16x2,
)
from ways_out import code_of, follow

WORDS = np.array([0, 2**32 - 1, 1023, 3 << 30, 512 << 10, 0x12345678, 0x80808080, 0x3FF, 1], "u4")


def test_words_of_four_components() -> None:
    class Words(Vertex):
        a: unorm10_10_10_2
        b: unorm8x4_bgra

    words = np.array([0, 2**32 - 1, 1023, 3 << 30, 512 << 10], "u4")
    made = Words(a=words, b=words)
    assert pack(made).view("u4").reshape(5, 2).tolist() == [[w, w] for w in words.tolist()]
    assert made.a.tolist() == words.tolist()
    assert pack(Words(a=made.a, b=made.b)).tobytes() == pack(made).tobytes()
    got = unpack(Words, pack(made))
    parts = np.stack([words & 1023, words >> 10 & 1023, words >> 20 & 1023, words >> 30], axis=-1)
    assert np.array_equal(got.a, (parts / [1023, 1023, 1023, 3]).astype("f4"))
    bgra = words[:, None].view("u1").reshape(5, 4)
    assert np.array_equal(got.b, bgra[:, [2, 1, 0, 3]] / np.float32(255))
    structured = pack(made).view(dtype_of(Words))
    assert pack(batch(Words, structured)).tobytes() == pack(made).tobytes()
    assert pack(made[1:3]).tobytes() == pack(made)[8:24].tobytes()
    out = Words(a=np.zeros(5, "u4"), b=np.zeros((5, 4), "u1"))
    unpack(Words, pack(made), out=out)
    assert out.a.tolist() == words.tolist() and np.array_equal(out.b, bgra[:, [2, 1, 0, 3]])
    rows = [{"a": np.uint32(w), "b": np.uint32(w)} for w in words]
    assert pack(batch(Words, rows)).tobytes() == pack(made).tobytes()
    with pytest.raises(SourceError):
        Words(a=np.zeros((5, 4), "u1"), b=words)
    with pytest.raises(SourceError):
        Words(a=np.zeros((5, 4), "u4"), b=words)


@pytest.mark.parametrize("n", range(9))
@pytest.mark.parametrize("made", [unorm10_10_10_2, unorm8x4_bgra])
@pytest.mark.parametrize("order", "<>")
def test_any_number_of_words(made: Any, n: int, order: str) -> None:
    """Four of them too, which are not the components of one record."""
    V = make_struct("V", {"a": made}, base=Vertex)
    words = WORDS[:n].astype(f"{order}u4")
    assert pack(V(a=words)).tobytes() == WORDS[:n].tobytes()
    for count in (3, 4):
        A = make_struct("A", {"a": array[made, count]}, base=Vertex)
        assert pack(A(a=np.resize(words, (n, count)) if n else np.zeros((0, count), "u4"))).tobytes() == (
            np.resize(WORDS[:n], (n, count)).tobytes() if n else b""
        )


def test_four_words_are_no_value_for_one_record() -> None:
    record = view(make_struct("V", {"a": unorm10_10_10_2}, base=Vertex))
    with pytest.raises(SourceError):
        record.a = np.array([1, 0, 0, 1], "u4")
    record.a = np.uint32(0x12345678)
    assert bytes(record) == (0x12345678).to_bytes(4, "little")


COMPONENTS = np.array([[1023, 512, 0, 3], [1, 2, 3, 1], [0, 1023, 0, 0]])


@pytest.mark.parametrize(
    ("made", "column", "says", "want"),
    [
        # The integers that the format stores, one for each component.
        (unorm10_10_10_2, COMPONENTS.astype("u4"), "np.asarray(column) / [1023, 1023, 1023, 3]",
         (COMPONENTS << [0, 10, 20, 30]).sum(1).astype("<u4")),
        (unorm10_10_10_2, COMPONENTS.astype("i8"), "np.asarray(column) / [1023, 1023, 1023, 3]",
         (COMPONENTS << [0, 10, 20, 30]).sum(1).astype("<u4")),
        (unorm10_10_10_2, [[0, 1, 1, 1]], "np.asarray(column, np.float64)", np.array([0xFFFFFC00], "<u4")),
        (unorm10_10_10_2, np.array([[65535, 0, 0, 65535]], "u2"), "np.asarray(column) / 65535", np.array([0xC00003FF], "<u4")),
        (unorm8x4_bgra, np.array([[255, 128, 0, 7]], "u4"), "np.asarray(column).astype(np.uint8)", bytes([0, 128, 255, 7])),
        (unorm8x4, np.array([[65535, 0, 257, 0]], "u2"), "np.asarray(column) / 65535", bytes([255, 0, 1, 0])),
        # Words that other integers hold.
        (unorm10_10_10_2, WORDS[:3].view("i4"), "column.astype(np.uint32)", WORDS[:3]),
        (unorm10_10_10_2, WORDS.astype("i8"), "column.astype(np.uint32)", WORDS),
        (unorm8x4_bgra, WORDS.tolist(), "np.asarray(column).astype(np.uint32)", WORDS),
        # Words for formats whose columns have components.
        (unorm8x4, WORDS, "np.ascontiguousarray(column, '<u4').view(np.uint8).reshape(-1, 4)", WORDS),
        (unorm8x4, WORDS[::2].astype(">u4"), "np.ascontiguousarray(column, '<u4').view(np.uint8).reshape(-1, 4)", WORDS[::2]),
        (unorm8x4, WORDS[1:5], "np.ascontiguousarray(column, '<u4').view(np.uint8).reshape(-1, 4)", WORDS[1:5]),
        (snorm8x4, WORDS[:3].view("i4"), "np.ascontiguousarray(column, '<u4').view(np.int8).reshape(-1, 4)", WORDS[:3]),
        (uint8x4, WORDS[:3], "np.ascontiguousarray(column, '<u4').view(np.uint8).reshape(-1, 4)", WORDS[:3]),
        (unorm16x2, WORDS[:5].astype("i8"), "np.ascontiguousarray(column, '<u4').view(np.uint16).reshape(-1, 2)", WORDS[:5]),
        (sint16x2, WORDS[:5], "np.ascontiguousarray(column, '<u4').view(np.int16).reshape(-1, 2)", WORDS[:5]),
        (float16x2, WORDS[2:5], "np.ascontiguousarray(column, '<u4').view(np.float16).reshape(-1, 2)", WORDS[2:5]),
        (array[unorm8x4, 3], WORDS.reshape(3, 3), "np.ascontiguousarray(column, '<u4').view(np.uint8).reshape(-1, 3, 4)", WORDS),
    ],
)  # fmt: skip
def test_the_way_out_of_other_integers_works(made: Any, column: Any, says: str, want: Any) -> None:
    with pytest.raises(SourceError) as caught:
        made(column)
    assert code_of(caught.value) == says
    assert pack(follow(made, column)).tobytes() == bytes(want)


def test_words_are_not_suggested_for_other_columns() -> None:
    for column in (np.zeros(3, "u1"), np.zeros(3, "u2"), np.zeros(3), np.zeros((3, 2), "u4")):
        with pytest.raises(SourceError) as caught:
            unorm8x4(column)
        assert "packed words" not in str(caught.value)
