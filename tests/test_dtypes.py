"""dtype_of is the device's layout, by the oracle; struct_of infers what is certain and asks for the rest."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from gpustruct import (
    LayoutError,
    Struct,
    align,
    array,
    atomic,
    batch,
    dtype_of,
    f16,
    f32,
    i32,
    mat2x3f,
    mat3x3h,
    mat4x4f,
    pack,
    struct_of,
    types,
    u32,
    vec2f,
    vec2i,
    vec3f,
    vec4f,
    wgsl,
)  # fmt: skip


class Inner(Struct):
    position: vec3f
    life: f32


def scalars(dtype: np.dtype, path: str, offset: int) -> dict[str, tuple[int, str]]:
    """Every scalar of a dtype as the oracle writes its path, with its byte offset and its numpy code."""
    found: dict[str, tuple[int, str]] = {}
    if dtype.subdtype is not None:
        assert dtype.base.subdtype is None  # numpy cannot export an array of arrays.
        for k in range(dtype.shape[0]):
            inner = dtype.base if len(dtype.shape) == 1 else np.dtype((dtype.base, dtype.shape[1:]))
            found |= scalars(inner, f"{path}[{k}]", offset + k * inner.itemsize)
        return found
    if dtype.names is None:
        return {path: (offset, dtype.str)}
    assert dtype.fields is not None
    for name in dtype.names:
        inner, at, *_ = dtype.fields[name]
        if name == "__padding":
            continue
        # "column" and "element" stand for what WGSL has no name for.
        found |= scalars(inner, path if name in ("column", "element") else f"{path}.{name}", offset + at)
    return found


@given(st.data())
def test_every_scalar_is_where_the_oracle_says(data: Any) -> None:
    cls = data.draw(strategies.types(tail=False).filter(lambda made: not made.__layout__.is_runtime_sized))
    dtype = dtype_of(cls)
    whole = reference.layout(cls)
    assert np.zeros(3, dtype).strides[0] == whole.stride or dtype.subdtype is not None
    assert np.zeros(3, dtype).nbytes == 3 * whole.stride
    codes = {scalar: np.dtype(code).str for scalar, code in reference.CODE.items()}
    want = {path: (offset, codes[scalar]) for path, (offset, scalar) in reference.leaves(cls).items()}
    assert scalars(dtype, "", 0) == want


@given(st.data(), st.integers(0, 2**32 - 1))
def test_packed_bytes_viewed_and_packed_again(data: Any, seed: int) -> None:
    cls = data.draw(strategies.structs(tail=False))
    made = strategies.random_batch(cls, (4,), np.random.default_rng(seed), special=False)
    packed = pack(made)
    again = np.zeros(4, dtype_of(cls))
    again[...] = packed.view(dtype_of(cls))
    assert again.tobytes() == packed.tobytes()


def parts(values: np.ndarray) -> list[np.ndarray]:
    """The array itself, slices with steps and backwards, none of it, rows of it, and the other byte order."""
    swapped = values.astype(values.dtype.newbyteorder("S"))
    return [values, values[::-1], values[1::2], values[:0], values[None], values[3], swapped, swapped[::-2]]


def fields_alone(values: np.ndarray, dtype: np.dtype) -> bytes:
    """The bytes of the values with zeros in the gaps, which numpy's copies leave as they are."""
    clean = np.zeros(values.shape, dtype)
    clean[...] = values
    return clean.tobytes()


@given(st.data(), st.integers(0, 2**32 - 1))
def test_dtypes_survive_memory_views(data: Any, seed: int) -> None:
    cls = data.draw(strategies.types(tail=False).filter(lambda made: not made.__layout__.is_runtime_sized))
    whole = np.zeros(4, dtype_of(cls))
    whole = np.random.default_rng(seed).bytes(whole.nbytes), whole.dtype, whole.shape
    whole = np.frombuffer(*whole[:2]).reshape(whole[2])
    for values in parts(whole):
        if not isinstance(values, np.ndarray | np.void):  # One number.
            continue
        for owner in (values, np.array(values)):
            again = np.asarray(memoryview(owner))
            assert again.dtype == values.dtype
            assert again.shape == values.shape
            assert fields_alone(again, again.dtype) == fields_alone(values, values.dtype)
        if values.size:
            assert np.shares_memory(np.asarray(memoryview(values)), values)


@given(st.data(), st.integers(0, 2**32 - 1))
def test_what_memory_views_show_packs_to_the_same_bytes(data: Any, seed: int) -> None:
    cls = data.draw(strategies.structs(tail=False))
    made = strategies.random_batch(cls, (4,), np.random.default_rng(seed), special=False)
    whole = np.frombuffer(reference.pack(made), dtype_of(cls))
    for values in parts(whole):
        wanted = fields_alone(values, dtype_of(cls))
        for source in (values, memoryview(values), np.asarray(memoryview(values))):
            assert pack(batch(cls, source)).tobytes() == wanted


