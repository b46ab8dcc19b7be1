"""The interface of a shader as tables: its bindings, its entry points and what they use, its overrides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..wgsl import EntryPoint, Module, Override, StageValue, Variable
    from .printing import Printer

BINDINGS = ("group", "binding", "name", "var", "type", "min bytes")
BINDINGS_RIGHT = (True, True, False, False, False, True)


def bindings(printer: Printer, module: Module) -> bool:
    """Print the table of bindings. Returns whether there are any."""
    rows = [
        (str(v.group), str(v.binding), v.name, _words(v), v.type_name, str(v.min_binding_size or ""))
        for v in sorted(module.bindings.values(), key=lambda v: (v.group, v.binding))
    ]
    if rows:
        printer.line("bindings", "bold")
        printer.table(BINDINGS, rows, BINDINGS_RIGHT, [not row[-1] for row in rows])
    return bool(rows)


def _words(variable: Variable) -> str:
    """The words between the brackets of ``var<...>``."""
    if variable.space == "handle":
        return ""
    return variable.space if variable.access == "read" else f"{variable.space}, {variable.access}"


def entry_points(printer: Printer, module: Module) -> None:
    """Print what each entry point takes, returns and uses."""
    if module.entry_points:
        printer.line("entry points", "bold")
    for entry in module.entry_points.values():
        printer.line(", ".join(_summary(entry)), "", "  ")
        facts = {
            "takes": "; ".join(map(_shown, entry.inputs)),
            "returns": "; ".join(map(_shown, entry.outputs)),
            "uses": ", ".join(entry.bindings + entry.variables),
            "samples": ", ".join(f"{texture} through {sampler}" for texture, sampler in entry.sampled),
            "overrides": ", ".join(entry.overrides),
        }
        for what, text in facts.items():
            if text:
                printer.line(f"{what}: {text}", "", "    ")


def _summary(entry: EntryPoint) -> Iterator[str]:
    yield f"{entry.name}: {entry.stage}"
    if entry.workgroup_size is not None:
        yield "workgroups of " + " x ".join("?" if size is None else str(size) for size in entry.workgroup_size)
    if entry.workgroup_bytes is None:
        yield "workgroup memory that depends on an override"
    elif entry.workgroup_bytes:
        yield f"{entry.workgroup_bytes} bytes of workgroup memory"


def _shown(value: StageValue) -> str:
    where = f"@builtin({value.builtin})" if value.builtin else f"@location({value.location})"
    blend = "" if value.blend_source is None else f" @blend_src({value.blend_source})"
    smooth = f" @interpolate({', '.join(value.interpolation)})" if value.interpolation else ""
    invariant = " @invariant" if value.invariant else ""
    name = f" {value.name}:" if value.name else ""
    return f"{where}{blend}{smooth}{invariant}{name} {value.type_name}"


def overrides(printer: Printer, module: Module) -> None:
    """Print the overrides and their defaults."""
    if module.overrides:
        printer.line("overrides", "bold")
    for override in module.overrides.values():
        printer.line(_override(override), "", "  ")


def _override(override: Override) -> str:
    number = "" if override.id is None else f"@id({override.id}) "
    value = "needs a value"
    if override.value is not None:
        value = f"default {str(override.value).lower() if isinstance(override.value, bool) else override.value}"
    elif override.has_default:
        value = "its default depends on other overrides"
    return f"{number}{override.name}: {override.type}, {value}"
