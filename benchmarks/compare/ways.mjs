// Each way to pack in JavaScript. A server on standard input and output: run.py sends one command a line, as JSON, and
// gets one line back. So the ways of both languages alternate in one run.
//
// A way has two sides, as in python_ways.py. live: columns, objects and memory are there and stay; fresh: new memory.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

// webgpu-utils reads names that a browser has. Float16Array is in node 24; no record here holds an f16.
globalThis.GPUShaderStage ??= { VERTEX: 1, FRAGMENT: 2, COMPUTE: 4 };
globalThis.Float16Array ??= Uint16Array;

const RECORDS = {
    Particle: {
        stride: 48,
        members: { position: ["f", 3], life: ["f", 1], velocity: ["f", 3], id: ["u", 1], color: ["f", 4] },
        wgsl: "position: vec3f, life: f32, velocity: vec3f, id: u32, color: vec4f",
    },
    Spot: {
        stride: 48,
        members: { position: ["f", 3], direction: ["f", 3], cone: ["f", 2] },
        wgsl: "position: vec3f, direction: vec3f, cone: vec2f",
    },
};

// The formula of records.py.
function columnsOf(record, count) {
    const words = Object.values(record.members).reduce((sum, [, width]) => sum + width, 0);
    const found = {};
    let first = 0;
    for (const [name, [kind, width]] of Object.entries(record.members)) {
        const column = new (kind === "u" ? Uint32Array : Float32Array)(count * width);
        for (let i = 0; i < count; i++) {
            for (let k = 0; k < width; k++) {
                const number = Math.imul(i * words + first + k, 2654435761) >>> 8;
                column[i * width + k] = kind === "u" ? i : number * 2 ** -24;
            }
        }
        found[name] = column;
        first += width;
    }
    return found;
}

// An object for each record; a vector is a plain array, the fastest form for both packages.
function objectsOf(record, columns, count) {
    return Array.from({ length: count }, (_, i) => {
        const object = {};
        for (const [name, [, width]] of Object.entries(record.members)) {
            object[name] =
                width === 1 ? columns[name][i] : Array.from(columns[name].subarray(i * width, (i + 1) * width));
        }
        return object;
    });
}

const LOOPS = {
    Particle({ position, life, velocity, id, color }, buffer) {
        const floats = new Float32Array(buffer), ints = new Uint32Array(buffer);
        for (let i = 0; i < life.length; i++) {
            const o = 12 * i;
            for (let k = 0; k < 3; k++) floats[o + k] = position[3 * i + k];
            floats[o + 3] = life[i];
            for (let k = 0; k < 3; k++) floats[o + 4 + k] = velocity[3 * i + k];
            ints[o + 7] = id[i];
            for (let k = 0; k < 4; k++) floats[o + 8 + k] = color[4 * i + k];
        }
    },
    Spot({ position, direction, cone }, buffer) {
        const floats = new Float32Array(buffer);
        for (let i = 0; 3 * i < position.length; i++) {
            const o = 12 * i;
            for (let k = 0; k < 3; k++) floats[o + k] = position[3 * i + k];
            for (let k = 0; k < 3; k++) floats[o + 4 + k] = direction[3 * i + k];
            for (let k = 0; k < 2; k++) floats[o + 8 + k] = cone[2 * i + k];
        }
    },
};

const ways = [
    {
        name: "Float32Array loop, by hand (JS)",
        source: "columns",
        version: process.version,
        live: (c) => () => LOOPS[c.name](c.columns, c.out),
        fresh: (c) => () => {
            const out = new ArrayBuffer(c.size);
            LOOPS[c.name](c.columns, out);
            return out;
        },
    },
];
const missing = [];

function versionOf(name) {
    const path = new URL(`./node_modules/${name}/package.json`, import.meta.url);
    return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).version : undefined;
}

async function loaded(name) {
    if (versionOf(name) === undefined) {
        missing.push({ name, why: "not installed: run npm install in benchmarks/compare" });
        return undefined;
    }
    try {
        return await import(name);
    } catch (error) {
        missing.push({ name, why: `does not load here: ${error.message}` });
        return undefined;
    }
}

const faults = [];

const typegpu = await loaded("typegpu");
if (typegpu) {
    const { d, writeToArrayBuffer, common } = typegpu;
    const types = { f1: d.f32, f2: d.vec2f, f3: d.vec3f, f4: d.vec4f, u1: d.u32 };
    const schemaOf = ({ record, count }) => {
        const entries = Object.entries(record.members).map(([name, [kind, width]]) => [name, types[kind + width]]);
        return d.arrayOf(d.struct(Object.fromEntries(entries)), count);
    };
    const version = versionOf("typegpu");
    ways.push({
        name: "TypeGPU, writeToArrayBuffer (JS)",
        source: "objects",
        version,
        live: (c, schema = schemaOf(c)) => () => writeToArrayBuffer(c.out, schema, c.objects),
        fresh: (c, schema = schemaOf(c)) => () => {
            const out = new ArrayBuffer(c.size);
            writeToArrayBuffer(out, schema, c.objects);
            return out;
        },
    });
    // writeSoA fills the buffer's host memory and then calls its write: here that does nothing, so only packing is timed.
    const soa = (arrayBuffer, dataType, columns) => common.writeSoA({ arrayBuffer, dataType, write() {} }, columns);
    ways.push({
        name: "TypeGPU, writeSoA (JS)",
        source: "columns",
        version,
        live: (c, schema = schemaOf(c)) => () => soa(c.out, schema, c.columns),
        fresh: (c, schema = schemaOf(c)) => () => {
            const out = new ArrayBuffer(c.size);
            soa(out, schema, c.columns);
            return out;
        },
    });
    faults.push(() => ({
        peer: "TypeGPU",
        version,
        example: "d.mat2x3f",
        gives: d.mat2x3f === undefined ? "undefined: it has mat2x2f, mat3x3f and mat4x4f" : "a type",
        expected: "a type",
        note: "WGSL has nine f32 matrices",
    }));
}

