"""Hints: why an order is smaller, and other ways to make a struct smaller. Each is checked with a class that is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..batches import Batch
from ..errors import LayoutError
from ..layout import MAX_MEMBERS, SCALARS, VERTEX, Layout, Member, wgsl_scalar
from ..layout.uniform import vec4_array
from ..types import PLAIN_TYPES, array, attributed, base_of, layout_of, make_struct, size
from .orders import smallest_order

SLOT = 16
HALF_BITS = 11
HALF_MAX = 65504.0
HALF_TINY = 2.0**-14


@dataclass(frozen=True)
class Hint:
    """One hint about a struct: its stable `rule`, the `members` it is about, and its `text`.

    `type` is the class that has the change. `saved` is how many bytes a record of it is smaller than in the
    suggested order; 0 for a hint that explains that order.

    >>> from gpustruct import Struct, f32, vec3f, suggest
    >>> class Light(Struct):
    ...     range: f32
    ...     position: vec3f
    >>> print(suggest(Light).hints[0])
      vec3-room: range fills the 4 bytes after position (vec3f)
    """

    rule: str
    members: tuple[str, ...]
    text: str
    saved: int
    type: Any

    def __str__(self) -> str:
        return f"  {self.rule}: {self.text}"


def hints_of(cls: Any, made: Any, batch: Batch | None) -> tuple[Hint, ...]:
    """The hints for `cls`; `made` has its smallest order, and `batch` is a batch of it or None."""
    before, after = layout_of(cls), layout_of(made)
    if before.rules == VERTEX:
        return ()
    found = [*_after_vec3(before, after, made), *_shared_slots(before, after, made), *_nested(cls, made)]
    return (*found, *_halves(cls, made, batch), *_vec4_arrays(cls))


def reordered(cls: Any, order: Sequence[str]) -> Any:
    """A class with the members of `cls` in this order; `cls` itself if they are in it already."""
    members = _members(cls)
    return cls if [*order] == [*members] else _remade(cls, {name: members[name] for name in order})


def _remade(cls: Any, members: dict[str, Any]) -> Any:
    """A class with the name of `cls` and other members."""
    return make_struct(cls.__name__, members, cls.__module__, base=base_of(cls))


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
    for name, spec in _members(made).items():
        members[name] = spec
        if name == before:
            members[max(_members(made), key=len) + "_"] = scalar  # Longer than every other name, so new.
    return _remade(made, members)


def _members(cls: Any, change: Callable[[Any], Any] = lambda type_: type_) -> dict[str, Any]:
    """The members of `cls` with their attributes, as `make_struct` takes them; `change` maps their types."""
    return {m.name: attributed(change(cls.__members__[m.name].type), m) for m in layout_of(cls).fields}


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


def _smallest(cls: Any, uniform: bool) -> Any:
    layout = layout_of(cls)
    return reordered(cls, [layout.fields[index].name for index in smallest_order(layout, uniform=uniform).indices])


def _legal(cls: Any) -> bool:
    return not layout_of(cls).uniform_faults()


def _bytes(layout: Layout) -> int:
    """Bytes a record takes; the runtime-sized array counts as one element."""
    return layout.record_stride if layout.tail is None else layout.header + layout.stride


def _with_core(type_: Any, change: Callable[[Any], Any]) -> Any:
    """`type_` with the type inside its arrays changed."""
    layout = layout_of(type_)
    if layout.kind != "array":
        return change(type_)
    inner = _with_core(type_.__element__, change)
    return array[inner] if layout.count is None else array[inner, layout.count]


def _shrunk(type_: Any) -> Any:
    """`type_` with every struct inside it in its smallest order."""

    def smallest(core: Any) -> Any:
        if layout_of(core).kind != "struct":
            return core
        return _smallest(_remade(core, _members(core, _shrunk)), _legal(core))

    return _with_core(type_, smallest)


def _nested(cls: Any, made: Any) -> Iterator[Hint]:
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
            return _with_core(type_, lambda inner: shrunk if inner is core else inner)

        variant = _remade(cls, _members(cls, change))
        if _legal(cls) and not _legal(variant):
            continue
        variant = _smallest(variant, _legal(cls))
        saved = _bytes(layout_of(made)) - _bytes(layout_of(variant))
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


def _halves(cls: Any, made: Any, batch: Batch | None) -> Iterator[Hint]:
    names = [name for name, spec in made.__members__.items() if layout_of(spec.core).scalar == "f32"]
    if batch is None:
        names = [name for name in names if layout_of(made.__members__[name].core).kind != "matrix"]
    else:
        names = [name for name in names if half_holds(getattr(batch, name))]
    if not names:
        return
    # A uniform's arrays need a stride of 16, which f16 elements seldom have.
    for chosen in (names, [n for n in names if layout_of(made.__members__[n].type).kind != "array"]):
        members = {
            m.name: attributed(_with_core(t, _half) if m.name in chosen else t, m)
            for m in layout_of(made).fields
            for t in (made.__members__[m.name].type,)
        }
        variant = _remade(cls, members)
        if _legal(variant) or not _legal(cls):
            break
    else:
        return
    variant = _smallest(variant, _legal(cls))
    saved = _bytes(layout_of(made)) - _bytes(layout_of(variant))
    if saved <= 0:
        return
    of, held = ", ".join(chosen), f"f16 (up to {HALF_MAX:.0f}, {HALF_BITS} bits)"
    text = f"{of} fit in {held}: the values here do" if batch is not None else f"if {of} fit in {held}"
    more = "" if batch is not None else "; suggest(batch) reads the values"
    yield Hint("f16", tuple(chosen), f"{text}: {saved} bytes a record less{more}", saved, variant)


def half_holds(column: Any) -> bool:
    """Whether f16 keeps 11 bits of every value of `column`: none is too large, and none but 0 is below 2**-14.

    >>> import numpy as np
    >>> half_holds(np.array([0.5, 1.0 / 3, np.nan])), half_holds(np.array([70000.0])), half_holds(np.array([1e-6]))
    (True, False, False)
    """
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
        if not (_legal(packed) and _legal(padded)):
            continue
        large, small = layout_of(padded).size, layout_of(packed).size
        read = f", read as {name}[i / 4u][i % 4u]" if inner.kind == "scalar" else ""
        text = (
            f"in var<uniform>, {name} takes {small} bytes as {vec4}{read}; {large} with each element padded to {SLOT}"
        )
        yield Hint("uniform-vec4", (name,), text, large - small, packed)
