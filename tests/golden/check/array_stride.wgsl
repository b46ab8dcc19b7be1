struct Weights { values: array<f32, 64>, pairs: array<vec2f, 4> }

@group(0) @binding(0) var<uniform> weights: Weights;
