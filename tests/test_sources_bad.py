"""Wrong sources, each with the exact words that it gets: bad_sources/*.txt, in the form of bad_schemas.

Run as a script, this writes the files again with the messages of today, to be read in the diff.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace  # noqa: F401 - for the cases
from typing import Any

import numpy as np
import pandas  # noqa: F401 - for the cases
import polars  # noqa: F401 - for the cases
import pyarrow.dataset  # noqa: F401 - for the cases
import pytest

import gpustruct
from gpustruct import Struct, array, f32, mat4x4f, u32, vec3f, view  # noqa: F401 - for the cases
from test_bad_schemas import Case, read

FOLDER = Path(__file__).parent / "bad_sources"
CASES = [case for file in sorted(FOLDER.glob("*.txt")) for case in read(file)]


class Particle(Struct):
    position: vec3f
    life: f32


class Item(Struct):
    id: u32


class Camera(Struct):
    view: mat4x4f


class Body(Struct):
    inner: Particle
    pair: array[Particle, 2]


class System(Struct):
    n: u32
    particles: array[Particle]


@dataclasses.dataclass
class Row:
    position: Any
    life: Any


@dataclasses.dataclass
class Wide(Row):
    mass: Any = 1.0


class Pointed(ctypes.Structure):
    _fields_ = [("position", ctypes.POINTER(ctypes.c_float))]


class Objects(ctypes.Structure):
    _fields_ = [("position", ctypes.py_object)]


Pair = namedtuple("Pair", "position life")


class Tensor:
    """Looks like an array on a device that the CPU cannot read."""

    device = "cuda:0"

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def cpu(self) -> Any:
        return np.zeros(3)


P = np.zeros((3, 3))
GOOD = ((1.0, 2.0, 3.0), 4.0)


def outcome(case: Case) -> str:
    try:
        exec(compile(case.code, str(case.file), "exec", dont_inherit=True), {**vars(gpustruct), **globals()})
    except gpustruct.GpuStructError as error:
        return f"{type(error).__name__} {error.rule}\n{error}"
    except Exception as error:
        return f"an exception of another kind: {type(error).__name__}\n{error}"
    return "nothing was raised"


def test_there_are_enough_cases_and_each_has_its_own_title() -> None:
    assert len(CASES) >= 30
    assert len({(case.file, case.title) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file.stem}: {case.title}")
def test_the_exact_message(case: Case) -> None:
    assert outcome(case) == case.expected


def write_again(file: Path) -> None:
    blocks = []
    for case in read(file):
        quoted = "\n".join(f"> {line}" for line in outcome(case).split("\n"))
        blocks.append(f"# {case.title}\n{case.code}\n{quoted}\n")
    file.write_text("\n".join(blocks))


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.txt")):
        write_again(path)
