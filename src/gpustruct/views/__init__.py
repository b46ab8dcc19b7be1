"""`view`: records over their own bytes, for values that change one by one. See `_views` for the setters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from .. import _views
from .. import layout as layouts
from ..batches import Batch
from ..errors import SourceError
from ..layout import Layout
from ..packing import byte_view
from ..zero_filled import zero_filled
from .changes import changed_ranges, forget
from .classes import full_size, least_size, root
from .updating import update

__all__ = ["changed_ranges", "forget", "update", "view", "zero_filled"]


if TYPE_CHECKING:
    from ..types import Struct

_Record = TypeVar("_Record", bound="Struct")


@overload
def view(cls: type[_Record], data: Any = None, offset: int = 0) -> _Record: ...
@overload
def view(cls: Any, data: Any = None, offset: int = 0, *, count: int | None = None) -> Any: ...
def view(cls: Any, data: Any = None, offset: int = 0, *, count: int | None = None) -> Any:
    """One record and its bytes, which start as zero. Assigning to its members writes into these bytes.

    ``v.time = 0.5``, ``v.camera.position = p``, ``v.lights[3].color = c``: each value has its member's own
    shape, and is checked and converted as in `pack`; if it does not fit, the bytes stay as they were. A
    nested struct takes a mapping, an object or a batch of all its members. Reading gives a Python number, a
    numpy view of the bytes (matrices [row, col]), or a view of the nested record. ``v[...]`` is the value of
    a type that is no struct. ``v.update(mapping)`` sets many, or none if one is wrong; if a member is called
    update, use the function `update`. ``memoryview(v)`` and ``bytes(v)`` are the record's bytes.

    `count` gives an array of records, ``view(T, count=n)[i]``; for a runtime-sized type it is the length of
    its array. With `data`, a contiguous buffer of bytes, the records are its bytes from `offset` on,
    and nothing is copied. A view of ``uniform_safe(T)``, or of its type, takes and gives the values of `T`, and has
    the twin's bytes. Raises SourceError for data that is too small, and for values that do not fit.
    WGSL §14.4 (memory layout).

    >>> import numpy as np
    >>> from gpustruct import Struct, mat4x4f, vec3f, f32, view
    >>> class Camera(Struct):
    ...     view: mat4x4f
    ...     position: vec3f
    ...     time: f32
    >>> camera = view(Camera)
    >>> camera.view, camera.position = np.eye(4), (1, 2, 3)
    >>> camera.time += 0.5
    >>> camera.position, camera.time, len(bytes(camera))
    (array([1., 2., 3.], dtype=float32), 0.5, 80)
    """
    cls = getattr(cls, "__view_type__", cls)
    layout = getattr(cls, "__layout__", None)
    if not isinstance(cls, type) or not issubclass(cls, Batch) or not isinstance(layout, Layout):
        raise SourceError.of("view-type", current=getattr(cls, "__name__", repr(cls)))
    start = _whole(cls, offset, "offset")
    number = None if count is None else _whole(cls, count, "count")
    if data is None:
        if start:
            facts = {"needed": "0", "total": start, "current": "none"}
            raise SourceError.of("view-data", type=cls.__name__, offset=offset, **facts)
        if number is None and layout.is_runtime_sized:
            way_out = "a runtime-sized type needs count=, the length of its array"
            raise SourceError.of("view-count", type=cls.__name__, count=None, least=0, way_out=way_out)
        return _views.view_at(root(cls, number), np.zeros(full_size(layout, number), np.uint8), 0)
    memory = _memory(cls, data, start, layout, number)
    if number is None and layout.is_runtime_sized:
        number = layouts.records_in(layout, memory.nbytes - start)
    short = memory.nbytes - start < full_size(layout, number)
    return _views.view_at(root(cls, number, short), memory, start)


def _whole(cls: Any, value: Any, name: str) -> int:
    number = layouts.whole_number(value, 0, layouts.MAX_BYTES)
    if number is None:
        if name == "offset":
            raise SourceError.of("offset-value", offset=value, function="view")
        facts = {"count": value, "least": 0, "way_out": "leave it out for one record"}
        raise SourceError.of("view-count", type=cls.__name__, **facts)
    return number


def _memory(cls: Any, data: Any, offset: int, layout: Layout, count: int | None) -> np.ndarray:
    needed = least_size(layout, count)
    facts = {"type": cls.__name__, "needed": needed, "offset": offset, "total": offset + needed}
    try:
        memory = byte_view(data)
    except (TypeError, ValueError, BufferError) as error:
        raise SourceError.of("view-data", current=f"{type(data).__name__}: {error}", **facts) from None
    if memory.nbytes - offset < needed:
        raise SourceError.of("view-data", current=f"{memory.nbytes} bytes", **facts)
    return memory
