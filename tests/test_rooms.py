"""Each room imports only rooms above it; nothing heavy is loaded before it is used."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "gpustruct"

# From the top. A room may import those that stand above it; those of one line stand side by side.
ROOMS: list[set[str]] = [
    {"errors", "names", "table", "zero_filled"},
    {"layout"},
    {"_kernel"},
    {"_numbers", "_batches"},
    {"_records", "_views", "_binding"},
    {"column_checks"},
    {"libraries"},
    {"batches"},
    {"members"},
    {"classes"},
    {"types"},
    {"wgsl"},
    {"threads", "columns", "dtypes"},
    {"plan"},
    {"sources"},
    {"packing"},
    {"unpacking"},
    {"views", "uniform"},
    {"report"},
    {"gpu", "workloads"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
# Outside libraries that only some rooms see. The first room is loaded when it is used, the others
# import the library where they use it.
OUTSIDE = {
    "wgpu": ["gpu", "cli", "workloads"],
    "lark": ["wgsl"],
    "rich": ["", "report", "cli", "gpu"],
    "shtab": ["", "cli"],
}


def room_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".pyx").removesuffix(".py")


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def imports(file: Path) -> Iterator[tuple[str, str]]:
    """(module, when) of each import; relative ones as "gpustruct.room...".

    `when` is "import" for what runs when the module is loaded, "annotations" for what a type checker alone reads,
    and "use" inside functions.
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


def test_every_room_has_its_place() -> None:
    assert {room_of(file) for file in modules()} <= LEVEL.keys()


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_go_up_only(file: Path) -> None:
    room = room_of(file)
    for module, _ in imports(file):
        parts = module.split(".")
        if parts[0] != "gpustruct" or len(parts) < 2 or parts[1] == room:
            continue
        assert parts[1] in LEVEL, f"{room} imports {module}, which is no room"
        assert LEVEL[parts[1]] < LEVEL[room], f"{room} imports {module}, which is no room above it"


def test_no_modules_import_each_other() -> None:
    # Inside a room too, where there is no order of rooms to keep; not for annotations either: whoever reads the one
    # has to read the other.
    named = {".".join(["gpustruct", *file.relative_to(SOURCE).with_suffix("").parts]): file for file in modules()}
    named = {name.removesuffix(".__init__"): file for name, file in named.items()}
    graph = {
        name: {module for module, when in imports(file) if when != "use" and module in named}
        for name, file in named.items()
    }
    assert list(graphlib.TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_libraries_stay_in_their_rooms(file: Path) -> None:
    room = room_of(file)
    for module, when in imports(file):
        library = module.split(".")[0]
        if library in OUTSIDE:
            assert room in OUTSIDE[library], f"{room} imports {library}"
            assert when != "import" or room == OUTSIDE[library][0], f"{room} imports {library} before it is used"


def test_no_room_is_called_utils() -> None:
    for file in modules():
        assert file.stem not in ("utils", "util", "helpers", "common", "misc")


def test_the_import_is_light() -> None:
    code = "import sys, gpustruct; print([m for m in ('wgpu', 'lark', 'rich') if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "[]\n"


def test_star_import_is_light_too() -> None:
    code = "import sys; from gpustruct import *; print([m for m in ('wgpu', 'lark', 'rich') if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "[]\n"
