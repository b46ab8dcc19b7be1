"""Faults of batches, dtypes and views that users met: each by its id, with others of its kind."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gpustruct
from gpustruct import (
    SourceError,
    Struct,
    array,
    batch,
    f32,
    mat2x3f,
    mat3x2h,
    mat4x3f,
    pack,
    u32,
    uniform_safe,
    vec2f,
    vec3f,
    vec4f,
    view,
)
from gpustruct.views import zero_filled
from ways_out import code_of


class R(Struct):
    r: f32
    c: vec3f


class Nested(Struct):
    inner: R
    k: u32


class Arrays(Struct):
    w: array[f32, 4]
    rs: array[R, 2]


N1, N3, N = np.ones((100, 1)), np.ones((100, 3)), np.ones(100)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: R(r=N1, c=N3), ("r (100, 1)", "c (100,)")),
        (lambda: R(r=N, c=np.ones((100, 1, 3))), ("r (100,)", "c (100, 1)")),
        (lambda: R(r=N1.tolist(), c=N3), ("r (100, 1)", "c (100,)")),
        (lambda: R(r=np.ones((2, 1)), c=np.ones((1, 5, 3))), ("r (2, 1)", "c (1, 5)")),
        (lambda: R(r=np.ones((4, 3, 1)), c=np.ones((3, 3))), ("r (4, 3, 1)", "c (3,)")),
        (lambda: batch(R, {"r": N1, "c": N3}), ("r (100, 1)", "c (100,)")),
        (lambda: batch(R, {"r": N1, "x": N, "y": N, "z": N}, c=("x", "y", "z")), ("r (100, 1)", "c (100,)")),
        (lambda: batch(R, {"r": N, "x": N1, "y": N, "z": N}, c=("x", "y", "z")), ("part 0 (100, 1)", "part 1 (100,)")),
        (lambda: Nested(inner=R(r=N1, c=(1, 1, 1)), k=N.astype(int)), ("inner (100, 1)", "k (100,)")),
        (lambda: Nested(inner={"r": N1, "c": N3}, k=1), ("r (100, 1)", "c (100,)")),
        (
            lambda: Arrays(w=np.ones((9, 1, 4)), rs=R(r=np.ones((9, 2)), c=1 * np.ones((9, 2, 3)))),
            ("w (9, 1)", "rs (9,)"),
        ),
        (
            lambda: uniform_safe(Arrays)(Arrays(w=np.ones((9, 1, 4)), rs=R(r=np.ones((9, 2)), c=np.ones((9, 2, 3))))),
            ("w (9, 1)", "rs (9,)"),
        ),
        (lambda: R(r=pl.Series([1.0, 2, 3]), c=np.ones((3, 1, 3))), ("r (3,)", "c (3, 1)")),
    ],
)
def test_F5_a_batch_has_the_shape_of_one_of_its_columns(make: Any, names: tuple[str, str]) -> None:
    with pytest.raises(SourceError) as caught:
        make()
    assert caught.value.rule == "column-outer"
    for name in names:
        assert name in str(caught.value)


def test_F5_a_frame_of_one_column_is_named() -> None:
    frame = pd.DataFrame({"r": [1.0, 2, 3], "x": 1.0, "y": 2.0, "z": 3.0})
    with pytest.raises(SourceError, match=r"at R\.r"):
        R(r=frame[["r"]], c=frame[["x", "y", "z"]])
    assert len(R(r=frame["r"], c=frame[["x", "y", "z"]])) == 3


def test_F5_the_ways_out_run() -> None:
    with pytest.raises(SourceError, match=r"pass r\.reshape\(-1\), or r\[:, 0\]"):
        R(r=N1, c=N3)
    assert len(R(r=N1.reshape(-1), c=N3)) == len(R(r=N1[:, 0], c=N3)) == 100
    with pytest.raises(SourceError, match=r"pass c\.reshape\(-1, 3\), or c\[:, 0\]"):
        R(r=N, c=np.ones((100, 1, 3)))
    with pytest.raises(SourceError, match=r"pass np\.asarray\(r\)\.reshape\(-1\)"):
        R(r=N1.tolist(), c=N3)
    r, c = np.ones((2, 1)), np.ones((1, 5, 3))
    with pytest.raises(SourceError, match=r"if that is meant, pass np\.broadcast_to\(r, \(2, 5\)\)"):
        R(r=r, c=c)
    assert R(r=np.broadcast_to(r, (2, 5)), c=c).r.shape == (2, 5)
    inner = R(r=N1, c=(1, 1, 1))
    with pytest.raises(SourceError, match=r"pass inner\[:, 0\]"):
        Nested(inner=inner, k=np.arange(100))
    assert len(Nested(inner=inner[:, 0], k=np.arange(100))) == 100


def test_F5_broadcasting_to_a_column_that_has_the_shape_stays() -> None:
    assert R(r=np.ones((4, 1)), c=np.ones((4, 5, 3))).r.shape == (4, 5)
    assert R(r=np.ones((1, 5)), c=np.ones((4, 5, 3))).r.shape == (4, 5)
    assert len(R(r=1.0, c=N3)) == 100
    assert len(R(r=[1.0], c=N3)) == 100
    assert len(R(r=np.ones((100, 1)), c=(1, 2, 3))) == 100
    assert len(pack(R(r=np.zeros((0, 1)), c=np.zeros((0, 4, 3))))) == 0


X, Y, Z = np.array([1.0, 2, 3]), np.array([4.0, 5, 6]), np.array([7.0, 8, 9])
ROWS = [[1, 4, 7], [2, 5, 8], [3, 6, 9]]


@pytest.mark.parametrize(
    "made",
    [
        lambda: vec3f((X, Y, Z)),
        lambda: R(r=0, c=(X, Y, Z)).c,
        lambda: batch(R, {"r": 0, "c": (X, Y, Z)}).c,
        lambda: batch(R, {"r": X, "x": X, "y": Y, "z": Z}, c=("x", "y", "z")).c,
        lambda: R(r=0, c=(pd.Series(X), pl.Series(Y), Z)).c,
        lambda: R(r=0, c=np.stack([X, Y, Z], axis=-1)).c,
        lambda: Nested(inner={"r": 0, "c": (X, Y, Z)}, k=1).inner.c,
    ],
)
def test_a_tuple_of_columns_has_one_for_each_component(made: Any) -> None:
    assert np.asarray(made()).tolist() == ROWS


def test_a_tuple_of_columns_may_hold_numbers_too() -> None:
    assert R(r=0, c=(X, 0, np.float32(5))).c.tolist() == [[1, 0, 5], [2, 0, 5], [3, 0, 5]]
    assert Arrays(w=(X, Y, Z, 1), rs=R(r=[0, 0], c=(1, 1, 1))).w.tolist() == [[*row, 1] for row in ROWS]
    # Lists, and tuples of numbers, are read as numpy reads them.
    assert R(r=0, c=[X, Y, Z]).c.tolist() == [X.tolist(), Y.tolist(), Z.tolist()]
    assert R(r=0, c=((1, 2, 3), (4, 5, 6), (7, 8, 9))).c.tolist() == [X.tolist(), Y.tolist(), Z.tolist()]
    assert R(r=0, c=(1, 2, 3)).c.tolist() == [1, 2, 3]
    record = view(R)
    record.c = (np.array(1.0), np.float16(2), 3)
    assert record.c.tolist() == [1, 2, 3]


@pytest.mark.parametrize("columns", [(X, Y), (X, Y, Z, X), (X[:1], X, Y[:2]), (np.ones((3, 1)), X, X)])
def test_tuples_of_other_columns_are_refused(columns: Any) -> None:
    with pytest.raises(SourceError) as caught:
        R(r=0, c=columns)
    assert caught.value.rule in ("column-shape", "column-broadcast", "column-outer")


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: R(r=0, c=np.ones((3, 5))), "c.T"),
        (lambda: vec2f(np.ones((2, 7))), "column.T"),
        (lambda: vec4f([[1.0] * 6] * 4), "np.asarray(column).T"),
        (lambda: vec3f(np.ones((3, 5, 2))), "np.moveaxis(column, 0, -1)"),
        (lambda: batch(R, {"r": 0, "c": np.ones((3, 5))}), "c.T"),
        (lambda: R(r=0, c=([1] * 5, [2] * 5, [3] * 5)), "np.asarray(c).T"),
        (lambda: Arrays(w=np.ones((4, 9)), rs=R(r=[0, 0], c=(1, 1, 1))), "w.T"),
    ],
)
def test_components_that_come_first_say_how_to_turn_them(make: Any, code: str) -> None:
    with pytest.raises(SourceError, match="components come last") as caught:
        make()
    assert str(caught.value).endswith(f"pass {code}")


class A(Struct):
    m: mat4x3f
    h: mat3x2h


class Many(Struct):
    ms: array[mat2x3f, 5]
    a: A


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: pack(A(m=np.ones((2, 4, 3)), h=np.ones((2, 3)))), "m.swapaxes(-1, -2)"),
        (lambda: A(m=np.ones((4, 3)), h=np.ones((2, 3))), "m.T"),
        (lambda: setattr(view(A), "m", np.ones((4, 3))), "m.T"),
        (lambda: setattr(view(A), "m", np.ones((4, 3)).tolist()), "np.asarray(m).T"),
        (lambda: batch(A, [{"m": np.ones((4, 3)), "h": np.ones((2, 3))}]), "m.T"),
        (lambda: batch(A, [{"m": np.ones((3, 4)), "h": np.ones((3, 2))}]), "h.T"),
        (lambda: view(A).update(h=np.ones((3, 2))), "h.T"),
        (lambda: view(A).update({"h": [[1, 2], [3, 4], [5, 6]]}), "np.asarray(h).T"),
        (lambda: setattr(view(Many), "ms", np.ones((5, 2, 3))), "ms.swapaxes(-1, -2)"),
        (lambda: setattr(view(Many).a, "h", np.ones((3, 2))), "h.T"),
        (
            lambda: batch(Many, [{"ms": np.ones((5, 2, 3)), "a": A(m=np.ones((3, 4)), h=np.ones((2, 3)))}]),
            "ms.swapaxes(-1, -2)",
        ),
        (lambda: view(mat4x3f).__setitem__(..., np.ones((4, 3))), "column.T"),
        (lambda: view(mat4x3f, count=2).__setitem__(1, np.ones((4, 3))), "column.T"),
        (lambda: mat4x3f(np.ones((6, 4, 3))), "column.swapaxes(-1, -2)"),
    ],
)
def test_F24_a_transposed_matrix_says_how_to_turn_it(make: Any, code: str) -> None:
    with pytest.raises(SourceError, match=r"matrices are \[row, col\]") as caught:
        make()
    assert str(caught.value).endswith(f"pass {code}")


class Frame(Struct):
    a: f32


class Particle(Struct):
    position: vec3f
    life: f32


class Scene(Struct):
    camera: Particle
    lights: array[Particle, 2]
    id: u32


@dataclasses.dataclass
class Wide:
    a: float = 1
    k: float = 2


class Loose:
    def __init__(self, **members: Any) -> None:
        vars(self).update(members)


EXTRA = [
    np.ones(2, [("k", "f4"), ("a", "f4")]),
    pd.DataFrame({"a": [1.0, 1], "k": [2.0, 3]}),
    pl.DataFrame({"a": [1.0, 1], "k": [2.0, 3]}),
    pa.table({"a": [1.0, 1], "k": [2.0, 3]}),
    {"a": [1.0, 1], "k": [2.0, 3]},
    [{"a": 1, "k": 2}, {"k": 2, "a": 1}],
    [types.MappingProxyType({"a": 1, "k": 2}), {"a": 1}],
    [Wide(), Wide(1, 5)],
    [{"k": 3, "a": 1}, Wide()],
]


@pytest.mark.parametrize("source", EXTRA, ids=lambda source: type(source).__name__)
def test_F25_an_unknown_column_says_what_to_type(source: Any) -> None:
    with pytest.raises(SourceError) as caught:
        batch(Frame, source)
    assert caught.value.rule in ("columns-unknown", "record-members")
    code = code_of(caught.value)
    assert code == "batch(Frame, source, extra='ignore')"
    assert eval(code).a.tolist() == [1, 1]


@pytest.mark.parametrize("extra", [True, None, "drop", np.zeros(3), ["refuse"]])
def test_F25_extra_is_one_of_two_words(extra: Any) -> None:
    with pytest.raises(SourceError) as caught:
        batch(Frame, {"a": 1}, extra=extra)
    assert caught.value.rule == "extra-value"


GOOD = {"position": (1, 2, 3), "life": 4}


@pytest.mark.parametrize(
    ("T", "source"),
    [
        (Frame, {}),
        (Frame, [{}]),
        (Frame, {"b": 3, "c": 4}),
        (Frame, [{"b": 3, "c": 4}]),
        (Particle, {"positon": [(1, 2, 3)], "life": 3}),
        (Particle, [{"positon": (1, 2, 3), "life": 3}]),
        (Particle, {"life": np.ones(3)}),
        (Particle, [{"life": 3}, {"life": 4}]),
        (Particle, pd.DataFrame({"life": [1.0, 2], "mass": 3.0, "charge": 4.0})),
        (Scene, {"camera": {"position": (1, 2, 3)}, "lights": [GOOD, GOOD], "id": 1}),
        (Scene, {"camera": GOOD, "lights": [GOOD, {"life": 3}], "id": 1}),
        (Scene, {"camera.position": (1, 2, 3), "lights": [GOOD, GOOD], "id": 1}),
        (Scene, [{"camera": {"position": (1, 2, 3), "liffe": 3}, "lights": [GOOD, GOOD], "id": 1}]),
        (Scene, [{"camera": GOOD | {"mass": 3}, "lights": [GOOD, GOOD], "id": 1}]),
        (Scene, [{"camera": GOOD, "lights": [GOOD, GOOD | {"mass": 3}], "id": 1}]),
        (Scene, [{"camera": GOOD, "lights": [GOOD, {"life": 3}], "id": 1}]),
        (Scene, [{"lights": [GOOD, GOOD]}]),
        (Scene, {"lights": [GOOD, GOOD]}),
        (Scene, [{"camera": GOOD, "id": 3}]),
        (Scene, {"camera": GOOD, "id": 3}),
    ],
)
def test_F25_what_members_lack_says_what_to_type(T: Any, source: Any) -> None:
    scope = {**globals(), "source": source, "zero_filled": zero_filled, "dtype_of": gpustruct.dtype_of}
    with pytest.raises(SourceError) as caught:
        batch(T, source)
    assert caught.value.rule in ("columns-unknown", "columns-missing", "record-members")
    assert type(eval(code_of(caught.value), scope)) is T


def test_defaults_fill_what_is_missing() -> None:
    assert batch(Particle, {"life": [1, 2]}, defaults={"position": (1, 2, 3)}).position.tolist() == [[1, 2, 3]] * 2
    assert batch(Particle, {"position": np.ones((2, 3))}, defaults={"life": [5, 6]}).life.tolist() == [5, 6]
    records = [{"life": 1}, {"position": (4, 5, 6)}, {"life": 2, "position": (7, 8, 9)}, {}, Loose(life=3), Loose()]
    made = batch(Particle, records, defaults={"life": -1, "position": (0, 0, 1)})
    assert made.life.tolist() == [1, -1, 2, -1, 3, -1]
    assert made.position.tolist() == [[0, 0, 1], [4, 5, 6], [7, 8, 9]] + [[0, 0, 1]] * 3
    # What is there stays, names are those of the type, and renames still say where a member's column is.
    assert batch(Frame, {"b": [1.0]}, a="b", defaults={"a": 5}).a.tolist() == [1]
    assert batch(Frame, {"c": [1.0]}, a="b", extra="ignore", defaults={"a": 5}).a.tolist() == 5
    assert batch(Frame, [{"b": 1}, {}], a="b", defaults={"a": 5}).a.tolist() == [1, 5]
    parts = [{"x": 1, "y": 2, "z": 3, "life": 1}, {"x": 1, "life": 2}]
    made = batch(Particle, parts, position=("x", "y", "z"), defaults={"position": (9, 9, 9)})
    assert made.position.tolist() == [[1, 2, 3], [9, 9, 9]]


def test_defaults_of_nested_members_are_dotted() -> None:
    defaults = {"camera.life": 7, "lights.life": 8, "camera.position": (0, 0, 0), "id": 3}
    lights = [{"position": (1, 2, 3)}, {"position": (4, 5, 6), "life": 1}]
    for source in (
        [{"camera": {"position": (1, 1, 1)}, "lights": lights}, {"lights": lights}],
        [{"lights": lights}, Loose(lights=lights, camera={}, id=5)],
    ):
        made = batch(Scene, source, defaults=defaults)
        assert made.camera.life.tolist() == [7, 7]
        assert made.lights.life.tolist() == [[8, 1]] * 2
    made = batch(Scene, {"camera": {"position": (1, 1, 1)}, "lights": lights}, defaults=defaults)
    assert (made.camera.life.tolist(), made.lights.life.tolist(), made.id.tolist()) == (7, [8, 1], 3)
    assert batch(Scene, {"lights": lights}, defaults=defaults).camera.position.tolist() == [0, 0, 0]
    whole = batch(Scene, {"lights": lights}, defaults={"camera": GOOD, "lights.life": 2, "id": 0})
    assert (whole.camera.life.tolist(), whole.lights.life.tolist()) == (4, [2, 1])


def test_extra_is_passed_over_at_every_depth() -> None:
    source = {"camera": GOOD | {"m": 1}, "lights": [GOOD | {"m": 2}, GOOD], "id": 1, "m": "text"}
    for made in (batch(Scene, source, extra="ignore"), batch(Scene, [source], extra="ignore")[0]):
        assert pack(made).tobytes() == pack(batch(Scene, {"camera": GOOD, "lights": [GOOD, GOOD], "id": 1})).tobytes()
    with pytest.raises(SourceError, match="missing: life"):
        batch(Scene, [source | {"camera": {"position": (1, 2, 3), "m": 1}}], extra="ignore")
    with pytest.raises(SourceError, match="unknown: m"):
        batch(Frame, [{"m": 1}], defaults={"a": 3})


@pytest.mark.parametrize(
    ("defaults", "rule"),
    [
        ({"b": 1}, "defaults-member"),
        ({"a.b": 1}, "defaults-member"),
        ({3: 1}, "defaults-member"),
        ([("a", 1)], "defaults-value"),
        ("a", "defaults-value"),
        ({"a": None}, "column-source column-masked"),
        ({"a": "text"}, "column-dtype column-kind"),
        ({"a": (1, 2)}, "record-shape"),
    ],
)
def test_defaults_that_are_refused(defaults: Any, rule: str) -> None:
    with pytest.raises(SourceError) as caught:
        batch(Frame, [{}], defaults=defaults)
    assert caught.value.rule in rule.split()


def test_members_that_are_called_as_the_options() -> None:
    class Odd(Struct):
        extra: f32
        defaults: f32

    made = batch(Odd, {"x": [1.0], "y": [2.0]}, {"extra": "x", "defaults": "y"})
    assert (made.extra.tolist(), made.defaults.tolist()) == ([1], [2])
    assert batch(Odd, {"extra": 1, "defaults": 2}, extra="ignore", defaults={"extra": 4}).extra.tolist() == 1
    with pytest.raises(SourceError, match=r"batch\(Odd, source, \{'extra': 'x'\}\)"):
        batch(Odd, {"x": 1, "defaults": 2}, extra="x")
    with pytest.raises(SourceError, match=r"batch\(Odd, source, \{'defaults': 'x'\}\)"):
        batch(Odd, {"x": 1, "extra": 2}, defaults="x")


def test_F25_the_call_keeps_the_renames() -> None:
    source = pd.DataFrame({"x": [1.0], "y": [2.0], "z": [3.0], "age": [4.0], "mass": [5.0]})
    with pytest.raises(SourceError) as caught:
        batch(Particle, source, position=("x", "y", "z"), life="age")
    assert code_of(caught.value) == "batch(Particle, source, position=('x', 'y', 'z'), life='age', extra='ignore')"
    assert len(eval(code_of(caught.value))) == 1
    with pytest.raises(SourceError) as caught:
        batch(Particle, source, position=("x", "y", "z"), extra="ignore")
    call = "batch(Particle, source, position=('x', 'y', 'z'), extra='ignore', defaults={'life': 0})"
    assert code_of(caught.value) == call
    assert len(eval(call)) == 1
