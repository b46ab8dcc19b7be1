"""The stubs of compiled modules, written by hand, against the modules: each name and each signature."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "gpustruct"
COMPILED = sorted(f"gpustruct.{path.stem}" for path in SOURCE.glob("_*.pyx"))
# Cython's own names; `__buffer__` is there from Python 3.12 on; whether a class can be a base next to others is
# nothing that a stub of ours says.
NOT_OURS = re.compile(r"__pyx_\w+__|__\w+_cython__|__test__|\.__buffer__ |disjoint base")


def test_stubs_say_what_is_there() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", *COMPILED]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert not done.stderr and len(COMPILED) == len(list(SOURCE.glob("_*.pyi"))) and "__test__" in done.stdout
    assert [line for line in lines if line.startswith("gpustruct.") and not NOT_OURS.search(line)] == []
