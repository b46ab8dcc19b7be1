"""Columns by name from mappings, structured arrays, buffers and other arrays: the oracle's bytes, without copies."""

from __future__ import annotations

import array as arrays
import ctypes
import pickle
import subprocess
import sys
from collections import OrderedDict
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from gpustruct import (
    SourceError,
    Struct,
    _kernel,
    array,
    batch,
    dtype_of,
    f32,
    mat3x3f,
    mat4x4f,
    pack,
    types,
    u32,
    unpack,
    vec2f,
    vec3f,
    vec4f,
)

N = 6


class Particle(Struct):
    position: vec3f
    life: f32
    id: u32


class Body(Struct):
    inner: Particle
    pair: array[Particle, 2]
    turned: mat3x3f
    weights: array[f32, 3]


def particle(shape: tuple[int, ...] = (N,)) -> Particle:
    rng = np.random.default_rng(2)
    return Particle(
        position=rng.standard_normal((*shape, 3)), life=rng.standard_normal(shape), id=rng.integers(0, 99, shape)
    )


def body() -> Body:
    rng = np.random.default_rng(4)
    turned, weights = rng.standard_normal((N, 3, 3)), rng.standard_normal((N, 3))
    return Body(inner=particle(), pair=particle((N, 2)), turned=turned, weights=weights)


def nested(made: Any) -> dict[str, Any]:
    return {
        name: nested(value) if hasattr(value, "__columns__") else value
        for name in type(made).__members__
        for value in [getattr(made, name)]
    }


def flat(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return found


@pytest.mark.parametrize("wrap", [dict, OrderedDict, MappingProxyType])
def test_mappings_nested_and_dotted(wrap: Any) -> None:
    expected = reference.pack(body())
    assert pack(batch(Body, wrap(nested(body())))).tobytes() == expected
    assert pack(batch(Body, wrap(flat(nested(body()))))).tobytes() == expected
    mixed = {**nested(body()), **flat({"pair": nested(particle((N, 2)))})}
    del mixed["pair"]
    assert pack(batch(Body, wrap(mixed))).tobytes() == expected


def test_columns_are_held_not_copied() -> None:
    table = {"position": np.zeros((N, 3)), "life": np.zeros(N), "id": np.zeros(N, int)}
    made = batch(Particle, table)
    table["life"][:] = 3
    assert made.life.tolist() == [3] * N
    assert np.shares_memory(made.position, table["position"])


def test_objects_whose_attributes_are_columns() -> None:
    columns = nested(particle())

    @dataclass
    class Soa:
        position: Any
        life: Any
        id: Any

    class Named(NamedTuple):
        life: Any
        id: Any
        position: Any

    for kind in (Soa, Named, SimpleNamespace):
        assert pack(batch(Particle, kind(**columns))).tobytes() == reference.pack(particle())
    assert batch(Particle, Soa((1, 2, 3), 4, 5)).life == 4


def test_another_type_of_the_same_members() -> None:
    class Twin(Struct):
        id: u32
        life: f32
        position: vec3f

    assert pack(batch(Twin, particle())).tobytes() == reference.pack(Twin(**nested(particle())))
    made = particle()
    assert batch(Particle, made) is made


def test_three_columns_make_a_vector() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, N))
    table = {"x": x.astype(np.float32), "y": y, "z": 2, "age": np.arange(N), "id": np.arange(N, dtype=">u2")}
    made = batch(Particle, table, position=("x", "y", "z"), life="age")
    whole = Particle(position=np.stack([table["x"], y, np.full(N, 2)], -1), life=np.arange(N), id=np.arange(N))
    assert pack(made).tobytes() == reference.pack(whole)
    y[2] = 7
    assert made.position[2, 1] == 7
    assert pack(made).view(np.float32).reshape(N, -1)[2, 1] == 7
    assert "vec3f  float64 (6, 3), an array for each component" in repr(made)
    assert pack(pickle.loads(pickle.dumps(made))).tobytes() == pack(made).tobytes()
    assert pack(made[::-2]).tobytes() == pack(made).reshape(N, -1)[::-2].tobytes()
    assert pack(made[np.arange(N) > 3]).nbytes == 2 * pack(made).nbytes // N
    assert np.asarray(batch(vec2f, table, ("x", "y"))).shape == (N, 2)
    out = Particle(position=np.zeros((N, 3)), life=np.zeros(N), id=np.zeros(N, int))
    assert unpack(Particle, pack(made), out=out).position[2, 1] == 7


