"""Records of objects read by the compiled way, beside a plain reading of them in Python."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import make_dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from gpustruct import GpuStructError, SourceError, Struct, array, batch, f16, f32, mat2x3f, pack, u32, vec3f, vec4f
from gpustruct.layout import SCALARS
from gpustruct.sources.records import fields_of, fitting, place_of


class Particle(Struct):
    position: vec3f
    life: f32
    velocity: vec3f
    id: u32
    color: vec4f


class Refused(Exception):
    """A value that the reading in Python does not take: the rule, and where it is."""


def read(cls: Any, value: Any, path: str, index: tuple[int, ...]) -> dict[str, Any]:
    """One record of a struct as a value for each member."""
    names, where = list(cls.__members__), place_of(path, index)
    if isinstance(value, dict):
        if set(value) != set(names):
            raise Refused("record-members", where)
        found = value
    elif isinstance(value, tuple | list) and fields_of(type(value)) is None:
        if len(value) != len(names):
            raise Refused("record-kind", where)
        found = dict(zip(names, value, strict=True))
    elif fields_of(type(value)) is None and not any(hasattr(value, name) for name in names):
        raise Refused("record-kind", where)
    elif not all(hasattr(value, name) for name in names) or set(fields_of(type(value)) or names) != set(names):
        raise Refused("record-members", where)
    else:
        found = {name: getattr(value, name) for name in names}
    members = zip(names, cls.__members__.values(), cls.__layout__.fields, strict=True)
    return {name: read_member(spec, m.layout, found[name], f"{path}.{name}", index) for name, spec, m in members}


def read_member(spec: Any, layout: Any, value: Any, path: str, index: tuple[int, ...]) -> Any:
    if spec.core.__layout__.kind != "struct":
        try:
            return fitting(spec, path, index, value)
        except SourceError as error:
            raise Refused(error.rule, str(error)) from None
    if layout.kind != "array":
        return read(spec.core, value, path, index)
    items = [] if isinstance(value, str | dict) or not hasattr(value, "__iter__") else list(value)
    if len(items) != layout.count:
        raise Refused("record-length", place_of(path, index))
    return [read_member(spec, layout.element, item, path, (*index, k)) for k, item in enumerate(items)]


def columns_of(cls: Any, records: list[Any], inner: tuple[int, ...] = ()) -> Any:
    """A batch of the records, or of arrays of records, that were read: numpy stacks their values."""
    shape = (len(records), *inner)
    for _ in inner:
        records = [record for several in records for record in several]
    columns: dict[str, Any] = {}
    for name, spec in cls.__members__.items():
        values = [record[name] for record in records]
        if spec.core.__layout__.kind == "struct":
            columns[name] = columns_of(spec.core, values, spec.dims)
            columns[name] = type(columns[name])(**{
                key: reshaped(column, (*shape, *spec.dims), (len(records), *spec.dims))
                for key, column in zip(spec.core.__members__, columns[name].__columns__, strict=True)
            })  # fmt: skip
        else:
            integer = SCALARS[spec.core.__layout__.scalar].is_integer
            stacked = np.array(values, np.int64 if integer else np.float64)
            columns[name] = stacked.reshape(shape + spec.inner)
    return cls(**columns)


def reshaped(column: Any, shape: tuple[int, ...], old: tuple[int, ...]) -> Any:
    if isinstance(column, np.ndarray):
        return column.reshape(shape + column.shape[len(old) :])
    members = zip(type(column).__members__, column.__columns__, strict=True)
    return type(column)(**{name: reshaped(inner, shape, old) for name, inner in members})


def outcome(make: Callable[[], Any]) -> Any:
    """The bytes, or the rule that a value breaks and what the message says of the place."""
    try:
        return make()
    except Refused as error:
        return error.args
    except GpuStructError as error:
        return error.rule, str(error)


def check(cls: Any, records: list[Any]) -> bool:
    """Whether the records fit: both ways give the same bytes, or both refuse the same value."""

    def in_python() -> bytes:
        found = [read(cls, record, cls.__name__, (k,)) for k, record in enumerate(records)]
        return reference.pack(columns_of(cls, found))

    compiled, plain = outcome(lambda: pack(batch(cls, records)).tobytes()), outcome(in_python)
    if isinstance(plain, bytes):
        assert isinstance(compiled, bytes)
        assert reference.difference(cls, compiled, plain) is None
        return True
    assert compiled[0] == plain[0]
    assert plain[1] in compiled[1]
    return False


Slotted: dict[tuple[str, ...], Any] = {}


def slotted(values: dict[str, Any]) -> Any:
    names = tuple(values)
    kind = Slotted.setdefault(names, make_dataclass("Slotted", names, slots=True))
    return kind(**values)


KINDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "tuple": lambda values: tuple(values.values()),
    "list": lambda values: list(values.values()),
    "dict": dict,
    "dict in another order": lambda values: dict(reversed(values.items())),
    "mapping": OrderedDict,
    "slots": slotted,
    "namespace": lambda values: SimpleNamespace(**values),
    "namedtuple": lambda values: namedtuple("Row", list(values))(**values),
}
NUMBERS = [
    1, 0, -1, True, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, -(2**70), 1.5, -0.0, 1e39, -3.4e38, 65504.0, 65520.0, float("nan"),
    float("inf"), np.float32(1.5), np.float64(2.5), np.float16(0.5), np.int8(-3), np.uint8(3), np.int16(7), np.int32(9),
    np.uint32(2**32 - 1), np.int64(2**40), np.uint64(2**63), np.longlong(5), np.bool_(True), np.longdouble(1), np.array(3),
    None, "1", 1j, [], (1,), {},
]  # fmt: skip


def objects(cls: Any, made: Any, kind: Callable[[], str], wrap: Callable[[list[Any]], Any]) -> Any:
    """A batch's record as objects: each struct of the next kind, each array wrapped."""
    if made.__shape__:
        return wrap([objects(cls, made[k], kind, wrap) for k in range(len(made))])
    values: dict[str, Any] = {}
    for name in type(made).__members__:
        value = getattr(made, name)
        values[name] = (
            objects(type(value), value, kind, wrap) if hasattr(value, "__columns__") else numbers(value, wrap)
        )
    return KINDS[kind()](values)


