enable f16;
struct Particle { position: vec3f, life: f32, color: vec4h }

@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;
@group(0) @binding(1) var<uniform> camera: mat4x4f;
@compute @workgroup_size(64) fn main() {}
