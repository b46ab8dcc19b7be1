"""Ctrl-C at every line of gpu/, and real signals: the same objects work afterwards, and bytes are old or new."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wgpu

import gpustruct.gpu
from gpustruct import BindingError, Struct, f16, f32, u32, view
from gpustruct.gpu import RecordBuffer, Uploader, write_buffer
from gpustruct.gpu.backend import mapping
from interrupting import Stop

GPU = str(Path(gpustruct.gpu.__file__).parent)
# Each line is interrupted the first times it runs: a loop does the same thing later on.
TIMES = 3
CHUNK = 1024
ROOM = 200
MAPPED = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST


class Pair(Struct):
    t: f32
    u: u32


class Half(Struct):
    x: f16
    y: f16
    z: f16


def pairs(start: int, n: int = ROOM) -> Any:
    # Values that are no f32 to begin with: they are checked, and packed before anything is submitted.
    return Pair(t=np.arange(start, start + n, dtype=np.float64), u=np.arange(start, start + n, dtype=np.int64))


class Case:
    """A buffer whose records count up from 0, and one operation that makes `after` of them."""

    def __init__(self, device: Any, small_bytes: int = 0) -> None:
        self.device = device
        self.uploader = Uploader(device, chunk_size=CHUNK, chunks=2, small_bytes=small_bytes)
        self.buffer: Any = RecordBuffer(device, Pair, ROOM, uploader=self.uploader)
        self.reset()

    def reset(self) -> None:
        self.buffer.write(pairs(0))

    def content(self) -> np.ndarray:
        found = np.frombuffer(self.device.queue.read_buffer(self.buffer.buffer), np.uint32).reshape(-1, 2)
        return np.stack([found[:, 0].view(np.float32), found[:, 1].astype(np.float32)], 1)


def counted(start: int, n: int = ROOM) -> np.ndarray:
    return np.repeat(np.arange(start, start + n, dtype=np.float32)[:, None], 2, 1)


def changed(places: Any, values: np.ndarray) -> np.ndarray:
    after = counted(0)
    after[places] = values
    return after


WHERE = np.arange(0, ROOM, 5)


def write_view(case: Case) -> None:
    seen = view(Pair)
    seen.t, seen.u = 9, 9
    write_buffer(case.device, case.buffer, seen)


def write_encoded(case: Case) -> None:
    encoder = case.device.create_command_encoder()
    case.buffer.write(pairs(900, 3), start=0, encoder=encoder)
    case.device.queue.submit([encoder.finish()])
    case.uploader.recall()


def scatter(device_side: bool) -> Callable[[Case], None]:
    def operate(case: Case) -> None:
        case.buffer._device_side = device_side
        case.buffer.write(pairs(900, len(WHERE)), where=WHERE)

    return operate


def read(case: Case) -> None:
    assert case.buffer.read().u.tolist() == list(range(ROOM))


def read_later(case: Case) -> None:
    reading = case.buffer.read_async()
    try:
        found = reading.result()
    except KeyboardInterrupt:
        # What was interrupted can be asked again, in the midst of everything.
        assert reading.result().u.tolist() == list(range(ROOM))
        raise
    assert found.u.tolist() == list(range(ROOM))


def bind(case: Case) -> None:
    assert case.buffer.binding()["size"] == 8 * ROOM
    assert len(case.buffer.bindings()) == 1


def in_a_frame(case: Case) -> None:
    with case.uploader.frame():
        case.buffer.write(pairs(900, 60), start=0)
        case.buffer.write(pairs(960, 60), start=60)
        case.buffer.write(pairs(700, 20), where=np.arange(120, 200, 4))
        case.buffer.write(pairs(1020, ROOM - 120), start=120)


WRITES: dict[str, tuple[Callable[[Case], None], np.ndarray, int]] = {
    "write in chunks": (lambda case: case.buffer.write(pairs(900)), counted(900), 0),
    "a small write": (lambda case: case.buffer.write(pairs(900)), counted(900), 1 << 20),
    "append": (lambda case: case.buffer.write(pairs(900, 5), start=3), changed(slice(3, 8), counted(900, 5)), 0),
    "where, by copies": (scatter(False), changed(WHERE, counted(900, len(WHERE))), 0),
    "where, by a shader": (scatter(True), changed(WHERE, counted(900, len(WHERE))), 0),
    "clear": (lambda case: case.buffer.clear(), 0 * counted(0), 0),
    "a view": (write_view, changed(0, np.float32([9, 9])), 0),
    "an encoder": (write_encoded, changed(slice(0, 3), counted(900, 3)), 0),
    "a frame": (in_a_frame, counted(900), 0),
    "read": (read, counted(0), 0),
    "read_async": (read_later, counted(0), 0),
    "bind": (bind, counted(0), 0),
}


def steps(operate: Callable[[], None]) -> list[int]:
    """The lines that `operate` runs, by their number in order: each the first times that it runs."""
    with Stop(GPU) as stop:
        operate()
    seen: Counter[tuple[str, int]] = Counter()
    chosen: list[int] = []
    for nth, line in enumerate(stop.lines):
        seen[line] += 1
        if seen[line] <= TIMES:
            chosen.append(nth)
    return chosen


def interrupted(operate: Callable[[], None], nth: int) -> bool:
    try:
        with Stop(GPU, nth):
            operate()
    except KeyboardInterrupt:
        return True
    return False


@pytest.mark.long
@pytest.mark.parametrize("name", WRITES)
def test_interrupted_at_every_line(name: str, device: Any) -> None:
    operate, after, small_bytes = WRITES[name]
    case = Case(device, small_bytes)
    operate(case)
    case.reset()
    chosen = steps(lambda: operate(case))
    case.reset()
    before, hits = case.content(), 0
    for nth in chosen:
        hits += interrupted(lambda: operate(case), nth)
        found = case.content()
        assert ((found == before) | (found == after)).all(), nth
        if name == "a frame":
            assert (found == before).all() or (found == after).all(), nth
            assert case.buffer.count == ROOM
        operate(case)
        assert case.content().tolist() == after.tolist(), nth
        case.reset()
        assert case.content().tolist() == before.tolist(), nth
        chunks = case.uploader.transfers.pool._chunks
        assert not any(chunk.in_use for chunk in chunks)
        assert len(chunks) <= 2
        assert case.uploader.staging_bytes <= 2 * CHUNK + 3 * 64
    # No lock is left held.
    other = threading.Thread(target=operate, args=(case,), daemon=True)
    other.start()
    other.join(60)
    assert not other.is_alive()
    # What waits on a thread may run some lines more, or fewer.
    assert hits > len(chosen) * 0.8


def test_resize_interrupted_at_every_line(device: Any) -> None:
    case = Case(device)
    chosen = steps(lambda: case.buffer.resize(300))
    for nth in chosen:
        case = Case(device)
        interrupted(functools.partial(case.buffer.resize, 300), nth)
        assert case.buffer.capacity in (ROOM, 300)
        assert case.buffer.count == ROOM
        assert len(case.content()) == case.buffer.capacity
        assert case.content()[:ROOM].tolist() == counted(0).tolist()
        case.buffer.resize(250)
        case.buffer.append(pairs(ROOM, 50))
        assert case.buffer.read().u.tolist() == list(range(250))


@pytest.mark.long
def test_words_shared_with_a_neighbour_interrupted_at_every_line(device: Any) -> None:
    """Records of 6 bytes: the words at both ends are read first, and kept."""
    uploader = Uploader(device, chunk_size=CHUNK, chunks=2, small_bytes=0)
    buffer = RecordBuffer(device, Half, 400, usage="VERTEX", uploader=uploader)

    def halves(start: int, n: int) -> Any:
        values = np.arange(start, start + n, dtype=np.float64)
        return Half(x=values, y=values, z=values)

    def operate() -> None:
        buffer.write(halves(1000, 301), start=1)

    buffer.write(halves(0, 400))
    before = buffer.read().x
    after = before.copy()
    after[1:302] = np.arange(1000, 1301)
    for nth in steps(operate):
        buffer.write(halves(0, 400))
        interrupted(operate, nth)
        found = buffer.read().z
        assert ((found == before) | (found == after)).all(), nth
        operate()
        assert buffer.read().z.tolist() == after.tolist(), nth


def test_a_view_after_an_interrupted_view_is_sent_whole(device: Any) -> None:
    case = Case(device)
    seen = view(Pair)

    def operate() -> None:
        write_buffer(device, case.buffer, seen)

    operate()
    seen.u = 5
    for nth in steps(operate):
        seen.t, seen.u = nth, 2 * nth
        interrupted(operate, nth)
        operate()
        assert case.content()[0].tolist() == [nth, 2 * nth]


class Alarm:
    """Real signals, each of which raises KeyboardInterrupt; from time to time one more, in case wgpu-py swallows it."""

    def __init__(self) -> None:
        self.armed, self.came = False, 0
        signal.signal(signal.SIGALRM, self._raise)

    def _raise(self, *_: object) -> None:
        if self.armed:
            self.came += 1
            raise KeyboardInterrupt

    def during(self, delay: float, operate: Callable[[], None]) -> None:
        """Call `operate` again and again until a signal comes through, the first after `delay` seconds."""
        try:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, delay, 0.05)
            while True:
                operate()
        except KeyboardInterrupt:
            pass
        finally:
            self.armed = False


@pytest.fixture
def alarm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Alarm]:
    # What Ctrl-C raises inside a callback of wgpu-py, Python reports here and swallows.
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: None)
    before = signal.getsignal(signal.SIGALRM)
    yield Alarm()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system sends no signals by a timer")
def test_hundreds_of_real_signals(device: Any, alarm: Alarm) -> None:
    case, rng = Case(device), np.random.default_rng(0)
    names = [name for name in WRITES if name != "bind"]
    rounds = int(os.environ.get("GPUSTRUCT_EXAMPLES", "100"))
    for round_ in range(rounds):
        operate, after, _ = WRITES[names[round_ % len(names)]]
        case.reset()
        before = case.content()
        alarm.during(float(rng.uniform(0.0001, 0.004)), lambda operate=operate: operate(case))
        found = case.content()
        assert ((found == before) | (found == after)).all(), names[round_ % len(names)]
        case.reset()
        operate(case)
        assert case.content().tolist() == after.tolist()
        assert len(case.uploader.transfers.pool._chunks) <= 2
        case.uploader.recall()
    assert alarm.came >= rounds - 20
    # Another thread can go on too: no lock is left held.
    other = threading.Thread(target=lambda: case.buffer.write(pairs(70)), daemon=True)
    other.start()
    other.join(60)
    assert not other.is_alive()
    assert case.content().tolist() == counted(70).tolist()


def read_awaited(case: Case) -> None:
    async def read() -> Any:
        return await case.buffer.read_async()

    assert asyncio.run(read()).u.tolist() == list(range(ROOM))


@pytest.mark.parametrize("name", ["read", "read_async", "await", "write in chunks"])
def test_an_answer_that_wgpu_py_swallows_is_asked_for_again(
    name: str, device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The callback raises before it says anything: the buffer is mapped, and the promise knows nothing of it."""
    operate, after, _ = WRITES[name] if name != "await" else (read_awaited, counted(0), 0)
    case = Case(device)
    answered = case.uploader.device.create_buffer(size=8, usage=MAPPED).map_async("READ")
    # Or its answer, if it came late, would be the one that is swallowed.
    answered.sync_wait()
    promise = type(answered)
    set_input, swallowed = promise._wgpu_set_input, []

    def swallow(self: Any, value: Any) -> None:
        if threading.current_thread() is not threading.main_thread() and len(swallowed) < 1:
            swallowed.append(self)
        else:
            set_input(self, value)

    monkeypatch.setattr(promise, "_wgpu_set_input", swallow)
    kept = len(mapping._lost_callbacks)
    operate(case)
    case.reset()
    operate(case)
    assert case.content().tolist() == after.tolist()
    assert swallowed
    # wgpu-native may call it after all: its memory must not be freed.
    assert len(mapping._lost_callbacks) == kept + 1


