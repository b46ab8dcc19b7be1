"""What a shader declares: the result of parse. Plain data, no text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Variable:
    """A ``var`` at module scope; one with @group and @binding is a binding.

    `space` is its address space: ``"uniform"``, ``"storage"``, ``"workgroup"``, ``"private"``,
    ``"immediate"`` or, for textures and samplers, ``"handle"``. `access` is ``"read"``, ``"write"`` or
    ``"read_write"``. `type` is the gpustruct class, None where the type is not host-shareable; `type_name`
    is the type as WGSL spells it. `group` and `binding` are None for what is no binding. `line` counts from 1.
    WGSL §7.3 (var declarations).

    >>> from gpustruct import wgsl
    >>> time = wgsl.parse("@group(0) @binding(2) var<uniform> time: f32;").bindings["time"]
    >>> time.group, time.binding, time.space, time.access, time.type, time.min_binding_size
    (0, 2, 'uniform', 'read', f32, 4)
    """

    name: str
    space: str
    access: str
    type: Any
    type_name: str
    group: int | None
    binding: int | None
    line: int

    @property
    def min_binding_size(self) -> int | None:
        """The smallest binding that a pipeline accepts here, in bytes; None for textures and samplers."""
        return None if self.type is None else self.type.__layout__.min_binding_size


@dataclass(frozen=True, slots=True)
class Override:
    """A pipeline-overridable constant: its @id or None, its scalar type, its value.

    `value` is the one bound by ``parse(..., overrides=...)``, else the default, else None. WGSL §7.2.3.

    >>> from gpustruct import wgsl
    >>> wgsl.parse("@id(7) override tile: u32 = 2 * 8;").overrides["tile"].value
    16
    """

    name: str
    id: int | None
    type: str
    value: int | float | bool | None
    line: int


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A shader's entry: its stage, and for compute its workgroup size, always three numbers.

    A number is None where it depends on an override without a value. WGSL §13.2 (entry points).

    >>> from gpustruct import wgsl
    >>> wgsl.parse("@compute @workgroup_size(8, 8) fn main() {}").entry_points["main"].workgroup_size
    (8, 8, 1)
    """

    name: str
    stage: Literal["vertex", "fragment", "compute"]
    workgroup_size: tuple[int | None, int | None, int | None] | None
    line: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of the text that ``parse(..., skip=True)`` did not take, and why. `line` counts from 1.

    >>> from gpustruct import wgsl
    >>> print(*wgsl.parse("#import shapes\\nconst N = 4;", skip=True).skipped)
    line 1: #import shapes: it is no WGSL
    """

    line: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Module:
    """Everything that a shader declares, by name, in the order of the text.

    `structs` and `aliases` hold gpustruct classes, `constants` Python values (a vector or an array is a
    tuple, a struct a dictionary), `bindings` what has @group and @binding, `variables` every other ``var``.
    `unavailable` says why a declared struct, alias or constant is not among them, such as a struct with a
    bool in it. `skipped` is empty unless ``skip=True``.

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
