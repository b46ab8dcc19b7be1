"""Checks a buffer, and makes the binding of it for a shader's variable. WebGPU §8.2 (GPUBindGroup)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import wgsl
from ..batches import Batch, as_batch
from ..errors import BindingError, WgslError
from ..layout import Layout, round_up, wgsl_name, whole_number
from . import backend, devices
from .backend import watch
from .bindings import BindableRecords

_NEEDS = {"uniform": "UNIFORM", "storage": "STORAGE", "read-only-storage": "STORAGE"}
_KEYS = ("buffer", "offset", "size")
_BUFFER_WAY_OUT = "pass a RecordBuffer, a wgpu buffer, or a dictionary of buffer, offset and size"


class BufferSlot:
    """Checks buffers for one variable, and makes the bindings of them.

    What follows from the variable and the device's limits alone is computed once.
    """

    def __init__(self, device: Any, module: wgsl.Module, variable: wgsl.Variable, *, is_dynamic: bool) -> None:
        self.variable, self.is_dynamic = variable, is_dynamic
        self.writes = variable.kind == "storage"
        self._device, self._module, self._where = device, module, argument(variable.name)
        self._usage = _NEEDS[variable.kind]
        self._flag: int = getattr(backend.BufferUsage, self._usage)
        self._space = space = self._usage.lower()
        self._limit = f"max-{space}-buffer-binding-size"
        self._most: int = device.limits[self._limit]
        self._step: int = device.limits[f"min-{space}-buffer-offset-alignment"]
        self._multiple = devices.COPY_ALIGNMENT if space == "storage" else 1
        self._needed = max(1, variable.min_binding_size or 1)
        # The bytes of a variable of fixed size, in whole words; 0 for a variable without one.
        self._fixed_size = 0
        if variable.type is not None and not variable.type.__layout__.is_runtime_sized:
            self._fixed_size = round_up(devices.COPY_ALIGNMENT, variable.type.__layout__.size)
        # Whether the binding of a RecordBuffer depends on how many records are in use.
        self.follows_count = not is_dynamic and not self._fixed_size
        self._types: set[Any] = set()

    def resource(self, given: Any) -> tuple[dict[str, Any], backend.DestroyHook]:
        """The wgpu buffer binding of `given`: a RecordBuffer, a wgpu buffer, or a binding of one; and the buffer's hook."""
        found: dict[str, Any]
        if isinstance(given, BindableRecords):
            if given.type not in self._types:
                self._check_type(given)
            found = self._records(given)
        elif backend.is_a(given, "GPUBuffer"):
            # With a dynamic offset the binding covers one value: one of the whole buffer could not be moved.
            size = self._fixed_size if self.is_dynamic else 0
            found = {"buffer": given, "offset": 0, "size": size or given.size}
        elif isinstance(given, Mapping) and "buffer" in given and set(given) <= set(_KEYS):
            found = _given_binding({"offset": 0, **given}, self._where)
        else:
            raise _not_a_buffer(self.variable, given, self._where)
        hook, offset, size = watch(found["buffer"]), found["offset"], found["size"]
        if hook.destroyed:
            raise BindingError.of("bind-destroyed", name=self.variable.name, where=self._where)
        if hook.owner is not self._device:
            raise BindingError.of("bind-foreign", what="buffer", where=self._where, make="create_buffer")
        if not hook.usage & self._flag:
            facts = {"usage": self._usage, "current": devices.usage_text(hook.usage)}
            raise BindingError.of("bind-usage", what="buffer", where=self._where, module="Buffer", **facts)
        if offset % self._step:
            facts = {"multiple": self._step, "kind": self._space, "suggestion": offset // self._step * self._step}
            raise BindingError.of("bind-offset", where=self._where, current=offset, **facts)
        if size < self._needed:
            facts = {"name": self.variable.name, "type": self.variable.type_name, "needed": self._needed, "size": size}
            raise BindingError.of("bind-small", where=self._where, **facts)
        if offset + size > hook.size:
            facts = {"needed": size, "offset": offset, "size": hook.size, "total": offset + size, "where": self._where}
            raise BindingError.of("bind-end", **facts)
        if size % self._multiple:
            raise BindingError.of("bind-words", size=size, where=self._where, suggestion=round_up(4, size))
        if size > self._most:
            way_out = "bind fewer bytes" + ("" if self._space == "storage" else ", or declare it as var<storage>")
            devices.check_limit(self._device, self._limit, size, self._where, way_out)
        return found, hook

    def _check_type(self, records: BindableRecords[Any]) -> None:
        variable = self.variable
        if variable.type is None:
            return
        declared: Layout = variable.type.__layout__
        wanted = [layout for layout in (declared, declared.element) if layout is not None]
        if not any(self._has_layout(variable, records.type, layout) for layout in wanted):
            facts = {"name": variable.name, "type": variable.type_name, "where": self._where}
            way_out = f"make a RecordBuffer of program.interface.bindings[{variable.name!r}].type"
            raise BindingError.of("bind-type", current=records.type.__name__, way_out=way_out, **facts)
        self._types.add(records.type)

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

    def _records(self, records: BindableRecords[Any]) -> dict[str, Any]:
        if self.is_dynamic and not records.is_dynamic:
            raise BindingError.of("bind-dynamic", type=records.type.__name__, where=self._where)
        if not self._fixed_size:
            return records.binding()
        buffer = records.buffer
        return {"buffer": buffer, "offset": 0, "size": min(self._fixed_size, watch(buffer).size)}


def _given_binding(given: Mapping[str, Any], where: str) -> dict[str, Any]:
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
            way_out = f"pass a number of bytes, or leave {key} out"
            raise BindingError.of("whole", name=key, way_out=way_out, where=where, **facts)
        numbers.append(number)
    return {"buffer": buffer, "offset": numbers[0], "size": numbers[1]}


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
