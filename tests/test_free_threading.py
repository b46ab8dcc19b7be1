"""Lists, dicts, objects and classes that other threads change while we read them: errors are ours, and nothing crashes.

Without the GIL this runs for GPUSTRUCT_STRESS_SECONDS, 5 by default; with it for one second, switching threads often.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpustruct import GpuStructError, Struct, array, batch, f32, i32, mat3x3f, pack, u32, unpack, vec3f, view

FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED")) and not getattr(sys, "_is_gil_enabled", lambda: True)()
SECONDS = float(os.environ.get("GPUSTRUCT_STRESS_SECONDS", "5" if FREE else "1"))
CROWD = 8
COUNT = 60


class Inner(Struct):
    a: vec3f
    b: i32


class Record(Struct):
    position: vec3f
    life: f32
    turn: mat3x3f
    inner: Inner
    many: array[Inner, 3]
    id: u32


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


def inner(k: int) -> dict[str, Any]:
    return {"a": [float(k), 1.0, 2.0], "b": k}


def record(k: int) -> dict[str, Any]:
    turn = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    many = [inner(k) for _ in range(3)]
    return {"position": [float(k), 1.0, 2.0], "life": 1.0, "turn": turn, "inner": inner(k), "many": many, "id": k}


class Sources:
    """What all threads share: half of them change it, the others read it."""

    def __init__(self) -> None:
        self.records = [record(k) for k in range(COUNT)]
        self.rows = [list(record(k).values()) for k in range(COUNT)]
        self.objects = [Slotted([1.0, 2.0, 3.0], k) for k in range(COUNT)]
        self.columns = {"a": np.ones((500, 3)), "b": np.arange(500)}
        self.batch = Inner(**self.columns)
        self.view: Any = view(Record)

    def change(self, r: random.Random) -> None:
        k, one = r.randrange(COUNT), self.records[r.randrange(COUNT)]
        vector = [r.random(), 1.0, 2.0]
        changes: list[Callable[[], Any]] = [
            lambda: one.update(position=vector, inner=inner(k), many=[inner(k) for _ in range(3)]),
            lambda: one["turn"].__setitem__(r.randrange(3), vector),
            lambda: (one["position"].append(1.0), one["position"].pop()),
            lambda: (one.pop("life", 0), one.__setitem__("life", r.random())),
            lambda: (self.records.append(record(k)), self.records.pop()),
            lambda: (one["many"].__setitem__(1, inner(5)), one["many"].pop(), one["many"].append(inner(2))),
            lambda: (setattr(self.objects[k], "a", vector), setattr(self.objects[k], "b", k)),
            lambda: (self.rows[k].__setitem__(0, vector), self.rows[k].__setitem__(2, [vector, vector, vector])),
            lambda: self.columns.update(a=r.random() * np.ones((500, 3)), b=np.arange(500)),
            lambda: setattr(self, "batch", Inner(a=np.ones((500, 3), r.choice(["f4", "f8"])), b=np.arange(500))),
        ]
        r.choice(changes)()

    def read(self, r: random.Random) -> None:
        one, shared = self.records[r.randrange(COUNT)], self.batch
        count = r.randrange(1, 400)
        reads: list[Callable[[], Any]] = [
            lambda: pack(batch(Record, self.records)),
            lambda: pack(batch(Record, self.rows)),
            lambda: pack(batch(Inner, self.objects)),
            lambda: pack(batch(Inner, self.columns)),
            lambda: unpack(Inner, pack(shared)).a[499, 2] == 1 or pytest.fail("a column lost its values"),
            lambda: (setattr(self.view, "position", one["position"]), setattr(self.view, "turn", one["turn"])),
            lambda: (setattr(self.view, "inner", one["inner"]), setattr(self.view, "many", one["many"])),
            lambda: bytes(self.view),
            lambda: array[f32, count] is array[f32, count] or pytest.fail("two classes for one type"),
            lambda: pack(batch(Inner, np.zeros(9, [("a", "f4", 3), ("b", "i4")]))),
        ]
        r.choice(reads)()


@pytest.fixture
def often() -> Any:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.timeout(SECONDS + 300)
@pytest.mark.usefixtures("often")
def test_sources_that_other_threads_change() -> None:
    sources, stop, wrong, done = Sources(), time.monotonic() + SECONDS, [], [0] * (2 * CROWD)

    def run(number: int, step: Callable[[random.Random], None], expected: Any) -> None:
        r = random.Random(number)
        while not wrong and (not done[number] or time.monotonic() < stop):
            try:
                step(r)
            except expected:
                pass
            except BaseException as error:
                wrong.append(repr(error))
            done[number] += 1

    # A member that is gone for a moment is the test's own KeyError, outside gpustruct.
    crowd = [threading.Thread(target=run, args=(k, sources.change, LookupError)) for k in range(CROWD)]
    crowd += [threading.Thread(target=run, args=(CROWD + k, sources.read, GpuStructError)) for k in range(CROWD)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert wrong == []
    assert all(done)


def test_compiled_modules_leave_the_gil_off() -> None:
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python always has a GIL")
    code = "import sys, gpustruct; sys.exit(sys._is_gil_enabled())"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHON_GIL"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


class Emptying:
    """A number that empties the list or the dict it is read from."""

    def __init__(self, container: Any) -> None:
        self.container = container

    def __float__(self) -> float:
        self.container.clear()
        return 1.0


@pytest.mark.parametrize("kind", ["rows", "records", "vector"])
def test_numbers_that_empty_their_container(kind: str) -> None:
    source: Any = [inner(k) for k in range(3)] if kind != "rows" else [[[1.0, 2.0, 3.0], 4] for _ in range(3)]
    if kind == "rows":
        source[1][0] = [1.0, Emptying(source[1]), 2.0]
    elif kind == "records":
        source[1]["a"] = [1.0, Emptying(source[1]), 2.0]
    else:
        source[1]["a"] = [1.0, 0.0, 2.0]
        source[1]["a"][1] = Emptying(source[1]["a"])
    with contextlib.suppress(GpuStructError):
        assert len(batch(Inner, source)) == 3


def test_a_batch_keeps_its_columns() -> None:
    made = Inner(a=np.ones((2, 3)), b=[1, 2])
    with pytest.raises(AttributeError, match="keeps its columns"):
        made.__init__(a=np.ones((3, 3)), b=[1, 2, 3])  # type: ignore[misc]
    assert len(made) == 2
