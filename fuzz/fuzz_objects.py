"""Objects of any kind as the source of a batch: a GpuStructError, or the bytes that tests/reference.py writes.

An input is a small program: its bytes choose a type, then build a source for it from lists, tuples, dictionaries,
arrays of odd dtypes and strides, numbers, and objects whose descriptors raise.
"""

from __future__ import annotations

import decimal
import fractions
import sys
import warnings
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["gpustruct"]):
    import gpustruct
    from gpustruct import GpuStructError, Struct, batch, f16, f32, i32, mat3x3f, pack, u32, unpack, vec2f, vec3f, vec4u

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import reference


class Plain(Struct):
    position: vec3f
    life: f32
    id: u32


class Light(Struct):
    color: vec3f
    power: f16


class Nested(Struct):
    lights: gpustruct.array[Light, 2]
    turn: mat3x3f
    count: i32


class Tail(Struct):
    count: u32
    points: gpustruct.array[vec2f]


class Words(Struct):
    cell: vec4u
    weights: gpustruct.array[f32, 3]


TYPES = (Plain, Light, Nested, Tail, Words)
NAMES = ("position", "life", "id", "color", "power", "lights", "turn", "count", "points", "cell", "weights", "x", "")
DTYPES = "f2 f4 f8 >f8 i1 u1 i8 >i4 >u2 u8 ? c8 O U3 S2 V4 M8[s] m8[D] f4,f4 g".split()
NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2**31, 2**32 - 1, 2**63, 2**64, -(2**63) - 1, 10**400, 1.5, -0.0, float("nan"), float("inf"), 1e300, 65520.0,
    True, 1j, None, "1", b"1", np.int8(-3), np.uint64(2**63), np.float16(2), np.float64(3.5), np.bool_(True),
    np.longdouble(1), decimal.Decimal("1.5"), fractions.Fraction(1, 3), np.datetime64(1, "s"), np.ma.masked, ..., object(),
)  # fmt: skip
SMALL = (0, 1, 1, 2, 3, 3, 4, 7)


class Raises:
    """An object whose attributes, items and length raise what the input chose."""

    def __init__(self, error: type[Exception]) -> None:
        object.__setattr__(self, "error", error)

    def __getattribute__(self, name: str) -> Any:
        raise object.__getattribute__(self, "error")(name)

    def __len__(self) -> int:
        raise object.__getattribute__(self, "error")("length")

    def __getitem__(self, index: Any) -> Any:
        raise object.__getattribute__(self, "error")("item")


