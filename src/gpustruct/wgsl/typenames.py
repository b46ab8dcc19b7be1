"""What the predeclared type names mean. WGSL §6.8 (predeclared types and type-generators)."""

from __future__ import annotations

from typing import Any

from ..errors import BackendWarning, GpuStructError
from ..layout import FLOATS, SCALARS
from . import kinds
from .constructors import GENERATORS
from .kinds import Type
from .syntax import Name
from .values import Unknown


def predeclared(scope: Any, name: Name) -> Type:
    """The type that `name` means where the module declares no such name."""
    text, arguments = name.text, name.arguments
    if text in kinds.PLAIN and arguments is None:
        return _enabled(scope, kinds.PLAIN[text], name)
    if text in GENERATORS:
        columns, rows = GENERATORS[text]
        allowed = FLOATS if columns > 1 else (*kinds.NUMERIC, "bool")
        scalar = _scalar(scope, name, allowed)
        kind = kinds.vector(rows, scalar) if columns == 1 else kinds.matrix(columns, rows, scalar)
        return _enabled(scope, kind, name)
    if text == "atomic":
        return kinds.atomic_of(_scalar(scope, name, ("i32", "u32")))
    if text == "array":
        return _array(scope, name)
    if text == "ptr" or text in kinds.HANDLES:
        return _opaque(scope, name)
    if text in kinds.NAGA_ONLY:
        where = f"line {scope.source.line_at(name.offset)}"
        scope.warn(BackendWarning.of("naga-type", name=text, where=where))
        raise scope.source.error("extension-type", name.offset, name=text)
    raise scope.source.error("unresolved", name.offset, name=text)


def _enabled(scope: Any, kind: Type, name: Name) -> Type:
    if kind.scalar in SCALARS and SCALARS[kind.scalar].extension:
        scope.use_half(name)
    return kind


def _scalar(scope: Any, name: Name, allowed: tuple[str, ...]) -> str:
    arguments = name.arguments or ()
    kind = scope.type_of(arguments[0]) if len(arguments) == 1 and isinstance(arguments[0], Name) else None
    if kind is None or kind.family != "scalar" or kind.scalar not in allowed:
        given = "no template list" if not arguments else kind.name if kind else f"{len(arguments)} arguments"
        wanted = f"one of {', '.join(allowed)}"
        raise scope.source.error("template-arguments", name.offset, type=name.text, wanted=wanted, given=given)
    return kind.scalar


def _opaque(scope: Any, name: Name) -> Type:
    text = name.text
    words = [argument.text if isinstance(argument, Name) else "..." for argument in name.arguments or ()]
    wanted = "no template list"
    fits = not words
    if text.startswith("texture_storage_"):
        wanted, fits = (
            "a texel format and an access mode",
            len(words) == 2 and words[1] in ("read", "write", "read_write"),
        )
    elif text.startswith("texture_") and not text.startswith(("texture_depth_", "texture_external")):
        wanted, fits = "one of f32, i32, u32", len(words) == 1
        fits = fits and _scalar(scope, name, ("f32", "i32", "u32")) != ""
    elif text == "ptr":
        wanted, fits = "an address space and a type", len(words) in (2, 3)
    if not fits:
        given = ", ".join(words) or "no template list"
        raise scope.source.error("template-arguments", name.offset, type=text, wanted=wanted, given=given)
    return kinds.opaque(f"{text}<{', '.join(words)}>" if words else text)


def _array(scope: Any, name: Name) -> Type:
    arguments: tuple[Any, ...] = name.arguments or ()
    if len(arguments) not in (1, 2) or not isinstance(arguments[0], Name):
        given = f"{len(arguments)} arguments"
        wanted = "an element type and a count"
        raise scope.source.error("template-arguments", name.offset, type="array", wanted=wanted, given=given)
    element = scope.type_of(arguments[0])
    if element.family in ("opaque", "abstract"):
        raise scope.source.error("not-a-type", arguments[0].offset, what=element.name)
    if element.runtime or element.override:
        raise scope.source.error("array-inner", arguments[0].offset, type=element.name)
    count, override = None, False
    if len(arguments) == 2:
        count, override = _count(scope, arguments[1])
    try:
        return kinds.array_of(element, count, override=override)
    except GpuStructError as error:
        raise scope.source.at(error, name.offset) from None


def _count(scope: Any, node: Any) -> tuple[int | None, bool]:
    with scope.watching_overrides() as used:
        try:
            count = scope.evaluator.integer(node, "an array count")
        except Unknown as error:
            if not used:
                raise scope.source.error("constant-unknown", node.offset, reason=str(error)) from None
            count = None
    if count is not None and count < 1:
        raise scope.source.error("array-count", node.offset, count=count)
    return count, bool(used)