def test_a_wait_has_an_end(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapping, "LONGEST_WAIT", 0.1)
    case = Case(device)
    reading = case.buffer.read_async()
    promise = type(reading._in_flight[0][1].mapping._promise)
    reading.result()
    with monkeypatch.context() as silent:
        silent.setattr(promise, "_wgpu_set_input", lambda self, value: None)
        reading = case.buffer.read_async()
        with pytest.raises(BindingError, match=r"0 s|answer"):
            reading.result()
        with pytest.raises(BindingError, match=r"0 s|answer"):
            read_awaited(case)


@pytest.mark.parametrize("which", ["the device's", "the promise's"])
def test_a_lock_that_an_interrupt_left_held_is_released(
    which: str, device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Ctrl-C leaves it in the midst of wgpu-py's Event: taken by nobody who would give it back."""
    monkeypatch.setattr(mapping, "LOCK_TIMEOUT", 0.05)
    case = Case(device)
    reading = case.buffer.read_async()
    if which == "the device's":
        reading.result()
        event = device._poller._event
    else:
        event = reading._in_flight[0][1].mapping._promise._thread_event
    assert event._cond._lock.acquire(timeout=5)
    # The one that waits releases it.
    assert reading.result().u.tolist() == list(range(ROOM))
    read(case)


def test_an_interrupt_while_a_lock_is_released_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapping, "LOCK_TIMEOUT", 0.003)
    event = threading.Event()
    lock = event._cond._lock  # type: ignore[attr-defined]
    lock.acquire()
    with Stop(GPU) as stop:
        mapping._unlock(event)
    inside = {line for _, _, line in mapping._release.__code__.co_lines()}
    chosen = [nth for nth, (_, line) in enumerate(stop.lines) if line in inside]
    assert len(chosen) > 4
    for nth in chosen:
        lock.acquire()
        interrupted(lambda: mapping._unlock(event), nth)
        assert not lock.locked(), stop.lines[nth]
