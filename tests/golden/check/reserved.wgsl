struct Camera {
  target: vec3f,
}
