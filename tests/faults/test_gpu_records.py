"""Sizes of buffers and bindings, and what their errors advise. The oracle is a shader, or the specification's numbers."""

from __future__ import annotations

import contextlib
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import wgpu

from gpustruct import (
    BindingError,
    GpuStructError,
    LayoutError,
    SourceError,
    Struct,
    array,
    f16,
    f32,
    layout_of,
    pack,
    u32,
    unpack,
    vec2f,
    vec2h,
    vec3f,
    vec3h,
    vec3i,
    vec3u,
    vec4f,
    vec4h,
    view,
)
from gpustruct.gpu import RecordBuffer, ShardedBuffer, Uploader, read_buffer, verify, write_buffer
from gpustruct.views import update

COPIES = wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


class One(Struct):
    a: f16


class Three(Struct):
    a: f16
    b: f16
    c: f16


class Inside(Struct):
    one: One


class Five(Struct):
    v: vec4h
    last: f16


class HalfTail(Struct):
    head: f16
    tail: array[f16]


def ask(device: Any, declaration: str, expressions: str, resource: dict[str, Any], *, dynamic: bool = False) -> Any:
    """What a shader reads: floats, for `declaration` of a variable ``u`` bound to `resource`."""
    count = expressions.count(",") + 1
    stores = "".join(f"o[{k}] = f32({e});" for k, e in enumerate(expressions.split(",")))
    code = f"""enable f16;
        {declaration}
        @group(0) @binding(1) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(1) fn main() {{ {stores} }}"""
    out = RecordBuffer(device, f32, count, count=count)
    kind = "uniform" if "uniform" in declaration else "storage" if "read_write" in declaration else "read-only-storage"
    stage = wgpu.ShaderStage.COMPUTE
    entries = [
        {"binding": 0, "visibility": stage, "buffer": {"type": kind, "has_dynamic_offset": dynamic}},
        {"binding": 1, "visibility": stage, "buffer": {"type": "storage"}},
    ]
    layout = device.create_bind_group_layout(entries=entries)
    group = device.create_bind_group(
        layout=layout, entries=[{"binding": 0, "resource": resource}, {"binding": 1, "resource": out.binding()}]
    )
    pipeline = device.create_compute_pipeline(
        layout=device.create_pipeline_layout(bind_group_layouts=[layout]),
        compute={"module": device.create_shader_module(code=code), "entry_point": "main"},
    )
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(pipeline)
    work.set_bind_group(0, group, [resource.get("offset", 0) * 0] if dynamic else [])
    work.dispatch_workgroups(1)
    work.end()
    device.queue.submit([encoder.finish()])
    return np.asarray(out.read()).tolist()


STRUCTS = "struct One { a: f16 } struct Three { a: f16, b: f16, c: f16 } struct Inside { one: One } struct Five { v: vec4h, last: f16 }"

# Type, its one record, bytes to bind, the WGSL type and what the shader reads: sizes rounded up to 4 by hand.
HALVES: list[tuple[Any, Callable[[], Any], int, str, str, list[float]]] = [
    (One, lambda: One(a=[1.5]), 4, "One", "u.a", [1.5]),
    (f16, lambda: f16([1.5]), 4, "f16", "u", [1.5]),
    (Three, lambda: Three(a=[1], b=[2], c=[3]), 8, "Three", "u.a, u.b, u.c", [1, 2, 3]),
    (vec3h, lambda: vec3h([[4, 5, 6]]), 8, "vec3h", "u.x, u.y, u.z", [4, 5, 6]),
    (vec2h, lambda: vec2h([[7, 8]]), 4, "vec2h", "u.x, u.y", [7, 8]),
    (Inside, lambda: Inside(one=One(a=[2.5])), 4, "Inside", "u.one.a", [2.5]),
    (Five, lambda: Five(v=[[1, 2, 3, 4]], last=[5]), 16, "Five", "u.v.w, u.last", [4, 5]),
]
NAMES = [case[3] for case in HALVES]


