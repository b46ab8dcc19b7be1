"""The types that predeclared names mean. WGSL §6.8 (predeclared types and type-generators)."""

from __future__ import annotations

from typing import Any

from ..errors import GpuStructError
from ..layout import FLOATS, SCALARS
from . import handles, kinds, naga_additions
from .constructors import GENERATORS
from .kinds import Type
from .scope import Scope
from .syntax import Name


def predeclared(scope: Scope, name: Name) -> Type:
    """The predeclared type `name`. Raises WgslError if there is none."""
    text, arguments = name.text, name.arguments
    if text in kinds.PLAIN and arguments is None:
        return _enabled(scope, kinds.PLAIN[text], name)
    if text in GENERATORS:
        columns, rows = GENERATORS[text]
        allowed = (*FLOATS, "f64") if columns > 1 else (*kinds.NUMERIC, "bool", *naga_additions.SCALARS_64_BIT)
        scalar = _scalar(scope, name, allowed)
        kind = kinds.vector(rows, scalar) if columns == 1 else kinds.matrix(columns, rows, scalar)
        return _enabled(scope, kind, name)
    if text == "atomic":
        scalar = _scalar(scope, name, ("i32", "u32", *naga_additions.ATOMICS))
        if scalar in naga_additions.ATOMICS:
            naga_type(scope, name.offset, f"atomic<{scalar}>")
        return kinds.atomic_of(scalar)
    if text == "array":
        return _array(scope, name)
    if text in naga_additions.TYPES:
        naga_type(scope, name.offset, text)
    if text in naga_additions.SCALARS_64_BIT and arguments is None:
        return kinds.vector(1, text)
    if text in handles.NAMES:
        return handles.resolve(scope, name)
    raise scope.source.error("unresolved", name.offset, name=text)


def naga_type(scope: Scope, offset: int, name: str) -> None:
    """Raise WgslError for a type that only naga has, unless naga is the target."""
    if scope.target.is_naga:
        return
    remedy = naga_additions.TYPES.get(name, "use u32 or i32, or parse(text, target='naga')")
    scope.warn_at("naga-type", offset, name=name, remedy=remedy)
    raise scope.source.error("extension-type", offset, name=name, remedy=remedy)


def _enabled(scope: Scope, kind: Type, name: Name) -> Type:
    if kind.scalar in SCALARS and SCALARS[kind.scalar].extension:
        scope.note_f16(name)
    return kind


def _scalar(scope: Scope, name: Name, allowed: tuple[str, ...]) -> str:
    arguments = name.arguments or ()
    kind = scope.type_of(arguments[0]) if len(arguments) == 1 and isinstance(arguments[0], Name) else None
    if kind is None or kind.family != "scalar" or kind.scalar not in allowed:
        given = "no template list" if not arguments else kind.name if kind else f"{len(arguments)} arguments"
        wanted = f"one of {', '.join(scalar for scalar in allowed if scalar not in naga_additions.SCALARS_64_BIT)}"
        raise scope.source.error("template-arguments", name.offset, type=name.text, wanted=wanted, given=given)
    return kind.scalar


def _array(scope: Scope, name: Name) -> Type:
    arguments: tuple[Any, ...] = name.arguments or ()
    if len(arguments) not in (1, 2) or not isinstance(arguments[0], Name):
        given = f"{len(arguments)} arguments"
        wanted = "an element type and a count"
        raise scope.source.error("template-arguments", name.offset, type="array", wanted=wanted, given=given)
    element = scope.type_of(arguments[0])
    if not element.is_data or element.family == "abstract":
        raise scope.source.error("not-a-type", arguments[0].offset, what=element.name)
    if element.runtime or element.override:
        raise scope.source.error("array-inner", arguments[0].offset, type=element.name)
    count, override = None, False
    if len(arguments) == 2:
        count, override = scope.override_integer(arguments[1], "an array count")
        if count is not None and count < 1:
            raise scope.source.error("array-count", arguments[1].offset, count=count)
    try:
        return kinds.array_of(element, count, override=override)
    except GpuStructError as error:
        raise scope.source.at(error, name.offset) from None
