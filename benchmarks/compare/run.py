"""gpustruct beside what people use today, on the same records in one run.

    python benchmarks/compare/run.py            # 1 and 10 million records
    python benchmarks/compare/run.py --quick    # 10,000 records
    python benchmarks/compare/run.py --save docs/compare.md docs/images/compare.svg

Each way packs the same float32 and uint32 columns into Particles of 48 bytes. "Fresh" makes new memory, "live" writes
into memory that is there. Ways that take over a second for all the records pack as many as take about a second. The bytes
of every way are compared with numpy's; a way that differs is named, and so is one that is not installed.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import shutil
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gpustruct import pack
from gpustruct.workloads import Particle

DTYPE = np.dtype([("position", "3f4"), ("life", "f4"), ("velocity", "3f4"), ("id", "u4"), ("color", "4f4")])
STRIDE = DTYPE.itemsize
Columns = dict[str, np.ndarray]


def columns(count: int) -> Columns:
    random = np.random.default_rng(1)
    inner = {name: DTYPE[name].shape for name in DTYPE.names or ()}
    found = {name: random.random((count, *shape), np.float32) for name, shape in inner.items()}
    return found | {"id": np.arange(count, dtype=np.uint32)}


def with_gpustruct(c: Columns, out: np.ndarray) -> None:
    pack(Particle(**c), out=out)


def with_numpy_structured(c: Columns, out: np.ndarray) -> None:
    records = out.view(DTYPE)
    for name, column in c.items():
        records[name] = column


def with_numpy_words(c: Columns, out: np.ndarray) -> None:
    """The best trick: one array of words, assigned by slices."""
    words = out.view(np.float32).reshape(-1, STRIDE // 4)
    words[:, 0:3], words[:, 3], words[:, 4:7] = c["position"], c["life"], c["velocity"]
    words.view(np.uint32)[:, 7] = c["id"]
    words[:, 8:12] = c["color"]


def with_naive_loop(c: Columns, out: np.ndarray) -> None:
    records = out.view(DTYPE)
    for i in range(len(records)):
        for name, column in c.items():
            records[i][name] = column[i]


def with_struct(c: Columns, out: np.ndarray) -> None:
    lists = (c[name].tolist() for name in ("position", "life", "velocity", "id", "color"))
    put = struct.Struct("<3f f 3f I 4f").pack_into
    for i, (position, life, velocity, number, color) in enumerate(zip(*lists, strict=True)):
        put(out, i * STRIDE, *position, life, *velocity, number, *color)


class CParticle(ctypes.Structure):
    _fields_ = (
        ("position", ctypes.c_float * 3),
        ("life", ctypes.c_float),
        ("velocity", ctypes.c_float * 3),
        ("id", ctypes.c_uint32),
        ("color", ctypes.c_float * 4),
    )


def with_ctypes(c: Columns, out: np.ndarray) -> None:
    records = (CParticle * (len(out) // STRIDE)).from_buffer(out)
    lists = (c[name].tolist() for name in ("position", "life", "velocity", "id", "color"))
    for record, (position, life, velocity, number, color) in zip(records, zip(*lists, strict=True), strict=True):
        record.position[:], record.life, record.velocity[:] = position, life, velocity
        record.id, record.color[:] = number, color


def with_construct(c: Columns, out: np.ndarray) -> None:
    import construct

    f = construct.Float32l
    members = {"position": f[3], "life": f, "velocity": f[3], "id": construct.Int32ul, "color": f[4]}
    record = construct.Struct(*(construct.Renamed(kind, name) for name, kind in members.items()))
    lists = {name: column.tolist() for name, column in c.items()}
    rows = [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    data = construct.Array(len(rows), record).build(rows)
    out[:] = np.frombuffer(data, np.uint8)


WAYS: dict[str, Callable[[Columns, np.ndarray], None]] = {
    "gpustruct": with_gpustruct,
    "numpy, slices of words": with_numpy_words,
    "numpy, structured": with_numpy_structured,
    "struct.pack_into": with_struct,
    "ctypes": with_ctypes,
    "construct": with_construct,
    "a loop over structured records": with_naive_loop,
}
LOOP = "JavaScript, a loop over Float32Array"


def seconds(call: Callable[[], Any], rounds: int) -> float:
    """The median of some rounds."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return float(np.median(times))