@pytest.mark.parametrize(("T", "one", "size", "name", "read", "expected"), HALVES, ids=NAMES)
@pytest.mark.parametrize("usage", ["UNIFORM", "STORAGE"])
def test_F1_bindings_at_dynamic_offsets_are_whole_words(
    device: Any, T: Any, one: Any, size: int, name: str, read: str, expected: list[float], usage: str
) -> None:
    buffer = RecordBuffer(device, T, 1, usage=usage, dynamic_offsets=True)
    buffer.write(one())
    assert buffer.binding()["size"] == size
    assert buffer.bindings() == [buffer.binding()]
    space = "var<uniform>" if usage == "UNIFORM" else "var<storage, read_write>"
    declaration = f"{STRUCTS} @group(0) @binding(0) {space} u: {name};"
    assert ask(device, declaration, read, buffer.binding(), dynamic=True) == expected


@pytest.mark.parametrize(("T", "one", "size", "name", "read", "expected"), HALVES, ids=NAMES)
def test_F2_a_uniform_has_no_array_length(
    device: Any, T: Any, one: Any, size: int, name: str, read: str, expected: list[float]
) -> None:
    buffer = RecordBuffer(device, T, 1, usage="UNIFORM")
    buffer.write(one())
    assert buffer.binding()["size"] == buffer.bindings()[0]["size"] == size
    declaration = f"{STRUCTS} @group(0) @binding(0) var<uniform> u: {name};"
    assert ask(device, declaration, read, buffer.binding()) == expected


def test_F2_in_storage_array_length_is_exact_still(device: Any) -> None:
    for T in (One, f16):
        with pytest.raises(BindingError, match="arrayLength can be an even number"):
            RecordBuffer(device, T, 3, count=3).binding()
        buffer = RecordBuffer(device, T, 4, count=4)
        name = layout_of(T).name
        declaration = f"{STRUCTS} @group(0) @binding(0) var<storage, read> u: array<{name}>;"
        assert ask(device, declaration, "arrayLength(&u)", buffer.binding()) == [4]
    tail = RecordBuffer(device, HalfTail, 5, count=5)
    declaration = (
        "struct HalfTail { head: f16, tail: array<f16> } @group(0) @binding(0) var<storage, read> u: HalfTail;"
    )
    assert ask(device, declaration, "arrayLength(&u.tail)", tail.binding()) == [5]


VEC3 = [vec3f, vec3i, vec3u]


def buffer_of(device: Any, size: int, usage: int = wgpu.BufferUsage.UNIFORM) -> Any:
    return device.create_buffer(size=size, usage=usage | COPIES)


@pytest.mark.parametrize("T", VEC3, ids=lambda T: T.__name__)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_F13_the_padding_after_the_last_vec3_need_not_be_there(device: Any, T: Any, n: int) -> None:
    size = 16 * n - 4
    values = np.arange(1, 3 * n + 1).reshape(n, 3)
    dtype = {vec3f: np.float32, vec3i: np.int32, vec3u: np.uint32}[T]
    # 16 bytes a record, 12 of the last one: by hand.
    expected = np.zeros((n, 4), dtype)
    expected[:, :3] = values
    data = expected.tobytes()[:size]
    ways: list[Callable[[Any, Any], None]] = [
        lambda buffer, batch: write_buffer(device, buffer, batch),
        lambda buffer, batch: Uploader(device).write(buffer, batch),
        lambda buffer, batch: Uploader(device, chunk_size=256, small_bytes=0).write(buffer, batch),
        lambda buffer, batch: with_encoder(device, buffer, batch),
    ]
    for write in ways:
        buffer = buffer_of(device, size)
        write(buffer, T(values))
        assert bytes(device.queue.read_buffer(buffer)) == data
        np.testing.assert_array_equal(np.asarray(read_buffer(device, buffer, T)), values)
        np.testing.assert_array_equal(np.asarray(read_buffer(device, buffer, T, n)), values)
    np.testing.assert_array_equal(np.asarray(unpack(T, data)), values)
    np.testing.assert_array_equal(np.asarray(unpack(T, data, count=n)), values)
    out = T(np.zeros((n, 3), dtype))
    unpack(T, data, out=out)
    np.testing.assert_array_equal(np.asarray(out), values)
    target = bytearray(b"\xff" * (size + 2))
    pack(T(values), out=target)
    assert target == data + b"\xff\xff"


