"""Random Vertex classes, packed by us and read by a vertex shader: every member of every record, one texel each.

GPUSTRUCT_VERTEX_CLASSES=2000 tries that many classes instead of 200.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import wgpu

import vertex_reference as reference
from gpustruct import array, batch, vertex
from gpustruct.formats import FORMATS
from gpustruct.gpu import RecordBuffer
from gpustruct.types import make_struct
from gpustruct.vertex import Vertex

CLASSES = int(os.environ.get("GPUSTRUCT_VERTEX_CLASSES", "200"))
RECORDS = 16
# Mesa 22.3's llvmpipe cannot fetch the first of these and wgpu-py 0.32 has no name for the second: the shader unpacks them.
UNPACKED = {
    "unorm8x4-bgra": "unpack4x8unorm({v}).zyxw",
    "unorm10-10-10-2": "vec4f(vec4u({v}, {v} >> 10, {v} >> 20, {v} >> 30) & vec4u(1023, 1023, 1023, 3))"
    " / vec4f(1023, 1023, 1023, 3)",
}


def scalar_of(name: str) -> str:
    return "u32" if name.startswith("uint") else "i32" if name.startswith("sint") else "f32"


def shader(formats: list[str], instances: bool) -> str:
    """A vertex shader that puts attribute k of record i, as bits, at texel (i, k)."""
    inputs, cases = [], []
    for k, name in enumerate(formats):
        scalar, rows = ("u32", 1) if name in UNPACKED else (scalar_of(name), reference.read_name(name).rows)
        inputs.append(f"@location({k}) a{k}: {scalar if rows == 1 else f'vec{rows}<{scalar}>'}")
        parts = [f"a{k}" if rows == 1 else f"a{k}[{row}]" for row in range(rows)] + [f"{scalar}(0)"] * (4 - rows)
        value = UNPACKED[name].format(v=f"a{k}") if name in UNPACKED else f"vec4<{scalar}>({', '.join(parts)})"
        cases.append(f"case {k}u: {{ bits = bitcast<vec4u>({value}); }}")
    record, attribute = ("n", "i") if instances else ("i", "n")
    return f"""
struct Out {{ @builtin(position) at: vec4f, @location(0) @interpolate(flat) bits: vec4u }}
@vertex fn vs(@builtin(vertex_index) i: u32, @builtin(instance_index) n: u32, {", ".join(inputs)}) -> Out {{
    var bits = vec4u(0);
    switch {attribute} {{ {" ".join(cases)} default: {{}} }}
    let x = (f32({record}) + 0.5) / {RECORDS}.0 * 2.0 - 1.0;
    let y = 1.0 - (f32({attribute}) + 0.5) / {len(formats)}.0 * 2.0;
    return Out(vec4f(x, y, 0.0, 1.0), bits);
}}
@fragment fn fs(o: Out) -> @location(0) vec4u {{ return o.bits; }}
"""


def read_by_shader(device: Any, V: Any, formats: list[str], buffer: Any, instances: bool) -> np.ndarray:
    """The bits of every attribute, (attribute, record, 4)."""
    layout = vertex.layout(V, step_mode="instance" if instances else "vertex")
    for row in layout["attributes"]:
        row["format"] = "uint32" if row["format"] in UNPACKED else row["format"]
    module = device.create_shader_module(code=shader(formats, instances))
    pipeline = device.create_render_pipeline(
        layout="auto",
        vertex={"module": module, "entry_point": "vs", "buffers": [layout]},
        primitive={"topology": "point-list"},
        fragment={"module": module, "entry_point": "fs", "targets": [{"format": "rgba32uint"}]},
    )
    size = (RECORDS, len(formats), 1)
    usage = wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC
    texture = device.create_texture(size=size, format="rgba32uint", usage=usage)
    encoder = device.create_command_encoder()
    attachment = {"view": texture.create_view(), "load_op": "clear", "store_op": "store", "clear_value": (9, 9, 9, 9)}
    render = encoder.begin_render_pass(color_attachments=[attachment])
    render.set_pipeline(pipeline)
    render.set_vertex_buffer(0, buffer)
    render.draw(*((len(formats), RECORDS) if instances else (RECORDS, len(formats))))
    render.end()
    device.queue.submit([encoder.finish()])
    rows = {"bytes_per_row": RECORDS * 16, "rows_per_image": len(formats)}
    data = device.queue.read_texture({"texture": texture}, rows, size)
    return np.frombuffer(data, "u4").reshape(len(formats), RECORDS, 4)


@pytest.mark.parametrize("group", range(4))
def test_a_shader_reads_random_classes(device: Any, group: int) -> None:
    for seed in range(group, CLASSES, 4):
        rng = np.random.default_rng(seed)
        members = reference.random_members(rng)
        columns = reference.random_columns(rng, members, RECORDS)
        types = {m: FORMATS[name] if count is None else array[FORMATS[name], count] for m, name, count in members}
        V = make_struct("V", types, base=Vertex)
        formats = [name for _, name, count in members for _ in range(count or 1)]
        buffer = RecordBuffer(device, V, usage="VERTEX", data=batch(V, columns))
        instances = bool(seed % 2)
        bits = read_by_shader(device, V, formats, buffer.buffer, instances)

        places, stride = reference.offsets(members)
        want = reference.pack(members, columns, RECORDS)
        starts = [
            place + k * reference.read_name(name).size
            for (_, name, count), place in zip(members, places, strict=True)
            for k in range(count or 1)
        ]
        for k, (name, start) in enumerate(zip(formats, starts, strict=True)):
            form, scalar = reference.read_name(name), scalar_of(name)
            got = bits[k, :, : form.rows].copy().view({"u32": "u4", "i32": "i4", "f32": "f4"}[scalar])
            if instances and name.startswith("snorm"):
                # Mesa 22.3's llvmpipe reads -128 of instances as -128/127, of anyone's bytes; of vertices it clamps.
                got = np.maximum(got, -1)
            each = [want[at : at + form.size] for at in range(start, stride * RECORDS, stride)]
            read = np.array([reference.seen(name, data) for data in each], got.dtype)
            # A device may multiply by a reciprocal where we divide.
            apart = 1.5e-7 if "norm" in name else 0
            np.testing.assert_allclose(got, read, rtol=0, atol=apart, err_msg=f"seed {seed}, attribute {k}: {name}")
