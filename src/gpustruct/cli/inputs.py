"""What a command reads: shader files, folders of them, standard input, and Python schemas by module:Class."""

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
    """A shader's text, and the name it goes by in messages."""

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
        help="take what this compiler adds, and warn of it alone (default: the specification, and both)",
    )  # fmt: skip
    parser.add_argument(
        "--skip", action="store_true",
        help="take the declarations that are right and leave out the others; templates are always read so",
    )  # fmt: skip


def is_schema(argument: str) -> bool:
    """Whether `argument` names a class, ``package.module:Class``, and no file.

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
        reason = getattr(error, "strerror", None) or str(error)
        raise CommandError.of("file", reason=reason.lower(), name=argument) from None
    return Text(argument, _decoded(data, argument))


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError.of("encoding", byte=f"0x{data[error.start]:02x}", at=error.start, name=name) from None


def files(argument: str) -> list[str]:
    """The file that `argument` names; of a folder all shaders at any depth, folders with a dot left out.

    Raises CommandError for a folder without any.
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
    """The gpustruct class that ``module:Class`` names, looked for from the current folder. Raises CommandError."""
    module_name, _, path = argument.partition(":")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # Whatever the user's module raises while it is imported.
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
