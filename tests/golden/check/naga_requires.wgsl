requires uniform_buffer_standard_layout;

@group(0) @binding(0) var<uniform> weights: array<f32, 8>;
