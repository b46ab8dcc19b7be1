"""gpustruct completion: a script that lets bash, zsh or fish complete the command line.

The script is made from the parser itself, so it knows every command and option that there is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct completion``."""
    parser.add_argument("shell", choices=SHELLS)
    parser.epilog = (
        "examples:\n"
        '  eval "$(gpustruct completion bash)"      in ~/.bashrc\n'
        '  eval "$(gpustruct completion zsh)"       in ~/.zshrc, behind compinit\n'
        "  gpustruct completion fish > ~/.config/fish/completions/gpustruct.fish"
    )


def main(args: argparse.Namespace) -> int:
    """Run ``gpustruct completion``."""
    from . import build_parser

    print(script(build_parser(), args.shell), end="")
    return 0


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The completion script of `shell` for everything that `parser` takes."""
    commands = _commands(parser)
    if shell == "fish":
        return _fish(commands)
    return _zsh(commands) if shell == "zsh" else _bash(commands)


def _actions(parser: argparse.ArgumentParser) -> list[Any]:
    return parser._actions  # pyright: ignore[reportPrivateUsage]  # argparse has no public list of them.


def _commands(parser: argparse.ArgumentParser) -> dict[str, tuple[str, argparse.ArgumentParser]]:
    (found,) = (action for action in _actions(parser) if isinstance(action.choices, dict))
    helps = {choice.dest: choice.help for choice in found._choices_actions}
    return {name: (helps[name], command) for name, command in found.choices.items()}


def _options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str, list[str], bool]]:
    """(option, help, choices, whether a value follows) of each option."""
    for action in _actions(parser):
        text = (action.help or "").partition(" (default")[0]
        for option in action.option_strings:
            if option.startswith("--"):
                yield option, text, list(action.choices or []), action.nargs != 0


def _choices(parser: argparse.ArgumentParser) -> list[str]:
    places = [action for action in _actions(parser) if not action.option_strings]
    return [choice for action in places for choice in list[str](action.choices or [])]


def _bash(commands: dict[str, tuple[str, argparse.ArgumentParser]]) -> str:
    cases: list[str] = []
    for name, (_, parser) in commands.items():
        for option, _, choices, value in _options(parser):
            if choices:
                cases.append(
                    f'    "{name} {option}") COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$word")); return;;'
                )
            elif value and "DIR" in str(next(a.metavar for a in _actions(parser) if option in a.option_strings)):
                cases.append(f'    "{name} {option}") COMPREPLY=($(compgen -d -- "$word")); return;;')
    words = {name: " ".join([*(o for o, *_ in _options(p)), *_choices(p)]) for name, (_, p) in commands.items()}
    listed = "\n".join(f'    {name}) words="{text}";;' for name, text in words.items())
    return f"""_gpustruct() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  local command="${{COMP_WORDS[1]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(commands)} --help --version" -- "$word")); return
  fi
  case "$command $before" in
{chr(10).join(cases)}
  esac
  case "$command" in
{listed}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}}
complete -o filenames -F _gpustruct gpustruct
"""


def _zsh(commands: dict[str, tuple[str, argparse.ArgumentParser]]) -> str:
    def quoted(text: str) -> str:
        return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")

    listed = "\n".join(f"    '{name}:{quoted(text)}'" for name, (text, _) in commands.items())
    cases: list[str] = []
    for name, (_, parser) in commands.items():
        specs: list[str] = []
        for option, text, choices, value in _options(parser):
            follow = f":value:({' '.join(choices)})" if choices else ":value:_files" if value else ""
            specs.append(f"'*{option}[{quoted(text)}]{follow}'")
        words = _choices(parser)
        specs.append(f"'*:word:({' '.join(words)})'" if words else "'*:file:_files'")
        cases.append(f"    {name}) _arguments {' '.join(specs)};;")
    return f"""#compdef gpustruct
_gpustruct() {{
  local -a commands
  commands=(
{listed}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
{chr(10).join(cases)}
  esac
}}
compdef _gpustruct gpustruct
"""


def _fish(commands: dict[str, tuple[str, argparse.ArgumentParser]]) -> str:
    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace("'", "\\'")

    lines: list[str] = []
    for name, (text, _) in commands.items():
        lines.append(f"complete -c gpustruct -n __fish_use_subcommand -f -a {name} -d '{quoted(text)}'")
    for name, (_, parser) in commands.items():
        seen = f"complete -c gpustruct -n '__fish_seen_subcommand_from {name}'"
        for option, text, choices, value in _options(parser):
            follow = f" -x -a '{' '.join(choices)}'" if choices else " -r" if value else ""
            lines.append(f"{seen} -l {option[2:]}{follow} -d '{quoted(text)}'")
        if words := _choices(parser):
            lines.append(f"{seen} -f -a '{' '.join(words)}'")
    return "\n".join(lines) + "\n"
