"""gpustruct bench: measure packing and unpacking on this machine, as ratios to numpy and to a memory copy."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .. import _kernel, threads, workloads
from ..batches import Batch, from_columns
from ..dtypes import dtype_of
from ..errors import CommandError
from ..packing import pack
from ..types import layout_of
from ..unpacking import unpack
from .inputs import reason_of
from .numbers import whole

SIZES = (1, 10, 100, 1_000, 10_000, 1_000_000, 10_000_000)
FLAVOURS: tuple[workloads.Flavour, ...] = ("f32", "f64", "strided", "structured")
# Larger cases need more memory than a laptop can spare: a case holds columns, records, and a copy of them.
MOST_BYTES = 1 << 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct bench``."""
    parser.add_argument(
        "--schema", action="append", choices=list(workloads.SCHEMAS), help="only this schema; may be repeated"
    )
    parser.add_argument(
        "--size", action="append", type=whole("--size", 1, MOST_BYTES // 4, 10_000), metavar="N",
        help="only this many records; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--source", action="append", choices=FLAVOURS, help="only columns of this kind; may be repeated"
    )
    parser.add_argument(
        "--rounds", type=whole("--rounds", 1, 10_000, 5), default=5, metavar="N",
        help="how many times each case is measured; the median counts (5)",
    )  # fmt: skip
    parser.add_argument(
        "--threads", type=whole("--threads", 0, threads.MOST, 2), default=1, metavar="N",
        help="threads that pack (1; 0 chooses by size)",
    )  # fmt: skip
    parser.add_argument("--isa", choices=_kernel.isas(), help="the instruction set to use (default: the best)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the rows as an SVG")
    parser.epilog = (
        "The compared functions take turns within one run, and a ratio is that of their medians.\n"
        "copy: np.copyto of the packed bytes; numpy: structured assignment, or field copies for unpack.\n"
        "new batch: the batch is made for each call, as of arrays that are new in each frame.\n"
    )


def main(args: argparse.Namespace) -> int:
    """Run ``gpustruct bench``; always 0."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(highlight=False, stderr=False)
    for path in filter(None, (args.json, args.svg)):
        _check_writable(path)
    before = _kernel.use_isa(args.isa) if args.isa else _kernel.isa()
    cases: list[tuple[str, int, workloads.Flavour]] = [
        (name, n, flavour)
        for name in args.schema or workloads.SCHEMAS
        for n in args.size or SIZES
        for flavour in args.source or FLAVOURS
        if n * layout_of(workloads.SCHEMAS[name]).stride <= MOST_BYTES
    ]
    if not cases:
        most = max(MOST_BYTES // layout_of(workloads.SCHEMAS[name]).stride for name in args.schema or workloads.SCHEMAS)
        facts = {"sizes": ", ".join(map(str, args.size)), "schemas": ", ".join(args.schema or ["any schema"])}
        raise CommandError.of("size-schema", most=f"{MOST_BYTES:,}", records=f"{most:,}", **facts)
    machine = describe()
    rows: list[dict[str, Any]] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for name, n, flavour in progress.track(cases, description="measuring"):
            rows.append(measure(name, n, flavour, args.rounds, args.threads or None))
    _kernel.use_isa(before)
    console.print(", ".join(f"{key}: {value}" for key, value in machine.items()), soft_wrap=True, markup=False)
    console.print(_table(rows))
    if args.json:
        args.json.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")
    if args.svg:
        args.svg.write_text(draw(rows, machine))
    return 0


def _check_writable(path: Path) -> None:
    """Raise CommandError now if a file cannot be written later. The contents of the file do not change."""
    try:
        path.open("a").close()
    except (OSError, ValueError) as error:
        raise CommandError.of("write", reason=reason_of(error), name=path) from None


def describe() -> dict[str, Any]:
    """The machine and the versions that were measured."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if sys.platform == "linux" and info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return {
        "processor": model,
        "cores": threads.available(),
        "isa": _kernel.isa(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def measure(name: str, n: int, flavour: workloads.Flavour, rounds: int, count: int | None) -> dict[str, Any]:
    """One row: the seconds that pack takes, and the ratios of numpy, a copy and unpack."""
    cls = workloads.SCHEMAS[name]
    values = workloads.columns(cls, n, flavour)
    batch = cls(**values)
    nbytes = n * layout_of(cls).stride
    out, copy = np.zeros(nbytes, np.uint8), np.zeros(nbytes, np.uint8)
    rows = np.zeros(n, dtype_of(cls))
    back = empty_like(unpack(cls, out))
    targets = {member: getattr(back, member) for member in values}
    placed = workloads.placements(cls, rows)
    sides = [
        lambda: pack(batch, out=out, threads=count),
        lambda: workloads.assign(placed, values),
        lambda: np.copyto(copy, out),
        lambda: unpack(cls, out, out=back),
        lambda: workloads.assign(targets, placed),
        lambda: pack(cls(**values), out=out, threads=count),
    ]
    packed, numpy_, copied, unpacked, gathered, fresh = workloads.medians(sides, rounds, at_least=0.002)
    return {
        "schema": name, "records": n, "source": flavour, "seconds": packed, "gigabytes_per_second": nbytes / packed / 1e9,
        "times_numpy": numpy_ / packed, "times_copy": packed / copied, "fresh_times_numpy": numpy_ / fresh,
        "unpack_times_numpy": gathered / unpacked, "unpack_times_copy": unpacked / copied,
    }  # fmt: skip


def empty_like(batch: Batch) -> Any:
    """A batch of fresh contiguous arrays of the same shapes and dtypes."""
    columns = tuple(
        empty_like(column) if isinstance(column, Batch) else np.zeros(column.shape, column.dtype)
        for column in batch.__columns__
    )
    return from_columns(type(batch), columns, batch.__shape__)


def _table(rows: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    # In a terminal of 80 columns the headings wrap, so that no value is cut off.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for heading in ("schema", "records", "source", "GB/s"):
        table.add_column(heading, justify="left" if heading in ("schema", "source") else "right", no_wrap=True)
    for heading in ("pack × numpy", "new batch × numpy", "pack ÷ copy", "unpack × numpy", "unpack ÷ copy"):
        table.add_column(heading, justify="right", min_width=6)
    for row in rows:
        table.add_row(
            row["schema"], f"{row['records']:,}", row["source"], f"{row['gigabytes_per_second']:.2f}",
            f"{row['times_numpy']:.1f}", f"{row['fresh_times_numpy']:.1f}", f"{row['times_copy']:.2f}",
            f"{row['unpack_times_numpy']:.1f}", f"{row['unpack_times_copy']:.2f}",
        )  # fmt: skip
    return table


BAR, LABEL, LINE = 420, 230, 18


def draw(rows: list[dict[str, Any]], machine: dict[str, Any]) -> str:
    """The rows as an SVG bar chart: how many times as fast as numpy structured assignment `pack` is."""
    from xml.sax.saxutils import escape

    top = max((row["times_numpy"] for row in rows), default=1.0)
    height = LINE * (len(rows) + 3)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LABEL + BAR + 70} {height}" font-family="sans-serif" font-size="11">',
        "<style>text{fill:#333}.bar{fill:#3b82c4}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>",
        f'<text x="4" y="{LINE}" font-weight="bold">pack, times as fast as numpy structured assignment</text>',
    ]
    for k, row in enumerate(rows):
        y = LINE * (k + 2)
        width = max(1.0, BAR * row["times_numpy"] / top)
        label = f"{row['schema']}, {row['records']:,}, {row['source']}"
        parts.append(f'<text x="{LABEL - 6}" y="{y + 12}" text-anchor="end">{escape(label)}</text>')
        parts.append(f'<rect class="bar" x="{LABEL}" y="{y + 2}" width="{width:.1f}" height="{LINE - 5}"/>')
        parts.append(f'<text x="{LABEL + width + 4:.1f}" y="{y + 12}">{row["times_numpy"]:.1f}</text>')
    note = escape(", ".join(f"{key} {value}" for key, value in machine.items()))
    parts.append(f'<text x="4" y="{height - 4}" opacity="0.7">{note}</text></svg>')
    return "\n".join(parts) + "\n"
