struct Wide { many: i64 }
@group(0) @binding(0) var<storage> wide: Wide;
