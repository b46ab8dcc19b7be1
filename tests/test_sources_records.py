"""Records of objects: what the compiled pass reads, by the oracle; faults with their row and member."""

from __future__ import annotations

from collections import OrderedDict, UserDict, deque, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, make_dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import attr
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from gpustruct import (
    SourceError,
    Struct,
    array,
    atomic,
    batch,
    dtype_of,
    f16,
    f32,
    i32,
    mat2x3f,
    pack,
    u32,
    vec2h,
    vec3f,
    vec4i,
    view,
)


class Particle(Struct):
    position: vec3f
    life: f32
    id: u32


class Body(Struct):
    inner: Particle
    pair: array[Particle, 2]
    grid: array[array[Particle, 1], 2]
    turned: mat2x3f
    half: vec2h
    count: atomic[i32]
    many: array[f32, 70]


@dataclass
class Data:
    position: Any
    life: Any
    id: Any


@dataclass(slots=True)
class Slots:
    position: Any
    life: Any
    id: Any


@attr.s(auto_attribs=True)
class Attrs:
    position: Any
    life: Any
    id: Any


@attr.s(auto_attribs=True, slots=True)
class SlottedAttrs:
    position: Any
    life: Any
    id: Any


class Named(NamedTuple):
    position: Any
    life: Any
    id: Any


class Shuffled(NamedTuple):
    id: Any
    position: Any
    life: Any


class Plain:
    def __init__(self, position: Any, life: Any, id: Any) -> None:
        self.position, self.life, self.id, self.more = position, life, id, "ignored"


class Computed:
    __slots__ = ("row",)

    def __init__(self, position: Any, life: Any, id: Any) -> None:
        self.row = {"position": position, "life": life, "id": id}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.row[name]
        except KeyError:
            raise AttributeError(name) from None


def as_dict(position: Any, life: Any, id: Any) -> dict[str, Any]:
    return {"position": position, "life": life, "id": id}


def reversed_dict(position: Any, life: Any, id: Any) -> dict[str, Any]:
    # Names that are no interned constants, in another order.
    return {"".join(["i", "d"]): id, "".join(["li", "fe"]): life, "".join(["posi", "tion"]): position}


MAKERS: dict[str, Any] = {
    "dict": as_dict,
    "reversed dict": reversed_dict,
    "OrderedDict": lambda *row: OrderedDict(as_dict(*row)),
    "UserDict": lambda *row: UserDict(as_dict(*row)),
    "tuple": lambda *row: row,
    "list": lambda *row: list(row),
    "namespace": lambda *row: SimpleNamespace(**as_dict(*row)),
    "Shuffled": lambda *row: Shuffled(**as_dict(*row)),
    "batch": lambda position, life, id: Particle(position=position, life=life, id=id),
    "view": lambda position, life, id: view(Particle, pack(Particle(position=position, life=life, id=id))),
} | {kind.__name__: kind for kind in (Data, Slots, Attrs, SlottedAttrs, Named, Plain, Computed)}


def rows(n: int = 5) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(1)
    return [
        (tuple(rng.standard_normal(3).tolist()), float(rng.standard_normal()), int(rng.integers(2**32)))
        for _ in range(n)
    ]


def expected(n: int = 5) -> bytes:
    columns = zip(*rows(n), strict=True)
    return reference.pack(Particle(**dict(zip(("position", "life", "id"), map(np.array, columns), strict=True))))


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_records_of_every_kind(maker: Any) -> None:
    made = [maker(*row) for row in rows()]
    for source in (made, tuple(made), deque(made), iter(made), (record for record in made)):
        assert pack(batch(Particle, source)).tobytes() == expected()


def test_kinds_may_be_mixed() -> None:
    makers = list(MAKERS.values())
    made = [makers[k % len(makers)](*row) for k, row in enumerate(rows(40))]
    assert pack(batch(Particle, made)).tobytes() == expected(40)


