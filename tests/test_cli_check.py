"""gpustruct check: its findings in faulty shaders, kept word for word, and the ways to read and print them."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gpustruct.cli import main

GOLDEN = Path(__file__).parent / "golden" / "check"
FAULTY = sorted(path.stem for path in GOLDEN.glob("*.wgsl") if path.stem not in ("clean", "template"))


@pytest.fixture(autouse=True)
def _in_the_golden_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)


# To take over intended changes: GPUSTRUCT_GOLDEN=write pytest tests/test_cli_check.py, and read the difference.
@pytest.mark.parametrize("name", FAULTY)
def test_findings_word_for_word(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{name}.wgsl"]) == 1
    found = capsys.readouterr().out
    if os.environ.get("GPUSTRUCT_GOLDEN") == "write":
        (GOLDEN / f"{name}.txt").write_text(found, encoding="utf-8")
    assert found == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_there_are_at_least_ten_faulty_shaders() -> None:
    assert len(FAULTY) >= 10


def test_a_clean_shader_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "clean.wgsl"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_folder_is_walked_and_dot_folders_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in ("b/c", ".hidden"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "gap.wgsl").write_bytes((GOLDEN / "gap.wgsl").read_bytes())
    (tmp_path / "a.wgsl").write_bytes((GOLDEN / "waste.wgsl").read_bytes())
    (tmp_path / "notes.txt").write_text("no shader")
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 1
    found = capsys.readouterr()
    assert [line.partition(":")[0] for line in found.out.splitlines()] == ["./a.wgsl", "./b/c/gap.wgsl"]
    assert found.err == "2 findings in 2 of 2 files\n"


# Templates.

TEMPLATES = {
    "naga_oil.wgsl": "#import bevy::view\n#ifdef A\nstruct A { a: f32, b: vec3f }\n#endif\n",
    "jinja.wgsl": "struct A { a: f32 }\n{{ code }}\n",
    "literal.wgsl": "const N = ${N};\nstruct A { a: array<f32, N> }\n",
    "imports.wesl": "import package::shapes::Ball;\nstruct A { a: Ball }\n",
    "paths.wesl": "struct A { a: package::shapes::Ball }\n",
    "conditions.wesl": "@if(wide) struct A { a: vec4f }\n@else struct A { a: f32 }\n",
}


def test_templates_are_counted_once_for_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("one", "one/inner", "two"):
        (tmp_path / folder).mkdir()
        for name, text in TEMPLATES.items():
            (tmp_path / folder / name).write_text(text)
        (tmp_path / folder / "plain.wesl").write_text("struct A { a: f32 }")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "one", "two", "one/jinja.wgsl"]) == 0
    assert capsys.readouterr() == (
        "",
        "12 texts in one are templates or incomplete: only declarations that need nothing else were checked; the first is one/conditions.wesl:1: @if(wide) struct A { a: vec4f }\n"
        "6 texts in two are templates or incomplete: only declarations that need nothing else were checked; the first is two/conditions.wesl:1: @if(wide) struct A { a: vec4f }\n",
    )
    assert main(["check", "--ignore", "preprocessor", "one"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["check", "--format", "json", "one/jinja.wgsl", "two/literal.wgsl"]) == 0
    found = capsys.readouterr()
    assert json.loads(found.out) == []
    assert (
        found.err
        == "2 texts are templates or incomplete: only declarations that need nothing else were checked; the first is one/jinja.wgsl:2: {{ code }}\n"
    )


def test_what_stands_on_its_own_in_a_template_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shader = tmp_path / "template.wgsl"
    shader.write_text("#import a\n" + (GOLDEN / "gap.wgsl").read_text() + "{{ more }}\n")
    assert main(["check", str(shader)]) == 1
    found = capsys.readouterr()
    assert found.out.startswith(f"{shader}:8:36: gap-uniform: scene: ")
    assert found.err.startswith(
        "1 text is a template or incomplete: only declarations that need nothing else were checked; "
        f"the first is {shader}:1: #import a\n"
    )


def test_a_text_that_needs_another_of_the_folder_is_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a_light.wgsl").write_text("struct Lights { items: array<Light, COUNT> }\nstruct Other { a: f32 }")
    (tmp_path / "b_scene.wgsl").write_text("fn f(s: Other) {}\n@group(0) @binding(0) var<uniform> gap: array<f32, 4>;")
    (tmp_path / "c_types.wgsl").write_text("// struct Sphere\nstruct Light { color: vec3f }\nconst COUNT = 4;")
    (tmp_path / "d_wrong.wgsl").write_text("fn g(s: Sphere) {}\nfn h(s: Lihgt) {}")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "."]) == 1
    found = capsys.readouterr()
    assert [line.split(": ")[:2] for line in found.out.splitlines()] == [
        ["./b_scene.wgsl:2:36", "array-stride-uniform"],
        ["./d_wrong.wgsl:1:9", "unresolved"],
    ]
    assert found.err.splitlines()[0] == (
        "2 texts in . are templates or incomplete: only declarations that need nothing else were checked; "
        "the first is ./a_light.wgsl:1: Light, which ./c_types.wgsl declares"
    )
    # Alone, nobody says what it is a part of.
    assert main(["check", "a_light.wgsl"]) == 1
    assert main(["check", "a_light.wgsl", "c_types.wgsl"]) == 0


def test_wesl_that_is_wrong_is_no_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shader = tmp_path / "wrong.wesl"
    shader.write_text("struct A { a f32 }")
    assert main(["check", str(shader)]) == 1
    assert ": syntax: " in capsys.readouterr().out


def test_a_file_named_twice_is_read_once(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "gap.wgsl", "gap.wgsl"])
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((GOLDEN / "gap.wgsl").read_bytes())))
    assert main(["check", "-"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:7:36: gap-uniform: scene: ")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "json", "gap.wgsl", "waste.wgsl"]) == 1
    first, second = json.loads(capsys.readouterr().out)
    assert {key: first[key] for key in ("path", "line", "column", "severity", "rule")} == {
        "path": "gap.wgsl", "line": 7, "column": 36, "severity": "error", "rule": "gap-uniform"
    }  # fmt: skip
    assert (second["rule"], second["severity"]) == ("waste", "warning")
    assert main(["check", "--format", "json", "clean.wgsl"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_github_annotations_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    strange = tmp_path / "50%,a:b.wgsl"
    strange.write_bytes((GOLDEN / "waste.wgsl").read_bytes())
    assert main(["check", "--format", "github", str(strange)]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    place, _, message = line.removeprefix("::").partition("::")
    assert place.startswith("warning file=") and place.endswith("50%25%2Ca%3Ab.wgsl,line=1,col=8,title=waste")
    assert "(45 %25)" in message


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        (["waste.wgsl", "--waste", "44"], ["waste"]),
        (["waste.wgsl", "--waste", "45"], []),
        (["waste.wgsl", "--ignore", "waste"], []),
        (["array_stride.wgsl", "--standard-layout"], []),
        (["naga_align.wgsl", "--ignore", "naga-align"], []),
        (["template.wgsl", "--waste", "0"], []),
        (["template.wgsl", "--skip", "--waste", "0"], []),
        (["wide.wgsl", "--target", "spec"], ["extension-type"]),
        (["wide.wgsl", "--target", "naga"], []),
        (["wide.wgsl", "--target", "tint"], ["extension-type"]),
        (["array_stride.wgsl", "--target", "tint"], []),
        (["array_stride.wgsl", "--target", "naga"], ["array-stride-uniform"] * 2),
        (["naga_align.wgsl", "--target", "naga"], ["naga-align"]),
        (["naga_align.wgsl", "--target", "tint"], []),
    ],
)
def test_options(arguments: list[str], rules: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *arguments]) == bool(rules)
    assert [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()] == rules


def test_waste_needs_a_smaller_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lone = tmp_path / "lone.wgsl"
    lone.write_text("struct A { a: vec4f, b: f32 } @group(0) @binding(0) var<storage> a: array<A>;")
    assert main(["check", str(lone), "--waste", "0"]) == 0


def test_the_header_of_a_runtime_sized_struct_wastes_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tail = tmp_path / "tail.wgsl"
    tail.write_text(
        "struct A { a: f32, b: vec3f, c: vec3f, d: f32, e: array<vec4f> } @group(0) @binding(0) var<storage> a: A;"
    )
    assert main(["check", str(tail)]) == 1
    assert "A has 16 of 48 bytes of padding (33 %), 16 bytes less in the order" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.wgsl"], "no such file or directory"),
        (["latin.wgsl"], "byte 0xe9, 6 bytes in"),
        (["empty"], "a folder must contain .wgsl or .wesl files"),
        (["a\0b"], "null byte"),
    ],
)
def test_what_cannot_be_read(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "latin.wgsl").write_bytes(b"// caf\xe9\n")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["check", *arguments]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith("gpustruct: ")
    assert said in found.err


def test_one_unreadable_file_does_not_hide_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "missing.wgsl", "gap.wgsl"]) == 2
    assert "gap-uniform" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["x", "-1", "101", "nan"])
def test_waste_is_a_percentage(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"--waste={value}", "clean.wgsl"]) == 2
    assert "it must be a percentage from 0 to 100" in capsys.readouterr().err


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    marked = tmp_path / "marked.wgsl"
    marked.write_bytes(b"\xef\xbb\xbf" + (GOLDEN / "clean.wgsl").read_bytes())
    assert main(["check", str(marked)]) == 0


def test_the_hook_runs_this_command() -> None:
    text = (GOLDEN.parents[2] / ".pre-commit-hooks.yaml").read_text()
    fields: dict[str, Any] = dict(line.strip(" -").split(": ", 1) for line in text.splitlines() if ": " in line)
    assert fields["entry"] == "gpustruct check"
    assert fields["files"] == r"\.(wgsl|wesl)$"