def numbers(value: np.ndarray, wrap: Callable[[list[Any]], Any]) -> Any:
    return wrap([numbers(part, wrap) for part in value]) if value.ndim else value.item()


def spoil(value: Any, draw: Any) -> Any:
    """The same object with one value in it replaced, removed or doubled."""
    if isinstance(value, SimpleNamespace) or (hasattr(type(value), "__slots__") and not isinstance(value, tuple)):
        names = list(getattr(value, "__slots__", None) or vars(value))
        name = draw(st.sampled_from(names))
        way = draw(st.integers(0, 4))
        if way == 0:
            delattr(value, name)
        else:
            setattr(value, name, spoil(getattr(value, name), draw))
        return value
    if isinstance(value, dict):
        key = draw(st.sampled_from(list(value)))
        way = draw(st.integers(0, 8))
        changed = {k: spoil(v, draw) if k == key else v for k, v in value.items() if way or k != key}
        return changed | {"unknown": 1} if way == 1 else changed
    if isinstance(value, tuple | list) and value:
        at = draw(st.integers(0, len(value) - 1))
        way = draw(st.integers(0, 8))
        items = list(value)
        if way == 0:
            del items[at]
        elif way == 1:
            items.append(items[0])
        else:
            items[at] = spoil(items[at], draw)
        if hasattr(value, "_fields"):
            return value._replace(**dict(zip(value._fields, items, strict=False)))
        return type(value)(items)
    return draw(st.sampled_from(NUMBERS))


@given(st.data(), st.integers(0, 2**32 - 1))
def test_both_ways_give_the_same_bytes_or_refuse_the_same_value(data: Any, seed: int) -> None:
    cls = data.draw(strategies.structs(packed=False, tail=False, max_members=5))
    count = data.draw(st.sampled_from([1, 2, 5, 20]))
    made = strategies.random_batch(cls, (count,), np.random.default_rng(seed))
    kinds = data.draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=2))
    wrap = data.draw(st.sampled_from([tuple, list]))
    records = [objects(cls, made[k], lambda: data.draw(st.sampled_from(kinds)), wrap) for k in range(count)]
    check(cls, records)
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, count - 1))
        records[at] = spoil(records[at], data.draw)
        check(cls, records)


