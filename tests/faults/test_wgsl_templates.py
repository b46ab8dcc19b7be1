"""Templates and imperfect texts: what is taken, what is listed, and what the errors say to write instead."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustruct import WgslError, layout_of, wgsl
from gpustruct.wgsl import Module

REST = "const N = 4;\nstruct G { a: array<f32, N> }\nstruct H { b: f32 }\n"


def skipped(text: str, **options: Any) -> Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wgsl.BackendWarning)
        return wgsl.parse(text, skip=True, **options)


def listed(module: Module) -> list[tuple[int, str]]:
    return [(part.line, part.text) for part in module.skipped]


def fault_of(text: str) -> WgslError:
    with pytest.raises(WgslError) as caught:
        wgsl.parse(text)
    return caught.value


LONE_LINES = [
    "{{ bindings_code }}", "${code}", "#{CODE}", "%CODE%", "%%COMMON%%", "  #{CODE}", "@include foo", "@include", "<%= code %>", "@@CODE@@",
    "}", ");", "fn broken(", "struct", "struct B {", "const X =", "@group(0)", "\x00", "include \"a.wgsl\"", "...", "alias T", "var<storage",
]  # fmt: skip


@pytest.mark.parametrize("line", LONE_LINES)
def test_F3_a_line_that_is_no_declaration_takes_nothing_with_it(line: str) -> None:
    module = skipped(f"struct A {{ x: u32 }}\n{line}\n{REST}")
    assert list(module.structs) == ["A", "G", "H"]
    assert module.constants == {"N": 4}
    assert listed(module) == [(2, line.strip())]


@pytest.mark.parametrize("text", ["${COMMON}", "{{ common }}", "#{COMMON}", "{{common}}{{more}}"])
def test_W28_a_placeholder_alone_on_its_line(text: str) -> None:
    module = skipped(f"{text}\nstruct A {{ a: f32 }}\n@compute @workgroup_size(1)\nfn m() {{}}")
    assert (list(module.structs), list(module.entry_points)) == (["A"], ["m"])
    assert listed(module) == [(1, text)]


@pytest.mark.parametrize("line", ["%%COMMON%%", "COMMON", "// comment\nCOMMON\nMORE", "a b c", "\\define X"])
def test_W29_reading_goes_on_at_the_next_declaration(line: str) -> None:
    module = skipped(f"{line}\nstruct A {{ a: f32 }}\n{line}\n@group(0) @binding(0)\nvar<uniform> a: A;")
    assert (list(module.structs), list(module.bindings)) == (["A"], ["a"])
    assert len(module.skipped) == 2


@pytest.mark.parametrize(
    ("opening", "between"),
    [
        ("#ifndef LIB", "#define LIB"), ("#ifndef LIB_WGSL_", "#define LIB_WGSL_ 1"), ("# ifndef LIB", "# define LIB"),
        ("#if !defined(LIB)", "#define LIB"), ("// a licence\n#ifndef LIB", "\n#define LIB\n"),
    ],
)  # fmt: skip
def test_W30_an_include_guard_is_no_condition(opening: str, between: str) -> None:
    text = f"{opening}\n{between}\nstruct A {{ a: f32 }}\n#ifdef MORE\nstruct B {{ b: f32 }}\n#endif\n#endif"
    assert list(skipped(text).structs) == ["A"]
    assert list(skipped(text, defines={}).structs) == ["A"]
    assert list(skipped(text, defines={"MORE": True}).structs) == ["A", "B"]


def test_W30_what_is_no_guard_is_a_condition() -> None:
    assert not skipped("#ifndef LIB\n#define OTHER\nstruct A { a: f32 }\n#endif").structs


WESL = [
    "@if(WIDE) {\nstruct A { a: f32, b: f32 }\n}\n@else {\nstruct A { a: vec4f }\n}",
    "@if(WIDE) struct A { a: f32, b: f32 }\n@else struct A { a: vec4f }",
    "@if(WIDE)\nstruct A { a: f32, b: f32 }\n@if(!WIDE)\nstruct A { a: vec4f }",
    "struct A { a: f32, @if(WIDE) b: f32, @if(!WIDE) @size(8) b: vec2f, @else @if(X) c: f32 }",
    "@if(X) struct A { x: u32 }\n@elif(WIDE && !X) struct A { a: f32, b: f32 }\n@else struct A { a: vec4f }",
    "@if(WIDE || X) alias T = vec2f;\n@else alias T = vec4f;\nstruct A { a: T }",
]


@pytest.mark.parametrize("text", WESL)
def test_W31_a_declaration_under_a_condition_is_listed(text: str) -> None:
    module = skipped(f"{text}\nstruct Last {{ a: f32 }}")
    assert list(module.structs) == ["Last"]
    assert any("struct A" in part.text for part in module.skipped)


@pytest.mark.parametrize("text", WESL)
def test_W31_defines_take_the_branch_that_is_meant(text: str) -> None:
    wide, narrow = skipped(text, defines={"WIDE": True}), skipped(text, defines={})
    assert layout_of(wide.structs["A"]).size == 8
    assert layout_of(narrow.structs["A"]).size == 16


def test_W31_conditions_among_attributes_and_parameters() -> None:
    text = (
        "@if(GPU) @compute @workgroup_size(4) fn a() {}\n@compute @if(GPU) @workgroup_size(8) fn b() {}\n"
        "fn f(x: f32, @if(GPU) y: array<vec2<f32>, 4>, z: u32) -> f32 { @if(GPU) { return 1.0; } return x; }\n"
        "import package::shapes::{Box, Ball as Sphere};\n@else import other::Box;\nstruct Last { a: f32 }"
    )
    assert list(skipped(text).structs) == ["Last"]
    sizes = {name: entry.workgroup_size for name, entry in skipped(text, defines={"GPU": 1}).entry_points.items()}
    assert sizes == {"a": (4, 1, 1), "b": (8, 1, 1)}
    module = skipped(text, defines={})
    assert (list(module.entry_points), module.functions) == (["b"], ("b", "f")) or module.functions == ("f",)


@pytest.mark.parametrize(
    "rest",
    [
        "/* open\nstruct B { b: f32 }",
        "/* /* closed */ open\nstruct B { b: f32 }\n",
        "fn f() {}\n/*\n\n   struct B { b: f32 }",
        "/*/\nstruct B { b: f32 }",
    ],
)
def test_W32_an_open_comment_ends_the_reading_and_the_rest_is_listed(rest: str) -> None:
    module = skipped(f"struct A {{ a: f32 }}\n{rest}")
    assert list(module.structs) == ["A"]
    assert [part.text for part in module.skipped][-1] == "struct B { b: f32 }"
    assert any("comment must end" in part.reason for part in module.skipped)


@pytest.mark.parametrize(
    ("size", "known"),
    [
        ("${N}, 1", (None, 1, 1)), ("{{ n }}", (None, 1, 1)), ("8, #{N}", (8, None, 1)), ("{{ n }}u, 2, ${ M }", (None, 2, None)),
        ("{{ n }} * 2", (None, 1, 1)), ("max(4, ${N})", (None, 1, 1)), ("$N", (None, 1, 1)),
    ],
)  # fmt: skip
def test_W33_a_placeholder_is_a_workgroup_size_that_nobody_knows(size: str, known: tuple[int | None, ...]) -> None:
    for between in (" ", "\n"):
        module = skipped(f"@compute @workgroup_size({size}){between}fn m() {{}}")
        assert (module.entry_points["m"].stage, module.entry_points["m"].workgroup_size) == ("compute", known)
        assert module.skipped == ()


def test_W33_other_placeholders_are_refused() -> None:
    text = "@compute @workgroup_size(1) @x(${N}) fn m() {}\n@group({{ g }}) @binding(0) var<uniform> u: f32;\nstruct A { a: array<f32, #{N}> }"
    assert [part.line for part in skipped(text).skipped] == [1, 2, 3]
    with pytest.raises(WgslError):
        wgsl.parse("@compute @workgroup_size(\x01) fn m() {}")


BRANCHES: list[tuple[str, dict[str, Any], str]] = [
    ("#ifdef X\nA\n#else\nB\n#endif", {"X": 1}, "A"), ("#ifdef X\nA\n#else\nB\n#endif", {}, "B"), ("#ifdef X\nA\n#endif", {"X": 0}, "A"),
    ("#ifdef X\nA\n#endif", {"X": False}, ""), ("#ifndef X\nA\n#else\nB\n#endif", {"X": ""}, "B"), ("#ifndef X\nA\n#else\nB\n#endif", {}, "A"),
    ("#if X == 4\nA\n#elif X == 8\nB\n#else\nC\n#endif", {"X": 8}, "B"), ("#if X == 4\nA\n#elif X == 8\nB\n#else\nC\n#endif", {"X": 9}, "C"),
    ("#if X >= 4u\nA\n#endif", {"X": 4}, "A"), ("#if X != true\nA\n#endif", {"X": True}, ""), ("#if MODE == FAST\nA\n#endif", {"MODE": "FAST"}, "A"),
    ("#if defined(X) && !defined(Y)\nA\n#endif", {"X": 1}, "A"), ("#if defined X || defined Y\nA\n#endif", {"Y": 1}, "A"), ("#if 0\nA\n#else\nB\n#endif", {}, "B"),
    ("#ifdef X\nA\n#else ifdef Y\nB\n#else\nC\n#endif", {"Y": 1}, "B"), ("#ifdef X\nA\n#else if Y > 2\nB\n#endif", {"Y": 3}, "B"),
    ("#define X\n#ifdef X\nA\n#endif", {}, "A"), ("#define X 3 // three\n#if X == 3\nA\n#endif", {}, "A"), ("#define X\n#undef X\n#ifdef X\nA\n#endif", {}, ""),
    ("#ifdef Y\n#define X\n#endif\n#ifdef X\nA\n#endif", {}, ""), ("#ifdef X\n#ifdef Y\nA\n#else\nB\n#endif\n#else\nC\n#endif", {"X": 1}, "B"),
    ("#ifdef X\n#ifdef Y\nA\n#else\nB\n#endif\n#else\nC\n#endif", {"Y": 1}, "C"), ("#if (X && Y) || !Z\nA\n#endif", {"Z": 1}, ""),
    ("{% if x %}\nA\n{% elif y == 'b' %}\nB\n{% else %}\nC\n{% endif %}", {"y": "b"}, "B"), ("{%- if not x and y is defined -%}\nA\n{%- endif -%}", {"y": 1}, "A"),
    ("$$ if x\nA\n$$ else\nB\n$$ endif", {}, "B"), ("#if X == -1\nA\n#endif", {"X": -1}, "A"), ("#if X // when\nA\n#endif", {"X": 1}, "A"),
    ("#region\nA\n#endregion\n#ifdef X\nB\n#endregion\nC\n#endif", {}, "A"), ("#if !X == 1\nA\n#endif", {}, "A"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "defines", "taken"), BRANCHES, ids=[f"{text} {given}" for text, given, _ in BRANCHES])
def test_W31_the_branch_that_defines_choose(text: str, defines: dict[str, Any], taken: str) -> None:
    whole = re.sub(r"(?m)^([ABC])$", r"struct \1 { a: f32 }", text)
    module = skipped(whole, defines=defines)
    assert "".join(module.structs) == taken
    lines = {part.line for part in module.skipped}
    for number, line in enumerate(whole.splitlines(), 1):
        if line.startswith("struct"):
            assert (number in lines) == (line[7] not in taken)
    # The same for members of a struct; there are no directives in front of it then.
    members = re.sub(r"(?m)^([ABC])$", r"  \1: f32,", text)
    found = skipped(f"struct S {{ first: f32,\n{members}\n}}", defines=defines).structs["S"]
    assert [member.name for member in layout_of(found).fields] == ["first", *taken]


def test_defines_fill_in_values_and_are_checked() -> None:
    text = "const N = {{ n }}; const M = #{M}u; const F = ${flag}; struct A { a: array<f32, {{n}}> }"
    module = skipped(text, defines={"n": 4, "M": 70_000, "flag": False})
    assert module.constants == {"N": 4, "M": 70_000, "F": False}
    assert module.structs["A"].a.size == 16
    bad: list[Any] = [{"n": [1]}, {"n": "a\nb"}, {3: 4}]
    for defines in bad:
        with pytest.raises(WgslError, match="defines takes names"):
            wgsl.parse(text, skip=True, defines=defines)
    # Without skip nothing may be left over.
    assert list(wgsl.parse("#ifdef X\nstruct A { a: f32 }\n#endif", defines={"X": 1}).structs) == ["A"]
    with pytest.raises(WgslError, match="placeholder"):
        wgsl.parse("const N = {{ n }};", defines={})


@pytest.mark.parametrize(
    "condition",
    ["{% if a.b %}", "{% if a | length %}", "#if f(X)", "#if X ==", "#if (", "{% for x in xs %}", "#if X + 1"],
)
def test_a_condition_that_cannot_be_decided_stays_one(condition: str) -> None:
    module = skipped(f"{condition}\nstruct A {{ a: f32 }}\n#endif", defines={"X": 1})
    assert not module.structs
    assert "under a condition" in module.skipped[1].reason


# What is lost is listed.

KNOWN = [
    "struct A{} {{ a: f32 }}", "const C{} = 4;", "override O{}: u32;", "alias T{} = vec3f;", "fn f{}() -> f32 {{ var x = 1.0; return x; }}",
    "@group(0) @binding(0)\nvar<storage, read_write> b{}: array<f32>;", "var<private> p{}: u32;", "@compute @workgroup_size(8)\nfn e{}() {{\n  const local = 1;\n  let y = local;\n}}",
]  # fmt: skip
JUNK = [
    *LONE_LINES, "{", "foo {", "fn broken() {", "if (x) {", "#ifdef X", "#else", "#endif", "@if(X)", "@if(X) {", "{% if x %}", "{% raw %}", "{{ a", "$", "/*",
    "import a::b;", "import a::{", "#import a::{", "#import a::{b, c}", "/* done */", "// struct Z { a: f32 }", "struct Q { a: }", "fn g(a) {\n  var z = 1;\n}", "'", "\ufeff",
]  # fmt: skip
NAME = re.compile(r"(?:struct|const|override|alias|fn|var(?:<[^>]*>)?)\s+([ACOTfbpe]\d+)")


@given(
    st.lists(st.tuples(st.integers(0, len(KNOWN) - 1), st.sampled_from(JUNK) | st.text(max_size=12)), max_size=8),
    st.sampled_from([None, {}, {"X": 1}]),
)
def test_no_declaration_is_lost_unlisted(parts: list[tuple[int, str]], defines: Any) -> None:
    lines: list[str] = []
    for index, (known, junk) in enumerate(parts):
        if "*/" in junk and any("/*" in line for line in lines):
            continue
        lines += [*junk.split("\n"), *KNOWN[known].format(index).split("\n")]
    text = "\n".join(lines)
    module = skipped(text, defines=defines)
    named = {*module.structs, *module.constants, *module.overrides, *module.aliases, *module.functions}
    named |= {*module.bindings, *module.variables, *module.unavailable}
    reported = {part.line for part in module.skipped}
    words = " ".join(part.text for part in module.skipped)
    for number, line in enumerate(lines, 1):
        # Lines as an editor counts them; other breaks inside the junk would shift the numbers.
        if found := NAME.search(line):
            assert found[1] in named or number in reported or re.search(rf"\b{found[1]}\b", words), (
                found[1],
                text,
                module.skipped,
            )


# Syntax errors.


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffstruct S { a: f32 }",
        "\ufeff",
        "struct S { a: f32 } \ufeffstruct T { a: f32 }",
        "\xef\xbb\xbfstruct S { a: f32 }",
    ],
)
def test_F18_a_byte_order_mark_is_named(text: str) -> None:
    message = str(fault_of(text))
    assert "byte order mark" in message
    assert "encoding='utf-8-sig'" in message


SYNTAX = [
    ("struct a { a: i32 b: i32 }", "`,` or `}` here"), ("const a = ;", "an expression here"), ("const a = 1 const b = 2;", "an operator or `;` here"),
    ("x: f32", "a declaration here"), ("fn f(a u32) {}", "`:` here"), ("alias T f32;", "`=` here"), ("struct A a: f32 }", "`{` here"),
    ("type T = f32;", "write `alias`"), ("let x = 3;", "write `const`"), ("let x: f32 = 3;", "write `const`"), ("import a::b;", "skip=True"),
    ("[[block]] struct S { a: f32; };", "remove [[block]]"), ("[[stage(vertex)]] fn f() {}", "write @vertex"),
    ("[[stage(compute), workgroup_size(1)]] fn f() {}", "write @compute"), ("[[group(0), binding(1)]] var<uniform> u: f32;", "write @group(0) @binding(1)"),
    ("struct A { [[align(16)]] a: f32 }", "write @align(16)"), ("fn f() -> [[location(0)]] vec4f {}", "write @location(0)"),
    ("struct A { a: [[stride(16)]] array<f32> }", "remove [[stride(...)]]"), ("[[override(1)]] let x: f32;", "@id(1) override"),
    ("struct A { a: f32; b: f32; }", "write `,`"), ("@align(16) struct S { a: f32 }", "put @align(16) on a member"), ("@id(1) const a = 4;", "write @id(1) override"),
    ("@block struct S { a: f32 }", "remove @block"), ("@group(0) alias A = f32;", "remove @group(0)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), SYNTAX, ids=[text for text, _ in SYNTAX])
def test_F19_syntax_errors_say_what_could_stand_there_or_what_to_write(text: str, said: str) -> None:
    message = str(fault_of(text)).splitlines()[0]
    assert said in message
    assert "another token" not in message


# Others of these kinds, tried from outside.


@pytest.mark.parametrize(
    "line",
    [
        "<% code %>", "@@CODE@@", "__CODE__", "[[CODE]]", "{{> partial }}", "<?= code ?>", "${fns.map(f => `fn ${f}() {}`).join()}", "$include(\"x\")",
        "%(code)s", "{0}", "@import \"a.wgsl\";", "!INCLUDE x.wgsl", "for (;;) {}", "if (x) { y }", "---", "<script>", "@group(0)", "@@@",
    ],
)  # fmt: skip
def test_F3_W28_W29_marks_of_other_engines_and_debris(line: str) -> None:
    module = skipped(f"struct A {{ x: u32 }}\n{line}\n{REST}")
    assert list(module.structs) == ["A", "G", "H"]
    assert module.constants == {"N": 4}
    assert (2, line) in listed(module)


@pytest.mark.parametrize(
    ("size", "known"),
    [
        ("<%= n %>", (None, 1, 1)), ("%N%, 4", (None, 4, 1)), ("__N__", (None, 1, 1)), ("@N@, @M@", (None, None, 1)), ("{N}, 1", (None, 1, 1)),
        ("64 / {{n}}, 2", (None, 2, 1)), ("8, TILE", (8, None, 1)), ("{{ sizes | join(',') }}", (None, 1, 1)), ("${wg[0]}, ${wg[1]}, 2", (None, None, 2)),
    ],
)  # fmt: skip
def test_W33_sizes_that_another_text_or_engine_gives(size: str, known: tuple[int | None, ...]) -> None:
    module = skipped(f"@compute @workgroup_size({size}) fn m() {{}}\n@workgroup_size({size})\n@compute\nfn n() {{}}")
    assert [entry.workgroup_size for entry in module.entry_points.values()] == [known, known]
    with pytest.raises(WgslError):
        wgsl.parse(f"@compute @workgroup_size({size}) fn m() {{}}")


@pytest.mark.parametrize(
    "text",
    ["\ufeff\ufeffstruct S { a: f32 }", "// c\n\ufeffstruct S { a: f32 }", "struct S { \ufeffa: f32 }", "struct S { a\ufeff: f32 }", "struct S { a: \ufefff32 }"],
)  # fmt: skip
def test_F18_more_of_them_and_within_a_declaration(text: str) -> None:
    assert "byte order mark" in str(fault_of(text))
    module = skipped(text)
    assert list(module.structs) == ["S"]
    assert listed(module)[0][1] == "a byte order mark"
    # In a comment it is a character like others.
    assert list(wgsl.parse("// \ufeff\nstruct S { a: f32 }").structs) == ["S"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("typedef A = f32;", "write `alias`"), ("static x: u32 = 1;", "write `const`"), ("struct S { a: [f32; 4] }", "write array<type, count>"), ("const a = [1, 2];", "array(values)"),
        ("struct S { [[offset(0)]] a: f32; };", "@size on the member before"), ("fn f(a: f32 { }", "(current: '{')"), ("pub fn f() {}", "remove `pub`"), ("export fn f() {}", "remove `export`"),
        ("enum E { A, B }", "write a `const`"), ("uniform vec3 x;", "var<uniform>"), ("var<storage read> a: f32;", "`,` or `>` here"), ("const a 1;", "`:` or `=` here"),
    ],
)  # fmt: skip
def test_F19_spellings_of_other_languages(text: str, said: str) -> None:
    assert said in str(fault_of(text)).splitlines()[0]