def test_parts_of_arrays_and_of_nested_arrays() -> None:
    rng = np.random.default_rng(0)
    rows = {name: rng.standard_normal((N, 3)) for name in "abc"}
    made = batch(mat3x3f, rows, ("a", "b", "c"))
    assert pack(made).tobytes() == reference.pack(mat3x3f(np.stack([rows[name] for name in "abc"], 1)))
    table = flat(nested(body()))
    pair = table.pop("pair.position")
    table |= {name: pair[..., k] for k, name in enumerate("xyz")}
    made = batch(Body, table, {"pair.position": ("x", "y", "z")})
    assert pack(made).tobytes() == reference.pack(body())
    weights = table.pop("weights")
    table |= {f"w{k}": weights[:, k] for k in range(3)}
    made = batch(Body, table, {"pair.position": ("x", "y", "z"), "weights": ("w0", "w1", "w2")})
    assert pack(made).tobytes() == reference.pack(body())


def test_a_value_in_a_part_that_does_not_fit_is_named() -> None:
    class Cell(Struct):
        at: vec4f

    table = {"x": [1.0, 1e39], "y": [0, 0], "z": 0, "w": 1}
    with pytest.raises(SourceError, match=r"at Cell\.at\[0\]\[1\];"):
        pack(batch(Cell, table, at=("x", "y", "z", "w")))


# Structured arrays.


@given(st.data(), st.integers(0, 2**32 - 1), st.sampled_from(["device", "packed", "swapped", "sparse", "reversed"]))
def test_structured_arrays_of_any_kind(data: Any, seed: int, kind: str) -> None:
    cls = data.draw(strategies.structs(tail=False))
    made = strategies.random_batch(cls, (5,), np.random.default_rng(seed), special=False)
    packed = pack(made)
    device = packed.view(dtype_of(cls))
    if kind == "device":
        source = device
    elif kind == "reversed":
        source = device[::-1].copy()[::-1]
    elif kind == "sparse":
        wide = np.zeros(10, dtype_of(cls))
        source = wide[::2]
        source[...] = device
    else:
        dtype = repacked(dtype_of(cls), ">" if kind == "swapped" else "<")
        source = np.zeros(5, dtype)
        copy_fields(source, device)
    assert pack(batch(cls, source)).tobytes() == packed.tobytes()


def repacked(dtype: np.dtype, order: str) -> np.dtype:
    """The same fields without padding, unaligned, in another byte order."""
    if dtype.subdtype is not None:
        return np.dtype((repacked(dtype.base, order), dtype.shape))
    if dtype.names is None:
        return dtype.newbyteorder(order)
    assert dtype.fields is not None
    return np.dtype([("pad", "u1")] * 0 + [(name, repacked(dtype.fields[name][0], order)) for name in dtype.names])


def copy_fields(to: np.ndarray, source: np.ndarray) -> None:
    for name in source.dtype.names or ():
        if name == "__padding":
            continue
        if source[name].dtype.names:
            copy_fields(to[name], source[name])
        else:
            to[name] = source[name]


def test_matrices_of_structured_arrays_are_row_column() -> None:
    values = np.arange(32.0).reshape(2, 4, 4)
    source = np.zeros(2, [("m", "f8", (4, 4))])
    source["m"] = values

    class Holder(Struct):
        m: mat4x4f

    assert pack(batch(Holder, source)).tobytes() == reference.pack(Holder(m=values))
    device = np.zeros(2, dtype_of(Holder))
    device["m"]["column"] = values.swapaxes(-1, -2)
    assert pack(batch(Holder, device)).tobytes() == reference.pack(Holder(m=values))


