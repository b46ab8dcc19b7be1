"""What a RecordBuffer takes and gives: counts, data of every kind, views, arrays of the shader's types, usages, reprs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import wgpu

import gpustruct.gpu
import gpustruct.wgsl
from gpustruct import (
    BindingError,
    GpuStructError,
    LayoutError,
    SourceError,
    Struct,
    array,
    batch,
    f32,
    mat2x3f,
    u32,
    vec3f,
    vec4f,
    view,
    wgsl,
)
from gpustruct.gpu import RecordBuffer, ShardedBuffer, Uploader, read_buffer, write_buffer


class Item(Struct):
    position: vec3f
    id: u32


class Table(Struct):
    head: vec4f
    n: u32
    items: array[Item]


def columns(n: int) -> Any:
    """Writable columns for `out`."""
    return Item(position=np.empty((n, 3)), id=np.empty(n, np.int64))


SHADER = """
struct Item { position: vec3f, id: u32 }
@group(0) @binding(0) var<storage, read_write> items: array<Item>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&items) { items[id.x] = Item(vec3f(f32(id.x)), 10u + id.x); }
}"""


def items(n: int, first: int = 0) -> Any:
    ids = np.arange(first, first + n)
    return Item(position=np.repeat(ids[:, None], 3, 1), id=ids)


def run(device: Any, buffer: RecordBuffer[Any]) -> None:
    module = device.create_shader_module(code=SHADER)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    entries = [{"binding": 0, "resource": buffer.binding()}]
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(pipeline)
    work.set_bind_group(0, group)
    work.dispatch_workgroups(*buffer.dispatch_size(4))
    work.end()
    device.queue.submit([encoder.finish()])


def test_only_a_shader_writes(device: Any) -> None:
    made = RecordBuffer(device, Item, 9, count=7)
    later = RecordBuffer(device, Item, 9)
    later.count = 7
    for buffer in (made, later):
        run(device, buffer)
        assert len(buffer) == buffer.count == 7
        got = buffer.read()
        assert got.id.tolist() == list(range(10, 17))
        assert got.position[:, 2].tolist() == list(range(7))
        # The eighth was not bound.
        assert buffer.read(7, 9).id.tolist() == [0, 0]
    later.count = 2
    assert later.read().id.tolist() == [10, 11]
    later.append(items(1, 50))
    assert later.read().id.tolist() == [10, 11, 50]


@pytest.mark.parametrize("count", [-1, 10, 1.5, None, "3", True])
def test_count_stays_within_the_capacity(device: Any, count: Any) -> None:
    buffer = RecordBuffer(device, Item, 9, count=4)
    with pytest.raises(BindingError, match=r"count must be a whole number from 0 to 9"):
        buffer.count = count
    assert buffer.count == 4
    with pytest.raises(BindingError, match=r"count must be a whole number from 0 to 9"):
        RecordBuffer(device, Item, 9, count=count)


def test_capacity_left_out_is_one(device: Any) -> None:
    buffer = RecordBuffer(device, mat2x3f)
    assert (buffer.capacity, buffer.count) == (1, 0)
    # [row, col]: an asymmetric matrix, so that a transposition would show.
    buffer.write(mat2x3f([[1, 2], [3, 4], [5, 6]]))
    assert np.asarray(buffer.read()).tolist() == [[[1, 2], [3, 4], [5, 6]]]


@dataclass
class Thing:
    position: tuple[float, float, float]
    id: int


DATA = {
    "batch": lambda: items(3),
    "mapping": lambda: {"position": np.repeat(np.arange(3)[:, None], 3, 1), "id": [0, 1, 2]},
    "dicts": lambda: [{"position": (k, k, k), "id": k} for k in range(3)],
    "tuples": lambda: [((k, k, k), k) for k in range(3)],
    "objects": lambda: [Thing((k, k, k), k) for k in range(3)],
    "structured": lambda: np.array([((k, k, k), k) for k in range(3)], [("position", "f4", 3), ("id", "u4")]),
}


@pytest.mark.parametrize("kind", DATA)
def test_data_makes_and_fills(device: Any, kind: str) -> None:
    buffer = RecordBuffer(device, Item, data=DATA[kind]())
    assert (buffer.capacity, buffer.count) == (3, 3)
    assert buffer.read().id.tolist() == [0, 1, 2]
    assert buffer.read().position[2].tolist() == [2, 2, 2]
    larger = RecordBuffer(device, Item, 5, data=DATA[kind]())
    assert (larger.capacity, larger.count) == (5, 3)
    assert larger.append(DATA[kind]()[:2] if kind not in ("mapping",) else items(2)) == 3
    assert larger.read().id.tolist() == [0, 1, 2, 0, 1]
    larger.write(DATA[kind](), start=1)
    assert larger.read().id.tolist() == [0, 0, 1, 2, 1]
    larger.write(DATA[kind](), where=[4, 0, 2])
    assert larger.read().id.tolist() == [1, 0, 2, 2, 0]


@pytest.mark.parametrize(
    ("T", "data"),
    [(vec3f, [[1, 2, 3], [4, 5, 6]]), (vec3f, np.float64([[1, 2, 3], [4, 5, 6]])), (f32, [1, 2]), (u32, range(2)), (array[f32, 2], np.ones((2, 2)))],
)  # fmt: skip
def test_plain_arrays_and_lists(device: Any, T: Any, data: Any) -> None:
    expected = np.asarray(data)
    buffer = RecordBuffer(device, T, data=data)
    np.testing.assert_array_equal(np.asarray(buffer.read()), expected)
    buffer.clear()
    buffer.write(data)
    np.testing.assert_array_equal(np.asarray(buffer.read()), expected)
    buffer.resize(4)
    assert buffer.append(data) == 2
    np.testing.assert_array_equal(np.asarray(buffer.read()), np.concatenate([expected, expected]))


def test_data_of_one_record_of_none_and_of_a_tail(device: Any) -> None:
    one = RecordBuffer(device, Item, data={"position": (1, 2, 3), "id": 4})
    assert (one.capacity, one.count) == (1, 1)
    none = RecordBuffer(device, Item, data=items(0))
    assert (none.capacity, none.count) == (1, 0)
    whole = RecordBuffer(device, Table, data={"head": (1, 2, 3, 4), "n": 5, "items": items(3)})
    assert (whole.capacity, whole.count) == (3, 3)
    assert whole.read().head.tolist() == [1, 2, 3, 4]
    assert whole.read().items.id.tolist() == [0, 1, 2]
    elements = RecordBuffer(device, Table, data=items(2, 5))
    assert elements.read().n == 0
    assert elements.read().items.id.tolist() == [5, 6]


def test_data_refused(device: Any) -> None:
    with pytest.raises(BindingError, match="data and count cannot be combined"):
        RecordBuffer(device, Item, data=items(3), count=3)
    with pytest.raises(SourceError, match=r"u32 holds whole numbers .* at Item.id\[1\]"):
        RecordBuffer(device, Item, data=Item(position=np.ones((2, 3)), id=[1, -1]))
    with pytest.raises(SourceError, match="takes records of Item"):
        RecordBuffer(device, Item, data=vec3f([1, 2, 3]))


@pytest.mark.parametrize(
    "value", [3, None, "abc", object(), np.zeros(3), b"xyz", 1.5], ids=lambda value: type(value).__name__
)
def test_what_is_no_record_is_refused(device: Any, value: Any) -> None:
    buffer = RecordBuffer(device, Item, 4, data=items(2))
    for call in (buffer.write, buffer.append, lambda v: buffer.write(v, where=[0])):
        with pytest.raises(GpuStructError):
            call(value)
    assert buffer.read().id.tolist() == [0, 1]


def test_a_view_is_a_batch_of_one(device: Any) -> None:
    one, some = view(Item), view(Item, count=2)
    one.position, one.id = (7, 8, 9), 70
    some[0].id, some[1].id = 80, 81
    buffer = RecordBuffer(device, Item, 8, data=one)
    assert (buffer.count, buffer.read().position.tolist()) == (1, [[7, 8, 9]])
    assert buffer.append(some) == 1
    buffer.write(one, where=[4, 5])
    assert buffer.read().id.tolist() == [70, 80, 81, 0, 70, 70]
    buffer.write(some)
    assert buffer.read().id.tolist() == [80, 81]
    with pytest.raises(SourceError, match="takes records of Item"):
        buffer.write(view(Table, count=1))
    whole = view(Table, count=2)
    whole.head, whole.n, whole.items[1].id = (1, 2, 3, 4), 5, 6
    table = RecordBuffer(device, Table, data=whole)
    assert table.read().items.id.tolist() == [0, 6]
    whole.n, whole.items[1].id = 50, 60
    table.write_header(whole)
    assert (int(table.read().n), table.read().items.id.tolist()) == (50, [0, 6])
    table.write(one, start=1)
    assert table.read().items.id.tolist() == [0, 70]


def test_arrays_of_the_shader_come_back_as_their_items(device: Any) -> None:
    T = wgsl.parse(SHADER).bindings["items"].type
    assert T.__layout__.is_runtime_array
    E = T.__element__
    given = E(position=np.ones((4, 3)), id=np.arange(4))
    for data in (given, T(given)):
        buffer = RecordBuffer(device, T, 6, data=data)
        got = buffer.read()
        assert type(got) is E
        assert (len(got), got.position.shape, got[1:3].id.tolist()) == (4, (4, 3), [1, 2])
        out = E(position=np.empty((4, 3)), id=np.empty(4, np.int64))
        assert buffer.read(out=out) is out
        assert out.id.tolist() == [0, 1, 2, 3]
        assert buffer.read_async(out=out).result() is out
        whole = T(E(position=np.empty((4, 3)), id=np.empty(4, np.uint32)))
        assert buffer.read(out=whole) is whole
        buffer.write(got[2:], start=3)
        assert buffer.read().id.tolist() == [0, 1, 2, 2, 3]
        from_buffer = read_buffer(device, buffer, T, 5)
        assert type(from_buffer) is E
        assert from_buffer.id.tolist() == [0, 1, 2, 2, 3]
    run(device, buffer)
    assert buffer.read().id.tolist() == [10, 11, 12, 13, 14]


def test_write_buffer_and_read_buffer_take_a_record_buffer(device: Any) -> None:
    buffer = RecordBuffer(device, Item, 4)
    write_buffer(device, buffer, items(3, 20))
    assert buffer.count == 3
    Uploader(device).write(buffer, items(1, 30), 48)
    assert read_buffer(device, buffer, Item).id.tolist() == [20, 21, 22, 30]
    assert read_buffer(device.queue, buffer, Item, 2, offset=16).id.tolist() == [21, 22]
    one = view(Item)
    one.id = 99
    write_buffer(device.queue, buffer, one, 16)
    assert buffer.read().id.tolist() == [20, 99, 22, 30]
    with pytest.raises(BindingError, match="must hold 80 bytes"):
        write_buffer(device, buffer, items(5))
    seen = RecordBuffer(device, Item, 4)
    write_buffer(device, seen, one, 32)
    assert (seen.count, seen.read().id.tolist()) == (3, [0, 0, 99])
    table = RecordBuffer(device, Table, 4)
    write_buffer(device, table, Table(head=(1, 2, 3, 4), n=5, items=items(2)))
    assert table.count == 2
    write_buffer(device, table, vec4f([1, 1, 1, 1]))
    assert (table.count, table.read().head.tolist()) == (2, [1, 1, 1, 1])


def test_an_empty_buffer_says_what_to_do(device: Any) -> None:
    buffer = RecordBuffer(device, Item, 9)
    for call in (buffer.binding, buffer.bindings):
        with pytest.raises(BindingError) as error:
            call()
        for words in ("bind at least one record", "data=batch", "count=9", "set its count = 9"):
            assert words in str(error.value)
    with pytest.raises(SourceError, match=r"at read\(.* no record is in use: write some first, set count = 3"):
        buffer.read(out=columns(3))
    with pytest.raises(BindingError, match=r"count must be .* pass 1 or more"):
        buffer.binding(0)
    with pytest.raises(BindingError, match=r"count must be .* pass 9 or less"):
        buffer.binding(10)
    # Nothing is in use: nothing is dispatched, nothing comes back.
    assert buffer.dispatch_size(64) == (0, 1, 1)
    assert len(buffer.read()) == 0


BAD_OUT: list[tuple[str, Any]] = [
    ("give it 3 records", lambda: columns(2)),
    ("must be a batch of Item", lambda: u32([1, 2, 3])),
    ("must be a batch of Item", lambda: {"position": np.zeros((3, 3)), "id": np.zeros(3)}),
    ("a read-only column", lambda: Item(position=np.broadcast_to(np.zeros(3), (3, 3)), id=np.zeros(3, np.uint32))),
    (
        "memory of its own",
        lambda: Item(position=(a := np.zeros((3, 4), np.float32))[:, :3], id=a.view(np.uint32)[:, 2]),
    ),
]


@pytest.mark.parametrize(("words", "out"), BAD_OUT, ids=range(len(BAD_OUT)))
def test_errors_of_read_name_read(device: Any, words: str, out: Any) -> None:
    buffer = RecordBuffer(device, Item, data=items(3))
    for name in ("read", "read_async"):
        with pytest.raises(SourceError) as error:
            getattr(buffer, name)(out=out())
        assert "unpack(" not in str(error.value)
        assert f"at {name}(..., out=...)" in str(error.value) or "column of" in str(error.value)
    with pytest.raises(SourceError, match=words):
        buffer.read(out=out())


USAGES = ["UNIFORM", "uniform", "Uniform | storage", "STORAGE|VERTEX", "storage vertex", "index"]


@pytest.mark.parametrize("usage", USAGES)
def test_usage_names_in_any_case_as_wgpu_takes_them(device: Any, usage: str) -> None:
    expected = 0
    for name in usage.upper().replace("|", " ").split():
        expected |= getattr(wgpu.BufferUsage, name)
    copies = wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
    assert RecordBuffer(device, vec4f, usage=usage).buffer.usage == expected | copies


@pytest.mark.parametrize(
    ("usage", "suggestion"),
    [
        ("uniforms", "UNIFORM"),
        ("storages | vertices", "STORAGE | VERTEX"),
        ("copy-src", "COPY_SRC"),
        ("MAP_READ", "STORAGE"),
        ("", "STORAGE"),
        (0, "STORAGE"),
        (None, "STORAGE"),
        (["UNIFORM"], "STORAGE"),
        (1 << 20, "STORAGE"),
    ],
)
def test_other_usages_are_refused_with_one_that_works(device: Any, usage: Any, suggestion: str) -> None:
    with pytest.raises(BindingError) as error:
        RecordBuffer(device, vec4f, usage=usage)
    assert str(error.value).endswith(f"use {suggestion!r}")
    assert RecordBuffer(device, vec4f, usage=suggestion).capacity == 1


def test_reprs(device: Any) -> None:
    buffer = RecordBuffer(device, Item, 10, count=4, usage="STORAGE | INDIRECT")
    assert repr(buffer) == "<RecordBuffer of Item: 4 of 10 records, 16 bytes each, INDIRECT | STORAGE>"
    reading = buffer.read_async()
    assert repr(reading).startswith("<PendingRead of Item (4,): ")
    reading.result()
    assert repr(reading).endswith(": read>")
    uploader = Uploader(device, chunk_size=4096, chunks=2)
    assert "at most 2 chunks of 4096" in repr(uploader)
    assert "0 bytes of staging memory" in repr(uploader)
    sharded = ShardedBuffer([device, device], Item, 10, data=items(5))
    assert repr(sharded) == "<ShardedBuffer of Item: 5 of 10 records, 16 bytes each, on 2 devices: 3 + 2>"
    assert (len(sharded), sharded.capacity) == (5, 10)


def test_shards_take_what_a_record_buffer_takes(device: Any) -> None:
    sharded = ShardedBuffer([device, device], vec3f, data=[[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    assert (sharded.capacity, sharded.count) == (3, 3)
    assert np.asarray(sharded.read()).tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    one = view(Item)
    one.id = 5
    assert ShardedBuffer([device, device], Item, data=one).read().id.tolist() == [5]
    with pytest.raises(SourceError, match="one batch dimension"):
        sharded.write(np.zeros((2, 2, 3)))
    with pytest.raises(BindingError, match="make a ShardedBuffer of 4 records"):
        sharded.write(np.zeros((4, 3)))
    with pytest.raises(BindingError, match="leave it out, pass data=batch"):
        ShardedBuffer([device], vec3f, 3, count=2)
    with pytest.raises(SourceError, match="takes records of vec3f"):
        sharded.write(u32([1]))


@pytest.mark.parametrize("module", [gpustruct.gpu, gpustruct.wgsl], ids=lambda m: m.__name__)
def test_completion_lists_public_names_only(module: Any) -> None:
    assert dir(module) == sorted(module.__all__)
    # In a fresh process too, where nothing else has imported the parts.
    code = f"import {module.__name__} as m; print(sorted(m.__all__) == dir(m), all(hasattr(m, n) for n in dir(m)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "True True\n"


def test_a_batch_is_written_as_it_is(device: Any) -> None:
    # The same as through batch(): neither converts twice.
    source = {"position": np.float64([[1, 2, 3]]), "id": np.int64([4])}
    one, other = RecordBuffer(device, Item, data=source), RecordBuffer(device, Item, data=batch(Item, source))
    assert device.queue.read_buffer(one.buffer) == device.queue.read_buffer(other.buffer)


@pytest.mark.parametrize("T", [float, "Item", None, 3, np.dtype("f4"), Struct], ids=repr)
def test_what_is_no_type_is_refused_by_the_function_that_was_called(device: Any, T: Any) -> None:
    buffer = RecordBuffer(device, Item, data=items(2)).buffer
    for name, call in {
        "RecordBuffer": lambda: RecordBuffer(device, T),
        "ShardedBuffer": lambda: ShardedBuffer([device], T),
        "read_buffer": lambda: read_buffer(device, buffer, T),
    }.items():
        with pytest.raises(LayoutError, match=f"^{name} takes a gpustruct type"):
            call()
