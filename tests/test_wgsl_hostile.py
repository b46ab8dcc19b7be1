"""Hostile shaders: an error or a module, never another exception, never for long."""

from __future__ import annotations

import os
import random
import re
import resource
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from gpustruct import WgslError, wgsl
from truth import CASES
from wgsl_verdicts import ENTRIES

MEGABYTE = 1_000_000
# More with GPUSTRUCT_FUZZ=200000.
INPUTS = int(os.environ.get("GPUSTRUCT_FUZZ", "3000"))


def outcome(text: str, **options: Any) -> str:
    """The rule of the WgslError, or "" for a module; all else is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wgsl.BackendWarning)
        try:
            wgsl.parse(text, **options)
        except WgslError as error:
            found = error
        else:
            return ""
    assert len(str(found)) < 5000
    assert found.rule
    return found.rule


def chain(keyword: str, count: int, end: str) -> str:
    return "".join(f"{keyword} A{i} = {end.replace('$', f'A{i + 1}')};" for i in range(count))


def nested(fields: int, depth: int, leaf: str) -> str:
    inner = (f"struct S{i} {{ {','.join(f'm{j}: S{i + 1}' for j in range(fields))} }}" for i in range(depth))
    return f"{''.join(inner)} struct S{depth} {{ x: {leaf} }} @group(0) @binding(0) var<uniform> u: S0; const z = S0();"


CHARACTERS = [
    f"{start}{character}"
    for start in ("", "const x = ")
    for character in "({[<>}])/*;@,:.=-+!&|~^%a_0 \x00\n\r#$é\u0301"
]
LARGE = {
    "a name": f"struct {'a' * MEGABYTE} {{ x: f32 }}",
    "a name twice": f"struct {'a' * MEGABYTE} {{ x: f32 }}" * 2,
    "a number": f"const x = {'9' * MEGABYTE};",
    "a hexadecimal number": f"const x = 0x{'f' * MEGABYTE};",
    "an exponent": f"const x = 1e{'9' * MEGABYTE};",
    "comments in comments": "/*" * (MEGABYTE // 2),
    "comments": "/**/" * (MEGABYTE // 4),
    "template lists": f"alias A = {'array<' * (MEGABYTE // 6)};",
    "comparisons": f"const x = {'a<' * (MEGABYTE // 2)};",
    "sums": f"const x = {'1+' * 45_000}1;",
    "negations": f"const x = {'-' * MEGABYTE}1;",
    "swizzles": f"const x = vec2(1, 2){'.xy' * 45_000};",
    "array elements": f"const x = array({'1,' * 45_000});",
    "aliases in a circle": "".join(f"alias A{i} = A{(i + 1) % 9000};" for i in range(9000)),
    "aliases": chain("alias", 9000, "$") + "alias A9000 = f32;",
    "arrays in arrays": chain("alias", 9000, "array<$, 1>") + "alias A9000 = bool; const z = A0();",
    "constants": chain("const", 9000, "$ + 1") + "const A9000 = 1;",
    "sums of sums": chain("const", 200, "$ + $") + "const A200 = 0;",
    "arrays of arrays of": chain("const", 14, "array($, $, $, $, $, $, $, $)") + "const A14 = 1;",
    "structs in structs": nested(20, 13, "f32"),
    "structs in structs, not shareable": nested(20, 13, "bool"),
    "two structs in a struct": nested(2, 16, "bool"),
    "zeros": "const a = array<array<array<bool, 65535>, 65535>, 65535>();",
    "members": f"struct A {{ {','.join(f'm{i}: f32' for i in range(20_000))} }}",
    "structs": "".join(f"struct A{i} {{ a: f32, b: vec3f }}" for i in range(9000)),
    "arguments": f"struct A {{ @align({'4,' * 45_000}) a: f32 }}",
    "attributes": f"{'@a ' * (MEGABYTE // 3)} fn f() {{}}",
    "functions": "fn f() {}\n" * 100_000,
    "directives": "enable f16;" * (MEGABYTE // 11),
    "faults in uniform": f"struct I {{ a: f32 }} struct P {{ {','.join(f'm{i}: I' for i in range(1000))} }}"
    "@group(0) @binding(0) var<uniform> u: array<P, 4>;",
    "a late error": f"{chr(10) * MEGABYTE}x x",
}
SKIPPED = {
    "marks": "#\n" * (MEGABYTE // 2), "block marks": "{#" * (MEGABYTE // 2), "values": "{{a" * (MEGABYTE // 3),
    "open values": "{$" * (MEGABYTE // 2), "open functions": "fn a(){\n" * (MEGABYTE // 8), "names": "fn\n" * (MEGABYTE // 3),
    "semicolons": "x;" * (MEGABYTE // 4), "braces": "}" * MEGABYTE, "attributes": "@\n" * (MEGABYTE // 2),
    "attributes in braces": "{\n" + "@a\n" * (MEGABYTE // 3), "long value": "{{" + "a" * MEGABYTE + "}}",
    "attribute lines": "@id\n" * (MEGABYTE // 4), "open attributes": "@id(a\n" * (MEGABYTE // 6), "open constants": "struct A {\n" + "const x {\n" * (MEGABYTE // 10),
    "conditions": "@if(a)\n" * 9000, "blocks": "@if(A) {" * 9000, "open conditions": "@if(" * 9000, "conditions in brackets": "(" * MEGABYTE + "\nfn f" * 9000 + "@if(a)",
    "directives": "#if X\n#elif Y\n" * 4500, "imports": "#import a::{\n" * 9000, "imports that end": "#import a::{\nb}\n" * 9000,
    "expression": "#if " + "(" * MEGABYTE, "signs": "#if " + "!" * 900 + "a", "minus signs": "#if " + "-" * 900 + "1",
    "placeholders": "@workgroup_size(" + "{{a}}" * 9000, "loops": "{% for x in y %}" * 9000, "starts in comments": "/*" + "fn f() {}\n" * 9000,
    "starts that are not taken": "#if 0\n" + "struct A {\n" * 9000 + "#endif\n" * 9000,
}  # fmt: skip


@pytest.mark.long
@pytest.mark.usefixtures("cpu_limit")
@pytest.mark.parametrize("start", CHARACTERS, ids=ascii)
def test_a_megabyte_of_one_character(start: str) -> None:
    outcome(start + start[-1] * MEGABYTE)
    outcome(start + start[-1] * MEGABYTE, skip=True)


@pytest.mark.long
@pytest.mark.usefixtures("cpu_limit")
@pytest.mark.parametrize("name", LARGE)
def test_large(name: str) -> None:
    outcome(LARGE[name])
    outcome(LARGE[name], skip=True)


@pytest.mark.long
@pytest.mark.usefixtures("cpu_limit")
@pytest.mark.parametrize("name", SKIPPED)
def test_large_templates(name: str) -> None:
    outcome(SKIPPED[name], skip=True)
    outcome(SKIPPED[name], skip=True, defines={"X": 1, "A": True})


@pytest.mark.parametrize(
    ("opening", "inner", "closing"), [("(", "1", ")"), ("abs(", "1", ")"), ("(-", "1", ")"), ("vec2(0)[", "0", "]")]
)
def test_brackets_may_nest_so_deep_and_no_deeper(opening: str, inner: str, closing: str) -> None:
    assert outcome(f"const x = {opening * 126}{inner}{closing * 126};") == ""
    assert outcome(f"const x = {opening * 128}{inner}{closing * 128};") == "nesting"


def test_structs_may_unfold_so_far() -> None:
    assert outcome(nested(20, 3, "f32")) == "gap-uniform"
    assert outcome(nested(20, 5, "f32")) == "struct-unfolded"


def test_types_may_nest_so_deep_and_no_deeper() -> None:
    for leaf in ("f32", "bool"):
        assert outcome(f"alias A = {'array<' * 15}{leaf}{', 1>' * 15};") == ""
        assert outcome(f"alias A = {'array<' * 16}{leaf}{', 1>' * 16};") == "nesting-depth"
    assert outcome(f"const x = {'array(' * 16}1{')' * 16};") == "nesting-depth"
    assert (
        outcome(chain("struct", 16, "$").replace("= ", "{ a: ").replace(";", "}") + "struct A16 { b: bool }")
        == "nesting-depth"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="no resource limits")
def test_memory_stays_bounded() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for text in (LARGE["zeros"], LARGE["arrays of arrays of"], LARGE["structs in structs"], "const x = 1 << 4000000000;",
                 "const a = array<u32, 500000000>();", "const p = pow(1e300, 1e300);"):  # fmt: skip
        outcome(text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


WORDS = """struct const override alias var fn enable requires diagnostic const_assert true false f32 u32 i32 f16 bool vec3f vec3
    mat4x4 array atomic texture_2d sampler uniform storage read_write workgroup private @group @binding @align @size @compute
    @workgroup_size @id ( ) [ ] { } < > , ; : = == <= >> << + - * / % & | ^ && || ! ~ . -> // /* */ 0 1 4u 16 1e9 0x1p3 -1
    2147483648 4294967296 1.5 N A B p x select max # $$ {{ }} {% %} #ifdef #endif \n \t \x00 é \u2028 if else endif""".split(
    " "
)


