"""parse: a shader's text to a Module. lark is loaded by the first call."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import WgslError
from .module import Module
from .targets import TARGETS, TargetName


def parse(
    text: str,
    *,
    skip: bool = False,
    overrides: Mapping[str | int, int | float | bool] | None = None,
    standard_layout: bool = False,
    defines: Mapping[str, int | float | bool | str | None] | None = None,
    target: TargetName = "spec",
) -> Module:
    """What the shader `text` declares. Its structs are gpustruct classes, which pack like handwritten ones.

    The text must follow the specification; function bodies are not checked. `overrides` gives values to override
    constants, by name or by @id; overrides that it leaves out have their defaults. Without `overrides`, a default that
    breaks a rule, such as a count of 0, is not an error, because a pipeline can replace it. `standard_layout=True` is
    for devices that have the language feature ``uniform_buffer_standard_layout``; ``requires`` in the text means the
    same.

    `skip=True` is for templates and for text that needs a preprocessor. Declarations that are not complete are listed
    in ``Module.skipped``, with the reason, and the others are read. After an error, parsing resumes at the next line
    that starts a declaration. `defines` gives the values of the names in ``#ifdef``, ``#if``, WESL's ``@if`` and
    Jinja's ``{% if %}``, so that the right branch is read; it also replaces ``{{ name }}``, ``${name}`` and
    ``#{name}``. A name that is not in it, or that is False or None, is not defined. Without `defines`, declarations
    that depend on a condition are skipped.

    `target="naga"` also accepts what naga (wgpu-native, Firefox) adds: 64-bit numbers, ``binding_array``, its
    atomics and ``acceleration_structure``. `target="tint"` also accepts what Tint (Chrome) adds: its extensions, and
    the standard layout in uniform. Warnings are then about that backend only.

    Raises WgslError, with line and column, for text that breaks a rule. Warns with BackendWarning where
    naga or Tint differ from the specification. WGSL §3 to §14.

    >>> from gpustruct import wgsl, layout_of
    >>> module = wgsl.parse('''
    ... struct Particle { position: vec3f, life: f32 }
    ... @group(0) @binding(1) var<storage, read_write> particles: array<Particle>;
    ... ''')
    >>> module.structs["Particle"].life.offset
    12
    >>> particles = module.bindings["particles"]
    >>> particles.binding, particles.access, particles.type, particles.min_binding_size
    (1, 'read_write', array[Particle], 16)
    """
    if not isinstance(text, str):
        raise WgslError.of("text-type", type=type(text).__name__)
    if target not in TARGETS:
        raise WgslError.of("target", target=repr(target))
    from .reading import Reader  # imports lark

    reader = Reader(
        text, skip=skip, overrides=overrides, standard_layout=standard_layout, defines=defines, target=target
    )
    try:
        return reader.module()
    finally:
        reader.warn()
