"""Notes about binding a type, one on each line."""

from __future__ import annotations

from collections.abc import Iterator

from ..layout import SCALARS, Layout, is_host_shareable, naga, parts, unpack_function, wgsl_scalar

NOTED_FAULTS = 4


def lines(layout: Layout) -> Iterator[str]:
    """Whether the type is legal in uniform, what shader and device need for it, and what naga does differently."""
    if not is_host_shareable(layout):
        return
    found = list(parts(layout))
    atomic = any(part.kind == "atomic" for part in found)
    if layout.is_runtime_sized or atomic:
        yield f"uniform: no, {'a runtime-sized array' if layout.is_runtime_sized else 'an atomic'} needs var<storage>"
    else:
        yield from _uniform(layout)
    for row in SCALARS.values():
        if row.extension and any(wgsl_scalar(part) == row.name for part in found):
            yield f"{row.name}: the shader needs `enable {row.extension};`, the device the feature {row.feature}"
    for name, function in dict.fromkeys((part.name, unpack_function(part)) for part in found if not part.element):
        if function:
            yield f"{name}: the shader declares u32 and reads it with {function}"
    if atomic:
        yield "atomic: bind it as var<storage, read_write>"
    for note in naga.notes(layout):
        yield f"naga: {note}"


def _uniform(layout: Layout) -> Iterator[str]:
    faults = layout.uniform_faults()
    for fault in faults[:NOTED_FAULTS]:
        yield f"uniform: {fault}"
    if len(faults) > NOTED_FAULTS:
        yield f"uniform: {len(faults) - NOTED_FAULTS} more faults; check_uniform() lists all"
    elif not faults:
        yield "uniform: legal"