@pytest.mark.parametrize(
    "cls",
    [vec3f, types.vec3i, types.vec3h, array[vec3f, 2], array[types.vec3h, 3], mat3x3h, array[mat2x3f, 2],
     array[array[vec3f, 2], 3], array[Inner, 2], f16, array[vec2f, 3], mat4x4f],
)  # fmt: skip
def test_columns_survive_memory_views(cls: Any) -> None:
    made = strategies.random_batch(cls, (4,), np.random.default_rng(1), special=False)
    wanted = reference.pack(made)
    values: Any = np.zeros(4, dtype_of(cls))
    values = np.frombuffer(wanted, values.dtype).reshape(values.shape)
    for k in (slice(None), slice(None, None, -1), slice(1, None, 2)):
        size = len(wanted) // 4
        rows = b"".join([wanted[i * size : (i + 1) * size] for i in range(4)][k])
        for source in (values[k], memoryview(values[k]), memoryview(values)[k] if values.ndim == 1 else values[k]):
            assert pack(cls(source)).tobytes() == rows
            assert pack(batch(cls, source)).tobytes() == rows


def test_padding_at_the_end_is_a_field_that_nothing_here_reads() -> None:
    class Light(Struct):
        color: vec3f
        axis: vec2f

    class Lights(Struct):
        lights: array[Light, 2]
        sun: Light
        n: u32

    dtype = dtype_of(Lights)
    assert dtype.names == ("lights", "sun", "n", "__padding")
    assert dtype["sun"] == dtype["lights"].base == dtype_of(Light)
    assert (dtype["__padding"], dtype_of(Light)["__padding"]) == (np.dtype("V12"), np.dtype("V8"))
    values = np.frombuffer(bytes(range(1, 113)), dtype)
    cleared = values.copy()
    for field in (cleared, cleared["sun"], cleared["lights"]):
        field["__padding"] = b""
    cleared = bytearray(cleared.tobytes())
    for at in (0, 32, 64):
        cleared[at + 12 : at + 16] = bytes(4)
    assert pack(batch(Lights, values)).tobytes() == bytes(cleared)
    assert pack(Lights(lights=values["lights"], sun=values["sun"], n=values["n"])).tobytes() == bytes(cleared)
    answers = {
        f"{name}.{member}": kind for name in ("lights", "sun") for member, kind in (("color", vec3f), ("axis", vec2f))
    }
    made = struct_of(dtype, "Lights", answers)
    assert dtype_of(made) == dtype
    assert members(made).keys() == {"lights", "sun", "n"}


@pytest.mark.parametrize("name", ["pad", "__padding", "_", "f1"])
@pytest.mark.parametrize("padding", ["V4", ("V1", (4,)), ("V2", (2, 1)), "V0"])
def test_raw_bytes_of_any_name_are_padding(name: str, padding: Any) -> None:
    dtype = np.dtype([("x", "f4"), (name, padding), ("y", "f4")])
    values = np.frombuffer(bytes(range(3 * dtype.itemsize)), dtype)
    made = struct_of(dtype, "Pair")
    assert members(made) == {"x": "f32", "y": "f32"}
    wanted = np.stack([values["x"], values["y"]], -1).tobytes()
    for source in (values, list(values), memoryview(values) if dtype.itemsize > 8 else values):
        assert pack(batch(made, source)).tobytes() == wanted


@pytest.mark.parametrize("cls", [int, "f32", Struct, array, atomic, None, 3])
def test_dtype_of_takes_types_only(cls: Any) -> None:
    with pytest.raises(LayoutError) as caught:
        dtype_of(cls)
    assert caught.value.rule == "dtype-type"


def test_dtype_of_runtime_sized_types_is_refused() -> None:
    class System(Struct):
        n: u32
        inner: array[Inner]

    for cls in (System, array[vec3f]):
        with pytest.raises(LayoutError) as caught:
            dtype_of(cls)
        assert caught.value.rule == "dtype-runtime"


def members(cls: Any) -> dict[str, str]:
    return {name: spec.type.__name__ for name, spec in cls.__members__.items()}


def test_struct_of_a_dtype() -> None:
    dtype = np.dtype([("a", "f4"), ("b", ">i2"), ("c", "?"), ("d", "f2"), ("e", "u8", (9,)), ("n", [("x", "f8"), ("y", "i8")]), ("m", [("z", "f4")], (2,))])  # fmt: skip
    cls = struct_of(dtype, "Thing")
    assert members(cls) == {
        "a": "f32", "b": "i32", "c": "u32", "d": "f16", "e": "array[u32, 9]", "n": "Thing_n", "m": "array[Thing_m, 2]",
    }  # fmt: skip
    assert members(cls.n.type) == {"x": "f32", "y": "i32"}
    assert cls.__name__ == "Thing"
    assert "struct Thing_n {" in wgsl.declare(cls)


