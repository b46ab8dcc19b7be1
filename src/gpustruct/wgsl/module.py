"""The result of parse: everything that a shader declares, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from . import bind_groups
from .parts import Diagnostic, EntryPoint, Override, Skipped, StageValue, Variable
from .source import short

__all__ = ["Diagnostic", "EntryPoint", "Module", "Override", "Skipped", "StageValue", "Variable"]


# What repr shows at most: names in a line, characters of a constant's value, characters of a name.
MOST_NAMES = 8
MOST_VALUE = 20
MOST_CHARACTERS = 40


@dataclass(frozen=True, slots=True, repr=False)
class Module:
    """Everything that a shader declares, by name, in the order of the text.

    `structs` and `aliases` contain gpustruct classes. `constants` contains Python values: a vector or an array is a
    tuple, and a struct is a dictionary. `bindings` are the variables with @group and @binding, and `variables` the
    others. Types without a buffer layout, such as a struct with a bool, are listed in `unavailable`, with the reason.
    `skipped` is empty unless ``skip=True``. `lines` has the line of every declaration, counted from 1. `repr` shows
    the names of everything.

    >>> from gpustruct import wgsl
    >>> module = wgsl.parse("const N = 4; struct Light { color: vec3f } alias Lights = array<Light, N>;")
    >>> module.structs["Light"].color.size, module.aliases["Lights"], module.constants["N"]
    (12, array[Light, 4], 4)
    >>> module
    Module
      structs    Light
      aliases    Lights
      constants  N = 4
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

    def bind_group_layouts(
        self,
        *entry_points: str,
        filterable: Mapping[str, bool] | None = None,
        dynamic_offsets: Iterable[str] = (),
    ) -> dict[int, list[dict[str, Any]]]:
        """For each group the entries of its layout, as ``device.create_bind_group_layout(entries=...)`` takes them.

        There is an entry for each binding that `entry_points` use, visible to the stages that use it. Without names,
        all entry points count. If two variables have the same @group and @binding, pass the entry points of one
        pipeline.

        If a shader reads a texture through a sampler, the texture is filterable and the sampler filtering; for
        ``textureLoad`` neither is needed. `filterable` overrides this by name, for example for a texture in
        ``r32float``: ``{"heights": False}`` also applies to the samplers that read it. `dynamic_offsets` names the
        buffers whose offsets are passed to ``set_bind_group``. `min_binding_size` is the smallest size that the
        shader's type allows.

        Raises BindingError for an unknown name, for two variables with the same @group and @binding, and for types
        that cannot be in a layout. WebGPU §8.1 (GPUBindGroupLayout).

        >>> from gpustruct import wgsl
        >>> module = wgsl.parse('''
        ... @group(0) @binding(0) var<uniform> tint: vec4f;
        ... @group(0) @binding(1) var photo: texture_2d<f32>;
        ... @fragment fn shade(@builtin(position) at: vec4f) -> @location(0) vec4f {
        ...   return tint * textureLoad(photo, vec2u(at.xy), 0);
        ... }
        ... ''')
        >>> for entry in module.bind_group_layouts("shade")[0]:
        ...     print(entry)
        {'binding': 0, 'visibility': 2, 'buffer': {'type': 'uniform', 'has_dynamic_offset': False, 'min_binding_size': 16}}
        {'binding': 1, 'visibility': 2, 'texture': {'sample_type': 'unfilterable-float', 'view_dimension': '2d', 'multisampled': False}}
        """
        return bind_groups.layouts(
            bind_groups.chosen(entry_points, self.entry_points),
            self.bindings,
            filterable=filterable or {},
            dynamic_offsets=dynamic_offsets,
        )

    def __repr__(self) -> str:
        shown = {
            "structs": self.structs,
            "aliases": self.aliases,
            "constants": map(_constant, self.constants, self.constants.values()),
            "overrides": map(_override, self.overrides.values()),
            "bindings": [f"{name} ({v.group}, {v.binding})" for name, v in self.bindings.items()],
            "variables": self.variables,
            "entry_points": [f"{name} ({entry.stage})" for name, entry in self.entry_points.items()],
            "functions": [name for name in self.functions if name not in self.entry_points],
            "enabled": self.enabled,
            "required": self.required,
            "unavailable": self.unavailable,
            "skipped": [f"line {part.line}" for part in self.skipped],
        }
        lines = {label: _listed(names) for label, names in shown.items()}
        width = max((len(label) for label, text in lines.items() if text), default=0)
        return "\n".join(["Module", *(f"  {label:{width}}  {text}" for label, text in lines.items() if text)])


def _listed(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - MOST_NAMES} more" if len(found) > MOST_NAMES else ""
    return ", ".join(short(name, MOST_CHARACTERS) for name in found[:MOST_NAMES]) + more


def _constant(name: str, value: Any) -> str:
    # The text of a nested value could be huge, because its parts may be shared: it is not shown.
    is_flat = not isinstance(value, dict) and not any(isinstance(part, tuple | dict) for part in _parts(value))
    shown = repr(value) if is_flat else ""
    return f"{name} = {shown}" if 0 < len(shown) <= MOST_VALUE else name


def _parts(value: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()


def _override(override: Override) -> str:
    return override.name if override.value is None else f"{override.name} = {override.value!r}"
