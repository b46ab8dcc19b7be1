"""Wrong schemas and sources, each with the exact words that it gets: bad_schemas/*.txt.

A case is a title, Python lines, and the error after "> ": class, rule, then the message. Run as a
script, this writes the files again with the messages of today, to be read in the diff.
"""

from __future__ import annotations

import io
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpustruct
from gpustruct import types
from messages import Case, outcome, read, write_again

FOLDER = Path(__file__).parent / "bad_schemas"


CASES = [case for file in sorted(FOLDER.glob("*.txt")) for case in read(file)]


class Particle(gpustruct.Struct):
    position: gpustruct.vec3f
    life: gpustruct.f32


class Body(gpustruct.Struct):
    id: gpustruct.u32
    inner: Particle


class Camera(gpustruct.Struct):
    view: gpustruct.mat4x4f
    position: gpustruct.vec3f


class Weights(gpustruct.Struct):
    values: gpustruct.array[gpustruct.f32, 8]


class Polyline(gpustruct.Struct):
    points: gpustruct.array[gpustruct.vec2f, 4]


class Swarm(gpustruct.Struct):
    particles: gpustruct.array[Particle, 8]


class Tail(gpustruct.Struct):
    count: gpustruct.u32
    values: gpustruct.array[gpustruct.f32]


class StructTail(gpustruct.Struct):
    count: gpustruct.u32
    particles: gpustruct.array[Particle]


class Stubborn:
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise RuntimeError("not today")


class Series:
    """Looks like a nullable column of pandas."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, object)

    def fillna(self, value: float) -> list[Any]:
        return [value if item is None else item for item in self.values]


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape)


def read_only() -> np.ndarray:
    array = np.zeros(80, np.uint8)
    array.flags.writeable = False
    return array


def scope() -> dict[str, Any]:
    names = {name: getattr(gpustruct, name) for name in gpustruct.__all__}
    own = {
        cls.__name__: cls
        for cls in (Particle, Body, Camera, Weights, Polyline, Swarm, Tail, StructTail, Stubborn, Series)
    }
    return {
        **names,
        **own,
        "PARTICLES": Particle(position=ones(5, 3), life=1),
        "READONLY": read_only(),
        "Annotated": typing.Annotated,
        "vertex": gpustruct.vertex,
        "Literal": typing.Literal,
        "__name__": __name__,
        "make_struct": types.make_struct,
        "io": io,
        "np": np,
        "ones": ones,
        "typing": typing,
    }


def test_there_are_enough_cases_and_each_has_its_own_title() -> None:
    assert len(CASES) >= 60
    assert len({(case.file, case.title) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file.stem}: {case.title}")
def test_the_exact_message(case: Case) -> None:
    assert outcome(case, scope()) == case.expected


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.txt")):
        write_again(path, scope)
