"""Files of cases: a title, Python lines, and the error after "> ": class, rule, then the message."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gpustruct


class Case(NamedTuple):
    file: Path
    title: str
    code: str
    expected: str


def read(file: Path) -> list[Case]:
    cases = []
    for block in re.split(r"^# ", file.read_text(), flags=re.MULTILINE)[1:]:
        title, _, rest = block.partition("\n")
        lines = rest.rstrip().split("\n")
        code = "\n".join(line for line in lines if not line.startswith(">")).rstrip()
        expected = "\n".join(line[2:] for line in lines if line.startswith(">"))
        cases.append(Case(file, title, code, expected))
    return cases


def outcome(case: Case, scope: dict[str, Any]) -> str:
    """What the code raises, run among the names of `scope`: class and rule, then the message."""
    try:
        exec(compile(case.code, str(case.file), "exec", dont_inherit=True), scope)
    except gpustruct.GpuStructError as error:
        return f"{type(error).__name__} {error.rule}\n{error}"
    except Exception as error:
        return f"an exception of another kind: {type(error).__name__}\n{error}"
    return "nothing was raised"


def write_again(file: Path, scope: Callable[[], dict[str, Any]]) -> None:
    """Write the file again with the messages of today."""
    blocks: list[str] = []
    for case in read(file):
        quoted = "\n".join(f"> {line}" for line in outcome(case, scope()).split("\n"))
        blocks.append(f"# {case.title}\n{case.code}\n{quoted}\n")
    file.write_text("\n".join(blocks))
