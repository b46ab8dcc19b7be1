"""stubs: the Python text of a shader's structs. Run, it makes classes that `check` finds equal to the shader's."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import strategies
from gpustruct import BackendWarning, WgslError, wgsl
from gpustruct.cli import main
from truth import CASES

ROOT = Path(__file__).parent.parent
VERDICTS = json.loads((ROOT / "tests" / "data" / "wgsl-verdicts.json").read_text())
SHADERS = sorted((ROOT / "tests" / "golden").rglob("*.wgsl"))
TEXTS = {
    **{f"{case['root']}-{k}": case["wgsl"] for k, case in enumerate(CASES)},
    **{f"verdict-{entry['name']}": entry["wgsl"] for entry in VERDICTS},
    **{path.name: path.read_text() for path in SHADERS},
}
# Names that Python has for itself, that the text imports, or that name a type and a member.
NAMES = """
enable f16;
struct Uses { x: lambda, Light: array<Light, 3>, f: vec2f, uses: f16 }
struct A {
  @align(16) @size(32) lambda: f32, self_: f32, None: u32, b: atomic<u32>, @align(16) c: vec3h,
  @size(32) align: u32, size: mat3x2h, Struct: array<array<vec4f, 2>, 3>,
}
struct lambda { def: A }
struct Struct { a: vec3i, f32: f32 }
struct Light { f32: f32, Annotated: vec3f, TYPE_CHECKING: u32, make_struct: u32, @align(32) array: array<u32, 4> }
struct array_ { array_: f32 }
struct Flags { on: bool }
struct Tail { n: u32, tail: array<Light> }
struct ﬁ { x: u32, ﬁ: f32 }
struct None { Δt: f32 }
"""


def parsed(text: str) -> wgsl.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BackendWarning)
        return wgsl.parse(text, skip=True, standard_layout=True)


def run(text: str) -> dict[str, Any]:
    """The classes that a text makes, by the names that they have in WGSL."""
    namespace: dict[str, Any] = {"__name__": "structs_of_a_test"}
    exec(compile(text, "<stubs>", "exec", dont_inherit=True), namespace)
    return {value.__name__: value for value in namespace.values() if getattr(value, "__module__", "") == "structs_of_a_test"}  # fmt: skip


def assert_equal(module: wgsl.Module) -> None:
    made = run(wgsl.stubs(module))
    assert set(made) == set(module.structs)
    for name, cls in made.items():
        assert wgsl.check(cls, module) is module.structs[name]


@pytest.mark.parametrize("name", TEXTS)
def test_the_classes_are_those_of_the_shader(name: str) -> None:
    assert_equal(parsed(TEXTS[name]))


def test_there_are_many_texts() -> None:
    assert len(TEXTS) > 250
    assert sum(len(parsed(text).structs) for text in TEXTS.values()) > 250


@settings(max_examples=200, deadline=None)
@given(strategies.structs())
def test_the_classes_are_those_of_any_struct(cls: Any) -> None:
    assert_equal(parsed(wgsl.declare(cls)))


def test_names_that_python_has_for_itself() -> None:
    module = parsed(NAMES)
    assert not module.skipped
    assert_equal(module)
    made = run(wgsl.stubs(module))
    assert made["lambda"].__members__["def"].type is made["A"]
    assert list(made["A"].__members__)[:3] == ["lambda", "self_", "None"]
    assert "# Flags has no class: Flags.on: bool is not host-shareable; use u32\n" in wgsl.stubs(module)


def test_it_reads_as_a_person_would_write_it() -> None:
    text = """struct Scene { lights: array<Light, 4>, count: atomic<u32>, items: array<mat3x4f> }
    struct Light { @align(32) color: vec3f, @size(16) kind: u32 }"""
    assert wgsl.stubs(parsed(text)) == (
        "from typing import Annotated\n\n"
        "from gpustruct import Struct, align, array, atomic, mat3x4f, size, u32, vec3f\n\n\n"
        "class Light(Struct):\n"
        "    color: Annotated[vec3f, align(32)]\n"
        "    kind: Annotated[u32, size(16)]\n\n\n"
        "class Scene(Struct):\n"
        "    lights: array[Light, 4]\n"
        "    count: atomic[u32]\n"
        "    items: array[mat3x4f]\n"
    )
    assert wgsl.stubs(wgsl.Module()) == ""


def test_a_type_checker_takes_the_text(tmp_path: Path) -> None:
    texts = {name: text for k, (name, text) in enumerate(TEXTS.items()) if k % 12 == 0 and parsed(text).structs}
    for index, text in enumerate([NAMES, *texts.values()]):
        (tmp_path / f"structs_{index}.py").write_text(wgsl.stubs(parsed(text)), encoding="utf-8")
    (tmp_path / "used.py").write_text(
        "from structs_0 import A, Light, Uses\n"
        "Light(f32=1, Annotated=(1, 2, 3), TYPE_CHECKING=1, make_struct=2, array=[1, 2, 3, 4])\n"
        "Light(f32=1)  # wrong\n"
        "print(Uses.f.offset, A.size.align, A.sizes)  # wrong\n"
    )
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT / "src")], "include": ["."]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(tmp_path)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    assert found["summary"]["filesAnalyzed"] > 20
    wrong = {(Path(each["file"]).name, each["range"]["start"]["line"]) for each in found["generalDiagnostics"]}
    assert wrong == {("used.py", 2), ("used.py", 3)}, found["generalDiagnostics"]


@pytest.mark.parametrize("other", ["struct A { a: f32 }", None, 3, wgsl])
def test_what_is_no_module_is_refused(other: Any) -> None:
    with pytest.raises(WgslError, match=r"write wgsl\.stubs\(wgsl\.parse\(text\)\)"):
        wgsl.stubs(other)


# The command.


def test_the_command_writes_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scene.wgsl").write_text("#import x\nstruct Light { color: vec3f, range: f32 }", encoding="utf-8")
    assert main(["stubs", "scene.wgsl"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("# The structs of scene.wgsl, written by `gpustruct stubs`")
    assert shown.err == "scene.wgsl:1: skipped: #import x\n"
    assert main(["stubs", "scene.wgsl", "-o", "scene.py"]) == 0
    assert Path("scene.py").read_text(encoding="utf-8") == shown.out
    light = run(shown.out)["Light"]
    assert wgsl.check(light, Path("scene.wgsl").read_text(), skip=True).__name__ == "Light"


@pytest.mark.parametrize(
    ("text", "arguments", "code", "said"),
    [
        ("struct A { a f32 }", [], 1, "a.wgsl:1:14: syntax: "),
        ("const N = 4;", [], 2, "there must be something to write"),
        ("struct A { a: f32 }", ["-o", "no/such/folder/a.py"], 2, "a file must be writable (current: no such file"),
        ("struct A { a: f32 }", ["-o", "a\0b"], 2, "a file must be writable"),
    ],
)
def test_the_command_says_what_is_wrong(
    text: str, arguments: list[str], code: int, said: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("a.wgsl").write_text(text)
    assert main(["stubs", "a.wgsl", *arguments]) == code
    found = capsys.readouterr()
    assert found.out == "" and said in found.err
