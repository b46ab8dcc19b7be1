"""The time of the first wgsl.parse in a new process: the median of several processes.

python benchmarks/first_parse.py [--runs 15]

The first run does not count: it writes the byte code.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from fresh_cases import Row

GOAL = 60.0
CODE = '''
import time
from gpustruct import wgsl
text = """struct Particle {
  position: vec3f,
  life: f32,
  velocity: vec3f,
  id: u32,
}
@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;
@group(0) @binding(1) var<uniform> dt: f32;
@compute @workgroup_size(64)
fn step(@builtin(global_invocation_id) i: vec3u) { particles[i.x].life -= dt; }
"""
start = time.perf_counter()
wgsl.parse(text)
print(time.perf_counter() - start)
'''


def parse_row(runs: int) -> Row:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", CODE]
    times = [
        float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
        for _ in range(runs + 1)
    ][1:]
    median = sorted(times)[len(times) // 2]
    return Row("first parse of ten lines in a process", median, 1e3 * median, "a millisecond", GOAL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    print(parse_row(parser.parse_args().runs))


if __name__ == "__main__":
    main()
