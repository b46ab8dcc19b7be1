"""What we pack is what a vertex shader reads: every format drawn into a target of numbers, and index data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import wgpu

from gpustruct import LayoutError, batch, pack, vertex
from gpustruct.formats import FORMATS
from gpustruct.gpu import RecordBuffer, verify
from gpustruct.types import make_struct
from gpustruct.vertex import Vertex, float32x3, uint16, uint32

# The shader's type for each kind of format: its scalar, the target that holds four of them, its dtype in numpy.
KINDS = {"f": ("f32", "rgba32float", "f4"), "u": ("u32", "rgba32uint", "u4"), "i": ("i32", "rgba32sint", "i4")}
WIDTH = 256
# The largest integer of each normalized scalar, and the smallest number that it stands for.
NORMALIZED = {"unorm8": (255, 0), "snorm8": (127, -1), "unorm16": (65535, 0), "snorm16": (32767, -1)}


def kind_of(name: str) -> str:
    return "u" if name.startswith("uint") else "i" if name.startswith("sint") else "f"


# Mesa 22.3's llvmpipe ends the process when it fetches the first of these, and wgpu-py 0.32 has no name for the second:
# the shader gets the word, and unpacks it.
UNPACKED = {
    "unorm8x4-bgra": "unpack4x8unorm(v).zyxw",
    "unorm10-10-10-2": "vec4f(vec4u(v, v >> 10, v >> 20, v >> 30) & vec4u(1023, 1023, 1023, 3)) / vec4f(1023, 1023, 1023, 3)",
}


def as_words(layout: Any, name: str) -> Any:
    rows = [row | {"format": "uint32" if row["format"] == name else row["format"]} for row in layout["attributes"]]
    return layout | {"attributes": rows}


def draw(device: Any, layouts: list[Any], buffers: list[Any], name: str, rows: int, count: int, instances: int = 1,
         index: tuple[Any, str, int] | None = None) -> np.ndarray:  # fmt: skip
    """What the shader reads at location 0, one texel a vertex; `index` is (buffer, format, number of indices)."""
    scalar, target, dtype = KINDS[kind_of(name)]
    kind = scalar if rows == 1 else f"vec{rows}<{scalar}>"
    value = UNPACKED.get(name, "")
    if value:
        layouts = [as_words(row, name) for row in layouts]
        kind = "u32"
    zeros = ", ".join([*(f"v{'' if rows == 1 else f'[{k}]'}" for k in range(rows)), *[f"{scalar}(0)"] * (4 - rows)])
    text = f"""
struct Out {{ @builtin(position) at: vec4f, @location(0) @interpolate(flat) value: vec4<{scalar}> }}
@vertex fn vs(@location(0) v: {kind}, @builtin(vertex_index) i: u32) -> Out {{
    let x = (f32(i) + 0.5) / {WIDTH}.0 * 2.0 - 1.0;
    return Out(vec4f(x, 0.0, 0.0, 1.0), {value or f"vec4<{scalar}>({zeros})"});
}}
@fragment fn fs(o: Out) -> @location(0) vec4<{scalar}> {{ return o.value; }}
"""
    module = device.create_shader_module(code=text)
    pipeline = device.create_render_pipeline(
        layout="auto",
        vertex={"module": module, "entry_point": "vs", "buffers": layouts},
        primitive={"topology": "point-list"},
        fragment={"module": module, "entry_point": "fs", "targets": [{"format": target}]},
    )
    usage = wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC
    texture = device.create_texture(size=(WIDTH, 1, 1), format=target, usage=usage)
    encoder = device.create_command_encoder()
    attachment = {"view": texture.create_view(), "load_op": "clear", "store_op": "store", "clear_value": (0, 0, 0, 0)}
    render = encoder.begin_render_pass(color_attachments=[attachment])
    render.set_pipeline(pipeline)
    for slot, buffer in enumerate(buffers):
        render.set_vertex_buffer(slot, buffer)
    if index is None:
        render.draw(count, instances)
    else:
        render.set_index_buffer(index[0], index[1])
        render.draw_indexed(index[2])
    render.end()
    device.queue.submit([encoder.finish()])
    data = device.queue.read_texture(
        {"texture": texture}, {"bytes_per_row": WIDTH * 16, "rows_per_image": 1}, (WIDTH, 1, 1)
    )
    return np.frombuffer(data, dtype).reshape(WIDTH, 4)[:count, :rows]


def samples(name: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A column with the extremes of a format, and what a shader must read of it, by the specification's formulas."""
    rng, n = np.random.default_rng(len(name)), WIDTH
    base = name.replace("-", "_").partition("x")[0]
    if base in NORMALIZED or "_" in name or "-" in name:
        scales, low = NORMALIZED.get(base, (255 if "bgra" in name else np.array([1023, 1023, 1023, 3]), 0))
        values = rng.uniform(low, 1, (n, rows))
        ties = (np.arange(low * 127, 127)[:, None] + 0.5) / scales
        values[: len(ties)] = np.minimum(ties, 1)
        values[-4:] = [[low], [1], [0], [0.5]]
        return values, np.maximum(np.rint(values * scales) / scales, low).astype("f4")
    if base.startswith("float"):
        dtype = "f2" if base == "float16" else "f4"
        info = np.finfo(dtype)
        values = rng.normal(size=(n, rows))
        # The extremes, and the halves between two numbers.
        first = [info.max, info.min, info.smallest_normal, 0, -0.0, 1 + info.eps / 2, 1 + 1.5 * info.eps]
        values[: len(first)] = np.reshape(first, (-1, 1))
        return values, values.astype(dtype).astype("f4")
    bits = int(base[4:])
    info = np.iinfo(f"{base[0]}{bits // 8}".replace("s", "i"))
    values = rng.integers(info.min, info.max, (n, rows), dtype=np.int64, endpoint=True)
    values[:3] = [[info.min], [info.max], [0]]
    return values, values.astype(KINDS[kind_of(name)][2])


