"""The device as the oracle of const-expressions: the same expressions at run time, their arguments from a buffer."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from gpustruct import BackendWarning, wgsl
from gpustruct.wgsl.builtins import FUNCTIONS

SAMPLES = 40
# Machine epsilon, the smallest normal number, and a number that fills most of the range.
FORMATS = {"f32": (2.0**-23, 2.0**-126, 3e38), "f16": (2.0**-10, 2.0**-14, 6e4)}
# How far a result may lie from the right one (WGSL §15.7.4): a function of epsilon, the result and the arguments.
Tolerance = Callable[[float, float, list[float]], float]


def type_name(scalar: str, rows: int) -> str:
    return scalar if rows < 2 else f"vec{rows}<{scalar}>"


class Case(NamedTuple):
    """An expression of a, b and c; the type of its result where it is not theirs; which arguments have a meaning."""

    text: str
    result: str = ""
    rows: int = 0
    within: Tolerance | None = None
    where: Callable[[list[float]], bool] = lambda _: True


def ulps(count: float) -> Tolerance:
    return lambda epsilon, result, _: count * epsilon * abs(result)


def absolute(f32: float, f16: float) -> Tolerance:
    return lambda epsilon, *_: f32 if epsilon < 1e-5 else f16


def steps(count: float) -> Tolerance:
    """For formulas of a few steps: each may lose some units of the largest number in between."""
    return lambda epsilon, result, args: count * epsilon * max(1.0, abs(result), *(x * x for x in args))


def exponential(epsilon: float, result: float, args: list[float]) -> float:
    return (3 + 2 * max(map(abs, args))) * epsilon * abs(result)


def logarithm(epsilon: float, result: float, args: list[float]) -> float:
    near = all(0.5 <= x <= 2 for x in args)
    return (2**-21 if epsilon < 1e-5 else 2**-7) if near else 3 * epsilon * max(1.0, abs(result))


def power(epsilon: float, result: float, args: list[float]) -> float:
    """exp2(y * log2(x)): the error of the logarithm grows with the exponent."""
    exponent = abs(args[1]) * max(1.0, abs(math.log2(args[0]))) if args[0] > 0 else 1.0
    return (8 + 8 * exponent) * epsilon * abs(result)


def small(most: float) -> Callable[[list[float]], bool]:
    return lambda args: all(abs(x) <= most for x in args)


def between_steps(scale: int) -> Callable[[list[float]], bool]:
    """Without the ties, which llvmpipe rounds to even."""
    return lambda args: all(abs(x * scale % 1 - 0.5) > 1e-2 for x in args)


TRIGONOMETRY = absolute(2**-11, 2**-7)
FLOATS = [
    *(Case(f"{name}(a)") for name in "abs ceil floor round trunc sign saturate".split()),
    *(Case(f"{name}(a, b)") for name in "min max step".split()),
    Case("fract(a)", within=absolute(2**-20, 2**-8)), Case("clamp(a, b, c)"), Case("select(a, b, true)"), Case("modf(a).fract", within=absolute(2**-20, 2**-8)), Case("modf(a).whole"),
    Case("sqrt(a)", within=ulps(4)), Case("inverseSqrt(a)", within=ulps(2)),
    Case("exp(a)", within=exponential), Case("exp2(a)", within=exponential), Case("log(a)", within=logarithm), Case("log2(a)", within=logarithm),
    Case("sin(a)", within=TRIGONOMETRY, where=small(math.pi)), Case("cos(a)", within=TRIGONOMETRY, where=small(math.pi)), Case("tan(a)", within=absolute(2**-8, 2**-4), where=small(1.2)),
    Case("asin(a)", within=absolute(2**-10, 2**-6)), Case("acos(a)", within=absolute(2**-10, 2**-6)), Case("atan(a)", within=absolute(2**-10, 2**-6)),
    Case("atan2(a, b)", within=absolute(2**-10, 2**-6), where=lambda args: abs(args[1]) > 0.01), Case("sinh(a)", within=steps(64), where=small(8)), Case("cosh(a)", within=steps(64), where=small(8)),
    Case("tanh(a)", within=absolute(2**-10, 2**-6), where=small(8)), Case("asinh(a)", within=absolute(2**-10, 2**-5), where=small(10)), Case("acosh(a)", within=absolute(2**-10, 2**-5), where=small(10)),
    Case("atanh(a)", within=absolute(2**-8, 2**-4), where=small(0.95)), Case("pow(a, b)", within=power), Case("degrees(a)", within=ulps(2)), Case("radians(a)", within=ulps(2)),
    Case("mix(a, b, c)", within=steps(8), where=small(1000)), Case("fma(a, b, c)", within=steps(4)), Case("smoothstep(a, b, c)", within=steps(8), where=lambda args: args[0] < args[1]),
    Case("a + b", within=ulps(1)), Case("a - b", within=ulps(1)), Case("a * b", within=ulps(1)), Case("a / b", within=ulps(2.5), where=lambda args: 2**-14 <= abs(args[1]) <= 2**14), Case("-a"),
    Case("a % b", within=steps(8), where=lambda args: all(0.01 < abs(x) < 100 for x in args[:2])),
    *(Case(f"a {sign} b", "bool") for sign in ("==", "!=", "<", "<=", ">", ">=")),
]  # fmt: skip
FLOAT_VECTORS = [
    Case("length(a)", rows=1, within=steps(8)), Case("distance(a, b)", rows=1, within=steps(8)), Case("dot(a, b)", rows=1, within=steps(8)),
    Case("normalize(a)", within=absolute(2**-18, 2**-6)), Case("reflect(a, b)", within=lambda epsilon, _, args: 16 * epsilon * max(1.0, *(abs(x) for x in args)) ** 3),
    Case("faceForward(a, b, c)"), Case("refract(normalize(a), normalize(b), 0.75)", within=absolute(2**-9, 2**-4)),
]  # fmt: skip
INTEGERS = [
    *(Case(f"{name}(a)") for name in "abs countOneBits countLeadingZeros countTrailingZeros firstLeadingBit firstTrailingBit reverseBits".split()),
    *(Case(f"{name}(a, b)") for name in ("min", "max")), Case("clamp(a, b, c)"), Case("select(a, b, false)"),
    *(Case(f"a {sign} b") for sign in "+-*/%&|^"), Case("~a"), *(Case(f"a {sign} b", "bool") for sign in ("==", "!=", "<", "<=", ">", ">=")),
]  # fmt: skip
# These take a number of bits or a shift beside the value.
FIELDS = [
    Case("extractBits(a, u32(b) & 15u, u32(c) & 15u)"), Case("insertBits(a, b, u32(b) & 15u, u32(c) & 15u)"), Case("a >> (u32(b) & 31u)"), Case("a << (u32(b) & 7u)"),
    Case("extractBits(a, 0u, 32u)"), Case("extractBits(a, 0u, 0u)"), Case("insertBits(a, b, 0u, 32u)"), Case("insertBits(a, b, 31u, 0u)"),
]  # fmt: skip
WORDS = [
    *(Case(f"bitcast<{kind}>(a)", kind) for kind in ("i32", "u32")), Case("bitcast<f32>(a & 0x7effffffu)", "f32"), Case("bitcast<u32>(bitcast<f32>((a & 0x3fffffffu) | 0x20000000u))", "u32"),
    *(Case(f"unpack{name}(a)", kind, rows, within) for name, kind, rows, within in (
        ("4x8snorm", "f32", 4, ulps(3)), ("4x8unorm", "f32", 4, ulps(3)), ("2x16snorm", "f32", 2, ulps(3)), ("2x16unorm", "f32", 2, ulps(3)), ("4xI8", "i32", 4, None), ("4xU8", "u32", 4, None))),
    Case("unpack2x16float((a & 0xbbffbbffu) | 0x04000400u)", "f32", 2), Case("dot4U8Packed(a, b)", "u32"), Case("dot4I8Packed(a, b)", "i32"),
    *(Case(f"pack4x{kind}8{clamp}(vec4<{kind.lower()}32>({kind.lower()}32(a), {kind.lower()}32(b >> 3u), {kind.lower()}32(c >> 24u), 7))", "u32") for kind in "IU" for clamp in ("", "Clamp")),
]  # fmt: skip
PACKED = [
    *(Case(f"pack4x8{kind}(vec4f(a, b, c, 1.0))", "u32", where=between_steps(scale)) for kind, scale in (("snorm", 127), ("unorm", 255))),
    *(Case(f"pack2x16{kind}(vec2f(a, b))", "u32", where=between_steps(scale)) for kind, scale in (("snorm", 32767), ("unorm", 65535))),
    Case("pack2x16float(vec2f(quantizeToF16(a), 0.5))", "u32", where=small(6e4)), Case("quantizeToF16(a)", within=ulps(2.0**13), where=lambda args: 1e-3 < abs(args[0]) < 6e4),
    Case("ldexp(a, 3i)"), Case("ldexp(a, -3i)"), Case("bitcast<u32>(a)", "u32", where=lambda args: args[0] != 0),
]  # fmt: skip
CROSS = [Case("cross(a, b)", within=lambda epsilon, _, args: 16 * epsilon * max(1.0, *(x * x for x in args)))]
# Of an f16, naga 29 gives the exponent a type of 16 bits, which it then refuses.
FREXP = [Case("frexp(a).fract"), Case("frexp(a).exp", "i32")]
BOOLS = [Case("any(vec2(a > b, a == c))", "bool"), Case("all(vec3(a > b, a > c, a != 0))", "bool"), Case("!(a > b)", "bool"), Case("a > b && a > c", "bool"), Case("a > b || a > c", "bool")]  # fmt: skip


def conversions(rows: int) -> list[Case]:
    return [Case(f"{type_name(kind, rows)}(a)", kind, where=small(1e9)) for kind in ("i32", "u32", "f32", "bool")]


GROUPS = {
    **{(scalar, rows): FLOATS + conversions(rows) + (FLOAT_VECTORS if rows > 1 else BOOLS) + (CROSS if rows == 3 else []) + (FREXP if scalar == "f32" else []) for scalar in ("f32", "f16") for rows in (1, 2, 3, 4)},
    **{("i32", rows): [*INTEGERS, *conversions(rows), Case("-a"), Case("sign(a)")] + ([Case("dot(a, b)", rows=1)] if rows > 1 else [*FIELDS, *BOOLS]) for rows in (1, 2, 4)},
    **{("u32", rows): INTEGERS + conversions(rows) + ([Case("dot(a, b)", rows=1)] if rows > 1 else [*FIELDS, *BOOLS]) for rows in (1, 3)},
    ("u32", 0): WORDS, ("f32", 0): PACKED,
}  # fmt: skip


def arguments(scalar: str, rows: int) -> np.ndarray[Any, Any]:
    """Samples × 3 × rows numbers of the type, edges among them."""
    rng = np.random.default_rng(rows)
    shape = (SAMPLES, 3, rows)
    if scalar in ("i32", "u32"):
        low, high = (-(2**31), 2**31) if scalar == "i32" else (0, 2**32)
        edges = np.array([0, 1, 2, 3, 31, 32, 255, 2**31 - 1, low, high - 1, low + 1])
        drawn = np.where(rng.random(shape) < 0.5, rng.integers(low, high, shape), rng.integers(0, 100, shape))
        mixed = np.where(rng.random(shape) < 0.3, rng.choice(edges, shape), drawn)
        return np.where(
            (np.arange(SAMPLES) % 3 < 2)[:, None, None], mixed, np.sort(rng.integers(1, 100, shape), axis=1)
        )
    large = FORMATS[scalar][2]
    edges = np.array([0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 2, 0.25, 7, -7.75, large, -large, 1e-3, 100])
    # By turns: edges among all numbers, any numbers, and three numbers in order below and above 1.
    wide = rng.uniform(-8, 8, shape)
    mixed = np.where(rng.random(shape) < 0.5, rng.choice(edges, shape), wide)
    ordered = [np.sort(rng.uniform(low, high, shape), axis=1) for low, high in ((0.05, 0.95), (1.05, 3))]
    found = np.choose((np.arange(SAMPLES) % 4)[:, None, None], [mixed, wide, *ordered])
    return found.astype(np.float16 if scalar == "f16" else np.float32).astype(np.float64)


def result_of(case: Case, scalar: str, rows: int) -> tuple[str, int]:
    return case.result or scalar, case.rows or max(rows, 1)


def run(device: Any, code: str, args: np.ndarray[Any, Any], words: int, *, groups: int = 1) -> np.ndarray[Any, Any]:
    """What the compute shader writes: `words` u32."""
    source = device.create_buffer_with_data(data=args.tobytes(), usage="STORAGE")
    target = device.create_buffer(size=words * 4, usage="STORAGE | COPY_SRC")
    module = device.create_shader_module(code=code)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    entries = [{"binding": 0, "resource": {"buffer": source}}, {"binding": 1, "resource": {"buffer": target}}]
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
    encoder = device.create_command_encoder()
    computing = encoder.begin_compute_pass()
    computing.set_pipeline(pipeline)
    computing.set_bind_group(0, group)
    computing.dispatch_workgroups(groups)
    computing.end()
    device.queue.submit([encoder.finish()])
    return np.frombuffer(device.queue.read_buffer(target), np.uint32)


def on_device(device: Any, scalar: str, rows: int, cases: list[Case], args: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:  # fmt: skip
    """Each case's results: samples × components."""
    from_word = {"f32": "bitcast<f32>({})", "f16": "f16(bitcast<f32>({}))", "i32": "bitcast<i32>({})", "u32": "{}"}
    to_word = {"f32": "bitcast<u32>({})", "f16": "bitcast<u32>(f32({}))", "i32": "bitcast<u32>({})", "u32": "{}", "bool": "select(0u, 1u, {})"}  # fmt: skip
    count = max(rows, 1)
    lines: list[str] = []
    for place, name in enumerate("abc"):
        parts = ", ".join(from_word[scalar].format(f"args[at + {place * count + row}u]") for row in range(count))
        lines.append(f"let {name} = {type_name(scalar, rows)}({parts});")
    used = 0
    for number, case in enumerate(cases):
        kind, wide = result_of(case, scalar, rows)
        lines.append(f"let r{number} = {case.text};")
        for row in range(wide):
            part = f"r{number}" if wide == 1 else f"r{number}[{row}]"
            lines.append(f"out[to + {used}u] = {to_word[kind].format(part)};")
            used += 1
    code = f"""{"enable f16;" if scalar == "f16" else ""}
        @group(0) @binding(0) var<storage, read> args: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {{
          let at = id.x * {3 * count}u; let to = id.x * {used}u;
          {chr(10).join(lines)}
        }}"""
    data = args.astype({"i32": np.int32, "u32": np.uint32}.get(scalar, np.float32))
    words = run(device, code, data, SAMPLES * used, groups=SAMPLES).reshape(SAMPLES, used)
    found: list[np.ndarray[Any, Any]] = []
    start = 0
    for case in cases:
        kind, wide = result_of(case, scalar, rows)
        part = np.ascontiguousarray(words[:, start : start + wide])
        found.append(part.view({"i32": np.int32, "f32": np.float32, "f16": np.float32}.get(kind, np.uint32)))
        start += wide
    return found


