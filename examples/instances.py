"""A field of 120,000 tulips: one vertex buffer with a packed record for each instance.

A tulip takes 24 bytes, where a struct of float32 in a storage buffer would take 64: its normal, its light and its
color have packed formats, which the device decodes. numpy holds them in float64.

    python examples/instances.py
    python examples/instances.py --count 20000 --save instances.png
"""

from __future__ import annotations

import numpy as np
import window

from gpustruct import Struct, f32, vec2f, vertex, view, wgsl
from gpustruct.gpu import Program, RecordBuffer
from gpustruct.vertex import Vertex, float32x3, snorm8x4, unorm8x4, unorm16x2


class Tulip(Vertex):
    position: float32x3
    normal: snorm8x4
    light: unorm16x2
    color: unorm8x4


class Scene(Struct):
    size: vec2f
    time: f32


AIR = (0.93, 0.56, 0.36)
SHADER = (
    wgsl.declare(Scene)
    + f"const AIR = vec3f{AIR};"
    + """
@group(0) @binding(0) var<uniform> scene: Scene;

// Half the width of a tulip at eight heights.
const HEIGHTS = array(0.0, 0.5, 0.6, 0.64, 0.74, 0.86, 0.97, 1.0);
const WIDTHS = array(0.06, 0.03, 0.02, 0.09, 0.12, 0.11, 0.05, 0.0);

struct Corner { @builtin(position) place: vec4f, @location(0) color: vec3f }

fn tulip(i: u32, root: vec3f, normal: vec3f, light: vec2f, petals: vec3f) -> Corner {
    let height = HEIGHTS[i / 2u];
    let side = f32(i & 1u) * 2.0 - 1.0;
    let wind = sin(scene.time + root.x * 0.9 + root.z * 0.35) * 0.12;
    let bend = height * height * vec2f(wind + fract(root.x * 57.0) * 0.2 - 0.1, 0.0);
    let size = 0.5 + 0.45 * fract(root.z * 91.0);
    let p = root + size * vec3f(side * WIDTHS[i / 2u] + bend.x, height, 0.0);
    let away = p - vec3f(0.0, 1.9, 0.0);
    let seen = vec3f(away.x, away.y * 0.985 + away.z * 0.17, away.z * 0.985 - away.y * 0.17);
    let place = vec4f(seen.x * 1.7 * scene.size.y / scene.size.x, seen.y * 1.7, seen.z * 0.5, seen.z);

    // A petal is round: its two sides face different ways.
    let facing = normalize(normal + vec3f(side * 0.5, 0.0, -0.3));
    let sun = max(dot(facing, normalize(vec3f(-0.75, 0.5, 0.3))), 0.0) * light.x;
    let above = select(vec3f(0.05, 0.16, 0.04), petals * (2.2 * height - 1.2), height > 0.6);
    let lit = above * (sun * vec3f(2.6, 2.0, 1.4) + light.y * mix(0.15, 1.0, height) * vec3f(0.34, 0.32, 0.45));
    return Corner(place, mix(AIR, lit, exp(-0.02 * away.z)));
}

@vertex fn corner(@builtin(vertex_index) i: u32, @location(0) position: vec3f, @location(1) normal: vec3f,
                  @location(2) light: vec2f, @location(3) color: vec3f) -> Corner {
    return tulip(i, position, normal, light, color);
}

@fragment fn paint(corner: Corner) -> @location(0) vec4f { return vec4f(corner.color, 1.0); }
"""
)
BEDS = np.array([[18, 1, 1], [24, 8, 1], [24, 17, 1], [23, 20, 18], [21, 3, 9], [7, 1, 11]]) / 25


def field(count: int) -> dict[str, np.ndarray]:
    """Beds of tulips on low hills, the farthest first: columns in float64."""
    random = np.random.default_rng(5)
    z = np.sort(1.2 + 60 * random.uniform(0, 1, count) ** 1.35)[::-1]
    x = random.uniform(-1, 1, count) * (1.5 + z)
    a, b = 0.13 * x + 0.6, 0.13 * z
    y = 1.1 * np.sin(a) * np.sin(b) + 0.02 * z
    slope = np.stack([-0.143 * np.cos(a) * np.sin(b), np.ones(count), -0.143 * np.sin(a) * np.cos(b) - 0.02], axis=-1)
    normal = slope / np.linalg.norm(slope, axis=-1, keepdims=True)
    bed, along = np.divmod(x + 0.08 * random.normal(size=count), 1.4)
    tint = np.where(along[:, None] < 0.3, [0.08, 0.2, 0.05], BEDS[bed.astype(int) % len(BEDS)])
    color = np.clip(tint * random.normal(1, 0.12, (count, 1)), 0, 1)
    clouds = 0.5 + 0.5 * np.sin(0.35 * x + 0.5 * z) * np.sin(0.21 * z - 0.3 * x + 2)
    return {
        "position": np.stack([x, y, z], axis=-1),
        "normal": np.concatenate([normal, np.zeros((count, 1))], axis=1),
        "light": np.stack([0.15 + 0.85 * clouds, random.uniform(0.6, 1, count)], axis=-1),
        "color": np.concatenate([color, np.ones((count, 1))], axis=1),
    }


def main() -> None:
    options = window.arguments(__doc__, count=120_000, frames=1)
    screen = window.Window(options)
    device = screen.device
    tulips = RecordBuffer(device, Tulip, usage="VERTEX", data=Tulip(**field(options.count)))
    scene = view(Scene)
    scene.size = window.SIZE
    scenes = RecordBuffer(device, Scene, usage="UNIFORM")
    program = Program(device, SHADER)
    groups = program.bind(scene=scenes)
    pipeline = screen.pipeline(program, "corner", "paint", buffers=[vertex.layout(Tulip, step_mode="instance")])

    def draw(target: object, frame: int) -> None:
        scene.time = 0.03 * frame
        scenes.write(scene)
        encoder = device.create_command_encoder()
        window.paint(encoder, target, pipeline, groups, 16, options.count, buffers=[tulips], clear=AIR)
        device.queue.submit([encoder.finish()])

    screen.run(draw)


if __name__ == "__main__":
    main()