class Record:
    """An object with any attributes."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.__dict__.update(members)


class Slots:
    """An object whose attributes are descriptors."""

    __slots__ = ("count", "id", "life", "position", "power")


def number(data: atheris.FuzzedDataProvider) -> Any:
    way = data.ConsumeIntInRange(0, 5)
    if way == 0:
        return data.ConsumeIntInRange(-5, 300)
    if way == 1:
        return data.ConsumeFloat()
    if way == 2:
        return data.ConsumeInt(9)
    return data.PickValueInList(list(NUMBERS)) if way == 3 else data.ConsumeIntInRange(0, 3) / 2


def array(data: atheris.FuzzedDataProvider) -> Any:
    """An array of any dtype and strides, over bytes of the input; it never refers to memory that is not there."""
    dtype = np.dtype(data.PickValueInList(DTYPES))
    shape = tuple(data.PickValueInList(list(SMALL)) for _ in range(data.ConsumeIntInRange(0, 3)))
    made = np.zeros(tuple(2 * size for size in shape), dtype)
    if dtype.kind in "fiub":
        made.flat[:] = [data.ConsumeIntInRange(0, 100) for _ in range(made.size)]
    for axis in range(len(shape)):
        way = data.ConsumeIntInRange(0, 3)
        cut = [slice(None)] * made.ndim
        cut[axis] = (slice(None, None, 2), slice(shape[axis]), slice(None, None, -2), slice(0, 1))[way]
        made = made[tuple(cut)]
        if way == 3 and made.shape[axis]:
            made = np.broadcast_to(made, (*made.shape[:axis], shape[axis], *made.shape[axis + 1 :]))
    return made.T if data.ConsumeBool() else made


def good(data: atheris.FuzzedDataProvider, name: str) -> Any:
    """A value of the right form for a member."""
    shapes = {"position": (3,), "color": (3,), "turn": (3, 3), "cell": (4,), "weights": (3,), "points": (2, 2)}
    if name == "lights":
        return [{"color": good(data, "color"), "power": number(data)} for _ in range(2)]
    values = np.reshape([data.ConsumeIntInRange(0, 9) for _ in range(9)], -1)
    shape = shapes.get(name, ())
    made = values[: int(np.prod(shape))].reshape(shape)
    return made.tolist() if data.ConsumeBool() else made


def value(data: atheris.FuzzedDataProvider, depth: int) -> Any:
    way = data.ConsumeIntInRange(0, 9) if depth else data.ConsumeIntInRange(0, 2)
    if way <= 1:
        return number(data)
    if way == 2:
        return array(data)
    if way in (3, 4):
        made = [value(data, depth - 1) for _ in range(data.ConsumeIntInRange(0, 4))]
        return made if way == 3 else tuple(made)
    if way == 5:
        return {data.PickValueInList(list(NAMES)): value(data, depth - 1) for _ in range(data.ConsumeIntInRange(0, 4))}
    if way == 6:
        return Raises(data.PickValueInList([AttributeError, TypeError, KeyError, OSError, IndexError]))
    if way == 7:
        return Record({data.PickValueInList(list(NAMES)): value(data, depth - 1) for _ in range(3)})
    if way == 8:
        return bytearray(data.ConsumeBytes(data.ConsumeIntInRange(0, 60)))
    return data.PickValueInList([range(3), slice(3), memoryview(b"abcdefgh"), iter([1]), Slots(), Plain, f32, set()])


def source(data: atheris.FuzzedDataProvider, cls: Any) -> Any:
    """Members that mostly have the right form, as a mapping, an object, or a list of records."""

    def record() -> Any:
        members = {
            name: good(data, name) if data.ConsumeIntInRange(0, 5) else value(data, 2) for name in cls.__members__
        }
        way = data.ConsumeIntInRange(0, 3)
        return Record(members) if way == 0 else tuple(members.values()) if way == 1 else members

    way = data.ConsumeIntInRange(0, 4)
    if way == 0:
        return value(data, 3)
    records = [record() for _ in range(data.ConsumeIntInRange(0, 4))] if way > 1 else record()
    if way == 2 and isinstance(records, list) and records and data.ConsumeBool():
        records.append(value(data, 2))
    return records


def one_input(raw: bytes) -> None:
    data = atheris.FuzzedDataProvider(raw)
    cls = data.PickValueInList(list(TYPES))
    given = source(data, cls)
    try:
        made = cls(**given) if data.ConsumeBool() and type(given) is dict else batch(cls, given)
        got = pack(made)
    except GpuStructError as error:
        if not error.rule or len(str(error)) > 5000:
            raise AssertionError("an error has no rule, or is too long") from error
        return
    except (AttributeError, TypeError, KeyError, OSError, IndexError) as error:
        # What a hostile object raises may pass; what we raise may not.
        if error.__traceback__ is not None and "Raises" in repr(_frames(error)):
            return
        raise
    if cls is Tail:
        again = unpack(cls, got)
        if pack(again).tobytes() != got.tobytes():
            raise AssertionError("unpack and pack changed the bytes")
        return
    difference = reference.difference(cls, got, reference.pack(made))
    if difference:
        raise AssertionError(difference)


def _frames(error: BaseException) -> list[str]:
    found, step = [], error.__traceback__
    while step is not None:
        found.append(step.tb_frame.f_code.co_qualname)
        step = step.tb_next
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
