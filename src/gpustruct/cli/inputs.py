"""What a command reads: shader files, folders of them, standard input, and Python schemas by module:Class."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import CommandError

STDIN = "-"
SUFFIX = ".wgsl"
_SCHEMA = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class Text(NamedTuple):
    """A shader's text, and the name it goes by in messages."""

    name: str
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that say what to read."""
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="a WGSL file, - for standard input, or module:Class")
    parser.add_argument("--struct", metavar="NAME", help="only this struct")
    parser.add_argument(
        "--skip", action="store_true", help="take the declarations that stand on their own: for templates"
    )


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


def shader_files(arguments: Iterable[str]) -> Iterator[str]:
    """Every file that `arguments` name; of a folder all .wgsl files at any depth, folders with a dot left out."""
    for argument in arguments:
        if argument == STDIN or not os.path.isdir(argument):
            yield argument
            continue
        found = False
        for folder, inner, files in os.walk(argument):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in sorted(files):
                if name.endswith(SUFFIX):
                    found = True
                    yield os.path.join(folder, name)
        if not found:
            raise CommandError.of("folder-empty", name=argument)


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
