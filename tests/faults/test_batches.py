"""Faults of batches, dtypes and views that users met: each by its id, with others of its kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

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
