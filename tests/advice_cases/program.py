"""The ways out of what a Program, its layouts and its bind groups refuse."""

from __future__ import annotations

from .case import Case

RUN = "@compute @workgroup_size(1) fn run() "
START = "from gpustruct.gpu import *\nimport wgpu\n"
TEXT = (
    "text = '''@group(0) @binding(0) var<uniform> time: vec4f; @group(0) @binding(1) var<storage, read_write> sums: array<f32>;\n"
    "@compute @workgroup_size(1) fn run() { sums[0] = time.x; }'''\n"
)
TIME = "time = RecordBuffer(device, vec4f, data=[[1, 2, 3, 4]], usage='UNIFORM')\nsums = RecordBuffer(device, f32, data=[1, 2])\n"
PROGRAM = START + TEXT + TIME + "program = Program(device, text@@)\n"
PLAIN = PROGRAM.replace("@@", "")
RAW = "b = device.create_buffer(size=1024, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.STORAGE)\n"
IMAGE = (
    START + "text = '''@group(0) @binding(0) var image: $; @group(0) @binding(1) var s: sampler;\n"
    "@compute @workgroup_size(1) fn run() { _ = textureDimensions(image); _ = s; }'''\nsampler = device.create_sampler()\n"
)
TEXTURE = "image = device.create_texture(size=(8, 8, 1), usage=$, format='rgba8unorm'@@)\nProgram(device, text).bind(image=image, s=sampler)"
SAMPLED = TEXTURE.replace("$", "wgpu.TextureUsage.TEXTURE_BINDING")
FLOAT = IMAGE.replace("$", "texture_2d<f32>")
FILTERED = FLOAT.replace("_ = s;", "_ = textureSampleLevel(image, s, vec2f(), 0);").replace(
    "textureDimensions(image)", "1"
)
DYNAMIC = (
    START + TEXT + "time = RecordBuffer(device, vec4f, data=np.zeros((3, 4)), usage='UNIFORM', dynamic_offsets=True)\n"
    "sums = RecordBuffer(device, f32, data=[1, 2])\ngroups = Program(device, text, dynamic_offsets=['time']).bind(time=time, sums=sums)\n"
    "run = device.create_command_encoder().begin_compute_pass()\n"
)

