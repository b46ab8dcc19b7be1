"""The ways out of CommandError: `command` runs a command line, in an empty folder."""

from __future__ import annotations

from .case import Case

GOOD = "Path('a.wgsl').write_text('struct A { x: vec4f }')\n"
MODULE = "Path('shapes_{}.py').write_text('from gpustruct import *\\nclass A(Struct):\\n    x: f32\\nn = 3\\n')\n"

COMMANDS = [
    Case("CommandError file", GOOD + "command('inspect', @@)", "'b.wgsl'", "correct the path", "'a.wgsl'"),
    Case("CommandError encoding", "Path('a.wgsl').write_bytes('/* é */ struct A { x: f32 }'.encode('@@'))\ncommand('inspect', 'a.wgsl')", "latin-1", "convert it", "utf-8"),
    Case("CommandError folder-empty", "import os\nos.makedirs('d')\n" + GOOD + "command('check', @@)", "'d'", "name the files", "'a.wgsl'"),
    Case("CommandError schema-module", MODULE.format(1) + "command('inspect', '@@:A')", "shape_1", "run in the folder that has it", "shapes_1"),
    Case("CommandError schema-class", MODULE.format(2) + "command('inspect', 'shapes_2:@@')", "B", "correct the name", "A"),
    Case("CommandError schema-type", MODULE.format(3) + "command('inspect', 'shapes_3:@@')", "n", "name a subclass of Struct", "A"),
    Case("CommandError struct-missing", GOOD + "command('inspect', 'a.wgsl', '--struct', '@@')", "B", "it has (.+)"),
    Case("CommandError folder-write", GOOD + "command('inspect', 'a.wgsl', '--svg', @@)", "'a.wgsl'", "pass another", "'pictures'"),
    Case("CommandError write", GOOD + "import os\nos.makedirs('d')\ncommand('stubs', 'a.wgsl', '--output', @@)", "'d'", "pass another path", "'a.py'"),
    Case("CommandError python-input", GOOD + "command('inspect', '--python', 'a.wgsl'@@)", ", 'a.wgsl'", "name one WGSL file", ""),
    Case("CommandError rule-unknown", "command('explain', @@)", "'array-counts'", r"did you mean ('array-count')"),
    Case("CommandError size-schema", "command('bench', '--schema', 'Kilobyte', '--rounds', '1', '--size', '@@')", "9_000_000", "use at most", "10"),
]  # fmt: skip

COMMANDS_NOTHING: dict[str, str] = {
    "CommandError whole-number": "argparse says it: tests/test_cli.py",
    "CommandError memory": "needs a machine that has no memory left",
    "CommandError percent": "argparse says it: tests/test_cli_check.py",
    "CommandError nothing": "needs a shader without bindings for verify: tests/test_cli_verify.py",
    "CommandError part-missing": "needs an installation that lacks a file",
}