const utils = await loaded("webgpu-utils");
if (utils) {
    const definition = ({ record, name }) =>
        utils.makeShaderDataDefinitions(
            `struct ${name} { ${record.wgsl} }; @group(0) @binding(0) var<storage> records: array<${name}>;`,
        ).storages.records;
    // Both ways share it: for a million records it takes seconds to make.
    const viewOf = (c) => (c.view ??= utils.makeStructuredView(definition(c), c.out));
    const version = versionOf("webgpu-utils");
    ways.push({
        name: "webgpu-utils, set (JS)",
        source: "objects",
        version,
        live: (c, view = viewOf(c)) => () => view.set(c.objects),
        // A view of each member is slow to make, and this function needs none.
        fresh: (c, type = definition(c)) => () => {
            const out = new ArrayBuffer(c.size);
            utils.setStructuredValues(type, c.objects, out);
            return out;
        },
    });
    const fill = ({ record, columns, count }, views) => {
        const members = Object.entries(record.members);
        for (let i = 0; i < count; i++) {
            for (const [name, [, width]] of members) {
                if (width === 1) views[i][name][0] = columns[name][i];
                else views[i][name].set(columns[name].subarray(i * width, (i + 1) * width));
            }
        }
    };
    ways.push({
        name: "webgpu-utils, views (JS)",
        source: "columns",
        version,
        live: (c, { views } = viewOf(c)) => () => fill(c, views),
        fresh: (c, type = definition(c)) => () => {
            const out = new ArrayBuffer(c.size);
            fill(c, utils.makeStructuredView(type, out).views);
            return out;
        },
    });
    const defs = (text) => utils.makeShaderDataDefinitions(text);
    faults.push(
        () => {
            const code = `struct S { n: u32, a: array<vec3f> }; @group(0) @binding(0) var<storage, read_write> s: S;
                @compute @workgroup_size(1) fn main() { s.n = 1u; }`;
            const [layout] = utils.makeBindGroupLayoutDescriptors(defs(code), { compute: { entryPoint: "main" } });
            return {
                peer: "webgpu-utils",
                version,
                example: "minBindingSize of struct S { n: u32, a: array<vec3f> }",
                gives: `${layout.entries[0].buffer.minBindingSize}`,
                expected: "32",
                note: "the array counts with one element",
            };
        },
        () => {
            const type = defs("struct S { m: mat3x3f }; @group(0) @binding(0) var<uniform> s: S;").uniforms.s;
            const view = utils.makeStructuredView(type);
            view.set({ m: [1, 2, 3, 4, 5, 6, 7, 8, 9] });
            return {
                peer: "webgpu-utils",
                version,
                example: "9 numbers for a mat3x3f",
                gives: [...new Float32Array(view.arrayBuffer)].join(" "),
                expected: "1 2 3 0 4 5 6 0 7 8 9 0",
                note: "each column takes four floats; give it 12 numbers",
            };
        },
        () => {
            const type = defs("struct S { a: f32 }; @group(0) @binding(0) var<uniform> s: S;").uniforms.s;
            let gives = "nothing: the key is ignored";
            try {
                utils.makeStructuredView(type).set({ b: 1 });
            } catch {
                gives = "an error";
            }
            return { peer: "webgpu-utils", version, example: "struct S { a: f32 }, set({ b: 1 })", gives, expected: "an error", note: "a slip of the pen shows as a wrong picture" };
        },
    );
}

let current;
const commands = {
    hello: () => ({ ways: ways.map(({ name, source, version }) => ({ name, source, version })), missing, node: process.version }),
    prepare({ record: name, count, objects, fill }) {
        const record = RECORDS[name];
        const columns = columnsOf(record, count);
        const size = record.stride * count;
        const out = new ArrayBuffer(size);
        if (fill) new Uint8Array(out).fill(fill);
        current = { name, record, columns, count, size, out, objects: objects ? objectsOf(record, columns, count) : [], calls: {} };
        return {};
    },
    // Nanoseconds of so many calls.
    time({ way, side, loops }) {
        const call = callOf(way, side);
        const start = process.hrtime.bigint();
        for (let k = 0; k < loops; k++) call();
        return { ns: Number(process.hrtime.bigint() - start) };
    },
    bytes({ way, side, hashed }) {
        const result = callOf(way, side)();
        const data = Buffer.from(side === "live" ? current.out : result);
        return hashed ? { sha1: createHash("sha1").update(data).digest("hex") } : { base64: data.toString("base64") };
    },
    drop({ way }) {
        delete current.calls[`${way} live`];
        delete current.calls[`${way} fresh`];
        return {};
    },
    faults: () => ({ faults: faults.map((fault) => fault()) }),
};

function callOf(way, side) {
    return (current.calls[`${way} ${side}`] ??= ways.find((one) => one.name === way)[side](current));
}

for await (const line of createInterface({ input: process.stdin })) {
    const told = JSON.parse(line);
    let answer;
    try {
        answer = commands[told.do](told);
    } catch (error) {
        answer = { error: `${error.name}: ${error.message}` };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
}
