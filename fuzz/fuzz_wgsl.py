"""Shaders from anything: parse, declare and stubs give a result or a WgslError, and soon.

The first byte of an input chooses options, the rest is the text. What `declare` writes of the parsed structs is parsed
again, and must have the same layouts.
"""

from __future__ import annotations

import contextlib
import sys
import time
import warnings

import atheris

with atheris.instrument_imports(include=["gpustruct"]):
    import gpustruct
    from gpustruct import GpuStructError, layout_of, wgsl

    # The parser is imported on first use.
    _loaded = (
        wgsl.declare(*wgsl.parse("struct S { x: f32 }").structs.values()),
        wgsl.stubs(wgsl.parse("const a = vec2(1);")),
    )

# CPU time of one input. The parser must not need more than this for a short text.
MOST_SECONDS = 5.0
TARGETS = ("spec", "naga", "tint")


def layouts(module: wgsl.Module) -> dict[str, object]:
    return {name: list(layout_of(made).rows_of_table()) for name, made in module.structs.items()}


def use(text: str, options: int) -> None:
    """All that a program does with a shader's text."""
    skip = bool(options & 1)
    module = wgsl.parse(text, skip=skip, target=TARGETS[(options >> 1) % 3])
    repr(module)
    wgsl.stubs(module)
    if module.entry_points:
        with contextlib.suppress(GpuStructError):
            module.bind_group_layouts()
    if module.structs:
        declared = wgsl.declare(*module.structs.values())
        again = layouts(wgsl.parse(declared))
        for name, layout in layouts(module).items():
            if again[name] != layout:
                raise AssertionError(f"{name} has another layout after declare and parse:\n{declared}")


def one_input(data: bytes) -> None:
    start = time.process_time()
    try:
        use(data[1:].decode("utf-8", "replace"), data[0] if data else 0)
    except GpuStructError as error:
        if not error.rule or len(str(error)) > 5000:
            raise AssertionError("an error has no rule, or is too long") from error
    if time.process_time() - start > MOST_SECONDS:
        raise AssertionError(f"took {time.process_time() - start:.1f} s of CPU time")


if __name__ == "__main__":
    warnings.simplefilter("ignore", wgsl.BackendWarning)
    assert gpustruct.__file__
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