EXPRESSIONS = [
    "(1 + 2 * 3 - 4 / 2 % 5) << 3", "(~0u >> 4u) & 15u", "select(1, 2, 1 < 2 && true)", "vec3(1, 2.5, 3).zy.x",
    "array(1, 2, 3)[min(1, 2)]", "mat2x2f(1, 2, 3, 4)[1][0]", "K(3u, vec2(1, 2)).b.y", "u32(-7 / -2) ^ 1", "f32(0x1.8p1) * 1e3f",
    "vec2<u32>(1, 2) + vec2<u32>(3)", "array<vec2h, 2>()[1].x", "clamp(i32(-3.5), -1, 1) == -1",
]  # fmt: skip


def seeds() -> list[str]:
    constants = "".join(f"const c{i} = {text.strip()};\n" for i, text in enumerate(EXPRESSIONS))
    module = (
        "enable f16; requires pointer_composite_access; override n: u32 = 4; @id(2) override m = n * 2u;\n"
        "struct K { a: u32, b: vec2f } alias Ks = array<K, c0 + 2>; const_assert 1 < 2;\n"
        "@group(0) @binding(1) var<storage, read_write> ks: array<K>; var<workgroup> w: array<atomic<u32>, m>;\n"
        "@compute @workgroup_size(n, 1 + 1) fn f() { if (a < b) { return; } }\n"
    )
    texts = [entry["wgsl"] for entry in ENTRIES] + [case["wgsl"] for case in CASES if len(case["wgsl"]) < 600]
    return texts + [module + constants] * 40


