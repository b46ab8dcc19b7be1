"""The command ``gpustruct``: parses the command line and runs one command.

A command is a module with `add_arguments(parser)` and `main(args) -> int`. Both import heavy modules inside
functions, so that help and completion are quick. Exit codes: 0 success, 1 something was found, 2 the command
could not do what was asked.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from ..errors import CommandError, GpuStructError

# For each command its module in this package, and its line in the help.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "a particle simulation, and what packing costs on this machine"),
    "inspect": ("inspecting", "show the layouts, bindings, waste and better orders in a shader or a Python schema"),
    "check": ("checking", "find layout faults in shaders, for CI and pre-commit"),
    "stubs": ("stubbing", "write the structs of a shader as Python classes, for editors and type checkers"),
    "verify": ("verifying", "check on this machine's GPU that it lays out every struct as gpustruct does"),
    "bench": ("bench", "measure packing against a plain memory copy"),
    "explain": ("explaining", "print the page on an error's rule: what it means, a small case, code that works"),
    "completion": ("completing", "print the script that completes this command in bash, zsh or fish"),
}

FAILED = 2
# The exit codes that shells report for a process that SIGINT or SIGPIPE ended.
INTERRUPTED = 128 + 2
BROKEN_PIPE = 128 + 13


class _Help(argparse.RawDescriptionHelpFormatter):
    """A first column wide enough for the longest option; line breaks in the examples are kept."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line, with the arguments of one command only, or of all commands.

    >>> build_parser("check").parse_args(["check", "--waste", "30", "shaders"]).waste
    30.0
    """
    parser = argparse.ArgumentParser(
        prog="gpustruct",
        description="The struct module for the GPU: show, check and verify WGSL memory layouts.",
        epilog="Exit codes: 0 success, 1 something was found, 2 the command could not do what was asked.",
        formatter_class=_Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (module, summary) in COMMANDS.items():
        description = f"{summary[0].upper()}{summary[1:]}."
        command = commands.add_parser(
            name, help=summary, description=description, formatter_class=_Help, allow_abbrev=False
        )
        if only in (None, name):
            module_of(module).add_arguments(command)
    return parser


def module_of(name: str) -> Any:
    """The module of a command."""
    return importlib.import_module(f"{__name__}.{name}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, `sys.argv` if `argv` is None. Returns the exit code.

    Every error is printed as one message on stderr, never as a traceback.

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
        code: int = module_of(COMMANDS[args.command][0]).main(args)
        sys.stdout.flush()
        return code
    except SystemExit as exit_:  # argparse has written its message.
        return exit_.code if isinstance(exit_.code, int) else FAILED
    except GpuStructError as error:
        return _failed(error)
    except ImportError as error:  # A library that only one command needs, such as wgpu, is missing.
        return _failed(CommandError.of("part-missing", command=named, reason=error))
    except MemoryError as error:
        return _failed(CommandError.of("memory", command=named, reason=str(error).lower() or "not enough memory"))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # As in `gpustruct inspect x | head`. Python flushes stdout again at exit, and that must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


def _failed(error: GpuStructError) -> int:
    print(f"gpustruct: {error}", file=sys.stderr)
    return FAILED


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("gpustruct")
    except metadata.PackageNotFoundError:
        return "(not installed)"
