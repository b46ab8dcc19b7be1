struct Light {
  position: vec3f;
  range: f32;
}