def measured(way: Callable[[Columns, np.ndarray], None], c: Columns) -> tuple[int, float, float, bool]:
    """How many records, nanoseconds a record fresh and live, and whether the bytes are numpy's."""
    count = min(len(c["id"]), 1000)
    rounds = 7
    first = {name: column[:count] for name, column in c.items()}
    each = seconds(lambda: way(first, np.empty(count * STRIDE, np.uint8)), 3) / count
    if each * len(c["id"]) > 0.5:
        rounds = 1
    count = min(len(c["id"]), max(count, int(1 / each)))
    part = {name: column[:count] for name, column in c.items()}
    out, expected = np.empty(count * STRIDE, np.uint8), np.empty(count, DTYPE)
    for name, column in part.items():
        expected[name] = column
    live = seconds(lambda: way(part, out), rounds)
    fresh = seconds(lambda: way(part, np.empty(count * STRIDE, np.uint8)), rounds)
    return count, fresh / count * 1e9, live / count * 1e9, out.tobytes() == expected.tobytes()


def under_node(c: Columns) -> tuple[int, float, float, bool]:
    """The loop that JavaScript programs write by hand, on the first million records."""
    count = min(len(c["id"]), 1_000_000)
    script = Path(__file__).with_name("loop.mjs")
    expected = np.empty(count, DTYPE)
    for name, column in c.items():
        expected[name] = column[:count]
    done = subprocess.run(["node", script, str(count)], input=expected.tobytes(), capture_output=True, check=True)
    line, _, data = done.stdout.partition(b"\n")
    times = json.loads(line)
    return count, times["fresh"] / count, times["live"] / count, data == expected.tobytes()


def compare(count: int) -> list[tuple[str, int, float, float, bool]]:
    c = columns(count)
    rows = []
    for name, way in WAYS.items():
        if name != "construct" or importlib.util.find_spec("construct"):
            rows.append((name, *measured(way, c)))
    if shutil.which("node"):
        rows.append((LOOP, *under_node(c)))
    return sorted(rows, key=lambda row: row[3])


def table(rows: list[tuple[str, int, float, float, bool]], count: int) -> str:
    lines = [
        f"{count:,} records:",
        "",
        "| | records | fresh, ns each | live, ns each | same bytes |",
        "|---|--:|--:|--:|---|",
    ]
    lines += [f"| {n} | {k:,} | {f:.1f} | {v:.1f} | {'yes' if same else 'NO'} |" for n, k, f, v, same in rows]
    missing = [name for name in (*WAYS, LOOP) if name not in {row[0] for row in rows}]
    return "\n".join([*lines, "", f"Not installed here: {', '.join(missing)}." if missing else ""]).rstrip() + "\n"


def plot(rows: list[tuple[str, int, float, float, bool]]) -> str:
    """Bars of the live times on a logarithmic scale."""
    style = "font:13px sans-serif"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{28 * len(rows) + 40}" style="{style}">']
    parts.append('<text x="8" y="18" fill="#888">nanoseconds for a record of 48 bytes (logarithmic)</text>')
    for i, (name, _, _, live, _) in enumerate(rows):
        y, width = 30 + 28 * i, 20 + 90 * max(0.0, np.log10(max(live, 1)))
        color = "#2f7ed8" if name == "gpustruct" else "#9aa5b1"
        parts.append(f'<text x="8" y="{y + 15}" fill="#777">{name}</text>')
        parts.append(f'<rect x="260" y="{y}" width="{width:.0f}" height="20" rx="3" fill="{color}"/>')
        parts.append(f'<text x="{268 + width:.0f}" y="{y + 15}" fill="#777">{live:,.1f}</text>')
    return "\n".join([*parts, "</svg>\n"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10,000 records only")
    parser.add_argument(
        "--save", type=Path, nargs=2, metavar=("TABLE", "SVG"), help="write the table and the plot here"
    )
    options = parser.parse_args()
    tables = []
    for count in (10_000,) if options.quick else (1_000_000, 10_000_000):
        rows = compare(count)
        tables.append(table(rows, count))
        print(tables[-1])
    if options.save:
        options.save[0].write_text("\n".join(tables))
        options.save[1].write_text(plot(rows))


if __name__ == "__main__":
    main()
