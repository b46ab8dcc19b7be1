"""One uniform for the camera, and one for each cube at a dynamic offset.

The camera is a `view`: assigning to its members writes the bytes that are uploaded. The cubes are records of
one uniform buffer, as far apart as the device requires, and each draw call passes its own offset.

    python examples/uniforms.py
    python examples/uniforms.py --count 9 --save uniforms.png
"""

from __future__ import annotations

import numpy as np
import window

from gpustruct import Struct, mat4x4f, vec3f, vec4f, view, wgsl
from gpustruct.gpu import Program, RecordBuffer, Uploader


class Camera(Struct):
    matrix: mat4x4f
    light: vec3f


class Cube(Struct):
    matrix: mat4x4f
    color: vec4f


SHADER = (
    wgsl.declare(Camera, Cube)
    + """
@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<uniform> cube: Cube;

struct Corner { @builtin(position) position: vec4f, @location(0) color: vec3f }

@vertex fn corner(@builtin(vertex_index) i: u32) -> Corner {
    let face = i / 6u;
    let uv = vec2u(0x32u, 0x2cu) >> vec2u(i % 6u) & vec2u(1u);
    let side = f32(face & 1u) * 2.0 - 1.0;
    var p = vec3f((vec2f(uv) * 2.0 - 1.0) * vec2f(side, 1.0), side);
    var n = vec3f(0.0, 0.0, side);
    if face / 2u == 1u { p = p.zxy; n = n.zxy; }
    if face / 2u == 2u { p = p.yzx; n = n.yzx; }
    let normal = normalize((cube.matrix * vec4f(n, 0.0)).xyz);
    let shade = 0.15 + 0.85 * max(0.0, dot(normal, normalize(camera.light)));
    return Corner(camera.matrix * cube.matrix * vec4f(p, 1.0), cube.color.rgb * shade);
}

@fragment fn paint(corner: Corner) -> @location(0) vec4f { return vec4f(corner.color, 1.0); }
"""
)


def turned(angle: float, axis: int) -> np.ndarray:
    """A rotation, `[row, col]` as in mathematics."""
    matrix = np.eye(4)
    a, b = [i for i in range(3) if i != axis]
    matrix[[a, a, b, b], [a, b, a, b]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
    return matrix


def moved(x: float, y: float, z: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def perspective(near: float, far: float) -> np.ndarray:
    width, height = window.SIZE
    x, z = 1.8 * height / width, far / (near - far)
    return np.array([[x, 0, 0, 0], [0, 1.8, 0, 0], [0, 0, z, z * near], [0, 0, -1, 0]])


def cubes(count: int, time: float) -> Cube:
    """Cubes on a ring, each turned a little more than the one before."""
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    small = np.diag([0.32, 0.32, 0.32, 1])
    matrices = [turned(a, 1) @ moved(2, 0, 0) @ turned(time + 3 * a, 2) @ turned(time, 0) @ small for a in angles]
    hue = angles[:, None] + np.array([0, 2.1, 4.2])
    return Cube(matrix=np.stack(matrices), color=np.concatenate([0.5 + 0.45 * np.cos(hue), np.ones((count, 1))], 1))


def main() -> None:
    options = window.arguments(__doc__, count=12, frames=1)
    screen = window.Window(options)
    device = screen.device
    camera = view(Camera)
    camera.light = (1, 2, 3)
    cameras = RecordBuffer(device, Camera, usage="UNIFORM")
    models = RecordBuffer(device, Cube, options.count, usage="UNIFORM", dynamic_offsets=True)
    program = Program(device, SHADER, dynamic_offsets=["cube"])
    pipeline = screen.pipeline(program, "corner", "paint", topology="triangle-list", cull_mode="back")

    groups = program.bind(camera=cameras, cube=models)

    def draw(target: object, frame: int) -> None:
        eye = moved(0, 0, -5) @ turned(0.5, 0) @ turned(0.01 * frame, 1)
        camera.matrix = perspective(0.1, 20) @ eye
        ring = cubes(options.count, 0.02 * frame + 0.6)
        with Uploader.of(device).frame():
            cameras.write(camera)
            models.write(ring)
        depth = (eye @ np.asarray(ring.matrix))[:, 2, 3]
        far_to_near = [{"cube": models.offsets()[i]} for i in np.argsort(depth)]
        encoder = device.create_command_encoder()
        window.paint(encoder, target, pipeline, groups, 36, offsets=far_to_near)
        device.queue.submit([encoder.finish()])

    screen.run(draw)


if __name__ == "__main__":
    main()
