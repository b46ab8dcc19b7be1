struct Fog { density: f32 }
struct Scene {
  fog: Fog,
  time: f32,
}

@group(0) @binding(0) var<uniform> scene: Scene;
