"""The page of each rule: its small case raises the rule, and the code that works does.

Run as a script, this writes gpustruct/errors/cases.json again: for each rule the shortest of the cases in advice_cases, and
for each warning the shortest text of tests/data/wgsl-texts.json that gives it.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import json
import os
import re
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest

import advice_cases
import gpustruct
from gpustruct import cli, errors, wgsl
from gpustruct.errors import pages

FILE = Path(errors.__file__).with_name("cases.json")
# Rules whose case a few lines of code cannot make; advice_cases says why.
WITHOUT = set(advice_cases.NOTHING_TO_TYPE)
DEVICE = "device = wgpu.gpu.request_adapter_sync().request_device_sync()"
KNOWN = sorted(pages.cases().items())


def names_of() -> dict[str, str]:
    """For each name that a case may use, the line that imports or makes it."""
    lines = {name: f"from gpustruct import {name}" for name in [*gpustruct.__all__, "vertex", "wgsl"]}
    lines |= {name: f"from gpustruct.vertex import {name}" for name in gpustruct.vertex.__all__ if name not in lines}
    lines |= {name: f"from typing import {name}" for name in ("Annotated", "Literal")}
    lines |= {"np": "import numpy as np", "Path": "from pathlib import Path", "gpustruct": "import gpustruct"}
    lines |= {name: f"from gpustruct.gpu import {name}" for name in gpustruct.gpu.__all__}
    lines |= {"wgpu": "import wgpu", "os": "import os"}
    lines |= {"make_struct": "from gpustruct.types import make_struct"}
    lines |= {"device": f"import wgpu\n{DEVICE}"}
    lines |= {"other": "import wgpu\nother = lambda: wgpu.gpu.request_adapter_sync().request_device_sync()"}
    return lines


def whole(code: str) -> str:
    """The code of a case, with the imports that it needs."""
    known = ("from gpustruct.gpu import *", "import wgpu", "import os")
    text = "\n".join(line for line in code.split("\n") if line.strip() and line not in known)
    seen = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    stored = {node.id for node in seen if isinstance(node.ctx, ast.Store)}
    used = {line for name, line in names_of().items() if name in {node.id for node in seen} - stored}
    imported: dict[str, list[str]] = {}
    other: list[str] = []
    for line in sorted(used):
        module, _, name = line.partition(" import ")
        if module.startswith("from "):
            imported.setdefault(module, []).append(name)
        else:
            other += [part for part in line.split("\n") if part not in other]
    lines = [line for line in other if line.startswith("import")]
    lines += [f"{module} import {', '.join(found)}" for module, found in sorted(imported.items())]
    lines += [line for line in other if not line.startswith("import")]
    return "\n".join([*lines, "", text]) if lines else text


def outcomes(code: str) -> list[Any]:
    """The error of gpustruct's that the code ends with as a program of its own, if one does, and the warnings that it gives."""
    module = type(re)("page")
    vars(module).update(command=advice_cases.command, device=advice_cases.new_device(0))
    # One device for all: making one takes longer than most cases.
    code = code.replace(f"\n{DEVICE}\n", "\n")
    ends: list[Any] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(code, "page", "exec", dont_inherit=True), vars(module))
        except errors.GpuStructError as error:
            ends.append(error)
        except (TypeError, IndexError, AttributeError) as error:
            # What Python itself wants raised for an index, a length or an assignment has our words too.
            ends.append(reworded(error) or error)
    return ends + [one.message for one in caught if isinstance(one.message, errors.BackendWarning)]


def outcome(code: str, name: str = "") -> Any:
    """The error or warning that is called "Class rule", else the first one."""
    found = outcomes(code)
    named = [one for one in found if f"{type(one).__name__} {getattr(one, 'rule', '')}" == name]
    return next(iter([*named, *found]), None)


def reworded(error: Exception) -> Exception | None:
    found = pages._of_message(" ".join(str(error).split()))
    for rule, cls in found:
        made = cls(str(error))
        made.rule = rule
        return made
    return None


def emptied(folder: Path) -> None:
    for made in folder.iterdir():
        shutil.rmtree(made) if made.is_dir() else made.unlink()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "case"), KNOWN, ids=[name for name, _ in KNOWN])
def test_the_case_raises_the_rule_and_the_code_that_works_does_not(
    name: str, case: dict[str, str], folder: Path, device: Any
) -> None:
    error = outcome(case["code"], name)
    assert f"{type(error).__name__} {error.rule}" == name
    assert f"# {error.rule}\n" in pages.explain(f"gpustruct.errors.{type(error).__name__}: {error}")
    if "fixed" in case:
        emptied(folder)
        assert not isinstance(outcome(case["fixed"]), errors.GpuStructError)


