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
    """What the shader `text` declares; its structs are gpustruct classes that pack like handwritten ones.

    The specification decides what is accepted; function bodies are not looked into. `overrides` gives
    values to override constants, by name or by @id; overrides that it leaves out have their defaults. Without
    it, what only a pipeline's values make wrong, such as a count of 0, is no error. `standard_layout=True` is for devices that have the
    language feature ``uniform_buffer_standard_layout``; ``requires`` in the text means the same.

    `skip=True` takes the declarations that stand on their own and lists the others in
    ``Module.skipped``, with the reason: for templates, for text that a preprocessor completes. Reading goes
    on at the next line that starts a declaration. `defines` gives the names that ``#ifdef``, ``#if``, WESL's
    ``@if`` and Jinja's ``{% if %}`` ask for, so that the branch that is meant is read; it also fills in
    ``{{ name }}``, ``${name}`` and ``#{name}``. A name that is not in it, or that is False or None, is not
    defined. Without `defines`, what stands under a condition is listed and not taken.

    `target="naga"` takes what naga (wgpu-native, Firefox) adds: numbers of 64 bits, ``binding_array``, its
    atomics and ``acceleration_structure``; `target="tint"` what Tint (Chrome) adds: its own extensions, and the
    standard layout in uniform. Warnings are then about that backend only.

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
    from . import reading  # loads lark

    found, differences = reading.read(
        text,
        skip=skip,
        overrides=overrides,
        standard_layout=standard_layout,
        defines=defines,
        target=target,
    )
    reading.warn(differences, stacklevel=2)
    if isinstance(found, WgslError):
        raise found
    return found
