"""Declarations to types and values: each name resolved once, in the order of their dependencies.

WGSL §5 (declaration and scope), §7 (variable and value declarations), §6.2.10 (structures).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import names
from ..errors import BackendWarning, WgslError
from ..layout import SCALARS
from . import kinds, typenames
from .constants import Evaluator
from .kinds import Type
from .operators import Literal
from .overrides import Overrides
from .source import Source
from .structs import Structs
from .syntax import Attribute, Chain, Declaration, Group, Name, Postfix
from .targets import Target
from .values import Value

# Attributes whose arguments are words of their own, which name no declaration.
_OWN_WORDS = ("builtin", "interpolate", "diagnostic", "early_depth_test")


class Resolver:
    """The scope of one module: what its names mean, once `resolve` has met their declarations."""

    def __init__(
        self, source: Source, overrides: Mapping[Any, Any] | None, target: Target, *, is_template: bool
    ) -> None:
        self.source = source
        self.target = target
        self.is_template = is_template
        self.enabled: set[str] = set()
        self.evaluator = Evaluator(self)
        self.overrides = Overrides(self, overrides)
        self.structs = Structs(self)
        self.declared: dict[str, Declaration] = {}
        self.types: dict[str, Type] = {}
        self.values: dict[str, Value] = {}
        self.failed: set[str] = set()
        self.warnings: list[BackendWarning] = []
        self.half: Any = None

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

    @property
    def override_uses(self) -> int:
        """How often an expression has used an override so far."""
        return self.overrides.uses

    def warn(self, *warnings: BackendWarning) -> None:
        """Keep the warnings that say something about the target."""
        self.warnings.extend(warning for warning in warnings if self.target.wants(warning.rule))

    def use_half(self, node: Any) -> None:
        """Note that `node` needs ``enable f16;``."""
        if self.half is None and "f16" not in self.enabled:
            self.half = node

    def warn_at(self, rule: str, offset: int, **facts: Any) -> None:
        """Keep the warning of `rule` about what stands at `offset`."""
        self.warn(BackendWarning.of(rule, where=f"line {self.source.line_at(offset)}", **facts))

    def check_literal(self, node: Any, found: Literal) -> None:
        """Judge the suffix of a number: f16's needs its extension, those of 64 bits are naga's."""
        scalar = found.scalar
        if scalar == "f16":
            self.use_half(node)
        elif scalar in kinds.WIDE:
            typenames.naga_type(self, node.offset, scalar)
        if found.is_beyond:
            self.warn_at("tint-overflow", node.offset, type=scalar, largest=SCALARS[scalar].high)
        if not found.is_exact or (scalar == "f16" and node.text[:2] in ("0x", "0X")):
            self.warn_at("naga-literal", node.offset, text=node.text)

    def kind_of(self, name: str) -> str:
        declaration = self.declared.get(name)
        return declaration.kind if declaration else ""

    def value_of(self, name: str, offset: int) -> Value:
        if name in self.failed:
            raise self.source.error("needs-skipped", offset, name=name)
        if self.kind_of(name) == "override":
            return self.overrides.value_of(name)
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

    def constant(self, node: Any, decides: str) -> Value:
        """The value of a const-expression, which no override may reach."""
        before = self.overrides.uses
        value, _ = self.overrides.evaluated(node)
        if value is None or self.overrides.uses > before:
            raise self.source.error("override-constant", node.offset, what=decides)
        return value

    def integer(self, node: Any, what: str) -> int:
        """The value of a const-expression that must be an integer."""
        return self.evaluator.integer_of(self.constant(node, what), node.offset, what)

    def override_integer(self, node: Any, what: str) -> tuple[int | None, bool]:
        """An integer that overrides may decide, and whether they do."""
        return self.overrides.integer(node, what)

    # Declarations, each after the ones that it names.

    def in_order(self, declarations: list[Declaration]) -> Iterator[Declaration | WgslError]:
        """`declarations`, dependencies first; a WgslError in the place of one that depends on itself."""
        state: dict[int, int] = {}
        for root in declarations:
            path = [(root, self.needs(root))] if id(root) not in state else []
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
                    path.append((needed, self.needs(needed)))

    def needs(self, declaration: Declaration) -> Iterator[str]:
        """The declared names that a declaration uses, the body of a function left out."""
        stack: list[Any] = [declaration]
        while stack:
            node = stack.pop()
            if isinstance(node, Name) and node.text in self.declared:
                yield node.text
            if isinstance(node, Attribute) and node.name in _OWN_WORDS:
                continue
            for part in node:
                if isinstance(part, tuple):
                    stack.append(part)

    def resolve(self, declaration: Declaration) -> None:
        """Give the name of `declaration` its type or value; WgslError if it breaks a rule."""
        if declaration.kind == "const":
            self._constant(declaration)
        elif declaration.kind == "override":
            self.overrides.declare(declaration)
        elif declaration.kind == "const_assert":
            self._assertion(declaration)
        elif declaration.kind == "alias":
            assert declaration.type is not None
            self.types[declaration.name] = self.type_of(declaration.type)
        elif declaration.kind == "struct":
            self.types[declaration.name] = self.structs.resolve(declaration)

    def _constant(self, declaration: Declaration) -> None:
        wanted = self.type_of(declaration.type) if declaration.type else None
        value = self.constant(declaration.value, f"the constant {declaration.name}")
        if wanted is not None:
            value = self.evaluator.implicit(value, wanted, declaration.value.offset)
        self.values[declaration.name] = value

    def _assertion(self, declaration: Declaration) -> None:
        value = self.constant(declaration.value, "a const_assert")
        if _starts_with_group(declaration.value):
            self.warn_at("naga-assert", declaration.offset)
        if value.type is not kinds.BOOL or not value.data:
            shown = str(value.data) if value.type.family in ("scalar", "abstract") else value.type.name
            raise self.source.error("assertion", declaration.offset, value=shown.lower())


def _starts_with_group(node: Any) -> bool:
    """Whether an expression begins with parentheses, and goes on after them."""
    first = node
    while isinstance(first, Chain | Postfix):
        first = first.operands[0] if isinstance(first, Chain) else first.base
    return first is not node and isinstance(first, Group)