def test_records_recarrays_and_masked_arrays() -> None:
    source = np.zeros(3, [("life", "f4"), ("id", "u4"), ("position", "f4", 3)])
    source["life"] = [1, 2, 3]
    expected = reference.pack(Particle(position=np.zeros((3, 3)), life=[1, 2, 3], id=[0, 0, 0]))
    assert pack(batch(Particle, source)).tobytes() == expected
    assert pack(batch(Particle, source.view(np.recarray))).tobytes() == expected
    assert pack(batch(Particle, np.ma.masked_array(source))).tobytes() == expected
    assert pack(batch(Particle, source[1])).tobytes() == expected[32:64]
    assert pack(batch(Particle, source.reshape(3, 1)))[32:64].tobytes() == expected[32:64]
    masked = np.ma.masked_array(source)
    masked["life"][1] = np.ma.masked
    with pytest.raises(SourceError, match=r"first in row 1\) - at Particle\.life"):
        batch(Particle, masked)


# Buffers and arrays of other kinds.


def test_ctypes_structures_are_records() -> None:
    class Native(ctypes.Structure):
        _fields_ = [("id", ctypes.c_uint16), ("life", ctypes.c_double), ("position", ctypes.c_float * 3)]

    class Packed(ctypes.BigEndianStructure):
        _pack_ = 1
        _layout_ = "ms"
        _fields_ = Native._fields_

    for kind in (Native, Packed):
        source = (kind * 2)(kind(3, 1.5, (1, 2, 3)), kind(4, 2.5, (4, 5, 6)))
        expected = reference.pack(Particle(position=[[1, 2, 3], [4, 5, 6]], life=[1.5, 2.5], id=[3, 4]))
        assert pack(batch(Particle, source)).tobytes() == expected
    assert pack(batch(Particle, Native(3, 1.5, (1, 2, 3)))).tobytes() == expected[:32]


def test_buffers_and_array_interfaces_are_columns() -> None:
    class Interface:
        def __init__(self, held: np.ndarray) -> None:
            self.held = held

        @property
        def __array_interface__(self) -> Any:
            return self.held.__array_interface__

    values = np.arange(3.0)
    source = {
        "position": Interface(np.ones((3, 3))),
        "life": arrays.array("d", [0, 1, 2]),
        "id": memoryview(np.arange(3, dtype=np.uint32)),
    }
    made = batch(Particle, source)
    assert pack(made).tobytes() == reference.pack(Particle(position=np.ones((3, 3)), life=values, id=[0, 1, 2]))
    assert np.shares_memory(made.position, source["position"].held)
    structured = np.zeros(3, dtype_of(Particle))
    structured["id"] = [4, 5, 6]
    assert batch(Particle, Interface(structured)).id.tolist() == [4, 5, 6]
    close = np.zeros(3, [("id", "u4"), ("life", "f8"), ("position", "f4", 3)])
    close["id"] = [4, 5, 6]
    assert batch(Particle, memoryview(close)).id.tolist() == [4, 5, 6]


def test_dlpack_without_numpy_s_other_ways() -> None:
    class Tensor:
        def __init__(self, held: np.ndarray, device: tuple[int, int] = (1, 0)) -> None:
            self.held, self.where = held, device

        def __dlpack__(self, **options: Any) -> Any:
            return self.held.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.where

    held = np.arange(12, dtype=np.float32).reshape(4, 3)
    made = batch(vec3f, Tensor(held))
    assert np.shares_memory(made.__columns__[0], held)
    with pytest.raises(SourceError) as caught:
        batch(vec3f, Tensor(held, (2, 0)))
    assert caught.value.rule == "column-device"


def test_columns_that_hold_objects_of_a_nested_struct() -> None:
    rows = [{"position": (k, 0, 0), "life": k, "id": k} for k in range(N)]
    made = batch(Body, {**nested(body()), "inner": rows})
    assert made.inner.id.tolist() == list(range(N))
    single = {"inner": rows[1], "pair": rows[2:4], "turned": np.eye(3), "weights": (1, 2, 3)}
    assert batch(Body, single).pair.life.tolist() == [2, 3]


