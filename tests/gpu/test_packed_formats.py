"""Packed formats on the device: shaders unpack what we packed, and we unpack what shaders packed.

numpy by hand says what the words are. Beyond this file, random operations of test_records.py write and read them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpustruct import BindingError, SourceError, Struct, WgslError, array, batch, f32, vec3f, view, wgsl
from gpustruct.gpu import Program, RecordBuffer, verify
from gpustruct.types import make_struct
from gpustruct.vertex import float16x2, sint8x4, snorm8x4, snorm16x2, uint8x4, unorm8x4, unorm16x2

# The format, the functions' name after "unpack" and "pack", its numbers, their dtype in the record, what 1 is stored as.
FORMATS: list[tuple[Any, str, int, str, int]] = [
    (snorm8x4, "4x8snorm", 4, "i1", 127),
    (unorm8x4, "4x8unorm", 4, "u1", 255),
    (sint8x4, "4xI8", 4, "i1", 1),
    (uint8x4, "4xU8", 4, "u1", 1),
    (snorm16x2, "2x16snorm", 2, "<i2", 32767),
    (unorm16x2, "2x16unorm", 2, "<u2", 65535),
    (float16x2, "2x16float", 2, "<f2", 1),
]
by_format = pytest.mark.parametrize(("made", "name", "rows", "stored", "one"), FORMATS, ids=[row[1] for row in FORMATS])
N = 512
# Where packed words are in a record: alone, in an array, in a nested struct, and in an array of nested structs.
PLACES = ["alone", "many[0]", "many[1]", "many[2]", "inner.value", "inner.values[0]", "inner.values[1]",
          "inners[0].value", "inners[1].values[1]"]  # fmt: skip


def structs(made: Any) -> Any:
    Inner = make_struct("Inner", {"value": made, "scale": f32, "values": array[made, 2]})
    return make_struct("Record", {"before": f32, "alone": made, "at": vec3f, "many": array[made, 3], "inner": Inner,
                                  "inners": array[Inner, 2]})  # fmt: skip


def numbers(stored: str, one: int, count: int) -> np.ndarray:
    """Numbers that a column may have: the extremes, the halves between two steps, and random ones."""
    rng = np.random.default_rng(one)
    if one > 1:
        low = -one if stored[-2] == "i" else 0
        steps = np.arange(low, one) if one < 256 else rng.integers(low, one, 400)
        halves = (steps + 0.5) / one
        first = np.concatenate([[low / one, 1, 0, 0.5], halves, [2.0**-140, 1 - 2.0**-24]])
        return np.resize(np.concatenate([first, rng.uniform(low / one, 1, 997)]), count)
    if stored == "<f2":
        special = [
            65504,
            -65504,
            2.0**-24,
            -(2.0**-14),
            0,
            -0.0,
            np.inf,
            -np.inf,
            np.nan,
            1 + 2.0**-11,
            1 + 3 * 2.0**-11,
        ]
        return np.resize(np.concatenate([special, rng.normal(0, 100, 997)]), count)
    return np.resize(np.arange(np.iinfo(stored).min, np.iinfo(stored).max + 1), count)


def values_at_places(rows: int, stored: str, one: int) -> np.ndarray:
    """(record, place, row), with the extremes at each place."""
    values = numbers(stored, one, N * len(PLACES) * rows).reshape(N, len(PLACES), rows)
    if one > 1:
        values[2:5] = np.reshape([-1 if stored[-2] == "i" else 0, 1, 0], (3, 1, 1))
    return values


def encoded(values: np.ndarray, stored: str, one: int) -> np.ndarray:
    """What the specification stores for `values`: rounded to the nearest step, ties to even."""
    return (np.rint(values * one) if one > 1 else values).astype(stored)


def decoded(integers: np.ndarray, one: int) -> np.ndarray:
    return (
        np.maximum(integers / one, -1).astype("f4")
        if one > 1
        else integers.astype("f4" if integers.dtype == "f2" else "i4")
    )


def scalar_of(name: str) -> str:
    return {"I8": "i32", "U8": "u32"}.get(name[2:], "f32")


def run(device: Any, text: str, groups: int, **resources: Any) -> None:
    program = Program(device, text)
    bound = program.bind(**resources)
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(program.compute_pipeline())
    bound.set(work)
    work.dispatch_workgroups(groups)
    work.end()
    device.queue.submit([encoder.finish()])


def columns_of(values: np.ndarray) -> dict[str, Any]:
    """Columns of `structs` from (n, place, rows); the places that PLACES leaves out have the numbers of others."""
    alone, m0, m1, m2, value, v0, v1, i0, i1 = np.moveaxis(values, 1, 0)

    def inner(a: Any, b: Any, c: Any) -> dict[str, Any]:
        return {"value": a, "scale": 2.0, "values": np.stack([b, c], 1)}

    inners = {
        "value": np.stack([i0, value], 1),
        "scale": 3.0,
        "values": np.stack([np.stack([v0, v1], 1), np.stack([v1, i1], 1)], 1),
    }
    return {"before": 1.0, "alone": alone, "at": np.ones((len(values), 3)), "many": np.stack([m0, m1, m2], 1),
            "inner": inner(value, v0, v1), "inners": inners}  # fmt: skip


def column_at(records: Any, place: str) -> np.ndarray:
    return {
        "alone": lambda: records.alone,
        "inner.value": lambda: records.inner.value,
        "inners[0].value": lambda: records.inners.value[:, 0],
        "inners[1].values[1]": lambda: records.inners.values[:, 1, 1],
    }.get(place, lambda: (records.many if place[0] == "m" else records.inner.values)[:, int(place[-2])])()


def assert_same(got: np.ndarray, want: np.ndarray, name: str) -> None:
    # A device may multiply by the reciprocal of 255 where numpy divides.
    np.testing.assert_allclose(got, want, rtol=0, atol=1.5e-7 if "norm" in name else 0)


@by_format
@pytest.mark.parametrize("kind", ["numbers", "integers of the format"])
def test_shaders_unpack_what_we_packed(
    device: Any, made: Any, name: str, rows: int, stored: str, one: int, kind: str
) -> None:
    T, scalar = structs(made), scalar_of(name)
    if kind == "numbers":
        values = values_at_places(rows, stored, one)
        want = encoded(values, stored, one)
    else:
        bits = np.random.default_rng(3).integers(0, 256, (N, len(PLACES), 4), dtype=np.uint8)
        bits[0], bits[1], bits[2] = 0x80, 0xFF, 0x7F  # The smallest integers, such as -128, and the largest.
        values = want = bits.view(stored)
    reads = "\n".join(
        f"out[id.x * {len(PLACES)} + {k}] = vec4<{scalar}>(unpack{name}(records[id.x].{place}){', 0, 0' if rows == 2 else ''});"
        for k, place in enumerate(PLACES)
    )
    text = f"""{wgsl.declare(T)}
