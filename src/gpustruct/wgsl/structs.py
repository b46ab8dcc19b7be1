"""Make classes from struct declarations. WGSL §6.2.10 (structure types)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from .. import names
from ..errors import GpuStructError
from ..members import align, size
from ..types import make_struct
from . import attributes, backends, kinds, stage_attributes
from .attributes import Interface
from .kinds import Type
from .scope import Scope
from .syntax import Attribute, Declaration, Member

MOST_MEMBERS = 100_000
_MOST_ALIGN = 2**30


class Structs:
    """The structs of one module, with the attributes of their members."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.interfaces: dict[str, dict[str, Interface]] = {}
        # The @align and @size of members, by "Struct.member" and the attribute's name.
        self.explicit: dict[tuple[str, str], int] = {}
        # How many members each struct has, including those of nested structs.
        self._counts: dict[str, int] = {}

    def resolve(self, declaration: Declaration) -> Type:
        """The type of a struct declaration. Raises WgslError if it breaks a rule."""
        name, source = declaration.name, self.scope.source
        members: dict[str, Type] = {}
        annotations: dict[str, Any] = {}
        interfaces: dict[str, Interface] = {}
        for member in declaration.members:
            check_name(self.scope, member, declaration.members, members)
            kind = members[member.name] = self.scope.type_of(member.type)
            if not kind.is_data:
                raise source.error("member-opaque", member.type.offset, type=kind.name)
            if kind.override:
                raise source.error("override-space", member.type.offset, type=kind.name, space="a struct")
            found = attributes.by_name(self.scope, member.attributes, attributes.MEMBER, "a struct member")
            annotations[member.name] = self._annotated(name, member, kind, found)
            interfaces[member.name] = attributes.interface(self.scope, found, kind)
        self._count_members(declaration, members)
        self._check_locations(declaration, interfaces)
        self._check_blending(declaration, members, interfaces)
        cls = None
        if all(kind.cls is not None for kind in members.values()):
            try:
                cls = make_struct(name, annotations, __name__.rpartition(".")[0])
            except GpuStructError as error:
                raise source.at(error, _faulty(declaration, error)) from None
            where = f"struct {name}, line {source.line_at(declaration.offset)}"
            self.scope.warn(*backends.naga_warnings(cls.__layout__, where))
        elif any(kind.runtime for kind in list(members.values())[:-1]) or any(
            kind.runtime and kind.family == "struct" for kind in members.values()
        ):
            raise source.error("runtime-space", declaration.offset, type=name, space="the middle of a struct")
        self.interfaces[name] = interfaces
        if cls is not None:
            texts = {member: found.text for member, found in interfaces.items() if found.text}
            stage_attributes.keep(cls, texts)
        try:
            return kinds.struct_of(name, tuple(members.items()), cls)
        except GpuStructError as error:
            raise source.at(error, declaration.offset) from None

    def _annotated(self, struct: str, member: Member, kind: Type, found: Mapping[str, Attribute]) -> Any:
        annotation = kind.cls
        for name, mark in (("align", align), ("size", size)):
            if name not in found:
                continue
            value = self.scope.integer(found[name].arguments[0], f"@{name}")
            self.explicit[f"{struct}.{member.name}", name] = value
            if name == "size" and kind.runtime:
                self.scope.warn_at("naga-size-runtime", member.offset)
            if annotation is not None:
                annotation = Annotated[annotation, mark(value)]
            else:
                self._check_number(name, value, kind, found[name].arguments[0].offset)
        return annotation

    def _check_number(self, name: str, value: int, kind: Type, offset: int) -> None:
        """Check @align or @size of a member whose type is not host-shareable: no class checks those."""
        least = 4 if kind.scalar == "bool" and kind.rows == 1 else 1
        power = value > 0 and value & (value - 1) == 0 and value <= _MOST_ALIGN
        if (name == "align" and not power) or value < least or (name == "align" and value % least):
            wanted = f"a power of two, {least} or more" if name == "align" else f"{least} or more"
            raise self.scope.source.error("attribute-value", offset, name=name, wanted=wanted, value=value)

    def _check_locations(self, declaration: Declaration, interfaces: Mapping[str, Interface]) -> None:
        seen: set[tuple[int, int | None]] = set()
        for member in declaration.members:
            found = interfaces[member.name]
            place = (found.location or 0, found.blend_source)
            if found.location is not None and place in seen:
                raise self.scope.source.error(
                    "location-twice", member.offset, what=f"@location({found.location})", name=declaration.name
                )
            seen |= {place} if found.location is not None else set()

    def _check_blending(
        self, declaration: Declaration, members: Mapping[str, Type], interfaces: Mapping[str, Interface]
    ) -> None:
        located = [name for name, found in interfaces.items() if found.location is not None]
        sources = sorted(found.blend_source for found in interfaces.values() if found.blend_source is not None)
        one_type = len({members[name].name for name in located}) == 1
        if sources and (sources != [0, 1] or len(located) != 2 or not one_type):
            raise self.scope.source.error("blend-pair", declaration.offset, name=declaration.name)

    def _count_members(self, declaration: Declaration, members: Mapping[str, Type]) -> None:
        count = len(members)
        for kind in members.values():
            while kind.element is not None:
                kind = kind.element
            count += self._counts.get(kind.name, 0) if kind.family == "struct" else 0
        if count > MOST_MEMBERS:
            raise self.scope.source.error("struct-unfolded", declaration.offset, most=MOST_MEMBERS, count=count)
        self._counts[declaration.name] = count


def check_name(scope: Scope, member: Member, members: tuple[Member, ...], seen: Mapping[str, Any]) -> None:
    """Raise WgslError if the name of a member or parameter is not legal, or another of `members` has it."""
    if not names.is_legal(member.name):
        raise scope.source.error("name", member.offset, name=member.name)
    if member.name in seen:
        first = scope.source.line_at(next(m for m in members if m.name == member.name).offset)
        raise scope.source.error("name-twice", member.offset, name=member.name, first=first)


def _faulty(declaration: Declaration, error: GpuStructError) -> int:
    """The offset of the member that the message of `error` names, else of the struct."""
    text = str(error)
    return next(
        (m.offset for m in declaration.members if f" - at {declaration.name}.{m.name};" in text), declaration.offset
    )