def row(k: int) -> dict[str, Any]:
    return {
        "position": (k + 0.5, k, -1.0),
        "life": k / 3,
        "velocity": [1, 2.5, k],
        "id": k,
        "color": (0.1, 0.2, 0.3, 1.0),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_each_number_in_each_member(kind: str, number: Any) -> None:
    for name in Particle.__members__:
        for at in (0, 4):
            records = [row(k) for k in range(5)]
            old = records[at][name]
            records[at][name] = (*old[:-1], number) if isinstance(old, tuple | list) else number
            check(Particle, [KINDS[kind](record) for record in records])


class Deep(Struct):
    half: f16
    turned: mat2x3f
    halves: array[f16, 5]
    pair: array[Particle, 2]
    grid: array[array[vec3f, 2], 2]


def deep(kind: str) -> dict[str, Any]:
    return {
        "half": 0.5,
        "turned": ((1, 2), (3.5, 4), (5, 6)),
        "halves": [1, 2.5, np.float16(3), np.float32(4), 5],
        "pair": [KINDS[kind](row(1)), KINDS[kind](row(2))],
        "grid": [[(1, 2, 3)] * 2, ((4, 5, 6), np.array([7, 8, 9]))],
    }


@pytest.mark.parametrize("outer", KINDS)
@pytest.mark.parametrize("inner", KINDS)
def test_nested_records_arrays_and_matrices(outer: str, inner: str) -> None:
    assert check(Deep, [KINDS[outer](deep(inner)) for _ in range(20)])


@pytest.mark.parametrize("spelling", ["json", "interned"])
def test_keys_that_are_other_objects_each_time(spelling: str) -> None:
    names = [str(b"id", "ascii"), *[name for name in Particle.__members__ if name != "id"]]
    records = [
        {("".join(list(name)) if spelling == "json" else name): row(k)[name] for name in names} for k in range(50)
    ]
    assert check(Particle, records)
    records[20], records[21] = dict(reversed(records[20].items())), {"other": 1, **records[21]}
    assert not check(Particle, records)


@pytest.mark.parametrize("kind", KINDS)
def test_no_object_is_read_twice(kind: str) -> None:
    class Number:
        def __array__(self, *arguments: Any, **options: Any) -> Any:
            asked.append(1)
            return np.array(1e39)

    records = [KINDS[kind](row(k) | ({"life": Number()} if k == 7 else {})) for k in range(20)]
    asked: list[int] = []
    with pytest.raises(SourceError, match=r"Particle.life\[7\]"):
        batch(Particle, records)
    assert len(asked) == 1


def test_an_element_of_an_array_is_named_with_its_record() -> None:
    records = [deep("dict") for _ in range(5)]
    records[3]["pair"][1]["velocity"] = (1, 2, 1e39)
    with pytest.raises(SourceError, match=r"Deep.pair.velocity\[3, 1, 2\]"):
        batch(Deep, records)
    records[3]["pair"] = records[3]["pair"][:1]
    with pytest.raises(SourceError, match=r"Deep.pair\[3\]"):
        batch(Deep, records)


@pytest.mark.parametrize("kind", ["tuple", "list", "dict", "slots"])
def test_a_number_whose_own_code_clears_its_record_and_the_list(kind: str) -> None:
    """Only exact numbers are read through borrowed references; this one is a subclass with code."""

    class Number:
        def __array__(self, *arguments: Any, **options: Any) -> Any:
            record = records[k]
            if isinstance(record, list | dict):
                record.clear()
            records[:] = []
            return np.array(1.0)

    for k in (0, 5, 19):
        records: list[Any] = [KINDS[kind](row(j) | ({"life": Number()} if j == k else {})) for j in range(20)]
        if kind in ("tuple", "slots"):
            # The list was copied before, and these records have not changed.
            made = batch(Particle, records)
            assert made.life.tolist() == [1.0 if j == k else float(np.float32(row(j)["life"])) for j in range(20)]
            continue
        with pytest.raises(SourceError):
            batch(Particle, records)


def test_columns_are_views_of_the_packed_records() -> None:
    made = batch(Particle, [tuple(row(k).values()) for k in range(3)])
    assert made.life.strides == (48,)
    assert made.life.base is made.id.base
    made.life[1] = 9
    assert pack(made).view(np.float32)[12 + 3] == 9
