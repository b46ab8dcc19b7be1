"""The times of a million records as an SVG: a dot for each way on a logarithmic scale, readable on white and on black."""

from __future__ import annotations

import math
from typing import Any
from xml.sax.saxutils import escape

from python_ways import COPY
from tables import SOURCES, number, size

WIDTH, LEFT, RIGHT, LINE, TOP = 760, 262, 76, 23, 78
# The groups of colours: on white, and on black.
STYLE = """
text{font:13px system-ui,sans-serif;fill:#24292f}.dim{fill:#59636e;font-size:12px}.ours{font-weight:700}
.grid{stroke:#d0d7de}.copy{stroke:#59636e;stroke-dasharray:4 3;opacity:.6}
.dot{fill:#768390;stroke:#768390}.ours.dot{fill:#0969da;stroke:#0969da}.fresh{fill:none!important;stroke-width:1.6}
.bar{stroke:#afb8c1;stroke-width:2}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9198a1}.grid{stroke:#30363d}.copy{stroke:#9198a1}
.dot{fill:#9198a1;stroke:#9198a1}.ours.dot{fill:#58a6ff;stroke:#58a6ff}.bar{stroke:#484f58}}
"""


def largest(row: dict[str, Any], side: str, most: int) -> int | None:
    """The largest number of records, up to `most`, for which there is a time."""
    return max((count for count, value in row[side].items() if value is not None and count <= most), default=None)


def draw(results: dict[str, Any]) -> str:
    """The plot."""
    most = max((count for count in results["sizes"] if count <= 1_000_000), default=results["sizes"][0])
    groups = []
    for source, words in SOURCES.items():
        rows = [
            row
            for row in results["rows"]
            if row["source"] == source and row["name"] != COPY and largest(row, "live", most)
        ]
        groups.append((words, sorted(rows, key=lambda row: row["live"][largest(row, "live", most)])))
    shown = [row for _, rows in groups for row in rows]
    copy = next((row["live"].get(most) for row in results["rows"] if row["name"] == COPY), None)
    values = [row[side][k] for row in shown for side in ("live", "fresh") if (k := largest(row, side, most))]
    values += [copy] if copy else []
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(value) - low) / max(1, high - low)

    height = TOP + LINE * (len(shown) + len(groups)) + 56
    bottom = height - 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>Nanoseconds to pack a record of 48 bytes, {most:,} records</title><style>{STYLE}</style>",
        f'<text x="8" y="22" class="ours">Nanoseconds to pack a record of 48 bytes, {most:,} records (less is better)</text>',
        '<circle class="dot" cx="14" cy="42" r="5"/><text class="dim" x="26" y="46">into memory that is there</text>',
        '<circle class="dot fresh" cx="214" cy="42" r="5"/><text class="dim" x="226" y="46">into new memory</text>',
    ]
    for power in range(low, high + 1):
        at = x(10**power)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 8}" y2="{bottom}"/>')
        parts.append(f'<text class="dim" x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">{10.0**power:,g}</text>')
    if copy:
        parts.append(f'<line class="copy" x1="{x(copy):.1f}" x2="{x(copy):.1f}" y1="{TOP - 8}" y2="{bottom}"/>')
        label = f"a copy of the packed bytes: {number(copy)}"
        parts.append(f'<text class="dim" x="{x(copy):.1f}" y="{TOP - 13}" text-anchor="middle">{label}</text>')
    y = TOP
    for words, rows in groups:
        parts.append(f'<text class="dim" x="8" y="{y + 12}">{escape(words)}</text>')
        y += LINE
        for row in rows:
            parts += _line(row, most, x, y)
            y += LINE
    known = results["machine"]
    foot = f"{known['processor']}, {known['cores']} cores; all took turns in one run. JS: under node."
    fewer = sorted({count for row in shown if (count := largest(row, "live", most)) != most})
    if fewer:
        foot += f" ({', '.join(size(count or 0) for count in fewer)}): of so many, because {most:,} take over a second."
    parts.append(f'<text class="dim" x="8" y="{height - 10}">{escape(foot)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _line(row: dict[str, Any], most: int, x: Any, y: float) -> list[str]:
    ours = " ours" if row["name"].startswith("gpustruct") else ""
    count = largest(row, "live", most)
    live = row["live"][count]
    name = row["name"] if count == most else f"{row['name']} ({size(count or 0)})"
    fresh = row["fresh"].get(count)
    parts = [f'<text class="{ours.strip()}" x="{LEFT - 12}" y="{y + 12}" text-anchor="end">{escape(name)}</text>']
    ends = [live] + ([fresh] if fresh else [])
    parts.append(f'<line class="bar" x1="{x(min(ends)):.1f}" x2="{x(max(ends)):.1f}" y1="{y + 8}" y2="{y + 8}"/>')
    if fresh:
        parts.append(f'<circle class="dot fresh{ours}" cx="{x(fresh):.1f}" cy="{y + 8}" r="5"/>')
    parts.append(f'<circle class="dot{ours}" cx="{x(live):.1f}" cy="{y + 8}" r="5"/>')
    parts.append(f'<text class="{ours.strip()}" x="{x(max(ends)) + 12:.1f}" y="{y + 12}">{number(live)}</text>')
    return parts
