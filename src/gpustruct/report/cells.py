"""The contents of a diagram: every byte of a record is in one cell, and rows where nothing changes are left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from ..layout import SCALARS, Layout, Member

ROW = 16
# How many elements of an array are drawn with their parts; the others are one cell.
UNFOLDED = 1
# How many rows of one cell are drawn before the others are left out.
SHOWN_ROWS = 3


class Cell(NamedTuple):
    """Bytes [start, stop) of a record.

    `hue` is the index of the outermost member. `ticks` is the distance between tick marks in bytes, or 0 for none.
    """

    kind: Literal["value", "rest", "padding"]
    start: int
    stop: int
    name: str
    type: str
    hue: int
    ticks: int = 0


class Group(NamedTuple):
    """A nested struct, whose cells get an outline."""

    start: int
    stop: int
    name: str
    hue: int


def cells_of(layout: Layout) -> tuple[list[Cell], list[Group]]:
    """Divide one record of `layout` into cells, and return them with the nested structs among them.

    A nested struct has a cell for each of its members. An array has its first element and one cell for the rest.

    >>> from gpustruct import vec3f, layout_of
    >>> cells_of(layout_of(vec3f))[0][0]
    Cell(kind='value', start=0, stop=12, name='', type='vec3f', hue=0, ticks=0)
    """
    groups: list[Group] = []
    if layout.kind == "struct":
        cells = list(_struct(layout, 0, "", None, groups))
    else:
        cells = list(_value(layout, 0, "", 0, groups))
    return list(_merged(cells)), groups


def _merged(cells: list[Cell]) -> Iterator[Cell]:
    """`cells`, with neighbouring cells of padding joined."""
    held: Cell | None = None
    for cell in cells:
        if held and held.kind == cell.kind == "padding" and held.stop == cell.start:
            held = held._replace(stop=cell.stop)
            continue
        if held:
            yield held
        held = cell
    if held:
        yield held


def _struct(layout: Layout, base: int, prefix: str, hue: int | None, groups: list[Group]) -> Iterator[Cell]:
    end = base
    for index, member in enumerate(layout.fields):
        color = index if hue is None else hue
        start = base + member.offset
        yield from _padding(end, start, color)
        yield from _member(member, start, f"{prefix}{member.name}", color, groups)
        end = start + (member.layout.stride if member.layout.is_runtime_array else member.size)
    if layout.tail is None:
        yield from _padding(end, base + layout.size, 0)


def _member(member: Member, start: int, name: str, hue: int, groups: list[Group]) -> Iterator[Cell]:
    yield from _value(member.layout, start, name, hue, groups)
    if not member.layout.is_runtime_array:
        yield from _padding(start + member.layout.size, start + member.size, hue)


def _value(layout: Layout, start: int, name: str, hue: int, groups: list[Group]) -> Iterator[Cell]:
    if layout.kind == "struct":
        groups.append(Group(start, start + layout.size, f"{name}: {layout.name}", hue))
        yield from _struct(layout, start, f"{name}.", hue, groups)
    elif layout.element is not None:
        yield from _array(layout, layout.element, start, name, hue, groups)
    elif layout.kind == "matrix" and layout.used < layout.size:
        step = layout.size // layout.columns
        unit = SCALARS[layout.scalar].size * layout.rows
        for column in range(layout.columns):
            at = start + column * step
            label = layout.name if column == 0 else f"column {column}"
            yield Cell("value", at, at + unit, f"{name}[{column}]", label, hue)
            yield from _padding(at + unit, at + step, hue)
    else:
        ticks = layout.size // layout.columns if layout.kind == "matrix" else 0
        yield Cell("value", start, start + layout.size, name, layout.name, hue, ticks)


def _array(layout: Layout, element: Layout, start: int, name: str, hue: int, groups: list[Group]) -> Iterator[Cell]:
    stride, count = layout.stride, layout.count or 1
    plain = element.kind in ("scalar", "vector", "atomic") and element.size == stride
    if plain and layout.count is not None:
        yield Cell("value", start, start + layout.size, name, layout.name, hue, stride)
        return
    shown = count if count <= UNFOLDED + 1 and element.kind != "struct" else UNFOLDED
    for index in range(shown):
        at = start + index * stride
        label = f"{name}[{index}]"
        if element.kind in ("scalar", "vector", "atomic"):
            yield Cell("value", at, at + element.size, label, layout.name if index == 0 else element.name, hue)
        else:
            yield from _value(element, at, label, hue, groups)
        yield from _padding(at + element.size, at + stride, hue)
    if shown < count:
        stop = start + layout.size
        last = "" if count - shown == 1 else f" … [{count - 1}]"
        text = f"{count - shown} × {stride} bytes" if count - shown > 1 else element.name
        yield Cell("rest", start + shown * stride, stop, f"{name}[{shown}]{last}", text, hue, stride)


def _padding(start: int, stop: int, hue: int) -> Iterator[Cell]:
    if stop > start:
        yield Cell("padding", start, stop, "", "", hue)


def visible_rows(cells: list[Cell]) -> list[int]:
    """The rows to draw, in order. Inner rows of a cell that is taller than `SHOWN_ROWS` are left out.

    >>> visible_rows([Cell("value", 0, 256, "weights", "array<f32, 64>", 0, 4)])
    [0, 1, 15]
    """
    rows: list[int] = []
    following = 0
    for cell in cells:
        first, last = max(cell.start // ROW, following), (cell.stop - 1) // ROW
        whole = -(-cell.start // ROW), cell.stop // ROW
        if cell.kind != "padding" and whole[1] - whole[0] > SHOWN_ROWS + 2 and not _is_matrix(cell):
            at_top = 1 if cell.kind == "rest" else 2
            rows.extend(range(first, min(whole[0] + at_top, last)))
            first = max(following, whole[1] - 1)
        elif cell.kind == "padding" and whole[1] - whole[0] > SHOWN_ROWS:
            rows.extend(range(first, whole[0] + 1))
            first = max(following, whole[1] - 1)
        rows.extend(range(first, last + 1))
        following = last + 1
    return rows


def _is_matrix(cell: Cell) -> bool:
    return cell.type.startswith("mat")