def test_columns_come_back_in_device_layout() -> None:
    made = batch(Particle, [as_dict(*row) for row in rows()])
    assert made.life.dtype == np.float32
    assert made.life.strides == (32,)
    assert len(batch(Particle, [])) == 0
    assert pack(batch(Particle, iter(()))).nbytes == 0


VALUES: list[Any] = [
    (1, 2, 3), [1.5, 2, True], np.array([1, 2, 3]), np.array([1.5, 2, 3], ">f8"), np.arange(6.0)[::2], (np.float32(1), np.int8(2), 3.0),
    np.array([1, 2, 3], np.float16), range(3), memoryview(np.arange(3.0)), [np.array(1.0), 2, 3], (np.nan, np.inf, -0.0),
    np.array([True, False, True]), (0.1, 2**24 + 1, -(2**53) - 1),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_vectors_from_anything(value: Any) -> None:
    made = batch(Particle, [(value, 1, 2)] * 3)
    want = reference.pack(Particle(position=np.array([value] * 3, np.asarray(value).dtype), life=1, id=2))
    assert reference.difference(Particle, pack(made), want) is None


@pytest.mark.parametrize("value", [7, True, np.int8(7), np.uint64(7), np.array(7), np.bool_(True)], ids=repr)
def test_numbers_from_anything(value: Any) -> None:
    made = batch(Particle, [((1, 2, 3), value, value)])
    assert pack(made).tobytes() == reference.pack(Particle(position=[[1, 2, 3]], life=int(value), id=int(value)))


@given(st.data(), st.integers(0, 2**32 - 1), st.sampled_from(["dict", "tuple", "list", "namespace"]))
def test_random_structs_as_nested_records(data: Any, seed: int, kind: str) -> None:
    cls = data.draw(strategies.structs(tail=False, max_members=4))
    made = strategies.random_batch(cls, (3,), np.random.default_rng(seed))
    records = [record_of(made[k], kind) for k in range(3)]
    assert reference.difference(cls, pack(batch(cls, records)), reference.pack(made)) is None


def plain(value: np.ndarray) -> Any:
    """Lists of Python's numbers. Of unsigned and signed bytes numpy's, because a list of ints does not say its width."""
    own = value.dtype.str[1:] in ("u1", "i1", "u2", "i2")
    return (list(value) if value.ndim == 1 else [plain(row) for row in value]) if own and value.ndim else value.tolist()


def record_of(made: Any, kind: str) -> Any:
    """A batch's value as nested records, lists of them for arrays, and plain numbers in nested lists."""
    if made.__shape__:
        return [record_of(made[k], kind) for k in range(len(made))]
    values: dict[str, Any] = {}
    for name in type(made).__members__:
        value = getattr(made, name)
        values[name] = record_of(value, kind) if hasattr(value, "__columns__") else plain(value)
    if kind == "dict":
        return values
    if kind == "namespace":
        return SimpleNamespace(**values)
    return tuple(values.values()) if kind == "tuple" else list(values.values())


def test_renames_find_other_keys_and_parts() -> None:
    source = [{"x": 1, "y": 2.0, "z": np.float32(3), "age": 4, "id": 5}] * 3
    want = reference.pack(Particle(position=[[1, 2, 3]] * 3, life=4, id=5))
    assert pack(batch(Particle, source, position=("x", "y", "z"), life="age")).tobytes() == want
    objects = [SimpleNamespace(**row) for row in source]
    assert pack(batch(Particle, objects, position=("x", "y", "z"), life="age")).tobytes() == want

    class Holder(Struct):
        inner: Particle

    nested = [{"inner": row} for row in source]
    made = batch(Holder, nested, {"inner.position": ("x", "y", "z"), "inner.life": "age"})
    assert pack(made).tobytes() == want


def test_records_that_change_while_they_are_read() -> None:
    class Sly:
        def __init__(self, rows: list[Any]) -> None:
            self.rows = rows
            self.life = self.id = 1

        @property
        def position(self) -> Any:
            self.rows.clear()
            return (1, 2, 3)

    source: list[Any] = []
    source += [Sly(source) for _ in range(4)]
    # The list is read as it was.
    assert pack(batch(Particle, source)).tobytes() == pack(batch(Particle, [((1, 2, 3), 1, 1)] * 4)).tobytes()
    assert source == []

    class Slier(list[Any]):
        pass

    class Value:
        def __init__(self, row: list[Any]) -> None:
            self.row = row

        def __array__(self, *arguments: Any, **options: Any) -> Any:
            del self.row[1:]
            return np.zeros(3)

    row: list[Any] = [None, 1, 2]
    row[0] = Value(row)
    with pytest.raises(SourceError) as caught:
        batch(Particle, [row])
    assert caught.value.rule == "record-kind"


def test_the_class_that_was_read_last_does_not_matter() -> None:
    class Inner:
        __slots__ = ("id", "life", "more", "position")

        def __array__(self, *arguments: Any, **options: Any) -> Any:
            # The same members are read from another class in between.
            batch(Particle, [Slots((1, 1, 1), 1, 1)])
            return np.ones(3)

    made = batch(Particle, [Slots(Inner(), 2, 3), Slots((4, 5, 6), 5, 6)])
    assert made.id.tolist() == [3, 6]
    assert made.life.tolist() == [2, 5]


def test_errors_of_an_object_s_own_code_come_through() -> None:
    class Broken:
        life = id = 1

        @property
        def position(self) -> Any:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        batch(Particle, [Broken()])

    def rows() -> Iterator[Any]:
        yield ((1, 2, 3), 4, 5)
        raise KeyError("mine too")

    with pytest.raises(KeyError, match="mine too"):
        batch(Particle, rows())


def test_unset_slots_are_missing() -> None:
    half = Slots.__new__(Slots)
    half.life = 1
    with pytest.raises((SourceError, AttributeError)):
        batch(Particle, [Slots((1, 2, 3), 1, 2), half])


def test_large_values_and_deep_ones() -> None:
    record = {
        "inner": ((1, 2, 3), 4, 5), "pair": [((1, 2, 3), 4, 5)] * 2, "grid": [[{"position": (1, 2, 3), "life": 4, "id": 5}]] * 2,
        "turned": [[1, 2], [3, 4], [5, 6]], "half": (0.5, 65504), "count": -(2**31), "many": list(range(70)),
    }  # fmt: skip
    one = {"position": [1, 2, 3], "life": 4, "id": 5}
    many = {name: np.array([value] * 2) for name, value in one.items()}
    grid = {name: value[:, None] for name, value in many.items()}
    want = Body(
        inner=one,
        pair=many,
        grid=grid,
        turned=record["turned"],
        half=record["half"],
        count=record["count"],
        many=record["many"],
    )
    assert pack(batch(Body, [record] * 3)).tobytes() == reference.pack(want) * 3
    assert batch(vec4i, [[1, 2, 3, 4]]).__columns__[0].shape == (1, 4)
    assert batch(Particle, np.zeros(3, dtype_of(Particle))).life.shape == (3,)
    assert batch(f16, [1, 2.5]).__columns__[0].tolist() == [1, 2.5]


MAKERS: dict[str, Any] = {
    "tuple": lambda position, life, id_: (position, life, id_),
    "list": lambda position, life, id_: [position, life, id_],
    "dict": lambda position, life, id_: {"position": position, "life": life, "id": id_},
    "slots": make_dataclass("Slotted", ["position", "life", "id"], slots=True),
    "named": namedtuple("Named", ["position", "life", "id"]),
    "plain": make_dataclass("Plain", ["position", "life", "id"]),
}
ODD: list[tuple[Any, ...]] = [
    (np.array([1, 2, 3], np.float32), 4, 5),
    ([1, 2.5, 3], np.float32(4), np.int64(5)),
    ((1, True, 3), 4.0, 2**32 - 1),
    ((float("nan"), float("inf"), -0.0), 3.4028234663852886e38, 2**31),
    ((1.0, 2.0, 3.0), 2**40, False),
]


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("odd", range(len(ODD)))
def test_odd_records_among_plain_ones(kind: str, odd: int) -> None:
    """Plain records are written in blocks: one that is not plain may stand anywhere in them."""
    make = MAKERS[kind]
    for count in (1, 2, 15, 16, 17, 18, 33, 50):
        for at in {0, 1, 15, 16, 17, 31, 32, 33, count - 1} & set(range(count)):
            rows = [((float(k), k + 0.5, -float(k)), k / 3, k) for k in range(count)]
            rows[at] = ODD[odd]
            want = reference.pack(
                Particle(
                    position=np.array([list(row[0]) for row in rows], np.float32),
                    life=np.array([row[1] for row in rows], np.float32),
                    id=np.array([int(row[2]) for row in rows], np.uint32),
                )
            )
            assert pack(batch(Particle, [make(*row) for row in rows])).tobytes() == want, (count, at)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("at", [0, 1, 15, 16, 17, 40])
def test_a_bad_record_among_plain_ones_is_named(kind: str, at: int) -> None:
    make = MAKERS[kind]
    for bad in (
        ((1.0, 2.0), 1.0, 1),
        ((1.0, 2.0, 1e39), 1.0, 1),
        ((1.0, 2.0, 3.0), None, 1),
        ((1.0, 2.0, 3.0), 1.0, -1),
    ):
        records = [make((1.0, 2.0, 3.0), 1.0, 1) for _ in range(41)]
        records[at] = make(*bad)
        with pytest.raises(SourceError, match=rf"\[{at}[\],]"):
            batch(Particle, records)


def test_kinds_of_records_and_keys_in_any_order_among_each_other() -> None:
    rows = [((float(k), k + 0.5, -float(k)), k / 3, k) for k in range(100)]
    want = pack(batch(Particle, rows)).tobytes()
    kinds = [make for kind, make in MAKERS.items()]
    assert pack(batch(Particle, [kinds[k // 20](*row) for k, row in enumerate(rows)])).tobytes() == want
    rows = [(position, k + 1, k) for position, _, k in rows]  # Either number would do for the other's member.
    want = pack(batch(Particle, rows)).tobytes()
    turned = [{"position": p, "id": i, "life": life} if k % 7 == 0 else {"position": p, "life": life, "id": i}
              for k, (p, life, i) in enumerate(rows)]  # fmt: skip
    assert pack(batch(Particle, turned)).tobytes() == want
    unset = [MAKERS["slots"](*row) for row in rows]
    del unset[50].life
    with pytest.raises(SourceError, match=r"missing: life.*Particle\[50\]"):
        batch(Particle, unset)


def test_a_list_that_shrinks_as_it_is_read_is_read_as_it_was() -> None:
    class Sly:
        def __array__(self, *arguments: Any, **options: Any) -> Any:
            del source[30:]
            return np.zeros(3)

    for kind in MAKERS:
        for at in (1, 17, 29):
            source = [MAKERS[kind]((1.0, 2.0, 3.0), 1.0, 1) for _ in range(100)]
            source[at] = MAKERS[kind](Sly(), 1.0, 1)
            made = batch(Particle, source)
            assert len(source) == 30
            assert made.life.tolist() == [1.0] * 100
            assert made.position[:, 0].tolist() == [float(k != at) for k in range(100)]


class Pair(Struct):
    alpha: f32
    beta: f32


class Inner(Struct):
    x: vec3f
    y: f32


class Outer(Struct):
    inner: Inner
    w: f32


class Many(Struct):
    inner: array[Inner, 3]


def test_a_dict_that_is_emptied_while_it_is_read() -> None:
    class Value:
        def __array__(self, *arguments: Any, **options: Any) -> Any:
            record.clear()
            return np.array(1.0, np.float32)

    record: dict[str, Any] = {"".join(["be", "ta"]): 1.0, "".join(["al", "pha"]): Value()}
    with pytest.raises(SourceError):
        batch(Pair, [record])

    class Key(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            if armed:
                keyed.clear()
            return True

    armed: list[int] = []
    keyed: dict[str, Any] = {Key("alpha"): 1.0, Key("beta"): 2.0}
    armed.append(1)
    with pytest.raises((SourceError, RuntimeError)):
        batch(Pair, [keyed])


def test_a_nested_record_that_leaves_while_it_is_read() -> None:
    Slots = make_dataclass("Slots", ["x", "y"], slots=True)

    class Value:
        def __array__(self, *arguments: Any, **options: Any) -> Any:
            record[0] = None
            return np.zeros(3, np.float32)

    record: list[Any] = [Slots(Value(), 1.0), 2.0]
    assert pack(batch(Outer, [record])).view(np.float32)[[3, 4]].tolist() == [1.0, 2.0]
    record = [Slots(Value(), 1.0) for _ in range(3)]
    assert pack(batch(Many, [(record,)])).view(np.float32)[3] == 1.0


def test_slots_of_another_class() -> None:
    class Other:
        __slots__ = (*"abcdefgh", "alpha", "beta")

    @dataclass
    class Empty:
        __slots__ = ()
        alpha: Any
        beta: Any

    Empty.alpha, Empty.beta = Other.alpha, Other.beta  # type: ignore[attr-defined]
    with pytest.raises((SourceError, TypeError)):
        batch(Pair, [object.__new__(Empty) for _ in range(20)])


def test_records_read_while_their_class_is_looked_at() -> None:
    armed = [True]

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            if name == "__getattribute__" and armed and cls.__name__ == "Odd":
                armed.pop()
                batch(Pair, [(1.0, 2.0)])
                batch(Pair, [Slotted(5.0, 6.0)])
            return type.__getattribute__(cls, name)

    Slotted = make_dataclass("Slotted", ["alpha", "beta"], slots=True)

    class Odd(deque, metaclass=Meta):  # type: ignore[type-arg]
        alpha = 1.0
        beta = 2.0

    assert pack(batch(Pair, [Odd([1, 2])])).view(np.float32).tolist() == [1.0, 2.0]
    assert not armed
    assert pack(batch(Pair, [Slotted(3.0, 4.0)])).view(np.float32).tolist() == [3.0, 4.0]


def test_a_class_that_changes_is_looked_at_again() -> None:
    Slotted = make_dataclass("Slotted", ["alpha", "beta"], slots=True)
    records = [Slotted(1.0, 2.0) for _ in range(40)]
    assert pack(batch(Pair, records)).view(np.float32)[:2].tolist() == [1.0, 2.0]
    Slotted.alpha = property(lambda self: 5.0)  # type: ignore[attr-defined]
    assert pack(batch(Pair, records)).view(np.float32).tolist() == [5.0, 2.0] * 40


# Each has another name, because a writer is kept with the keys that it was made with.
@pytest.mark.parametrize(
    ("name", "change"), [("p", lambda source: source.pop()), ("q", lambda source: source.append(source[0]))]
)
def test_a_list_that_changes_its_length_as_a_key_is_looked_up(name: str, change: Any) -> None:
    class Key(str):
        def __hash__(self) -> int:
            change(source)
            return str.__hash__(self)

    source = [{name: 1.0, "beta": 2.0} for _ in range(1000)]
    made = batch(Pair, source, alpha=Key(name))
    assert len(source) != 1000
    # The key may have been looked up once before the list is read.
    assert abs(len(made) - 1000) <= 2
    assert pack(made).view(np.float32).tolist() == [1.0, 2.0] * len(made)


def test_the_parts_of_a_member_in_a_tuple_of_any_kind() -> None:
    class Names(tuple[str, ...]):
        __slots__ = ()

    source = [{"x": 1.0, "y": 2.0, "z": 3.0, "w": 4.0}] * 3
    made = batch(Inner, source, x=Names("xyz"), y="w")
    assert pack(made).view(np.float32).tolist() == [1.0, 2.0, 3.0, 4.0] * 3