@group(0) @binding(0) var<storage, read> records: array<Record>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<{scalar}>>;
@compute @workgroup_size(64) fn unpack_all(@builtin(global_invocation_id) id: vec3u) {{
{reads}
}}"""
    records = RecordBuffer(device, T, data=batch(T, columns_of(values)))
    out = device.create_buffer(size=N * len(PLACES) * 16, usage="STORAGE|COPY_SRC")
    run(device, text, N // 64, records=records, out=out)
    got = np.frombuffer(device.queue.read_buffer(out), {"f32": "f4", "u32": "u4", "i32": "i4"}[scalar])
    assert_same(got.reshape(N, len(PLACES), 4)[..., :rows], decoded(want, one), name)
    read = records.read()
    for k, place in enumerate(PLACES):
        assert_same(column_at(read, place), decoded(want, one)[:, k], name)


@by_format
def test_we_unpack_what_shaders_packed(device: Any, made: Any, name: str, rows: int, stored: str, one: int) -> None:
    T, scalar = structs(made), scalar_of(name)
    values = values_at_places(rows, stored, one)
    if stored == "<f2":
        values = np.where(np.isfinite(values), values, 0)  # WGSL lets a shader take it that there are no others.
    elif one > 1:
        values[:2] *= 1.5  # Clamped.
    given = np.zeros((N, len(PLACES), 4), {"f32": "f4", "u32": "u4", "i32": "i4"}[scalar])
    given[..., :rows] = values
    writes = "\n".join(
        f"records[id.x].{place} = pack{name}(given[id.x * {len(PLACES)} + {k}]{'.xy' if rows == 2 else ''});"
        for k, place in enumerate(PLACES)
    )
    text = f"""{wgsl.declare(T)}
