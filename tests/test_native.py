"""The C by itself: each instruction set against the portable code, here and, where the tools are, on aarch64."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
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


def compilers() -> list[str]:
    """Those of gcc and clang that there are; the system's own where it is neither."""
    return [name for name in ("gcc", "clang") if shutil.which(name)] or ["cc"]


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"), id="warnings"),
        # Python's own flags have -fwrapv; the C must not need it.
        pytest.param(("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"), id="sanitizers"),
    ],
)
def test_here(tmp_path: Path, compiler: str, flags: tuple[str, ...]) -> None:
    said = build_and_run(compiler, [], tmp_path, *flags)
    assert "portable agrees" in said and "comparisons" in said


@pytest.mark.parametrize("compiler", compilers())
def test_the_threads_compile_without_a_warning(tmp_path: Path, compiler: str) -> None:
    # Python's headers are the system's here: what they warn of is not ours.
    headers = ["-isystem", sysconfig.get_path("include"), f"-I{ROOT / 'csrc'}"]
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
    source = str(ROOT / "csrc" / "pool.c")
    command = [compiler, "-std=c11", "-O3", *warnings, *headers, "-c", source, "-o", str(tmp_path / "pool.o")]
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.mark.skipif(
    not (shutil.which(CROSS) and shutil.which(EMULATOR)), reason=f"needs {CROSS} and {EMULATOR}, which .ci/run installs"
)
def test_aarch64(tmp_path: Path) -> None:
    assert "neon agrees" in build_and_run(CROSS, [EMULATOR], tmp_path, "-static")