def mutated(generator: random.Random, texts: list[str]) -> str:
    """A text with a few tokens, or a few characters, replaced, repeated, removed or taken from another text."""
    text = generator.choice(texts)
    if generator.random() < 0.6:
        parts = re.findall(r"\w+|\s+|[^\w\s]", text)
        for _ in range(generator.randint(1, 3)):
            here, there = generator.randrange(len(parts)), generator.randrange(len(parts))
            choice = generator.random()
            if choice < 0.4:
                parts[here] = parts[there]
            elif choice < 0.7:
                parts[here] = generator.choice(WORDS)
            elif choice < 0.85:
                parts[here] = str(generator.choice((0, -1, 7, 2**31, 2**32, 2**63, 10**30, 1e308, 0.5)))
            else:
                parts[here] += parts[there]
        return "".join(parts)
    for _ in range(generator.randint(1, 4)):
        start = generator.randint(0, len(text))
        end = min(len(text), start + generator.choice((0, 1, 1, 2, 5, 20, 100)))
        choice = generator.random()
        if choice < 0.3:
            text = text[:start] + text[end:]
        elif choice < 0.5:
            text = text[:end] + text[start:end] * generator.randint(1, 3) + text[end:]
        elif choice < 0.8:
            other = generator.choice(texts)
            cut = generator.randint(0, len(other))
            text = text[:start] + other[cut : cut + generator.choice((5, 20, 80))] + text[end:]
        else:
            text = (
                text[:start]
                + chr(generator.choice((0, 9, 34, 36, 39, 92, 0x85, 0x200E, 0xD800, 0x10FFFF)))
                + text[end:]
            )
    return text


def inputs(count: int, seed: int) -> Iterator[tuple[str, bool]]:
    generator, texts = random.Random(seed), seeds()
    for index in range(count):
        yield mutated(generator, texts), index % 4 == 0


@pytest.mark.timeout(max(300, INPUTS // 50))
def test_mutated_shaders() -> None:
    seen = {outcome(text, skip=skip) for text, skip in inputs(INPUTS, seed=20260801)}
    assert len(seen) > 30
