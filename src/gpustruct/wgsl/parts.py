"""The declarations of a shader as plain data: one class for each kind of declaration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

VariableKind = Literal[
    "uniform",
    "storage",
    "read-only-storage",
    "sampler",
    "comparison-sampler",
    "texture",
    "external-texture",
    "storage-texture",
    "acceleration-structure",
    "workgroup",
    "private",
    "immediate",
]


@dataclass(frozen=True, slots=True)
class Variable:
    """A ``var`` at module scope. With @group and @binding it is a binding.

    `space` is its address space: ``"uniform"``, ``"storage"``, ``"workgroup"``, ``"private"``,
    ``"immediate"`` or, for textures and samplers, ``"handle"``. `access` is ``"read"``, ``"write"`` or
    ``"read_write"``. `type` is the gpustruct class, or None if the type is not host-shareable; `type_name` is the
    type in WGSL. `group` and `binding` are None if it is not a binding. `line` counts from 1.

    `kind` is the kind of binding, in WebGPU's words: ``"uniform"``, ``"storage"``, ``"read-only-storage"``,
    ``"sampler"``, ``"comparison-sampler"``, ``"texture"``, ``"external-texture"`` or ``"storage-texture"``. If it is
    not a binding, `kind` is the address space. For a texture, `sample_type` is ``"float"``, ``"sint"``, ``"uint"`` or
    ``"depth"``, `view_dimension` is ``"2d"``, ``"cube-array"`` and so on, and `multisampled` is a bool. A storage
    texture has a `format` and a `view_dimension`. All of these are None for other kinds. `array_count` is the count of
    naga's ``binding_array``, or 0 if that has no count. WGSL §7.3 (var declarations), §6.5 (textures).

    >>> from gpustruct import wgsl
    >>> time = wgsl.parse("@group(0) @binding(2) var<uniform> time: f32;").bindings["time"]
    >>> time.group, time.binding, time.space, time.access, time.type, time.min_binding_size
    (0, 2, 'uniform', 'read', f32, 4)
    >>> photo = wgsl.parse("@group(0) @binding(0) var photo: texture_2d<f32>;").bindings["photo"]
    >>> photo.kind, photo.sample_type, photo.view_dimension, photo.multisampled
    ('texture', 'float', '2d', False)
    """

    name: str
    space: str
    access: str
    type: Any
    type_name: str
    group: int | None
    binding: int | None
    line: int
    kind: VariableKind = "private"
    sample_type: str | None = None
    view_dimension: str | None = None
    multisampled: bool | None = None
    format: str | None = None
    array_count: int | None = None

    @property
    def min_binding_size(self) -> int | None:
        """The smallest binding that a pipeline accepts here, in bytes; None for textures and samplers."""
        return None if self.type is None else self.type.__layout__.min_binding_size


@dataclass(frozen=True, slots=True)
class Override:
    """A pipeline-overridable constant: its @id or None, its scalar type, its value.

    `value` is the value from ``parse(..., overrides=...)``, else the default, else None. With `has_default`, a
    pipeline need not give it a value. WGSL §7.2.3.

    >>> from gpustruct import wgsl
    >>> wgsl.parse("@id(7) override tile: u32 = 2 * 8;").overrides["tile"].value
    16
    """

    name: str
    id: int | None
    type: str
    value: int | float | bool | None
    line: int
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class StageValue:
    """One input or output of an entry point: a parameter, a result, or a member of a struct that is one of these.

    `name` is ``""`` for a result. `type` is the gpustruct class, or None for a bool. Either `location` is a number or
    `builtin` is a name; the other is None. `interpolation` has the arguments of @interpolate. It is empty without that
    attribute; the interpolation is then perspective, at the center. `blend_source` is the argument of @blend_src.
    WGSL §13.3.1 (inter-stage input and output interface).

    >>> from gpustruct import wgsl
    >>> module = wgsl.parse("@fragment fn shade(@location(1) @interpolate(flat) id: u32) {}")
    >>> id = module.entry_points["shade"].inputs[0]
    >>> id.name, id.type, id.location, id.interpolation
    ('id', u32, 1, ('flat',))
    """

    name: str
    type: Any
    type_name: str
    location: int | None
    builtin: str | None
    line: int
    interpolation: tuple[str, ...] = ()
    blend_source: int | None = None
    invariant: bool = False


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """An entry point: its stage, its inputs and outputs, and what it uses, directly or through calls.

    `workgroup_size` is three numbers for a compute shader, else None; a number is None if it depends on an override
    without a value. `inputs` and `outputs` are in the order of the text. `bindings`, `variables` and `overrides`
    are names: the keys of the module's dictionaries, in the order of the text. `sampled` has a pair (texture, sampler)
    of names for each texture that is read through a sampler. `workgroup_bytes` is the size of its workgroup memory,
    with each variable rounded up to 16 bytes, as the limit ``max-compute-workgroup-storage-size`` counts it; it is
    None if it depends on an override without a value. WGSL §13.2 (entry points), §13.3 (shader interface).

    >>> from gpustruct import wgsl
    >>> module = wgsl.parse('''
    ... @group(0) @binding(0) var<storage, read_write> sums: array<f32>;
    ... @group(0) @binding(1) var<uniform> scale: f32;
    ... var<workgroup> tile: array<f32, 64>;
    ... fn scaled(i: u32) -> f32 { return tile[i] * scale; }
    ... @compute @workgroup_size(8, 8) fn add(@builtin(local_invocation_index) i: u32) { sums[i] += scaled(i); }
    ... ''')
    >>> add = module.entry_points["add"]
    >>> add.workgroup_size, add.bindings, add.variables, add.workgroup_bytes, add.inputs[0].builtin
    ((8, 8, 1), ('sums', 'scale'), ('tile',), 256, 'local_invocation_index')
    """

    name: str
    stage: Literal["vertex", "fragment", "compute"]
    workgroup_size: tuple[int | None, int | None, int | None] | None
    line: int
    inputs: tuple[StageValue, ...] = ()
    outputs: tuple[StageValue, ...] = ()
    bindings: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    sampled: tuple[tuple[str, str], ...] = ()
    workgroup_bytes: int | None = 0


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A ``diagnostic`` directive: the severity of a rule in the whole module. `line` counts from 1. WGSL §4.2.

    >>> from gpustruct import wgsl
    >>> wgsl.parse("diagnostic(off, derivative_uniformity);").diagnostics
    (Diagnostic(severity='off', rule='derivative_uniformity', line=1),)
    """

    severity: Literal["error", "warning", "info", "off"]
    rule: str
    line: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of the text that ``parse(..., skip=True)`` skipped, and why. `line` counts from 1.

    >>> from gpustruct import wgsl
    >>> print(*wgsl.parse("#import shapes\\nconst N = 4;", skip=True).skipped)
    line 1: #import shapes: it is not WGSL
    """

    line: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}: {self.reason}"
