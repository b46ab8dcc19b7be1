struct Größe { Δt: f32, ort: vec3f, rest: f32 }

@group(0) @binding(0)
var<uniform> größe: Größe;
@group(0) @binding(1) var<uniform> zu_eng: array<Größe, 2>;
struct Größe { x: f32 }