def assert_read(got: np.ndarray, want: np.ndarray, name: str) -> None:
    """Equal; of normalized formats to a hundredth of the smallest step: a device may multiply where we divide."""
    if "norm" in name:
        np.testing.assert_allclose(got, want, rtol=0, atol=1.5e-7)
    else:
        assert np.array_equal(got, want)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_shader_reads_each_format(device: Any, name: str) -> None:
    made = FORMATS[name]
    rows = made.__layout__.rows
    # After a member of one byte, so that its offset is not 0, and before one that moves the next record.
    V = make_struct("V", {"before": vertex.uint8, "value": made, "after": float32x3}, base=Vertex)
    column, want = samples(name, rows)
    records = batch(
        V,
        {
            "before": np.arange(len(column)) % 256,
            "value": column if rows > 1 else column[:, 0],
            "after": np.ones((len(column), 3)),
        },
    )
    buffer = RecordBuffer(device, V, usage="VERTEX", data=records)
    layout = vertex.layout(V, locations={"before": 5, "value": 0, "after": 7})
    got = draw(device, [layout], [buffer.buffer], name, rows, len(column))
    assert_read(got, want, name)
    assert np.array_equal(np.reshape(buffer.read().value, want.shape).astype(want.dtype), want)


@pytest.mark.parametrize("own", ["unorm8x4", "snorm8x2", "unorm16x4", "snorm16", "unorm8x4-bgra", "unorm10-10-10-2"])
def test_integers_of_the_formats_own_width_are_read_as_they_are(device: Any, own: str) -> None:
    made = FORMATS[own]
    rows, base = made.__layout__.rows, own.partition("x")[0]
    if base in NORMALIZED and "-" not in own:
        dtype = ("u" if base[0] == "u" else "i") + str(int(base[5:]) // 8)
        info = np.iinfo(dtype)
        integers = np.random.default_rng(1).integers(info.min, info.max, (WIDTH, rows), endpoint=True).astype(dtype)
        integers[:2] = [[info.min], [info.max]]
        want = np.maximum(integers.astype("f8") / NORMALIZED[base][0], -1).astype("f4")
    else:
        integers = np.random.default_rng(1).integers(0, 2**32, WIDTH, dtype=np.uint32)
        shifts, scales = ([16, 8, 0, 24], [255] * 4) if "bgra" in own else ([0, 10, 20, 30], [1023, 1023, 1023, 3])
        want = (((integers[:, None] >> np.array(shifts, "u4")) & np.array(scales, "u4")) / np.array(scales)).astype(
            "f4"
        )
    V = make_struct("V", {"value": made}, base=Vertex)
    records = V(value=integers[:, 0] if rows == 1 else integers)
    buffer = RecordBuffer(device, V, usage="VERTEX", data=records)
    got = draw(device, [vertex.layout(V)], [buffer.buffer], own, rows, WIDTH)
    assert_read(got, want, own)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 255, 256])
@pytest.mark.parametrize(("made", "dtype"), [(uint16, "u2"), (uint32, "u4")])
def test_index_buffers_of_any_length(device: Any, made: Any, dtype: str, count: int) -> None:
    V = make_struct("V", {"value": vertex.uint32}, base=Vertex)
    values = np.random.default_rng(3).integers(0, 2**32, WIDTH, dtype=np.uint32)
    vertices = RecordBuffer(device, V, usage="VERTEX", data=V(value=values))
    chosen = np.random.default_rng(count).permutation(WIDTH)[:count]
    indices = RecordBuffer(device, made, usage="INDEX", data=made(chosen))
    assert indices.buffer.size % 4 == 0 and indices.buffer.size >= count * np.dtype(dtype).itemsize
    assert np.asarray(indices.read()).tolist() == chosen.tolist()
    got = draw(
        device, [vertex.layout(V)], [vertices.buffer], "uint32", 1, WIDTH, index=(indices.buffer, made.__name__, count)
    )
    want = np.zeros(WIDTH, "u4")
    want[chosen] = values[chosen]
    assert got[:, 0].tolist() == want.tolist()
    assert pack(made(chosen)).view(dtype).tolist() == chosen.tolist()


@pytest.mark.parametrize("name", ["unorm16x4", "float32x3", "uint16"])
def test_verify_takes_no_vertex_data(device: Any, name: str) -> None:
    for made in (FORMATS[name], make_struct("V", {"value": FORMATS[name]}, base=Vertex)):
        with pytest.raises(LayoutError, match="verify takes host-shareable types"):
            verify(made, device)


def test_verify_takes_a_format_that_shaders_unpack_but_no_vertex_class(device: Any) -> None:
    verify(FORMATS["unorm8x4"], device)
    with pytest.raises(LayoutError, match="verify takes host-shareable types"):
        verify(make_struct("V", {"value": FORMATS["unorm8x4"]}, base=Vertex), device)
