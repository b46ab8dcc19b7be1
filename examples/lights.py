"""A thousand lights over a floor of tiles: lists of dataclasses become storage buffers.

`RecordBuffer` takes the lists as they are: members are found by name, and colors stay tuples.

    python examples/lights.py --save lights.png
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import window

from gpustruct import Struct, f32, vec3f, view, wgsl
from gpustruct.gpu import Program, RecordBuffer


@dataclass
class Lamp:
    position: tuple[float, float, float]
    radius: float
    color: tuple[float, float, float]


@dataclass
class Tile:
    albedo: tuple[float, float, float]
    roughness: float


class Light(Struct):
    position: vec3f
    radius: f32
    color: vec3f


class Material(Struct):
    albedo: vec3f
    roughness: f32


class Scene(Struct):
    time: f32


HUES = [(1.0, 0.3, 0.02), (0.02, 0.25, 1.0), (0.9, 0.02, 0.3), (0.02, 0.7, 0.3)]
SHADER = (
    wgsl.declare(Light, Material, Scene)
    + window.WHOLE
    + f"const ASPECT = {window.SIZE[0] / window.SIZE[1]};"
    + """
@group(0) @binding(0) var<storage, read> lights: array<Light>;
@group(0) @binding(1) var<storage, read> materials: array<Material>;
@group(0) @binding(2) var<uniform> scene: Scene;
const SKY = vec3f(0.004, 0.005, 0.012);

@fragment fn shade(corner: Corner) -> @location(0) vec4f {
    let ray = normalize(vec3f((corner.at.x * 2.0 - 1.0) * ASPECT, 0.25 - 2.0 * corner.at.y, 1.6));
    let eye = vec3f(0.0, 3.0, scene.time);
    if ray.y > -0.02 { return vec4f(SKY, 1.0); }
    let floor_point = eye + ray * (eye.y / -ray.y);
    let far = length(floor_point - eye);
    let tile = vec2i(floor(floor_point.xz * 1.5));
    let material = materials[u32(abs(tile.x * 7 + tile.y * 13)) % arrayLength(&materials)];
    let gap = abs(fract(floor_point.xz * 1.5) - 0.5);
    var color = 0.2 * SKY;
    for (var i = 0u; i < arrayLength(&lights); i++) {
        let light = lights[i];
        let to = light.position - floor_point;
        let distance = length(to);
        let fade = pow(max(1.0 - distance / light.radius, 0.0), 2.0);
        let shine = pow(max(normalize(to / distance - ray).y, 0.0), 2.0 / (material.roughness * material.roughness));
        color += light.color * fade * (0.7 * material.albedo * to.y / distance + 2.0 * shine * (1.0 - material.roughness));
    }
    color *= 1.0 - 0.8 * smoothstep(0.485 - 0.003 * far, 0.49, max(gap.x, gap.y)) / (1.0 + 0.1 * far);
    return vec4f(mix(SKY, 1.0 - exp(-1.5 * color), exp(-0.0025 * far * far)), 1.0);
}
"""
)


def lamps(count: int) -> list[Lamp]:
    """Lamps in random places just above the floor."""
    return [
        Lamp((random.uniform(-20, 20), random.uniform(0.15, 0.6), random.uniform(0, 40)), 1.9, random.choice(HUES))
        for _ in range(count)
    ]


def main() -> None:
    options = window.arguments(__doc__, count=1000, frames=1)
    random.seed(4)
    tiles = [Tile((grey, grey, grey * 0.9), random.uniform(0.1, 0.6)) for grey in (0.2, 0.35, 0.5, 0.7, 0.85)]
    screen = window.Window(options)
    device = screen.device
    scene = view(Scene)
    scenes = RecordBuffer(device, Scene, usage="UNIFORM")
    program = Program(device, SHADER)
    lights = RecordBuffer(device, Light, data=lamps(options.count))
    groups = program.bind(lights=lights, materials=RecordBuffer(device, Material, data=tiles), scene=scenes)
    pipeline = screen.pipeline(program, "whole", "shade")

    def draw(target: object, frame: int) -> None:
        scene.time = 0.01 * frame
        scenes.write(scene)
        encoder = device.create_command_encoder()
        window.paint(encoder, target, pipeline, groups, 3)
        device.queue.submit([encoder.finish()])

    screen.run(draw)


if __name__ == "__main__":
    main()
