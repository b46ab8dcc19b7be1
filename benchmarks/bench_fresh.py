"""Arrays that are new in each frame: a batch made and packed once, beside numpy's structured assignment.

python -m pytest benchmarks/bench_fresh.py --benchmark-only   one row a case
python benchmarks/bench_fresh.py                              ratios in one run, both sides alternating, medians
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpustruct import batch, pack, unpack, workloads
from gpustruct.cli.bench import describe
from gpustruct.dtypes import dtype_of

SIZES = (1, 10, 100, 1_000, 10_000)
Particle = workloads.Particle


def sides(n: int, flavour: Any) -> tuple[Any, Any, Any]:
    """Numpy's assignment, a new batch packed once, and a batch that is kept, over the same columns."""
    values = workloads.columns(Particle, n, flavour)
    rows, out = np.zeros(n, dtype_of(Particle)), np.zeros(48 * n, np.uint8)
    kept = Particle(**values)

    def assign() -> None:
        for name, column in values.items():
            rows[name] = column

    def fresh() -> None:
        pack(Particle(**values), out=out)

    assign()
    fresh()
    assert out.tobytes() == rows.tobytes()
    return assign, fresh, lambda: pack(kept, out=out)


@pytest.mark.parametrize("flavour", ["f32", "f64"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("side", ["numpy", "fresh", "live"])
def test_pack(benchmark: Any, side: str, n: int, flavour: str) -> None:
    benchmark(sides(n, flavour)[("numpy", "fresh", "live").index(side)])


def five_views(data: np.ndarray, n: int) -> list[np.ndarray]:
    """What `unpack` makes, by hand."""
    return [
        np.ndarray((n, 3), "<f4", data, 0, (48, 4)),
        np.ndarray((n,), "<f4", data, 12, (48,)),
        np.ndarray((n, 3), "<f4", data, 16, (48, 4)),
        np.ndarray((n,), "<u4", data, 28, (48,)),
        np.ndarray((n, 4), "<f4", data, 32, (48, 4)),
    ]


def main() -> None:
    print(describe())
    for flavour in ("f32", "f64"):
        for n in SIZES:
            numpy, fresh, live = workloads.medians(list(sides(n, flavour)), 15, at_least=0.005)
            print(
                f"{n:>7,} records from {flavour}: numpy {1e6 * numpy:7.2f} us, fresh {1e6 * fresh:6.2f} us "
                f"({fresh / numpy:.2f} x numpy), live {1e6 * live:6.2f} us"
            )
    n = 1000
    values, records = workloads.columns(Particle, n, "f32"), np.zeros(n, dtype_of(Particle))
    data = pack(Particle(**values))
    by_hand, unpacked, made, mapped, structured = workloads.medians(
        [
            lambda: five_views(data, n),
            lambda: unpack(Particle, data),
            lambda: Particle(**values),
            lambda: batch(Particle, values),
            lambda: batch(Particle, records),
        ],
        15,
        at_least=0.005,
    )
    print(f"unpack {1e6 * unpacked:.2f} us, {unpacked / by_hand:.2f} x five numpy views by hand")
    print(
        f"T(**columns) {1e6 * made:.2f} us; batch of a mapping {mapped / made:.2f} x, of a structured array {structured / made:.2f} x"
    )


if __name__ == "__main__":
    main()
