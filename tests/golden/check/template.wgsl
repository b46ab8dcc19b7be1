struct Lights { items: array<vec4f, {{ light_count }}> }
{% if shadows %}
struct Shadow { matrix: mat4x4f, bias: f32, texel: vec3f, far: f32 }
{% endif %}
