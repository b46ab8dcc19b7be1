"""Nothing is kept of an operation: no reference to what it was given, no block of memory, however it ends."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import gc
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpustruct import GpuStructError, Struct, array, batch, dtype_of, f32, mat3x3f, pack, u32, unpack, vec3f, view
from gpustruct.vertex import Vertex, float32x3, unorm8x4


class Inner(Struct):
    position: vec3f
    life: f32


class Outer(Struct):
    turn: mat3x3f
    parts: array[Inner, 2]
    count: u32


class Tail(Struct):
    count: u32
    values: array[f32]


class Corner(Vertex):
    position: float32x3
    color: unorm8x4


@dataclasses.dataclass
class Record:
    position: tuple[float, float, float]
    life: float


class Raises:
    """An object whose members raise."""

    @property
    def position(self) -> Any:
        raise AttributeError("position")


# numpy keeps a reference to float64 for each np.ones, np.zeros and np.empty that names no dtype, so operations make no arrays.
WIDE, NUMBERS, COLORS, BRIGHT = np.zeros((4, 3)), np.zeros(4), np.ones((4, 4)), np.full((4, 4), 2.0)
POSITIONS, LIVES = np.ones((4, 3)), np.arange(4)
RECORDS = [{"position": (1, 2, 3), "life": 4.5}, {"position": [1, 2, 3], "life": np.float32(2)}]
TUPLES = [((1, 2, 3), 4), (POSITIONS[0], LIVES[1])]
OBJECTS = [Record((1, 2, 3), 4), Record((4, 5, 6), 7)]
STRUCTURED = np.zeros(4, dtype_of(Inner))
PARTS = {"position": np.ones((5, 2, 3), np.float32), "life": np.ones((5, 2))}
OUTER = {"turn": np.ones((5, 3, 3)), "parts": PARTS, "count": np.arange(5)}
OUT, SHORT, READ_ONLY = np.zeros(64, np.uint8), np.zeros(8, np.uint8), bytes(64)
NEGATIVE, LARGE, TEXT, MASKED = np.array([1, -1]), np.array([1e300]), ["a"], np.ma.masked_array([1.0], [True])
KEPT = Inner(position=POSITIONS, life=LIVES)
VIEW = view(Outer)


def assign() -> None:
    VIEW.turn, VIEW.count, VIEW.parts[1].life = POSITIONS[:3], 3, np.float64(2)
    VIEW.parts = [{"position": (1, 2, 3), "life": 4}, {"position": (1, 2, 3), "life": 4}]


GOOD: dict[str, Callable[[], Any]] = {
    "a class": lambda: Inner(position=POSITIONS, life=LIVES),
    "a nested class": lambda: pack(Outer(**OUTER)),
    "a tail": lambda: pack(Tail(count=1, values=LIVES)),
    "a mapping": lambda: batch(Inner, {"position": POSITIONS, "life": LIVES}),
    "dictionaries": lambda: pack(batch(Inner, RECORDS)),
    "tuples": lambda: pack(batch(Inner, TUPLES)),
    "dataclasses": lambda: pack(batch(Inner, OBJECTS)),
    "an iterator": lambda: batch(Inner, iter(OBJECTS)),
    "a structured array": lambda: pack(batch(Inner, STRUCTURED)),
    "lists": lambda: pack(Inner(position=[[1, 2, 3]] * 3, life=[1, 2.5, np.int8(3)])),
    "renames": lambda: batch(Inner, {"p": POSITIONS, "life": LIVES}, position="p"),
    "defaults": lambda: batch(Inner, [{"position": (1, 2, 3)}], defaults={"life": 2}),
    "pack": lambda: pack(KEPT),
    "pack to out": lambda: pack(KEPT, out=OUT),
    "pack with a stride": lambda: pack(KEPT, stride=32),
    "pack on threads": lambda: pack(KEPT, threads=2),
    "unpack": lambda: unpack(Inner, OUT),
    "unpack with conversions": lambda: unpack(Inner, OUT, out=Inner(position=WIDE, life=NUMBERS)),
    "members": lambda: [KEPT.position, KEPT[1].life, KEPT[::2], list(KEPT), repr(KEPT), len(KEPT)],
    "a view": lambda: [view(Inner, OUT), view(Outer).parts[0].position, bytes(VIEW), repr(VIEW)],
    "assignments": assign,
    "a copy": lambda: copy.deepcopy(KEPT),
    "a pickle": lambda: pickle.loads(pickle.dumps(KEPT)),
    "vertices": lambda: pack(Corner(position=POSITIONS, color=COLORS)),
}

BAD: dict[str, Callable[[], Any]] = {
    "a value": lambda: pack(u32(NEGATIVE)),
    "a float": lambda: pack(f32(LARGE)),
    "a value to out": lambda: pack(u32(NEGATIVE), out=OUT),
    "a dtype": lambda: u32(POSITIONS[:, 0]),
    "a shape": lambda: vec3f(LIVES),
    "no column": lambda: Inner(position=POSITIONS),
    "another column": lambda: Inner(position=POSITIONS, life=LIVES, speed=LIVES),
    "two lengths": lambda: Inner(position=POSITIONS, life=LIVES[:3]),
    "text": lambda: f32(TEXT),
    "a masked value": lambda: f32(MASKED),
    "a record without a member": lambda: batch(Inner, [*RECORDS, {"life": 1}]),
    "a record's value": lambda: batch(Inner, [*TUPLES, ((1, 2), 3)]),
    "a record's number": lambda: batch(Inner, [*TUPLES, ((1, 2, "3"), 3)]),
    "an object that raises": lambda: batch(Inner, [Raises()]),
    "a source": lambda: batch(Inner, 5),
    "a short out": lambda: pack(KEPT, out=SHORT),
    "a read-only out": lambda: pack(KEPT, out=READ_ONLY),
    "a stride": lambda: pack(KEPT, stride=17),
    "an offset": lambda: pack(KEPT, offset=-1),
    "short data": lambda: unpack(Inner, SHORT),
    "a member of a view": lambda: setattr(VIEW, "count", -1),
    "a vector of a view": lambda: setattr(VIEW, "turn", [1, 2]),
    "no member of a view": lambda: VIEW.speed,
    "a normalized value": lambda: pack(Corner(position=POSITIONS, color=BRIGHT)),
    "an index": lambda: KEPT[9],
}

# Objects that each operation may take references to: inputs, dtypes, and the singletons that live as long as Python.
WATCHED: list[Any] = [
    POSITIONS, LIVES, RECORDS, TUPLES, OBJECTS, STRUCTURED, PARTS, OUTER, OUT, SHORT, READ_ONLY, NEGATIVE, LARGE, TEXT,
    WIDE, NUMBERS, COLORS, BRIGHT, MASKED, KEPT, VIEW, Inner, Outer, Tail, Corner, Record, Raises, RECORDS[0], TUPLES[0], OBJECTS[0],
    np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.uint8), np.dtype(np.int64), dtype_of(Inner), STRUCTURED.dtype,
    np.ndarray, "position", "life",
]  # fmt: skip
SINGLETONS: list[Any] = [None, True, False, ..., NotImplemented, (), "", 0, 1, 2, 3]


def repeat(work: Callable[[], Any], count: int) -> None:
    for _ in range(count):
        with contextlib.suppress(GpuStructError, AttributeError, IndexError):
            work()


def counted(objects: list[Any]) -> list[int]:
    return [sys.getrefcount(entry) for entry in objects]


@pytest.mark.long
@pytest.mark.parametrize("work", [*GOOD.values(), *BAD.values()], ids=[*GOOD, *BAD])
def test_nothing_is_kept(work: Callable[[], Any]) -> None:
    # What is made once and kept, such as a plan or a compiled pattern, is made here.
    repeat(work, 30)
    count, grown = 120, list[int]()
    while len(grown) < 10 and not any(growth < count // 3 for growth in grown):
        gc.collect()
        references, singletons, blocks = counted(WATCHED), counted(SINGLETONS), sys.getallocatedblocks()
        repeat(work, count)
        gc.collect()
        more = max(now - before for now, before in zip(counted(WATCHED), references, strict=True))
        ever = max(now - before for now, before in zip(counted(SINGLETONS), singletons, strict=True))
        grown.append(max(more, ever, sys.getallocatedblocks() - blocks))
    # What is kept of each operation is kept in every round; what Python keeps for later use grows in the first ones only.
    assert min(grown) < count // 3, grown


@pytest.mark.parametrize("work", BAD.values(), ids=list(BAD))
def test_the_errors_are_errors(work: Callable[[], Any]) -> None:
    with pytest.raises((GpuStructError, AttributeError, IndexError)):
        work()
