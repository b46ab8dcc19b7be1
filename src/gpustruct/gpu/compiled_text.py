"""Compiles a shader's text: its interface, its wgpu module, and its layouts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .. import wgsl
from ..errors import BindingError, WgslError
from ..wgsl import bind_groups as layouts_of
from .backend import gpu_errors, of
from .binder import Binder, Group, LayoutEntry

Number = int | float | bool


class CompiledText(NamedTuple):
    """Everything that a Program has for one text."""

    text: str
    interface: wgsl.Module
    entry_points: dict[str, wgsl.EntryPoint]
    overrides: dict[str | int, Number]
    module: Any
    entries: dict[int, list[dict[str, Any]]]
    layout: Any
    binder: Binder


class Compiler:
    """Compiles the texts of one Program, which all have the same options.

    `names` are the entry points, none for all; `options` are those of `Module.bind_group_layouts`.
    """

    def __init__(self, device: Any, names: tuple[str, ...], options: dict[str, Any], label: str) -> None:
        self._device, self._names, self._options, self._label = device, names, options, label

    def parse(self, text: str, overrides: dict[str | int, Number]) -> wgsl.Module:
        """The interface of a text, as the shader compiler of the device reads it."""
        return wgsl.parse(text, overrides=overrides or None, target=of(self._device).compiler)

    def compile(self, text: str, overrides: dict[str | int, Number], previous: CompiledText | None) -> CompiledText:
        """Compile a text. Layouts that are equal to those of `previous` are the same objects."""
        interface = self.parse(text, overrides)
        chosen = layouts_of.chosen(self._names, interface.entry_points)
        names = [entry.name for entry in chosen]
        entries = interface.bind_group_layouts(*names, **self._options) if names else {}
        groups = self._groups(interface, chosen, entries, previous)
        return CompiledText(
            text,
            interface,
            {entry.name: entry for entry in chosen},
            overrides,
            self._shader_module(text),
            entries,
            self._pipeline_layout(groups, previous),
            Binder(self._device, interface, groups),
        )

    def _shader_module(self, text: str) -> Any:
        try:
            return self._device.create_shader_module(label=self._label, code=text)
        except gpu_errors() as error:
            message = str(error).strip()
            lines = [line.strip() for line in message.splitlines() if line.strip()]
            facts = {"current": lines[-1] if lines else type(error).__name__, "message": message}
            raise WgslError.of("device-refused", where="Program(...)", **facts) from None

    def _groups(
        self,
        interface: wgsl.Module,
        chosen: list[wgsl.EntryPoint],
        entries: Mapping[int, list[dict[str, Any]]],
        previous: CompiledText | None,
    ) -> list[Group]:
        variables = layouts_of.used(chosen, interface.bindings)
        layouts = {} if previous is None else {group.number: group.layout for group in previous.binder.groups}
        found: list[Group] = []
        for index in range(max(entries, default=-1) + 1):
            wanted = entries.get(index, [])
            is_same = previous is not None and index in layouts and previous.entries.get(index, []) == wanted
            layout = layouts[index] if is_same else self._bind_group_layout(wanted, index)
            pairs = tuple(LayoutEntry(variables[index, entry["binding"]], entry) for entry in wanted)
            found.append(Group(index, layout, pairs))
        return found

    def _bind_group_layout(self, entries: list[dict[str, Any]], index: int) -> Any:
        try:
            return self._device.create_bind_group_layout(label=f"{self._label} {index}".strip(), entries=entries)
        except (*gpu_errors(), ValueError) as error:
            raise _refused_layout(error, f"Program(...), group {index}") from None

    def _pipeline_layout(self, groups: list[Group], previous: CompiledText | None) -> Any:
        wanted = [group.layout for group in groups]
        if previous is not None and wanted == [group.layout for group in previous.binder.groups]:
            return previous.layout
        try:
            return self._device.create_pipeline_layout(label=self._label, bind_group_layouts=wanted)
        except gpu_errors() as error:
            raise _refused_layout(error, "Program(...)") from None


def _refused_layout(error: Exception, where: str) -> BindingError:
    """The BindingError for a layout that wgpu refuses."""
    current = " ".join(str(error).split())
    return BindingError.of("layout-refused", current=current, where=where)  # type: ignore[return-value]