def literal(scalar: str, value: Any) -> str:
    if scalar in ("i32", "u32"):
        return f"{scalar}({int(value)})"
    return f"{scalar}({float(value)!r})"


def computed(scalar: str, rows: int, cases: list[Case], args: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The constants c<case>_<sample> that have a value."""
    lines = ["enable f16;"] if scalar == "f16" else []
    for sample in range(SAMPLES):
        for place, name in enumerate("abc"):
            parts = ", ".join(literal(scalar, value) for value in args[sample, place])
            lines.append(f"const {name}{sample} = {type_name(scalar, rows)}({parts});")
        for number, case in enumerate(cases):
            text = case.text
            for name in "abc":
                text = text.replace(f"@{name}", f"{name}{sample}")
            lines.append(f"const c{number}_{sample} = {text};")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BackendWarning)
        module = wgsl.parse("\n".join(lines), skip=True)
    # A constant without a value is a separate kind of error, everything else is a mistake in this test.
    assert all("const-expression must have a value" in part.reason for part in module.skipped), module.skipped[0]
    return module.constants


def marked(case: Case) -> Case:
    """`case` with @a, @b and @c for its arguments."""
    return case._replace(text=re.sub(r"\b([abc])\b", r"@\1", case.text))


def compared(
    scalar: str, rows: int, case: Case, args: np.ndarray[Any, Any], ours: Any, theirs: Any, *, exact: bool
) -> Iterator[str]:
    """Where the two differ. Unless `exact`, `%` of negative integers may be anything: Vulkan does not define OpSRem for them."""
    kind, wide = result_of(case, scalar, rows)
    epsilon, normal, _ = FORMATS.get(kind, (0, 0, 0))
    parts = ours if wide > 1 else (ours,)
    for row, (mine, measured) in enumerate(zip(parts, theirs.tolist(), strict=True)):
        alike = wide == rows and rows > 1 and not case.text.startswith(("normalize", "reflect", "refract", "faceForward", "cross"))  # fmt: skip
        taken = [float(x) for x in (args[:, row] if alike else args.ravel())]
        if not case.where(taken) or (case.text == "a % b" and kind == "i32" and not exact and min(taken[:2]) < 0):
            continue
        allowed = case.within(epsilon, float(mine), taken) if case.within else 0.0
        if kind in FORMATS and abs(float(mine)) <= normal:
            allowed = max(allowed, normal)  # What is not normal may be flushed to zero (§15.7.2).
        if not abs(float(mine) - measured) <= allowed:
            yield f"{case.text} of {taken}: {mine} computed, {measured} measured"


@pytest.mark.parametrize(("scalar", "rows"), GROUPS, ids=lambda value: str(value))
def test_constants_are_what_the_device_computes(device: Any, scalar: str, rows: int) -> None:
    cases = GROUPS[scalar, rows]
    args = arguments(scalar, max(rows, 1))
    measured = on_device(device, scalar, rows, cases, args)
    constants = computed(scalar, rows, [marked(case) for case in cases], args)
    wrong: list[str] = []
    exact = device.adapter.info["adapter_type"] == "CPU"
    for number, case in enumerate(cases):
        values = {sample: constants.get(f"c{number}_{sample}") for sample in range(SAMPLES)}
        known = {sample: value for sample, value in values.items() if value is not None}
        assert len(known) >= 3, f"{case.text} has hardly a value"
        for sample, value in known.items():
            wrong += compared(scalar, rows, case, args[sample], value, measured[number][sample], exact=exact)
    assert wrong == []


def matrix_cases(columns: int, rows: int) -> Iterator[tuple[str, int, int]]:
    """Expressions of the matrices m and n, the vectors v and w, and the scalar s; columns and rows of the result."""
    yield from ((text, columns, rows) for text in ("m + n", "m - n", "m * s", "s * n", "m * transpose(n) * m"))
    yield "transpose(m)", rows, columns
    yield "m * v", 1, rows
    yield "w * m", 1, columns
    yield "m * transpose(n)", rows, rows
    yield "transpose(m) * n", columns, columns
    if rows == columns:
        yield "determinant(m)", 1, 1


@pytest.mark.parametrize("scalar", ["f32", "f16"])
@pytest.mark.parametrize("columns", [2, 3, 4])
@pytest.mark.parametrize("rows", [2, 3, 4])
def test_matrices_are_what_the_device_computes(device: Any, scalar: str, columns: int, rows: int) -> None:
    """Small integers, so that every step is exact in f16 too."""
    rng = np.random.default_rng(rows * columns)
    numbers = rng.integers(-4, 5, (2 * columns * rows + columns + rows + 1)).tolist()
    shapes = {"m": (columns, rows), "n": (columns, rows), "v": (1, columns), "w": (1, rows), "s": (1, 1)}
    constants: list[str] = []
    loads: list[str] = []
    start = 0
    for name, (wide, high) in shapes.items():
        kind = f"mat{wide}x{high}<{scalar}>" if wide > 1 else type_name(scalar, high)
        places = range(start, start + wide * high)
        constants.append(f"const {name} = {kind}({', '.join(str(numbers[place]) for place in places)});")
        loads.append(f"let {name} = {kind}({', '.join(f'{scalar}(args[{place}])' for place in places)});")
        start += wide * high
    cases = list(matrix_cases(columns, rows))
    stores: list[str] = []
    for number, (text, wide, high) in enumerate(cases):
        constants.append(f"const r{number} = {text};")
        stores.append(f"let r{number} = {text};")
        for column in range(wide):
            for row in range(high):
                part = f"r{number}" + f"[{column}]" * (wide > 1) + f"[{row}]" * (high > 1)
                stores.append(f"out[{len(stores) - number - 1}] = f32({part});")
    enable = "enable f16;" * (scalar == "f16")
    code = f"""{enable} @group(0) @binding(0) var<storage, read> args: array<f32>;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() {{ {" ".join(loads + stores)} }}"""
    measured = run(device, code, np.array(numbers, np.float32), len(stores) - len(cases)).view(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BackendWarning)
        found = wgsl.parse("\n".join([enable, *constants])).constants
    ours = np.concatenate([np.ravel(found[f"r{number}"]) for number in range(len(cases))])
    np.testing.assert_array_equal(ours, measured)


def test_every_const_builtin_is_among_them() -> None:
    texts = " ".join(case.text for cases in GROUPS.values() for case in cases)
    matrices = {"transpose", "determinant"}
    assert {name for name in FUNCTIONS if f"{name}(" not in texts and f"{name}<" not in texts} == matrices
