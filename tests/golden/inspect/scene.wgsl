enable f16;

struct Light { position: vec3f, range: f32, color: vec3f, kind: u32 }
struct MaterialBad { roughness: f32, color: vec4f, metallic: f32, emission: vec3f, opacity: f32, cutoff: f32 }
struct Camera { view: mat4x4f, projection: mat4x4f, normal: mat3x3f, position: vec3f, time: f32 }
struct Lights { count: atomic<u32>, items: array<Light> }
struct Packed { tint: vec3h, alpha: f16 }

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read_write> lights: Lights;
@group(0) @binding(2) var<storage> materials: array<MaterialBad, 8>;
@group(1) @binding(0) var albedo: texture_2d<f32>;
@group(1) @binding(1) var albedo_sampler: sampler;
@id(3) override tile: u32 = 8;
@compute @workgroup_size(tile, 8) fn main() { }
