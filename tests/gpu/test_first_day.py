"""Programs that somebody writes on the first day, as the documentation has it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpustruct import Struct, array, batch, dtype_of, f32, mat4x4f, pack_to, u32, uniform_safe, vec3f, view, wgsl
from gpustruct.gpu import Program, RecordBuffer, write_buffer


class Particle(Struct):
    position: vec3f
    life: f32
    velocity: vec3f
    id: u32


def run(device: Any, program: Program, groups: Any, workgroups: tuple[int, ...]) -> None:
    encoder = device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(program.compute_pipeline())
    groups.set(compute)
    compute.dispatch_workgroups(*workgroups)
    compute.end()
    device.queue.submit([encoder.finish()])


STEP = """
struct Particle { position: vec3f, life: f32, velocity: vec3f, id: u32 }
@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;
@compute @workgroup_size(64) fn step(@builtin(global_invocation_id) id: vec3u) {
  if id.x < arrayLength(&particles) { particles[id.x].position += particles[id.x].velocity * 0.5; }
}"""


def test_a_simulation_with_new_arrays_each_frame(device: Any) -> None:
    n, rng = 1000, np.random.default_rng(0)
    particles, program = RecordBuffer(device, Particle, capacity=n), Program(device, STEP)
    position = np.zeros((n, 3), np.float32)
    for _ in range(4):
        velocity = rng.integers(-8, 8, (n, 3)) / 4
        particles.write(Particle(position=position, life=np.ones(n), velocity=velocity, id=np.arange(n)))
        run(device, program, program.bind(particles=particles), particles.dispatch_size(64))
        moved = particles.read().position
        assert np.array_equal(moved, position + velocity / 2)
        position = moved


class Camera(Struct):
    view: mat4x4f
    position: vec3f
    time: f32


def test_a_camera_by_a_view(device: Any) -> None:
    buffer, camera = RecordBuffer(device, Camera, usage="uniform"), view(Camera)
    camera.view = np.arange(16).reshape(4, 4)
    for frame in range(10):
        camera.time, camera.position = frame / 2, (0, frame, 0)
        write_buffer(device, buffer, camera)
    back = buffer.read()
    assert (back.time[0], back.position[0].tolist(), back.view[0, 1].tolist()) == (4.5, [0, 9, 0], [4, 5, 6, 7])


@dataclass
class Plain:
    albedo: tuple[float, float, float]
    roughness: float
    metallic: float = 0.0


class Material(Struct):
    albedo: vec3f
    roughness: f32
    metallic: f32


def test_materials_from_dataclasses(device: Any) -> None:
    materials = RecordBuffer(device, Material, data=[Plain((1, 0, 0), 0.5), Plain((0, 1, 0), 0.25, 1)])
    materials.resize(4)
    materials.append([Plain((0, 0, 1), 0.125)])
    materials.append(batch(Material, Plain((1, 1, 1), 1)))
    assert materials.read().albedo.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
    assert materials.read().roughness.tolist() == [0.5, 0.25, 0.125, 1]


SHADER = """
struct Params { gain: f32, offset: vec2f, n: u32 }
struct Item { value: vec2f, weight: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> items: array<Item>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
  if id.x < params.n { items[id.x].value = items[id.x].value * params.gain + params.offset; }
}"""


def test_the_shader_s_structs(device: Any) -> None:
    module, program = wgsl.parse(SHADER), Program(device, SHADER)
    given = {"gain": 2, "offset": (1, -1), "n": 99}
    params = RecordBuffer(device, module.structs["Params"], usage="uniform", data=given)
    columns = {"value": np.ones((100, 2)), "weight": np.arange(100)}
    items = RecordBuffer(device, module.bindings["items"].type, data=columns)
    run(device, program, program.bind(params=params, items=items), items.dispatch_size(32))
    assert items.read().value.tolist() == [[3, 1]] * 99 + [[1, 1]]
    assert items.read().weight.tolist() == list(range(100))


def test_a_file_of_records(device: Any, tmp_path: Path) -> None:
    n, seen = 1_000_000, list[tuple[int, int]]()
    position = np.memmap(tmp_path / "position", np.float32, "w+", shape=(n, 3))
    position[:, 0] = np.arange(n)
    whole = Particle(position=position, life=1.0, velocity=(0, 0, 0), id=np.arange(n))
    pack_to(tmp_path / "records", whole, progress=lambda *done: seen.append(done))
    rows = batch(Particle, np.memmap(tmp_path / "records", dtype_of(Particle), "r"))
    particles = RecordBuffer(device, Particle, data=rows)
    assert seen[-1] == (n, n)
    assert particles.read(n - 2).id.tolist() == [n - 2, n - 1]
    assert particles.read(n - 2).position.tolist() == [[n - 2, 0, 0], [n - 1, 0, 0]]


class Weights(Struct):
    n: u32
    values: array[f32, 6]


def test_an_array_in_a_uniform(device: Any) -> None:
    for safe in (uniform_safe(Weights), uniform_safe(Weights, arrays="vec4")):
        main = """
        @group(0) @binding(0) var<uniform> weights: Weights;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() { for (var i = 0u; i < weights.n; i++) { out[i] = weights_values(i) * 2.0; } }
        """
        program, uniform = Program(device, safe.wgsl + main), RecordBuffer(device, safe.type, usage="uniform")
        weights, out = view(safe), RecordBuffer(device, f32, 6, count=6)
        weights.n, weights.values = 6, [0, 1, 2, 3, 4, 5]
        weights.values[3] = 33
        uniform.write(weights)
        run(device, program, program.bind(weights=uniform, out=out), (1,))
        assert np.asarray(out.read()).tolist() == [0, 2, 4, 66, 8, 10]


def test_reading_back_to_analyse(device: Any) -> None:
    n, rng = 5000, np.random.default_rng(1)
    life = rng.random(n, np.float32)
    columns = {"position": rng.random((n, 3)), "life": life, "velocity": (0, 0, 0), "id": np.arange(n)}
    particles = RecordBuffer(device, Particle, data=columns)
    got = particles.read_async().result()
    alive = got[got.life > 0.5]
    assert len(alive) == np.count_nonzero(life > 0.5)
    assert alive.id.tolist() == np.flatnonzero(life > 0.5).tolist()
    oldest = got[np.argsort(got.life)[-3:]]
    particles.write(oldest, where=[0, 1, 2])
    assert particles.read(0, 3).id.tolist() == np.argsort(life)[-3:].tolist()