@group(0) @binding(0) var<storage, read_write> records: array<Record>;
@group(0) @binding(1) var<storage, read> given: array<vec4<{scalar}>>;
@compute @workgroup_size(64) fn pack_all(@builtin(global_invocation_id) id: vec3u) {{
{writes}
}}"""
    records = RecordBuffer(device, T, N, count=N)
    source = device.create_buffer_with_data(data=given.tobytes(), usage="STORAGE")
    run(device, text, N // 64, records=records, given=source)
    read = records.read()
    want = given[..., :rows].astype("f8")
    for k, place in enumerate(PLACES):
        got = column_at(read, place).astype("f8")
        if one > 1:
            low = -1 if stored[-2] == "i" else 0
            assert np.abs(got - np.clip(want[:, k], low, 1)).max() <= 0.51 / one
            assert got.min() == low and got.max() == 1
        elif stored == "<f2":
            # A device rounds to one of the two neighbours.
            assert np.all(np.abs(got - want[:, k]) <= np.maximum(np.abs(want[:, k]) * 2.0**-10, 2.0**-24))
        else:
            assert np.array_equal(got, want[:, k])


class Light(Struct):
    position: vec3f
    color: unorm8x4
    normals: array[snorm8x4, 2]


LIGHTS = f"""{wgsl.declare(Light)}
@group(0) @binding(0) var<uniform> sun: Light;
@group(0) @binding(1) var<storage, read_write> lights: array<Light>;
@group(0) @binding(2) var<storage, read> palette: array<u32>;
@compute @workgroup_size(64) fn tint(@builtin(global_invocation_id) id: vec3u) {{
  if id.x < arrayLength(&lights) {{
    let color = unpack4x8unorm(lights[id.x].color) * unpack4x8unorm(sun.color) + unpack4x8unorm(palette[id.x % 2]);
    lights[id.x].color = pack4x8unorm(color);
  }}
}}"""


def lights(n: int) -> tuple[Light, np.ndarray]:
    color = np.random.default_rng(n).uniform(0, 0.5, (n, 4))
    made = Light(position=np.ones((n, 3)), color=color, normals=np.full((n, 2, 4), -1.0))
    return made, np.rint(color * 255) / 255


def test_programs_bind_structs_with_packed_members(device: Any) -> None:
    T = make_struct("Light", {"position": vec3f, "color": unorm8x4, "normal": snorm8x4})
    sun = view(T)
    text = LIGHTS.replace("normals: array<u32, 2>,", "normal: u32,")
    made, colors = lights(100)
    records = RecordBuffer(device, T, data=T(position=made.position, color=made.color, normal=[0.0, 0, 1, 0]))
    sun.color = [1.0, 0, 0.2, 1]
    uniform = RecordBuffer(device, T, data=sun, usage="UNIFORM")
    palette = RecordBuffer(device, unorm8x4, data=unorm8x4([[0.0, 0.2, 0, 0], [0.4, 0, 0, 0]]))
    run(device, text, 2, sun=uniform, lights=records, palette=palette)
    want = colors * [1, 0, 0.2, 1] + np.resize([[0.0, 0.2, 0, 0], [0.4, 0, 0, 0]], (100, 4))
    assert np.abs(records.read().color - want).max() <= 0.51 / 255
    assert np.allclose(records.read().normal, [0, 0, 1, 0])


@pytest.mark.parametrize("declared", ["f32", "i32", "vec4f", "vec4u", "atomic<u32>", "array<u32, 4>"])
def test_a_member_that_the_shader_declares_otherwise_is_refused(device: Any, declared: str) -> None:
    text = f"""{wgsl.declare(Light).replace("color: u32", f"color: {declared}")}
