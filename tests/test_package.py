"""The sdist holds what a build needs, the wheel what a run needs, and neither anything else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import gpustruct

# It builds an sdist, and a wheel from it.
pytestmark = pytest.mark.long
ROOT = Path(__file__).parent.parent


def run(*command: str, cwd: Path, **environment: str) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(sdist, wheel), the wheel built from the unpacked sdist."""
    folder = tmp_path_factory.mktemp("dist")
    build = (sys.executable, "-m", "build", "--no-isolation")
    run(*build, "--sdist", "--outdir", str(folder), str(ROOT), cwd=folder)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    run(*build, "--wheel", "--outdir", str(folder), str(source), cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def test_the_sdist_has_the_sources_and_no_leftovers(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = {str(path.relative_to(ROOT)) for path in (ROOT / "csrc").glob("*.[ch]")}
    wanted |= {str(path.relative_to(ROOT)) for path in (ROOT / "src" / "gpustruct").glob("*.p[xy][xd]")}
    wanted |= {str(path.relative_to(ROOT)) for path in (ROOT / "src" / "gpustruct").glob("*.h")}
    wanted |= {"setup.py", "pyproject.toml", "LICENSE", "README.md"}
    wanted |= {"src/gpustruct/py.typed", "src/gpustruct/types.pyi", "src/gpustruct/wgsl/grammar.lark"}
    wanted |= {"tests/data/layout-truth.json", "tests/run"}
    assert wanted <= names
    assert not [
        name
        for name in names
        if re.search(r"\.(so|pyd|pyc|o|tables)$|__pycache__|^build/|src/gpustruct/_\w+\.c$", name)
    ]


def test_the_wheel_has_the_package_and_no_sources(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert all(name.startswith("gpustruct/") for name in names)
    kinds = {Path(name).suffix for name in names}
    assert kinds <= {".py", ".pyi", ".typed", ".lark", ".tables", ".json", ".so", ".pyd"}
    for wanted in ("py.typed", "types.pyi", "wgsl/grammar.lark", "wgsl/grammar.tables", "errors/cases.json"):
        assert f"gpustruct/{wanted}" in names
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "gpustruct").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == modules


def test_the_wheel_has_no_symbols_and_names_no_folder_of_the_machine_that_built_it(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        modules = [archive.read(name) for name in archive.namelist() if name.endswith(".so")]
    assert modules
    # Sections of symbols, and the folder of the Python that linked the modules.
    folder = f"{sys.base_prefix}/lib".encode()
    assert not [module for module in modules if b"\0.symtab\0" in module or folder in module]


def test_the_wheel_works_where_it_is_unpacked(built: tuple[Path, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        archive.extractall(tmp_path)
    code = "import gpustruct as g; print(g.__file__); print(g.pack(g.vec3f([[1, 2, 3], [4, 5, 6]])).nbytes)"
    printed = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(tmp_path)).split()
    assert printed == [str(tmp_path / "gpustruct" / "__init__.py"), "32"]
    # The first parse loads the saved tables: lark makes none.
    code = "import lark; lark.Lark.__init__ = None; from gpustruct import wgsl; print(*wgsl.parse('struct A { x: f32 }').structs)"
    assert run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(tmp_path)) == "A\n"


def test_the_version_has_its_entry_in_the_changelog(built: tuple[Path, Path]) -> None:
    assert built[0].name == f"gpustruct-{gpustruct.__version__}.tar.gz"
    assert f"## [{gpustruct.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
