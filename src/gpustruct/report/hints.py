"""Hints: why an order is smaller, and other ways to make a struct smaller. Each is checked with a class that is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from ..batches import Batch
from ..errors import LayoutError
from ..layout import MAX_MEMBERS, SCALARS, VERTEX, Layout, Member, wgsl_scalar
from ..layout.uniform import vec4_array
from ..members import size
from ..types import PLAIN_TYPES, array, layout_of, make_struct
from .smaller_formats import MOST_VALUES, smaller_formats
from .variants import Hint, bytes_of, in_smallest_order, legal_in_uniform, members_of, remade, with_core, with_cores

SLOT = 16
HALF_BITS = 11
HALF_MAX = 65504.0
HALF_TINY = 2.0**-14


def hints_of(cls: Any, made: Any, batch: Batch | None, uniform: bool) -> tuple[Hint, ...]:
    """The hints for `cls`; `made` has its smallest order, and `batch` is a batch of it or None.

    With `uniform`, each class that a hint offers is legal in ``var<uniform>``.
    """
    before, after = layout_of(cls), layout_of(made)
    formats = () if batch is None else smaller_formats(made, batch, uniform)
    if before.rules == VERTEX:
        return tuple(formats)
    found = [*_after_vec3(before, after, made), *_shared_slots(before, after, made), *_nested(cls, made, uniform)]
    return (*found, *_halves(made, batch, uniform), *formats, *_vec4_arrays(cls))


def _padding_after(layout: Layout, member: Member) -> int:
    end = member.offset + member.layout.size
    return next((gap.size for gap in layout.padding if gap.offset == end), 0)


def _after_vec3(before: Layout, after: Layout, made: Any) -> Iterator[Hint]:
    old = {member.name: member for member in before.fields}
    for member, following in zip(after.fields, (*after.fields[1:], None), strict=True):
        if member.layout.kind != "vector" or member.layout.rows != 3:
            continue
        of = f"{member.name} ({member.type})"
        free = _padding_after(after, member)
        unit = SCALARS[member.layout.scalar].size
        if free >= unit and member.explicit_size is None and len(after.fields) < MAX_MEMBERS:
            scalar = "f16" if unit == 2 else "f32"
            extended = _extended(made, member.name, PLAIN_TYPES[scalar])
            if layout_of(extended).size == after.size:
                text = f"{free} bytes after {of} stay free: one more {scalar} there costs nothing"
                yield Hint("vec3-room", (member.name,), text, 0, extended)
        elif following is not None and _is_scalar(following.layout) and _padding_after(before, old[member.name]):
            text = f"{following.name} fills the {following.size} bytes after {of}"
            yield Hint("vec3-room", (member.name, following.name), text, 0, made)


def _is_scalar(layout: Layout) -> bool:
    """Whether a shader declares the type as a scalar."""
    return layout.kind == "scalar" or (layout.kind == "vector" and wgsl_scalar(layout) != layout.scalar)


def _extended(made: Any, before: str, scalar: Any) -> Any:
    """`made` with one more member after the one called `before`."""
    members: dict[str, Any] = {}
    for name, spec in members_of(made).items():
        members[name] = spec
        if name == before:
            members[max(members_of(made), key=len) + "_"] = scalar  # Longer than every other name, so new.
    return remade(made, members)


def _shared_slots(before: Layout, after: Layout, made: Any) -> Iterator[Hint]:
    if after.size >= before.size:
        return
    slot_before = {member.name: member.offset // SLOT for member in before.fields}
    slots: dict[int, list[str]] = {}
    for member in after.fields:
        if member.layout.kind == "atomic" or _is_scalar(member.layout):
            slots.setdefault(member.offset // SLOT, []).append(member.name)
    for names in slots.values():
        apart = len({slot_before[name] for name in names})
        if len(names) > 1 and apart > 1:
            text = f"{', '.join(names)} share one slot of {SLOT} bytes instead of {apart}"
            yield Hint("scalars-group", tuple(names), text, 0, made)


def _shrunk(type_: Any) -> Any:
    """`type_` with every struct inside it in its smallest order."""

    def smallest(core: Any) -> Any:
        if layout_of(core).kind != "struct":
            return core
        return in_smallest_order(remade(core, members_of(core, _shrunk)), legal_in_uniform(core))

    return with_core(type_, smallest)


def _nested(cls: Any, made: Any, uniform: bool) -> Iterator[Hint]:
    seen: set[Any] = set()
    for spec in made.__members__.values():
        core = spec.core
        if layout_of(core).kind != "struct" or core in seen:
            continue
        seen.add(core)
        shrunk = _shrunk(core)
        old, new = layout_of(core).record_stride, layout_of(shrunk).record_stride
        if new >= old:
            continue

        def change(type_: Any, core: Any = core, shrunk: Any = shrunk) -> Any:
            return with_core(type_, lambda inner: shrunk if inner is core else inner)

        variant = remade(cls, members_of(cls, change))
        if uniform and not legal_in_uniform(variant):
            continue
        variant = in_smallest_order(variant, uniform)
        saved = bytes_of(layout_of(made)) - bytes_of(layout_of(variant))
        if saved > 0:
            names = tuple(name for name, other in made.__members__.items() if other.core is core)
            text = (
                f"{core.__name__} ({', '.join(names)}) shrinks from {old} to {new} bytes with suggest({core.__name__})"
            )
            yield Hint("nested", names, f"{text}, {saved} bytes a record less here", saved, variant)


def _half(core: Any) -> Any:
    """The type with f16 in place of f32."""
    layout = layout_of(core)
    return PLAIN_TYPES["f16" if layout.kind == "scalar" else f"{layout.name[:-1]}h"]


def _halves(made: Any, batch: Batch | None, uniform: bool) -> Iterator[Hint]:
    names = [name for name, spec in made.__members__.items() if layout_of(spec.core).scalar == "f32"]
    if batch is None:
        names = [name for name in names if layout_of(made.__members__[name].core).kind != "matrix"]
    else:
        names = [name for name in names if half_holds(getattr(batch, name))]
    if not names:
        return
    found = with_cores(made, {name: _half(made.__members__[name].core) for name in names}, uniform)
    if found is None:
        return
    of, held = ", ".join(found.members), f"f16 (up to {HALF_MAX:.0f}, {HALF_BITS} bits)"
    text = f"{of} fit in {held}: the values here do" if batch is not None else f"if {of} fit in {held}"
    more = "" if batch is not None else "; suggest(batch) reads the values"
    yield Hint("f16", found.members, f"{text}: {found.saved} bytes a record less{more}", found.saved, found.type)


def half_holds(column: Any) -> bool:
    """Whether f16 keeps 11 bits of every value of `column`: none is too large, and none but 0 is below 2**-14.

    False for a column of more than MOST_VALUES, which is not read.

    >>> import numpy as np
    >>> half_holds(np.array([0.5, 1.0 / 3, np.nan])), half_holds(np.array([70000.0])), half_holds(np.array([1e-6]))
    (True, False, False)
    """
    if np.size(column) > MOST_VALUES:
        return False
    values = np.abs(np.asarray(column, np.float64))
    return not bool(np.any((values > HALF_MAX) & np.isfinite(values) | (values < HALF_TINY) & (values != 0)))


def _vec4_arrays(cls: Any) -> Iterator[Hint]:
    for name, spec in cls.__members__.items():
        layout: Layout = layout_of(spec.type)
        if layout.kind != "array" or layout.count is None or layout.stride % SLOT == 0:
            continue
        inner = layout.element
        assert inner is not None
        vec4 = vec4_array(layout)
        if inner.kind not in ("scalar", "vector") or not vec4:
            continue
        count = -(-layout.count * inner.rows // 4)
        wrapper = make_struct("Element", {"value": Annotated[spec.type.__element__, size(SLOT)]})
        try:
            packed = make_struct(cls.__name__, {name: array[PLAIN_TYPES[f"vec4{inner.scalar[0]}"], count]})
            padded = make_struct(cls.__name__, {name: array[wrapper, layout.count]})
        except LayoutError:
            # The padded array is larger than the largest legal type.
            continue
        if not (legal_in_uniform(packed) and legal_in_uniform(padded)):
            continue
        large, small = layout_of(padded).size, layout_of(packed).size
        read = f", read as {name}[i / 4u][i % 4u]" if inner.kind == "scalar" else ""
        text = (
            f"in var<uniform>, {name} takes {small} bytes as {vec4}{read}; {large} with each element padded to {SLOT}"
        )
        yield Hint("uniform-vec4", (name,), text, large - small, packed)
