struct Flags { visible: bool }
struct Inner { @align(16) a: u32 }
struct Weights { values: array<f32, 6>, inner: Inner, scale: f32 }

@group(0) @binding(0) var<uniform> weights: Weights;
