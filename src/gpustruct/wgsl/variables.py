"""Variables at module scope. WGSL §7.3 (var declarations), §14.4.4 (address space layout constraints)."""

from __future__ import annotations

from ..errors import LayoutError
from . import attributes, backends, kinds, resources, spaces
from .declarations import Resolver
from .kinds import Type
from .module import Variable
from .syntax import Declaration

MOST_FAULTS = 10


def variable(resolver: Resolver, declaration: Declaration, *, standard_layout: bool) -> Variable:
    """The Variable of a ``var`` declaration. Raises WgslError if it breaks a rule of its address space."""
    source, offset = resolver.source, declaration.offset
    found = attributes.by_name(resolver, declaration.attributes, {"group": (1,), "binding": (1,)}, "a var")
    numbers = {name: attributes.number(resolver, attribute) for name, attribute in found.items()}
    words = [word.text for word in declaration.words]
    space = words[0] if words else "handle"
    if space not in spaces.SPACES and words:
        hint = {"push_constant": "; write var<immediate>", "function": "; it is for functions only"}.get(space, "")
        raise source.error("space-unknown", declaration.words[0].offset, name=space, hint=hint)
    for word in declaration.words:
        if resolver.kind_of(word.text):
            raise source.error("enumerant-hidden", word.offset, what="an address space", name=word.text)
    access = _access(resolver, declaration, words)
    kind = _type(resolver, declaration, space)
    _check_binding(resolver, declaration, space, numbers)
    if declaration.value is not None and space != "private":
        raise source.error("variable-value", declaration.value.offset, space=space)
    _check_handle(resolver, declaration, space, kind)
    spaces.check(resolver, declaration.offset, declaration.name, space, access, kind)
    access = kind.access or access
    if space == "uniform" and kind.cls is not None:
        _check_uniform(resolver, declaration, kind, standard_layout)
    group, binding = numbers.get("group"), numbers.get("binding")
    found_kind = resources.resource(space, access, kind)
    line = source.line_at(offset)
    return Variable(declaration.name, space, access, kind.cls, kind.name, group, binding, line, *found_kind)


def _access(resolver: Resolver, declaration: Declaration, words: list[str]) -> str:
    if len(words) > 2 or (len(words) == 2 and (words[0] != "storage" or words[1] not in ("read", "read_write"))):
        raise resolver.source.error("access", declaration.words[1].offset, given=", ".join(words))
    if len(words) == 2:
        return words[1]
    return spaces.default_access(words[0]) if words else "read"


def _type(resolver: Resolver, declaration: Declaration, space: str) -> Type:
    kind = resolver.type_of(declaration.type) if declaration.type is not None else None
    if declaration.value is None or space != "private":
        if kind is None:
            raise resolver.source.error("variable-type", declaration.offset, space=space)
        return kind
    value, found = resolver.overrides.evaluated(declaration.value)
    if kind is None:
        return kinds.concrete(found) if found is not None else kinds.F32
    if value is not None:
        resolver.evaluator.implicit(value, kind, declaration.value.offset)
    return kind


def _check_binding(resolver: Resolver, declaration: Declaration, space: str, numbers: dict[str, int]) -> None:
    given = ", ".join(f"@{name}({number})" for name, number in numbers.items()) or "neither"
    if space in ("uniform", "storage", "handle"):
        if len(numbers) != 2:
            raise resolver.source.error("binding-missing", declaration.offset, space=space, given=given)
    elif numbers:
        raise resolver.source.error("binding-extra", declaration.offset, space=space, given=given)


def _check_handle(resolver: Resolver, declaration: Declaration, space: str, kind: Type) -> None:
    """Check that textures and samplers have no address space, and all other types one; refuse pointers."""
    source, offset = resolver.source, declaration.offset
    if kind.family == "pointer":
        way_out = "declare what it points to, and take the pointer in a function"
        if kind.name == "ray_query":
            way_out = "declare it as a variable of a function"
        raise source.error("pointer-variable", offset, type=kind.name, way_out=way_out)
    if (space == "handle") != (kind.family == "opaque"):
        way_out = "write var without <...>" if space != "handle" else "write var<uniform>, var<storage> or another"
        raise source.error("handle", offset, given=f"{kind.name} in {space}", way_out=way_out)


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
