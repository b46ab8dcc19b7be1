"""The attributes of a Vertex class: format, offset and location of each, and the dict that wgpu takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from ..errors import LayoutError, closest
from ..formats import Vertex
from ..layout import Layout, Member, whole_number


class Attribute(NamedTuple):
    """One attribute of a vertex shader: an element where the member is an array."""

    member: str
    format: str
    offset: int
    location: int


STEP_MODES = ("vertex", "instance")


# What every device has (WebGPU §3.6.2).
LIMITS = {"max-vertex-attributes": 16, "max-vertex-buffer-array-stride": 2048}


def layout(
    V: Any, *, step_mode: str = "vertex", locations: Mapping[str, int] | None = None, device: Any = None
) -> dict[str, Any]:
    """The layout of a buffer of `V`, a Vertex class, as wgpu takes it among the `buffers` of a vertex state.

    `step_mode` is "vertex", or "instance" for a buffer with a record for each instance. Members take locations in
    their order, from 0 or from what ``Annotated[T, location(n)]`` says; `locations` maps members to others, and the
    members after them count up. An array takes a location for each element. Offsets and the stride are bytes. `device`
    says how large the stride and the locations may be; without one, WebGPU's defaults do: 2048 bytes, 16 locations.
    Raises LayoutError for what is no Vertex class, for a location that two attributes have, and for a stride or a
    location over the limit. WebGPU §10.3.6 (vertex state).

    >>> from gpustruct import vertex
    >>> from gpustruct.vertex import Vertex, float32x3, unorm8x4
    >>> class Point(Vertex):
    ...     position: float32x3
    ...     color: unorm8x4
    >>> vertex.layout(Point)["array_stride"], vertex.layout(Point)["attributes"][1]
    (16, {'format': 'unorm8x4', 'offset': 12, 'shader_location': 1})
    """
    if step_mode not in STEP_MODES:
        raise LayoutError.of("vertex-step-mode", current=repr(step_mode))
    found = attributes_of(V, locations, "vertex.layout")
    _check_limits(V, found, LIMITS if device is None else device.limits)
    rows = [{"format": one.format, "offset": one.offset, "shader_location": one.location} for one in found]
    return {"array_stride": V.__layout__.size, "step_mode": step_mode, "attributes": rows}


def _check_limits(V: Any, found: list[Attribute], limits: Mapping[str, int]) -> None:
    most = limits["max-vertex-buffer-array-stride"]
    if V.__layout__.size > most:
        raise LayoutError.of("vertex-stride", most=most, current=V.__layout__.size, type=V.__name__)
    most = limits["max-vertex-attributes"]
    last = max(found, key=lambda one: one.location)
    if last.location >= most:
        facts = {"most": most, "current": last.location, "where": f"{V.__name__}.{last.member}"}
        raise LayoutError.of("vertex-attributes", **facts)


def attributes_of(
    V: Any, locations: Mapping[str, int] | None = None, function: str = "vertex.layout"
) -> list[Attribute]:
    """Every attribute of a Vertex class, in the members' order."""
    if not isinstance(V, type) or not issubclass(V, Vertex) or V is Vertex:
        current = getattr(V, "__name__", repr(V))
        raise LayoutError.of("vertex-class", function=function, current=current)
    record: Layout = V.__layout__
    _check_locations(locations, V)
    found: list[Attribute] = []
    following = 0
    for member in record.fields:
        following = _first(member, following, locations, V.__name__)
        for attribute in _elements(member, following):
            found.append(attribute)
            following = attribute.location + 1
    taken: dict[int, Attribute] = {}
    for attribute in found:
        other = taken.setdefault(attribute.location, attribute)
        if other is not attribute:
            facts = {"first": other.member, "second": attribute.member, "free": max(taken) + 1}
            raise LayoutError.of("vertex-location-twice", location=attribute.location, type=V.__name__, **facts)
    return found


def _check_locations(locations: Any, V: Any) -> None:
    if locations is None:
        return
    first = next(iter(V.__members__))
    if not isinstance(locations, Mapping):
        facts = {"current": repr(locations), "way_out": f"pass {{{first!r}: 0}}"}
        raise LayoutError.of("vertex-locations", type=V.__name__, **facts)
    for name in cast("Mapping[Any, Any]", locations):
        if name not in V.__members__:
            way_out = closest(str(name), V.__members__)
            raise LayoutError.of("vertex-locations", current=f"no member {name!r}", type=V.__name__, way_out=way_out)


def _first(member: Member, following: int, locations: Mapping[str, int] | None, name: str) -> int:
    """The location where a member's attributes start."""
    if locations is not None and member.name in locations:
        value = locations[member.name]
        number = whole_number(value)
        if number is None:
            raise LayoutError.of("location-value", value=repr(value), where=f"vertex.layout({name}, locations=...)")
        return number
    return following if member.explicit_location is None else member.explicit_location


def _elements(member: Member, first: int) -> Iterator[Attribute]:
    offsets = [member.offset]
    inner = member.layout
    while inner.element is not None:
        offsets = [at + k * inner.stride for at in offsets for k in range(inner.count or 0)]
        inner = inner.element
    for k, offset in enumerate(offsets):
        yield Attribute(member.name, inner.name.replace("_", "-"), offset, first + k)
