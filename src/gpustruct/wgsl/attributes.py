"""Attributes: where each is allowed, and their values on members, parameters and results. WGSL §12 (attributes)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import builtin_values, kinds
from .builtin_values import MOST_CLIP_DISTANCES, BuiltinValue
from .extensions import REQUIRES
from .kinds import Type
from .scope import Scope
from .syntax import Attribute, Name

# The attributes of inputs and outputs, with the numbers of arguments that each may have.
INTERFACE = {"location": (1,), "builtin": (1,), "interpolate": (1, 2), "invariant": (0,), "blend_src": (1,)}
MEMBER = {"align": (1,), "size": (1,), **INTERFACE}
# §13.3.1.3 (interpolation): the interpolation types, with the samplings that each may have.
SAMPLINGS = {
    "perspective": ("center", "centroid", "sample"),
    "linear": ("center", "centroid", "sample"),
    "flat": ("first", "either"),
}
_HINTS = {
    "stride": "; an array's stride follows from its element: wrap it in a struct with @size",
    "offset": "; use @align, or @size on the member before",
    "block": "; WGSL no longer has @block",
    "stage": "; write @vertex, @fragment or @compute",
}


@dataclass(frozen=True, slots=True)
class Interface:
    """The attributes for inputs and outputs on one member, parameter or result."""

    location: int | None = None
    builtin: str = ""
    interpolation: tuple[str, ...] = ()
    blend_source: int | None = None
    invariant: bool = False

    @property
    def is_given(self) -> bool:
        return self.location is not None or self.builtin != ""

    @property
    def text(self) -> str:
        """As WGSL text, with a blank after each attribute."""
        parts: list[str] = []
        if self.builtin:
            parts.append(f"@builtin({self.builtin})")
        if self.location is not None:
            parts.append(f"@location({self.location})")
        if self.blend_source is not None:
            parts.append(f"@blend_src({self.blend_source})")
        if self.interpolation:
            parts.append(f"@interpolate({', '.join(self.interpolation)})")
        if self.invariant:
            parts.append("@invariant")
        return "".join(f"{part} " for part in parts)


def by_name(
    scope: Scope, attributes: Sequence[Attribute], allowed: Mapping[str, tuple[int, ...]], what: str
) -> dict[str, Attribute]:
    """`attributes` by name. Raises WgslError for one that is not allowed here, repeated, or has wrong arguments."""
    found: dict[str, Attribute] = {}
    for attribute in attributes:
        name, offset = attribute.name, attribute.offset
        if name not in allowed:
            raise scope.source.error("attribute-unknown", offset, what=what, name=name, hint=_HINTS.get(name, ""))
        if name in found and name != "diagnostic":
            raise scope.source.error("attribute-repeated", offset, name=name)
        given = len(attribute.arguments)
        if given not in allowed[name] or (allowed[name] == (0,) and attribute.has_brackets):
            wanted = "no brackets" if allowed[name] == (0,) else " or ".join(map(str, allowed[name])) + " arguments"
            shown = f"{given} arguments" if given else "brackets" if attribute.has_brackets else "no arguments"
            raise scope.source.error("attribute-arguments", offset, name=name, wanted=wanted, given=shown)
        found[name] = attribute
    return found


def number(scope: Scope, attribute: Attribute) -> int:
    """The argument of @group, @binding or @location: a const-expression that must not be negative."""
    value = scope.integer(attribute.arguments[0], f"@{attribute.name}")
    if value < 0:
        raise scope.source.error("attribute-number", attribute.offset, name=attribute.name, value=value)
    return value


def word(scope: Scope, attribute: Attribute, index: int, wanted: Sequence[str]) -> str:
    """An argument that must be one of the words `wanted`. Declarations do not hide these words."""
    node = attribute.arguments[index]
    text = node.text if isinstance(node, Name) and node.arguments is None else ""
    if text not in wanted:
        shown = repr(text) if text else "an expression"
        raise scope.source.error(
            "attribute-word", node.offset, name=attribute.name, wanted=", ".join(wanted), given=shown
        )
    return text


def interface(scope: Scope, found: Mapping[str, Attribute], kind: Type) -> Interface:
    """The attributes for inputs and outputs among `found`, on something of type `kind`."""
    source = scope.source
    location = _location(scope, found, kind)
    builtin = _builtin(scope, found["builtin"], kind) if "builtin" in found else ""
    if builtin and location is not None:
        raise source.error("attribute-both", found["builtin"].offset)
    for name, needs, fits in (
        ("interpolate", "@location", location is not None),
        ("blend_src", "@location(0)", location == 0),
        ("invariant", "@builtin(position)", builtin == "position"),
    ):
        if name in found and not fits:
            raise source.error("attribute-needs", found[name].offset, name=name, needs=needs)
    return Interface(
        location, builtin, _interpolation(scope, found, kind), _blend_source(scope, found), "invariant" in found
    )


def _location(scope: Scope, found: Mapping[str, Attribute], kind: Type) -> int | None:
    if "location" not in found:
        return None
    value = number(scope, found["location"])
    if kind.family not in ("scalar", "vector") or kind.scalar == "bool":
        raise scope.source.error("location-type", found["location"].offset, type=kind.name)
    return value


def _builtin(scope: Scope, attribute: Attribute, kind: Type) -> str:
    node = attribute.arguments[0]
    name = node.text if isinstance(node, Name) and node.arguments is None else "an expression"
    uses = builtin_values.find(name, naga=scope.target.is_naga)
    if not uses:
        if builtin_values.find(name, naga=True):
            scope.warn_at("naga-extension", node.offset, backend="naga", name=f"@builtin({name})")
        raise scope.source.error("builtin-unknown", node.offset, name=name)
    enable = uses[0].enable
    if enable and enable not in scope.enabled:
        if enable == "subgroups":
            scope.warn_at("naga-subgroups", node.offset, name=name)
        raise scope.source.error("extension-missing", node.offset, name=f"@builtin({name})", extension=enable)
    if uses[0].requires:
        scope.warn_at("naga-requires", node.offset, name=uses[0].requires, remedy=REQUIRES[uses[0].requires].remedy)
    if not any(_fits(use, kind) for use in uses):
        raise scope.source.error("builtin-type", node.offset, name=name, wanted=uses[0].type, given=kind.name)
    return name


def _fits(use: BuiltinValue, kind: Type) -> bool:
    if use.name == "clip_distances":
        count = kind.count or 0
        return kind.element is kinds.F32 and 1 <= count <= MOST_CLIP_DISTANCES
    return kind.name == use.type


def _interpolation(scope: Scope, found: Mapping[str, Attribute], kind: Type) -> tuple[str, ...]:
    if "interpolate" not in found:
        return ()
    attribute = found["interpolate"]
    how = word(scope, attribute, 0, tuple(SAMPLINGS))
    if how != "flat" and kind.scalar in ("i32", "u32"):
        scope.warn_at("tint-interpolate", attribute.offset, how=how, type=kind.name)
    if len(attribute.arguments) == 1:
        node = attribute.arguments[0]
        if re.match(r"\s*,", scope.source.text[node.offset + len(how) :][:100]):
            scope.warn_at("naga-comma", attribute.offset, how=how)
        return (how,)
    return how, word(scope, attribute, 1, SAMPLINGS[how])


def _blend_source(scope: Scope, found: Mapping[str, Attribute]) -> int | None:
    if "blend_src" not in found:
        return None
    attribute = found["blend_src"]
    if "dual_source_blending" not in scope.enabled:
        raise scope.source.error(
            "extension-missing", attribute.offset, name="@blend_src", extension="dual_source_blending"
        )
    value = scope.integer(attribute.arguments[0], "@blend_src")
    if value not in (0, 1):
        raise scope.source.error("blend-source", attribute.offset, value=value)
    return value


def check_once(scope: Scope, places: Sequence[tuple[Interface, Type, Any, Any]]) -> None:
    """Raise WgslError if two inputs, or two outputs, of an entry point have the same location or builtin value."""
    seen: set[Any] = set()
    for found, _, node, _ in places:
        if not found.is_given:
            continue
        key = found.builtin or (found.location, found.blend_source)
        if key in seen:
            what = f"@builtin({found.builtin})" if found.builtin else f"@location({found.location})"
            raise scope.source.error("interface-twice", node.offset, what=what)
        seen.add(key)
