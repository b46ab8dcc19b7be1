"""The rows that docs/performance.md quotes: ratios in one run, the two sides alternating, medians.

python benchmarks/goals.py [--rounds 9] [--json FILE] [--fresh | --all] [--device]

`--fresh` measures new batches, objects, the first parse and packed formats, and with `--device` small writes and
Program.bind; `--all` these too. Each of those rows has a goal.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from first_parse import parse_row
from fresh_cases import Row, other_rows, pack_rows
from vertex_cases import bind_rows, vertex_rows

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


def object_rows(rounds: int) -> Iterator[Row]:
    """The rows of bench_objects.py, which measures each kind in a separate process."""
    script = Path(__file__).with_name("bench_objects.py")
    command = [sys.executable, str(script), "--json", "--rounds", str(rounds), "--count", "100", "--count", "10000"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    yield from (Row(*json.loads(line)) for line in told.splitlines())


def fresh_rows(rounds: int, device: bool) -> Iterator[Row]:
    yield from pack_rows(rounds)
    yield from other_rows(rounds)
    yield from object_rows(rounds)
    yield parse_row(rounds)
    yield from vertex_rows(rounds)
    if device:
        from bench_small_writes import device_rows

        yield from bind_rows(4 * rounds + 1)
        yield from device_rows(4 * rounds + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--every-isa", action="store_true", help="the first six rows on each instruction set")
    parser.add_argument(
        "--fresh", action="store_true", help="new batches, objects, the first parse and packed formats, and no more"
    )
    parser.add_argument("--all", action="store_true", help="these as well")
    parser.add_argument("--device", action="store_true", help="with them, small writes to a device and Program.bind")
    args = parser.parse_args()
    found: dict[str, Any] = {"machine": describe(), "load": os.getloadavg()[0], "pack": [], "threads": [], "fresh": []}
    print(found["machine"], "load", found["load"], flush=True)
    for row in fresh_rows(args.rounds, args.device) if args.fresh or args.all else ():
        found["fresh"].append(row._asdict())
        print(row, flush=True)
    if not args.fresh:
        measure_packing(args, found)
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")


def measure_packing(args: argparse.Namespace, found: dict[str, Any]) -> None:
    """Print the rows of kept batches, and add them to `found`."""
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


if __name__ == "__main__":
    main()
