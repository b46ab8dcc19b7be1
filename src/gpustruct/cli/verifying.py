"""gpustruct verify: compare every struct of a shader or a Python schema with the layout on this machine's GPU."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import BindingError, CommandError
from . import inputs
from .inspecting import look_at_all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct verify``."""
    inputs.add_arguments(parser)
    parser.epilog = (
        "A shader is generated for each struct. It reads and writes every member where the device lays it out.\n"
        "Exit codes: 0 the device agrees, 1 it does not, or a text is not legal WGSL, 2 there is no answer.\n\n"
        "examples:\n"
        "  gpustruct verify shader.wgsl\n"
        "  gpustruct verify scene.types:Camera"
    )


def main(args: argparse.Namespace) -> int:
    """Run ``gpustruct verify``: 0 if all agree, 1 if some do not, 2 without a readable input or a device."""
    seen, code = look_at_all(args)
    found = [(name, cls) for part in seen for name, cls in part.structs.items() if args.struct in (None, name)]
    if args.struct and not found:
        raise CommandError.of("struct-missing", name=args.struct, where=", ".join(args.inputs), known="others only")
    if not found and not code:
        raise CommandError.of("nothing", verb="verify", where=", ".join(args.inputs))
    from .printing import Printer

    printer = Printer()
    for name, cls in found:
        try:
            report = _ask(cls)
        except BindingError as error:
            printer.line(f"{name}: not asked: {error}", "yellow")
            code = code or 2
            continue
        for line in str(report).splitlines():
            printer.line(line, "green" if report else "red")
        code = code if report else 1
    return code


def _ask(cls: Any) -> Any:
    from .. import gpu

    return gpu.verify(cls)
