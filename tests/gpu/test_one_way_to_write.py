"""Every byte that gpustruct writes into a wgpu buffer goes through one module, and one knows wgpu-py's private names and texts."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import wgpu

SOURCE = Path(__file__).parent.parent.parent / "src" / "gpustruct"

# The methods that write into a buffer. A compute pass writes when it calls `dispatch_workgroups`.
WRITING = {
    "write_buffer",
    "clear_buffer",
    "copy_buffer_to_buffer",
    "copy_texture_to_buffer",
    "resolve_query_set",
    "dispatch_workgroups",
    "dispatch_workgroups_indirect",
    "submit",
    "wgpuQueueWriteBuffer",
}
# The functions that may call them, by module.
ALLOWED = {
    "gpu/commands.py": {"send_all", "send_bytes", "_record"},
    # wgpu always refuses this write.
    "gpu/backend/liveness.py": {"_ask_alive"},
    # It writes into its own buffer.
    "gpu/backend/mapping.py": {"_later_request"},
    # Only gpu/commands.py calls what this returns.
    "gpu/backend/memory.py": {"write_from"},
    # It runs its own shader, as a user would.
    "cli/demo.py": {"_simulate"},
}
# The folder that knows wgpu-py's private names and error texts.
BACKEND = SOURCE / "gpu" / "backend"


def calls(tree: ast.AST, function: str = "") -> list[tuple[str, str]]:
    """(function, method) of each call of a method in WRITING."""
    found: list[tuple[str, str]] = []
    for node in ast.iter_child_nodes(tree):
        inside = node.name if isinstance(node, ast.FunctionDef) else function
        if isinstance(node, ast.Attribute) and node.attr in WRITING:
            found.append((inside, node.attr))
        found += calls(node, inside)
    return found


def test_only_one_function_calls_what_writes() -> None:
    for file in SOURCE.rglob("*.py"):
        name = str(file.relative_to(SOURCE))
        if name == "threads.py":  # Its executor has a `submit` too.
            continue
        for function, method in calls(ast.parse(file.read_text())):
            assert name in ALLOWED, f"{name}: {function} calls {method}"
            assert function in ALLOWED[name], f"{name}: {function} calls {method}"


def test_the_methods_are_all_that_wgpu_has() -> None:
    """A method of an encoder or a queue that wgpu-py adds later must be looked at."""
    reading = {"copy_buffer_to_texture", "copy_texture_to_texture", "read_buffer", "read_texture", "write_texture"}
    classes = (wgpu.GPUQueue, wgpu.GPUCommandEncoder)
    methods = {name for kind in classes for name in dir(kind) if name.startswith(("write", "copy", "clear", "read"))}
    assert methods - {"write_timestamp"} <= WRITING | reading


def ours() -> set[str]:
    """The private names that gpustruct defines."""
    found: set[str] = set()
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
    return {name for name in found if name.startswith("_")}


def foreign_names(tree: ast.AST, own: set[str]) -> list[str]:
    """The private names in `tree` that belong to neither gpustruct nor the object itself."""
    found: list[str] = []
    for node in ast.walk(tree):
        name = ""
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            name = node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            name = node.value
        elif isinstance(node, ast.ImportFrom) and not node.level:
            name = next((part for part in (node.module or "").split(".") if part.startswith("_")), "")
        private = name.startswith("_") and name.strip("_") and not name.startswith(("__", "_gpustruct_"))
        found += [name] if private and name not in own else []
    return found


def read_error_texts(tree: ast.AST) -> list[str]:
    """Expressions that search in the text of an exception, or in a text for a function of wgpu-native."""
    found: list[str] = []
    for handler in (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name):
        text = f"str({handler.name})"
        found += [
            ast.unparse(node)
            for node in ast.walk(handler)
            if isinstance(node, ast.Compare) and text in ast.unparse(node)
        ]
    constants = (
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return found + [value for value in constants if re.search(r"\bwgpu[A-Z]", value)]


def test_one_folder_knows_private_names_and_error_texts() -> None:
    own = ours() - {"_device"} | {"_replace"}  # NamedTuple has the latter.
    backend = [ast.parse(file.read_text()) for file in BACKEND.glob("*.py")]
    assert any(foreign_names(tree, own) for tree in backend), "the search finds nothing where it must"
    assert any(read_error_texts(tree) for tree in backend), "the search finds nothing where it must"
    for file in (SOURCE / "gpu").glob("*.py"):
        tree = ast.parse(file.read_text())
        assert foreign_names(tree, own) == [], file.name
        assert read_error_texts(tree) == [], file.name