def with_encoder(device: Any, buffer: Any, batch: Any) -> None:
    encoder, uploader = device.create_command_encoder(), Uploader(device)
    uploader.write(buffer, batch, encoder=encoder)
    device.queue.submit([encoder.finish()])
    uploader.recall()


@pytest.mark.parametrize("T", VEC3, ids=lambda T: T.__name__)
def test_F13_views_over_bytes_that_end_with_the_last_value(device: Any, T: Any) -> None:
    dtype = {vec3f: np.float32, vec3i: np.int32, vec3u: np.uint32}[T]
    memory = bytearray(12)
    one = view(T, memory)
    one[...] = (1, 2, 3)
    assert memory == bytes(one) == np.array([1, 2, 3], dtype).tobytes()
    assert pickle.loads(pickle.dumps(one))[...].tolist() == [1, 2, 3]
    with pytest.raises(GpuStructError):
        update(one, {"x": 1})
    longer = bytearray(44)
    some = view(T, longer, 16, count=2)
    some[0], some[1] = (4, 5, 6), (7, 8, 9)
    assert longer[16:] == bytes(some) == np.array([4, 5, 6, 0, 7, 8, 9], dtype).tobytes()
    assert [row.tolist() for row in some] == [[4, 5, 6], [7, 8, 9]]
    # However some of the records are taken, no part reaches past the bytes.
    for part in (slice(0, 2), slice(1, 2)):
        with contextlib.suppress(TypeError, IndexError):
            assert len(bytes(some[part])) <= 28 - 16 * part.start
    # Over more bytes a view has its padding, as before; a buffer need not.
    whole = view(T, count=2)
    assert (len(bytes(view(T))), len(bytes(whole))) == (16, 32)
    whole[1] = (3, 2, 1)
    for source, size in ((one, 12), (some, 28), (whole, 28), (view(T), 12)):
        buffer = buffer_of(device, size)
        for _ in range(2):
            write_buffer(device, buffer, source)
            assert bytes(device.queue.read_buffer(buffer)) == bytes(source)[:size]
    for size, count in ((11, None), (27, 2), (0, None)):
        with pytest.raises(SourceError, match="data must be"):
            view(T, bytearray(size), count=count)
    assert bytes(view(vec3h, bytearray(6))) == bytes(6)


@pytest.mark.parametrize("rows", [lambda: view(f16, count=3), lambda: view(vec3h, count=1), lambda: view(One, count=5)])
def test_F1_views_of_half_words_keep_the_other_half(device: Any, rows: Any) -> None:
    source = rows()
    size = len(bytes(source))
    buffer = buffer_of(device, 16)
    device.queue.write_buffer(buffer, 0, b"\xff" * 16)
    write_buffer(device, buffer, source)
    assert bytes(device.queue.read_buffer(buffer)) == bytes(size) + b"\xff" * (16 - size)


def test_F13_a_shader_reads_the_12_bytes(device: Any) -> None:
    buffer = buffer_of(device, 12)
    write_buffer(device, buffer, vec3f([(4, 5, 6)]))
    declaration = "@group(0) @binding(0) var<uniform> u: vec3f;"
    resource = {"buffer": buffer, "offset": 0, "size": 12}
    assert ask(device, declaration, "u.x, u.y, u.z", resource) == [4, 5, 6]


