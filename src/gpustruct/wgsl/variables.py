"""Variables and entry points at module scope, and what each address space allows.

WGSL §7.3 (var), §14.3 (address spaces), §14.4.4 (layout constraints), §13 (entry points).
"""

from __future__ import annotations

import contextlib
from typing import Any

from ..errors import BackendWarning, LayoutError
from . import backends, kinds
from .declarations import Resolver
from .kinds import Type
from .module import EntryPoint, Variable
from .syntax import Declaration
from .values import Unknown

SPACES = ("uniform", "storage", "workgroup", "private", "immediate")
MOST_FAULTS = 10
_WRITABLE = ("workgroup", "private")
_STAGES = ("vertex", "fragment", "compute")
_FUNCTION_ATTRIBUTES = {
    "vertex": (0,), "fragment": (0,), "compute": (0,), "must_use": (0,), "workgroup_size": (1, 2, 3), "diagnostic": (2,),
    "subgroup_size": (1,), "early_depth_test": (0, 1),
}  # fmt: skip


def variable(resolver: Resolver, declaration: Declaration, *, standard_layout: bool) -> Variable:
    """The Variable of a ``var`` declaration; WgslError where its address space forbids it."""
    source, offset = resolver.source, declaration.offset
    found = resolver.attributes(declaration.attributes, {"group": (1,), "binding": (1,)}, "a var")
    numbers = {name: resolver.integer(attribute.arguments[0], f"@{name}") for name, attribute in found.items()}
    for name, number in numbers.items():
        if number < 0:
            raise source.error("attribute-number", found[name].offset, name=name, value=number)
    words = [word.text for word in declaration.words]
    space = words[0] if words else "handle"
    if space not in SPACES and words:
        hint = {"push_constant": "; write var<immediate>", "function": "; only functions have it"}.get(space, "")
        raise source.error("space-unknown", declaration.words[0].offset, name=space, hint=hint)
    access = _access(resolver, declaration, words)
    kind = _type(resolver, declaration, space)
    _check_binding(resolver, declaration, space, numbers)
    if declaration.value is not None and space != "private":
        raise source.error("variable-value", declaration.value.offset, space=space)
    _check_space(resolver, declaration, space, access, kind)
    if space == "uniform":
        _check_uniform(resolver, declaration, kind, standard_layout)
    group, binding = numbers.get("group"), numbers.get("binding")
    return Variable(declaration.name, space, access, kind.cls, kind.name, group, binding, source.line_at(offset))


def _access(resolver: Resolver, declaration: Declaration, words: list[str]) -> str:
    if len(words) > 2 or (len(words) == 2 and (words[0] != "storage" or words[1] not in ("read", "read_write"))):
        raise resolver.source.error("access", declaration.words[1].offset, given=", ".join(words))
    if len(words) == 2:
        return words[1]
    return "read_write" if words and words[0] in _WRITABLE else "read"


def _type(resolver: Resolver, declaration: Declaration, space: str) -> Type:
    if declaration.type is not None:
        kind = resolver.type_of(declaration.type)
        if declaration.value is not None and space == "private":
            with contextlib.suppress(Unknown):
                value = resolver.evaluator.value(declaration.value)
                resolver.evaluator.implicit(value, kind, declaration.value.offset)
        return kind
    if declaration.value is None or space != "private":
        raise resolver.source.error("variable-type", declaration.offset, space=space)
    try:
        kind = resolver.evaluator.value(declaration.value).type
    except Unknown:
        return kinds.opaque("a type that is not computed")
    return {kinds.INT.name: kinds.I32, kinds.FLOAT.name: kinds.F32}.get(kind.name, kind)


def _check_binding(resolver: Resolver, declaration: Declaration, space: str, numbers: dict[str, int]) -> None:
    given = ", ".join(f"@{name}({number})" for name, number in numbers.items()) or "neither"
    if space in ("uniform", "storage", "handle"):
        if len(numbers) != 2:
            raise resolver.source.error("binding-missing", declaration.offset, space=space, given=given)
    elif numbers:
        raise resolver.source.error("binding-extra", declaration.offset, space=space, given=given)


def _check_space(resolver: Resolver, declaration: Declaration, space: str, access: str, kind: Type) -> None:
    source, offset = resolver.source, declaration.offset
    if (space == "handle") != (kind.family == "opaque") and not (space == "private" and declaration.type is None):
        way_out = "write var without <...>" if space != "handle" else "write var<uniform>, var<storage> or another"
        raise source.error("handle", offset, given=f"{kind.name} in {space}", way_out=way_out)
    if kind.override and space != "workgroup":
        raise source.error("override-space", offset, type=kind.name, space=space)
    if kind.runtime and space != "storage":
        raise source.error("runtime-space", offset, type=kind.name, space=space)
    if kind.has_atomic and (space, access) not in (("storage", "read_write"), ("workgroup", "read_write")):
        if space == "storage":
            where = f"{declaration.name}, line {source.line_at(offset)}"
            resolver.warn(BackendWarning.of("naga-atomic-read", where=where))
        raise source.error("atomic-space", offset, type=kind.name, space=space, access=access)
    if kind.cls is None and space in ("uniform", "storage", "immediate"):
        raise source.error("host-shareable", offset, space=space, why=kind.why)


def _check_uniform(resolver: Resolver, declaration: Declaration, kind: Type, standard_layout: bool) -> None:
    layout = kind.cls.__layout__
    where = f"{declaration.name}, line {resolver.source.line_at(declaration.offset)}"
    resolver.warn(*backends.uniform_warning(layout, where, strict=not standard_layout))
    resolver.warn(*backends.matrix_warnings(layout, where))
    faults = layout.uniform_faults(standard_layout=standard_layout)
    if faults:
        more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        error = LayoutError("\n".join([*map(str, faults[:MOST_FAULTS]), *more]))
        error.rule = faults[0].rule
        raise resolver.source.at(error, declaration.offset)


def entry_point(resolver: Resolver, declaration: Declaration) -> EntryPoint | None:
    """The EntryPoint of a function, None for one that is none."""
    source = resolver.source
    found = resolver.attributes(declaration.attributes, _FUNCTION_ATTRIBUTES, "a function")
    stages = [name for name in _STAGES if name in found]
    if len(stages) > 1:
        raise source.error("attribute-repeated", found[stages[1]].offset, name=" @".join(stages))
    if "workgroup_size" in found and "compute" not in stages:
        raise source.error("attribute-unknown", found["workgroup_size"].offset, what="a function that is no @compute entry", name="workgroup_size", hint="")  # fmt: skip
    if not stages:
        return None
    sizes: Any = None
    if stages[0] == "compute":
        if "workgroup_size" not in found:
            raise source.error("attribute-missing", declaration.offset, what="@compute", wanted="@workgroup_size")
        given = [_workgroup_size(resolver, node) for node in found["workgroup_size"].arguments]
        sizes = tuple((*given, 1, 1)[:3])
    line = source.line_at(declaration.offset)
    return EntryPoint(declaration.name, stages[0], sizes, line)  # type: ignore[arg-type]


def _workgroup_size(resolver: Resolver, node: Any) -> int | None:
    try:
        number = resolver.evaluator.integer(node, "a workgroup size")
    except Unknown:
        return None
    if number < 1:
        raise resolver.source.error("attribute-number", node.offset, name="workgroup_size", value=number)
    return number
