"""``enable``, ``requires`` and ``diagnostic``, and the attribute @diagnostic. WGSL §4 (directives), §2.3 (diagnostics)."""

from __future__ import annotations

from collections.abc import Iterable

from . import extensions, naga_additions
from .parts import Diagnostic
from .scope import Scope
from .syntax import Attribute, Declaration, Name, Postfix, Token

SEVERITIES = ("error", "warning", "info", "off")


class Directives:
    """The directives of one module."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.enabled: dict[str, None] = {}
        self.required: dict[str, None] = {}
        self.diagnostics: list[Diagnostic] = []
        self._filters: dict[str, str] = {}

    def take(self, declaration: Declaration) -> None:
        """Add a directive. Raises WgslError if the specification does not have it."""
        if declaration.kind == "diagnostic":
            severity, *words = declaration.words
            rule = ".".join(word.text for word in words)
            check_filter(self.scope, severity.text, severity.offset, rule, self._filters)
            line = self.scope.source.line_at(declaration.offset)
            self.diagnostics.append(Diagnostic(severity.text, rule, line))  # type: ignore[arg-type]
            return
        for word in declaration.words:
            if declaration.kind == "enable":
                self._enable(word)
            else:
                self._require(word)

    def _enable(self, word: Token) -> None:
        scope, name = self.scope, word.text
        known = extensions.ENABLE.get(name)
        if known is None:
            backend = next(
                (
                    backend
                    for backend, starts in (("naga", naga_additions.ENABLE), ("Tint", extensions.TINT_ENABLE))
                    if name.startswith(starts)
                ),
                "",
            )
            if backend.lower() != scope.target.name:
                if backend:
                    scope.warn_at("naga-extension", word.offset, backend=backend, name=name)
                raise scope.source.error("extension-unknown", word.offset, keyword="enable", name=name)
        elif not known.naga:
            scope.warn_at("naga-enable", word.offset, name=name, remedy=known.remedy)
        self.enabled[name] = None
        scope.enabled.add(name)

    def _require(self, word: Token) -> None:
        scope, name = self.scope, word.text
        known = extensions.REQUIRES.get(name)
        if known is None:
            raise scope.source.error("extension-unknown", word.offset, keyword="requires", name=name)
        if not known.naga:
            scope.warn_at("naga-requires", word.offset, name=name, remedy=known.remedy)
        self.required[name] = None


def check_filter(scope: Scope, severity: str, offset: int, rule: str, known: dict[str, str]) -> None:
    """Refuse an unknown severity, and two severities for one rule. `known` are the severities of rules so far."""
    if severity not in SEVERITIES:
        raise scope.source.error("severity", offset, name=severity)
    before = known.setdefault(rule, severity)
    if before != severity:
        raise scope.source.error("diagnostic-conflict", offset, name=rule, before=before, after=severity)


def check_attributes(scope: Scope, attributes: Iterable[Attribute]) -> None:
    """Check the @diagnostic attributes of one declaration."""
    known: dict[str, str] = {}
    for attribute in attributes:
        if attribute.name == "diagnostic" and len(attribute.arguments) == 2:
            severity, rule = attribute.arguments
            word, name = severity.text if isinstance(severity, Name) else "...", _rule_name(scope, rule)
            if known.get(name) == word:
                raise scope.source.error("attribute-repeated", attribute.offset, name=f"diagnostic({word}, {name})")
            check_filter(scope, word, severity.offset, name, known)


def _rule_name(scope: Scope, node: object) -> str:
    if isinstance(node, Name) and node.arguments is None:
        return node.text
    if isinstance(node, Postfix) and isinstance(node.base, Name) and len(node.steps) == 1 and node.steps[0].name:
        return f"{node.base.text}.{node.steps[0].name}"
    offset = getattr(node, "offset", 0)
    raise scope.source.error(
        "attribute-arguments", offset, name="diagnostic", wanted="a severity and a rule", given="other"
    )