def test_struct_of_asks_for_what_could_be_two_things() -> None:
    dtype = np.dtype(
        [("color", "f4", (4,)), ("m", "f4", (4, 4)), ("p", "i4", (8, 2)), ("n", [("v", "f2", (3,))]), ("s", "f4")]
    )
    with pytest.raises(LayoutError) as caught:
        struct_of(dtype, "Thing")
    assert caught.value.rule == "dtype-ask"
    with pytest.raises(LayoutError) as caught:
        struct_of(dtype, "Thing", {"n.v": types.vec3h})
    assert str(caught.value) == (
        "a member's type must be clear from its dtype (current: color: vec4f or array[f32, 4], "
        "m: mat4x4f or array[vec4f, 4] or array[array[f32, 4], 4], p: array[vec2i, 8] or array[array[i32, 2], 8]; "
        "inferred n: Thing_n, s: f32) - at Thing; "
        "say which: types={'color': vec4f, 'm': mat4x4f, 'p': array[vec2i, 8]}"
    )
    answers = {"color": vec4f, "m": array[vec4f, 4], "p": array[vec2i, 8], "n.v": types.vec3h}
    made = struct_of(dtype, "Thing", answers)
    assert members(made)["m"] == "array[vec4f, 4]"
    assert members(made.n.type) == {"v": "vec3h"}
    assert answers.keys() == {"color", "m", "p", "n.v"}
    with pytest.raises(LayoutError) as caught:
        struct_of(dtype, "Thing", {**answers, "nothing": f32})
    assert caught.value.rule == "dtype-answers"
    aligned = struct_of(np.dtype([("a", "f4"), ("b", "f4")]), "Pair", {"b": Annotated[f32, align(16)]})
    assert aligned.b.offset == 16


def test_struct_of_understands_dtype_of() -> None:
    class Mesh(Struct):
        m: mat4x4f
        t: array[mat2x3f, 2]
        h: mat3x3h
        points: array[vec3f, 5]
        inner: array[Inner, 3]
        n: atomic[u32]

    again = struct_of(dtype_of(Mesh), "Mesh", {"inner.position": vec3f})
    assert dtype_of(again) == dtype_of(Mesh)


@pytest.mark.parametrize(
    "source",
    [np.dtype("f4"), np.float32, "f4", int, None, 3, np.dtype(("f4", 3)), np.zeros(3), object(), Inner, dataclass],
)
def test_struct_of_takes_fields_only(source: Any) -> None:
    with pytest.raises(LayoutError) as caught:
        struct_of(source)
    assert caught.value.rule == "dtype-source"


@pytest.mark.parametrize("code", ["U3", "S3", "O", "M8[s]", "m8[s]", "c16", "g"])
def test_dtypes_that_wgsl_has_not(code: str) -> None:
    with pytest.raises(LayoutError) as caught:
        struct_of(np.dtype([("x", code), ("y", "f4")]))
    assert caught.value.rule == "dtype-ask"


@pytest.mark.parametrize("name", ["2d", "loop", "a b", "__x"])
def test_field_names_that_wgsl_has_not(name: str) -> None:
    with pytest.raises(LayoutError):
        struct_of(np.dtype({"names": [name, "y"], "formats": ["f4", "f4"]}))


def test_struct_of_a_ctypes_structure() -> None:
    class Inside(ctypes.Structure):
        _fields_ = [("x", ctypes.c_double), ("n", ctypes.c_uint8)]

    class Native(ctypes.Structure):
        _fields_ = [("a", ctypes.c_float), ("v", ctypes.c_int16 * 2), ("inside", Inside), ("flag", ctypes.c_bool)]

    made = struct_of(Native, types={"v": vec2i})
    assert made.__name__ == "Native"
    assert members(made) == {"a": "f32", "v": "vec2i", "inside": "Native_inside", "flag": "u32"}


def test_struct_of_a_dataclass() -> None:
    @dataclass
    class Inside:
        x: float
        n: np.int16

    @dataclass
    class Data:
        a: float
        b: int
        c: bool
        h: np.float16
        v: vec3f
        w: Annotated[f32, align(16)]
        inside: Inside
        known: tuple[float, float]

    # Annotations are text here, and the names in them local.
    for cls in (Inside, Data):
        cls.__annotations__ = {k: eval(t, globals(), {"Inside": Inside}) for k, t in cls.__annotations__.items()}
    made = struct_of(Data, types={"known": vec2f})
    assert members(made) == {
        "a": "f32", "b": "i32", "c": "u32", "h": "f16", "v": "vec3f", "w": "f32", "inside": "Inside", "known": "vec2f",
    }  # fmt: skip
    assert made.w.offset % 16 == 0
    with pytest.raises(LayoutError, match=r"known: vec2f or array\[f32, 2\]"):
        struct_of(Data)
    assert i32 is made.b.type
    assert f16 is made.h.type
