"""The shader owns the struct: Python reads it, is told when its own class differs, and follows an edit.

Frame 0 shows the shader as it is. Halfway its text is edited, as a person would in an editor: the struct gains a
member, `program.reload` compiles the new text, and the records are packed in the new layout.

    python examples/from_wgsl.py
    python examples/from_wgsl.py --save from_wgsl.png
"""

from __future__ import annotations

import numpy as np
import window

from gpustruct import Struct, WgslError, f32, vec3f, wgsl
from gpustruct.gpu import Program, RecordBuffer

SHADER = """
struct Petal { angle: f32, color: vec3f, reach: f32 }

@group(0) @binding(0) var<storage, read> petals: array<Petal>;

struct Corner { @builtin(position) position: vec4f, @location(0) color: vec3f }

fn bent(petal: Petal, along: f32) -> f32 { return petal.angle; }

@vertex fn corner(@builtin(vertex_index) i: u32, @builtin(instance_index) n: u32) -> Corner {
    let petal = petals[n];
    let along = f32(i / 2u) / 31.0;
    let across = (f32(i % 2u) - 0.5) * 0.16 * sin(along * 3.0);
    let angle = bent(petal, along);
    let out = vec2f(cos(angle), sin(angle));
    let p = out * along * petal.reach + vec2f(-out.y, out.x) * across;
    return Corner(vec4f(p * vec2f(0.625, 1.0), 0.0, 1.0), petal.color * (0.1 + 0.9 * along));
}

@fragment fn paint(corner: Corner) -> @location(0) vec4f { return vec4f(corner.color * 0.7, 1.0); }
"""

EDITED = SHADER.replace("reach: f32 }", "reach: f32, twist: f32 }").replace(
    "return petal.angle;", "return petal.angle + petal.twist * along * along;"
)


class Petal(Struct):
    """What someone wrote by hand, without thinking of the shader: reach and color are the wrong way round."""

    angle: f32
    reach: f32
    color: vec3f


def columns(count: int) -> dict[str, np.ndarray]:
    """Everything that any version of the shader asks for, by name."""
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    color = 0.5 + 0.5 * np.cos(angle[:, None] + np.array([0, 2.1, 4.2]))
    return {"angle": angle, "color": color, "reach": 0.75 + 0.2 * np.cos(5 * angle), "twist": np.full(count, 1.2)}


def petals(device: object, text: str, count: int) -> RecordBuffer:
    """The records as this text lays them out: the class comes from the shader."""
    found = wgsl.parse(text).structs["Petal"]
    names = found.__annotations__
    return RecordBuffer(device, found, data={k: v for k, v in columns(count).items() if k in names})


def main() -> None:
    options = window.arguments(__doc__, count=60, frames=120)
    try:
        wgsl.check(Petal, SHADER)
    except WgslError as drift:
        print(drift)

    screen = window.Window(options)
    device = screen.device
    program = Program(device, SHADER)
    pipeline = screen.pipeline(program, "corner", "paint", glow=True)
    groups = program.bind(petals=petals(device, SHADER, options.count))

    def draw(target: object, frame: int) -> None:
        nonlocal pipeline, groups
        if frame == options.frames // 2:
            program.reload(EDITED)
            pipeline = screen.pipeline(program, "corner", "paint", glow=True)
            groups = program.bind(petals=petals(device, EDITED, options.count))
        encoder = device.create_command_encoder()
        window.paint(encoder, target, pipeline, groups, 64, options.count)
        device.queue.submit([encoder.finish()])

    screen.run(draw)


if __name__ == "__main__":
    main()
