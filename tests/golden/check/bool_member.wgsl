struct Flags { visible: bool, count: u32 }

@group(0) @binding(0) var<storage> flags: array<Flags>;
