"""Breaks the code on purpose and asks the tests: ``python tests/mutants.py [--jobs N] [--only WORD]``.

Each mutant replaces one text in one file of a copy of the project, and the tests named for it must fail. Those in csrc
build the kernel again. Prints "survived" for a mutant that no test found, and exits 1 if there is one. It takes minutes,
so it is not a part of the suite.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants_list import MUTANTS, Mutant

ROOT = Path(__file__).parent.parent
LEFT_OUT = shutil.ignore_patterns(
    ".git", "build", "__pycache__", ".*_cache", ".hypothesis", "node_modules", "benchmarks"
)
# Seconds after which a mutant counts as killed: it may have made a loop endless.
LIMIT = 300


def outcome(mutant: Mutant) -> str:
    """``killed``, ``survived``, or what is wrong with the mutant itself."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "gpustruct"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT, symlinks=True)
        path = copy / mutant.file
        text = path.read_text(encoding="utf-8")
        if text.count(mutant.old) != 1:
            return f"wrong: its text is there {text.count(mutant.old)} times"
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1", "CFLAGS": "-O1"}
        if mutant.file.startswith("csrc/"):
            command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
            built = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
            if built.returncode:
                return f"wrong: it does not compile\n{built.stderr[-500:]}"
        tests = [f"tests/{name}" for name in mutant.tests.split()]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0", *tests]
        try:
            ran = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT
            )
        except subprocess.TimeoutExpired:
            return "killed"
        if ran.returncode in (0, 1):
            return "killed" if ran.returncode else "survived"
        # A crash of the interpreter is a death too; a wrong name of a test is not.
        return "killed" if ran.returncode < 0 or "error" in ran.stdout.lower() else f"wrong: {ran.stdout[-300:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="mutants at once")
    parser.add_argument("--only", default="", help="only mutants whose file or description contains this")
    options = parser.parse_args()
    chosen = [m for m in MUTANTS if options.only in m.file or options.only in m.breaks]
    survivors = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for mutant, result in zip(chosen, pool.map(outcome, chosen), strict=True):
            print(f"{result:9} {mutant.file}: {mutant.breaks}", flush=True)
            survivors += result != "killed"
    print(f"{len(chosen) - survivors} of {len(chosen)} killed")
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main())