def test_almost_every_rule_has_a_case() -> None:
    every = {f"{cls.__name__} {rule}" for cls in pages.CLASSES for rule in cls.templates}
    assert set(dict(KNOWN)) <= every
    # A new rule may wait until cases.json is written again.
    assert len(every - set(dict(KNOWN)) - WITHOUT) < 20
    assert not WITHOUT & set(dict(KNOWN))


def test_explain_takes_a_name_a_message_or_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "array-count"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("# array-count")
    assert "array[f32, 0]" in page
    message = "gpustruct.errors.LayoutError: array stride must be a multiple of 16\n in uniform (current: 4) - at W.values; use"
    assert cli.main(["explain", *message.split()]) == 0
    assert capsys.readouterr().out.startswith("# array-stride-uniform")
    assert cli.main(["explain"]) == 0
    assert capsys.readouterr().out.split() == pages.rules()


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "zzz"]) == cli.FAILED
    assert "lists the rules" in capsys.readouterr().err


def test_an_error_has_its_page() -> None:
    error = outcome(dict(KNOWN)["LayoutError member-name"]["code"])
    assert error.explain() == pages.explain("member-name")


def chosen() -> dict[str, dict[str, str]]:
    """For "Class rule" the shortest case whose code runs as a program."""
    import test_advice

    found: dict[str, dict[str, str]] = {}
    for case in advice_cases.CASES:
        code = case.code.replace("@@", case.wrong)
        emptied(Path.cwd())
        error = test_advice.raised(code)
        emptied(Path.cwd())
        advice = re.search(case.advice, test_advice.way_out(error)) if error else None
        assert advice, case
        typed = case.put.replace("@@", advice[1] if advice.groups() else "")
        entry = {"code": whole(code), "fixed": whole(case.fixed or case.code.replace("@@", typed))}
        try:
            other = outcome(entry["code"])
        except Exception as failed:
            print(entry["code"])
            other = failed
        if not isinstance(other, errors.GpuStructError) or other.rule != case.rule.split()[1]:
            print("not a program:", case.rule, repr(other))
            continue
        emptied(Path.cwd())
        try:
            works = outcome(entry["fixed"])
        except Exception as failed:
            works = failed
        if works is not None and not isinstance(works, errors.BackendWarning):
            print("does not work as a program:", case.rule, repr(works))
            continue
        if case.rule not in found or len(entry["code"]) < len(found[case.rule]["code"]):
            found[case.rule] = entry
    return found


# Texts for the warnings that no text of tests/data/wgsl-texts.json gives.
TEXTS = [
    "struct A { @align(16) x: f32 } struct B { n: u32, a: A }",
    "@group(0) @binding(0) var<storage, read> a: atomic<u32>;",
    "const a = 1 << 2 + 3;",
    "struct A { x: array<f32, 4> } @group(0) @binding(0) var<uniform> a: A;",
    "struct A { n: u32, @size(64) x: array<f32> }",
    "enable f16; var<immediate> a: vec2h;",
    "struct M { m: mat3x2f } struct N { m: M } @group(0) @binding(0) var<uniform> n: N;",
    "requires uniform_buffer_standard_layout; struct A { x: array<f32, 4> } @group(0) @binding(0) var<uniform> a: A;",
    "const a: f64 = 1.0;",
    "struct A { x: u64 }",
    "struct A { x: i64 }",
    "@fragment fn f(@builtin(subgroup_size) n: u32) {}",
    "@compute @workgroup_size(1) fn f(@builtin(subgroup_size) n: u32) {}",
]


def warned() -> dict[str, dict[str, str]]:
    """For each warning, the shortest text that gives it."""
    texts = json.loads((Path(__file__).parent / "data" / "wgsl-texts.json").read_text())
    found: dict[str, dict[str, str]] = {}
    shortest = sorted([*TEXTS, *(entry["text"] for entry in texts)], key=len)
    for target, text in itertools.product(("spec", "naga", "tint"), shortest):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with contextlib.suppress(errors.GpuStructError):
                wgsl.parse(text, target=target)
        for rule in {getattr(one.message, "rule", "") for one in caught}:
            aimed = "" if target == "spec" else f", target={target!r}"
            code = f"from gpustruct import wgsl\n\nwgsl.parse({text.strip()!r}{aimed})"
            if (
                f"BackendWarning {rule}" not in found
                and getattr(outcome(code, f"BackendWarning {rule}"), "rule", "") == rule
            ):
                found[f"BackendWarning {rule}"] = {"code": code}
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        written = dict(sorted({**chosen(), **warned()}.items()))
        os.chdir("/")
    FILE.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(len(written), "cases")
