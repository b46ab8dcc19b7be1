"""Where naga and Tint part ways with the specification: what to warn about, and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..errors import BackendWarning
from ..layout import Layout, round_up

# WGSL §4.1.1: what `enable` may name, and what one backend adds.
EXTENSIONS = frozenset(["f16", "clip_distances", "dual_source_blending", "subgroups", "primitive_index"])
# WGSL §4.1.2: language features, which `requires` may name; naga knows the first three.
NAGA_FEATURES = frozenset(
    ["readonly_and_readwrite_storage_textures", "packed_4x8_integer_dot_product", "pointer_composite_access"]
)
FEATURES = NAGA_FEATURES | frozenset(
    """unrestricted_pointer_parameters uniform_buffer_standard_layout subgroup_id subgroup_uniformity
    texture_and_sampler_let texture_formats_tier1 linear_indexing fragment_depth immediate_address_space
    filtering_parameters swizzle_assignment""".split()
)
STANDARD_LAYOUT = "uniform_buffer_standard_layout"


class _Naga(NamedTuple):
    """A layout as naga computes it: @align raises its own member and struct, not the struct around."""

    align: int
    size: int
    offsets: tuple[int, ...]


def naga_warnings(layout: Layout, where: str) -> Iterator[BackendWarning]:
    """A warning if naga lays `layout`, a struct, out differently; it names the members to mark."""
    known: dict[int, _Naga] = {}
    naga = _naga(layout, known)
    if naga.size == layout.size and naga.offsets == tuple(member.offset for member in layout.fields):
        return
    moved = [
        f"{member.name} at {offset} (specification: {member.offset})"
        for member, offset in zip(layout.fields, naga.offsets, strict=True)
        if offset != member.offset
    ] or [f"size {naga.size} (specification: {layout.size})"]
    marks = [
        f"@align({member.align}) {member.name}"
        for member in layout.fields
        if member.explicit_align is None and known[id(member.layout)].align < member.layout.align
    ] or ["the same in the structs inside"]
    yield BackendWarning.of(
        "naga-align", name=layout.name, moved=", ".join(moved[:5]), marks=", ".join(marks[:5]), where=where
    )


def _naga(layout: Layout, known: dict[int, _Naga]) -> _Naga:
    found = known.get(id(layout))
    if found is None:
        found = known[id(layout)] = _naga_array(layout, known) if layout.element else _naga_struct(layout, known)
    return found


def _naga_array(layout: Layout, known: dict[int, _Naga]) -> _Naga:
    assert layout.element is not None
    element = _naga(layout.element, known)
    return _Naga(element.align, round_up(element.align, element.size) * (layout.count or 1), ())


def _naga_struct(layout: Layout, known: dict[int, _Naga]) -> _Naga:
    if not layout.fields:
        return _Naga(layout.align, layout.size, ())
    offsets: list[int] = []
    end, inner, outer = 0, 1, 1
    for member in layout.fields:
        naga = _naga(member.layout, known)
        align = member.explicit_align or naga.align
        offsets.append(round_up(align, end))
        end = offsets[-1] + (member.explicit_size or naga.size)
        inner, outer = max(inner, naga.align), max(outer, align)
    return _Naga(inner, round_up(outer, end), tuple(offsets))


def uniform_warning(layout: Layout, where: str, *, strict: bool) -> Iterator[BackendWarning]:
    """A warning if `layout` is legal in uniform only where the 16-byte rules are lifted."""
    if layout.uniform_faults() and not layout.uniform_faults(standard_layout=True):
        yield BackendWarning.of("uniform-strict" if strict else "uniform-relaxed", name=layout.name, where=where)
