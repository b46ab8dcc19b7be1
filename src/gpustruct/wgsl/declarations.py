"""Resolve the declarations of a module to types and values, each after those that it depends on.

WGSL §5 (declaration and scope), §7 (variable and value declarations), §6.2.10 (structures).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import names
from ..errors import BackendWarning, WgslError
from ..layout import SCALARS
from . import kinds, naga_additions, typenames
from .constants import Evaluator
from .kinds import Type
from .operators import Literal
from .overrides import Overrides
from .source import Source
from .structs import Structs
from .syntax import Attribute, Chain, Declaration, Name, Parenthesized, Postfix
from .targets import Target
from .values import Value

# The arguments of these attributes are not names of declarations.
_CONTEXT_WORDS = ("builtin", "interpolate", "diagnostic", "early_depth_test")


class Resolver:
    """The scope of one module: the meanings of its names, as far as `resolve` has handled their declarations."""

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
        # The first use of f16, if the text does not enable it.
        self.first_f16: Any = None

    # The names of the module.

    def declare(self, declaration: Declaration) -> None:
        """Add the name of `declaration`. Raises WgslError if it is in use, or not a legal name."""
        name, offset = declaration.name, declaration.offset
        if not names.is_legal(name):
            raise self.source.error("name", offset, name=name)
        if name in self.declared:
            first = self.source.line_at(self.declared[name].offset)
            raise self.source.error("name-twice", offset, name=name, first=first)
        self.declared[name] = declaration

    @property
    def override_uses(self) -> int:
        """How often expressions have used an override so far."""
        return self.overrides.uses

    def warn(self, *warnings: BackendWarning) -> None:
        """Add those of `warnings` that matter for the target."""
        self.warnings.extend(warning for warning in warnings if self.target.wants(warning.rule))

    def note_f16(self, node: Any) -> None:
        """Note that `node` needs ``enable f16;``."""
        if self.first_f16 is None and "f16" not in self.enabled:
            self.first_f16 = node

    def warn_at(self, rule: str, offset: int, **facts: Any) -> None:
        """Add the warning of `rule` about a place in the text, or about `name` declared there."""
        self.warn(BackendWarning.of(rule, where=f"line {self.source.line_at(offset)}", **facts))

    def check_literal(self, node: Any, found: Literal) -> None:
        """Check the suffix of a number: f16 needs its extension, and only naga has 64-bit numbers."""
        scalar = found.scalar
        if scalar == "f16":
            self.note_f16(node)
        elif scalar in naga_additions.SCALARS_64_BIT:
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
        """The value of a const-expression. Raises WgslError if it depends on an override."""
        before = self.overrides.uses
        value, _ = self.overrides.evaluated(node)
        if value is None or self.overrides.uses > before:
            raise self.source.error("override-constant", node.offset, what=decides)
        return value

    def integer(self, node: Any, what: str) -> int:
        """The value of a const-expression that must be an integer."""
        return self.evaluator.integer_of(self.constant(node, what), node.offset, what)

    def override_integer(self, node: Any, what: str) -> tuple[int | None, bool]:
        """The value of an integer expression that may depend on overrides, and whether it does."""
        return self.overrides.integer(node, what)

    # The order of declarations.

    def in_order(self, declarations: list[Declaration]) -> Iterator[Declaration | WgslError]:
        """`declarations`, each after those it depends on; a WgslError in place of one that depends on itself."""
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
                    self.failed.update(step.name for step, _ in path if step.name in cycle)
                    yield self.cycle_error(declaration, cycle)
                    for step, _ in path:
                        state[id(step)] = 2 if step.name in cycle else state[id(step)]
                else:
                    state[id(needed)] = 1
                    path.append((needed, self.needs(needed)))

    def cycle_error(self, declaration: Declaration, names: list[str]) -> WgslError:
        """The WgslError of a declaration that depends on itself through `names`."""
        shown = names if len(names) < 8 else [*names[:4], "...", *names[-2:]]
        return self.source.error("cycle", declaration.offset, path=" -> ".join(shown))

    def needs(self, declaration: Declaration) -> Iterator[str]:
        """The declared names that a declaration uses, except those in the body of a function."""
        stack: list[Any] = [declaration]
        while stack:
            node = stack.pop()
            if isinstance(node, Name) and node.text in self.declared:
                yield node.text
            if isinstance(node, Attribute) and node.name in _CONTEXT_WORDS:
                continue
            for part in node:
                if isinstance(part, tuple):
                    stack.append(part)

    def resolve(self, declaration: Declaration) -> None:
        """Find the type or value of `declaration` and store it. Raises WgslError if it breaks a rule."""
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
    """Whether an expression begins with parentheses and continues after them."""
    first = node
    while isinstance(first, Chain | Postfix):
        first = first.operands[0] if isinstance(first, Chain) else first.base
    return first is not node and isinstance(first, Parenthesized)
