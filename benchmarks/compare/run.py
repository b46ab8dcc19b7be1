"""gpustruct beside what people use today: the same records, in one run, bytes compared.

    python benchmarks/compare/run.py --quick              # up to 10,000 records: seconds
    python benchmarks/compare/run.py                      # up to ten million: two minutes
    python benchmarks/compare/run.py --all --out FOLDER   # a device too; writes compare.md, compare.svg and compare.json
    python benchmarks/compare/run.py --all --docs A       # writes the table and the plot of the documentation

What is not installed is named, and the rest is measured. README.md beside this file says what each tool does.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import javascript
import measuring
import plot
import tables

import faults
from gpustruct.cli.bench import describe

ROOT = Path(__file__).parents[2]
PAGE, PLOT = ROOT / "docs" / "performance.md", ROOT / "docs" / "images" / "compare.svg"
# With a higher load for each core than this when it begins, a run says that the machine was busy.
BUSY = 0.75
# Ten million records need about so many bytes: columns, what is expected, two results; the same under node.
NEEDED = 400


def measure(sizes: list[int], *, device: bool, tell: Callable[[str], None]) -> tables.Results:
    """All that the tables and the plot say."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    notes: list[str] = []
    room = available()
    for count in [count for count in sizes if count * NEEDED > room]:
        notes.append(f"{count:,} records: they take more memory than is free")
    sizes = [count for count in sizes if count * NEEDED <= room]
    machine = describe()
    with ExitStack() as stack:
        command = javascript.find_node()
        node = stack.enter_context(javascript.Node(command)) if command else None
        if node:
            try:
                machine["node"] = node.ask("hello")["node"]
            except javascript.NodeError as error:
                notes.append(f"all of JavaScript: {error}")
                node = None
        run = measuring.Run(node, tell)
        run.check()
        for count in sizes:
            run.measure(count)
        theirs = node.ask("faults")["faults"] if node else []
    if max(sizes) > measuring.MOST_OBJECTS:
        notes.append(f"lists of objects: {measuring.MOST_OBJECTS:,} at most, more do not fit into a laptop's memory")
    results: tables.Results = {
        "machine": machine, "load": load, "busy_from": BUSY * machine["cores"], "sizes": sizes, "rows": [asdict(row) for row in run.rows],
        "missing": run.missing, "faults": list(faults.found(theirs)), "notes": notes,
    }  # fmt: skip
    if device:
        results["device"] = on_device(sizes, results, tell)
    return results


def on_device(sizes: list[int], results: tables.Results, tell: Callable[[str], None]) -> dict[str, Any] | None:
    """The device half, or a note why there is none."""
    try:
        import onto_device

        found = onto_device.find_device()
        results["machine"]["wgpu"] = importlib.metadata.version("wgpu")
        return onto_device.measure(found, sizes, tell)
    except Exception as error:
        text = str(error).strip().splitlines() or [type(error).__name__]
        results["notes"].append(f"the device: {text[0]}")
        return None


def available() -> float:
    """Bytes of memory that are free, as far as the system says."""
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return float("inf")
    found = re.search(r"^MemAvailable: +(\d+) kB", text, re.M)
    return int(found[1]) * 1024 if found else float("inf")


def loaded(path: Path) -> tables.Results:
    """Results that were saved: JSON has no integers as keys."""

    def restored(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
        return {int(key) if key.isdecimal() else key: value for key, value in pairs}

    return json.loads(path.read_text(), object_pairs_hook=restored)


def save(results: tables.Results, folder: Path) -> None:
    """compare.md, compare.svg and compare.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compare.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "compare.md").write_text(tables.markdown(results))
    (folder / "compare.svg").write_text(plot.draw(results))


def document(results: tables.Results, label: str) -> None:
    """Put the tables between their marks in docs/performance.md; the plot, and the bytes, are those of machine A."""
    begin, end = f"<!-- compare {label} -->", f"<!-- end of compare {label} -->"
    page = PAGE.read_text()
    if begin not in page or end not in page:
        raise SystemExit(f"{PAGE} has no {begin} … {end}")
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    PAGE.write_text(f"{before}{begin}\n\n{tables.markdown(results, times_only=label != 'A')}\n{end}{after}")
    if label == "A":
        PLOT.write_text(plot.draw(results))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="at most 10,000 records")
    parser.add_argument("--device", action="store_true", help="also onto the default device")
    parser.add_argument("--all", action="store_true", help="up to ten million records, and the device")
    parser.add_argument(
        "--size", type=int, action="append", metavar="N", help="only this many records; may be repeated"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write compare.md, compare.svg and compare.json here"
    )
    parser.add_argument(
        "--docs", metavar="MACHINE", help="write them into the documentation, as those of machine A or B"
    )
    parser.add_argument("--from", type=Path, dest="saved", metavar="JSON", help="measure nothing; show these results")
    options = parser.parse_args()
    if options.saved:
        results = loaded(options.saved)
    else:
        sizes = options.size or [count for count in measuring.SIZES if count <= 10_000 or not options.quick]
        results = measured(sorted(sizes), device=options.device or options.all)
    tables.show(results)
    if options.out:
        save(results, options.out)
    if options.docs:
        document(results, options.docs)


def measured(sizes: list[int], *, device: bool) -> tables.Results:
    """The results, with a line on the terminal that says what is going on."""
    begun = time.perf_counter()
    with ExitStack() as stack:
        if importlib.util.find_spec("rich"):
            from rich.console import Console

            tell = stack.enter_context(Console(stderr=True).status("starting")).update
        else:
            tell = partial(print, file=sys.stderr)
        results = measure(sizes, device=device, tell=tell)
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return results


if __name__ == "__main__":
    main()
