"""A module imports only modules of the layers above it; nothing heavy is loaded before it is used."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "gpustruct"

# From the top. A module or folder may import from the layers above it, and nothing else from its own layer.
LAYERS: list[set[str]] = [
    {"errors", "names", "table", "zero_filled"},
    {"layout"},
    {"_kernel"},
    {"_numbers", "_batches"},
    {"_records", "_structs", "_views", "_binding"},
    {"column_specs"},
    {"column_checks"},
    {"libraries"},
    {"broadcasting"},
    {"batches"},
    {"members"},
    {"classes"},
    {"annotations"},
    {"types"},
    {"twins"},
    {"formats"},
    {"wgsl"},
    {"threads", "columns", "dtypes", "inferring"},
    {"plan"},
    {"byte_columns"},
    {"sources"},
    {"packing"},
    {"memory_mapped"},
    {"unpacking", "files"},
    {"views", "uniform"},
    {"report", "vertex"},
    {"gpu", "workloads"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer}
# Libraries that only some modules import. The first module named may import its library at its top; the others import it
# inside the functions that need it.
OUTSIDE = {
    "lark": ["wgsl"],
    "rich": ["", "report", "cli", "gpu"],
    "shtab": ["", "cli"],
}


def owner_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".pyx").removesuffix(".py")


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def imports(file: Path) -> Iterator[tuple[str, str]]:
    """(module, when) of each import; relative ones as "gpustruct.name...".

    `when` is "import" where it runs as the module is loaded, "annotations" where only a type checker reads it, and
    "use" inside functions.
    """
    tree = ast.parse(file.read_text())
    package = ["gpustruct", *file.relative_to(SOURCE).parts[:-1]]
    for node, when in walk(tree, "import"):
        if isinstance(node, ast.Import):
            yield from ((alias.name, when) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            if module == "gpustruct" or (node.level and not node.module):
                yield from ((f"{module}.{alias.name}", when) for alias in node.names)
            else:
                yield module, when


def walk(node: ast.AST, when: str) -> Iterator[tuple[ast.AST, str]]:
    for child in ast.iter_child_nodes(node):
        inner = when
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            inner = "annotations"
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inner = "use"
        yield child, when
        yield from walk(child, inner)


def test_every_module_has_a_layer() -> None:
    assert {owner_of(file) for file in modules()} <= LEVEL.keys()


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_go_up_only(file: Path) -> None:
    owner = owner_of(file)
    for module, _ in imports(file):
        parts = module.split(".")
        if parts[0] != "gpustruct" or len(parts) < 2 or parts[1] == owner:
            continue
        assert parts[1] in LEVEL, f"{owner} imports {module}, which has no layer in LAYERS"
        assert LEVEL[parts[1]] < LEVEL[owner], f"{owner} imports {module}, which is not in a layer above it"


def test_no_modules_import_each_other() -> None:
    # LAYERS says nothing about the modules inside a folder. Imports for annotations count: two modules that name each
    # other's types can only be read together.
    named = {".".join(["gpustruct", *file.relative_to(SOURCE).with_suffix("").parts]): file for file in modules()}
    named = {name.removesuffix(".__init__"): file for name, file in named.items()}
    graph = {
        name: {module for module, when in imports(file) if when != "use" and module in named}
        for name, file in named.items()
    }
    assert list(graphlib.TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_libraries_stay_in_their_modules(file: Path) -> None:
    owner = owner_of(file)
    for module, when in imports(file):
        library = module.split(".")[0]
        if library in OUTSIDE:
            assert owner in OUTSIDE[library], f"{owner} imports {library}"
            assert when != "import" or owner == OUTSIDE[library][0], f"{owner} imports {library} before it is used"


def test_one_folder_imports_wgpu() -> None:
    found = {
        file.parent
        for file in modules()
        for module, when in imports(file)
        if module.split(".")[0] == "wgpu" and when != "annotations"
    }
    assert found == {SOURCE / "gpu" / "backend"}


def test_modules_stay_short() -> None:
    lengths = {str(file.relative_to(SOURCE)): len(file.read_text().splitlines()) for file in modules()}
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}


def test_no_module_is_called_utils() -> None:
    for file in modules():
        assert file.stem not in ("utils", "util", "helpers", "common", "misc")


def test_the_import_is_light() -> None:
    # Together these would make the import of gpustruct take a third longer.
    late = ["wgpu", "lark", "rich", "difflib", "secrets", "shutil", "numpy.typing"]
    late += [f"gpustruct.{name}" for name in ("dtypes", "files", "report", "sources", "uniform", "views", "wgsl")]
    code = f"import sys, numpy; before = set(sys.modules); import gpustruct; print({set(late)} & (set(sys.modules) - before))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "set()\n"


def test_star_import_is_light_too() -> None:
    code = "import sys; from gpustruct import *; print([m for m in ('wgpu', 'lark', 'rich') if m in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "[]\n"
