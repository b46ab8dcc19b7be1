"""Declarations to types and values: each name resolved once, in the order of their dependencies.

WGSL §5 (declaration and scope), §7 (variable and value declarations), §6.2.10 (structures).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from .. import names
from ..errors import BackendWarning, GpuStructError, WgslError
from ..types import align, make_struct, size
from . import backends, kinds, operators, typenames
from .constants import Evaluator
from .kinds import Type
from .module import Override
from .source import Source
from .syntax import Attribute, Declaration, Member, Name
from .values import Unknown, Value

MOST_MEMBERS = 100_000
# What a struct member may carry, with the numbers of arguments (WGSL §12).
MEMBER_ATTRIBUTES = {
    "align": (1,), "size": (1,), "location": (1,), "builtin": (1,), "interpolate": (1, 2), "invariant": (0,), "blend_src": (1,)
}  # fmt: skip


class Resolver:
    """The scope of one module: what its names mean, once `resolve` has met their declarations."""

    def __init__(self, source: Source, overrides: Mapping[Any, Any], enabled: set[str]) -> None:
        self.source = source
        self.enabled = enabled
        self.evaluator = Evaluator(self)
        self.declared: dict[str, Declaration] = {}
        self.types: dict[str, Type] = {}
        self.values: dict[str, Value] = {}
        self.unknown: dict[str, str] = {}
        self.overrides: dict[str, Override] = {}
        self._override_types: dict[str, Type] = {}
        self._probing = False
        self.failed: set[str] = set()
        self.warnings: list[BackendWarning] = []
        self.half: Any = None
        self._bound = dict(overrides)
        self._used_overrides: list[str] = []
        self._unfolded: dict[str, int] = {}

    # The names of the module.

    def declare(self, declaration: Declaration) -> None:
        """Take the name of `declaration`; WgslError if it is taken or none."""
        name, offset = declaration.name, declaration.offset
        if not names.is_legal(name):
            raise self.source.error("name", offset, name=name)
        if name in self.declared:
            first = self.source.line_at(self.declared[name].offset)
            raise self.source.error("name-twice", offset, name=name, first=first)
        self.declared[name] = declaration

    def warn(self, *warnings: BackendWarning) -> None:
        self.warnings.extend(warnings)

    def use_half(self, node: Any) -> None:
        """Note that `node` needs ``enable f16;``. Whoever joins fragments writes the directives, so only a
        text with variables or functions is refused for the lack of it (see `reading`)."""
        if self.half is None and "f16" not in self.enabled:
            self.half = node

    def kind_of(self, name: str) -> str:
        declaration = self.declared.get(name)
        return declaration.kind if declaration else ""

    def value_of(self, name: str, offset: int) -> Value:
        if name in self.failed:
            raise self.source.error("needs-skipped", offset, name=name)
        if name in self.overrides:
            self._used_overrides.append(name)
        if name in self.unknown and self._probing and name in self._override_types:
            kind = self._override_types[name]
            return Value(kind, operators.fit(kind.scalar, 1))
        if name in self.unknown:
            raise Unknown(self.unknown[name])
        return self.values[name]

    def type_of(self, name: Name) -> Type:
        kind = self.kind_of(name.text)
        if not kind:
            return typenames.predeclared(self, name)
        if name.text in self.failed:
            raise self.source.error("needs-skipped", name.offset, name=name.text)
        if kind not in ("alias", "struct"):
            raise self.source.error("not-a-type", name.offset, what=f"{kind} {name.text}")
        if name.arguments is not None:
            raise self.source.error(
                "template-arguments", name.offset, type=name.text, wanted="no template list", given="one"
            )
        return self.types[name.text]

    @contextmanager
    def watching_overrides(self) -> Generator[list[str]]:
        """The names of the overrides that expressions use inside the block."""
        before, self._used_overrides = self._used_overrides, []
        used = self._used_overrides
        try:
            yield used
        finally:
            self._used_overrides = before
            before.extend(used)

    def constant(self, node: Any, decides: str) -> Value:
        """The value of a const-expression, which no override may reach; Unknown where it is not computed."""
        unknown: Unknown | None = None
        value: Value | None = None
        with self.watching_overrides() as used:
            try:
                value = self.evaluator.value(node)
            except Unknown as error:
                unknown = error
        if used:
            raise self.source.error("override-constant", node.offset, what=decides)
        if value is None:
            raise unknown or Unknown()
        return value

    def integer(self, node: Any, what: str) -> int:
        """The value of a const-expression that must be an integer."""
        reason = ""
        with self.watching_overrides() as used:
            try:
                number = self.evaluator.integer(node, what)
            except Unknown as error:
                number, reason = None, str(error)
        if used:
            raise self.source.error("override-constant", node.offset, what=what)
        if number is None:
            raise self.source.error("constant-unknown", node.offset, reason=reason)
        return number

    # Declarations, each after the ones that it names.

    def in_order(self, declarations: list[Declaration]) -> Iterator[Declaration | WgslError]:
        """`declarations`, dependencies first; a WgslError in the place of one that depends on itself."""
        state: dict[int, int] = {}
        for root in declarations:
            path = [(root, self._needs(root))] if id(root) not in state else []
            state.setdefault(id(root), 1)
            while path:
                declaration, needs = path[-1]
                needed = next((self.declared[name] for name in needs if state.get(id(self.declared[name])) != 2), None)
                if needed is None:
                    path.pop()
                    if state[id(declaration)] == 1:
                        state[id(declaration)] = 2
                        yield declaration
                elif state.get(id(needed)) == 1:
                    cycle = [step.name or step.kind for step, _ in path]
                    cycle = [*cycle[cycle.index(needed.name) :], needed.name]
                    shown = cycle if len(cycle) < 8 else [*cycle[:4], "...", *cycle[-2:]]
                    for step, _ in path:
                        if step.name in cycle:
                            self.failed.add(step.name)
                    yield self.source.error("cycle", declaration.offset, path=" -> ".join(shown))
                    for step, _ in path:
                        state[id(step)] = 2 if step.name in cycle else state[id(step)]
                else:
                    state[id(needed)] = 1
                    path.append((needed, self._needs(needed)))

    def _needs(self, declaration: Declaration) -> Iterator[str]:
        stack: list[Any] = [declaration]
        while stack:
            node = stack.pop()
            if isinstance(node, Name) and node.text in self.declared:
                yield node.text
            for part in node:
                if isinstance(part, tuple):
                    stack.append(part)

    def resolve(self, declaration: Declaration) -> None:
        """Give the name of `declaration` its type or value; WgslError if it breaks a rule."""
        if declaration.kind == "const":
            self._constant(declaration)
        elif declaration.kind == "override":
            self._override(declaration)
        elif declaration.kind == "const_assert":
            self._assertion(declaration)
        elif declaration.kind == "alias":
            assert declaration.type is not None
            self.types[declaration.name] = self.type_of(declaration.type)
        elif declaration.kind == "struct":
            self._struct(declaration)

    def _constant(self, declaration: Declaration) -> None:
        wanted = self.type_of(declaration.type) if declaration.type else None
        try:
            value = self.constant(declaration.value, f"the constant {declaration.name}")
        except Unknown as error:
            self.unknown[declaration.name] = str(error)
            return
        if wanted is not None:
            value = self.evaluator.implicit(value, wanted, declaration.value.offset)
        self.values[declaration.name] = value

    def _assertion(self, declaration: Declaration) -> None:
        try:
            value = self.constant(declaration.value, "a const_assert")
        except Unknown:
            return
        if value.type is not kinds.BOOL or not value.data:
            shown = str(value.data) if value.type.family in ("scalar", "abstract") else value.type.name
            raise self.source.error("assertion", declaration.offset, value=shown.lower())

    def _override(self, declaration: Declaration) -> None:
        attributes = self.attributes(declaration.attributes, {"id": (1,)}, "an override")
        number = self.integer(attributes["id"].arguments[0], "@id") if "id" in attributes else None
        if number is not None and not 0 <= number < 65536:
            raise self.source.error("override-id", attributes["id"].offset, id=number)
        twin = next(
            (other.name for other in self.overrides.values() if number is not None and other.id == number), None
        )
        if twin is not None:
            raise self.source.error("override-id-twice", attributes["id"].offset, id=number, other=twin)
        default: Value | None = None
        reason = f"override {declaration.name} has no value"
        if declaration.value is not None:
            try:
                default = self.evaluator.value(declaration.value)
            except Unknown as error:
                reason = str(error)
        kind = self._override_types[declaration.name] = self._override_type(declaration, default)
        if default is not None and declaration.value is not None:
            default = self.evaluator.implicit(default, kind, declaration.value.offset)
        for key in (declaration.name, number, None if number is None else str(number)):
            if key is not None and key in self._bound:
                default = self._bound_value(self._bound.pop(key), kind)
        line = self.source.line_at(declaration.offset)
        data = default.data if default else None
        self.overrides[declaration.name] = Override(declaration.name, number, kind.name, data, line)
        if default is None:
            self.unknown[declaration.name] = reason
        else:
            self.values[declaration.name] = default

    def _override_type(self, declaration: Declaration, default: Value | None) -> Type:
        kind = default.type if default else kinds.F32 if declaration.value is not None else None
        if declaration.type is not None:
            kind = self.type_of(declaration.type)
        elif default is None and declaration.value is not None:
            # A type does not depend on values: with any value for the overrides that have none, it comes out.
            self._probing = True
            try:
                kind = self.evaluator.value(declaration.value).type
            except (WgslError, Unknown):
                pass
            finally:
                self._probing = False
        kind = {kinds.INT: kinds.I32, kinds.FLOAT: kinds.F32}.get(kind, kind) if kind else None
        if kind is None or kind.family != "scalar":
            raise self.source.error("not-a-type", declaration.offset, what=kind.name if kind else "none")
        return kind

    def _bound_value(self, value: Any, kind: Type) -> Value:
        number = value.item() if hasattr(value, "item") and not isinstance(value, bool) else value
        try:
            if not isinstance(number, int | float) or (kind.scalar in operators.INTEGERS and number != int(number)):
                raise operators.Fault
            return Value(kind, operators.fit(kind.scalar, number))
        except (operators.Fault, ValueError, OverflowError):
            raise WgslError.of("override-value", type=kind.name, value=value) from None

    def unbound(self) -> None:
        """Refuse what `overrides` named and no declaration took."""
        for key in self._bound:
            known = ", ".join(self.overrides) or "none"
            raise WgslError.of("override-unknown", name=key, known=known)

    # Structs.

    def attributes(
        self, attributes: tuple[Attribute, ...], allowed: Mapping[str, tuple[int, ...]], what: str
    ) -> dict[str, Attribute]:
        """`attributes` by name; WgslError for one that is unknown here, repeated, or has the wrong arguments."""
        found: dict[str, Attribute] = {}
        for attribute in attributes:
            name, offset = attribute.name, attribute.offset
            if name not in allowed:
                hint = OLD_ATTRIBUTES.get(name, "")
                raise self.source.error("attribute-unknown", offset, what=what, name=name, hint=hint)
            if name in found and name != "diagnostic":
                raise self.source.error("attribute-repeated", offset, name=name)
            given = len(attribute.arguments)
            if given not in allowed[name] or (allowed[name] == (0,) and attribute.has_brackets):
                wanted = " or ".join(map(str, allowed[name])) + " arguments"
                raise self.source.error("attribute-arguments", offset, name=name, wanted=wanted, given=given)
            found[name] = attribute
        return found

    def _struct(self, declaration: Declaration) -> None:
        name = declaration.name
        members: dict[str, Type] = {}
        annotations: dict[str, Any] = {}
        for member in declaration.members:
            if not names.is_legal(member.name):
                raise self.source.error("name", member.offset, name=member.name)
            if member.name in members:
                first = self.source.line_at(next(m for m in declaration.members if m.name == member.name).offset)
                raise self.source.error("name-twice", member.offset, name=member.name, first=first)
            kind = members[member.name] = self.type_of(member.type)
            if kind.family == "opaque":
                raise self.source.error("member-opaque", member.type.offset, type=kind.name)
            if kind.override:
                raise self.source.error("override-space", member.type.offset, type=kind.name, space="a struct")
            annotations[member.name] = self._marked(member, kind)
        self._count_members(declaration, members)
        cls = None
        if all(kind.cls is not None for kind in members.values()):
            try:
                cls = make_struct(name, annotations, __name__.rpartition(".")[0])
            except GpuStructError as error:
                raise self.source.at(error, _faulty(declaration, error)) from None
            where = f"struct {name}, line {self.source.line_at(declaration.offset)}"
            self.warn(*backends.naga_warnings(cls.__layout__, where))
        elif any(kind.runtime for kind in list(members.values())[:-1]) or any(
            kind.runtime and kind.family == "struct" for kind in members.values()
        ):
            raise self.source.error("runtime-space", declaration.offset, type=name, space="the middle of a struct")
        try:
            self.types[name] = kinds.struct_of(name, tuple(members.items()), cls)
        except GpuStructError as error:
            raise self.source.at(error, declaration.offset) from None

    def _marked(self, member: Member, kind: Type) -> Any:
        annotation = kind.cls
        found = self.attributes(member.attributes, MEMBER_ATTRIBUTES, "a struct member")
        for name, mark in (("align", align), ("size", size)):
            if name in found:
                value = self.integer(found[name].arguments[0], f"@{name}")
                if name == "size" and kind.runtime:
                    where = f"line {self.source.line_at(member.offset)}"
                    self.warn(BackendWarning.of("naga-size-runtime", where=where))
                if annotation is not None:
                    annotation = Annotated[annotation, mark(value)]
        return annotation

    def _count_members(self, declaration: Declaration, members: Mapping[str, Type]) -> None:
        count = len(members)
        for kind in members.values():
            while kind.element is not None:
                kind = kind.element
            count += self._unfolded.get(kind.name, 0) if kind.family == "struct" else 0
        if count > MOST_MEMBERS:
            raise self.source.error("struct-unfolded", declaration.offset, most=MOST_MEMBERS, count=count)
        self._unfolded[declaration.name] = count


OLD_ATTRIBUTES = {
    "stride": "; an array's stride follows from its element: wrap it in a struct with @size",
    "offset": "; a member's place follows from @size of the one before and its own @align",
    "block": "; WGSL has no @block any more",
    "stage": "; write @vertex, @fragment or @compute",
}


def _faulty(declaration: Declaration, error: GpuStructError) -> int:
    """The member that the message of `error` names, else the struct."""
    text = str(error)
    return next(
        (m.offset for m in declaration.members if f" - at {declaration.name}.{m.name};" in text), declaration.offset
    )