def test_live_columns_pack_again() -> None:
    table = {"position": np.zeros((N, 3), np.float32), "life": np.zeros(N, np.float32), "id": np.zeros(N, np.uint32)}
    made = batch(Particle, table)
    out = pack(made)
    bound = made.__run__
    table["life"][:] = 2
    assert pack(made, out=out) is out
    assert made.__run__ is bound
    assert out.tobytes() == reference.pack(made)


def test_batches_of_slices_pickle_small() -> None:
    big = Particle(position=np.zeros((10_000, 3)), life=1.0, id=np.arange(10_000))
    assert len(pickle.dumps(big[:10])) < 2500
    assert len(pickle.dumps(Particle)) < 200
    assert pack(pickle.loads(pickle.dumps(big[5:9]))).tobytes() == reference.pack(big[5:9])


@pytest.mark.parametrize("isa", _kernel.isas())
def test_padding_of_a_structured_array_is_masked_out(isa: str) -> None:
    class Padded(Struct):
        a: f32
        v: vec3f
        m: mat3x3f
        points: array[vec3f, 4]
        n: u32

    before = _kernel.use_isa(isa)
    try:
        for records in (1, 3, 200, 70_000):
            source = np.zeros(records, dtype_of(Padded))
            source.view(np.uint8)[:] = np.random.default_rng(0).integers(0, 60, source.nbytes, np.uint8)
            clean = np.zeros(records, dtype_of(Padded))
            copy_fields(clean, source)
            rows = clean.view(np.uint8).reshape(records, -1)
            assert pack(batch(Padded, source)).tobytes() == rows.tobytes()
            assert pack(batch(Padded, source[::2])).tobytes() == rows[::2].tobytes()
            assert pack(batch(Padded, source[::-1])).tobytes() == rows[::-1].tobytes()
    finally:
        _kernel.use_isa(before)
    assert clean.tobytes() != source.tobytes()


class Slots:
    __slots__ = ("life", "power")


def test_an_object_without_a_value_in_a_slot_lacks_that_member() -> None:
    source = Slots()
    source.life = 1.0
    with pytest.raises(SourceError, match="power"):
        batch(types.make_struct("S", {"life": f32, "power": f32}), source)


def test_the_parts_of_a_vector_are_numbers_and_not_split_again() -> None:
    with pytest.raises(SourceError, match=r"Plain\.position"):
        batch(types.make_struct("Plain", {"position": vec3f}), [{"position": (range(3), (np.zeros(4, "g"),), -5)}])


def test_nested_columns_are_the_first_thing_that_a_program_makes() -> None:
    """In a process of its own: what reads them is imported when it is first used."""
    code = """
from gpustruct import Struct, array, f32, pack
class Light(Struct):
    power: f32
class Scene(Struct):
    sun: Light
    lights: array[Light, 2]
print(pack(Scene(sun={"power": 1}, lights={"power": [2, 3]})).view("f4").tolist())
"""
    command = [sys.executable, "-W", "error", "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[1.0, 2.0, 3.0]"


def test_parts_do_not_make_a_table() -> None:
    column, row, point = np.zeros((3, 1)), np.zeros((1, 4)), np.zeros(())
    for parts in ((column, row, column), (point, row, column)):
        with pytest.raises(SourceError) as caught:
            vec3f(parts)
        assert caught.value.rule == "column-outer"
    assert np.asarray(vec3f((column, column, point))).shape == (3, 1, 3)


def test_private_attributes_are_no_columns() -> None:
    source = SimpleNamespace(x=np.arange(3), _cache=object(), __odd=1)
    made = batch(types.make_struct("One", {"x": f32}), source)
    assert made.x.tolist() == [0, 1, 2]


def test_sources_without_names_are_no_columns() -> None:
    class Tensor:
        """As a tensor of another device: neither its values nor its attributes are columns."""

        def __init__(self) -> None:
            self.x = np.arange(3)

        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError("on another device")

        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

    one = types.make_struct("One", {"x": f32})
    for source in (Tensor(), f32([1, 2]), vec3f(np.zeros((2, 3)))):
        with pytest.raises(SourceError) as caught:
            batch(one, source)
        assert caught.value.rule == "source-kind", type(source)
