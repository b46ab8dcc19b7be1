"""gpustruct check: faults in shaders, one a line, for CI and pre-commit."""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import CommandError, WgslError
from ..layout import Layout
from . import inputs

if TYPE_CHECKING:
    from ..wgsl import Module

WASTE = 25.0
# What parse says of uniform layouts in its own words; here each fault of them is a finding.
_SAID_BY_FAULTS = ("uniform-strict", "uniform-relaxed")
_PLACE = re.compile(r"\bline (\d+)(?:, column (\d+))?")


@dataclass(frozen=True, order=True)
class Finding:
    """One fault: where it is, counted from 1, its stable rule, and what to do."""

    path: str
    line: int
    column: int
    severity: Literal["error", "warning"]
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.rule}: {self.message}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct check``."""
    parser.add_argument(
        "paths", nargs="*", default=["."], metavar="PATH",
        help="a WGSL file, a folder to walk for .wgsl files, or - for standard input; the current folder if left out",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "github", "json"), default="text", help="how to print findings")
    parser.add_argument(
        "--waste", type=_percent, default=WASTE, metavar="PERCENT",
        help="report a struct with more padding than this where another order is smaller (default: %(default).0f)",
    )  # fmt: skip
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="RULE", help="a rule not to report; repeatable"
    )
    parser.add_argument(
        "--standard-layout", action="store_true",
        help="targets have uniform_buffer_standard_layout: no 16-byte rules in uniform",
    )  # fmt: skip
    parser.add_argument(
        "--skip", action="store_true", help="take the declarations that stand on their own: for templates"
    )
    parser.epilog = (
        "Findings are printed as path:line:column: rule: message. Exit codes: 0 none, 1 some, 2 an input cannot be read.\n\n"
        "examples:\n"
        "  gpustruct check shaders\n"
        "  gpustruct check --format github --waste 40 .\n"
        "  gpustruct check --ignore waste --ignore naga-align - < shader.wgsl"
    )


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(str(CommandError.of("percent", value=text)))
    return value


def main(args: argparse.Namespace) -> int:
    """Run ``gpustruct check``: 0 without findings, 1 with some, 2 where an input cannot be read."""
    findings: list[Finding] = []
    files, unreadable = 0, 0
    for path in _each_once(args.paths):
        files += 1
        try:
            name, text = inputs.read(path)
        except CommandError as error:
            print(f"gpustruct: {error}", file=sys.stderr)
            unreadable += 1
            continue
        found = check_text(text, name, waste=args.waste, standard_layout=args.standard_layout, skip=args.skip)
        findings.extend(finding for finding in found if finding.rule not in args.ignore)
    _write(findings, args.format)
    if args.format == "text" and findings:
        places = len({finding.path for finding in findings})
        print(f"{_count(len(findings), 'finding')} in {places} of {_count(files, 'file')}", file=sys.stderr)
    return 2 if unreadable else 1 if findings else 0


def _each_once(paths: list[str]) -> Iterator[str]:
    return iter(dict.fromkeys(inputs.shader_files(paths)))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _write(findings: list[Finding], form: str) -> None:
    if form == "json":
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
        return
    for finding in findings:
        if form == "github":
            place = f"file={_escaped(finding.path)},line={finding.line},col={finding.column}"
            message = finding.message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
            print(_printable(f"::{finding.severity} {place},title={_escaped(finding.rule)}::{message}"))
        else:
            print(_printable(str(finding)))


def _escaped(text: str) -> str:
    for character, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
        text = text.replace(character, code)
    return text


def _printable(text: str) -> str:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def check_text(
    text: str, path: str, *, waste: float = WASTE, standard_layout: bool = False, skip: bool = False
) -> list[Finding]:
    """Every finding in one shader, in the order of its lines.

    >>> text = "struct A { n: f32, v: vec3f, w: vec3f, m: f32 }\\n@group(0) @binding(0) var<uniform> a: A;"
    >>> print(*check_text(text, "a.wgsl"))
    a.wgsl:1:8: waste: A has 16 of 48 bytes of padding (33 %), 16 bytes less in the order v, n, w, m
    """
    # As if uniform had no rules of its own: they are looked at here, all of them and not the first only.
    module, findings = _parsed(text, path, skip=skip)
    if isinstance(module, WgslError):
        message = str(module).splitlines()[0]
        findings.append(Finding(path, module.line or 1, module.column or 1, "error", module.rule, message))
        module, _ = _parsed(text, path, skip=True)
    if not isinstance(module, WgslError):
        lines = text.splitlines()
        relaxed = standard_layout or "uniform_buffer_standard_layout" in module.required
        findings += _uniform_findings(module, path, lines, relaxed)
        findings += _waste_findings(module, path, lines, waste)
    return sorted(set(findings))


def _parsed(text: str, path: str, *, skip: bool) -> tuple[Module | WgslError, list[Finding]]:
    from .. import wgsl

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            module: Module | WgslError = wgsl.parse(text, skip=skip, standard_layout=True)
        except WgslError as error:
            module = error
    findings: list[Finding] = []
    for warning in caught:
        told = warning.message
        if not isinstance(told, wgsl.BackendWarning) or told.rule in _SAID_BY_FAULTS:
            continue
        place = _PLACE.search(str(told).rpartition(" - at ")[2])
        line, column = (int(place[1]), int(place[2] or 1)) if place else (1, 1)
        findings.append(Finding(path, line, column, "warning", told.rule, str(told)))
    return module, findings


def _uniform_findings(module: Module, path: str, lines: list[str], standard_layout: bool) -> Iterator[Finding]:
    for variable in module.bindings.values():
        if variable.space != "uniform" or variable.type is None:
            continue
        column = _column(lines, variable.line, variable.name)
        for fault in variable.type.__layout__.uniform_faults(standard_layout=standard_layout):
            message = f"{variable.name}: {fault}"
            yield Finding(path, variable.line, column, "error", fault.rule, message)


def _waste_findings(module: Module, path: str, lines: list[str], most: float) -> Iterator[Finding]:
    from ..report import suggest

    bound = {
        name
        for variable in module.bindings.values()
        if variable.type is not None
        for name in _structs(variable.type.__layout__)
    }
    for name, cls in module.structs.items():
        layout: Layout = cls.__layout__
        # What only passes between stages is nobody's memory; a text without bindings is a part of others.
        if module.bindings and name not in bound:
            continue
        size, unused = (
            (layout.header, layout.header - _used(layout)) if layout.tail else (layout.size, layout.size - layout.used)
        )
        if not unused or 100 * unused <= most * size:
            continue
        found = suggest(cls)
        if found:
            line, column = _declaration(lines, name)
            message = (
                f"{name} has {unused} of {size} bytes of padding ({100 * unused / size:.0f} %), "
                f"{found.saved()} bytes less in the order {', '.join(found.order)}"
            )
            yield Finding(path, line, column, "warning", "waste", message)


def _used(layout: Layout) -> int:
    return sum(member.layout.used for member in layout.fields[:-1])


def _structs(layout: Layout) -> Iterator[str]:
    core = layout.core
    if core.kind == "struct":
        yield core.name
        for member in core.fields:
            yield from _structs(member.layout)


def _declaration(lines: list[str], name: str) -> tuple[int, int]:
    pattern = re.compile(rf"\bstruct\s+({re.escape(name)})(?!\w)")
    for number, line in enumerate(lines, 1):
        if found := pattern.search(line):
            return number, found.start(1) + 1
    return 1, 1


def _column(lines: list[str], line: int, name: str) -> int:
    text: Any = lines[line - 1] if 0 < line <= len(lines) else ""
    found = re.search(rf"(?<!\w){re.escape(name)}(?=\s*:)", text)
    return found.start() + 1 if found else 1
