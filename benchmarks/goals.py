"""The rows that docs/performance.md quotes: ratios in one run, the two sides alternating, medians.

python benchmarks/goals.py [--rounds 9] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

import gpustruct._kernel as kernel
from gpustruct import pack, threads, unpack, workloads
from gpustruct.cli.bench import describe, measure

PACK = [
    ("Particle", 10_000, "f32"), ("Light", 10_000, "f32"), ("MaterialBad", 10_000, "f32"),
    ("Particle", 1_000_000, "f32"), ("Light", 1_000_000, "f32"), ("MaterialBad", 1_000_000, "f32"),
    ("Particle", 10_000_000, "f32"), ("Light", 10_000_000, "f32"), ("MaterialBad", 10_000_000, "f32"),
    ("Particle", 1_000_000, "f64"), ("Light", 1_000_000, "f64"), ("MaterialBad", 1_000_000, "f64"),
    ("Particle", 1_000_000, "structured"), ("Camera", 10_000, "f32"), ("Half", 1_000_000, "f32"),
    ("Kilobyte", 100_000, "f32"),
]  # fmt: skip


def over_threads(n: int, rounds: int) -> list[dict[str, Any]]:
    """Particle on 2, 4, 8 … threads and as chosen by size, each against one thread; the same for a streamed copy."""
    cls = workloads.Particle
    batch, whole = workloads.make(cls, n), in_device_layout(n)
    out = np.zeros(48 * n, np.uint8)
    rows: list[dict[str, Any]] = []
    for count in [*(1 << k for k in range(1, 8) if 1 << k <= threads.available()), None]:
        one, many, one_copy, many_copy = workloads.medians(
            [
                lambda: pack(batch, out=out, threads=1),
                lambda count=count: pack(batch, out=out, threads=count),
                lambda: pack(whole, out=out, threads=1),
                lambda count=count: pack(whole, out=out, threads=count),
            ],
            rounds,
            at_least=0.002,
        )
        row = {"records": n, "threads": count or "chosen", "times_one_thread": one / many}
        rows.append(row | {"copy_times_one_thread": one_copy / many_copy, "gigabytes_per_second": 48e-9 * n / many})
    return rows


def in_device_layout(n: int) -> Any:
    """Records that lie in device layout already: packing them is a copy past the caches.

    They are written once: memory that never was is one page of zeros, and reading it costs nothing.
    """
    cls = workloads.Particle
    rows = unpack(cls, np.full(48 * n, 1, np.uint8))
    return cls(**{name: getattr(rows, name) for name in cls.__members__})


def streamed_copy(n: int, rounds: int) -> dict[str, float]:
    """The ceiling: a copy of packed bytes past the caches, beside numpy's copy and our pack of Particle."""
    cls = workloads.Particle
    whole, batch = in_device_layout(n), workloads.make(cls, n)
    out, data = np.zeros(48 * n, np.uint8), np.full(48 * n, 1, np.uint8)
    streamed, packed, copied = workloads.medians(
        [
            lambda: pack(whole, out=out, threads=1),
            lambda: pack(batch, out=out, threads=1),
            lambda: np.copyto(out, data),
        ],
        rounds,
    )
    return {"records": n, "pack_of_streamed_copy": streamed / packed, "streamed_copy_times_copy": streamed / copied}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--every-isa", action="store_true", help="the first six rows on each instruction set")
    args = parser.parse_args()
    found: dict[str, Any] = {"machine": describe(), "load": os.getloadavg()[0], "pack": [], "threads": []}
    print(found["machine"], "load", found["load"], flush=True)
    for isa in kernel.isas() if args.every_isa else (kernel.isa(),):
        before = kernel.use_isa(isa)
        for name, n, flavour in PACK if isa == before else PACK[:6]:
            row = measure(name, n, flavour, args.rounds, 1)  # type: ignore[arg-type]
            found["pack"].append(row | {"isa": isa})
            print(
                f"{isa:8} {name:11} {n:>10,} {flavour:10} pack {row['gigabytes_per_second']:6.2f} GB/s, "
                f"{row['times_copy']:.2f} of a copy, {row['times_numpy']:.1f} x numpy; "
                f"unpack {row['unpack_times_copy']:.2f} of a copy, {row['unpack_times_numpy']:.1f} x numpy",
                flush=True,
            )
        kernel.use_isa(before)
    found["ceiling"] = [streamed_copy(n, args.rounds) for n in (1_000_000, 10_000_000)]
    print(found["ceiling"], flush=True)
    for n in (10_000, 100_000, 1_000_000, 5_000_000):
        rows = over_threads(n, args.rounds)
        found["threads"] += rows
        texts = [
            f"{r['threads']}: {r['times_one_thread']:.2f} ({r['gigabytes_per_second']:.1f} GB/s; "
            f"a copy {r['copy_times_one_thread']:.2f})"
            for r in rows
        ]
        print(f"{n:,} records, times one thread on", ", ".join(texts), flush=True)
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
