"""gpustruct verify: what it asks the device, and what it makes of the answers."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gpustruct import BindingError, gpu
from gpustruct.cli import main

SHADER = os.fspath(Path(__file__).parent / "golden" / "inspect" / "scene.wgsl")
FAULTY = os.fspath(Path(__file__).parent / "golden" / "check" / "syntax.wgsl")


class Answer:
    def __init__(self, name: str, agrees: bool) -> None:
        self.name, self.agrees = name, agrees

    def __bool__(self) -> bool:
        return self.agrees

    def __str__(self) -> str:
        return f"{self.name}: asked"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the structs that were asked about; Light is wrong, for Packed the device lacks a feature."""
    names: list[str] = []

    def verify(cls: Any) -> Answer:
        names.append(cls.__name__)
        if cls.__name__ == "Packed":
            raise BindingError("no shader-f16")
        return Answer(cls.__name__, cls.__name__ != "Light")

    monkeypatch.setattr(gpu, "verify", verify)
    return names


def test_every_struct_is_asked_about(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", SHADER]) == 1
    assert asked == ["Light", "MaterialBad", "Camera", "Lights", "Packed"]
    assert capsys.readouterr().out.splitlines() == [
        "Light: asked",
        "MaterialBad: asked",
        "Camera: asked",
        "Lights: asked",
        "Packed: not asked: no shader-f16",
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--struct", "Camera", SHADER], 0),
        (["--struct", "Light", SHADER], 1),
        (["--struct", "Packed", SHADER], 2),
        (["--struct", "Nobody", SHADER], 2),
        ([FAULTY], 1),
        (["--struct", "Camera", SHADER, FAULTY], 1),
        (["missing.wgsl"], 2),
    ],
)
def test_exit_codes(arguments: list[str], code: int, asked: list[str]) -> None:
    assert main(["verify", *arguments]) == code


def test_nothing_to_verify_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.wgsl"
    empty.write_text("fn f() {}")
    assert main(["verify", os.fspath(empty)]) == 2
    assert "there must be something to verify" in capsys.readouterr().err


def test_a_python_schema_on_the_device_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gpustruct.gpu.devices import default_device

    try:
        default_device()
    except BindingError as error:
        pytest.skip(str(error))
    (tmp_path / "schemas_verified.py").write_text(
        "from gpustruct import Struct, f32, vec3f\nclass Light(Struct):\n    range: f32\n    position: vec3f\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert main(["verify", "schemas_verified:Light"]) == 0
    assert capsys.readouterr().out.startswith("Light: ")
