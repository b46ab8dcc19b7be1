"""A hint, and the changed classes that it is measured with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..layout import Layout
from ..members import attributed
from ..types import array, base_of, layout_of, make_struct
from .orders import smallest_order


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


def reordered(cls: Any, order: Sequence[str]) -> Any:
    """A class with the members of `cls` in this order; `cls` itself if they are in it already."""
    members = members_of(cls)
    return cls if [*order] == [*members] else remade(cls, {name: members[name] for name in order})


def remade(cls: Any, members: dict[str, Any]) -> Any:
    """A class with the name of `cls` and other members."""
    return make_struct(cls.__name__, members, cls.__module__, base=base_of(cls))


def members_of(cls: Any, change: Callable[[Any], Any] = lambda type_: type_) -> dict[str, Any]:
    """The members of `cls` with their attributes, as `make_struct` takes them; `change` maps their types."""
    return {m.name: attributed(change(cls.__members__[m.name].type), m) for m in layout_of(cls).fields}


def in_smallest_order(cls: Any, uniform: bool) -> Any:
    layout = layout_of(cls)
    return reordered(cls, [layout.fields[index].name for index in smallest_order(layout, uniform=uniform).indices])


def legal_in_uniform(cls: Any) -> bool:
    return not layout_of(cls).uniform_faults()


def bytes_of(layout: Layout) -> int:
    """Bytes a record takes; the runtime-sized array counts as one element."""
    return layout.record_stride if layout.tail is None else layout.header + layout.stride


def with_core(type_: Any, change: Callable[[Any], Any]) -> Any:
    """`type_` with the type inside its arrays changed."""
    layout = layout_of(type_)
    if layout.kind != "array":
        return change(type_)
    inner = with_core(type_.__element__, change)
    return array[inner] if layout.count is None else array[inner, layout.count]


class Variant(NamedTuple):
    """A class with other types for some `members`, and how many bytes a record of it is smaller."""

    members: tuple[str, ...]
    type: Any
    saved: int


def with_cores(made: Any, cores: Mapping[str, Any], uniform: bool) -> Variant | None:
    """`made` with these types inside the arrays of its members, in its smallest order; None if that saves nothing.

    With `uniform` it is legal in ``var<uniform>``; arrays keep their types where they would prevent that.
    """
    for arrays in (True, False):
        members, chosen = members_of(made), list[str]()
        for member in layout_of(made).fields:
            type_ = made.__members__[member.name].type
            if member.name in cores and (arrays or layout_of(type_).kind != "array"):
                changed = with_core(type_, lambda _, name=member.name: cores[name])
                members[member.name] = attributed(changed, member)
                chosen.append(member.name)
        variant = remade(made, members)
        if legal_in_uniform(variant) or not uniform:
            variant = in_smallest_order(variant, uniform)
            saved = bytes_of(layout_of(made)) - bytes_of(layout_of(variant))
            return Variant(tuple(chosen), variant, saved) if saved > 0 else None
    return None
