struct Particles {
  positions: array<vec3f>,
  count: u32,
}

@group(0) @binding(0) var<storage, read_write> particles: Particles;
@group(0) @binding(1) var<uniform> weights: array<f32, 8>;
