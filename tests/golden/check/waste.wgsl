struct MaterialBad {
  roughness: f32,
  color: vec4f,
  metallic: f32,
  emission: vec3f,
  opacity: f32,
  cutoff: f32,
}

// Passed between stages: its padding is nobody's memory.
struct VertexOutput { @location(0) a: f32, @builtin(position) position: vec4f, @location(1) b: f32 }

@group(0) @binding(0) var<storage> materials: array<MaterialBad>;
