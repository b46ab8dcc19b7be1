"""Nothing that is handed over crashes, and whatever is refused is refused with gpustruct's own exceptions."""

from __future__ import annotations

import array as standard
import decimal
import fractions
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpustruct
from gpustruct import GpuStructError, Struct, f32, layout_of, pack, types, u32, unpack, vec3f


class Particle(Struct):
    position: vec3f
    life: f32
    id: u32


class Tail(Struct):
    count: u32
    values: gpustruct.array[vec3f]


class Odd:
    """Answers everything with something else."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.answer

    def __index__(self) -> Any:
        if isinstance(self.answer, bool):
            raise TypeError("no index")
        return self.answer

    def __len__(self) -> int:
        raise KeyError("no length")

    def __getitem__(self, index: Any) -> Any:
        raise OSError("no item")


numbers = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(-3, 70),
    st.floats(),
    st.booleans(),
    st.complex_numbers(),
    st.sampled_from([np.int8(3), np.uint64(2**63), np.float16(2), np.float64("nan"), np.bool_(True), np.longdouble(1)]),
    st.sampled_from([decimal.Decimal("1.5"), fractions.Fraction(1, 3)]),
)
dtypes = st.sampled_from("f2 f4 f8 >f8 i1 u1 i8 >i4 u8 ? c8 O U3 S2 V4 M8[s] m8[D] f4,f4 g".split())
arrays = st.builds(
    lambda dtype, shape, order: np.zeros(shape, dtype, order),
    dtypes,
    st.lists(st.integers(0, 4), max_size=4).map(tuple),
    st.sampled_from("CF"),
)
junk = st.recursive(
    st.one_of(
        numbers,
        arrays,
        st.none(),
        st.text(max_size=3),
        st.binary(max_size=40),
        st.sampled_from([int, float, object(), np, Ellipsis, NotImplemented, np.float32, lambda: 3, Exception()]),
        st.sampled_from(
            [f32, vec3f, Struct, types.array, types.atomic, Particle, Tail, gpustruct.align(16), gpustruct.size]
        ),
        st.sampled_from([np.dtype("f4"), slice(3), range(3), memoryview(b"abc"), standard.array("d", [1, 2])]),
        st.sampled_from([np.ma.masked, np.ma.masked_array([1, 2], [True, False]), np.recarray(2, "f4")]),
        st.builds(lambda: Particle(position=np.zeros((2, 3)), life=1, id=2)),
        st.builds(bytearray, st.binary(max_size=64)),
        st.builds(Odd, st.one_of(numbers, arrays, st.none())),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["position", "life", "id", "", 3]), inner, max_size=3),
    ),
    max_leaves=5,
)


def refused(make: Any) -> bool:
    """Whether gpustruct refused, in words; any other exception goes on."""
    try:
        make()
    except GpuStructError as error:
        return bool(str(error) and error.rule)
    return False


@given(junk, junk)
def test_types_from_anything(one: Any, other: Any) -> None:
    refused(lambda: types.array[one])
    refused(lambda: types.array[one, other])
    refused(lambda: types.array[f32, one])
    refused(lambda: types.atomic[one])
    refused(lambda: types.make_struct("S", {"a": one, "b": other}))
    refused(lambda: layout_of(one))


@given(junk)
def test_attributes_from_anything(one: Any) -> None:
    for attribute in (gpustruct.align, gpustruct.size):
        refused(lambda: types.make_struct("S", {"a": Annotated[f32, attribute(one)]}))  # noqa: B023
    refused(lambda: types.make_struct("S", {"a": Annotated[f32, one]}))


@given(st.one_of(st.text(), st.text("abc_:;019é ", max_size=5)), junk)
def test_names_from_anything(name: str, one: Any) -> None:
    refused(lambda: types.make_struct(name, {"a": f32}))
    refused(lambda: types.make_struct("S", {name: f32}))
    refused(lambda: Particle(**{name: one}))


@given(junk, junk, junk)
def test_columns_from_anything(one: Any, two: Any, three: Any) -> None:
    for make in (
        lambda: Particle(position=one, life=two, id=three),
        lambda: Particle(position=np.zeros((3, 3)), life=one, id=[1, 2, 3]),
        lambda: Tail(count=one, values=two),
        lambda: Tail(count=1, values=one),
        lambda: vec3f(one),
        lambda: u32(one),
        lambda: types.array[Particle, 2](one),
    ):
        refused(lambda: pack(make()))  # noqa: B023


@given(junk, junk, junk)
def test_arguments_from_anything(one: Any, two: Any, three: Any) -> None:
    batch = Particle(position=np.zeros((2, 3)), life=1, id=2)
    refused(lambda: pack(one))
    refused(lambda: pack(batch, out=one))
    refused(lambda: pack(batch, out=bytearray(200), offset=one))
    refused(lambda: pack(batch, stride=one if not isinstance(one, int) else min(one, 4096)))
    refused(lambda: pack(batch, threads=one))
    refused(lambda: unpack(one, two))
    refused(lambda: unpack(Particle, one))
    refused(lambda: unpack(Particle, bytes(96), count=one, offset=two, stride=three))
    refused(lambda: unpack(Tail, bytes(96), count=one, offset=two))
    refused(lambda: unpack(Particle, bytes(96), out=one))


@given(junk)
def test_sizes_from_anything(one: Any) -> None:
    for layout in (layout_of(Tail), layout_of(Particle)):
        refused(lambda: layout.binding_size(one))  # noqa: B023
        refused(lambda: layout.length(one))  # noqa: B023
        assert layout.representable(one) in (True, False)


class Unprintable:
    """Its repr is its own code, which fails."""

    def __repr__(self) -> str:
        raise OSError("no repr")


# Some of these numpy itself cannot print.
odd = st.sampled_from(
    [
        np.ones(3),
        np.zeros((2, 2)),
        np.zeros(2, "U0"),
        Unprintable(),
        [Unprintable()],
        (Unprintable(),),
        (np.ones(2), "id"),
    ]
)


@given(odd, odd)
def test_options_from_anything(one: Any, two: Any) -> None:
    columns = {"position": np.zeros((2, 3)), "life": [1, 2], "id": [3, 4]}
    for make in (
        lambda: gpustruct.batch(Particle, columns, one),
        lambda: gpustruct.batch(u32, columns, one),
        lambda: gpustruct.batch(Particle, columns, {"life": one, "id": two}),
        lambda: gpustruct.batch(
            Particle, columns, {one if one.__hash__ else "id": two} if not isinstance(one, tuple) else {}
        ),
        lambda: gpustruct.batch(Particle, columns, life=one),
        lambda: gpustruct.batch(Particle, columns, extra=one),
        lambda: gpustruct.batch(Particle, columns, defaults=one),
        lambda: gpustruct.batch(one, two),
        lambda: gpustruct.dtype_of(one),
        lambda: gpustruct.struct_of(one),
        lambda: gpustruct.struct_of(np.dtype([("x", "f4")]), types=one),
        lambda: gpustruct.struct_of(np.dtype([("x", "f4")]), types={"x": one}),
    ):
        refused(make)


def test_messages_stay_short() -> None:
    with pytest.raises(GpuStructError) as caught:
        gpustruct.batch(Particle, {}, defaults=np.arange(999))
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


def test_columns_that_are_several_columns_are_no_part_of_a_vector() -> None:
    pair = (np.ones(2), np.ones(2))
    for names in (("a", "b"), {"position": ("a", "b", "b")}):
        cls = types.vec2f if isinstance(names, tuple) else Particle
        with pytest.raises(GpuStructError, match=r"\(column 'a'\)"):
            gpustruct.batch(cls, {"a": pair, "b": np.ones(2), "life": 1, "id": 2}, names)


def test_a_released_memoryview_is_refused() -> None:
    memory = memoryview(b"abcd")
    memory.release()
    for make in (lambda: gpustruct.batch(Particle, memory), lambda: u32(memory), lambda: gpustruct.batch(u32, memory)):
        with pytest.raises(GpuStructError):
            make()
