"""Textures, samplers, pointers, untyped buffers. WGSL §6.4 (pointers), §6.5 (textures and samplers).

With naga as the target, its ``binding_array`` and ``acceleration_structure`` too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import kinds, naga_additions, spaces
from .extensions import REQUIRES
from .kinds import Type
from .scope import Scope
from .syntax import Name
from .texels import FORMATS

_SAMPLED = [f"texture_{kind}" for kind in ("1d", "2d", "2d_array", "3d", "cube", "cube_array", "multisampled_2d")]
_STORAGE = [f"texture_storage_{kind}" for kind in ("1d", "2d", "2d_array", "3d")]
_DEPTH = [f"texture_depth_{kind}" for kind in ("2d", "2d_array", "cube", "cube_array", "multisampled_2d")]
_PLAIN = frozenset(["sampler", "sampler_comparison", "texture_external", *_DEPTH])
NAMES = frozenset([*_PLAIN, *_SAMPLED, *_STORAGE, "ptr", "buffer", *naga_additions.TYPES])
ACCESS = ("read", "write", "read_write")


def resolve(scope: Scope, name: Name) -> Type:
    """The type whose name is one of NAMES."""
    text = name.text
    if text in _STORAGE:
        return _storage(scope, name)
    if text in _SAMPLED:
        return _sampled(scope, name)
    if text == "ptr":
        return _pointer(scope, name)
    if text == "buffer":
        return _buffer(scope, name)
    if text == "binding_array":
        return _binding_array(scope, name)
    if name.arguments is not None and not (text in naga_additions.TYPES and _words(name) == ["vertex_return"]):
        raise refusal(scope, name, "no template list")
    if text == "texture_external":
        scope.warn_at("naga-external", name.offset)
    return kinds.handle(text, "pointer" if text == "ray_query" else "opaque")


def refusal(scope: Scope, name: Name, wanted: str) -> Exception:
    """The WgslError for a template list that does not fit the type."""
    given = ", ".join(_words(name)) or "no template list"
    return scope.source.error("template-arguments", name.offset, type=name.text, wanted=wanted, given=given)


def _words(name: Name) -> list[str]:
    return [argument.text if isinstance(argument, Name) else "..." for argument in name.arguments or ()]


def enumerant(scope: Scope, name: Name, index: int, wanted: Sequence[str], what: str) -> str:
    """A predeclared word in a template list, such as an access mode. Raises WgslError if a declaration hides it."""
    node: Any = (name.arguments or ())[index]
    text = node.text if isinstance(node, Name) and node.arguments is None else "..."
    if text not in wanted:
        raise scope.source.error("enumerant", node.offset, what=what, given=text, wanted=_few(wanted))
    if scope.kind_of(text):
        raise scope.source.error("enumerant-hidden", node.offset, what=what, name=text)
    return text


def _few(words: Sequence[str], most: int = 8) -> str:
    return ", ".join(words[:most]) + (", ..." if len(words) > most else "")


def _storage(scope: Scope, name: Name) -> Type:
    arguments: tuple[Any, ...] = name.arguments or ()
    if len(arguments) != 2:
        raise refusal(scope, name, "a texel format and an access mode")
    if isinstance(arguments[0], Name) and arguments[0].text == naga_additions.TEXEL_FORMAT:
        _naga_only(scope, arguments[0].offset, f"the texel format {naga_additions.TEXEL_FORMAT}", "use rg32uint")
    formats = (*FORMATS, naga_additions.TEXEL_FORMAT) if scope.target.is_naga else tuple(FORMATS)
    texel = enumerant(scope, name, 0, formats, "a texel format")
    access = arguments[1]
    if isinstance(access, Name) and access.text == "atomic":
        _naga_only(
            scope, access.offset, "the access mode atomic of storage textures", "use a storage buffer of atomics"
        )
    modes = (*ACCESS, "atomic") if scope.target.is_naga else ACCESS
    mode = enumerant(scope, name, 1, modes, "an access mode")
    return kinds.handle(f"{name.text}<{texel}, {mode}>", access=mode)


def _naga_only(scope: Scope, offset: int, name: str, remedy: str) -> None:
    if not scope.target.is_naga:
        scope.warn_at("naga-type", offset, name=name, remedy=f"{remedy}, or parse(text, target='naga')")


def _sampled(scope: Scope, name: Name) -> Type:
    arguments: tuple[Any, ...] = name.arguments or ()
    kind = scope.type_of(arguments[0]) if len(arguments) == 1 and isinstance(arguments[0], Name) else None
    if kind is None or kind.name not in ("f32", "i32", "u32"):
        raise refusal(scope, name, "one of f32, i32, u32")
    return kinds.handle(f"{name.text}<{kind.name}>")


def _pointer(scope: Scope, name: Name) -> Type:
    arguments: tuple[Any, ...] = name.arguments or ()
    if len(arguments) not in (2, 3) or not isinstance(arguments[1], Name):
        raise refusal(scope, name, "an address space and a type")
    space = enumerant(scope, name, 0, ("function", *spaces.SPACES), "an address space")
    store = scope.type_of(arguments[1])
    access = spaces.default_access(space)
    if len(arguments) == 3:
        if space != "storage":
            raise scope.source.error("access", arguments[2].offset, given=", ".join(_words(name)))
        access = enumerant(scope, name, 2, ("read", "read_write"), "an access mode")
    if store.family in ("opaque", "pointer", "abstract"):
        naga_query = scope.target.is_naga and store.name.startswith("ray_query")
        if not naga_query:
            raise scope.source.error("pointer-type", arguments[1].offset, type=store.name)
    spaces.check(scope, arguments[1].offset, name.text, space, access, store)
    shown = f"ptr<{space}, {store.name}{', ' + access if len(arguments) == 3 else ''}>"
    return kinds.handle(shown, "pointer", access=space)


def _buffer(scope: Scope, name: Name) -> Type:
    """An untyped buffer (language feature buffer_view). It needs a size except in storage."""
    scope.warn_at("naga-requires", name.offset, name="buffer_view", remedy=REQUIRES["buffer_view"].remedy)
    if name.arguments is None:
        return kinds.handle("buffer", "buffer", runtime=True)
    if len(name.arguments) != 1:
        raise refusal(scope, name, "a number of bytes, or no template list")
    count, override = scope.override_integer(name.arguments[0], "a buffer's size")
    if count is not None and count < 1:
        raise scope.source.error("buffer-size", name.arguments[0].offset, count=count)
    return kinds.handle(f"buffer<{count or 'override'}>", "buffer", count=count, override=override)


def _binding_array(scope: Scope, name: Name) -> Type:
    arguments: tuple[Any, ...] = name.arguments or ()
    if len(arguments) not in (1, 2) or not isinstance(arguments[0], Name):
        raise refusal(scope, name, "a type and a count")
    element = scope.type_of(arguments[0])
    counts = ""
    if len(arguments) == 2:
        count = scope.integer(arguments[1], "the count of a binding_array")
        if count < 1:
            raise scope.source.error("array-count", arguments[1].offset, count=count)
        counts = f", {count}"
    family = "opaque" if element.family == "opaque" else "buffer"
    return kinds.handle(f"binding_array<{element.name}{counts}>", family, access=element.access)
