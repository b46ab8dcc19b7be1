"""Checks a buffer, and makes the binding of it for a shader's variable. WebGPU §8.2 (GPUBindGroup)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import wgsl
from ..batches import Batch, as_batch
from ..errors import BindingError, WgslError
from ..layout import Layout, round_up, wgsl_name, whole_number
from . import backend, devices
from .bindings import BindableRecords

_NEEDS = {"uniform": "UNIFORM", "storage": "STORAGE", "read-only-storage": "STORAGE"}
_KEYS = ("buffer", "offset", "size")
_BUFFER_WAY_OUT = "pass a RecordBuffer, a wgpu buffer, or a dictionary of buffer, offset and size"


class BufferBinder:
    """Makes buffer bindings for the variables of one module."""

    def __init__(self, device: Any, module: wgsl.Module) -> None:
        self._device, self._module = device, module
        self._checked: set[tuple[Any, str]] = set()

    def resource(self, variable: wgsl.Variable, given: Any, *, dynamic: bool) -> dict[str, Any]:
        """The wgpu buffer binding of `given` for `variable`: a RecordBuffer, a wgpu buffer, or a binding of one."""
        where = argument(variable.name)
        if isinstance(given, BindableRecords):
            self._check_type(variable, given)
            found = self._records(variable, given, dynamic)
        elif backend.is_a(given, "GPUBuffer"):
            # With a dynamic offset the binding covers one value: one of the whole buffer could not be moved.
            size = self.fixed_size(variable) if dynamic else 0
            found = {"buffer": given, "offset": 0, "size": size or given.size}
        elif isinstance(given, Mapping) and "buffer" in given and set(given) <= set(_KEYS):
            found = self._given_binding({"offset": 0, **given}, where)
        else:
            raise _not_a_buffer(variable, given, where)
        self._check(variable, found, where)
        return found

    def _check_type(self, variable: wgsl.Variable, records: BindableRecords[Any]) -> None:
        key = (records.type, variable.name)
        if key in self._checked or variable.type is None:
            return
        declared: Layout = variable.type.__layout__
        wanted = [layout for layout in (declared, declared.element) if layout is not None]
        if not any(self._has_layout(variable, records.type, layout) for layout in wanted):
            facts = {"name": variable.name, "type": variable.type_name, "where": argument(variable.name)}
            way_out = f"make a RecordBuffer of program.interface.bindings[{variable.name!r}].type"
            raise BindingError.of("bind-type", current=records.type.__name__, way_out=way_out, **facts)
        self._checked.add(key)

    def _has_layout(self, variable: wgsl.Variable, T: Any, declared: Layout) -> bool:
        """Whether the layout of `T` is the declared one. BindingError with the differences if both are structs."""
        layout: Layout = T.__layout__
        element = T
        while layout.element is not None and declared.element is not None and layout.count == declared.count:
            layout, declared, element = layout.element, declared.element, element.__element__
        if layout.kind != "struct" or declared.kind != "struct":
            return _name_without_atomic(layout) == _name_without_atomic(declared)
        try:
            wgsl.check(element, self._module, name=declared.name)
        except WgslError as error:
            heading, _, rows = str(error).partition("\n")
            facts = {"type": declared.name, "where": argument(variable.name), "table": rows or heading}
            raise BindingError.of("bind-differs", current=layout.name, **facts) from None
        return True

    def _records(self, variable: wgsl.Variable, records: BindableRecords[Any], dynamic: bool) -> dict[str, Any]:
        if dynamic and not records.is_dynamic:
            raise BindingError.of("bind-dynamic", type=records.type.__name__, where=argument(variable.name))
        size = self.fixed_size(variable)
        if size:
            return {"buffer": records.buffer, "offset": 0, "size": min(size, records.buffer.size)}
        return records.binding()

    def fixed_size(self, variable: wgsl.Variable) -> int:
        """The bytes of a variable of fixed size, in whole words; 0 for a variable without one."""
        if variable.type is None or variable.type.__layout__.is_runtime_sized:
            return 0
        return round_up(devices.COPY_ALIGNMENT, variable.type.__layout__.size)

    def _given_binding(self, given: Mapping[str, Any], where: str) -> dict[str, Any]:
        buffer = getattr(given["buffer"], "buffer", given["buffer"])
        if not backend.is_a(buffer, "GPUBuffer"):
            current = f"{type(buffer).__name__} under the key 'buffer'"
            raise BindingError.of("bind-kind", wanted="a buffer", current=current, where=where, way_out=_BUFFER_WAY_OUT)
        numbers: list[int] = []
        for key, default in (("offset", 0), ("size", None)):
            value = given.get(key, default)
            number = whole_number(max(0, buffer.size - numbers[0]) if value is None else value)
            if number is None:
                facts = {"least": 0, "most": buffer.size, "current": repr(value) if isinstance(value, str) else value}
                raise BindingError.of(
                    "whole", name=key, way_out=f"pass a number of bytes, or leave {key} out", where=where, **facts
                )
            numbers.append(number)
        return {"buffer": buffer, "offset": numbers[0], "size": numbers[1]}

    def _check(self, variable: wgsl.Variable, found: dict[str, Any], where: str) -> None:
        buffer, offset, size = (found[key] for key in _KEYS)
        if backend.was_destroyed(buffer):
            raise BindingError.of("bind-destroyed", name=variable.name, where=where)
        if backend.owner_of(buffer) is not self._device:
            raise BindingError.of("bind-foreign", what="buffer", where=where, make="create_buffer")
        flag = _NEEDS[variable.kind]
        if not buffer.usage & getattr(backend.BufferUsage, flag):
            current = devices.usage_text(buffer.usage)
            raise BindingError.of(
                "bind-usage", what="buffer", usage=flag, current=current, where=where, module="Buffer"
            )
        kind = "uniform" if flag == "UNIFORM" else "storage"
        step = self._device.limits[f"min-{kind}-buffer-offset-alignment"]
        if offset % step:
            facts = {"multiple": step, "kind": kind, "current": offset, "suggestion": offset // step * step}
            raise BindingError.of("bind-offset", where=where, **facts)
        needed = max(1, variable.min_binding_size or 1)
        if size < needed:
            facts = {"name": variable.name, "type": variable.type_name, "needed": needed, "size": size}
            raise BindingError.of("bind-small", where=where, **facts)
        if offset + size > buffer.size:
            facts = {"needed": size, "offset": offset, "size": buffer.size, "total": offset + size, "where": where}
            raise BindingError.of("bind-end", **facts)
        if kind == "storage" and size % devices.COPY_ALIGNMENT:
            raise BindingError.of("bind-words", size=size, where=where, suggestion=round_up(4, size))
        way_out = "bind fewer bytes" if kind == "storage" else "bind fewer bytes, or declare it as var<storage>"
        devices.check_limit(self._device, f"max-{kind}-buffer-binding-size", size, where, way_out)


def _not_a_buffer(variable: wgsl.Variable, given: Any, where: str) -> BindingError:
    way_out = _BUFFER_WAY_OUT
    batch = as_batch(given)
    if isinstance(batch, Batch):
        usage = ", usage='UNIFORM'" if variable.kind == "uniform" else ""
        way_out = f"put it into a buffer first: pass RecordBuffer(device, {type(batch).__name__}, data=batch{usage})"
    facts = {"wanted": f"a buffer, of type {variable.type_name}", "current": _described(given)}
    return BindingError.of("bind-kind", where=where, way_out=way_out, **facts)  # type: ignore[return-value]


def _described(given: Any) -> str:
    if isinstance(given, Mapping):
        return f"a mapping with the keys {', '.join(map(repr, given)) or 'none'}"
    return type(given).__name__


def argument(name: str) -> str:
    """The argument of `Program.bind` that an error is about.

    >>> argument("params")
    'Program.bind(..., params=...)'
    """
    return f"Program.bind(..., {name}=...)"


def _name_without_atomic(layout: Layout) -> str:
    return layout.scalar if layout.kind == "atomic" else wgsl_name(layout)
