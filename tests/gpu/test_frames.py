"""A frame: all writes inside reach the device together and in order, or none does."""

# What becomes of an exception inside a frame takes a whole block to say.
# ruff: noqa: PT012, SIM117

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np
import pytest
import wgpu

from gpustruct import BindingError, SourceError, Struct, array, f16, f32, u32, vec3h, vec4f, view
from gpustruct.gpu import RecordBuffer, Uploader, read_buffer, write_buffer

COPIES = wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


class Pair(Struct):
    t: f32
    u: u32


class System(Struct):
    gravity: vec4f
    pairs: array[Pair]


def pairs(start: int, n: int) -> Any:
    return Pair(t=np.arange(start, start + n), u=np.arange(start, start + n, dtype=np.uint32))


def words(device: Any, buffer: Any) -> list[int]:
    return np.frombuffer(device.queue.read_buffer(getattr(buffer, "buffer", buffer)), np.uint32).tolist()


@pytest.fixture
def uploader(device: Any) -> Uploader:
    return Uploader(device, chunk_size=4096, chunks=2)


@pytest.fixture
def calls(device: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queue's methods that were called."""
    made: list[str] = []
    for name in ("submit", "write_buffer"):
        method = getattr(type(device.queue), name)

        def record(self: Any, *args: Any, name: str = name, method: Any = method) -> Any:
            if name == "submit" or len(args) > 4:
                made.append(name)
            return method(self, *args)

        monkeypatch.setattr(type(device.queue), name, record)
    return made


class Stop(Exception):
    pass


def test_twenty_writes_are_one_submit(device: Any, uploader: Uploader, calls: list[str]) -> None:
    buffers = [RecordBuffer(device, u32, 1000, uploader=uploader) for _ in range(20)]
    with uploader.frame():
        for k, buffer in enumerate(buffers):
            buffer.write(u32(np.arange(1000, dtype=np.uint32) + k))
        assert calls == []
    assert calls == ["submit"]
    for k, buffer in enumerate(buffers):
        assert words(device, buffer) == list(range(k, 1000 + k))
        assert buffer.count == 1000


def test_nothing_is_there_before_the_end_and_columns_may_change(device: Any, uploader: Uploader) -> None:
    buffer, column = RecordBuffer(device, u32, 4, uploader=uploader), np.arange(4, dtype=np.uint32)
    with uploader.frame():
        buffer.write(u32(column))
        column[...] = 9
        assert words(device, buffer) == [0, 0, 0, 0]
    assert words(device, buffer) == [0, 1, 2, 3]


@pytest.mark.parametrize("flavour", [np.uint32, np.int64, np.float64])
def test_the_last_write_wins(flavour: Any, device: Any, uploader: Uploader) -> None:
    buffer = RecordBuffer(device, f32, 8, uploader=uploader)
    with uploader.frame():
        for k in range(5):
            buffer.write(f32(np.full(8 - k, k, flavour)))
            buffer.write(f32(np.full(1, 10 + k, flavour)), start=k)
        buffer.append(f32(np.float32([70])))
    found = np.frombuffer(device.queue.read_buffer(buffer.buffer), np.float32).tolist()
    assert found == [4, 4, 4, 4, 14, 70, 1, 0]
    assert buffer.count == 6


def every_write(buffer: RecordBuffer[Any], device: Any, uploader: Uploader) -> None:
    seen = view(vec4f)
    seen[...] = (1, 2, 3, 4)
    buffer.write(pairs(0, 30))
    uploader.write(buffer, seen)
    buffer.write_header({"gravity": (5, 6, 7, 8)})
    buffer.write(pairs(50, 2), start=1)
    buffer.append(pairs(80, 5))
    buffer.write(pairs(60, 2), where=[5, 3])
    buffer._device_side = True
    buffer.write(pairs(90, 3), where=np.arange(40) % 16 == 2)
    buffer._device_side = None
    buffer.resize(100)
    buffer.write([{"t": 1, "u": 2}], start=41)


def test_every_way_of_writing_keeps_its_order(device: Any, uploader: Uploader) -> None:
    alone, framed = (RecordBuffer(device, System, 40, uploader=uploader) for _ in range(2))
    every_write(alone, device, uploader)
    with uploader.frame():
        framed.write(pairs(7, 40))
        framed.clear()
        every_write(framed, device, uploader)
    assert words(device, framed) == words(device, alone)
    assert (framed.count, framed.capacity) == (alone.count, alone.capacity) == (42, 100)


def test_an_exception_drops_everything(device: Any, uploader: Uploader, calls: list[str]) -> None:
    buffer, other = (RecordBuffer(device, System, 40, uploader=uploader) for _ in range(2))
    buffer.write(pairs(3, 4))
    before, wgpu_buffer = words(device, buffer), buffer.buffer
    calls.clear()
    with pytest.raises(Stop):
        with uploader.frame():
            other.write(pairs(0, 9))
            every_write(buffer, device, uploader)
            assert (buffer.count, buffer.capacity, other.count) == (42, 100, 9)
            raise Stop
    assert calls == []
    assert (buffer.count, buffer.capacity, other.count) == (4, 40, 0)
    assert buffer.buffer is wgpu_buffer
    assert words(device, buffer) == before
    assert not any(words(device, other))
    with uploader.frame():
        buffer.append(pairs(7, 1))
    assert buffer.read().pairs.u.tolist() == [3, 4, 5, 6, 7]


def test_a_write_that_fails_inside_leaves_the_others(device: Any, uploader: Uploader) -> None:
    buffer = RecordBuffer(device, u32, 2000, uploader=uploader)
    with uploader.frame():
        buffer.write(u32([1, 2]))
        with pytest.raises(SourceError, match="u32"):
            buffer.write(u32(np.array([5, 6, -1])))
        with pytest.raises(SourceError, match="u32"):
            buffer.write(u32(np.r_[np.zeros(1500, np.int64), -1]))
        with pytest.raises(BindingError, match="capacity"):
            buffer.write(u32([5] * 3), start=1998)
        assert buffer.count == 2
        buffer.append(u32([3]))
    assert np.asarray(buffer.read()).tolist() == [1, 2, 3]


def test_frames_inside_frames_are_one(device: Any, uploader: Uploader, calls: list[str]) -> None:
    buffer = RecordBuffer(device, u32, 4, uploader=uploader)
    with uploader.frame():
        buffer.write(u32([1]))
        with uploader.frame():
            buffer.append(u32([2]))
        assert calls == []
        buffer.append(u32([3]))
    assert calls == ["submit"]
    assert np.asarray(buffer.read()).tolist() == [1, 2, 3]


def test_an_empty_frame_submits_nothing(uploader: Uploader, calls: list[str]) -> None:
    with uploader.frame():
        pass
    assert calls == []


def test_views_are_sent_whole_and_known_afterwards(device: Any) -> None:
    uploader, buffer = Uploader.of(device), device.create_buffer(size=8, usage=COPIES)
    seen = view(Pair)
    seen.t, seen.u = 1, 2
    write_buffer(device, buffer, seen)
    with pytest.raises(Stop):
        with uploader.frame():
            seen.u = 3
            write_buffer(device, buffer, seen)
            raise Stop
    assert words(device, buffer)[1] == 2
    with uploader.frame():
        write_buffer(device, buffer, seen)
        write_buffer(device, buffer, pairs(9, 1))
    assert words(device, buffer)[1] == 9
    write_buffer(device, buffer, seen)
    assert words(device, buffer)[1] == 3
    with uploader.frame():
        write_buffer(device, buffer, seen)
        # Another uploader's writes come at once, and so before.
        Uploader(device).write(buffer, pairs(50, 1))
    assert words(device, buffer) == [np.float32(1).view(np.uint32), 3]


def test_what_the_frame_writes_is_read_after_it(device: Any) -> None:
    first, second = RecordBuffer(device, u32, data=[1, 2]), RecordBuffer(device, u32, data=[3, 4])
    with Uploader.of(device).frame():
        first.write(u32([5, 6]))
        for read in (first.read, first.read_async, lambda: read_buffer(device, first, u32)):
            with pytest.raises(BindingError, match="after the frame"):
                read()
        assert np.asarray(second.read()).tolist() == [3, 4]
        # Other threads read what is there.
        found: list[Any] = []
        other = threading.Thread(target=lambda: found.append(first.read_async().result()))
        other.start()
        other.join(60)
        assert np.asarray(found[0]).tolist() == [1, 2]
    assert np.asarray(first.read()).tolist() == [5, 6]


def test_other_threads_write_afterwards(device: Any, uploader: Uploader) -> None:
    buffer, mine = RecordBuffer(device, u32, 4, uploader=uploader), RecordBuffer(device, u32, 4, uploader=uploader)
    mine_too = threading.Event()

    def write() -> None:
        mine_too.set()
        buffer.write(u32([7]))

    other = threading.Thread(target=write)
    with uploader.frame():
        buffer.write(u32([1, 2]))
        other.start()
        assert mine_too.wait(60)
        # It holds no lock that this thread needs.
        buffer.append(u32([3]))
        mine.write(u32([4]))
    other.join(60)
    assert words(device, buffer) == [7, 2, 3, 0]
    assert buffer.count == 1


def test_threads_with_frames_of_their_own(device: Any, uploader: Uploader) -> None:
    buffers = [RecordBuffer(device, u32, 64, uploader=uploader) for _ in range(4)]

    def work(k: int) -> None:
        for turn in range(20):
            with uploader.frame():
                for buffer in buffers:
                    buffer.write(u32(np.full(64, 100 * turn + k, np.uint32)))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    found = [words(device, buffer) for buffer in buffers]
    assert len({value for content in found for value in content}) == 1


def test_a_buffer_that_was_written_before_is_known_to_be_destroyed(device: Any, uploader: Uploader) -> None:
    """The device is asked once whether a buffer is alive; afterwards the buffer's `destroy` says it."""
    buffer = RecordBuffer(device, u32, 4, uploader=uploader)
    for _ in range(2):
        buffer.clear()
    buffer.buffer.destroy()
    for write in (buffer.clear, lambda: buffer.write(u32([1])), lambda: buffer.resize(9), lambda: buffer.read(0, 1)):
        with pytest.raises(BindingError, match="alive"):
            write()


def test_a_watched_buffer_is_freed_with_its_last_reference(device: Any, uploader: Uploader) -> None:
    buffer = RecordBuffer(device, u32, 4, uploader=uploader)
    buffer.clear()
    freed = weakref.ref(buffer.buffer)
    del buffer
    assert freed() is None


@pytest.mark.parametrize("which", [0, 1])
def test_a_buffer_destroyed_inside(which: int, device: Any, uploader: Uploader) -> None:
    buffers = [RecordBuffer(device, u32, 4, uploader=uploader) for _ in range(2)]
    with pytest.raises(BindingError, match="alive"):
        with uploader.frame():
            for buffer in buffers:
                buffer.write(u32([1, 2]))
            buffers[which].buffer.destroy()
    assert words(device, buffers[1 - which]) == [0, 0, 0, 0]
    assert [buffer.count for buffer in buffers] == [0, 0]
    buffers[1 - which].write(u32([5]))
    assert np.asarray(buffers[1 - which].read()).tolist() == [5]


def test_a_buffer_mapped_inside(device: Any, uploader: Uploader) -> None:
    usage = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
    buffer = device.create_buffer(size=16, usage=usage)
    with pytest.raises(BindingError, match="unmapped"):
        with uploader.frame():
            uploader.write(buffer, u32([1, 2, 3, 4]))
            buffer.map_sync("READ")
    buffer.unmap()


def test_a_device_lost_inside() -> None:
    device = wgpu.gpu.request_adapter_sync().request_device_sync()
    buffer = RecordBuffer(device, u32, 4)
    with pytest.raises(BindingError, match="alive"):
        with Uploader.of(device).frame():
            buffer.write(u32([1]))
            device.destroy()
    assert buffer.count == 0


def test_an_encoder_is_no_part_of_it(device: Any, uploader: Uploader) -> None:
    buffer, encoder = RecordBuffer(device, u32, 4, uploader=uploader), device.create_command_encoder()
    with pytest.raises(Stop):
        with uploader.frame():
            buffer.write(u32([1, 2]), encoder=encoder)
            buffer.write(u32([7]))
            raise Stop
    device.queue.submit([encoder.finish()])
    uploader.recall()
    assert words(device, buffer) == [1, 2, 0, 0]


def test_memory_larger_than_the_chunks_is_given_back(device: Any, uploader: Uploader) -> None:
    buffer, seen = RecordBuffer(device, f32, 50_000, uploader=uploader), []
    values = np.arange(50_000, dtype=np.float64)
    for _ in range(3):
        with uploader.frame():
            for at in range(0, 50_000, 10_000):
                part = f32(values[at : at + 10_000])
                buffer.write(part, start=at, progress=lambda done, total: seen.append((done, total)))
            buffer.write(f32(values[:10]), start=3)
        assert uploader.staging_bytes <= 2 * 4096
    expected = values.copy()
    expected[3:13] = values[:10]
    assert np.asarray(buffer.read()).tolist() == expected.tolist()
    assert set(seen) == {(10_000, 10_000)}


def test_words_shared_by_two_writes(device: Any, uploader: Uploader) -> None:
    """Records of 6 bytes: where one ends inside a word, the other half is what the frame writes there."""
    buffer = device.create_buffer(size=64, usage=COPIES)
    values = np.arange(1, 31, dtype=np.float16)
    uploader.write(buffer, f16(np.full(32, 99, np.float16)))
    with uploader.frame():
        uploader.write(buffer, f16(values[:3]))
        uploader.write(buffer, f16(values[3:6]), 4)
        uploader.write(buffer, f16(values[6:7]), 4)
        uploader.write(buffer, f16(values[10:13]), 40)
    found = np.frombuffer(device.queue.read_buffer(buffer), np.float16)
    assert found[:8].tolist() == [1, 2, 7, 5, 6, 99, 99, 99]
    assert found[18:25].tolist() == [99, 99, 11, 12, 13, 99, 99]


def test_half_a_word_after_clear_and_resize(device: Any, uploader: Uploader) -> None:
    class Half(Struct):
        x: f16
        y: f16
        z: f16

    halves = Half(x=np.float16([1]), y=np.float16(2), z=np.float16(3))
    buffer = RecordBuffer(device, Half, 2, usage="VERTEX", uploader=uploader)
    buffer.write(Half(x=np.float16([9, 9]), y=np.float16(9), z=np.float16(9)))
    with uploader.frame():
        buffer.clear()
        buffer.write(halves)
        buffer.append(halves)
        buffer.write(halves, start=0)
    found = np.frombuffer(device.queue.read_buffer(buffer.buffer), np.float16)
    assert found.tolist() == [1, 2, 3, 1, 2, 3]
    with pytest.raises(BindingError, match="after the with block"):
        with uploader.frame():
            buffer.resize(4)
            buffer.write(halves, start=1)
    assert buffer.capacity == 2
    with uploader.frame():
        buffer.resize(4)
    buffer.append(halves)
    assert buffer.read().z.tolist() == [3, 3, 3]


def test_vec3h_alone(device: Any, uploader: Uploader) -> None:
    buffer = RecordBuffer(device, vec3h, 3, uploader=uploader)
    with uploader.frame():
        for k in range(3):
            buffer.append(vec3h(np.full((1, 3), k, np.float16)))
    assert np.asarray(buffer.read())[:, 1].tolist() == [0, 1, 2]


def test_scattered_writes_share_their_buffers(device: Any, uploader: Uploader) -> None:
    buffer, model = RecordBuffer(device, u32, 500, uploader=uploader, device_side=True), np.zeros(500, np.uint32)
    rng = np.random.default_rng(0)
    with uploader.frame():
        for k in range(1, 6):
            where = rng.choice(500, 40 * k, replace=False)
            values = rng.integers(0, 1 << 32, 40 * k, dtype=np.uint32)
            buffer.write(u32(values), where=where)
            model[where] = values
    assert words(device, buffer) == model.tolist()


def test_close_inside(device: Any, uploader: Uploader) -> None:
    buffer = RecordBuffer(device, u32, 4, uploader=uploader)
    with uploader.frame():
        buffer.write(u32([1]))
        uploader.close()
        buffer.append(u32([2]))
    assert np.asarray(buffer.read()).tolist() == [1, 2]


def test_a_buffer_resized_twice_in_a_dropped_frame(device: Any) -> None:
    numbers = RecordBuffer(device, u32, 2)
    numbers.write(u32([1, 2]))
    with pytest.raises(KeyError), Uploader.of(device).frame():
        numbers.resize(4)
        numbers.resize(8)
        raise KeyError
    assert numbers.capacity == 2 and np.asarray(numbers.read()).tolist() == [1, 2]


def test_half_a_word_that_a_clear_comes_before(device: Any, uploader: Uploader) -> None:
    class Half(Struct):
        x: f16
        y: f16
        z: f16

    nine = np.full(2, 9, np.float16)
    buffer = RecordBuffer(device, Half, 2, usage="VERTEX", uploader=uploader)
    buffer.write(Half(x=nine, y=nine, z=nine))
    with uploader.frame():
        buffer.clear()
        buffer.write(Half(x=nine[:1], y=nine[:1], z=nine[:1]))
    assert np.frombuffer(device.queue.read_buffer(buffer.buffer), np.float16).tolist() == [9, 9, 9, 0, 0, 0]
