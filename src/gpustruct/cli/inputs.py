"""The inputs of commands: shader files, folders of them, standard input, and Python schemas (module:Class)."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import CommandError

STDIN = "-"
SUFFIXES = (".wgsl", ".wesl")
_SCHEMA = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class Text(NamedTuple):
    """A shader's text, and its name in messages."""

    name: str
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that say what to read."""
    parser.add_argument(
        "inputs", nargs="+", metavar="FILE",
        help="a WGSL file, a folder to walk for .wgsl and .wesl files, - for standard input, or module:Class",
    )  # fmt: skip
    parser.add_argument("--struct", metavar="NAME", help="only this struct")
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """The arguments that say how to read a shader."""
    parser.add_argument(
        "--target", choices=("spec", "naga", "tint"), default="spec",
        help="accept what this compiler adds to WGSL, and warn about this compiler only (default: the specification, "
        "and warnings about both)",
    )  # fmt: skip
    parser.add_argument(
        "--skip", action="store_true",
        help="read the declarations without errors and leave out the others, as is always done with templates",
    )  # fmt: skip


def is_schema(argument: str) -> bool:
    """Whether `argument` is a class, ``package.module:Class``, and not a file.

    >>> is_schema("scene.types:Camera"), is_schema("scene.wgsl"), is_schema("-")
    (True, False, False)
    """
    return _SCHEMA.fullmatch(argument) is not None and not Path(argument).exists()


def read(argument: str) -> Text:
    """The text of a file, or of standard input for "-". Raises CommandError."""
    if argument == STDIN:
        if sys.stdin is None or sys.stdin.closed:
            raise CommandError.of("file", reason="closed", name="<stdin>")
        return Text("<stdin>", _decoded(sys.stdin.buffer.read(), "<stdin>"))
    try:
        data = Path(argument).read_bytes()
    except (OSError, ValueError) as error:
        raise CommandError.of("file", reason=reason_of(error), name=argument) from None
    return Text(argument, _decoded(data, argument))


def reason_of(error: OSError | ValueError) -> str:
    """Why a file cannot be opened, without the path. A ValueError means that the path is impossible."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError.of("encoding", byte=f"0x{data[error.start]:02x}", at=error.start, name=name) from None


def files(argument: str) -> list[str]:
    """The file that `argument` names, or all shaders in a folder and its subfolders, except hidden ones.

    Raises CommandError for a folder without shaders.
    """
    if argument == STDIN or not os.path.isdir(argument):
        return [argument]
    found: list[str] = []
    for folder, inner, names in os.walk(argument):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        found += (os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIXES))
    if not found:
        raise CommandError.of("folder-empty", name=argument)
    return found


def schema(argument: str) -> Any:
    """The gpustruct class that ``module:Class`` names; modules in the current folder are found too. Raises CommandError."""
    module_name, _, path = argument.partition(":")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # The user's module may raise anything while it is imported.
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise CommandError.of("schema-module", module=module_name, reason=reason) from None
    for part in path.split("."):
        if not hasattr(found, part):
            raise CommandError.of("schema-class", module=module_name, path=path)
        found = getattr(found, part)
    if not isinstance(found, type) or not hasattr(found, "__layout__"):
        current = getattr(found, "__name__", None) or type(found).__name__
        raise CommandError.of("schema-type", current=current, name=argument)
    return found
