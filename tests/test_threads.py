"""Many threads at once, forks, pickles, the interpreter's end, and nothing left over."""

from __future__ import annotations

import contextlib
import copy
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import reference
import strategies
from gpustruct import SourceError, Struct, array, f16, f32, i32, mat3x3f, pack, threads, u32, unpack, vec3f, vec4f

CROWD = 8
ROUNDS = 5


class Particle(Struct):
    position: vec3f
    life: f32
    velocity: vec3f
    id: u32
    color: vec4f


class Body(Struct):
    turn: mat3x3f
    halves: array[f16, 5]
    spin: i32


class Swarm(Struct):
    count: u32
    members: array[Particle]


def particles(n: int, seed: int = 0, dtype: Any = np.float32) -> Any:
    rng = np.random.default_rng(seed)
    vectors = {name: rng.standard_normal((n, 3)).astype(dtype) for name in ("position", "velocity")}
    identity = rng.integers(0, 2**32, n).astype(np.int64 if dtype is np.float64 else np.uint32)
    return Particle(**vectors, life=rng.standard_normal(n).astype(dtype), id=identity, color=(1, 0.5, 0.25, 1))


def batches(seed: int = 0) -> list[Any]:
    """One of each way through the kernel, small enough for the oracle, and one that is split by itself."""
    rng = np.random.default_rng(seed)
    return [
        particles(301, seed),
        particles(301, seed, np.float64)[::-1],
        strategies.random_batch(Body, (137,), rng, special=False),
        Swarm(count=7, members=particles(203, seed + 1, np.float64)),
        particles((16 << 20) // 48 + 1001, seed, np.float64),
    ]


def together(work: Callable[[int], Any]) -> list[Any]:
    """work(0) … work(7), each in another thread, all started at once."""
    barrier = threading.Barrier(CROWD)

    def begin(k: int) -> Any:
        barrier.wait()
        return work(k)

    with ThreadPoolExecutor(CROWD) as crowd:
        return list(crowd.map(begin, range(CROWD)))


@pytest.mark.parametrize("case", range(5))
@pytest.mark.parametrize("count", [None, 3])
def test_a_shared_batch_packs_the_same_in_every_thread(case: int, count: int | None) -> None:
    want = pack(batches()[case]).tobytes()
    if len(want) < 100_000:
        shared = batches()[case]
        assert reference.difference(type(shared), want, reference.pack(shared)) is None
    for _ in range(ROUNDS):
        # Fresh, so that the threads also race for the plan that the batch keeps.
        shared = batches()[case]
        for got in together(lambda k, shared=shared: pack(shared, threads=count)):
            assert got.tobytes() == want


def test_separate_batches_in_every_thread() -> None:
    want = [[pack(batch).tobytes() for batch in batches(seed)[:4]] for seed in range(CROWD)]

    def work(k: int) -> list[bytes]:
        mine = batches(k)[:4]
        out = np.zeros(64 + max(map(len, want[k])), np.uint8)
        packed: list[bytes] = []
        for _ in range(ROUNDS):
            packed = []
            for batch, data in zip(mine, want[k], strict=True):
                pack(batch, out=out, offset=16, threads=1 + k % 3)
                packed.append(out[16 : 16 + len(data)].tobytes())
        return packed

    assert together(work) == want


def test_threads_may_fill_one_buffer_side_by_side() -> None:
    parts = [particles(100 + k, k) for k in range(CROWD)]
    starts = np.cumsum([0] + [48 * len(part) for part in parts])
    out = np.full(starts[-1] + 5, 0xA5, np.uint8)
    together(lambda k: pack(parts[k], out=out, offset=int(starts[k]), threads=2))
    assert out[: starts[-1]].tobytes() == b"".join(reference.pack(part) for part in parts)
    assert (out[starts[-1] :] == 0xA5).all()


@pytest.mark.parametrize("case", [0, 1, 2, 4])
def test_unpack_in_every_thread(case: int) -> None:
    batch = batches()[case]
    data = pack(batch)

    def work(_: int) -> bytes:
        back = unpack(type(batch), data)
        columns = {name: np.zeros_like(getattr(back, name)) for name in type(batch).__members__}
        out = type(batch)(**columns)
        unpack(type(batch), data, out=out)
        return pack(out).tobytes()

    assert together(work) == [data.tobytes()] * CROWD


def test_every_thread_gets_its_own_fault() -> None:
    def work(k: int) -> str:
        batch = particles(1000, k, np.float64)
        batch.id[100 * k + 7] = -1 - k
        with pytest.raises(SourceError) as caught:
            pack(batch, threads=1 + k % 4)
        return str(caught.value)

    for k, message in enumerate(together(work)):
        assert f"(current: {-1 - k})" in message
        assert f"Particle.id[{100 * k + 7}]" in message


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_any_number_of_threads_packs_the_same(count: int) -> None:
    for n in (0, 1, 2, 3, 5, 15, 16, 17, 63, 64, 65, 79, 80, 81, 127, 129, 333):
        for batch in (particles(n, n), particles(n, n, np.float64)):
            want = reference.pack(batch)
            assert pack(batch, threads=count).tobytes() == want, n
            out = np.full(3 + len(want) + 3, 0xA5, np.uint8)
            pack(batch, out=out, offset=3, threads=count)
            assert out[3 : len(out) - 3].tobytes() == want
            assert set(out[:3]) | set(out[-3:]) == {0xA5}
            if n:
                strided = pack(batch, stride=256, threads=count).tobytes()
                assert strided == reference.pack(batch, stride=256)[: len(strided)]


@pytest.mark.parametrize("count", [None, 2, 5])
def test_records_larger_than_a_range(count: int | None) -> None:
    cls = array[f32, 1_500_000]
    values = np.arange(4_500_000, dtype=np.float32).reshape(3, -1)
    assert pack(cls(values), threads=count).tobytes() == values.tobytes()
    back = cls(np.zeros_like(values))
    unpack(cls, pack(cls(values)), out=back)
    assert (np.asarray(back) == values).all()


@pytest.mark.parametrize("count", [None, 1, 2, 3, 4, 5, 1024])
@pytest.mark.parametrize("wrong", [(0,), (999,), (3, 500, 998), (640, 641)])
def test_the_first_fault_is_named_however_the_work_is_split(count: int | None, wrong: tuple[int, ...]) -> None:
    batch = particles(1000, 1, np.float64)
    batch.id[list(wrong)] = 2**32
    out = np.full(48_000, 0xA5, np.uint8)
    with pytest.raises(SourceError) as caught:
        pack(batch, out=out, threads=count)
    assert f"Particle.id[{wrong[0]}]" in str(caught.value)
    assert not out.any()


@pytest.mark.parametrize("count", [0, -1, 1025, 10**30, True, 1.0, 2.5, "2", b"2", [2], float("nan"), np.float64(2)])
@pytest.mark.parametrize("n", [0, 3])
def test_wrong_numbers_of_threads(count: Any, n: int) -> None:
    out = np.full(48 * n, 0xA5, np.uint8)
    with pytest.raises(SourceError) as caught:
        pack(particles(n), out=out, threads=count)
    assert str(caught.value) == (
        f"threads must be a whole number from 1 to 1024, or None to choose by size (current: {count!r})"
        " - at pack(..., threads=...); leave it out"
    )
    assert (out == 0xA5).all()


def test_whole_numbers_of_any_kind_are_numbers_of_threads() -> None:
    batch = particles(100)
    for count in (np.int64(2), np.uint8(3), 1024):
        assert pack(batch, threads=count).tobytes() == reference.pack(batch)


@pytest.mark.parametrize("case", range(5))
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_a_copied_batch_packs_the_same(case: int, again: Callable[[Any], Any]) -> None:
    batch = batches()[case]
    before = again(batch)
    want = pack(batch).tobytes()
    # Once without the plan that packing leaves with the batch, once with it.
    assert pack(before).tobytes() == want
    assert pack(again(batch)).tobytes() == want


def script(code: str) -> str:
    """What another interpreter prints; it must end well."""
    head = """
        import os, sys, numpy as np
        from gpustruct import SourceError, Struct, vec3f, f32, pack
        class Particle(Struct):
            position: vec3f
            life: f32
        batch = Particle(position=np.arange(90_000.0).reshape(-1, 3), life=np.arange(30_000.0))
        want = np.concatenate([batch.position, batch.life[:, None]], axis=1).astype("<f4").tobytes()
    """
    whole = textwrap.dedent(head) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", whole], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_packs_in_threads_of_its_own() -> None:
    printed = script("""
        import signal
        for generation in ("parent", "child", "grandchild"):
            assert pack(batch, threads=4).tobytes() == want, generation
            child = os.fork()
            if child:
                status = os.waitpid(child, 0)[1]
                assert pack(batch, threads=4).tobytes() == want, generation
                os._exit(os.waitstatus_to_exitcode(status) and 1)
            # Waiting for the parent's threads would never end.
            signal.alarm(60)
        assert pack(batch, threads=4).tobytes() == want
        os.write(1, b"reached")
    """)
    assert printed == "reached"


def test_packing_goes_on_while_the_interpreter_ends() -> None:
    for first in ("pack(batch, threads=4)", "pass"):
        printed = script(f"""
            import atexit
            atexit.register(lambda: print(pack(batch, threads=4).tobytes() == want))
            {first}
        """)
        assert printed == "True\n"


@pytest.mark.skipif(sys.platform != "linux", reason="limits address space")
def test_packing_goes_on_where_no_thread_can_begin() -> None:
    printed = script("""
        import resource, threading
        out = np.zeros(len(want), np.uint8)
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        # No room for the stack of another thread.
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), resource.RLIM_INFINITY))
        try:
            threading.Thread(target=print).start()
            print("began")
        except RuntimeError:
            pack(batch, out=out, threads=4)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(out.tobytes() == want, pack(batch, threads=4).tobytes() == want)
    """)
    assert printed == "True True\n"


def test_work_goes_on_here_where_no_thread_can_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    # A pool without threads, as the process had it before.
    threads._executor.cache_clear()
    runs: list[int] = []

    def work() -> tuple[int, int]:
        runs.append(1)
        return 7, 3

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert threads.begin(work).result() == (7, 3)
    # What stayed in the pool's queue is not run a second time, when nobody expects it.
    assert threads.begin(work).result() == (7, 3)
    threads._executor().shutdown()
    threads._executor.cache_clear()
    assert len(runs) == 2


def test_a_batch_that_goes_lets_its_columns_go() -> None:
    gc.collect()
    gc.disable()
    try:
        for dtype in (np.float32, np.float64):
            column = np.ones((1000, 3), dtype)
            batch = Particle(position=column, life=0, velocity=0 * column, id=0, color=(0, 0, 0, 0))
            held = weakref.ref(column)
            data = pack(batch, threads=2)
            back = unpack(Particle, data)
            memory = weakref.ref(data)
            del column, batch, data
            assert held() is None
            assert memory() is not None
            del back
            assert memory() is None
    finally:
        gc.enable()


def test_a_packed_buffer_is_free_again() -> None:
    out = bytearray(48 * 10)
    pack(particles(10), out=out)
    out.append(1)
    wrong = particles(10, 0, np.float64)
    wrong.id[9] = -1
    with pytest.raises(SourceError):
        pack(wrong, out=out)
    out.append(1)


def cycles(batch: Any, wrong: Any, out: np.ndarray, back: Any, count: int) -> None:
    for _ in range(count):
        pack(batch)
        pack(batch, out=out, threads=2)
        pack(particles(16))
        unpack(Particle, out)
        unpack(Particle, out[: 48 * len(batch)], out=back)
        with contextlib.suppress(SourceError):
            pack(wrong, out=out)


def growth(work: Callable[[], None]) -> int:
    """Bytes that Python holds after `work` and did not hold before."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def test_a_thousand_packs_leave_nothing_behind() -> None:
    batch, wrong = particles(500, 3), particles(500, 3, np.float64)
    wrong.id[250] = -1
    out = np.zeros(48 * 500, np.uint8)
    back = Particle(**{name: np.zeros_like(getattr(unpack(Particle, out), name)) for name in Particle.__members__})
    cycles(batch, wrong, out, back, 50)
    counted = [sys.getrefcount(column) for column in (batch.position, wrong.id, out, back.color)]
    # What is kept of each pack is kept in every round, twice as much in twice the packs; what the
    # interpreter and numpy keep once is not.
    rounds = [
        growth(lambda: cycles(batch, wrong, out, back, 700)) - growth(lambda: cycles(batch, wrong, out, back, 350))
        for _ in range(3)
    ]
    # One Python object of each takes 16 bytes at the least.
    assert min(rounds) < 350 * 16
    assert [sys.getrefcount(column) for column in (batch.position, wrong.id, out, back.color)] == counted


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="this system does not tell a process's memory")
def test_the_process_does_not_grow() -> None:
    printed = script("""
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        def work(count):
            for _ in range(count):
                pack(batch, threads=2)
                pack(Particle(position=batch.position, life=batch.life))
                try:
                    pack(Particle(position=batch.position, life=1e300))
                except SourceError:
                    pass
        work(50)
        before = resident()
        work(300)
        print(resident() - before)
    """)
    # Each round makes three times 480,000 bytes; the columns of one round kept would be that at least.
    assert int(printed) < 8 << 20
