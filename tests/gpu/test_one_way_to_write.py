"""Every byte that gpustruct writes into a wgpu buffer goes through one function, and one module knows wgpu-py's secrets."""

from __future__ import annotations

import ast
from pathlib import Path

import wgpu

SOURCE = Path(__file__).parent.parent.parent / "src" / "gpustruct"

# What writes into a buffer. `dispatch_workgroups` stands for a compute pass.
WRITING = {
    "write_buffer",
    "clear_buffer",
    "copy_buffer_to_buffer",
    "copy_texture_to_buffer",
    "resolve_query_set",
    "dispatch_workgroups",
    "dispatch_workgroups_indirect",
    "submit",
}
# The module, and the only functions of it that call these.
ALLOWED = {
    "gpu/commands.py": {"send_all", "send_bytes", "_record"},
    # It asks whether a buffer is alive, by a write that wgpu always refuses.
    "gpu/backend.py": {"_ask_alive", "_question"},
    # It runs a shader of its own as a user would.
    "cli/demo.py": {"_simulate"},
}
PRIVATE = {"_poller", "_thread_event", "_device", "_wgpu_set_input", "_experimental_get_mapped_range", "_internal"}


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


def test_one_module_knows_private_names() -> None:
    for file in (SOURCE / "gpu").glob("*.py"):
        if file.name == "backend.py":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
            if isinstance(node, ast.Attribute) and node.attr in PRIVATE and not own:
                raise AssertionError(f"{file.name}:{node.lineno} uses {ast.unparse(node)}")
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in PRIVATE | {"READ_NOSYNC"}, f"{file.name}:{node.lineno}"
