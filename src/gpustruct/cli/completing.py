"""gpustruct completion: a script that lets bash, zsh or fish complete the command line."""

from __future__ import annotations

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct completion``."""
    parser.add_argument("shell", choices=SHELLS)
    parser.epilog = (
        "examples:\n"
        '  eval "$(gpustruct completion bash)"      in ~/.bashrc\n'
        '  eval "$(gpustruct completion zsh)"       in ~/.zshrc, after compinit\n'
        "  gpustruct completion fish > ~/.config/fish/completions/gpustruct.fish"
    )


def main(args: argparse.Namespace) -> int:
    """Run ``gpustruct completion``."""
    from . import build_parser

    print(script(build_parser(), args.shell))
    return 0


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The completion script of `shell` for all arguments of `parser`."""
    import shtab

    _complete_paths(parser, shtab.FILE, shtab.DIRECTORY)
    return shtab.complete(parser, shell=shell)


def _complete_paths(parser: argparse.ArgumentParser, file: Any, folder: Any) -> None:
    """Mark the arguments that are paths, with the attribute that shtab looks for."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]  # argparse has no public list.
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            for command in action.choices.values():
                _complete_paths(command, file, folder)
        elif action.metavar in ("FILE", "PATH", "DIR"):
            vars(action)["complete"] = folder if action.metavar == "DIR" else file