@group(0) @binding(0) var<storage, read_write> lights: array<Light>;
@compute @workgroup_size(1) fn push() {{ lights[0].position.x = 1.0; }}"""
    with pytest.raises(WgslError, match="must be the same on both sides") as caught:
        wgsl.check(Light, text)
    assert caught.value.rule == "check-differs"
    buffer = RecordBuffer(device, Light, data=lights(3)[0])
    with pytest.raises(BindingError, match="color") as refused:
        Program(device, text).bind(lights=buffer)
    for message in (str(caught.value), str(refused.value)):
        lines = [line.split() for line in message.splitlines() if " color " in line]
        assert lines[0][:4] == ["Python", "color", "u32", "(unorm8x4)"]
        assert lines[1][:2] == ["shader", "color"] and " ".join(lines[1][2:]).startswith(declared)


def test_reads_and_writes_at_indices(device: Any) -> None:
    """The scatter shader, copies, appends and reads that wait, in numbers; test_records.py compares every byte."""
    made, colors = lights(200)
    for device_side in (True, False):
        buffer = RecordBuffer(device, Light, 300, data=made[:150], device_side=device_side)
        model = np.zeros((300, 4))
        model[:150] = colors[:150]
        chosen = np.random.default_rng(2).permutation(150)[:90]
        buffer.write(made[110:], where=chosen)
        model[chosen] = colors[110:]
        pending = buffer.read_async(10, 140)
        buffer.write(made[:50], where=np.arange(300) % 6 == 1)
        np.testing.assert_allclose(pending.result().color, model[10:140], atol=1e-7)
        model[1::6] = colors[:50]
        assert buffer.count == 296 and buffer.append(made[7:9]) == 296
        model[296:298] = colors[7:9]
        np.testing.assert_allclose(buffer.read().color, model[:298], atol=1e-7)
        out = Light(position=np.zeros((298, 3)), color=np.zeros((298, 4), "f4"), normals=np.zeros((298, 2, 4), "f4"))
        assert buffer.read(out=out) is out
        np.testing.assert_allclose(out.color, model[:298], atol=1e-7)
        stored = buffer.read(
            out=Light(position=np.zeros((298, 3)), color=np.zeros((298, 4), "u1"), normals=np.zeros((298, 2, 4), "i1"))
        )
        assert np.array_equal(stored.color, np.rint(model[:298] * 255))


def test_a_number_out_of_range_writes_nothing(device: Any) -> None:
    made, _ = lights(40)
    buffer = RecordBuffer(device, Light, data=made)
    before = bytes(device.queue.read_buffer(buffer.buffer))
    bad = np.full((40, 4), 0.5)
    bad[33, 2] = np.nan
    wrong = Light(position=np.ones((40, 3)), color=bad, normals=np.zeros((40, 2, 4)))
    for options in ({}, {"where": np.arange(40)[::-1]}, {"start": 0}):
        with pytest.raises(
            SourceError, match=r"unorm8 holds numbers from 0 to 1 \(current: nan\) - at Light\.color\[33, 2\]"
        ):
            buffer.write(wrong, **options)
    assert bytes(device.queue.read_buffer(buffer.buffer)) == before


@by_format
def test_verify_sees_the_offsets_that_the_device_sees(
    device: Any, made: Any, name: str, rows: int, stored: str, one: int
) -> None:
    verify(structs(made), device)
