struct Half { color: vec4h }

@group(0) @binding(0) var<storage> halves: array<Half>;
