"""RecordBuffer against a model on the host: random operations, then the whole buffer byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import wgpu
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import reference
from gpustruct import (
    BindingError,
    LayoutError,
    SourceError,
    Struct,
    array,
    f16,
    f32,
    i32,
    mat4x4f,
    pack,
    u32,
    vec2h,
    vec3f,
    vec3h,
    vec4f,
    vec4u,
    wgsl,
)
from gpustruct.gpu import RecordBuffer, Uploader
from gpustruct.gpu.readback import Reader
from gpustruct.vertex import float16x2, sint8x4, snorm8x4, uint8x4, unorm8x4, unorm16x2
from strategies import random_batch


class Particle(Struct):
    position: vec3f
    life: f32
    id: u32
    color: vec4f


class Halves(Struct):
    a: f16
    b: f16
    c: f16


class System(Struct):
    gravity: vec3f
    dt: f32
    particles: array[Particle]


class Half(Struct):
    head: f16
    tail: array[f16]


class OddTail(Struct):
    head: Halves
    tail: array[Halves]


def particles(n: int) -> Any:
    return Particle(position=np.zeros((n, 3)), life=np.zeros(n), id=np.arange(n), color=np.ones((n, 4)))


class Pair(Struct):
    a: f16
    b: f16


class OddPairs(Struct):
    head: f16
    tail: array[Pair]


class Tint(Struct):
    color: unorm8x4
    steps: array[unorm16x2, 2]


class Tinted(Struct):
    normal: snorm8x4
    tint: Tint
    halves: float16x2
    numbers: array[uint8x4, 3]


class Tints(Struct):
    light: vec3f
    signs: sint8x4
    tail: array[Tint]


TYPES = [Particle, Halves, System, Half, OddTail, OddPairs, f16, vec3h, u32, array[f16], array[Particle], array[i32, 3],
         unorm8x4, Tinted, Tints, array[Tinted]]  # fmt: skip
CHUNKS = [(256, 2, 0), (1024, 3, 0), (4096, 2, 300), (None, None, None)]


class Machine(RuleBasedStateMachine):
    """Sequences of writes, reads and resizes of one buffer; `device` is set by the test."""

    device: Any = None

    @initialize(
        T=st.sampled_from(TYPES),
        capacity=st.integers(1, 40),
        chunks=st.sampled_from(CHUNKS),
        seed=st.integers(0, 2**32 - 1),
    )
    def begin(self, T: Any, capacity: int, chunks: Any, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        size, count, small = chunks
        self.T, self.capacity, self.count = T, capacity, 0
        uploader = Uploader(self.device, chunk_size=size, chunks=count, small_bytes=small)
        device_side = [None, True, False][seed % 3]
        self.buffer = RecordBuffer(self.device, T, capacity, uploader=uploader, device_side=device_side)
        # Sizes from the WGSL rules alone.
        measured = reference.layout(T)
        bare = T.__name__.startswith("array[") and not T.__name__.endswith(", 3]")
        self.tail = measured.tail_stride > 0 and not bare
        self.base = measured.header
        self.stride = measured.tail_stride or measured.stride
        self.element = (
            T.__element__
            if bare
            else {System: Particle, Half: f16, OddTail: Halves, OddPairs: Pair, Tints: Tint}.get(T, T)
        )
        # Not zero from the start: padding must be made so.
        self.model = bytearray(self.base) + bytearray(b"\xab" * (self.buffer.buffer.size - self.base))
        self.device.queue.write_buffer(self.buffer.buffer, 0, self.model)

    def records(self, n: int) -> Any:
        return random_batch(self.element, (n,), self.rng)

    def place(self, batch: Any, sources: Any, places: Any) -> None:
        data = reference.pack(batch)
        for source, place in zip(sources, places, strict=True):
            at = self.base + place * self.stride
            self.model[at : at + self.stride] = data[source * self.stride : (source + 1) * self.stride]

    @rule(n=st.integers(0, 40))
    def write(self, n: int) -> None:
        n = min(n, self.capacity)
        batch = self.records(n)
        self.buffer.write(batch)
        self.place(batch, range(n), range(n))
        self.count = n

    @rule(n=st.integers(0, 40), start=st.integers(0, 40))
    def write_from(self, n: int, start: int) -> None:
        start = min(start, self.capacity)
        n = min(n, self.capacity - start)
        batch = self.records(n)
        self.buffer.write(batch, start=start)
        self.place(batch, range(n), range(start, start + n))
        self.count = max(self.count, start + n)

    @rule(n=st.integers(0, 8))
    def append(self, n: int) -> None:
        batch = self.records(n)
        if self.count + n > self.capacity:
            with pytest.raises(BindingError, match="call resize"):
                self.buffer.append(batch)
            return
        assert self.buffer.append(batch) == self.count
        self.place(batch, range(n), range(self.count, self.count + n))
        self.count += n

    @rule(data=st.data(), whole=st.booleans())
    def write_mask(self, data: Any, whole: bool) -> None:
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=self.capacity, max_size=self.capacity)))
        places = np.flatnonzero(mask)
        batch = self.records(self.capacity if whole else len(places))
        self.buffer.write(batch, where=mask)
        self.place(batch, places if whole else range(len(places)), places)
        self.count = max([self.count, *(places + 1)])

    @rule(data=st.data())
    def write_indices(self, data: Any) -> None:
        places = data.draw(st.lists(st.integers(0, self.capacity - 1), max_size=30))
        batch = self.records(len(places))
        self.buffer.write(batch, where=places)
        self.place(batch, range(len(places)), places)
        self.count = max([self.count, *(place + 1 for place in places)])

    @rule(start=st.integers(0, 40), step=st.sampled_from([1, 2, 3, -1]))
    def write_slice(self, start: int, step: int) -> None:
        chosen = slice(start, None, step)
        places = list(range(self.capacity))[chosen]
        batch = self.records(len(places))
        self.buffer.write(batch, where=chosen)
        self.place(batch, range(len(places)), places)
        self.count = max([self.count, *(place + 1 for place in places)])

    @rule(data=st.data())
    def write_one_everywhere(self, data: Any) -> None:
        places = data.draw(st.lists(st.integers(0, self.capacity - 1), min_size=1, max_size=9))
        batch = random_batch(self.element, (), self.rng)
        self.buffer.write(batch, where=places)
        self.place(batch, [0] * len(places), places)
        self.count = max(self.count, max(places) + 1)

    @precondition(lambda self: self.tail)
    @rule()
    def write_header(self) -> None:
        batch = random_batch(self.T, (), self.rng)
        names = list(self.T.__members__)
        self.buffer.write_header({name: getattr(batch, name) for name in names[:-1]})
        self.model[: self.base] = reference.pack(batch)[: self.base]

    @precondition(lambda self: self.tail and self.capacity >= 5)
    @rule()
    def write_whole(self) -> None:
        batch = random_batch(self.T, (), self.rng)
        data = reference.pack(batch)
        n = len(batch.__columns__[-1])
        self.buffer.write(batch)
        end = self.base + n * self.stride
        self.model[:end] = data[:end]
        self.count = n

    @rule()
    def clear(self) -> None:
        self.buffer.clear()
        self.model[:] = bytes(len(self.model))
        self.count = 0

    @rule(capacity=st.integers(1, 60))
    def resize(self, capacity: int) -> None:
        self.buffer.resize(capacity)
        self.capacity, self.count = capacity, min(self.count, capacity)
        used = self.base + self.count * self.stride
        kept = bytes(self.model[: -(-used // 4) * 4])
        self.model = bytearray(self.buffer.buffer.size)
        self.model[: len(kept)] = kept[: len(self.model)]

    @rule(start=st.integers(0, 40), n=st.integers(0, 40), later=st.booleans())
    def read(self, start: int, n: int, later: bool) -> None:
        start = min(start, self.count)
        stop = min(start + n, self.count)
        if later:
            reading = self.buffer.read_async(start, stop)
            self.append(1)
            got = reading.result()
        else:
            got = self.buffer.read(start, stop)
        low = self.base + start * self.stride
        # Reading is proved by packing again with the oracle: every scalar, and nothing of the padding.
        data = reference.pack(got)
        scalars = [(at, reference.BYTES[scalar]) for at, scalar in reference.leaves(self.element).values()]
        for record in range(stop - start):
            for at, size in scalars:
                place = self.base + record * self.stride + at
                assert data[place : place + size] == self.model[low + record * self.stride + at :][:size]
        assert data[: self.base] == bytes(self.model[: self.base])

    @precondition(lambda self: self.element in (Particle, u32))
    @rule(at=st.integers(0, 40), bad=st.sampled_from([-1, 2**32]))
    def refuse(self, at: int, bad: int) -> None:
        numbers = np.arange(self.capacity, dtype=np.int64)
        numbers[min(at, self.capacity - 1)] = bad
        batch = self.records(self.capacity)
        if self.element is Particle:
            columns = {name: getattr(batch, name) for name in Particle.__members__}
            batch = Particle(**{**columns, "id": numbers})
        else:
            batch = u32(numbers)
        with pytest.raises(SourceError, match="u32 holds whole numbers"):
            self.buffer.write(batch)

    @invariant()
    def same(self) -> None:
        if hasattr(self, "buffer"):
            assert (self.buffer.count, self.buffer.capacity) == (self.count, self.capacity)
            assert bytes(self.device.queue.read_buffer(self.buffer.buffer)) == bytes(self.model)


@pytest.mark.timeout(300)
def test_random_operations(device: Any) -> None:
    Machine.device = device
    run_state_machine_as_test(Machine, settings=settings(max_examples=500, stateful_step_count=12, deadline=None))


def read_lengths(device: Any, T: Any, buffer: Any, bindings: list[dict[str, Any]]) -> np.ndarray:
    """arrayLength of each binding, as a shader reads it."""
    name = T.__layout__.name
    struct = wgsl.declare(T)
    enable = "" if "enable f16;" in struct or "16" not in str(T.__layout__.core.scalar) else "enable f16;"
    code = f"""{enable}
        {struct}
        @group(0) @binding(0) var<storage, read> records: array<{name}>;
        @group(0) @binding(1) var<storage, read_write> length: array<u32>;
        @group(0) @binding(2) var<uniform> at: vec4u;
        @compute @workgroup_size(1) fn main() {{ length[at.x] = arrayLength(&records); }}"""
    module = device.create_shader_module(code=code)
    usage = wgpu.ShaderStage.COMPUTE
    entries = [
        {"binding": 0, "visibility": usage, "buffer": {"type": "read-only-storage"}},
        {"binding": 1, "visibility": usage, "buffer": {"type": "storage"}},
        {"binding": 2, "visibility": usage, "buffer": {"type": "uniform", "has_dynamic_offset": True}},
    ]
    layout = device.create_bind_group_layout(entries=entries)
    pipeline_layout = device.create_pipeline_layout(bind_group_layouts=[layout])
    pipeline = device.create_compute_pipeline(layout=pipeline_layout, compute={"module": module, "entry_point": "main"})
    count = len(bindings)
    lengths = RecordBuffer(device, u32, count)

    class At(Struct):
        index: vec4u

    places = RecordBuffer(device, At, count, usage="UNIFORM", dynamic_offsets=True)
    index = np.zeros((count, 4), np.uint32)
    index[:, 0] = np.arange(count)
    places.write(At(index=index))
    lengths.write(u32(np.zeros(count, np.uint32)))
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(pipeline)
    for offset, binding in zip(places.offsets(), bindings, strict=True):
        resources = [binding, lengths.binding(), places.binding()]
        group = device.create_bind_group(
            layout=layout, entries=[{"binding": k, "resource": resource} for k, resource in enumerate(resources)]
        )
        work.set_bind_group(0, group, [offset])
        work.dispatch_workgroups(1)
    work.end()
    device.queue.submit([encoder.finish()])
    return np.asarray(lengths.read())


LENGTH_TYPES = [u32, f16, vec2h, vec3h, vec3f, vec4f, mat4x4f, Particle, Halves, array[i32, 3]]


@pytest.mark.parametrize("T", LENGTH_TYPES, ids=str)
def test_array_length_is_exact(device: Any, T: Any) -> None:
    """Every length from 1 to 2000: bound and read by a shader, or refused beforehand."""
    buffer = RecordBuffer(device, T, 2000)
    wanted, bindings, refused = [], [], []
    rules: set[str] = set()
    for n in range(1, 2001):
        try:
            bindings.append(buffer.binding(n))
            wanted.append(n)
        except BindingError as error:
            refused.append(n)
            rules.add(error.rule)
    assert read_lengths(device, T, buffer, bindings).tolist() == wanted
    assert rules <= {"length-representable"}
    # From the rules alone: 2-byte strides have no odd length, and nothing else is refused.
    assert refused == [
        n for n in range(1, 2001) if reference.layout(T).stride * n % 4 and reference.layout(T).stride < 4
    ]


def test_a_tail_below_the_smallest_binding(device: Any) -> None:
    class Table(Struct):
        head: vec4f
        values: array[f32]

    buffer = RecordBuffer(device, Table, 10)
    for n in (1, 2, 3):
        with pytest.raises(BindingError, match=r"arrayLength can be 4 or more .* bind 4 records"):
            buffer.binding(n)
    assert [buffer.binding(n)["size"] for n in (4, 5, 10)] == [32, 36, 56]
    with pytest.raises(BindingError, match="count must be a whole number from 1 to 10"):
        buffer.binding(11)
    with pytest.raises(BindingError, match="count must be a whole number from 1 to 10"):
        buffer.binding(0)


def test_one_buffer_many_bindings(new_device: Any) -> None:
    """More bytes than one binding may have: split between records, at the device's offset alignment."""
    limits = {"max-storage-buffer-binding-size": 1 << 16}
    small = new_device(required_limits=limits)
    most = small.limits["max-storage-buffer-binding-size"]
    n = 3 * most // 12

    class Triple(Struct):
        a: f32
        b: f32
        c: f32

    buffer = RecordBuffer(small, Triple, n)
    values = np.arange(n, dtype=np.float32)
    buffer.write(Triple(a=values, b=values, c=values))
    bindings = buffer.bindings()
    alignment = small.limits["min-storage-buffer-offset-alignment"]
    assert all(b["offset"] % alignment == 0 and b["offset"] % 12 == 0 and b["size"] <= most for b in bindings)
    assert [b["offset"] for b in bindings[1:]] == [b["offset"] + b["size"] for b in bindings[:-1]]
    assert sum(b["size"] for b in bindings) == 12 * n
    with pytest.raises(BindingError, match=r"max-storage-buffer-binding-size is .* use bindings\(\)"):
        buffer.binding()
    np.testing.assert_array_equal(buffer.read(n - 5).b, values[-5:])


