"""The ways out of BindingError, and of what a buffer refuses as a source."""

from __future__ import annotations

from .case import Case, struct

START = "from gpustruct.gpu import *\nimport wgpu\n"
TAIL = START + struct("count: u32", "values: array[f32]", head="class T(Struct):")
FULL = START + "r = RecordBuffer(device, f32, 4)\nr.write(f32(np.ones(4)))\n"
DYNAMIC = START + "r = RecordBuffer(device, vec4f, 4, usage='UNIFORM'@@)\nr.write(vec4f(np.ones((4, 4))))\n"
PAIR = START + struct("a: f32", "b: f32", head="class P(Struct):") + "r = RecordBuffer(device, P, 4)\n"
RAW = START + "b = device.create_buffer(size=@@, usage=wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC)\n"
FRAME = START + "r = RecordBuffer(device, f16, 4, count=4, usage='VERTEX')\nwith Uploader.of(device).frame():\n"

GPU = [
    Case("BindingError length-representable", "layout_of(array[f16]).binding_size(@@)", "7", r"bind (\d+) records"),
    Case("BindingError length-representable", struct("h: f16", "v: array[f16]", tail="layout_of(S).binding_size(@@)"), "2", r"bind (\d+) records"),
    Case("BindingError length-representable", struct("h: vec4f", "v: array[f32]", tail="layout_of(S).binding_size(@@)"), "3", r"bind (\d+) records"),
    *(Case("BindingError length-value", "layout_of(array[f32]).binding_size(@@)", wrong, "bind at least one record", "1") for wrong in ("0", "-1", "1.5", "True", "'3'")),
    Case("BindingError device-type", START + "RecordBuffer(@@, f32, 4)", "3", r"pass (device) = "),
    Case("BindingError device-type", START + "RecordBuffer(@@, f32, 4)", "None", r"device = (wgpu\.\S+\(\)),"),
    Case("BindingError device-type", START + "RecordBuffer(@@, f32, 4)", "wgpu", r"or (device\.queue)"),
    Case("BindingError buffer-empty", START + "r = RecordBuffer(device, f32, 4@@)\nr.binding()", "", r"with (count=\d+)", ", @@"),
    Case("BindingError buffer-empty", START + "r = RecordBuffer(device, f32, 4)\n@@\nr.binding()", "", r"set its (count = \d+)", "r.@@"),
    Case("BindingError buffer-empty", START + "batch = f32(np.ones(4))\nr = RecordBuffer(device, f32, 4@@)\nr.binding()", "", r"with (data=batch)", ", @@"),
    Case("BindingError buffer-empty", START + "r = RecordBuffer(device, f32, 4)\n@@\nr.binding()", "", "write some first", "r.write(f32([1]))"),
    Case("BindingError whole", START + "RecordBuffer(device, f32, @@)", "0", r"pass (\d+) or more|leave it out", "1"),
    Case("BindingError whole", FULL + "r.resize(@@)", "-2", r"pass (\d+) or more"),
    Case("BindingError whole", FULL + "r.resize(@@)", "1.5", r"pass (\d+) or more"),
    Case("BindingError usage-value", START + "RecordBuffer(device, f32, 4, usage=@@)", "'storag'", "use (.+)"),
    Case("BindingError usage-value", START + "RecordBuffer(device, f32, 4, usage=@@)", "wgpu.BufferUsage.MAP_READ", "use (.+)"),
    Case("BindingError usage-value", START + "RecordBuffer(device, f32, 4, usage=@@)", "None", "use (.+)"),
    Case("BindingError capacity", FULL + "@@r.write(f32(np.ones(9)))", "", r"call (resize\(\d+\))", "r.@@; "),
    Case("BindingError capacity", FULL + "@@r.append(f32(np.ones(2)))", "", r"call (resize\(\d+\))", "r.@@; "),
    Case("BindingError capacity", FULL + "r.write(f32(np.ones(@@)))", "9", "or write fewer", "3"),
    Case("BindingError data-count", START + "RecordBuffer(device, f32, data=f32(np.ones(4))@@)", ", count=2", "leave count out", ""),
    Case("BindingError where-range", FULL + "r.write(f32([1, 2]), where=[1, @@])", "9", "leave those records out", "3"),
    Case("BindingError where-range", FULL + "@@r.write(f32([1, 2]), where=[1, 9])", "", "call resize", "r.resize(10); "),
    Case("BindingError header-missing", PAIR + "batch = P(a=[1], b=2)\nr.@@", "write_header({'a': 1})", r"use (write\(batch\))"),
    Case("BindingError dynamic-runtime", TAIL + "RecordBuffer(device, T, 4@@)", ", dynamic_offsets=True", "leave it out", ""),
    Case("BindingError dynamic-missing", DYNAMIC + "r.offsets()", "", "with (dynamic_offsets=True)", ", @@"),
    Case("BindingError shard-runtime", TAIL + "ShardedBuffer([device], @@, 4)", "T", "shard the elements' type", "f32"),
    Case("BindingError shard-capacity", START + "ShardedBuffer([device], f32, @@).write(f32(np.ones(9)))", "4", r"ShardedBuffer of (\d+) records"),
    Case("BindingError shard-count", START + "ShardedBuffer([device], f32, 4@@)", ", count=2", "leave it out", ""),
    Case("BindingError shard-count", START + "batch = f32(np.ones(4))\nShardedBuffer([device], f32, 4, @@)", "count=2", "pass (data=batch)"),
    Case("BindingError dispatch", START + "r = RecordBuffer(device, f32, 4)\nfrom gpustruct.gpu import devices\ndevices.dispatch(device, (1 << 40) // @@)", "1", "a larger workgroup_size", "1024"),
    Case("BindingError buffer-foreign", START + "RecordBuffer(device, f32, 4, uploader=Uploader(@@))", "other()", "of the same device", "device"),
    Case("BindingError buffer-foreign", RAW.replace("@@", "16") + "write_buffer(@@, b, f32([1]))", "other()", "of the same device", "device"),
    Case("BindingError buffer-mapped", RAW.replace("size=@@", "size=16, mapped_at_creation=True") + "@@\nbuffer = b\nwrite_buffer(device, b, f32([1]))", "", r"call (buffer\.unmap\(\))", "buffer = b; @@"),
    Case("BindingError buffer-type", START + "particles = RecordBuffer(device, f32, 4)\nwrite_buffer(device, @@, f32([1]))", "3", "pass the (buffer) of a RecordBuffer", "particles.@@"),
    Case("BindingError buffer-usage", START + "b = device.create_buffer(size=16, usage=wgpu.BufferUsage.STORAGE@@)\nwrite_buffer(device, b, f32([1]))", "", r"with (wgpu\.BufferUsage\.\w+) among", " | @@"),
    Case("BindingError buffer-usage", START + "b = device.create_buffer(size=16, usage=wgpu.BufferUsage.COPY_DST@@)\nread_buffer(device, b, f32)", "", r"with (wgpu\.BufferUsage\.\w+) among", " | @@"),
    Case("BindingError buffer-small", RAW + "write_buffer(device, b, f32(np.ones(9)))", "16", r"a buffer of (\d+) bytes"),
    Case("BindingError buffer-small", RAW + "write_buffer(device, b, vec4f(np.ones((9, 4))), 64)", "64", r"a buffer of (\d+) bytes"),
    Case("BindingError buffer-offset", RAW.replace("@@", "64") + "write_buffer(device, b, f32([1]), @@)", "3", r"use (\d+)"),
    Case("BindingError limit", START + struct("v: array[vec4f, @@]", head="class A(Struct):", tail="RecordBuffer(device, A, usage='UNIFORM', count=1).binding()"), "50_000", ".", "500"),
    Case("BindingError limit", START + "RecordBuffer(device, vec4f, @@)", "1 << 34", ".", "4"),
    Case("BindingError device-lost", FULL + "r.buffer.destroy()\n@@r.write(f32([1]))", "", "make new ones", "r = RecordBuffer(device, f32, 4)\n"),
    Case("BindingError encoder-words", START + "r = RecordBuffer(device, f16, 4)\nr.write(f16(np.ones(@@)), encoder=device.create_command_encoder())", "3", "write an even number of records", "2"),
    Case("BindingError encoder-words", START + "r = RecordBuffer(device, f16, 4)\nr.write(f16(np.ones(3))@@)", ", encoder=device.create_command_encoder()", "or leave encoder out", ""),
    Case("BindingError frame-read", FRAME + "    r.write(f16([1, 2, 3]))\n    r.read()", "", "read it after the with block ends", fixed=FRAME + "    r.write(f16([1, 2, 3]))\nr.read()"),
    Case("BindingError frame-words", FRAME + "    r.resize(9)\n    r.write(f16([1]))", "", "write them after the with block ends", fixed=FRAME + "    r.resize(9)\nr.write(f16([1]))"),
    # Sources.
    Case("SourceError record-type", PAIR + "r.write(@@)", "f32([1])", "a batch or a view of that type", "P(a=[1], b=2)"),
    Case("SourceError record-type", PAIR + "r.write(@@)", "3", "a mapping of its columns", "{'a': [1], 'b': 2}"),
    Case("SourceError record-type", PAIR + "r.write(@@)", "object()", "a list of its records", "[{'a': 1, 'b': 2}]"),
    Case("SourceError type-instance", START + "RecordBuffer(device, @@, 4)", "f32([1])", "pass (f32) itself"),
    Case("SourceError where-batch", FULL + "r.write(f32(np.ones(@@)), where=[0, 1])", "3", "one record for each index", "2"),
    Case("SourceError where-batch", FULL + "r.write(f32(np.ones(@@)), where=np.array([True, False, True, False]))", "3", "one for each entry of the mask", "4"),
    Case("SourceError where-type", FULL + "r.write(f32([1, 2]), where=@@)", "[0.5, 1]", "use np.flatnonzero", "np.flatnonzero([1, 1, 0, 0])"),
    Case("SourceError where-type", FULL + "start, stop = 1, 3\nr.write(f32([1, 2]), where=@@)", "'a'", r"or (slice\(start, stop\))"),
    Case("SourceError where-start", FULL + "r.write(f32([1, 2]), @@)", "start=1, where=np.array([0, 1])", "add start to the indices", "where=1 + np.array([0, 1])"),
    Case("SourceError header-columns", TAIL + "r = RecordBuffer(device, T, 4)\nr.write_header(@@)", "3", "a mapping of (count)", "{'@@': 3}"),
    Case("SourceError shard-shape", START + "ShardedBuffer([device], f32, 4).write(f32(np.ones(@@)))", "(2, 2)", "one leading dimension", "4"),
]  # fmt: skip

GPU_NOTHING: dict[str, str] = {
    "BindingError device-silent": "a shader that never ends must be ended; its test is in tests/gpu/test_interrupts.py",
    "BindingError adapter-missing": "what to install or set differs by system; tests/gpu has none without an adapter",
    "BindingError device-feature": "a device without f16 where the adapter has it: tests/gpu/test_records.py follows the advice",
    "BindingError package-unknown": "the environment of a process; its test is in tests/gpu/test_backend.py",
    "BindingError adapter-feature": "needs an adapter without f16",
}
