"""The command line itself: help, completion, errors without tracebacks, pipes, terminals of any width."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gpustruct.cli import COMMANDS, build_parser, main
from gpustruct.cli.completing import SHELLS, script

ROOT = Path(__file__).parent.parent
SHADER = ROOT / "tests" / "golden" / "inspect" / "scene.wgsl"
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")},
    "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    "TERM": "xterm-256color",
}
COMMAND = [sys.executable, "-m", "gpustruct"]


def run(*arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "utf-8", **extra}
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, encoding="utf-8", env=environment)


def in_a_terminal(columns: int, *arguments: str, **extra: str) -> str:
    """What a terminal of so many columns is sent."""
    pty = pytest.importorskip("pty")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, b"".join(n.to_bytes(2, sys.byteorder) for n in (50, columns, 0, 0)))
    process = subprocess.Popen([*COMMAND, *arguments], stdout=theirs, stderr=theirs, env={**ENVIRONMENT, **extra})
    os.close(theirs)
    data = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux says so where others give the end.
            part = b""
        if not part:
            break
        data += part
    os.close(ours)
    assert process.wait() == 0
    return data.decode()


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text).replace("\r", "")


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_shows_all_that_a_pipe_gets(columns: int, colour: bool) -> None:
    shown = in_a_terminal(columns, "inspect", os.fspath(SHADER), **({} if colour else {"NO_COLOR": "1"}))
    assert max(len(line) for line in plain(shown).splitlines()) <= columns
    piped = run("inspect", os.fspath(SHADER)).stdout
    assert "\x1b" not in piped
    # Cells of a table fold beside each other, so the order of characters changes, but none is lost.
    assert Counter("".join(plain(shown).split())) == Counter("".join(piped.split()))
    colours = re.findall(r"\x1b\[[\d;]*3[0-7][\d;]*m", shown)
    assert bool(colours) == colour


def test_a_wide_terminal_and_a_pipe_get_the_same_lines() -> None:
    shown = plain(in_a_terminal(400, "inspect", os.fspath(SHADER)))
    piped = run("inspect", os.fspath(SHADER)).stdout
    assert [line.rstrip() for line in shown.splitlines()] == piped.splitlines()


def test_a_reader_that_leaves_ends_it_quietly() -> None:
    process = subprocess.Popen(
        [*COMMAND, "inspect", *[os.fspath(SHADER)] * 200],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


def test_a_narrow_encoding_does_not_stop_it(tmp_path: Path) -> None:
    greek = tmp_path / "greek.wgsl"
    greek.write_text("struct Θ { Δt: f32, v: vec3f, w: f32, u: vec3f }", encoding="utf-8")
    for command in ("inspect", "check"):
        found = run(command, os.fspath(greek), PYTHONIOENCODING="ascii")
        assert found.returncode in (0, 1)
        assert "\\u0398" in found.stdout
        assert "Traceback" not in found.stderr


def test_closed_standard_input() -> None:
    command = f'"{sys.executable}" -m gpustruct check - <&-'
    if os.name != "posix":
        pytest.skip("a POSIX shell closes it")
    found = subprocess.run(command, shell=True, capture_output=True, text=True, env=ENVIRONMENT)
    assert found.returncode == 2
    assert found.stderr.startswith("gpustruct: a file must be readable (current: closed)")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["nonsense"], 2),
        (["inspect"], 2),
        (["inspect", "--nonsense", "x"], 2),
        (["inspect", "missing.wgsl"], 2),
        (["inspect", "no/such/folder"], 2),
        (["inspect", "no.such.module:Class"], 2),
        (["inspect", "json:Nothing"], 2),
        (["inspect", "json:dumps"], 2),
        (["inspect", "json:JSONDecoder"], 2),
        (["check", "--format", "xml"], 2),
        (["completion", "tcsh"], 2),
        (["verify", "missing.wgsl"], 2),
        (["--version"], 0),
        (["--help"], 0),
    ],
)
def test_bad_command_lines_end_in_one_message(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    found = capsys.readouterr()
    assert "Traceback" not in found.err
    if code and arguments:
        assert found.err.splitlines()[-1].startswith("gpustruct")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["demo", "--particles", "0"], "a whole number from 1 to 100,000,000 (current: 0) - at --particles; such as 1000000"),
        (["demo", "--particles=-5"], "(current: -5) - at --particles; such as"),
        (["demo", "--particles", "1e6"], "(current: 1e6) - at --particles; such as 1000000"),
        (["demo", "--particles", "many"], "(current: many) - at --particles; such as"),
        (["demo", "--particles", ""], "(current: ) - at --particles; such as"),
        (["demo", "--particles", "9" * 5000], f"(current: {'9' * 27}...) - at --particles; such as"),
        (["demo", "--particles", "1000000000"], "from 1 to 100,000,000 (current: 1000000000)"),
        (["demo", "--frames", "0"], "a whole number from 1 to 1,000,000 (current: 0) - at --frames; such as 10"),
        (["bench", "--size", "0"], "a whole number from 1 to 268,435,456 (current: 0) - at --size; such as 10000"),
        (["bench", "--size", "1.5"], "(current: 1.5) - at --size; such as 10000"),
        (["bench", "--size", "268435456", "--schema", "Particle"], "at --size; use at most 22,369,621"),
        (["bench", "--rounds", "0"], "a whole number from 1 to 10,000 (current: 0) - at --rounds; such as 5"),
        (["bench", "--threads", "-1"], "a whole number from 0 to 1,024 (current: -1) - at --threads; such as 2"),
        (["bench", "--json", "no/such/folder/x.json"], "a file must be writable (current: no such file or directory)"),
        (["bench", "--svg", "."], "a file must be writable (current: is a directory)"),
        (["check", "--waste", "200"], "it must be a percentage from 0 to 100 (current: 200)"),
    ],
)  # fmt: skip
def test_a_value_that_is_wrong_is_answered_with_what_is_right(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert said in found.err.splitlines()[-1]


def test_numbers_may_be_grouped() -> None:
    for text in ("1000000", "1_000_000", "1,000,000", "+1000000"):
        assert build_parser("demo").parse_args(["demo", "--particles", text]).particles == 1_000_000


def test_memory_that_is_not_there_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_much(_: object) -> int:
        raise MemoryError("Unable to allocate 1 TiB")

    monkeypatch.setattr("gpustruct.cli.completing.main", too_much)
    assert main(["completion", "bash"]) == 2
    assert capsys.readouterr().err.startswith(
        "gpustruct: the data must fit into memory (current: unable to allocate 1 tib)"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: gpustruct {command}")
    assert COMMANDS[command][1][1:] in " ".join(shown.split())


def test_an_interrupt_leaves_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpustruct.cli.completing.main", interrupted)
    assert main(["completion", "bash"]) == 130
    assert capsys.readouterr().err == ""


def test_a_library_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["inspect", os.fspath(SHADER)]) == 2
    assert "gpustruct inspect needs a part that is not installed" in capsys.readouterr().err


def test_the_command_loads_nothing_heavy_for_help() -> None:
    code = "import sys, gpustruct.cli; gpustruct.cli.main(['--help']); print([m for m in ('wgpu', 'lark', 'rich') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT)
    assert found.stdout.endswith("[]\n")


# Completion.


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_is_legal_in_its_shell(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / f"complete.{shell}"
    file.write_text(script(build_parser(), shell))
    assert subprocess.run([shell, "-n", file], capture_output=True, text=True).stderr == ""


def bash_offers(*words: str, folder: Path = SHADER.parent) -> set[str]:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    line = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _shtab_gpustruct; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    text = f"{script(build_parser(), 'bash')}\n{ask}"
    return set(subprocess.run(["bash", "-c", text], capture_output=True, text=True, cwd=folder).stdout.split())


def test_bash_completes_commands_options_values_and_files() -> None:
    assert bash_offers("gpustruct", "") >= set(COMMANDS)
    assert bash_offers("gpustruct", "ins") == {"inspect"}
    assert bash_offers("gpustruct", "inspect", "--s") == {"--struct", "--svg", "--skip"}
    assert bash_offers("gpustruct", "check", "--format", "") == {"text", "github", "json"}
    assert bash_offers("gpustruct", "completion", "") >= set(SHELLS)
    assert "scene.wgsl" in bash_offers("gpustruct", "inspect", "sc")
    for words in (["check"], ["stubs", "--output"], ["bench", "--json"]):
        assert bash_offers("gpustruct", *words, "READ", folder=ROOT) == {"README.md"}
    assert bash_offers("gpustruct", "inspect", "--svg", "", folder=ROOT) >= {"docs", "src", "tests"}
    assert bash_offers("gpustruct", "inspect", "--svg", "READ", folder=ROOT) == set()


def test_flags_take_no_value() -> None:
    lines = script(build_parser(), "fish").splitlines()
    (json,) = [line for line in lines if " -l json " in line and "inspect" in line]
    (struct,) = [line for line in lines if " -l struct " in line and "inspect" in line]
    assert " -x " not in json
    assert " -x " in struct


def test_fish_completes_commands_and_options(tmp_path: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    file = tmp_path / "gpustruct.fish"
    file.write_text(script(build_parser(), "fish"))

    def offers(line: str) -> set[str]:
        ask = f"source {file}; complete -C '{line}'"
        environment = {**ENVIRONMENT, "HOME": os.fspath(tmp_path), "XDG_RUNTIME_DIR": os.fspath(tmp_path)}
        found = subprocess.run(["fish", "-c", ask], capture_output=True, text=True, env=environment)
        return {line.split("\t")[0] for line in found.stdout.splitlines()}

    assert offers("gpustruct ") >= set(COMMANDS)
    assert offers("gpustruct check --format ") == {"text", "github", "json"}
    assert {"--struct", "--svg", "--skip"} <= offers("gpustruct inspect --s")
