"""Warnings about types that naga or Tint treat differently from the specification."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import BackendWarning
from ..layout import Layout, naga


def naga_warnings(layout: Layout, where: str) -> Iterator[BackendWarning]:
    """A warning if naga lays out the struct `layout` differently. It names the members that need an @align."""
    for found in naga.departures(layout):
        if found.layout is not layout:
            continue
        moved = [
            f"{member.name} at {offset} (specification: {member.offset})"
            for member, offset in zip(layout.fields, found.offsets, strict=True)
            if offset != member.offset
        ] or [f"size {found.size} (specification: {layout.size})"]
        marks = [f"@align({member.align}) {member.name}" for member, _ in found.marks] or [
            "@align in its inner structs"
        ]
        facts = {"moved": ", ".join(moved[:5]), "marks": ", ".join(marks[:5])}
        yield BackendWarning.of("naga-align", name=layout.name, where=where, **facts)


def matrix_warnings(layout: Layout, where: str) -> Iterator[BackendWarning]:
    """A warning for each matrix that naga reads wrongly if `layout` is in uniform."""
    for found in naga.misreads(layout):
        facts = {"type": found.type, "remedy": found.remedy}
        yield BackendWarning.of("naga-matrix", name=found.path, where=where, **facts)


def uniform_warning(layout: Layout, where: str, *, strict: bool) -> Iterator[BackendWarning]:
    """A warning if `layout` is legal in uniform only without the 16-byte rules."""
    if layout.uniform_faults() and not layout.uniform_faults(standard_layout=True):
        yield BackendWarning.of("uniform-strict" if strict else "uniform-relaxed", name=layout.name, where=where)
