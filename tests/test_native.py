"""The C by itself: each instruction set against the portable code, here and, where the tools are, on aarch64."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CROSS, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"


def build_and_run(compiler: str, run: list[str], folder: Path, *flags: str) -> str:
    program = folder / "compare_isas"
    # All of the C but the threads, which need Python's locks.
    csrc = [path for path in sorted((ROOT / "csrc").glob("*.c")) if path.name != "pool.c"]
    sources = [ROOT / "tests/native/compare_isas.c", *csrc]
    command = [compiler, "-std=c11", "-O3", *flags, f"-I{ROOT / 'csrc'}", *map(str, sources), "-lm", "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return subprocess.run([*run, str(program)], check=True, capture_output=True, text=True).stdout


def test_here(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
    said = build_and_run(compiler, [], tmp_path)
    assert "portable agrees" in said and "comparisons" in said


@pytest.mark.skipif(
    not (shutil.which(CROSS) and shutil.which(EMULATOR)), reason=f"needs {CROSS} and {EMULATOR}, which .ci/run installs"
)
def test_aarch64(tmp_path: Path) -> None:
    assert "neon agrees" in build_and_run(CROSS, [EMULATOR], tmp_path, "-static")
