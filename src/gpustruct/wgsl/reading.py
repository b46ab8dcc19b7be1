"""A shader's text to a Module: the work of parse."""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import BackendWarning, WgslError
from . import functions, usage, variables
from .conditions import Defines
from .declarations import Resolver
from .directives import Directives
from .extensions import STANDARD_LAYOUT
from .module import EntryPoint, Module, Skipped, Variable
from .recovery import DeclarationStarts, starts_in
from .source import BYTE_ORDER_MARK, Source, short
from .syntax import Declaration, tree
from .targets import Target
from .templates import Templates, filled, first_mark
from .tokens import PLACEHOLDER, Span, declaration_span, next_start
from .values import Value

PACKAGE = str(Path(__file__).parent.parent) + os.sep
MOST_DECLARATIONS = 10_000
MOST_SKIPPED = 10_000
# The second form is its three bytes, decoded as Latin-1.
_BYTE_ORDER_MARKS = re.compile(f"(?:{BYTE_ORDER_MARK}|\xef\xbb\xbf)+")
_DIRECTIVES = ("enable", "requires", "diagnostic")


class Reader:
    """Reads one text. The parameters are those of `parse`."""

    def __init__(
        self,
        text: str,
        *,
        skip: bool,
        overrides: Mapping[Any, Any] | None,
        standard_layout: bool,
        defines: Mapping[str, Any] | None,
        target: str,
    ) -> None:
        self.defines = Defines(defines)
        self.is_template = skip or defines is not None
        self.source = Source(filled(text, self.defines) if defines else text)
        self.skip = skip
        self.standard_layout = standard_layout or target == "tint"
        self.skipped: list[Skipped] = []
        self.resolver = Resolver(self.source, overrides, Target(target), is_template=skip)
        self.directives = Directives(self.resolver)

    def warn(self) -> None:
        """Issue each warning about the text once, also after an error, for the nearest calling line outside gpustruct."""
        level, frame = 1, inspect.currentframe()
        while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
            level, frame = level + 1, frame.f_back
        for warning in {str(warning): warning for warning in self.resolver.warnings}.values():
            warnings.warn(warning, stacklevel=level)

    def module(self) -> Module:
        """The Module. Raises WgslError."""
        declarations = list(self._declarations())
        resolver = self.resolver
        found: dict[str, dict[str, Any]] = {"var": {}, "fn": {}}
        for declaration in resolver.in_order(declarations):
            try:
                if isinstance(declaration, WgslError):
                    raise declaration
                if declaration.kind == "var":
                    relaxed = self.standard_layout or STANDARD_LAYOUT in self.directives.required
                    found["var"][declaration.name] = variables.variable(resolver, declaration, standard_layout=relaxed)
                elif declaration.kind == "fn":
                    entry = found["fn"][declaration.name] = functions.entry_point(resolver, declaration)
                    found["fn"][declaration.name] = functions.with_signature(resolver, declaration, entry)
                else:
                    resolver.resolve(declaration)
            except WgslError as error:
                if isinstance(declaration, WgslError):
                    self._skip(error, "a cycle")
                else:
                    self._skip(error, f"{declaration.kind} {declaration.name}".strip())
                    # The attributes of a function are enough to list it as an entry point.
                    if declaration.name not in found["fn"]:
                        resolver.failed.add(declaration.name)
        resolver.overrides.check_given()
        for offset in self.source.double_minus:
            resolver.warn_at("naga-minus", offset)
        used = resolver.first_f16
        if used is not None and not self._is_fragment(declarations):
            self._skip(self.source.error("f16-disabled", used.offset, name=used.text), used.text)
        entry_points = usage.completed(resolver, found["var"], found["fn"], self._skip)
        return self._made(declarations, found["var"], entry_points)

    def _is_fragment(self, declarations: list[Declaration]) -> bool:
        """Whether the text is meant to be part of another, which has the directives."""
        found = {declaration.kind for declaration in declarations}
        return not found & {"var", "fn"} if self.skip else "struct" in found <= {"struct", "alias"}

    # Text to declarations.

    def _declarations(self) -> Iterator[Declaration]:
        source = self.source
        templates = self._templates()
        starts = DeclarationStarts(source.text) if self.skip else None
        count = 0
        # `late`: something else than a directive came before, even if only a semicolon.
        offset, late = next_start(source, 0)
        while offset < len(source.text):
            count += 1
            if count > MOST_DECLARATIONS:
                raise source.error("declarations", offset, most=MOST_DECLARATIONS)
            head = offset
            if starts is None:
                span = declaration_span(source, offset)
            else:
                candidate = starts.candidate(offset)
                span, head, keyword = candidate.span, candidate.head, candidate.keyword
                if not keyword or not candidate.is_closed:
                    self._skip_starts(starts.within(candidate), "it is inside something that is skipped")
                if not keyword or (not candidate.is_closed and keyword != "fn"):
                    self._skip(self._unreadable(span, keyword), self._first_line(offset, head))
                    offset, _ = next_start(source, span.end)
                    continue
            try:
                declaration = self._whole(span, templates)
                if declaration.kind in _DIRECTIVES:
                    if late:
                        raise source.error("directive-late", declaration.offset, keyword=declaration.kind)
                    self.directives.take(declaration)
                else:
                    late = True
                    if declaration.name:
                        self.resolver.declare(declaration)
                    yield declaration
            except WgslError as error:
                self._skip(error, self._first_line(offset, head))
            offset, has_semicolon = next_start(source, span.end)
            late |= has_semicolon

    def _templates(self) -> Templates | None:
        """Replace template syntax in the source with blanks, and list it as skipped."""
        source = self.source
        if not self.is_template:
            if source.text.startswith(BYTE_ORDER_MARK):
                raise source.error("byte-order-mark", 0)
            if mark := first_mark(source):
                raise source.error("preprocessor", mark.start, mark=f"`{short(mark.text, 60)}`")
            return None
        templates = Templates(source, self.defines)
        source.text = templates.text
        for found in _BYTE_ORDER_MARKS.finditer(source.text):
            self._list(source.line_at(found.start()), "a byte order mark", "it is not WGSL")
        source.text = _BYTE_ORDER_MARKS.sub(lambda found: " " * len(found[0]), source.text)
        for mark in templates.marks:
            if not mark.is_value:
                reason = "it is not WGSL" if mark.end > mark.start else "a block comment must end"
                self._list(source.line_at(mark.start), mark.text, reason)
        for start, end, reason in templates.dropped:
            self._skip_starts(starts_in(source.shown, start, end), reason)
        return templates

    def _skip_starts(self, starts: Iterator[int], reason: str) -> None:
        for start in starts:
            self._list(self.source.line_at(start), self._first_line(start, start), reason)

    def _first_line(self, start: int, head: int) -> str:
        """The text from `start` to the end of the line with its keyword."""
        shown = self.source.shown
        head = min(head, start + 500)
        end = shown.find("\n", head, head + 100)
        return short(" ".join(shown[start : end if end >= 0 else head + 100].split()), 100)

    def _unreadable(self, span: Span, keyword: str) -> WgslError:
        source = self.source
        if keyword:
            return source.error("brace-open", span.brace)
        if source.text[span.start] == PLACEHOLDER:
            return source.error("placeholder", span.start)
        found = short(source.shown[span.start : span.end].split("\n", 1)[0], 40)
        return source.error("no-declaration", span.start, found=found)

    def _whole(self, span: Span, templates: Templates | None) -> Declaration:
        try:
            declaration = tree(self.source, span)
        except WgslError as error:
            if error.rule == "operators-mixed":
                self.resolver.warn(BackendWarning.of("naga-operators", where=f"line {error.line}"))
            if templates and (reason := templates.reason(span.start, span.end)):
                raise self.source.error("not-whole", span.start, reason=reason) from None
            raise
        if templates is None:
            return declaration
        # Template syntax in a function's body does not change the declaration.
        reason = templates.reason(span.start, span.brace if declaration.kind == "fn" else span.end)
        if reason:
            raise self.source.error("not-whole", span.start, reason=reason)
        return declaration

    def _skip(self, error: WgslError, what: str) -> None:
        if not self.skip:
            raise error
        self._list(error.line, short(what.strip(), 100), str(error).split("\n")[0])

    def _list(self, line: int, text: str, reason: str) -> None:
        self.skipped.append(Skipped(line, text, reason))
        if len(self.skipped) > MOST_SKIPPED:
            raise self.source.error("skipped", 0, most=MOST_SKIPPED)

    # Declarations to the module.

    def _made(
        self, declarations: list[Declaration], found: dict[str, Variable], entry_points: dict[str, EntryPoint]
    ) -> Module:
        resolver = self.resolver
        module = Module(
            functions=tuple(d.name for d in declarations if d.kind == "fn"),
            enabled=tuple(self.directives.enabled),
            required=tuple(self.directives.required),
            skipped=tuple(sorted(self.skipped, key=lambda part: part.line)),
            diagnostics=tuple(self.directives.diagnostics),
            lines={d.name: self.source.line_at(d.offset) for d in declarations if d.name},
        )
        known: dict[tuple[int, int], Any] = {}
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
                module.constants[name] = _plain(resolver.values[name], known)
            elif kind == "override":
                module.overrides[name] = resolver.overrides.known[name]
            elif kind == "var":
                variable = found[name]
                (module.variables if variable.group is None else module.bindings)[name] = variable
            elif entry := entry_points.get(name):
                module.entry_points[name] = entry
        return module


def _plain(value: Value, known: dict[tuple[int, int], Any]) -> Any:
    """A constant as Python data: numbers, tuples, dictionaries. Constants that share a part still share it."""
    type_, data = value
    key = (id(type_), id(data))
    if key not in known:
        parts: Any = data
        if type_.family == "struct":
            parts = {
                name: _plain(Value(kind, part), known) for (name, kind), part in zip(type_.members, data, strict=True)
            }
        elif type_.element is not None and type_.element.family in ("struct", "array"):
            parts = tuple(_plain(Value(type_.element, part), known) for part in data)
        known[key] = parts
    return known[key]
