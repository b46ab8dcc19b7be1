"""A galaxy: float64 state in numpy, gravity on the device, drawn as points.

numpy makes the bodies, gpustruct packs them, and from then on they stay on the device. The shader's text
is the only place that says how they are bound.

    python examples/nbody.py
    python examples/nbody.py --count 2000 --save nbody.png
"""

from __future__ import annotations

import numpy as np
import window

from gpustruct import Struct, f32, u32, vec3f, view, wgsl
from gpustruct.gpu import Program, RecordBuffer


class Body(Struct):
    position: vec3f
    mass: f32
    velocity: vec3f


class Step(Struct):
    seconds: f32
    count: u32


SHADER = (
    wgsl.declare(Body, Step)
    + """
@group(0) @binding(0) var<storage, read_write> bodies: array<Body>;
@group(0) @binding(1) var<uniform> step: Step;
@group(0) @binding(2) var<storage, read> drawn: array<Body>;

@compute @workgroup_size(64) fn attract(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= step.count { return; }
    var force = vec3f();
    for (var i = 0u; i < step.count; i++) {
        let to = bodies[i].position - bodies[id.x].position;
        force += bodies[i].mass * to * pow(dot(to, to) + 0.002, -1.5);
    }
    bodies[id.x].velocity += force * step.seconds;
}

@compute @workgroup_size(64) fn drift(@builtin(global_invocation_id) id: vec3u) {
    if id.x < step.count { bodies[id.x].position += bodies[id.x].velocity * step.seconds; }
}

struct Point { @builtin(position) place: vec4f, @location(0) color: vec3f, @location(1) corner: vec2f }

@vertex fn corner(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Point {
    let body = drawn[instance];
    let corner = vec2f(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0 - 1.0;
    let p = body.position * vec3f(0.8, 0.8, 0.3);
    let fast = saturate(length(body.velocity) - 0.8);
    let color = mix(vec3f(1.0, 0.35, 0.1), vec3f(0.3, 0.6, 1.0), fast);
    return Point(vec4f(p.x, p.y * 0.9 + p.z, 0.5, 1.0) + vec4f(corner * vec2f(0.009, 0.0144), 0.0, 0.0), color, corner);
}

@fragment fn glow(point: Point) -> @location(0) vec4f {
    return vec4f(point.color * max(0.0, 1.0 - length(point.corner)) * 0.6, 1.0);
}
"""
)


def galaxy(count: int) -> Body:
    """A disc of bodies on nearly circular orbits around a heavy one, in float64."""
    random = np.random.default_rng(3)
    radius = np.sqrt(random.uniform(0.02, 1.0, count))
    angle = random.uniform(0, 2 * np.pi, count)
    position = np.stack([radius * np.cos(angle), radius * np.sin(angle), random.normal(0, 0.03, count)], axis=-1)
    speed = np.sqrt((0.7 + 0.3 * radius**2) / radius)
    velocity = np.stack([-np.sin(angle) * speed, np.cos(angle) * speed, np.zeros(count)], axis=-1)
    mass = np.full(count, 0.3 / count)
    position[0], velocity[0], mass[0] = 0, 0, 0.7
    return Body(position=position, mass=mass, velocity=velocity)


def main() -> None:
    options = window.arguments(__doc__, count=4000, frames=60)
    screen = window.Window(options)
    device = screen.device
    bodies = RecordBuffer(device, Body, data=galaxy(options.count))
    step = view(Step)
    step.seconds, step.count = 0.01, options.count
    steps = RecordBuffer(device, Step, usage="UNIFORM", data=step)

    forces = Program(device, SHADER, entry_points=("attract", "drift"))
    attract, drift = forces.compute_pipeline("attract"), forces.compute_pipeline("drift")
    moved = forces.bind(bodies=bodies, step=steps)
    picture = Program(device, SHADER, entry_points=("corner", "glow"))
    points = screen.pipeline(picture, "corner", "glow", glow=True)
    drawn = picture.bind(drawn=bodies)

    def draw(target: object, frame: int) -> None:
        encoder = device.create_command_encoder()
        for pipeline in attract, drift:
            work = encoder.begin_compute_pass()
            work.set_pipeline(pipeline)
            moved.set(work)
            work.dispatch_workgroups(*bodies.dispatch_size(64))
            work.end()
        window.paint(encoder, target, points, drawn, 4, options.count)
        device.queue.submit([encoder.finish()])

    screen.run(draw)


if __name__ == "__main__":
    main()
