"""Arrays that are new in each frame: a batch made and packed once, beside numpy's structured assignment.

python -m pytest benchmarks/bench_fresh.py --benchmark-only    one row a case
python benchmarks/bench_fresh.py [--rounds 15]                 ratios in one run, the sides alternating, medians
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pytest
from fresh_cases import SIZES, TYPES, five_views, other_rows, pack_rows, sides

from gpustruct import batch, pack, unpack
from gpustruct.cli.bench import describe
from gpustruct.dtypes import dtype_of
from gpustruct.workloads import Particle, columns


@pytest.mark.parametrize("flavour", ["f32", "f64"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("side", ["numpy", "fresh", "live"])
def test_pack(benchmark: Any, side: str, name: str, n: int, flavour: str) -> None:
    benchmark(getattr(sides(name, n, flavour), side))


@pytest.mark.parametrize("source", ["columns", "mapping", "structured"])
def test_make(benchmark: Any, source: str) -> None:
    values, records = columns(Particle, 1000, "f32"), np.zeros(1000, dtype_of(Particle))
    ways = {
        "columns": lambda: Particle(**values),
        "mapping": lambda: batch(Particle, values),
        "structured": lambda: batch(Particle, records),
    }
    benchmark(ways[source])


def test_unpack(benchmark: Any) -> None:
    benchmark(unpack, Particle, pack(Particle(**columns(Particle, 1000, "f32"))))


def test_unpack_by_hand(benchmark: Any) -> None:
    benchmark(five_views, np.zeros(48_000, np.uint8), 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    print(describe())
    for rows in (pack_rows, other_rows):
        for row in rows(args.rounds):
            print(row, flush=True)


if __name__ == "__main__":
    main()
