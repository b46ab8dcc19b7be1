"""parse: a shader's text to a Module."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import BackendWarning, WgslError
from . import backends, kinds, variables
from .constants import Value
from .declarations import Resolver
from .module import EntryPoint, Module, Skipped, Variable
from .source import Source, short
from .syntax import Declaration, tree
from .templates import Templates
from .tokens import next_start, piece_from

# Where reading goes on behind a declaration whose braces do not balance.
_RESUME = re.compile(r"(?m)^(?:@[^\n{}]*\n)*(?:@[^\n{}]* )?(?:fn|struct|alias|override|const|var)\b")
_DIRECTIVES = ("enable", "requires", "diagnostic")


def read(text: str, *, skip: bool, overrides: Mapping[Any, Any], standard_layout: bool) -> tuple[Module | WgslError, list[BackendWarning]]:  # fmt: skip
    """The Module of `text`, or the error that it ends in; and what to warn about, either way."""
    reader = _Reader(text, skip, overrides, standard_layout)
    try:
        return reader.module(), reader.resolver.warnings
    except WgslError as error:
        return error, reader.resolver.warnings


class _Reader:
    def __init__(self, text: str, skip: bool, overrides: Mapping[Any, Any], standard_layout: bool) -> None:
        self.source = Source(text)
        self.skip = skip
        self.standard_layout = standard_layout
        self.enabled: list[str] = []
        self.required: list[str] = []
        self.skipped: list[Skipped] = []
        self.resolver = Resolver(self.source, overrides, set())

    def module(self) -> Module:
        declarations = list(self._declarations())
        resolver = self.resolver
        found: dict[str, dict[str, Any]] = {"var": {}, "fn": {}}
        for declaration in resolver.in_order(declarations):
            try:
                if isinstance(declaration, WgslError):
                    raise declaration
                if declaration.kind == "var":
                    found["var"][declaration.name] = self._variable(declaration)
                elif declaration.kind == "fn":
                    found["fn"][declaration.name] = variables.entry_point(resolver, declaration)
                else:
                    resolver.resolve(declaration)
            except WgslError as error:
                name = "a cycle" if isinstance(declaration, WgslError) else declaration.name
                self._skip(error, name or "const_assert")
                resolver.failed.add(name)
        resolver.unbound()
        if resolver.half is not None and any(declaration.kind in ("var", "fn") for declaration in declarations):
            half = resolver.half
            self._skip(self.source.error("f16-disabled", half.offset, name=half.text), half.text)
        return self._made(declarations, found["var"], found["fn"])

    # Text to declarations.

    def _declarations(self) -> Iterator[Declaration]:
        source, templates = self.source, Templates(self.source)
        if templates.marks and not self.skip:
            mark = templates.marks[0]
            raise source.error("preprocessor", mark.start, mark=f"`{short(mark.text, 60)}`")
        if templates.marks:
            source.text = templates.blanked(source.text)
            self.skipped += (
                Skipped(source.line_at(mark.start), mark.text, "it is no WGSL") for mark in templates.marks if not mark.is_value
            )
        offset, late = next_start(source, 0), False
        while offset < len(source.text):
            try:
                piece = piece_from(source, offset)
            except WgslError as error:
                offset = self._resumed(error, offset)
                continue
            try:
                declaration = tree(source, piece)
                self._check_whole(declaration, templates, piece.start, piece.end, piece.brace)
                if declaration.kind in _DIRECTIVES:
                    self._directive(declaration, late)
                elif declaration.kind != "empty":
                    late = True
                    if declaration.name:
                        self.resolver.declare(declaration)
                    yield declaration
            except WgslError as error:
                self._skip(error, source.text[offset : offset + 60].split("\n")[0])
            after = _RESUME.search(source.text, piece.brace, piece.end) if self.skip and piece.brace >= 0 else None
            offset = next_start(source, after.start() if after else piece.end)

    def _check_whole(self, declaration: Declaration, templates: Templates, start: int, end: int, brace: int) -> None:
        if templates.marks:
            reason = templates.reason(start, brace if declaration.kind == "fn" else end)
            if reason:
                raise self.source.error("not-whole", start, reason=reason)

    def _resumed(self, error: WgslError, offset: int) -> int:
        self._skip(error, self.source.text[offset : offset + 60].split("\n")[0])
        after = _RESUME.search(self.source.text, offset + 1)
        while after and after.start() <= offset:
            after = _RESUME.search(self.source.text, after.end())
        return after.start() if after else len(self.source.text)

    def _skip(self, error: WgslError, what: str) -> None:
        if not self.skip:
            raise error
        reason = str(error).split("\n")[0]
        self.skipped.append(Skipped(error.line, short(what.strip(), 60), reason))

    def _directive(self, declaration: Declaration, late: bool) -> None:
        source, keyword = self.source, declaration.kind
        if late:
            raise source.error("directive-late", declaration.offset, keyword=keyword)
        if keyword == "diagnostic":
            return
        for word in declaration.words:
            where = f"line {source.line_at(word.offset)}"
            allowed = backends.EXTENSIONS if keyword == "enable" else backends.FEATURES
            if word.text not in allowed:
                backend = {"wgpu": "naga", "chrom": "Tint"}.get(word.text.split("_")[0][:5].rstrip("_"))
                if backend:
                    self.resolver.warn(BackendWarning.of("naga-extension", backend=backend, name=word.text, where=where))
                raise source.error("extension-unknown", word.offset, keyword=keyword, name=word.text)
            if keyword == "enable":
                self.enabled.append(word.text)
                self.resolver.enabled.add(word.text)
                continue
            self.required.append(word.text)
            self.standard_layout |= word.text == backends.STANDARD_LAYOUT
            if word.text not in backends.NAGA_FEATURES:
                self.resolver.warn(BackendWarning.of("naga-requires", name=word.text, where=where))

    # Declarations to the module.

    def _variable(self, declaration: Declaration) -> Variable:
        return variables.variable(self.resolver, declaration, standard_layout=self.standard_layout)

    def _made(
        self, declarations: list[Declaration], found: dict[str, Variable], functions: dict[str, EntryPoint | None]
    ) -> Module:
        resolver = self.resolver
        module = Module(
            functions=tuple(d.name for d in declarations if d.kind == "fn"),
            enabled=tuple(dict.fromkeys(self.enabled)),
            required=tuple(dict.fromkeys(self.required)),
            skipped=tuple(sorted(self.skipped, key=lambda part: part.line)),
        )
        for declaration in declarations:
            kind, name = declaration.kind, declaration.name
            if name in resolver.failed or kind == "const_assert":
                continue
            if kind in ("struct", "alias"):
                type_ = resolver.types[name]
                if type_.cls is None:
                    module.unavailable[name] = type_.why
                else:
                    (module.structs if kind == "struct" else module.aliases)[name] = type_.cls
            elif kind == "const" and name in resolver.values:
                module.constants[name] = plain(resolver.values[name])
            elif kind == "const":
                module.unavailable[name] = resolver.unknown[name]
            elif kind == "override":
                module.overrides[name] = resolver.overrides[name]
            elif kind == "var":
                variable = found[name]
                (module.variables if variable.group is None else module.bindings)[name] = variable
            elif entry := functions.get(name):
                module.entry_points[name] = entry
        return module


def plain(value: Value) -> Any:
    """A constant as Python data: numbers, tuples, dictionaries."""
    type_, data = value
    if type_.family == "struct":
        return {name: plain(Value(kind, part)) for (name, kind), part in zip(type_.members, data, strict=True)}
    if type_.element is not None and type_.element.family in ("struct", "array"):
        return tuple(plain(Value(type_.element, part)) for part in data)
    return data


def warn(found: list[BackendWarning], stacklevel: int) -> None:
    """Issue each of `found`, once."""
    for warning in {str(warning): warning for warning in found}.values():
        warnings.warn(warning, stacklevel=stacklevel + 1)


__all__ = ["kinds", "plain", "read", "warn"]
