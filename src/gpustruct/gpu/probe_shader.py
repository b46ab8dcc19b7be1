"""Generates the shader with which `verify` reads and writes every scalar of a type."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from ..errors import WgslError
from ..layout import SCALARS, Layout, parts
from ..types import layout_of
from ..wgsl import declare

# In a type with more scalars than this, long arrays are sampled: this many elements at each end.
ALL_SCALARS, SAMPLED = 1 << 16, 32
# Names that the generated statements use. A struct of one of these names would hide them.
USED = frozenset(
    """array arrayLength atomicLoad atomicStore bitcast f16 f32 i32 pack2x16float select u32
    unpack2x16float vec2f""".split()
)


class ProbedAxis(NamedTuple):
    """One dimension of a leaf's column: the indices that are probed, and the bytes from one index to the next."""

    indices: np.ndarray
    stride: int


class ProbedLeaf(NamedTuple):
    """One leaf of a type: the shader's arrays have its scalars from index `first` on, in the C order of its column."""

    path: tuple[str, ...]
    scalar: str
    offset: int
    axes: tuple[ProbedAxis, ...]
    first: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.indices) for axis in self.axes)

    @property
    def scalars(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def offsets(self) -> np.ndarray:
        """The layout's byte offset of every scalar that is probed."""
        at = np.full(self.shape, self.offset, np.int64)
        for k, axis in enumerate(self.axes):
            at += (axis.indices * axis.stride).reshape((-1,) + (1,) * (len(self.axes) - 1 - k))
        return at

    def bits(self, column: Any) -> np.ndarray:
        """The bit patterns of the scalars that are probed, widened to u32."""
        probed = np.asarray(column)[np.ix_(*(axis.indices for axis in self.axes))] if self.axes else np.asarray(column)
        return np.ascontiguousarray(probed).view(f"u{SCALARS[self.scalar].size}").astype(np.uint32).reshape(self.shape)


class Probe:
    """The leaves of a type, and the statements with which a shader reads and writes them.

    `sampled` is the number of elements at each end of a long array, None for all. The scalars are numbered from
    `scalar_count` on. `copy_structs` reads nested structs in uniform through a variable: see `add_type`.
    """

    def __init__(self, sampled: int | None, scalar_count: int = 0, copy_structs: bool = False) -> None:
        self.sampled, self.scalar_count, self.copy_structs = sampled, scalar_count, copy_structs
        self.leaves: list[ProbedLeaf] = []
        self.reads: list[str] = []
        self.writes: list[str] = []

    def add_type(
        self, layout: Layout, expression: str, path: tuple[str, ...], offset: int, axes: tuple[ProbedAxis, ...]
    ) -> None:
        """Add the leaves of `layout`, which `expression` names in the shader."""
        if layout.kind == "struct":
            for member in layout.fields:
                name = f"{expression}.{member.name}"
                copied = self.copy_structs and member.layout.kind == "struct" and _has_two_rows(member.layout)
                if copied:
                    # naga 29 writes wrong SPIR-V for a matCx2 in a nested struct in uniform. For a copy it is right.
                    variable = f"s{len(self.reads)}"
                    self.reads += ["{", f"var {variable} = {name};"]
                    name = variable
                self.add_type(member.layout, name, (*path, member.name), offset + member.offset, axes)
                if copied:
                    self.reads.append("}")
        elif layout.element is not None:
            assert layout.count is not None
            self.add_array(layout.element, layout.count, layout.stride, expression, path, offset, axes)
        else:
            self.add_leaf(layout, expression, path, offset, axes)

    def add_array(
        self,
        element: Layout,
        count: int,
        stride: int,
        name: str,
        path: tuple[str, ...],
        offset: int,
        axes: tuple[ProbedAxis, ...],
    ) -> None:
        variable = f"i{len(axes)}"
        if self.sampled is None or count <= 2 * self.sampled:
            index, indices = variable, np.arange(count)
        else:
            indices = np.concatenate([np.arange(self.sampled), np.arange(count - self.sampled, count)])
            index = f"select({variable}, {variable} + {count - 2 * self.sampled}u, {variable} >= {self.sampled}u)"
        for lines in (self.reads, self.writes):
            lines.append(f"for (var {variable} = 0u; {variable} < {len(indices)}u; {variable}++) {{")
        self.add_type(element, f"{name}[{index}]", path, offset, (*axes, ProbedAxis(indices, stride)))
        for lines in (self.reads, self.writes):
            lines.append("}")

    def add_leaf(
        self, layout: Layout, expression: str, path: tuple[str, ...], offset: int, axes: tuple[ProbedAxis, ...]
    ) -> None:
        unit = SCALARS[layout.scalar].size
        inner: tuple[ProbedAxis, ...] = ()
        if layout.kind == "vector":
            inner = (ProbedAxis(np.arange(layout.rows), unit),)
        elif layout.kind == "matrix":
            inner = (
                ProbedAxis(np.arange(layout.rows), unit),
                ProbedAxis(np.arange(layout.columns), layout.size // layout.columns),
            )
        leaf = ProbedLeaf(path, layout.scalar, offset, (*axes, *inner), self.scalar_count)
        index = "0u"
        for k, axis in enumerate(axes):
            index = f"({index} * {len(axis.indices)}u + i{k})"
        scalars = layout.rows * layout.columns
        for k in range(scalars):
            component = expression
            if layout.kind == "vector":
                component += f"[{k}]"
            elif layout.kind == "matrix":
                component += f"[{k % layout.columns}][{k // layout.columns}]"
            first = f"{leaf.first}u + {index} * {scalars}u + {k}u"
            self.reads.append(f"$found[{first}] = {_to_bits(layout, component)};")
            self.writes.append(_from_bits(layout, component, f"$given[{first}]"))
        self.leaves.append(leaf)
        self.scalar_count += leaf.scalars


def _has_two_rows(layout: Layout) -> bool:
    return any(part.kind == "matrix" and part.rows == 2 for part in parts(layout))


def _to_bits(layout: Layout, expression: str) -> str:
    if layout.kind == "atomic":
        expression = f"atomicLoad(&{expression})"
    # Exact for normal numbers, and supported by every backend: naga has no bitcast of vec2<f16>.
    return f"pack2x16float(vec2f(f32({expression}), 0.0))" if layout.scalar == "f16" else f"bitcast<u32>({expression})"


def _from_bits(layout: Layout, expression: str, bits: str) -> str:
    value = f"f16(unpack2x16float({bits}).x)" if layout.scalar == "f16" else f"bitcast<{layout.scalar}>({bits})"
    return f"atomicStore(&{expression}, {value});" if layout.kind == "atomic" else f"{expression} = {value};"


def probe_of(layout: Layout, records: int) -> Probe:
    """The probe of `records` records in storage."""
    size = layout.used if not layout.is_runtime_sized else layout.size
    probe = Probe(SAMPLED if size // 2 * records > ALL_SCALARS else None)
    if layout.is_runtime_array:
        assert layout.element is not None
        probe.add_array(layout.element, records, layout.stride, "$source", (), 0, ())
    elif layout.tail is not None:
        for member in layout.fields[:-1]:
            probe.add_type(member.layout, f"$source.{member.name}", (member.name,), member.offset, ())
        tail = layout.tail
        assert tail.layout.element is not None
        probe.add_array(
            tail.layout.element, records, layout.stride, f"$source.{tail.name}", (tail.name,), tail.offset, ()
        )
    else:
        probe.add_array(layout, records, layout.record_stride, "$source", (), 0, ())
    return probe


def shader(T: Any, probe: Probe, uniform: Probe | None) -> str:
    """The WGSL that runs a probe of records in storage, and one of a record in uniform if there is one."""
    layout = layout_of(T)
    text = declare(T)
    names = set(re.findall(r"^struct (\w+)", text, re.MULTILINE))
    for name in sorted(names & USED):
        raise WgslError.of("declare-hides", name=name)
    if "f16" in {leaf.scalar for leaf in probe.leaves} and not text.startswith("enable f16;"):
        text = "enable f16;\n" + text
    type_ = layout.name if layout.is_runtime_sized else f"array<{layout.name}>"
    tail = f"$source.{layout.tail.name}" if layout.tail is not None else "$source"
    reads = "\n".join(probe.reads)
    writes = "\n".join(probe.writes).replace("$source", "$target")
    lines = [
        f"@group(0) @binding(0) var<storage, read_write> $source: {type_};",
        "@group(0) @binding(1) var<storage, read_write> $found: array<u32>;",
        f"@group(0) @binding(2) var<storage, read_write> $target: {type_};",
        "@group(0) @binding(3) var<storage, read> $given: array<u32>;",
    ]
    if uniform is not None:
        lines.append(f"@group(0) @binding(4) var<uniform> $seen: {layout.name};")
        reads += "\n" + "\n".join(uniform.reads)
    total = probe.scalar_count if uniform is None else uniform.scalar_count
    length = f"$found[{total}u] = arrayLength(&{tail});"
    body = "\n".join([*lines, f"@compute @workgroup_size(1) fn $probe() {{\n{reads}\n{writes}\n{length}\n}}"])
    # $ marks the names of this shader. They get a prefix that no struct's name starts with.
    suffix = ""
    while any(name.startswith(f"device{suffix}_") for name in names):
        suffix += "x"
    return text + body.replace("$", f"device{suffix}_")
