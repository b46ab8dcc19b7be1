"""The results as Markdown, and as tables for a terminal. Both are made from the same cells."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any, NamedTuple

Results = dict[str, Any]
SIDES = {
    "live": "Columns or objects and memory are there and stay: only the values are new",
    "fresh": "New columns and new memory each time",
}
SOURCES = {"columns": "from columns", "objects": "from a list of objects"}


class Table(NamedTuple):
    title: str
    headings: list[str]  # the first column is text, and so are those that end in a space
    rows: list[list[str]]
    notes: list[str]
    listed: bool = False  # in a terminal, a line of text for each row


def size(count: int) -> str:
    return f"{count // 1_000_000} M" if count >= 1_000_000 else f"{count // 1000} k" if count >= 1000 else str(count)


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def at_most(values: dict[int, Any], most: int = 1_000_000) -> float:
    """The value at the largest size up to `most`: what a table is sorted by."""
    there = [count for count, value in values.items() if value is not None and count <= most]
    return values[max(there)] if there else float("inf")


def times(results: Results, side: str) -> Table:
    """Nanoseconds a record."""
    sizes = results["sizes"]
    largest = max((count for count in sizes if count <= 1_000_000), default=sizes[0])
    rows = []
    for source, words in SOURCES.items():
        rows.append([f"*{words}*", *[""] * (len(sizes) + 1)])
        there = [row for row in results["rows"] if row["source"] == source and row[side]]
        for row in sorted(there, key=lambda row: at_most(row[side])):
            cells = [_time(row, side, count) for count in sizes]
            ratio = row[f"{side}_ratio"].get(largest)
            rows.append([_name(row), *cells, "" if ratio is None else number(ratio)])
    headings = ["nanoseconds a record", *map(size, sizes), f"{size(largest)}: × gpustruct"]
    return Table(f"{SIDES[side]}.", headings, rows, [])


def _name(row: dict[str, Any]) -> str:
    ours = row["name"].startswith("gpustruct")
    return f"**{row['name']}**" if ours else f"{row['name']}"


def _time(row: dict[str, Any], side: str, count: int) -> str:
    if count not in row[side]:
        return ""
    value = row[side][count]
    return "> 1 s" if value is None else number(value)


def bytes_table(results: Results) -> Table:
    """Who gives the same bytes, and what is in the padding."""
    headings = ["", "version ", "Particle ", "Spot ", "padding, live ", "padding, fresh "]
    rows = []
    for row in results["rows"]:
        wrong = row["wrong"]
        cells = [_verdict(wrong, name) for name in ("Particle", "Spot")]
        padding = row["padding"]
        rows.append([row["name"], row["version"], *cells, padding.get("live", ""), padding.get("fresh", "")])
    note = (
        "Spot is vec3f, vec3f, vec2f: 48 bytes, 16 of them padding. Live memory was full of 0xAA: what is \"kept\" stays as it "
        "was. Fresh memory is new, and zero where the tool, or whoever calls it, asks for zeros."
    )  # fmt: skip
    return Table("The same bytes?", headings, rows, [note])


def _verdict(wrong: dict[str, str], name: str) -> str:
    return "" if name not in wrong else wrong[name] or "same"


def device_table(results: Results) -> Table | None:
    """Milliseconds until the records are in a storage buffer."""
    device = results.get("device")
    if not device:
        return None
    sizes = [count for count in results["sizes"] if any(count in row["live"] for row in device["rows"])]
    if not sizes:
        return None
    headings = ["milliseconds", *map(size, sizes), *(f"{size(count)}: × gpustruct" for count in sizes[-2:])]
    rows = []
    for side in ("live", "fresh"):
        there = [row for row in device["rows"] if row[side]]
        rows.append(
            [f"*{'memory and batches stay' if side == 'live' else 'new each time'}*", *[""] * (len(headings) - 1)]
        )
        for row in sorted(there, key=lambda row: at_most(row[side])):
            cells = [number(row[side][count]) if count in row[side] else "" for count in sizes]
            ratios = [number(row[f"{side}_ratio"][count]) for count in sizes[-2:]]
            rows.append([_name(row), *cells, *ratios])
    wrong = [f"{row['name']}: {row['wrong']}." for row in device["rows"] if row["wrong"]]
    verdict = wrong or ["The device had the same bytes each time: the first and last thousand records were read back."]
    return Table(
        f"Onto the device, {device['adapter']}, with a wait for it each time.",
        headings,
        rows,
        device["notes"] + verdict,
    )


def fault_table(results: Results) -> Table | None:
    """The smallest example of each difference."""
    if not results["faults"]:
        return None
    headings = ["", "example ", "gives ", "should be ", "note "]
    rows = [
        [f"{f['peer']} {f['version']}", f"`{f['example']}`", f["gives"], f["expected"], f["note"]] for f in results["faults"]
    ]  # fmt: skip
    return Table(
        "Where a shader would read something else: the smallest example of each.", headings, rows, [], listed=True
    )


def notes(results: Results) -> list[str]:
    """What is missing and what stopped."""
    lines = [f"{one['name']}: {one['why']}." for one in results["missing"]]
    lines += [f"{row['name']}: {row['failed']}." for row in results["rows"] if row["failed"]]
    return lines + [f"{text}." for text in results["notes"]]


def tables(results: Results, *, times_only: bool = False) -> Iterator[Table]:
    for side in SIDES:
        yield times(results, side)
    found = (
        [device_table(results)] if times_only else [bytes_table(results), device_table(results), fault_table(results)]
    )
    yield from filter(None, found)


def machine(results: Results) -> str:
    known = results["machine"]
    words = f"{known['processor']}, {known['cores']} cores, {known['isa']}; Python {known['python']}, numpy {known['numpy']}"
    if known.get("node"):
        words += f", node {known['node'].removeprefix('v')}"
    if known.get("wgpu"):
        words += f", wgpu {known['wgpu']}"
    busy = (
        " **The machine was busy: trust the ratios, not the times.**" if results["load"] > results["busy_from"] else ""
    )
    return f"{words}. Load when the run began: {results['load']:.1f}.{busy}"


def markdown(results: Results, *, times_only: bool = False) -> str:
    """The whole report, or what depends on the machine."""
    parts = [
        f"Particles of 48 bytes (vec3f, f32, vec3f, u32, vec4f). {machine(results)}",
        "Medians of rounds in which all ways take turns; \"× gpustruct\" is the median of the rounds' ratios. \"> 1 s\" was not "
        "measured: all those records would take longer than a second.",
    ]  # fmt: skip
    for table in tables(results, times_only=times_only):
        lines = [f"**{table.title}**", ""]
        lines.append("| " + " | ".join(heading.strip() for heading in table.headings) + " |")
        marks = ["---" if not k or heading.endswith(" ") else "--:" for k, heading in enumerate(table.headings)]
        lines.append("|" + "|".join(marks) + "|")
        lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table.rows]
        parts.append("\n".join(lines))
        parts += table.notes
    missing = notes(results)
    if missing:
        parts.append("Not measured here:\n\n" + "\n".join(f"- {text}" for text in missing))
    return "\n\n".join(parts) + "\n"


def show(results: Results) -> None:
    """The same in a terminal; as Markdown if rich is not installed."""
    if importlib.util.find_spec("rich") is None:
        print(markdown(results))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as RichTable

    console = Console(highlight=False)
    console.print(machine(results).replace("**", ""), markup=False)
    for table in tables(results):
        console.print()
        console.print(table.title, style="bold", markup=False)
        if table.listed:
            for name, example, gives, expected, note in table.rows:
                console.print(f"{name}, {example.strip('`')}: {gives}; should be {expected} ({note})", markup=False)
            continue
        drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for k, heading in enumerate(table.headings):
            is_text = not k or heading.endswith(" ")
            drawn.add_column(escape(heading), justify="left" if is_text else "right", no_wrap=not k, min_width=4)
        for row in table.rows:
            style = "bold" if row[0].startswith("**") else "italic" if row[0].startswith("*") else None
            drawn.add_row(*(escape(cell.strip("*`")) for cell in row), style=style)
        console.print(drawn)
        for note in table.notes:
            console.print(note, style="dim", markup=False)
    for text in notes(results):
        console.print(f"Not measured here: {text}", markup=False)
