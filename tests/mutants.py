"""Breaks the code on purpose and asks the tests: ``python tests/mutants.py [--jobs N] [--only WORD]``.

Each mutant of ``mutants_list.py`` replaces one text in one file, and the tests named for it must fail. Before that, these
tests must pass on the code as it is. Every run has a private copy of the project, so the working tree stays clean. A
mutant of compiled code builds what depends on its file; ``ccache``, if it is installed, makes that seconds.

Prints each outcome when it is known, then a table, and exits 1 unless every mutant is killed or argued to be equivalent.
It takes minutes, so it is not a part of the suite.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from mutants_list import MUTANTS, Mutant

ROOT = Path(__file__).parent.parent
LEFT_OUT = shutil.ignore_patterns(".git", ".*_cache", ".hypothesis", "node_modules", "benchmarks", "lib.*", "fuzz")
# Seconds. A mutant may make a loop endless, but a slow machine does too: this is an outcome of its own.
LIMIT = 900

KILLED, SURVIVED, EQUIVALENT = "killed", "survived", "equivalent"
TIMED_OUT, WRONG = "timed out", "wrong"


@contextmanager
def private_copy() -> Iterator[Path]:
    """A copy of the project with its compiled modules. Times of files are kept, so a build there compiles changes only."""
    with tempfile.TemporaryDirectory(prefix="gpustruct-mutant-") as folder:
        copy = Path(folder) / "gpustruct"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT, symlinks=True)
        yield copy


def run(copy: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    if shutil.which("ccache"):
        environment["CC"] = f"ccache {environment.get('CC', 'cc')}"
    return subprocess.run(
        [sys.executable, *command],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )


def run_tests(copy: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    return run(copy, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0", *tests)


def judge(mutant: Mutant) -> tuple[str, str]:
    """The outcome, and what belongs to it: the test that failed, or what is wrong with the mutant itself."""
    with private_copy() as copy:
        path = copy / mutant.file
        text = path.read_text(encoding="utf-8")
        if text.count(mutant.old) != 1:
            return WRONG, f"its text is there {text.count(mutant.old)} times"
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            if path.suffix != ".py":
                built = run(copy, "setup.py", "-q", "build_ext", "--inplace")
                if built.returncode:
                    return WRONG, f"it does not compile: {built.stderr[-500:]}"
            ran = run_tests(copy, *mutant.test_names)
        except subprocess.TimeoutExpired:
            return TIMED_OUT, f"after {LIMIT} s"
    if ran.returncode == 0:
        return (EQUIVALENT, mutant.equivalent) if mutant.equivalent else (SURVIVED, "")
    failed = [line for line in ran.stdout.splitlines() if line.startswith("FAILED ")]
    # A negative status is a signal: the mutant crashed the interpreter. Any other but 1 is pytest's word that it could not
    # run these tests, which says nothing about the mutant.
    if ran.returncode > 1 or (ran.returncode == 1 and not failed):
        return WRONG, f"pytest ends with {ran.returncode}: {ran.stdout[-500:]}"
    if mutant.equivalent:
        return WRONG, f"a test kills it, so it is not equivalent: {failed}"
    return KILLED, failed[0].split(" - ")[0] if failed else f"signal {-ran.returncode}"


def tests_pass(mutants: list[Mutant]) -> bool:
    """Whether the tests of all these mutants pass on the code as it is; without that, "killed" would say nothing."""
    with private_copy() as copy:
        ran = run_tests(copy, *sorted({name for mutant in mutants for name in mutant.test_names}))
    if ran.returncode:
        print(ran.stdout[-3000:], ran.stderr[-1000:])
    return ran.returncode == 0


def table(outcomes: list[tuple[Mutant, str]]) -> str:
    """Counts of mutants by area and outcome."""
    counts = Counter((mutant.area, result) for mutant, result in outcomes)
    columns = (KILLED, EQUIVALENT, SURVIVED, TIMED_OUT, WRONG)
    areas = dict.fromkeys(mutant.area for mutant in MUTANTS)
    rows = [("area", "mutants", *columns)]
    for area in areas:
        numbers = [counts[area, result] for result in columns]
        rows.append((area, str(sum(numbers)), *map(str, numbers)))
    totals = [sum(counts[area, result] for area in areas) for result in columns]
    rows.append(("all", str(len(outcomes)), *map(str, totals)))
    return "\n".join("  ".join(f"{cell:>10}" for cell in row) for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="mutants at once")
    parser.add_argument("--only", default="", help="only mutants whose file or description contains this")
    options = parser.parse_args()
    chosen = [m for m in MUTANTS if options.only in m.file or options.only in m.breaks]
    if not tests_pass(chosen):
        print("These tests must pass on the code as it is.")
        return 2
    outcomes: list[tuple[Mutant, str]] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        judged = {pool.submit(judge, mutant): mutant for mutant in chosen}
        for future in as_completed(judged):
            mutant, (result, why) = judged[future], future.result()
            print(f"{result:10} {mutant.file}: {mutant.breaks} ({why or shlex.join(mutant.test_names)})", flush=True)
            outcomes.append((mutant, result))
    print(table(outcomes))
    return 0 if all(result in (KILLED, EQUIVALENT) for _, result in outcomes) else 1


if __name__ == "__main__":
    raise SystemExit(main())
