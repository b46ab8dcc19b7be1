"""RecordBuffer against a model on the host: random operations, then the whole buffer byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference
import wgpu
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
)
from gpustruct.gpu import RecordBuffer, Uploader
from gpustruct.gpu.readback import Reader
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test
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


TYPES = [Particle, Halves, System, Half, OddTail, f16, vec3h, u32, array[f16], array[Particle], array[i32, 3]]
CHUNKS = [(256, 2, 0), (1024, 3, 0), (4096, 2, 300), (None, None, None)]


class Machine(RuleBasedStateMachine):
    """Sequences of writes, reads and resizes of one buffer; `device` is set by the test."""

    device: Any = None

    @initialize(
        T=st.sampled_from(TYPES), capacity=st.integers(1, 40), chunks=st.sampled_from(CHUNKS), seed=st.integers(0, 2**32 - 1)
    )
    def begin(self, T: Any, capacity: int, chunks: Any, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        size, count, small = chunks
        self.T, self.capacity, self.count = T, capacity, 0
        uploader = Uploader(self.device, chunk_size=size, chunks=count, small_bytes=small)
        self.buffer = RecordBuffer(self.device, T, capacity, uploader=uploader)
        # Sizes from the WGSL rules alone.
        measured = reference.layout(T)
        bare = T.__name__.startswith("array[") and not T.__name__.endswith(", 3]")
        self.tail = measured.tail_stride > 0 and not bare
        self.base = measured.header
        self.stride = measured.tail_stride or measured.stride
        self.element = T.__element__ if bare else {System: Particle, Half: f16, OddTail: Halves}.get(T, T)
        self.model = bytearray(self.buffer.buffer.size)

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
        low, high = self.base + start * self.stride, self.base + stop * self.stride
        # Reading is proved by packing again with the oracle: every scalar, and nothing of the padding.
        data = reference.pack(got)
        expected = bytes(self.model[low:high])
        assert reference.difference(array[self.element, max(1, stop - start)], data[self.base :], expected) is None or stop == start
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
    enable = "enable f16;" if "h" in name or name == "f16" else ""
    code = f"""{enable}
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
