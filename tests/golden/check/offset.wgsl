struct Fog { density: f32 }
struct Scene { time: f32, fog: Fog }

@group(0) @binding(0) var<uniform> scene: Scene;
