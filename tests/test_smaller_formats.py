"""Hints of suggest(batch) about smaller formats, in structs and in vertex data. numpy by hand is the oracle."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustruct import (
    Struct,
    array,
    batch,
    f32,
    i32,
    layout_of,
    pack,
    suggest,
    u32,
    unpack,
    vec2f,
    vec2u,
    vec3f,
    vec3h,
    vec4f,
    vec4i,
    vec4u,
    view,
)
from gpustruct.report.smaller_formats import _rounded_up  # pyright: ignore[reportPrivateUsage]
from gpustruct.types import make_struct
from gpustruct.vertex import (
    Vertex,
    float16,
    float16x2,
    float16x4,
    float32,
    float32x2,
    float32x3,
    float32x4,
    sint8x4,
    sint32x4,
    snorm8x4,
    uint8,
    uint32,
    unorm8x2,
    unorm8x4,
    unorm16x2,
    unorm16x4,
)

RNG = np.random.default_rng(1)
COLOR = RNG.uniform(0, 1, (50, 4))
NORMAL = RNG.uniform(-1, 1, (50, 3))


def steps(column: np.ndarray, most: int) -> str:
    """The most that a number changes when it is rounded to a multiple of 1 / most, two digits rounded up."""
    now = column.astype("f4").astype("f8")
    return rounded_up(float(np.abs(now - (np.rint(column * most) / most).astype("f4")).max()))


def rounded_up(number: float) -> str:
    exponent = int(np.floor(np.log10(number))) - 1
    return f"{np.ceil(number / 10.0**exponent) * 10.0**exponent:.2g}"


def hints(made: Any, **options: Any) -> list[Any]:
    return [hint for hint in suggest(made, **options).hints if hint.rule == "smaller-format"]


class Light(Struct):
    position: vec3f
    color: vec4f
    normal: vec3f
    range: f32
    kind: u32


def test_a_struct_of_colors_and_normals() -> None:
    made = Light(position=NORMAL * 100, color=COLOR, normal=NORMAL, range=5, kind=1)
    (hint,) = hints(made)
    assert hint.members == ("color", "normal")
    assert hint.text == (
        f"color as unorm8x4 (read with unpack4x8unorm, changes by at most {steps(COLOR, 255)}); "
        f"normal as snorm8x4 with a fourth number (read with unpack4x8snorm, changes by at most {steps(NORMAL, 127)}): "
        "16 bytes a record less"
    )
    assert layout_of(suggest(Light).apply()).size == 48 and layout_of(hint.type).size == 32 and hint.saved == 16
    assert hint.type.color.type is unorm8x4 and hint.type.normal.type is snorm8x4 and hint.type.position.type is vec3f
    assert str(hint) in str(suggest(made))
    # The class that the hint made packs the same columns.
    padded = np.concatenate([NORMAL, np.zeros((50, 1))], axis=1)
    packed = pack(hint.type(position=NORMAL * 100, color=COLOR, normal=padded, range=5, kind=1)).reshape(50, 32)
    at = hint.type.color.offset
    assert np.array_equal(packed[:, at : at + 4], np.rint(COLOR * 255).astype("u1"))


def test_a_class_has_no_values_to_say_it_of() -> None:
    assert not hints(Light)
    assert not hints(
        Light(position=np.zeros((0, 3)), color=np.zeros((0, 4)), normal=np.zeros((0, 3)), range=np.zeros(0), kind=0)
    )


@pytest.mark.parametrize(
    ("type_", "column", "format_", "text"),
    [
        (vec4f, COLOR, unorm8x4, f"unorm8x4 (read with unpack4x8unorm, changes by at most {steps(COLOR, 255)})"),
        (vec4f, -COLOR, snorm8x4, f"snorm8x4 (read with unpack4x8snorm, changes by at most {steps(-COLOR, 127)})"),
        (vec4f, np.rint(COLOR), unorm8x4, "unorm8x4 (read with unpack4x8unorm, does not change)"),
        (vec2f, COLOR[:, :2], unorm16x2, f"unorm16x2 (read with unpack2x16unorm, changes by at most {steps(COLOR[:, :2], 65535)})"),
        (vec2f, COLOR[:, :2] * 64, float16x2, "float16x2 (read with unpack2x16float, changes by at most 0.0"),
        (vec2f, [[0.5, np.nan], [np.inf, 7]], float16x2, "float16x2 (read with unpack2x16float, does not change)"),
        (vec4u, [[0, 1, 2, 255]], None, "uint8x4 (read with unpack4xU8, does not change)"),
        (vec4i, [[0, 1, -128, 127]], sint8x4, "sint8x4 (read with unpack4xI8, does not change)"),
        (vec3h, NORMAL, snorm8x4, "snorm8x4 with a fourth number (read with unpack4x8snorm, changes by at most"),
        (array[vec4f, 5], COLOR.reshape(10, 5, 4), array[unorm8x4, 5], "unorm8x4 (read with unpack4x8unorm, changes by at most"),
        (array[vec4f], COLOR, array[unorm8x4], "unorm8x4 (read with unpack4x8unorm, changes by at most"),
    ],
)  # fmt: skip
def test_the_format_that_changes_the_values_least(type_: Any, column: Any, format_: Any, text: str) -> None:
    T = make_struct("T", {"a": u32, "b": type_})
    made = T(a=1, b=column)
    (hint,) = hints(made, uniform=False)
    assert hint.text.startswith(f"b as {text}")
    assert format_ is None or hint.type.b.type is format_


@pytest.mark.parametrize(
    ("type_", "column"),
    [
        (vec4f, COLOR * 1.01), (vec4f, COLOR - 1.5), (vec4f, np.where(COLOR > 0.5, np.nan, COLOR)),
        (vec4f, COLOR * 0.1),  # Steps of 1/255 would be more than a hundredth of the largest value.
        (vec2f, COLOR[:, :2] * 1e5), (vec4u, [[0, 0, 0, 256]]), (vec4i, [[0, 0, 0, 128]]), (vec2u, [[0, 1]]),
        (f32, COLOR[:, 0]), (i32, [1]), (unorm8x4, COLOR), (unorm16x2, COLOR[:, :2]),
    ],
)  # fmt: skip
def test_values_that_no_smaller_format_holds(type_: Any, column: Any) -> None:
    assert not hints(make_struct("T", {"a": type_, "b": vec3f})(a=column, b=(1e6, 1e-6, 1)), uniform=False)


def test_members_that_would_save_nothing_keep_their_type() -> None:
    # uv fills the record up to 16 bytes again, whether it takes 4 bytes or 8.
    T = make_struct("T", {"color": vec4f, "uv": vec2f, "position": vec3f})
    (hint,) = hints(T(color=COLOR, uv=COLOR[:, :2], position=NORMAL * 1e6))
    assert hint.members == ("color",) or hint.members == ("uv",)
    assert layout_of(hint.type).size == layout_of(suggest(T).apply()).size - hint.saved


def test_a_struct_that_is_legal_in_uniform_stays_so() -> None:
    T = make_struct("T", {"palette": array[vec4f, 8], "colors": vec4f, "more": vec4f})
    made = T(palette=COLOR[:8], colors=COLOR, more=COLOR)
    (legal,) = hints(made)
    assert legal.members == ("colors", "more") and not layout_of(legal.type).uniform_faults()
    (smallest,) = hints(made, uniform=False)
    assert "palette" in smallest.members and layout_of(smallest.type).size == 40


class Corner(Vertex):
    position: float32x3
    color: float32x4
    uv: float32x2
    id: uint32
    weights: float32x4
    height: float32


def test_vertex_data_has_formats_of_16_and_of_8_bits() -> None:
    position, weights = NORMAL * 10, np.rint(COLOR)
    made = Corner(
        position=position, color=COLOR, uv=COLOR[:, :2], id=np.arange(50), weights=weights, height=np.full(50, np.nan)
    )
    closest, smallest = hints(made)
    half = position.astype("f4").astype("f8") - position.astype("f2")
    off = rounded_up(float(np.abs(half).max()))
    assert closest.text == (
        f"position as float16x4 with a fourth number (changes by at most {off}); "
        f"color as unorm16x4 (changes by at most {steps(COLOR, 65535)}); "
        f"uv as unorm16x2 (changes by at most {steps(COLOR[:, :2], 65535)}); id as uint8 (does not change); "
        "weights as unorm8x4 (does not change); height as float16 (does not change): 32 bytes a record less"
    )
    types = {name: spec.type for name, spec in closest.type.__members__.items()}
    assert types == {"position": float16x4, "color": unorm16x4, "uv": unorm16x2, "id": uint8, "weights": unorm8x4,
                     "height": float16}  # fmt: skip
    assert smallest.type.color.type is unorm8x4 and smallest.type.uv.type is unorm8x2
    assert f"color as unorm8x4 (changes by at most {steps(COLOR, 255)})" in smallest.text
    assert layout_of(Corner).size == 60 and layout_of(closest.type).size == 28 and layout_of(smallest.type).size == 24
    assert closest.saved == 32 and smallest.saved == 36
    assert issubclass(closest.type, Vertex) and not hints(Corner)


def test_vertex_integers_keep_their_sign_and_encoded_columns_are_decoded() -> None:
    V = make_struct("V", {"a": sint32x4, "b": unorm16x4, "c": unorm8x4}, base=Vertex)
    stored = RNG.integers(0, 65536, (20, 4), endpoint=False).astype("u2")
    (hint,) = hints(V(a=[[0, 1, 2, 3]] * 20, b=stored, c=COLOR[:20]))
    assert hint.type.a.type is sint8x4 and hint.type.c.type is unorm8x4 and hint.type.b.type is unorm8x4
    now = (stored / 65535).astype("f4").astype("f8")
    off = rounded_up(float(np.abs(now - (np.rint(now * 255) / 255).astype("f4")).max()))
    assert f"b as unorm8x4 (changes by at most {off})" in hint.text and "c as" not in hint.text


def test_columns_in_packed_records_are_read_too() -> None:
    made = Light(position=NORMAL * 100, color=COLOR, normal=NORMAL, range=5, kind=1)
    assert [str(hint) for hint in hints(unpack(Light, pack(made)))] == [str(hint) for hint in hints(made)]


def test_a_view_is_a_batch_of_its_records() -> None:
    for record in (view(Light), view(Light, count=3)):
        record.color, record.normal = (1.0, 0.5, 0, 1), (0, 0, -1.0)
        record.position = (1e6, 1e-6, 1)
        (hint,) = hints(record)
        assert hint.members == ("color", "normal") and "normal as snorm8x4 with a fourth number" in hint.text
        assert suggest(record).order == suggest(Light).order


def test_components_in_columns_of_their_own_are_read() -> None:
    frame = {f"color.{k}": COLOR[:, k] for k in range(4)} | {f"uv.{k}": COLOR[:, k] for k in range(2)}
    T = make_struct("T", {"color": vec4f, "uv": vec2f})
    made = batch(T, frame, color=tuple(f"color.{k}" for k in range(4)), uv=("uv.0", "uv.1"))
    (hint,) = hints(made)
    assert f"color as unorm8x4 (read with unpack4x8unorm, changes by at most {steps(COLOR, 255)})" in hint.text


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_the_change_is_never_said_smaller(number: float) -> None:
    said = _rounded_up(number)
    assert number <= float(said) <= number * 1.1000001
    assert len(re.sub(r"e.*|[.]|^0[.]0*", "", said).strip("0")) <= 2
