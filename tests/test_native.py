"""The C by itself: each instruction set against the portable code, here and, where the tools are, on aarch64."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CROSS, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"


SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# clang takes minutes to instrument what is inlined there; gcc's sanitizers look at these files.
SLOW_TO_INSTRUMENT = ("avx512_interleave4.c", "avx512_deinterleave4.c")


def build_and_run(compiler: str, run: list[str], folder: Path, *flags: str) -> str:
    program = folder / "compare_isas"
    # All of the C but the threads, which need Python's locks.
    csrc = [path for path in sorted((ROOT / "csrc").glob("*.c")) if path.name != "pool.c"]

    def compile_one(source: Path) -> str:
        plain = compiler == "clang" and source.name in SLOW_TO_INSTRUMENT
        chosen = [flag for flag in flags if not (plain and flag in SANITIZERS)]
        built = str(folder / f"{source.stem}.o")
        command = [compiler, "-std=c11", "-O3", *chosen, f"-I{ROOT / 'csrc'}", "-c", str(source), "-o", built]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return built

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        built = list(pool.map(compile_one, [ROOT / "tests/native/compare_isas.c", *csrc]))
    subprocess.run([compiler, *flags, *built, "-lm", "-o", str(program)], check=True, capture_output=True, text=True)
    return subprocess.run([*run, str(program)], check=True, capture_output=True, text=True).stdout


def installed(name: str) -> object:
    missing = shutil.which(name) is None
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason=f"needs {name}, which .ci/run installs"))


COMPILERS = [installed("gcc"), installed("clang")]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"), id="warnings"),
        # Python's own flags have -fwrapv; the C must not need it.
        pytest.param(("-O1", "-g", *SANITIZERS), id="sanitizers"),
    ],
)
def test_here(tmp_path: Path, compiler: str, flags: tuple[str, ...]) -> None:
    said = build_and_run(compiler, [], tmp_path, *flags)
    assert "portable agrees" in said and "comparisons" in said


@pytest.mark.parametrize("compiler", COMPILERS)
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
