"""What a shader declares: the result of parse. Plain data, no text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .parts import Diagnostic, EntryPoint, Override, Skipped, StageValue, Variable

__all__ = ["Diagnostic", "EntryPoint", "Module", "Override", "Skipped", "StageValue", "Variable"]


@dataclass(frozen=True, slots=True)
class Module:
    """Everything that a shader declares, by name, in the order of the text.

    `structs` and `aliases` hold gpustruct classes, `constants` Python values (a vector or an array is a
    tuple, a struct a dictionary), `bindings` what has @group and @binding, `variables` every other ``var``.
    `unavailable` says why a declared struct, alias or constant is not among them, such as a struct with a
    bool in it. `skipped` is empty unless ``skip=True``. `lines` has the line of every declaration, counted from 1.

    >>> from gpustruct import wgsl
    >>> module = wgsl.parse("const N = 4; struct Light { color: vec3f } alias Lights = array<Light, N>;")
    >>> module.structs["Light"].color.size, module.aliases["Lights"], module.constants["N"]
    (12, array[Light, 4], 4)
    """

    structs: dict[str, Any] = field(default_factory=dict[str, Any])
    aliases: dict[str, Any] = field(default_factory=dict[str, Any])
    constants: dict[str, Any] = field(default_factory=dict[str, Any])
    overrides: dict[str, Override] = field(default_factory=dict[str, Override])
    bindings: dict[str, Variable] = field(default_factory=dict[str, Variable])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    entry_points: dict[str, EntryPoint] = field(default_factory=dict[str, EntryPoint])
    functions: tuple[str, ...] = ()
    enabled: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    unavailable: dict[str, str] = field(default_factory=dict[str, str])
    skipped: tuple[Skipped, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    lines: dict[str, int] = field(default_factory=dict[str, int])
