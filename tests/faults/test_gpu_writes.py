"""F0: whatever gpustruct writes into a buffer, a view that was sent there before is sent again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import device_or_skip
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gpustruct import Struct, array, f32, view
from gpustruct.gpu import RecordBuffer, Uploader, write_buffer

ROOM = 200


class Pair(Struct):
    t: f32
    u: f32


class System(Struct):
    """A header as large as a record, so that everything is a row of 8 bytes."""

    gravity: f32
    wind: f32
    pairs: array[Pair]


def filled(n: int, value: float = 9) -> Any:
    return Pair(t=np.full(n, value, np.float32), u=np.float32(value))


def head(buffer: Any, device: Any) -> list[float]:
    return np.frombuffer(device.queue.read_buffer(buffer), np.float32)[:2].tolist()


def without_shader(buffer: Any) -> None:
    buffer._device_side = False
    buffer.write(filled(100), where=np.arange(0, ROOM, 2))


def recorded(write: Callable[[Any, Any], None]) -> Callable[[Any], None]:
    def disturb(buffer: Any) -> None:
        device = buffer.device
        encoder = device.create_command_encoder()
        write(buffer, encoder)
        again = view(Pair)
        again.t, again.u = 1, 2
        write_buffer(device, buffer.buffer, again)
        device.queue.submit([encoder.finish()])
        Uploader.of(device).recall()

    return disturb


DISTURBANCES = {
    "clear": lambda r: r.clear(),
    "scattered by a shader": lambda r: r.write(filled(100), where=np.arange(0, ROOM, 2)),
    "scattered by copies": without_shader,
    "a mask": lambda r: r.write(filled(100), where=np.arange(ROOM) < 100),
    "a write": lambda r: r.write(filled(3)),
    "a write of part of the view's bytes": lambda r: write_buffer(r.device, r.buffer, f32([5.0]), 4),
    "a view of other bytes": lambda r: write_buffer(r.device, r.buffer, view(f32), 4),
    "another uploader": lambda r: Uploader(r.device).write(r.buffer, filled(2)),
    "staging memory": lambda r: Uploader(r.device, small_bytes=0).write(r.buffer, filled(ROOM)),
    "a write in an encoder": recorded(lambda r, encoder: r.write(filled(1), encoder=encoder)),
    "a clear in an encoder": recorded(lambda r, encoder: r.clear(encoder=encoder)),
    "an uploader's write in an encoder": recorded(
        lambda r, encoder: Uploader.of(r.device).write(r.buffer, filled(4), encoder=encoder)
    ),
}


@pytest.mark.parametrize("disturb", DISTURBANCES.values(), ids=DISTURBANCES.keys())
def test_F0_a_view_is_sent_again_after_anything_else_was_written(disturb: Callable[[Any], None], device: Any) -> None:
    buffer = RecordBuffer(device, Pair, ROOM)
    seen = view(Pair)
    seen.t, seen.u = 1, 2
    write_buffer(device, buffer.buffer, seen)
    disturb(buffer)
    assert head(buffer.buffer, device) != [1.0, 2.0]
    write_buffer(device, buffer.buffer, seen)
    assert head(buffer.buffer, device) == [1.0, 2.0]


def test_F0_only_what_changed_is_sent_where_nothing_else_was_written(device: Any) -> None:
    buffer = RecordBuffer(device, Pair, ROOM)
    seen = view(Pair)
    write_buffer(device, buffer.buffer, seen)
    # Behind gpustruct's back: what it does not send again shows.
    device.queue.write_buffer(buffer.buffer, 0, np.array([7, 7], np.float32))
    seen.u = 3
    write_buffer(device, buffer.buffer, seen)
    assert head(buffer.buffer, device) == [7.0, 3.0]


class _Dropped(Exception):
    pass


class EveryWayOfWriting(RuleBasedStateMachine):
    """Any sequence of writes, views among them, beside a plain array of the same bytes: the header is row 0."""

    room = 12

    @initialize()
    def make(self) -> None:
        self.device = device_or_skip()
        self.buffer = RecordBuffer(self.device, System, self.room)
        self.model = np.zeros((1 + self.room, 2), np.float32)
        self.views = {at: view(Pair) for at in (0, 1, 5)}
        self.others = [Uploader.of(self.device), Uploader(self.device, small_bytes=0)]
        self.encoder: Any = None
        self.pending: list[Callable[[np.ndarray], None]] = []
        self.next = 0.0

    def values(self, n: int) -> np.ndarray:
        self.next += 1
        return (self.next * 100 + np.arange(2 * n, dtype=np.float32)).reshape(n, 2)

    @staticmethod
    def batch(values: np.ndarray) -> Any:
        return Pair(t=values[:, 0], u=values[:, 1])

    @rule(n=st.integers(1, 6), data=st.data())
    def write(self, n: int, data: Any) -> None:
        at, values = data.draw(st.integers(0, self.room - n)), self.values(n)
        self.buffer.write(self.batch(values), start=at)
        self.model[1 + at : 1 + at + n] = values

    @rule()
    def write_header(self) -> None:
        (values,) = self.values(1)
        self.buffer.write_header({"gravity": values[0], "wind": values[1]})
        self.model[0] = values

    @rule(n=st.integers(0, 6))
    def write_whole(self, n: int) -> None:
        values = self.values(1 + n)
        header = {"gravity": values[0, 0], "wind": values[0, 1]}
        self.buffer.write(System(**header, pairs=self.batch(values[1:])))
        self.model[: 1 + n] = values

    @rule(n=st.integers(1, 3))
    def append(self, n: int) -> None:
        values, at = self.values(n), self.buffer.count
        if at + n <= self.room:
            self.buffer.append(self.batch(values))
            self.model[1 + at : 1 + at + n] = values

    @rule(picked=st.sets(st.integers(0, 11), min_size=1), shader=st.booleans(), mask=st.booleans())
    def scatter(self, picked: set[int], shader: bool, mask: bool) -> None:
        where = np.array(sorted(index for index in picked if index < self.room) or [0])
        values = self.values(len(where))
        self.buffer._device_side = shader
        self.buffer.write(self.batch(values), where=np.isin(np.arange(self.room), where) if mask else where)
        self.model[1 + where] = values

    @rule(at=st.sampled_from([0, 1, 5]), changes=st.booleans())
    def send_view(self, at: int, changes: bool) -> None:
        seen = self.views[at]
        if changes:
            self.next += 1
            seen.u = self.next
        write_buffer(self.device, self.buffer.buffer, seen, 8 * at)
        self.model[at] = (seen.t, seen.u)

    @rule(which=st.integers(0, 1), at=st.integers(0, 9), n=st.integers(1, 3))
    def upload(self, which: int, at: int, n: int) -> None:
        values = self.values(n)
        self.others[which].write(self.buffer.buffer, self.batch(values), 8 * at)
        self.model[at : at + n] = values

    @rule()
    def clear(self) -> None:
        self.buffer.clear()
        self.model[...] = 0

    @rule(room=st.integers(12, 20))
    @precondition(lambda self: self.encoder is None)
    def resize(self, room: int) -> None:
        kept = 1 + min(self.buffer.count, room)
        before, self.room = self.model, room
        self.buffer.resize(room)
        # Bytes after the records in use need not be copied: both sides write it again.
        self.model = np.zeros((1 + room, 2), np.float32)
        self.model[:kept] = before[:kept]
        rest = self.values(1 + room - kept) if 1 + room > kept else None
        if rest is not None:
            self.others[0].write(self.buffer.buffer, self.batch(rest), 8 * kept)
            self.model[kept:] = rest

    @rule(at=st.integers(0, 9), n=st.integers(1, 3), clears=st.booleans())
    def record(self, at: int, n: int, clears: bool) -> None:
        if self.encoder is None:
            self.encoder = self.device.create_command_encoder()
        if clears:
            self.buffer.clear(encoder=self.encoder)
            self.pending.append(lambda model: model.fill(0))
            return
        values = self.values(n)
        self.others[0].write(self.buffer.buffer, self.batch(values), 8 * at, encoder=self.encoder)

        def later(model: np.ndarray) -> None:
            model[at : at + n] = values

        self.pending.append(later)

    @rule()
    @precondition(lambda self: self.encoder is not None)
    def submit(self) -> None:
        self.device.queue.submit([self.encoder.finish()])
        self.others[0].recall()
        for change in self.pending:
            change(self.model)
        self.encoder, self.pending = None, []

    @rule(data=st.data(), drops=st.booleans())
    def frame(self, data: Any, drops: bool) -> None:
        """Some writes that reach the device together, or not at all."""
        before, count = self.model.copy(), self.buffer.count
        with contextlib.suppress(_Dropped), self.others[0].frame():
            for _ in range(data.draw(st.integers(1, 5))):
                self.in_frame(
                    data, data.draw(st.sampled_from(["write", "header", "append", "where", "view", "upload", "clear"]))
                )
            found = np.frombuffer(self.device.queue.read_buffer(self.buffer.buffer), np.float32)
            assert found[: before.size].tolist() == before.ravel().tolist()
            if drops:
                raise _Dropped
        if drops:
            self.model = before
            assert self.buffer.count == count

    def in_frame(self, data: Any, kind: str) -> None:
        n, at = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 9))
        if kind == "write":
            values = self.values(n)
            self.buffer.write(self.batch(values), start=at)
            self.model[1 + at : 1 + at + n] = values
        elif kind == "header":
            self.write_header()
        elif kind == "append":
            self.append(n)
        elif kind == "where":
            self.scatter(set(data.draw(st.sets(st.integers(0, 11), min_size=1))), data.draw(st.booleans()), n == 1)
        elif kind == "view":
            self.send_view(data.draw(st.sampled_from([0, 1, 5])), n > 1)
        elif kind == "upload":
            self.upload(0, at, n)
        else:
            self.clear()

    @invariant()
    def the_bytes_are_the_models(self) -> None:
        if hasattr(self, "model"):
            found = np.frombuffer(self.device.queue.read_buffer(self.buffer.buffer), np.float32)
            assert found[: 2 + 2 * self.room].tolist() == self.model.ravel().tolist()


TestEveryWayOfWriting = EveryWayOfWriting.TestCase
TestEveryWayOfWriting.settings = settings(
    max_examples=int(os.environ.get("GPUSTRUCT_EXAMPLES", "100")), stateful_step_count=20, deadline=None
)
