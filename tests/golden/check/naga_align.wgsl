struct Inner { @align(16) a: u32 }
struct Outer { n: u32, inner: Inner }

@group(0) @binding(0) var<storage> outer: Outer;