def test_places_beyond_one_binding(new_device: Any) -> None:
    """The shader reaches a buffer larger than a binding through several."""
    small = new_device(required_limits={"max-storage-buffer-binding-size": 1 << 16})
    n = 3 * small.limits["max-storage-buffer-binding-size"] // 48
    for T, base in ((Particle, 0), (System, 16)):
        buffer = RecordBuffer(small, T, n, device_side=True)
        chosen = np.random.default_rng(2).permutation(n)[: n // 2]
        buffer.write(particles(len(chosen)), where=chosen)
        data = np.frombuffer(small.queue.read_buffer(buffer.buffer), np.uint8)[base : base + 48 * n].reshape(n, 48)
        np.testing.assert_array_equal(data[chosen].tobytes(), pack(particles(len(chosen))).tobytes())
        assert not np.delete(data, chosen, axis=0).any()
        bad = particles(len(chosen))
        numbers = np.arange(len(chosen))
        numbers[-1] = -1
        bad = Particle(position=bad.position, life=bad.life, id=numbers, color=bad.color)
        with pytest.raises(SourceError, match="u32 holds whole numbers"):
            buffer.write(bad, where=chosen)
        assert small.queue.read_buffer(buffer.buffer)[base : base + 48 * n] == data.tobytes()


def test_limits_name_the_way_out(device: Any, new_device: Any) -> None:
    # No adapter's limit is as low.
    small = new_device(required_limits={"max-buffer-size": 1 << 20})
    limit = small.limits["max-buffer-size"]
    with pytest.raises(BindingError) as error:
        RecordBuffer(small, vec4f, limit // 16 + 1)
    assert f"max-buffer-size is {limit} on this device" in str(error.value)
    assert "required_limits={'max-buffer-size':" in str(error.value)
    assert f"the adapter allows {small.adapter.limits['max-buffer-size']}" in str(error.value)


class Model(Struct):
    matrix: mat4x4f
    tint: vec3f


def test_a_header_out_of_a_batch(device: Any) -> None:
    buffer = RecordBuffer(device, System, 3)
    buffer.write(particles(3))
    before = bytes(device.queue.read_buffer(buffer.buffer))
    batch = System(gravity=(1, 2, 3), dt=4, particles=particles(9))
    buffer.write_header(batch)
    assert bytes(device.queue.read_buffer(buffer.buffer)) == reference.pack(batch)[:16] + before[16:]
    assert buffer.count == 3


def test_dynamic_offsets(device: Any) -> None:
    buffer = RecordBuffer(device, Model, 9, usage="UNIFORM|STORAGE", dynamic_offsets=True)
    alignment = device.limits["min-uniform-buffer-offset-alignment"]
    rng = np.random.default_rng(1)
    batch = Model(matrix=rng.random((9, 4, 4)), tint=rng.random((9, 3)))
    # The staging memory is not zero: the bytes between records must be set to zero.
    Uploader.of(device).write(RecordBuffer(device, u32, 5000).buffer, u32(np.full(5000, 2**32 - 1)))
    buffer.write(batch)
    assert buffer.stride % alignment == 0
    data = np.frombuffer(device.queue.read_buffer(buffer.buffer), np.uint8)
    packed = reference.pack(batch)
    for k, offset in enumerate(buffer.offsets()):
        assert offset % alignment == 0
        assert data[offset : offset + 80].tobytes() == packed[80 * k : 80 * k + 80]
        assert not data[offset + 80 : offset + buffer.stride].any()
    buffer.write(batch[4:6], where=[8, 0])
    np.testing.assert_array_equal(buffer.read().tint[[8, 0]], np.float32(batch.tint[4:6]))


def test_uniform_must_be_legal(device: Any) -> None:
    class Weights(Struct):
        values: array[f32, 8]

    with pytest.raises(LayoutError, match="array stride must be a multiple of 16 in uniform"):
        RecordBuffer(device, Weights, 1, usage="UNIFORM")


def test_dispatch_size(device: Any) -> None:
    buffer = RecordBuffer(device, u32, 1 << 24)
    assert buffer.dispatch_size(64) == (0, 1, 1)
    assert buffer.dispatch_size(64, 65) == (2, 1, 1)
    x, y, z = buffer.dispatch_size(1, 1 << 20)
    most = device.limits["max-compute-workgroups-per-dimension"]
    assert z == 1
    assert max(x, y) <= most
    assert 1 << 20 <= x * y < (1 << 20) + y


REFUSED: list[tuple[str, type[Exception], Callable[[Any], Any]]] = [
    ("takes records of Particle", SourceError, lambda b: b.write(u32([1]))),
    ("takes records of Particle .current: ndarray", SourceError, lambda b: b.write(np.zeros(3))),
    ("call resize", BindingError, lambda b: b.write(particles(11))),
    ("call resize", BindingError, lambda b: b.write(particles(3), start=8)),
    ("start must be a whole number", BindingError, lambda b: b.write(particles(3), start=-1)),
    ("start and where cannot be combined", SourceError, lambda b: b.write(particles(1), start=0, where=[1])),
    ("must have 2 records", SourceError, lambda b: b.write(particles(3), where=[1, 2])),
    ("must have 1 or 3 records", SourceError, lambda b: b.write(particles(2), where=[True, False, False])),
    ("within the capacity, 10 .current: 10.", BindingError, lambda b: b.write(particles(1), where=[10])),
    ("within the capacity, 10 .current: -1.", BindingError, lambda b: b.write(particles(1), where=[-1])),
    ("within the capacity, 10 .current: 11.", BindingError, lambda b: b.write(particles(1), where=[False] * 11 + [True])),
    ("where must be a mask", SourceError, lambda b: b.write(particles(1), where=[0.5])),
    ("where must be a mask", SourceError, lambda b: b.write(particles(1), where="all")),
    ("one batch dimension", SourceError, lambda b: b.write(Particle(position=np.zeros((2, 2, 3)), life=0, id=0, color=0 * np.ones(4)), where=[1])),
    ("stop must be a whole number from 5 to 10", BindingError, lambda b: b.read(5, 3)),
    ("stop must be a whole number from 0 to 10", BindingError, lambda b: b.read(0, 11)),
    ("give it 2 records", SourceError, lambda b: b.read(0, 2, out=particles(3))),
    ("out must be a batch of Particle", SourceError, lambda b: b.read(0, 2, out=u32([1, 2]))),
    ("only a struct that ends in a runtime-sized array has a header", BindingError, lambda b: b.write_header({})),
    ("only records that are spaced for dynamic offsets", BindingError, lambda b: b.offsets()),
    ("bind at least one record", BindingError, lambda b: RecordBuffer(b.device, u32, 2).binding()),
    ("workgroup_size must be .* pass 1 or more", BindingError, lambda b: b.dispatch_size(0)),
    ("capacity must be .*current: 0. .* pass 1 or more", BindingError, lambda b: b.resize(0)),
    ("capacity must be .* pass 1 or more", BindingError, lambda b: RecordBuffer(b.device, u32, 2.5)),
    ("capacity must be .*current: None. .* pass 1 or more", BindingError, lambda b: RecordBuffer(b.device, u32, None)),
    (r"write_header takes the members .*current: int. .* pass a mapping of gravity, dt", SourceError, lambda b: RecordBuffer(b.device, System, 2).write_header(3)),
    ("write_header takes .* with the key 5", SourceError, lambda b: RecordBuffer(b.device, System, 2).write_header({5: 1})),
    ("write_header takes .* with the key 'particles'", SourceError, lambda b: RecordBuffer(b.device, System, 2).write_header({"particles": []})),
    ("write_header takes .*current: Particle", SourceError, lambda b: RecordBuffer(b.device, System, 2).write_header(particles(1))),
    ("usage must be", BindingError, lambda b: RecordBuffer(b.device, u32, 2, usage="MAP_READ")),
    ("usage must be", BindingError, lambda b: RecordBuffer(b.device, u32, 2, usage="STORE")),
    ("takes a wgpu device", BindingError, lambda b: RecordBuffer(b.buffer, u32, 2)),
    ("dynamic offsets need records of a fixed size", BindingError, lambda b: RecordBuffer(b.device, System, 2, dynamic_offsets=True)),
    ("takes a gpustruct type", LayoutError, lambda b: RecordBuffer(b.device, float, 2)),
    ("chunks must be", BindingError, lambda b: Uploader(b.device, chunks=1)),
]  # fmt: skip


@pytest.mark.parametrize(("words", "kind", "act"), REFUSED, ids=range(len(REFUSED)))
def test_refusals(device: Any, words: str, kind: type[Exception], act: Callable[[Any], Any]) -> None:
    buffer = RecordBuffer(device, Particle, 10)
    buffer.write(particles(4))
    with pytest.raises(kind, match=words):
        act(buffer)
    # Nothing happened, and everything works on.
    assert buffer.read().id.tolist() == [0, 1, 2, 3]


def test_sharded_over_devices(device: Any, new_device: Any) -> None:
    from gpustruct.gpu import ShardedBuffer

    others = [device, new_device(), new_device()]
    buffer = ShardedBuffer(others, Particle, 1000)
    batch = random_batch(Particle, (1000,), np.random.default_rng(5))
    seen: list[tuple[int, int]] = []
    buffer.write(batch, progress=lambda done, total: seen.append((done, total)))
    assert buffer.bounds == [(0, 334), (334, 667), (667, 1000)]
    assert seen[-1] == (1000, 1000)
    assert reference.pack(buffer.read()) == pack(batch).tobytes()
    for part, (start, stop) in zip(buffer.buffers, buffer.bounds, strict=True):
        assert part.count == stop - start


def test_out_is_filled_in_its_own_dtypes(device: Any) -> None:
    buffer = RecordBuffer(device, Particle, 10)
    batch = particles(10)
    buffer.write(batch)
    out = Particle(position=np.empty((10, 3)), life=np.empty(10), id=np.empty(10, np.int64), color=np.empty((10, 4)))
    assert buffer.read(out=out) is out
    assert out.id.tolist() == list(range(10))
    assert out.color.dtype == np.float64
    assert (out.color == 1).all()


def test_landings_are_used_again(device: Any) -> None:
    buffer = RecordBuffer(device, Particle, 10)
    buffer.write(particles(10))
    buffer.read()
    spare = len(Reader.of(device)._spare)
    for _ in range(10):
        buffer.read()
    assert len(Reader.of(device)._spare) == spare
