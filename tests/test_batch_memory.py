"""New batches of many kinds: what is kept of them stays within the bounds of the caches."""

from __future__ import annotations

import gc
import itertools
import os
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpustruct import Struct, array, batch, f32, mat3x3f, pack, unpack
from gpustruct.plan import lower
from gpustruct.workloads import Particle

# A million batches with GPUSTRUCT_EXAMPLES=20000.
BATCHES = 50 * int(os.environ.get("GPUSTRUCT_EXAMPLES", "100"))


class Inner(Struct):
    turn: mat3x3f
    weight: f32


class Outer(Struct):
    first: Inner
    pair: array[Inner, 2]
    steps: array[f32, 5]


REALS = ["<f4", ">f4", "<f8", ">f8", "<f2", ">f2", "<i2", ">i2", "<i8", "<u2"]
WHOLES = ["<u4", ">u4", "<u8", ">i8", "<u2", ">i2", "<i1"]


def column(kind: str, *shape: int, gap: int = 0) -> np.ndarray:
    """An array of ones whose rows are `gap` scalars apart."""
    wide = np.ones((shape[0], int(np.prod(shape[1:])) + gap), kind)
    return np.ndarray(shape, kind, wide, 0, (wide.strides[0], *np.ones(shape, kind).strides[1:]))


def kinds() -> Iterator[tuple[Any, dict[str, Any]]]:
    """A thousand types with columns, no two with the same plan."""
    for real, other, whole in itertools.product(REALS, REALS, WHOLES):
        rest = {"velocity": column(real, 3, 3), "color": column(other, 3, 4)}
        yield Particle, {"position": column(real, 3, 3), "life": column(other, 3), "id": column(whole, 3), **rest}
    for real, gap in itertools.product(REALS, range(30)):
        first = Inner(turn=column(real, 3, 3, 3, gap=gap), weight=column(real, 3))
        pair = Inner(turn=column("<f4", 3, 2, 3, 3), weight=column("<f4", 3, 2))
        yield Outer, {"first": first, "pair": pair, "steps": column(real, 3, 5)}


def test_new_batches_of_a_thousand_kinds_leave_nothing_behind() -> None:
    chosen = list(kinds())
    assert len(chosen) == 1000
    out = np.zeros(4096, np.uint8)

    def make(count: int) -> None:
        for cls, columns in itertools.islice(itertools.cycle(chosen), count):
            made = cls(**columns)
            data = pack(made, out=out[: 3 * cls.__layout__.record_stride])
            pack(batch(cls, columns))
            unpack(cls, data)

    def kept() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        make(2000)
        before = kept()
        make(BATCHES)
        # A whole number of rounds ends with the same plans in the caches.
        grown = kept() - before
    finally:
        tracemalloc.stop()
    # A plan of each kind is 2,000 bytes and more.
    assert grown < 100_000
    for cls in (Particle, Inner, Outer):
        assert len(cls.__table__.plans) <= 256
    info = lower.cache_info()
    assert info.currsize <= (info.maxsize or 0) == 1024