def test_F13_at_an_offset_and_nothing_is_written_past_it(device: Any) -> None:
    buffer = buffer_of(device, 32)
    device.queue.write_buffer(buffer, 0, b"\xff" * 32)
    write_buffer(device, buffer, vec3f([(4, 5, 6)]), offset=20)
    assert bytes(device.queue.read_buffer(buffer)) == b"\xff" * 20 + np.float32([4, 5, 6]).tobytes()
    assert np.asarray(read_buffer(device, buffer, vec3f, offset=20)).tolist() == [[4, 5, 6]]
    reading = RecordBuffer(device, vec3f, 3, data=vec3f([[1, 2, 3]])).read_async()
    assert np.asarray(reading.result()).tolist() == [[1, 2, 3]]


def test_F13_halves_fill_whole_words(device: Any) -> None:
    # A copy is whole words: one vec3h takes 8 bytes on the device, and 6 on the host.
    buffer = buffer_of(device, 8)
    write_buffer(device, buffer, vec3h([[1, 2, 3]]))
    assert np.asarray(read_buffer(device, buffer, vec3h)).tolist() == [[1, 2, 3]]
    data = np.float16([1, 2, 3]).tobytes()
    assert np.asarray(unpack(vec3h, data)).tolist() == [[1, 2, 3]]
    target = bytearray(6)
    pack(vec3h([[1, 2, 3]]), out=target)
    assert target == data


@pytest.mark.parametrize(
    ("size", "act"),
    [
        (8, lambda d, b: write_buffer(d, b, vec3f([(1, 2, 3)]))),
        (24, lambda d, b: write_buffer(d, b, vec3f(np.ones((2, 3))))),
        (24, lambda d, b: read_buffer(d, b, vec3f, 2)),
        (14, lambda d, b: write_buffer(d, b, vec3h(np.ones((2, 3))))),
        (12, lambda d, b: write_buffer(d, b, array[vec3f](np.ones((1, 3))))),
        (11, lambda d, b: unpack(vec3f, bytes(11))),
        (13, lambda d, b: unpack(vec3f, bytes(13))),
        (27, lambda d, b: pack(vec3f(np.ones((2, 3))), out=bytearray(27))),
    ],
)
def test_F13_less_than_that_is_refused(device: Any, size: int, act: Any) -> None:
    with pytest.raises(GpuStructError):
        act(device, buffer_of(device, size))


class Wide(Struct):
    v: array[vec4f, 5000]


