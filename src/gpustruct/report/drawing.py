"""diagram: a record as SVG, with 16 bytes in each row."""

from __future__ import annotations

from html import escape
from typing import Any

from ..layout import Layout
from ..types import layout_of
from .cells import ROW, Cell, Group, cells_of, visible_rows

BYTE = 39  # All lengths in pixels.
HEIGHT = 46
BREAK = 22
LEFT, TOP, RIGHT = 58, 66, 14
GAP = 1.5
CHARACTER = 0.602  # The width of a monospaced character, as a share of its font size.
NAME, TYPE = 13, 11

# Blue, orange, green, violet, yellow, teal, red: colour-blind readers can tell neighbours in this list apart.
HUES = (212, 28, 145, 268, 48, 182, 342)

# The fill of a cell contrasts with its text on any background. The grey text is readable on white and on black.
STYLE = """
.gs text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
.gs-title{font-size:15px;font-weight:700;fill:#6e7781}
.gs-sub,.gs-ruler{font-size:11px;fill:#768390}
.gs-grid{stroke:#76839055;stroke-width:1}
.gs-name{font-size:13px;font-weight:600;fill:#1f2328}
.gs-type{font-size:11px;fill:#424a53}
.gs-pad{fill:url(#gs-hatch);stroke:#8b949e;stroke-dasharray:3 3}
.gs-tick{stroke-width:1;stroke-opacity:.35}
.gs-group{fill:none;stroke-width:2}
@media (prefers-color-scheme:dark){
.gs-title{fill:#c9d1d9}.gs-sub,.gs-ruler{fill:#8b949e}.gs-name{fill:#f0f6fc}.gs-type{fill:#c9d1d9}
"""


class Drawing(str):
    """SVG text that notebooks show as a picture.

    >>> from gpustruct import vec3f, diagram
    >>> diagram(vec3f)[:4], diagram(vec3f)._repr_svg_() == diagram(vec3f)
    ('<svg', True)
    """

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def diagram(type_: Any, *, title: str | None = None) -> Drawing:
    """Draw one record of a type as SVG: 16 bytes in each row, a colour for each member, padding hatched.

    The members of nested structs are drawn inside an outline. Of an array, the first element is drawn in detail.
    Rows in which nothing changes are left out. The drawing needs no fonts or scripts; its background is
    transparent, and its colours follow the reader's light or dark scheme. `title` replaces the name of the type
    above the drawing. The result is a string: write it to a file, or make it the last line of a notebook cell.
    Raises LayoutError for anything except a gpustruct type or a batch. WGSL §14.4.1.

    >>> from gpustruct import Struct, vec3f, f32, diagram
    >>> class Light(Struct):
    ...     range: f32
    ...     position: vec3f
    >>> svg = diagram(Light)
    >>> svg.count('class="gs-pad"'), "position" in svg
    (2, True)
    """
    layout = layout_of(type_)
    cells, groups = cells_of(layout)
    return Drawing(_Sheet(cells, groups).draw(layout, title))


