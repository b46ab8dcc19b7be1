"""gpustruct stubs: the structs of a shader as Python classes, for editors and type checkers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import CommandError
from . import inputs, shaders
from .printing import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct stubs``."""
    parser.add_argument("input", metavar="FILE", help="a WGSL file, or - for standard input")
    parser.add_argument("-o", "--output", metavar="FILE", help="the Python file to write (standard output)")
    inputs.add_reading(parser)
    parser.epilog = (
        "The result is a Python module with a class for each struct. wgsl.check finds them equal to the shader's.\n\n"
        "example:\n"
        "  gpustruct stubs scene.wgsl --output scene_structs.py"
    )


def main(args: argparse.Namespace) -> int:
    """Run ``gpustruct stubs``: 0, 1 if the text is not legal WGSL, 2 if a file cannot be read or written."""
    from .. import wgsl

    name, text = inputs.read(args.input)
    shader = shaders.read(text, name, skip=args.skip, target=args.target)
    if shader.error is not None:
        print(shaders.error_line(name, shader.error), file=sys.stderr)
        return 1
    assert shader.module is not None
    if not shader.module.structs:
        raise CommandError.of("nothing", verb="write", where=name)
    for skipped in shader.module.skipped:
        print(f"{name}:{skipped.line}: skipped: {skipped.text}", file=sys.stderr)
    shown = " ".join(name.split()).encode("utf-8", "backslashreplace").decode()
    written = f"# The structs of {shown}, written by `gpustruct stubs`: run it again when the shader changes.\n"
    written += wgsl.stubs(shader.module)
    if args.output is None:
        sys.stdout.write(printable(written))
        return 0
    try:
        Path(args.output).write_text(written, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CommandError.of("write", reason=inputs.reason_of(error), name=args.output) from None
    return 0
