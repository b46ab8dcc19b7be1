"""The shader that asks a device about a type: which leaves it reads and writes, and where their bits go."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from ..errors import WgslError
from ..layout import SCALARS, Layout
from ..types import layout_of
from ..wgsl import declare

# A type with more scalars than this has its long arrays sampled: this many elements from either end.
ALL_SCALARS, SAMPLED = 1 << 16, 32
# What the statements below need, and no struct of the text may hide.
USED = frozenset(
    """array arrayLength atomicLoad atomicStore bitcast f16 f32 i32 pack2x16float select u32
    unpack2x16float vec2f""".split()
)


class Axis(NamedTuple):
    """One dimension of a leaf's column: which of its `count` elements are looked at, `stride` bytes apart."""

    picked: np.ndarray
    stride: int


class Place(NamedTuple):
    """One leaf in the shader: its scalars are in C order of its column from `slot` on."""

    path: tuple[str, ...]
    scalar: str
    offset: int
    axes: tuple[Axis, ...]
    slot: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.picked) for axis in self.axes)

    @property
    def scalars(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def offsets(self) -> np.ndarray:
        """The layout's byte offset of every scalar that is looked at."""
        at = np.full(self.shape, self.offset, np.int64)
        for k, axis in enumerate(self.axes):
            at += (axis.picked * axis.stride).reshape((-1,) + (1,) * (len(self.axes) - 1 - k))
        return at

    def bits(self, column: Any) -> np.ndarray:
        """The bit patterns of the scalars that are looked at, widened to u32."""
        picked = np.asarray(column)[np.ix_(*(axis.picked for axis in self.axes))] if self.axes else np.asarray(column)
        return np.ascontiguousarray(picked).view(f"u{SCALARS[self.scalar].size}").astype(np.uint32).reshape(self.shape)


class Walk:
    """Every leaf of a type, as places on the host and as statements for the shader."""

    def __init__(self, most: int | None, slots: int = 0, uniform: bool = False) -> None:
        self.most, self.slots, self.uniform = most, slots, uniform
        self.places: list[Place] = []
        self.reads: list[str] = []
        self.writes: list[str] = []

    def visit(
        self, layout: Layout, expression: str, path: tuple[str, ...], offset: int, axes: tuple[Axis, ...]
    ) -> None:
        if layout.kind == "struct":
            for member in layout.fields:
                name = f"{expression}.{member.name}"
                copied = self.uniform and member.layout.kind == "struct" and _has_two_rows(member.layout)
                if copied:
                    # naga 29 writes wrong SPIR-V for a matCx2 of a struct of a struct in uniform; a copy is right.
                    variable = f"s{len(self.reads)}"
                    self.reads += ["{", f"var {variable} = {name};"]
                    name = variable
                self.visit(member.layout, name, (*path, member.name), offset + member.offset, axes)
                if copied:
                    self.reads.append("}")
        elif layout.element is not None:
            assert layout.count is not None
            self.loop(layout.element, layout.count, layout.stride, expression, path, offset, axes)
        else:
            self.leaf(layout, expression, path, offset, axes)

    def loop(
        self,
        element: Layout,
        count: int,
        stride: int,
        name: str,
        path: tuple[str, ...],
        offset: int,
        axes: tuple[Axis, ...],
    ) -> None:
        variable = f"i{len(axes)}"
        if self.most is None or count <= 2 * self.most:
            index, picked = variable, np.arange(count)
        else:
            picked = np.concatenate([np.arange(self.most), np.arange(count - self.most, count)])
            index = f"select({variable}, {variable} + {count - 2 * self.most}u, {variable} >= {self.most}u)"
        for lines in (self.reads, self.writes):
            lines.append(f"for (var {variable} = 0u; {variable} < {len(picked)}u; {variable}++) {{")
        self.visit(element, f"{name}[{index}]", path, offset, (*axes, Axis(picked, stride)))
        for lines in (self.reads, self.writes):
            lines.append("}")

    def leaf(self, layout: Layout, expression: str, path: tuple[str, ...], offset: int, axes: tuple[Axis, ...]) -> None:
        unit = SCALARS[layout.scalar].size
        inner: tuple[Axis, ...] = ()
        if layout.kind == "vector":
            inner = (Axis(np.arange(layout.rows), unit),)
        elif layout.kind == "matrix":
            inner = (Axis(np.arange(layout.rows), unit), Axis(np.arange(layout.columns), layout.size // layout.columns))
        place = Place(path, layout.scalar, offset, (*axes, *inner), self.slots)
        index = "0u"
        for k, axis in enumerate(axes):
            index = f"({index} * {len(axis.picked)}u + i{k})"
        scalars = layout.rows * layout.columns
        for k in range(scalars):
            component = expression
            if layout.kind == "vector":
                component += f"[{k}]"
            elif layout.kind == "matrix":
                component += f"[{k % layout.columns}][{k // layout.columns}]"
            slot = f"{place.slot}u + {index} * {scalars}u + {k}u"
            self.reads.append(f"$found[{slot}] = {_to_bits(layout, component)};")
            self.writes.append(_from_bits(layout, component, f"$given[{slot}]"))
        self.places.append(place)
        self.slots += place.scalars


def _has_two_rows(layout: Layout) -> bool:
    core = layout.core
    return (core.kind == "matrix" and core.rows == 2) or any(_has_two_rows(member.layout) for member in core.fields)


def _to_bits(layout: Layout, expression: str) -> str:
    if layout.kind == "atomic":
        expression = f"atomicLoad(&{expression})"
    # Exact for normal numbers, and every backend knows it: naga has no bitcast of vec2<f16>.
    return f"pack2x16float(vec2f(f32({expression}), 0.0))" if layout.scalar == "f16" else f"bitcast<u32>({expression})"


def _from_bits(layout: Layout, expression: str, bits: str) -> str:
    value = f"f16(unpack2x16float({bits}).x)" if layout.scalar == "f16" else f"bitcast<{layout.scalar}>({bits})"
    return f"atomicStore(&{expression}, {value});" if layout.kind == "atomic" else f"{expression} = {value};"


def walked(layout: Layout, records: int) -> Walk:
    size = layout.used if not layout.is_runtime_sized else layout.size
    walk = Walk(SAMPLED if size // 2 * records > ALL_SCALARS else None)
    if layout.is_runtime_array:
        assert layout.element is not None
        walk.loop(layout.element, records, layout.stride, "$source", (), 0, ())
    elif layout.tail is not None:
        for member in layout.fields[:-1]:
            walk.visit(member.layout, f"$source.{member.name}", (member.name,), member.offset, ())
        tail = layout.tail
        assert tail.layout.element is not None
        walk.loop(tail.layout.element, records, layout.stride, f"$source.{tail.name}", (tail.name,), tail.offset, ())
    else:
        walk.loop(layout, records, layout.record_stride, "$source", (), 0, ())
    return walk


def shader(T: Any, walk: Walk, uniform: Walk | None, runtime: bool) -> str:
    layout = layout_of(T)
    text = declare(T)
    names = set(re.findall(r"^struct (\w+)", text, re.MULTILINE))
    for name in sorted(names & USED):
        raise WgslError.of("declare-hides", name=name)
    if "f16" in {place.scalar for place in walk.places} and not text.startswith("enable f16;"):
        text = "enable f16;\n" + text
    type_ = layout.name if runtime else f"array<{layout.name}>"
    tail = f"$source.{layout.tail.name}" if layout.tail is not None else "$source"
    reads = "\n".join(walk.reads)
    writes = "\n".join(walk.writes).replace("$source", "$target")
    lines = [
        f"@group(0) @binding(0) var<storage, read_write> $source: {type_};",
        "@group(0) @binding(1) var<storage, read_write> $found: array<u32>;",
        f"@group(0) @binding(2) var<storage, read_write> $target: {type_};",
        "@group(0) @binding(3) var<storage, read> $given: array<u32>;",
    ]
    if uniform is not None:
        lines.append(f"@group(0) @binding(4) var<uniform> $seen: {layout.name};")
        reads += "\n" + "\n".join(uniform.reads)
    total = walk.slots if uniform is None else uniform.slots
    length = f"$found[{total}u] = arrayLength(&{tail});"
    body = "\n".join([*lines, f"@compute @workgroup_size(1) fn $ask() {{\n{reads}\n{writes}\n{length}\n}}"])
    # WGSL has no $: it marks names that are to be no struct's.
    suffix = ""
    while any(name.startswith(f"device{suffix}_") for name in names):
        suffix += "x"
    return text + body.replace("$", f"device{suffix}_")
