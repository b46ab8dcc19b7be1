"""Columns as addresses and strides: what a plan depends on, and what it does not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpustruct import Struct, dtype_of, f32, pack, vec3f
from gpustruct.columns import Columns, collect


class Four(Struct):
    a: f32
    b: vec3f
    c: f32
    d: f32


def plan_of(columns: Columns) -> tuple[object, ...]:
    return columns.leaves, columns.sources, columns.strides.tolist(), columns.run_shape.tolist()


@pytest.mark.parametrize("shape", [(20,), (4, 5)])
def test_the_same_plan_wherever_the_columns_lie(shape: tuple[int, ...]) -> None:
    # The order of their addresses is the order of chance: the plan, which is kept, must not know it.
    wide = [np.ones((*shape, 3), np.float32) for _ in range(2)]
    flat = [np.ones(shape, np.float32) for _ in range(3)]
    plans = [plan_of(collect(Four(a=a, b=b, c=c, d=d))) for b in wide for a, c, d in itertools.permutations(flat)]
    assert all(plan == plans[0] for plan in plans)


def test_members_of_one_structured_array_are_one_column() -> None:
    rows = np.zeros(20, dtype_of(Four))
    rows["a"], rows["c"], rows["d"] = 1, 2, 3
    columns = collect(Four(**{name: rows[name] for name in ("d", "c", "b", "a")}))
    assert len(columns.arrays) == 1
    assert [source.offset - columns.sources[0].offset for source in columns.sources] == [0, 16, 28, 32]
    assert pack(Four(a=rows["a"], b=rows["b"], c=rows["c"], d=rows["d"])).tobytes() == rows.tobytes()