PROGRAMS = [
    Case("BindingError entry-point", PLAIN + "program.compute_pipeline(@@)", "'rum'", r"did you mean ('run')"),
    Case(
        "BindingError entry-point",
        PLAIN + "program.interface.bind_group_layouts(@@)",
        "'draw'",
        r"use one of (run)",
        "'@@'",
    ),
    Case(
        "BindingError binding-shared",
        "wgsl.parse('''@group(0) @binding(0) var<uniform> a: f32; @group(0) @binding(0) var<uniform> b: f32;\n@compute @workgroup_size(1) fn f() { _ = a; } @compute @workgroup_size(1) fn g() { _ = b; }''').bind_group_layouts(@@)",
        "",
        "name those of one pipeline",
        "'f'",
    ),
    Case(
        "BindingError layout-option",
        PROGRAM,
        ", dynamic_offsets=['tiem']",
        r"did you mean ('time')",
        ", dynamic_offsets=[@@]",
    ),
    Case("BindingError layout-option", PROGRAM, ", filterable={'time': True}", "leave filterable out", ""),
    Case(
        "BindingError layout-kind",
        "wgsl.parse('''@group(0) @binding(0) var a: @@; @compute @workgroup_size(1) fn f() { _ = textureDimensions(a[0]); }''', target='naga').bind_group_layouts()",
        "binding_array<texture_2d<f32>, 4>",
        "declare a variable for each resource",
        "texture_2d<f32>",
    ),
    Case("BindingError bind-missing", PLAIN + "program.bind(time=time@@)", "", r"pass (sums=)\.\.\.", ", @@sums"),
    Case(
        "BindingError bind-unknown",
        PLAIN + "program.bind(time=time, sums=sums@@)",
        ", other=3",
        "leave it out|use one of",
        "",
    ),
    Case("BindingError bind-unknown", PLAIN + "program.bind(time=time, @@=sums)", "sms", r"did you mean '(sums)'"),
    Case("BindingError bind-kind", PLAIN + "program.bind(time=time, sums=@@)", "3", "pass a RecordBuffer", "sums"),
    Case(
        "BindingError bind-kind",
        FLOAT
        + "image = device.create_texture(size=(8, 8, 1), usage=wgpu.TextureUsage.TEXTURE_BINDING, format='rgba8unorm')\nProgram(device, text).bind(image=image, s=@@)",
        "3",
        r"pass (device\.create_sampler\(\))",
    ),
    Case(
        "BindingError bind-type",
        PLAIN + "interface = program.interface\nprogram.bind(time=time, sums=RecordBuffer(device, @@, 4, count=4))",
        "vec2f",
        r"of (program\.interface\.\S+\.type)",
    ),
    Case(
        "BindingError bind-differs",
        START
        + "class P(Struct):\n    @@: f32\nr = RecordBuffer(device, P, data=[{'@@': 1}])\nProgram(device, 'struct P { mass: f32 } @group(0) @binding(0) var<storage, read_write> p: array<P>; @compute @workgroup_size(1) fn f() { _ = &p; }').bind(p=r)",
        "weight",
        "change one side",
        "mass",
    ),
    Case(
        "BindingError bind-foreign",
        PLAIN + "program.bind(time=time, sums=@@.create_buffer(size=64, usage=wgpu.BufferUsage.STORAGE))",
        "other()",
        "of that device",
        "device",
    ),
    Case(
        "BindingError bind-usage",
        PLAIN + "b = device.create_buffer(size=64, usage=wgpu.BufferUsage.COPY_DST@@)\nprogram.bind(time=time, sums=b)",
        "",
        r"with (wgpu\.BufferUsage\.\w+) among",
        " | @@",
    ),
    Case(
        "BindingError bind-usage",
        FLOAT + TEXTURE.replace("$", "wgpu.TextureUsage.COPY_DST@@").replace("'@@)", "')"),
        "",
        r"with (wgpu\.TextureUsage\.\w+) among",
        " | @@",
    ),
    Case(
        "BindingError bind-small",
        PLAIN + RAW + "program.bind(sums=sums, time={'buffer': b, 'size': @@})",
        "8",
        r"bind (\d+) bytes",
    ),
    Case(
        "BindingError bind-end",
        PLAIN + RAW + "program.bind(sums=sums, time={'buffer': b, 'size': @@})",
        "2048",
        "bind fewer bytes",
        "64",
    ),
    Case(
        "BindingError bind-words",
        PLAIN + RAW + "program.bind(time=time, sums={'buffer': b, 'size': @@})",
        "18",
        r"bind (\d+) bytes",
    ),
    Case(
        "BindingError bind-dynamic",
        START
        + TEXT
        + TIME
        + "time = RecordBuffer(device, vec4f, data=[[1, 2, 3, 4]], usage='UNIFORM'@@)\nProgram(device, text, dynamic_offsets=['time']).bind(time=time, sums=sums)",
        "",
        r"with (dynamic_offsets=True)",
        ", @@",
    ),
    Case(
        "BindingError bind-format",
        IMAGE.replace("$", "texture_storage_2d<rgba8unorm, write>")
        + TEXTURE.replace("$", "wgpu.TextureUsage.STORAGE_BINDING").replace("format='rgba8unorm'@@", "@@"),
        "format='rgba8snorm'",
        r"with (format='\w+')",
    ),
    Case(
        "BindingError bind-samples",
        IMAGE.replace("$", "texture_multisampled_2d<f32>")
        + SAMPLED.replace("TEXTURE_BINDING", "TEXTURE_BINDING | wgpu.TextureUsage.RENDER_ATTACHMENT"),
        "",
        r"with (sample_count=4)",
        ", @@",
    ),
    Case(
        "BindingError bind-sample-type",
        IMAGE.replace("$", "texture_2d<u32>") + SAMPLED.replace("'rgba8unorm'@@", "@@"),
        "'rgba8unorm'",
        r"such as ('\w+'),",
    ),
    Case(
        "BindingError bind-unfilterable",
        FILTERED + SAMPLED.replace("rgba8unorm'@@", "r32float'").replace("text)", "text@@)"),
        "",
        r"with (filterable=\{.+?\})",
        ", @@",
    ),
    Case(
        "BindingError bind-dimension",
        IMAGE.replace("$", "texture_3d<f32>") + SAMPLED,
        "",
        "in that dimension",
        ", dimension='3d'",
    ),
    Case(
        "BindingError bind-refused",
        FLOAT
        + "image = device.create_texture(size=(8, 8, 1), usage=wgpu.TextureUsage.TEXTURE_BINDING, format='rgba8unorm')\nProgram(device, text).bind(image=image, s=@@)",
        "device.create_sampler(compare='less')",
        r"pass (device\.create_sampler\(\))",
    ),
    Case(
        "BindingError bind-twice",
        START
        + "a, b = (RecordBuffer(device, f32, data=[1, 2]) for _ in '12')\nProgram(device, '''@group(0) @binding(0) var<storage> a: array<f32>; @group(0) @binding(1) var<storage, read_write> b: array<f32>;\n@compute @workgroup_size(1) fn f() { b[0] = a[0]; }''').bind(a=@@, b=b)",
        "b",
        "bind another buffer",
        "a",
    ),
    Case(
        "BindingError bind-name",
        PLAIN + "program.bind({@@: time, 'sums': sums})",
        "0",
        "the name of a variable",
        "'time'",
    ),
    Case("BindingError bind-mapping", PLAIN + "program.bind(@@)", "[time, sums]", "keywords", "time=time, sums=sums"),
    Case(
        "BindingError bind-mapping", PLAIN + "program.bind(@@)", "time", "a dictionary", "{'time': time, 'sums': sums}"
    ),
    Case(
        "BindingError bind-both",
        PLAIN + "program.bind({'time': time@@}, sums=sums)",
        ", 'sums': sums",
        "leave one of them out",
        "",
    ),
    Case(
        "BindingError bind-destroyed",
        PLAIN + RAW + "groups = program.bind(time=b, sums=sums)\nb.destroy()\n@@program.bind(time=b, sums=sums)",
        "",
        "create it again",
        RAW,
    ),
    Case(
        "BindingError pass-type",
        PLAIN + "encoder = device.create_command_encoder()\nprogram.bind(time=time, sums=sums).set(@@)",
        "encoder",
        r"pass (encoder\.begin_compute_pass\(\))",
    ),
    Case(
        "BindingError bind-offset",
        PLAIN + RAW + "program.bind(sums=sums, time={'buffer': b, 'offset': @@})",
        "8",
        r"use (\d+)",
    ),
    Case(
        "BindingError bind-kind",
        PLAIN + "batch = f32([1, 2])\nprogram.bind(time=time, sums=@@)",
        "batch",
        r"pass (RecordBuffer\(.+?\))",
    ),
    Case("BindingError offsets-missing", DYNAMIC + "groups.set(run@@)", "", r"pass (time=0)", ", @@"),
    Case(
        "BindingError offsets-unknown", DYNAMIC + "groups.set(run, time=0@@)", ", sums=0", "leave it out|use one of", ""
    ),
    Case(
        "BindingError offsets-value",
        DYNAMIC + "groups.set(run, time=@@)",
        "3",
        r"from (offsets\(\)) of",
        "time.offsets()[1]",
    ),
    Case(
        "BindingError overrides-missing",
        START + "Program(device, 'override n: u32; @compute @workgroup_size(n) fn f() {}'@@).compute_pipeline()",
        "",
        r"pass (overrides=\S+ 1\})",
        ", @@",
    ),
    Case(
        "BindingError program-stage",
        START + "Program(device, '@fragment fn f() {} @compute @workgroup_size(1) fn g() {}').@@",
        "compute_pipeline('f')",
        r"use (program\.stage\('f'\))|or (compute_pipeline\('g'\))",
        "compute_pipeline('g')",
    ),
    Case(
        "BindingError program-name",
        START + "Program(device, '@compute @workgroup_size(1) fn f() {} @compute @workgroup_size(1) fn g() {}').@@",
        "compute_pipeline()",
        r"its name: (compute_pipeline\('f'\))",
    ),
    Case(
        "BindingError groups-missing",
        START + "program = Program(device, '@compute @workgroup_size(1) fn f() {}')\n@@",
        "program.bind_group(0)",
        "leave the bind groups out",
        "",
    ),
    Case(
        "BindingError layout-refused",
        START
        + "Program(device, ''.join(f'@group(0) @binding({i}) var<uniform> u{i}: f32;' for i in range(@@)) + '@compute @workgroup_size(1) fn f() {' + ''.join(f'_ = u{i};' for i in range(@@)) + '}')",
        "1100",
        "use fewer bindings",
        "4",
    ),
    Case(
        "BindingError pipeline-refused",
        START + "Program(device, 'override n: u32 = @@; @compute @workgroup_size(n) fn f() {}').compute_pipeline()",
        "60000",
        "correct the shader",
        "64",
    ),
    Case(
        "WgslError device-refused",
        START + "Program(device, '@compute @workgroup_size(1) fn f() { @@ }')",
        "let x: i32 = 1.5;",
        "correct the text",
        "let x: f32 = 1.5;",
    ),
]
