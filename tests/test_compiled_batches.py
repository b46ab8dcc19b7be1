"""Batches made, bound and packed by the compiled way, beside the way in Python that takes what is unusual."""

from __future__ import annotations

import gc
import os
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from gpustruct import GpuStructError, Struct, array, batch, f32, mat3x3f, pack, u32, vec3f, vec4f
from gpustruct import layout as layouts
from gpustruct.columns import collect
from gpustruct.packing import BoundPlan, _part, bind, pack_into
from gpustruct.types import make_struct
from strategies import random_batch, structs


class Particle(Struct):
    position: vec3f
    life: f32
    velocity: vec3f
    id: u32
    color: vec4f


def particles(n: int, real: Any = np.float32, whole: Any = np.uint32) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    return {
        "position": rng.random((n, 3)).astype(real),
        "life": rng.random(n).astype(real),
        "velocity": rng.random((n, 3)).astype(real),
        "id": rng.integers(0, 1000, n).astype(whole),
        "color": rng.random((n, 4)).astype(real),
    }


def made_in_python(cls: Any, columns: dict[str, Any]) -> Any:
    batch = cls.__new__(cls)
    batch.__hold__((), columns)
    return batch


def packed_in_python(batch: Any) -> bytes:
    layout = type(batch).__layout__
    if layout.is_runtime_sized:
        bound = bind(batch)
    else:
        stride = layout.record_stride
        part = _part(collect(batch), stride, 0, stride, True)
        bound = BoundPlan((part,), stride * part.run.records, layout.align, part.run.records)
    out = np.zeros(bound.size, np.uint8)
    pack_into(bound, batch, out, 0, 1)
    return out.tobytes()


def outcome(make: Any) -> Any:
    """What a function returns, or the error that it raises, as something to compare."""
    try:
        return make()
    except GpuStructError as error:
        return type(error).__name__, error.rule, str(error)


def changed_column(column: np.ndarray, rng: np.random.Generator) -> Any:
    """Something else in place of an array: usually what no batch takes."""
    lead = column.shape[:1]
    ways: list[Any] = [
        lambda: column[..., None],
        lambda: column.reshape(-1),
        lambda: np.concatenate([column, column]) if column.ndim else column,
        lambda: column[None],
        lambda: column[:1] if column.ndim else column,
        lambda: np.stack([column, column]),
        lambda: column.swapaxes(0, -1) if column.ndim > 1 else column,
        lambda: np.broadcast_to(column, (2, *column.shape)),
        lambda: column.astype(complex),
        lambda: column.astype(object),
        lambda: column.astype("U"),
        lambda: column.astype("M8[s]") if column.dtype.kind in "iu" else column.astype("S"),
        lambda: column.astype(np.longdouble),
        lambda: column.tolist(),
        lambda: float(column.flat[0]) if column.size else None,
        lambda: np.full(column.shape, 2**40),
        lambda: np.full(column.shape, -1),
        lambda: np.full(column.shape, 1e300),
        lambda: np.full(column.shape, np.nan),
        lambda: np.where(rng.random(column.shape) < 0.1, 2**33, 1),
        lambda: np.where(rng.random(column.shape) < 0.1, 1e39, 1.0),
        lambda: np.ma.masked_array(column, np.ones(column.shape, bool)),
        lambda: np.ma.masked_array(column),
        lambda: column.view(np.recarray),
        lambda: np.zeros(lead, [("x", "f4"), ("y", "f4")]),
        lambda: memoryview(np.ascontiguousarray(column)) if column.dtype.isnative else column,
        lambda: {"no": 1},
        lambda: "text",
        lambda: None,
    ]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ways[int(rng.integers(len(ways)))]()


