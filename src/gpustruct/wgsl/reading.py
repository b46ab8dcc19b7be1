"""parse: a shader's text to a Module."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import BackendWarning, WgslError
from . import functions, usage, variables
from .conditions import Defines
from .declarations import Resolver
from .directives import Directives
from .extensions import STANDARD_LAYOUT
from .module import EntryPoint, Module, Skipped, Variable
from .recovery import Starts, starts_in
from .source import BYTE_ORDER_MARK, Source, short
from .syntax import Declaration, tree
from .targets import Target
from .templates import Templates, filled, first_mark
from .tokens import PLACEHOLDER, Piece, has_semicolon, next_start, piece_from
from .values import Value

MOST_DECLARATIONS = 10_000
MOST_SKIPPED = 10_000
# Also its three bytes, each read as a character.
_BYTE_ORDER_MARKS = re.compile(f"(?:{BYTE_ORDER_MARK}|\xef\xbb\xbf)+")
_DIRECTIVES = ("enable", "requires", "diagnostic")


def read(
    text: str,
    *,
    skip: bool,
    overrides: Mapping[Any, Any] | None,
    standard_layout: bool,
    defines: Mapping[str, Any] | None,
    target: str,
) -> tuple[Module | WgslError, list[BackendWarning]]:
    """The Module of `text`, or the error that it ends in; and what to warn about, either way."""
    reader = _Reader(text, skip, overrides, standard_layout, defines, Target(target))
    try:
        return reader.module(), reader.resolver.warnings
    except WgslError as error:
        return error, reader.resolver.warnings


class _Reader:
    def __init__(
        self,
        text: str,
        skip: bool,
        overrides: Mapping[Any, Any] | None,
        standard_layout: bool,
        defines: Mapping[str, Any] | None,
        target: Target,
    ) -> None:
        self.defines = Defines(defines)
        self.is_template = skip or defines is not None
        self.source = Source(filled(text, self.defines) if defines else text)
        self.skip = skip
        self.standard_layout = standard_layout or target.is_tint
        self.skipped: list[Skipped] = []
        self.resolver = Resolver(self.source, overrides, target, is_template=skip)
        self.directives = Directives(self.resolver)

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
                    entry = found["fn"][declaration.name] = functions.entry_point(resolver, declaration)
                    found["fn"][declaration.name] = functions.with_signature(resolver, declaration, entry)
                else:
                    resolver.resolve(declaration)
            except WgslError as error:
                if isinstance(declaration, WgslError):
                    self._skip(error, "a cycle")
                else:
                    self._skip(error, f"{declaration.kind} {declaration.name}".strip())
                    # An entry point is known by its attributes, even if what it takes is not.
                    if declaration.name not in found["fn"]:
                        resolver.failed.add(declaration.name)
        resolver.overrides.check_given()
        for offset in self.source.double_minus:
            where = f"line {self.source.line_at(offset)}"
            resolver.warn(BackendWarning.of("naga-minus", where=where))
        if resolver.half is not None and not self._is_fragment(declarations):
            half = resolver.half
            self._skip(self.source.error("f16-disabled", half.offset, name=half.text), half.text)
        entry_points = usage.completed(resolver, found["var"], found["fn"], self._skip)
        return self._made(declarations, found["var"], entry_points)

    def _is_fragment(self, declarations: list[Declaration]) -> bool:
        """Whether the text is joined to others, and whoever joins them writes the directives."""
        found = {declaration.kind for declaration in declarations}
        return not found & {"var", "fn"} if self.skip else "struct" in found <= {"struct", "alias"}

    # Text to declarations.

    def _declarations(self) -> Iterator[Declaration]:
        source = self.source
        templates = self._templates()
        starts = Starts(source.text) if self.skip else None
        offset, count = next_start(source, 0), 0
        late = has_semicolon(source, 0, offset)
        while offset < len(source.text):
            count += 1
            if count > MOST_DECLARATIONS:
                raise source.error("declarations", offset, most=MOST_DECLARATIONS)
            head = offset
            if starts is None:
                piece = piece_from(source, offset)
            else:
                cut = starts.cut(offset)
                piece, head = cut.piece, cut.head
                if not cut.keyword or not cut.is_closed:
                    self._skip_starts(starts.within(cut), "it stands inside something that is skipped")
                if not cut.keyword or (not cut.is_closed and cut.keyword != "fn"):
                    self._skip(self._unreadable(piece, cut.keyword), self._first_line(offset, head))
                    offset = next_start(source, piece.end)
                    continue
            try:
                declaration = self._whole(piece, templates)
                if declaration.kind in _DIRECTIVES:
                    self._directive(declaration, late)
                else:
                    late = True
                    if declaration.name:
                        self.resolver.declare(declaration)
                    yield declaration
            except WgslError as error:
                self._skip(error, self._first_line(offset, head))
            offset = next_start(source, piece.end)
            late |= has_semicolon(source, piece.end, offset)

    def _templates(self) -> Templates | None:
        """Make the source what is to be read; list what is not."""
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
            self._list(found.start(), "a byte order mark", "it is no WGSL")
        source.text = _BYTE_ORDER_MARKS.sub(lambda found: " " * len(found[0]), source.text)
        for mark in templates.marks:
            if not mark.is_value:
                reason = "it is no WGSL" if mark.end > mark.start else "a block comment must end"
                self._list(mark.start, mark.text, reason)
        for start, end, reason in templates.dropped:
            self._skip_starts(starts_in(source.shown, start, end), reason)
        return templates

    def _skip_starts(self, starts: Iterator[int], reason: str) -> None:
        for start in starts:
            self._list(start, self._first_line(start, start), reason)

    def _first_line(self, start: int, head: int) -> str:
        """The text from `start` to the end of the line on which its keyword stands."""
        shown = self.source.shown
        head = min(head, start + 500)
        end = shown.find("\n", head, head + 100)
        return short(" ".join(shown[start : end if end >= 0 else head + 100].split()), 100)

    def _unreadable(self, piece: Piece, keyword: str) -> WgslError:
        source = self.source
        if keyword:
            return source.error("brace-open", piece.brace)
        if source.text[piece.start] == PLACEHOLDER:
            return source.error("placeholder", piece.start)
        found = short(source.shown[piece.start : piece.end].split("\n", 1)[0], 40)
        return source.error("no-declaration", piece.start, found=found)

    def _whole(self, piece: Piece, templates: Templates | None) -> Declaration:
        try:
            declaration = tree(self.source, piece)
        except WgslError as error:
            if error.rule == "operators-mixed":
                self.resolver.warn(BackendWarning.of("naga-operators", where=f"line {error.line}"))
            if templates and (reason := templates.reason(piece.start, piece.end)):
                raise self.source.error("not-whole", piece.start, reason=reason) from None
            raise
        if templates is None:
            return declaration
        # What a template does inside a function's body changes no declaration.
        reason = templates.reason(piece.start, piece.brace if declaration.kind == "fn" else piece.end)
        if reason:
            raise self.source.error("not-whole", piece.start, reason=reason)
        return declaration

    def _skip(self, error: WgslError, what: str) -> None:
        if not self.skip:
            raise error
        self.skipped.append(Skipped(error.line, short(what.strip(), 100), str(error).split("\n")[0]))
        self._check_skipped()

    def _list(self, offset: int, text: str, reason: str) -> None:
        self.skipped.append(Skipped(self.source.line_at(offset), text, reason))
        self._check_skipped()

    def _check_skipped(self) -> None:
        if len(self.skipped) > MOST_SKIPPED:
            raise self.source.error("skipped", 0, most=MOST_SKIPPED)

    def _directive(self, declaration: Declaration, late: bool) -> None:
        source, keyword = self.source, declaration.kind
        if late:
            raise source.error("directive-late", declaration.offset, keyword=keyword)
        self.directives.take(declaration)

    # Declarations to the module.

    def _variable(self, declaration: Declaration) -> Variable:
        return variables.variable(self.resolver, declaration, standard_layout=self._standard_layout())

    def _standard_layout(self) -> bool:
        return self.standard_layout or STANDARD_LAYOUT in self.directives.required

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
    """A constant as Python data: numbers, tuples, dictionaries. Parts that constants share stay shared."""
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


def warn(found: list[BackendWarning], stacklevel: int) -> None:
    """Issue each of `found`, once."""
    for warning in {str(warning): warning for warning in found}.values():
        warnings.warn(warning, stacklevel=stacklevel + 1)
