"""Make the layout of a type from the layouts of its parts. Only arithmetic is checked here; callers check the rest."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import LayoutError
from .arithmetic import MAX_BYTES, MAX_COUNT, MAX_DEPTH, MAX_MEMBERS
from .record import Layout, Member
from .rules import VERTEX, WGSL, Rules, Sized, place
from .scalars import RECORD_SCALARS, SCALARS

# A member's name, layout, @align or None, @size or None, location or None.
MemberSpec = tuple[str, Layout, int | None, int | None, int | None]


def scalar(name: str) -> Layout:
    """A scalar: aligned to its own size."""
    size = SCALARS[name].size
    return Layout("scalar", name, size, size, size, scalar=name)


def vector(rows: int, component: str) -> Layout:
    """vecN: N scalars, aligned to 2 or (vec3 too) 4 of them."""
    unit = SCALARS[component].size
    name = f"vec{rows}{SCALARS[component].suffix}"
    size, slots = rows * unit, 2 if rows == 2 else 4
    return Layout("vector", name, size, slots * unit, size, scalar=component, rows=rows, depth=1)


def matrix(columns: int, rows: int, component: str) -> Layout:
    """matCxR: C columns, each a vecR in a slot of the vecR's alignment."""
    column = vector(rows, component)
    name = f"mat{columns}x{rows}{SCALARS[component].suffix}"
    size = columns * column.record_stride
    used = columns * column.used
    return Layout("matrix", name, size, column.align, used, scalar=component, rows=rows, columns=columns, depth=2)


def atomic(component: str) -> Layout:
    """atomic<i32> and atomic<u32>: laid out like the scalar."""
    size = SCALARS[component].size
    return Layout("atomic", f"atomic<{component}>", size, size, size, scalar=component)


def vertex_format(name: str, component: str, rows: int) -> Layout:
    """One to four scalars of vertex data, without gaps: aligned to 4 bytes, or to all of fewer."""
    size = rows * RECORD_SCALARS[component].size
    kind = "scalar" if rows == 1 else "vector"
    depth = 0 if rows == 1 else 1
    return Layout(kind, name, size, min(4, size), size, scalar=component, rows=rows, depth=depth, rules=VERTEX)


def array(element: Layout, count: int | None, where: str = "") -> Layout:
    """array<E, N>, or array<E> if `count` is None."""
    where = where or f"array[{element.python_name}{'' if count is None else f', {count}'}]"
    if element.is_runtime_sized:
        inner = element if element.tail is None else element.tail.layout
        assert inner.element is not None
        counted = f"array[{inner.element.python_name}, 8]"
        if element.tail is None:
            way_out = f"give the inner array a count: {counted}"
        else:
            way_out = f"give the array in {element.name} a count: `{element.tail.name}: {counted}`"
        raise LayoutError.of("array-element", current=element.name, where=where, way_out=way_out)
    if count is not None and not 1 <= count <= MAX_COUNT:
        raise LayoutError.of("array-count", count=count, where=where, element=element.python_name)
    size = element.record_stride * (count or 1)
    if size > MAX_BYTES:
        name, most = element.python_name, MAX_BYTES // element.record_stride
        way_out = f"use array[{name}, {most}] at most, or array[{name}] for as many as the buffer holds"
        raise LayoutError.of("array-bytes", size=size, where=where, way_out=way_out)
    depth = _depth(1 + element.depth, where)
    name = f"array<{element.name}>" if count is None else f"array<{element.name}, {count}>"
    used = element.used * (count or 1)
    return Layout(
        "array", name, size, element.align, used, element=element, count=count, depth=depth, rules=element.rules
    )


def _depth(depth: int, where: str) -> int:
    if depth > MAX_DEPTH:
        raise LayoutError.of("nesting-depth", depth=depth, where=where)
    return depth


def struct(name: str, specs: Sequence[MemberSpec], rules: Rules = WGSL) -> Layout:
    """A struct of members, laid out by the four rules."""
    if not specs:
        raise LayoutError.of("struct-empty", where=f"class {name}")
    if len(specs) > MAX_MEMBERS:
        raise LayoutError.of("member-count", count=len(specs), where=f"class {name}")
    sized: list[Sized] = []
    for index, (member_name, layout, explicit_align, explicit_size, _) in enumerate(specs):
        where = f"{name}.{member_name}"
        _check_runtime(layout, index, len(specs), where)
        _check_align(layout, explicit_align, where)
        _check_size(layout, explicit_size, where)
        sized.append(Sized(layout.align, layout.size, explicit_align, explicit_size))
    placed = place(rules, sized)
    members = tuple(
        Member(spec[0], offset, one.explicit_size or one.size, one.explicit_align or one.align, *spec[1:])
        for spec, one, offset in zip(specs, sized, placed.offsets, strict=True)
    )
    if placed.size > MAX_BYTES:
        largest = max(members, key=lambda member: member.size)
        way_out = f"make {largest.name} smaller: it takes {largest.size} bytes"
        raise LayoutError.of("array-bytes", size=placed.size, where=f"class {name}", way_out=way_out)
    depth = _depth(1 + max(member.layout.depth for member in members), f"class {name}")
    used = sum(member.layout.used for member in members)
    return Layout("struct", name, placed.size, placed.align, used, fields=members, depth=depth, rules=rules)


def _check_runtime(layout: Layout, index: int, count: int, where: str) -> None:
    if layout.is_runtime_array and index != count - 1:
        assert layout.element is not None
        facts = {"index": index + 1, "count": count, "where": where}
        raise LayoutError.of("runtime-not-last", element=layout.element.python_name, **facts)
    if layout.is_runtime_sized and not layout.is_runtime_array:
        assert layout.tail is not None and layout.tail.layout.element is not None
        facts = {"tail": layout.tail.name, "element": layout.tail.layout.element.python_name}
        raise LayoutError.of("runtime-nested", current=layout.name, where=where, **facts)


def _check_align(layout: Layout, value: int | None, where: str) -> None:
    if value is None:
        return
    if value < 1 or value & (value - 1) or value > MAX_BYTES:
        suggestion = max(layout.align, 16)
        raise LayoutError.of("align-value", value=value, where=where, suggestion=suggestion)
    if value % layout.align:
        raise LayoutError.of("align-multiple", own=layout.align, type=layout.name, value=value, where=where)


def _check_size(layout: Layout, value: int | None, where: str) -> None:
    if value is None:
        return
    if layout.is_runtime_array:
        raise LayoutError.of("size-runtime", value=value, where=where)
    if not 1 <= value <= MAX_BYTES:
        raise LayoutError.of("size-value", value=value, where=where, suggestion=layout.size)
    if value < layout.size:
        raise LayoutError.of("size-small", own=layout.size, type=layout.name, value=value, where=where)
