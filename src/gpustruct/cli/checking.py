"""gpustruct check: print the layout faults in shaders, one on each line, for CI and pre-commit."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from dataclasses import asdict

from ..errors import CommandError
from . import inputs, shaders
from .findings import WASTE, Finding, check_shader
from .printing import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct check``."""
    parser.add_argument(
        "paths", nargs="*", default=["."], metavar="PATH",
        help="a WGSL file, a folder to search for .wgsl and .wesl files, or - for standard input (default: the current folder)",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "github", "json"), default="text", help="how to print findings")
    parser.add_argument(
        "--waste", type=_percent, default=WASTE, metavar="PERCENT",
        help="report a struct that has more padding than this and is smaller in another order (default: %(default).0f)",
    )  # fmt: skip
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="RULE", help="a rule not to report; repeatable"
    )
    parser.add_argument(
        "--standard-layout", action="store_true",
        help="for devices that have uniform_buffer_standard_layout: do not check the 16-byte rules of uniform",
    )  # fmt: skip
    inputs.add_reading(parser)
    parser.epilog = (
        "Findings are printed as path:line:column: rule: message. In templates and incomplete texts, the declarations\n"
        "that need nothing else are checked; a line on standard error says how many such texts there are, and\n"
        "--ignore preprocessor leaves it out. Exit codes: 0 no findings, 1 some, 2 an input cannot be read.\n\n"
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
    """Run ``gpustruct check``: 0 without findings, 1 with some, 2 if an input cannot be read."""
    findings: list[Finding] = []
    relaxed = args.standard_layout or args.target == "tint"
    texts, unreadable = _texts(args.paths)
    incomplete: dict[str, list[str]] = {}
    for folder, inside in texts.items():
        elsewhere = functools.cache(functools.partial(shaders.declared_in, inside))
        for name, text in inside.items():
            shader = shaders.read(text, name, skip=args.skip, target=args.target, elsewhere=elsewhere)
            if shader.mark:
                incomplete.setdefault(folder, []).append(f"{name}:{shader.mark}")
            found = check_shader(shader, text, name, most=args.waste, standard_layout=relaxed)
            findings.extend(finding for finding in found if finding.rule not in args.ignore)
    _write(findings, args.format)
    if "preprocessor" not in args.ignore:
        for folder, marks in incomplete.items():
            print(printable(_about_incomplete(folder, marks)), file=sys.stderr)
    if args.format == "text" and findings:
        places = len({finding.path for finding in findings})
        files = sum(map(len, texts.values())) + unreadable
        print(f"{_count(len(findings), 'finding')} in {places} of {_count(files, 'file')}", file=sys.stderr)
    return 2 if unreadable else 1 if findings else 0


def _texts(paths: list[str]) -> tuple[dict[str, dict[str, str]], int]:
    """The texts of all files, by folder argument ("" for a file argument) and by name; how many could not be read.

    For each file that cannot be read, the reason is printed on standard error.
    """
    texts: dict[str, dict[str, str]] = {}
    seen: set[str] = set()
    unreadable = 0
    for argument in paths:
        for path in inputs.files(argument):
            if path in seen:
                continue
            seen.add(path)
            try:
                name, text = inputs.read(path)
            except CommandError as error:
                print(f"gpustruct: {error}", file=sys.stderr)
                unreadable += 1
            else:
                texts.setdefault("" if path == argument else argument, {})[name] = text
    return texts, unreadable


def _about_incomplete(folder: str, marks: list[str]) -> str:
    count = _count(len(marks), "text")
    verb = "is a template or incomplete" if len(marks) == 1 else "are templates or incomplete"
    checked = "only declarations that need nothing else were checked"
    return f"{count}{folder and f' in {folder}'} {verb}: {checked}; the first is {marks[0]}"


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
            print(printable(f"::{finding.severity} {place},title={_escaped(finding.rule)}::{message}"))
        else:
            print(printable(str(finding)))


def _escaped(text: str) -> str:
    for character, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
        text = text.replace(character, code)
    return text