class _Sheet:
    """The positions of the rows of one drawing, and the SVG elements drawn so far."""

    def __init__(self, cells: list[Cell], groups: list[Group]) -> None:
        self.cells, self.groups = cells, groups
        self.rows = visible_rows(cells)
        self.top: dict[int, float] = {}
        self.breaks: list[tuple[float, int]] = []
        y = float(TOP)
        for at, row in enumerate(self.rows):
            if at and row != self.rows[at - 1] + 1:
                self.breaks.append((y, row - self.rows[at - 1] - 1))
                y += BREAK
            self.top[row] = y
            y += HEIGHT
        self.bottom = y
        self.parts: list[str] = []

    def draw(self, layout: Layout, title: str | None) -> str:
        width = LEFT + ROW * BYTE + RIGHT
        name, _, facts = layout.summary().partition(": ")
        label = title if title is not None else name
        tail = layout.is_runtime_sized
        height = self.bottom + (BREAK if tail else 0) + 10
        self._text(LEFT, 20, "gs-title", label, ROW * BYTE, 15)
        self._text(LEFT, 37, "gs-sub", facts, ROW * BYTE, TYPE)
        self._ruler()
        for cell in self.cells:
            self._cell(cell)
        for group in self.groups:
            self._group(group)
        for y, count in self.breaks:
            self._text(LEFT + ROW * BYTE / 2, y + 15, "gs-sub", f"⋮  {count} more rows", ROW * BYTE, TYPE, middle=True)
        if tail:
            y = self.bottom + 15
            text = f"⋮  one every {layout.stride} bytes, as many as the binding holds"
            self._text(LEFT + ROW * BYTE / 2, y, "gs-sub", text, ROW * BYTE, TYPE, middle=True)
        hatch = (
            '<pattern id="gs-hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            '<path d="M0 0V7" stroke="#8b949e" stroke-opacity=".55" stroke-width="2.4"/></pattern>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="gs" width="{width}" height="{height:g}" '
            f'viewBox="0 0 {width} {height:g}" role="img" aria-label="{escape(f"memory layout of {layout.summary()}")}">'
            f"<style>{_style()}</style><defs>{hatch}</defs>{''.join(self.parts)}</svg>"
        )

    def _text(
        self, x: float, y: float, style: str, text: str, width: float, font: float, *, middle: bool = False
    ) -> None:
        fitting = _fit(text, width, font)
        anchor = ' text-anchor="middle"' if middle else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{style}"{anchor}>{escape(fitting)}</text>')

    def _ruler(self) -> None:
        for at in range(0, ROW + 1, 4):
            x = LEFT + at * BYTE
            if at < ROW:
                self.parts.append(f'<text x="{x + 2}" y="{TOP - 8}" class="gs-ruler">+{at}</text>')
            self.parts.append(f'<path d="M{x} {TOP - 5}V{self.bottom:g}" class="gs-grid"/>')
        for row, y in self.top.items():
            self.parts.append(
                f'<text x="{LEFT - 8}" y="{y + HEIGHT / 2 + 4:g}" class="gs-ruler" text-anchor="end">{row * ROW}</text>'
            )

    def _spans(self, start: int, stop: int) -> list[tuple[float, float, float]]:
        """The visible parts of bytes [start, stop): (left, right, top) of each row."""
        spans: list[tuple[float, float, float]] = []
        for row in range(start // ROW, (stop - 1) // ROW + 1) if stop - start <= ROW * len(self.top) else self.top:
            low, high = max(start, row * ROW), min(stop, row * ROW + ROW)
            if row in self.top and low < high:
                left = LEFT + (low - row * ROW) * BYTE
                spans.append((left, LEFT + (high - row * ROW) * BYTE, self.top[row]))
        return spans

    def _cell(self, cell: Cell) -> None:
        spans = self._spans(cell.start, cell.stop)
        if not spans:
            return
        padding = cell.kind == "padding"
        style = "gs-pad" if padding else f"gs-{cell.kind[0]} gs-h{cell.hue % len(HUES)}"
        what = "padding" if padding else f"{cell.name}: {cell.type}".lstrip(": ")
        hint = f"<title>{escape(what)}, bytes {cell.start} to {cell.stop - 1}</title>"
        self.parts.append(f'<path d="{_outline(spans, GAP)}" class="{style}">{hint}</path>')
        if padding:
            return
        self._ticks(cell)
        left, right, top = max(spans[:2], key=lambda span: span[1] - span[0])
        room = right - left - 14
        middle = top + HEIGHT / 2
        if cell.name:
            self._text(left + 8, middle - 3, "gs-name", cell.name, room, NAME)
        self._text(left + 8, middle + (13 if cell.name else 4), "gs-type", cell.type, room, TYPE)

    def _ticks(self, cell: Cell) -> None:
        if not cell.ticks:
            return
        hue = f"gs-t{cell.hue % len(HUES)}"
        for row in self.top:
            low, high = max(cell.start, row * ROW), min(cell.stop, row * ROW + ROW)
            first = cell.start + -(-(low - cell.start) // cell.ticks) * cell.ticks
            for at in range(first, high, cell.ticks):
                y = self.top[row]
                if at % ROW and at > cell.start:
                    x = LEFT + (at - row * ROW) * BYTE
                    self.parts.append(f'<path d="M{x} {y + HEIGHT - 9}V{y + HEIGHT - 2}" class="gs-tick {hue}"/>')
                elif at > cell.start:
                    x = LEFT + GAP
                    self.parts.append(f'<path d="M{x} {y}H{LEFT + ROW * BYTE - GAP}" class="gs-tick {hue}"/>')

    def _group(self, group: Group) -> None:
        spans = self._spans(group.start, group.stop)
        style = f"gs-group gs-t{group.hue % len(HUES)}"
        self.parts.append(
            f'<path d="{_outline(spans, -0.5)}" class="{style}"><title>{escape(group.name)}</title></path>'
        )


def _fit(text: str, width: float, font: float) -> str:
    room = int(width / (font * CHARACTER))
    return text if len(text) <= room else text[: max(room - 1, 1)] + "…"


def _outline(spans: list[tuple[float, float, float]], inset: float) -> str:
    """A path around bytes that may start and end inside a row; in several parts if rows between are left out."""
    paths: list[str] = []
    run: list[tuple[float, float, float]] = []
    for span in spans:
        if run and (span[2] != run[-1][2] + HEIGHT or span[0] >= run[-1][1] or span[1] <= run[-1][0]):
            paths.append(_polygon(run, inset))
            run = []
        run.append(span)
    return "".join([*paths, _polygon(run, inset)])


def _polygon(run: list[tuple[float, float, float]], inset: float) -> str:
    first, last = run[0], run[-1]
    left, right = min(span[0] for span in run), max(span[1] for span in run)
    top, bottom = first[2] + inset, last[2] + HEIGHT - inset
    points = [(first[0] + inset, top), (right - inset, top)]
    if last[1] < right:
        points += [(right - inset, last[2] - inset), (last[1] - inset, last[2] - inset)]
    points += [(last[1] - inset, bottom), (left + inset, bottom)]
    if first[0] > left:
        points += [(left + inset, first[2] + HEIGHT + inset), (first[0] + inset, first[2] + HEIGHT + inset)]
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points) + "Z"


def _style() -> str:
    light = "".join(
        f".gs-v.gs-h{i}{{fill:hsl({h},72%,84%);stroke:hsl({h},45%,48%)}}"
        f".gs-r.gs-h{i}{{fill:hsl({h},60%,92%);stroke:hsl({h},45%,48%);stroke-dasharray:5 3}}"
        f".gs-t{i}{{stroke:hsl({h},50%,42%)}}"
        for i, h in enumerate(HUES)
    )
    dark = "".join(
        f".gs-v.gs-h{i}{{fill:hsl({h},38%,25%);stroke:hsl({h},50%,58%)}}"
        f".gs-r.gs-h{i}{{fill:hsl({h},30%,17%);stroke:hsl({h},50%,50%)}}"
        f".gs-t{i}{{stroke:hsl({h},55%,64%)}}"
        for i, h in enumerate(HUES)
    )
    text, _, scheme = STYLE.strip().replace("\n", "").partition("@media")
    return f"{text}{light}@media{scheme}{dark}}}"
