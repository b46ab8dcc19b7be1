"""The command ``gpustruct``: reads the command line and hands it to the command's own room.

A command is a module with `add_arguments(parser)` and `main(args) -> int`; both import what is heavy
where they use it, so that help and completion are quick. Exit codes: 0 all well, 1 something was found,
2 the command could not do what was asked.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from ..errors import CommandError, GpuStructError

# The command, its module here, and its line in the help.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "a particle simulation, and what packing costs on this machine"),
    "inspect": ("inspecting", "show the layouts, bindings, waste and better orders in a shader or a Python schema"),
    "check": ("checking", "find layout faults in shaders, for CI and pre-commit"),
    "stubs": ("stubbing", "write the structs of a shader as Python classes, for editors and type checkers"),
    "verify": ("verifying", "ask the GPU here whether it sees every struct as gpustruct does"),
    "bench": ("bench", "measure packing against a plain memory copy"),
    "completion": ("completing", "print the script that completes this command in bash, zsh or fish"),
}

FAILED = 2
# As a shell reports a process that SIGINT or SIGPIPE ended.
INTERRUPTED = 128 + 2
LEFT_ALONE = 128 + 13


class _Help(argparse.RawDescriptionHelpFormatter):
    """Room for the longest option in the first column, and the examples as they stand."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line; the arguments of one command, or of all.

    >>> build_parser("check").parse_args(["check", "--waste", "30", "shaders"]).waste
    30.0
    """
    parser = argparse.ArgumentParser(
        prog="gpustruct",
        description="The struct module for the GPU: WGSL memory layouts, seen, checked and verified.",
        epilog="Exit codes: 0 all well, 1 something was found, 2 the command could not do what was asked.",
        formatter_class=_Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (module, summary) in COMMANDS.items():
        description = f"{summary[0].upper()}{summary[1:]}."
        command = commands.add_parser(
            name, help=summary, description=description, formatter_class=_Help, allow_abbrev=False
        )
        if only in (None, name):
            room(module).add_arguments(command)
    return parser


def room(module: str) -> Any:
    """The module of a command."""
    return importlib.import_module(f"{__name__}.{module}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, `sys.argv` where it is None; returns the exit code.

    Nothing that a user can type or hand over ends in a traceback: an error is one message on stderr.

    >>> main(["inspect", "no-such-file.wgsl"])
    2
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    named = next((argument for argument in arguments if not argument.startswith("-")), "")
    try:
        args = build_parser(named).parse_args(arguments)
        if args.version:
            print(f"gpustruct {_version()}")
            return 0
        if args.command is None:
            build_parser("").print_help()
            return FAILED
        code: int = room(COMMANDS[args.command][0]).main(args)
        sys.stdout.flush()
        return code
    except SystemExit as exit_:  # argparse has written its message.
        return exit_.code if isinstance(exit_.code, int) else FAILED
    except GpuStructError as error:
        print(f"gpustruct: {error}", file=sys.stderr)
        return FAILED
    except ImportError as error:  # A library of one command, such as wgpu, that is not there.
        print(f"gpustruct: {CommandError.of('part-missing', command=named, reason=error)}", file=sys.stderr)
        return FAILED
    except MemoryError as error:
        reason = str(error).lower() or "not enough memory"
        print(f"gpustruct: {CommandError.of('memory', command=named, reason=reason)}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone, `gpustruct inspect x | head`; the flush at exit must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return LEFT_ALONE


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("gpustruct")
    except metadata.PackageNotFoundError:
        return "(not installed)"
