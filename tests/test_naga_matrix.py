"""A matCx2 inside a struct inside a struct: where naga 29 reads it wrongly from uniform, we say so, and nowhere else."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from gpustruct import (
    BackendWarning,
    array,
    f32,
    layout_of,
    mat2x2f,
    mat2x2h,
    mat3x2f,
    mat3x3f,
    uniform_safe,
    vec2f,
    vec4f,
    wgsl,
)
from gpustruct.types import make_struct


def struct(name: str, member: Any) -> Any:
    return make_struct(name, {"m": member})


# What a device did with naga 29, for each shape: lost or aborted, or the right value.
MISREAD: dict[str, Callable[[], Any]] = {
    "B.m.m": lambda: struct("B", struct("A", mat2x2f)),
    "B.m.m ": lambda: struct("B", struct("A", mat3x2f)),
    "B.m.m  ": lambda: struct("B", struct("A", mat2x2h)),
    "B.m.m[0]": lambda: struct("B", struct("A", array[mat2x2f, 2])),
    "B.m.m[0].m": lambda: struct("B", struct("A", array[struct("P", mat2x2f), 2])),
    "B.m[0].m.m": lambda: struct("B", array[struct("A", struct("P", mat2x2f)), 2]),
    "C.m.m.m": lambda: struct("C", struct("B", struct("A", mat2x2f))),
    "array<B, 2>[0].m.m": lambda: array[struct("B", struct("A", mat2x2f)), 2],
}
RIGHT: dict[str, Callable[[], Any]] = {
    "one struct": lambda: struct("B", mat2x2f),
    "one struct, an array": lambda: struct("B", array[mat2x2f, 2]),
    "an array of structs": lambda: struct("B", array[struct("A", mat2x2f), 2]),
    "an array of structs alone": lambda: array[struct("A", mat2x2f), 2],
    "arrays of structs": lambda: struct("B", array[struct("A", array[struct("P", mat2x2f), 2]), 2]),
    "three rows": lambda: struct("B", struct("A", mat3x3f)),
    "vectors": lambda: struct("B", make_struct("A", {"m": vec2f, "n": vec2f})),
    "not legal in uniform": lambda: make_struct("B", {"m": struct("A", mat2x2f), "n": array[f32, 4]}),
    "runtime-sized": lambda: make_struct("B", {"m": struct("A", mat2x2f), "n": array[vec4f]}),
}


@pytest.mark.parametrize("path", MISREAD)
def test_noted_with_the_remedy(path: str) -> None:
    T, path = MISREAD[path](), path.strip()
    copied = {"B.m[0].m.m": "B.m[0].m", "array<B, 2>[0].m.m": "array<B, 2>[0].m", "C.m.m.m": "C.m"}.get(path, "B.m")
    (note,) = layout_of(T).naga_notes()
    assert note.startswith(f"{path}, a ")
    assert note.endswith(f"; copy {copied} into a var and read that, or use vec2 members")
    assert f"naga: {note}" in layout_of(T).notes()
    remark = f"// {path}: naga 29 reads it wrongly from uniform; copy"
    assert remark in wgsl.declare(T)
    if not path.startswith("array"):
        with pytest.warns(BackendWarning, match=rf"reads {re.escape(path)}, a .* at uniform_safe.*; copy"):
            uniform_safe(T)
    name = layout_of(T).name
    with pytest.warns(BackendWarning, match="copy .* into a var") as caught:
        wgsl.parse(f"{wgsl.declare(T)}\n@group(0) @binding(0) var<uniform> block: {name};")
    assert [warning.message.rule for warning in caught] == ["naga-matrix"]


@pytest.mark.parametrize("shape", RIGHT)
def test_not_noted(shape: str) -> None:
    T = RIGHT[shape]()
    assert layout_of(T).naga_notes() == []
    assert "//" not in wgsl.declare(T)


def test_no_warning_in_storage() -> None:
    text = wgsl.declare(struct("B", struct("A", mat2x2f)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = wgsl.parse(f"{text}\n@group(0) @binding(0) var<storage> block: B;")
    assert layout_of(module.structs["B"]).size == 16


def test_a_struct_that_stands_often_is_noted_once() -> None:
    A = struct("A", mat2x2f)
    T = make_struct("B", {"a": A, "b": A, "c": struct("C", A)})
    assert [note.split("copy ")[1].split()[0] for note in layout_of(T).naga_notes()] == ["B.a", "B.c"]