def test_F17_no_limit_is_advised_that_the_adapter_does_not_have(device: Any) -> None:
    most = device.adapter.limits["max-uniform-buffer-binding-size"]
    if most >= 80000:
        pytest.skip("this adapter binds uniforms of 80000 bytes: nothing is refused")
    buffer = RecordBuffer(device, Wide, count=1, usage="UNIFORM")
    calls: list[Callable[[], Any]] = [
        buffer.binding,
        buffer.bindings,
        RecordBuffer(device, Wide, count=1, usage="UNIFORM", dynamic_offsets=True).binding,
        lambda: RecordBuffer(device, vec4f, device.adapter.limits["max-buffer-size"] // 16 + 1),
    ]
    for call in calls:
        with pytest.raises(BindingError) as error:
            call()
        assert "required_limits" not in str(error.value)
        assert "the adapter allows" in str(error.value)
    assert "shorter arrays, or bind it as var<storage>" in advice(buffer.binding)
    # The way out, typed.
    assert RecordBuffer(device, Wide, count=1, usage="STORAGE").binding()["size"] == 80000


def advice(call: Callable[[], Any]) -> str:
    with pytest.raises(BindingError) as error:
        call()
    return str(error.value).rpartition("; ")[2]


@pytest.mark.parametrize("T", [f32, vec3f, f16, Three, vec2f], ids=lambda T: T.__name__)
def test_F17_smaller_counts_work_when_they_are_typed(new_device: Any, T: Any) -> None:
    small = new_device(
        required_features=["shader-f16"],
        required_limits={"max-storage-buffer-binding-size": 1 << 16, "max-buffer-size": 1 << 20},
    )
    most = small.limits["max-buffer-size"]
    capacity = most // layout_of(T).stride + 1
    message = advice(lambda: RecordBuffer(small, T, capacity))
    fewer = int(re.search(r"several buffers of (\d+) records", message)[1])
    buffer = RecordBuffer(small, T, fewer, count=fewer)
    assert capacity - 4 <= fewer < capacity
    if buffer.buffer.size > small.limits["max-storage-buffer-binding-size"]:
        message = advice(lambda: buffer.binding(fewer - fewer % 2))
        assert "use bindings()" in message
        bound = int(re.search(r"bind (\d+) records", message)[1])
        assert buffer.binding(bound)["size"] <= small.limits["max-storage-buffer-binding-size"]
        assert len(buffer.bindings(fewer - fewer % 2)) > 1


def test_F17_what_the_adapter_has_is_advised_and_works(new_device: Any) -> None:
    small = new_device(required_limits={"max-buffer-size": 1 << 20})
    capacity = small.limits["max-buffer-size"] // 16 + 1
    message = advice(lambda: RecordBuffer(small, vec4f, capacity))
    limits = {"max-buffer-size": int(re.search(r"required_limits={'max-buffer-size': (\d+)}", message)[1])}
    assert RecordBuffer(new_device(required_limits=limits), vec4f, capacity).capacity == capacity


def test_F17_no_feature_is_advised_that_the_adapter_does_not_have(new_device: Any, monkeypatch: Any) -> None:
    plain = new_device()
    with pytest.raises(BindingError, match=r"request it: adapter.request_device_sync"):
        verify(One, plain)
    monkeypatch.setattr(type(plain.adapter), "features", frozenset(), raising=False)
    with pytest.raises(BindingError, match=r"adapter does not have it .* use f32 members instead of f16"):
        verify(One, plain)


class P(Struct):
    a: f32


@pytest.mark.parametrize(
    "instance",
    [lambda: P(a=[1]), lambda: P(a=1), lambda: vec3f([1, 2, 3]), lambda: view(P), lambda: array[f32]([1.0])],
    ids=["batch", "record", "vec3f", "view", "array"],
)
def test_F23_an_instance_where_a_type_is_wanted(device: Any, instance: Any) -> None:
    buffer = buffer_of(device, 16)
    T = instance()
    name = getattr(type(T), "__type__", type(T)).__name__
    calls: dict[str, Callable[[], Any]] = {
        "RecordBuffer": lambda: RecordBuffer(device, T, 4),
        "read_buffer": lambda: read_buffer(device, buffer, T),
        "ShardedBuffer": lambda: ShardedBuffer([device], T, 4),
    }
    for function, call in calls.items():
        with pytest.raises(SourceError) as error:
            call()
        assert str(error.value).startswith(f"{function} takes a gpustruct type (current: an instance of {name})")
        assert str(error.value).endswith(f"pass {name} itself")


class Packed(Struct):
    a: array[f32, 4]


class PackedInside(Struct):
    n: u32
    inside: Packed


class Pairs(Struct):
    a: f32
    pairs: array[vec2f, 3]


@pytest.mark.parametrize("T", [Packed, PackedInside, Pairs], ids=lambda T: T.__name__)
def test_F30_standard_layout(device: Any, T: Any) -> None:
    layout_of(T).check_uniform(standard_layout=True)
    with pytest.raises(LayoutError, match="in uniform"):
        RecordBuffer(device, T, 1, usage="UNIFORM")
    buffer = RecordBuffer(device, T, 1, usage="UNIFORM", standard_layout=True)
    assert buffer.buffer.usage & wgpu.BufferUsage.UNIFORM
    with pytest.raises(LayoutError, match=r"atomic|runtime-sized"):
        RecordBuffer(device, array[T], 1, usage="UNIFORM", standard_layout=True)
