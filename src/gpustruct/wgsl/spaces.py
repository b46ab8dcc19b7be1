"""The types that each address space allows. WGSL §14.3 (address spaces), §14.4 (memory layout)."""

from __future__ import annotations

from ..errors import BackendWarning
from .kinds import Type
from .scope import Scope

SPACES = ("uniform", "storage", "workgroup", "private", "immediate")
_WRITABLE = ("workgroup", "private", "function")
_NO_ARRAYS = "use separate members, or var<uniform>"
_SHARED = ("uniform", "storage", "immediate")
_WITH_BUFFERS = ("uniform", "storage", "workgroup")


def default_access(space: str) -> str:
    """The access mode of a variable that declares none."""
    return "read_write" if space in _WRITABLE else "read"


def check(scope: Scope, offset: int, name: str, space: str, access: str, kind: Type) -> None:
    """Check the type `kind` of a variable or a pointer. Raises WgslError if the address space does not allow it."""
    source = scope.source
    if kind.override and space != "workgroup":
        raise source.error("override-space", offset, type=kind.name, space=space)
    if kind.runtime and space != "storage":
        raise source.error("runtime-space", offset, type=kind.name, space=space)
    if kind.family == "buffer" and space not in _WITH_BUFFERS:
        raise source.error("buffer-space", offset, type=kind.name, space=space)
    if kind.has_atomic and (space, access) not in (("storage", "read_write"), ("workgroup", "read_write")):
        if space == "storage":
            where = f"{name}, line {source.line_at(offset)}"
            scope.warn(BackendWarning.of("naga-atomic-read", where=where))
        if space != "storage" or not scope.target.is_naga:
            raise source.error("atomic-space", offset, type=kind.name, space=space, access=access)
    if space in _SHARED and not kind.is_shareable:
        raise source.error("host-shareable", offset, space=space, why=kind.why)
    if space == "immediate" and _has_array(kind) and not scope.target.is_naga:
        scope.warn_at("naga-type", offset, name="arrays in var<immediate>", remedy=_NO_ARRAYS)
        raise source.error("immediate-array", offset, type=kind.name, way_out=_NO_ARRAYS)
    if space == "immediate" and _has_half(kind):
        scope.warn(BackendWarning.of("naga-immediate", type=kind.name, where=f"{name}, line {source.line_at(offset)}"))


def _has_array(kind: Type) -> bool:
    return kind.element is not None or any(_has_array(member) for _, member in kind.members)


def _has_half(kind: Type) -> bool:
    if kind.element is not None:
        return _has_half(kind.element)
    return kind.scalar == "f16" or any(_has_half(member) for _, member in kind.members)
