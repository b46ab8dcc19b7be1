"""The ways out of WgslError. What to do stands in the message, where in the text: the cases show that doing it helps."""

from __future__ import annotations

from .case import Case, struct


def text(rule: str, wrong: str, advice: str, put: str) -> Case:
    """A WGSL text that is refused, and the text after the advice."""
    return Case(f"WgslError {rule}", 'wgsl.parse("""@@""")', wrong, advice, put)


BUFFER = "@group(0) @binding(0) "
A = struct("x: vec4f", head="class A(Struct):")

TEXTS = [
    Case("WgslError text-type", "text = b'struct A { x: f32 }'\nwgsl.parse(@@)", "text", r"decode it first: (\S+)"),
    Case("WgslError preprocessor", "text = '#define X 3\\nstruct A { x: f32 }'\nwgsl.@@", "parse(text)", r"or (parse\(text, skip=True\)) for"),
    text("character", "struct A { x: f32 } \\\\", "remove it", "struct A { x: f32 }"),
    text("comment-open", "struct A { x: f32 } /* /* open */@@", r"close it: (\*/)", "struct A { x: f32 } /* /* open */@@"),
    text("brace-open", "fn f() { if true {}", "close it: (})", "fn f() { if true {}@@"),
    text("nesting", f"const a = {'(' * 300}1{')' * 300};", "const or alias", "const b = 1; const a = (b);"),
    text("syntax", "struct A { x f32 }", ".", "struct A { x: f32 }"),
    text("syntax-end", "struct A { x: f32 }\nconst a = 3", ".", "struct A { x: f32 }\nconst a = 3;"),
    text("operators-mixed", "const a = 1 & 2 | 3;", "use parentheses", "const a = (1 & 2) | 3;"),
    text("name", "struct target { x: f32 }", "rename it", "struct target_ { x: f32 }"),
    text("name-twice", "struct A { x: f32, x: f32 }", "rename one of them", "struct A { x: f32, y: f32 }"),
    text("cycle", "const a = b; const b = a;", "break the cycle", "const a = b; const b = 1;"),
    text("unresolved", "struct A { x: B }", "declare it", "struct A { x: B } struct B { y: f32 }"),
    text("unresolved", "struct A { x: f33 }", "correct its spelling", "struct A { x: f32 }"),
    text("not-a-type", "const n = 3; struct A { x: n }", "name a type", "const n = 3; struct A { x: f32 }"),
    text("member-opaque", "struct A { x: sampler }", "a variable of its own", BUFFER + "var x: sampler;"),
    text("template-arguments", "struct A { x: vec3<f32, 4> }", "correct the template list", "struct A { x: vec3<f32> }"),
    text("extension-type", "struct A { x: u64 }", "u32, split in two", "struct A { x: u32, y: u32 }"),
    text("f16-disabled", BUFFER + "var<uniform> a: vec3h;", "put `(.+)` at the top", f"@@\n{BUFFER}var<uniform> a: vec3h;"),
    text("directive-late", "struct A { x: f32 } enable f16;", "to the top of the text", "enable f16; struct A { x: f32 }"),
    text("extension-unknown", "enable f17; struct A { x: f32 }", "remove it", "struct A { x: f32 }"),
    text("severity", "diagnostic(loud, derivative_uniformity);", "correct it", "diagnostic(off, derivative_uniformity);"),
    text("override-id", "@id(70000) override a: f32;", "correct it", "@id(65535) override a: f32;"),
    text("override-id-twice", "@id(1) override a: f32; @id(1) override b: f32;", "change one of them", "@id(1) override a: f32; @id(2) override b: f32;"),
    text("attribute-unknown", "struct A { @stage x: f32 }", "remove it", "struct A { x: f32 }"),
    text("attribute-repeated", "struct A { @align(16) @align(16) x: f32 }", "keep one of them", "struct A { x: f32 }"),
    text("attribute-arguments", "struct A { @size x: f32 }", "correct it", "struct A { @size(8) x: f32 }"),
    text("attribute-number", "@group(-1) @binding(0) var<uniform> a: f32;", r"use a number from (\d)|use (0) or more", "@group(0) @binding(0) var<uniform> a: f32;"),
    text("attribute-missing", "@compute fn f() {}", "add it", "@compute @workgroup_size(1) fn f() {}"),
    text("array-count", "struct A { x: array<f32, 0> }", "use (1) or more", "struct A { x: array<f32, @@> }"),
    text("array-count", "struct A { x: array<f32, 0> }", "or leave it out", "struct A { x: array<f32> }"),
    text("array-inner", "struct A { x: array<array<f32>, 3> }", "give the inner array a count", "struct A { x: array<array<f32, 2>, 3> }"),
    text("literal", "const a = 1.5u;", "correct it", "const a = 1u;"),
    text("constant-fault", "const a = 1 / 0;", "change the expression", "const a = 1 / 2;"),
    text("not-constant", "var<private> n = 3; const a = n;", "use a const", "const n = 3; const a = n;"),
    text("override-constant", "override n = 3; const a = n;", "use a const", "const n = 3; const a = n;"),
    text("integer-wanted", "struct A { x: array<f32, 2.0> }", "use a whole number", "struct A { x: array<f32, 2> }"),
    text("arguments", "const a = vec3f(1, 2);", "their number or types", "const a = vec3f(1, 2, 3);"),
    text("not-constructible", "const a = array<atomic<u32>, 1>();", "use plain data", "const a = array<u32, 1>();"),
    text("no-conversion", "const b = 1f; const a: u32 = b;", r"write (.+)\( \) around it", "const b = 1f; const a: u32 = @@(b);"),
    text("no-common-type", "const a = array(vec2f(), 1u);", "convert them", "const a = array(vec2f(), vec2f(1));"),
    text("operator", "const a = true + true;", "convert the operands", "const a = u32(true) + u32(true);"),
    text("no-component", "const a = vec2f(1, 2).z;", "correct the name", "const a = vec2f(1, 2).y;"),
    text("assertion", "const a = 3; const_assert a == 4;", "change the constants", "const a = 4; const_assert a == 4;"),
    Case("WgslError override-unknown", "wgsl.parse('override n = 3;', overrides={'@@': 4})", "m", "the module has (.+)"),
    Case("WgslError override-value", "wgsl.parse('override n: u32 = 3;', overrides={'n': @@})", "-4", r"pass a u32", "4"),
    text("space-unknown", BUFFER + "var<constant> a: f32;", "uniform|correct it", BUFFER + "var<uniform> a: f32;"),
    text("access", BUFFER + "var<uniform, read> a: f32;", "correct it", BUFFER + "var<uniform> a: f32;"),
    text("binding-missing", "var<uniform> a: f32;", "add them: (.+)", "@@ var<uniform> a: f32;"),
    text("binding-extra", BUFFER + "var<private> a: f32;", "remove @group and @binding", "var<private> a: f32;"),
    text("variable-type", BUFFER + "var<uniform> a;", "write one after the name", BUFFER + "var<uniform> a: f32;"),
    text("variable-value", BUFFER + "var<uniform> a: f32 = 3;", "remove it", BUFFER + "var<uniform> a: f32;"),
    text("handle", BUFFER + "var<uniform> a: sampler;", ".", BUFFER + "var a: sampler;"),
    text("host-shareable", BUFFER + "var<storage> a: bool;", "use (u32) for bool", BUFFER + "var<storage> a: @@;"),
    text("runtime-space", "struct A { x: array<f32> } var<private> a: A;", "give it a count", "struct A { x: array<f32, 2> } var<private> a: A;"),
    text("runtime-space", BUFFER + "var<uniform> a: array<vec4f>;", "use (var<storage>)", BUFFER + "@@ a: array<vec4f>;"),
    text("override-space", "override n = 3; var<private> a: array<f32, n>;", "use a const", "const n = 3; var<private> a: array<f32, n>;"),
    text("atomic-space", BUFFER + "var<storage, read> a: atomic<u32>;", "use (.+)", BUFFER + "@@ a: atomic<u32>;"),
    text("atomic-space", BUFFER + "var<storage> a: array<atomic<u32>>;", "use (.+)", BUFFER + "@@ a: array<atomic<u32>>;"),
    Case("WgslError check-type", "wgsl.check(@@, 'struct A { x: f32 }', name='A')", "3", "pass one of them", "np.dtype([('x', 'f4')])"),
    Case("WgslError check-name", A + "wgsl.check(A, 'struct B { x: vec4f }'@@)", "", "pass (name='B')", ", @@"),
    Case("WgslError check-differs", A + "wgsl.check(A, 'struct A { x: @@ }')", "vec3f", "change one side", "vec4f"),
    Case("WgslError declare-padding", A + "wgsl.declare(A@@)", ", padding=3", "leave it out", ""),
    Case("WgslError declare-padding", A + "wgsl.declare(A, padding=@@)", "'all'", "leave it out", "'members'"),
    Case("WgslError declare-twice", A + "B = A\n" + struct("y: f32", head="class @@(Struct):") + "wgsl.declare(B, @@)", "A", "rename one of the classes", "C"),
    Case("WgslError declare-hides", struct("y: vec4f", head="class vec4f_(Struct):") + "\nN = make_struct('@@', {'x': array[vec2f, 3]})\nwgsl.declare(N)", "vec2f", "rename the class", "Two"),
]  # fmt: skip

TEXTS_NOTHING: dict[str, str] = {
    "WgslError placeholder": "a note on a part that was skipped, not an error by itself",
    "WgslError skipped": "a text of more than a thousand unreadable parts: tests/test_wgsl_hostile.py",
    "WgslError declarations": "a text too long to be a case here: tests/test_wgsl_hostile.py",
    "WgslError tokens": "a text too long to be a case here: tests/test_wgsl_hostile.py",
    "WgslError constant-steps": "an expression too long to be a case here: tests/test_wgsl_hostile.py",
    "WgslError struct-unfolded": "a text too long to be a case here: tests/test_wgsl_hostile.py",
    "WgslError needs-skipped": "a note on a part that was skipped, not an error by itself",
    "WgslError not-whole": "a note on a part that was skipped, not an error by itself",
    "WgslError constant-unknown": "what it is raised for shrinks with each built-in function that is computed",
}
