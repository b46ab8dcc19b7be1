// TypeGPU's compiled writer over an array of Particle objects: { rows, rounds, perRound (seconds) } as JSON on standard
// input, { seconds, bytes } as JSON on standard output. The writer is no public name: buffer.write calls it.
import { readFileSync } from "node:fs";
import * as d from "typegpu/data";
const internal = new URL("./data/compiledIO.js", import.meta.resolve("typegpu"));
const { getCompiledWriter } = await import(internal);

const { rows, rounds, perRound } = JSON.parse(readFileSync(0, "utf8"));
const Particle = d.struct({ position: d.vec3f, life: d.f32, velocity: d.vec3f, id: d.u32, color: d.vec4f });
const records = rows.map(([position, life, velocity, id, color]) => ({ position, life, velocity, id, color }));
const schema = d.arrayOf(Particle, records.length);
const write = getCompiledWriter(schema);
const output = new DataView(new ArrayBuffer(48 * records.length));

function seconds(loops) {
    const start = process.hrtime.bigint();
    for (let k = 0; k < loops; k++) write(output, 0, records);
    return Number(process.hrtime.bigint() - start) / 1e9;
}

// Until V8 has compiled it for good.
for (const end = Date.now() + 500; Date.now() < end; ) seconds(1);
const loops = Math.max(1, Math.ceil(perRound / Math.max(seconds(10) / 10, 1e-9)));
const times = Array.from({ length: rounds }, () => seconds(loops) / loops).sort((a, b) => a - b);
const bytes = Buffer.from(output.buffer).toString("base64");
console.log(JSON.stringify({ seconds: times[Math.floor(rounds / 2)], bytes }));
