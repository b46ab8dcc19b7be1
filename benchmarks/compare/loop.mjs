// The loop that programs write by hand: columns into records of 48 bytes. Standard input has the records, from which the
// columns are taken. Standard output: a line { fresh, live } in nanoseconds for all of them, then the packed bytes.
import { readFileSync, writeSync } from "node:fs";

const count = Number(process.argv[2]);
const input = new Uint8Array(readFileSync(0)).buffer;
const column = (Kind, from, width) => {
    const words = new Kind(input);
    return Kind.from({ length: count * width }, (_, i) => words[Math.floor(i / width) * 12 + from + (i % width)]);
};
const position = column(Float32Array, 0, 3), life = column(Float32Array, 3, 1), velocity = column(Float32Array, 4, 3);
const id = column(Uint32Array, 7, 1), color = column(Float32Array, 8, 4);

function fill(buffer) {
    const floats = new Float32Array(buffer), ints = new Uint32Array(buffer);
    for (let i = 0; i < count; i++) {
        const o = 12 * i;
        for (let k = 0; k < 3; k++) floats[o + k] = position[3 * i + k];
        floats[o + 3] = life[i];
        for (let k = 0; k < 3; k++) floats[o + 4 + k] = velocity[3 * i + k];
        ints[o + 7] = id[i];
        for (let k = 0; k < 4; k++) floats[o + 8 + k] = color[4 * i + k];
    }
}
function median(call) {
    const times = Array.from({ length: 9 }, () => {
        const start = process.hrtime.bigint();
        call();
        return Number(process.hrtime.bigint() - start);
    });
    return times.sort((a, b) => a - b)[4];
}

const out = new ArrayBuffer(48 * count);
for (let k = 0; k < 5; k++) fill(out);
const times = { live: median(() => fill(out)), fresh: median(() => fill(new ArrayBuffer(48 * count))) };
writeSync(1, JSON.stringify(times) + "\n");
const bytes = new Uint8Array(out);
for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