def changed_columns(columns: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The same columns with something about one or two of them changed, usually for the worse."""
    if (way := int(rng.integers(0, 12))) == 0:
        missing = str(rng.choice(list(columns)))
        return {name: column for name, column in columns.items() if name != missing}
    if way == 1:
        return {**columns, "unknown": np.zeros(3)}
    if way == 2:
        return dict(reversed(columns.items()))
    changed = dict(columns)
    for name in rng.choice(list(columns), int(rng.integers(1, 3))):
        column = columns[name]
        if isinstance(column, np.ndarray):
            changed[name] = changed_column(column, rng)
        else:
            ways = [{"no": 1}, None, column[:0] if column.__shape__ else column, np.zeros(3), 1.0]
            changed[name] = ways[int(rng.integers(len(ways)))]
    return changed


SHAPES = [(), (1,), (2,), (3,), (7,), (40,), (2, 3), (0,), (2, 1, 3), (1, 1), (3, 0), (5, 1)]


@given(structs(tail=False), st.integers(0, 2**32 - 1))
def test_both_ways_give_the_same_bytes_or_the_same_error(cls: Any, seed: int) -> None:
    # Ten for each type: they share its plans.
    rng = np.random.default_rng(seed)
    for turn in range(10):
        source = random_batch(cls, SHAPES[int(rng.integers(len(SHAPES)))], rng)
        columns: Any = dict(zip(cls.__members__, source.__columns__, strict=True))
        if rng.random() < 0.5:
            columns = changed_columns(columns, rng)
        compiled = outcome(lambda columns=columns: pack(cls(**columns)).tobytes())
        assert compiled == outcome(lambda columns=columns: packed_in_python(made_in_python(cls, columns)))
        if isinstance(compiled, bytes) and turn < 2:
            assert compiled == reference.pack(made_in_python(cls, columns))


def test_structured_records_of_any_kind_share_a_plan() -> None:
    # A few kinds each of many arrays: another address makes no new plan.
    table = Particle(**particles(3)).__run__
    assert table is None
    for n in (1, 5, 5, 5, 9):
        for real, whole in ((np.float32, np.uint32), (np.float64, np.int64), (">f4", ">i2")):
            batch = Particle(**particles(n, real, whole))
            assert pack(batch).tobytes() == reference.pack(batch)


@pytest.mark.parametrize("gap", [0, 4, 12])
def test_fields_of_one_array_join_and_of_two_do_not(gap: int) -> None:
    fields = {"names": ["position", "life"], "formats": ["3f4", "f4"], "offsets": [0, 12], "itemsize": 16 + gap}
    rows = np.random.default_rng(1).random((20, 16 + gap)).astype(np.uint8)
    rows = rows.reshape(-1).view(np.dtype(fields))

    class Point(Struct):
        position: vec3f
        life: f32

    for chosen in (rows, rows[::2], rows[::-1], rows[3:4], rows[:0]):
        batch = Point(position=chosen["position"], life=chosen["life"])
        assert pack(batch).tobytes() == reference.pack(batch)
    shifted = Point(position=rows["position"][1:], life=rows["life"][:-1])
    assert pack(shifted).tobytes() == reference.pack(shifted)


def test_a_batch_keeps_the_columns_that_it_was_given() -> None:
    columns = particles(4)
    expected = pack(Particle(**columns)).tobytes()
    batch = Particle(**columns)
    with warnings.catch_warnings():
        # Since numpy 2.5 it is deprecated, but possible.
        warnings.simplefilter("ignore", DeprecationWarning)
        columns["position"].shape = (2, 6)
        columns["life"].dtype = np.uint32
    assert batch.position.shape == (4, 3)
    assert pack(batch).tobytes() == expected


def test_nested_structs_arrays_and_matrices() -> None:
    class Inner(Struct):
        turn: mat3x3f
        weight: f32

    class Outer(Struct):
        first: Inner
        pair: array[Inner, 2]
        steps: array[f32, 5]

    rng = np.random.default_rng(3)

    def inner(*shape: int) -> Any:
        return Inner(turn=rng.random((*shape, 3, 3)), weight=rng.random(shape).astype(np.float32))

    for n in (1, 2, 50):
        batch = Outer(first=inner(n), pair=inner(n, 2), steps=rng.random((n, 5)))
        assert batch.__run__ is None
        assert pack(batch).tobytes() == reference.pack(batch)
        assert batch.__run__ is not None, "bound by the compiled way"
    shared = Outer(first=inner(), pair=inner(4, 2), steps=rng.random(5))
    assert pack(shared).tobytes() == reference.pack(shared)


def test_the_plans_of_a_type_are_bounded() -> None:
    made = make_struct("Kinds", {"a": f32, "b": f32})
    whole = np.zeros(8000, np.uint8)
    rounds = int(os.environ.get("GPUSTRUCT_EXAMPLES", "100")) // 20 + 1

    def every_kind() -> int:
        for k in range(1000):
            # Another stride each time, so another kind.
            column = np.ndarray((3,), np.float32, whole, 0, (4 * (k % 900) + 4,))
            pack(made(a=column, b=column))
        gc.collect()
        return len(gc.get_objects())

    before = every_kind()
    for _ in range(rounds):
        after = every_kind()
    assert after - before < 200


def test_columns_that_nothing_else_refers_to_are_freed_with_the_batch() -> None:
    import weakref

    column = np.ones(10, np.float32)
    seen = weakref.ref(column)
    batch = f32(column)
    pack(batch)
    del column
    assert seen() is not None
    gc.disable()
    try:
        del batch
        assert seen() is None, "no cycle keeps it"
    finally:
        gc.enable()


def test_leaves_are_in_the_order_of_the_members() -> None:
    # The compiled walk and `layout.leaves` number columns alike: a plan made of one is run over the other.
    batch = Particle(**particles(2))
    pack(batch)
    names = [leaf.path for leaf in layouts.leaves(Particle.__layout__)]
    assert names == [(name,) for name in Particle.__members__]


def test_a_structured_dtype_whose_names_change() -> None:
    class Pair(Struct):
        alpha: f32
        beta: f32

    rows = np.array([(1, 2), (3, 4)], "f4,f4")
    rows.dtype.names = ("alpha", "beta")
    assert batch(Pair, rows).alpha.tolist() == [1, 3]
    rows.dtype.names = ("beta", "alpha")
    assert batch(Pair, rows).alpha.tolist() == [2, 4]
    rows.dtype.names = ("beta", "gamma")
    with pytest.raises(GpuStructError, match="gamma"):
        batch(Pair, rows)


@pytest.mark.parametrize(
    "kind",
    [
        [("position", "f4", 3), ("life", "f4")],
        [("life", "<i2"), ("position", ">f8", (3,))],
        [("position", "f4", 2), ("life", "f4")],
        [("position", "f4", 3), ("life", "c8")],
        [("position", "f4", 3), ("life", "f4", 1)],
        [("position", "f4,f4,f4"), ("life", "f4")],
        [("position", "f4", 3), ("life", "f4"), ("more", "f4")],
        [("position", "O", 3), ("life", "f4")],
        [(("title", "position"), "f4", 3), ("life", "f4")],
    ],
    ids=repr,
)
@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,)])
def test_structured_arrays_of_any_dtype_as_their_fields_by_name(kind: Any, shape: tuple[int, ...]) -> None:
    class Point(Struct):
        position: vec3f
        life: f32

    rows = np.ones(shape, kind)

    def by_name() -> bytes:
        names = rows.dtype.names or ()
        return packed_in_python(made_in_python(Point, {name: rows[name] for name in names}))

    expected = outcome(by_name)
    for _ in range(2):
        found = outcome(lambda: pack(batch(Point, rows)).tobytes())
        assert found == expected if isinstance(expected, bytes) else found[0] == "SourceError"


@pytest.mark.parametrize("cls", [3, None, int, object, Struct, "Particle", f32])
@pytest.mark.parametrize("source", [{}, {"x": 1}, [], [1], np.zeros(3, "f4,f4")], ids=repr)
def test_sources_for_what_is_no_struct(cls: Any, source: Any) -> None:
    if cls is f32 and isinstance(source, list):
        assert batch(cls, source).__shape__ == (len(source),)
    else:
        with pytest.raises(GpuStructError):
            batch(cls, source)
