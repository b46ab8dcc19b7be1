"""numpy dtypes in device layout."""

from __future__ import annotations

from typing import Any

import numpy as np

from .batches import Batch
from .column_specs import COLUMN, ELEMENT, PADDING
from .errors import LayoutError, brief
from .layout import RECORD_SCALARS, Layout


def dtype_of(cls: Any) -> np.dtype:
    """The numpy dtype whose bytes are the type's device layout: explicit offsets, and padding at the end as a field.

    ``np.zeros(n, dtype_of(T))`` are n records in device layout; packing such an array is a copy.
    Padding after the last member is the field ``"__padding"``, which gpustruct ignores. Without it, `memoryview`
    and everything that reads its format would lose those bytes. ``layout_of(T).fields`` has the members alone.
    A vector is a subarray ``(N,)``. A matrix is C columns, ``a["m"]["column"]`` of shape ``(n, C, R)``, as
    WGSL stores it: ``a["m"]["column"] = M.swapaxes(-1, -2)``. An array element with padding after it is
    ``a["points"]["element"]``. Raises LayoutError for a runtime-sized type, and for arguments that are not types.
    WGSL §14.4.1 (alignment and size).

    >>> from gpustruct import Struct, vec3f, u32, dtype_of
    >>> class Particle(Struct):
    ...     position: vec3f
    ...     id: u32
    >>> dtype_of(Particle)
    dtype([('position', '<f4', (3,)), ('id', '<u4')])
    >>> class Light(Struct):
    ...     color: vec3f
    ...     axis: vec3f
    >>> dtype_of(Light)["axis"], dtype_of(Light)["__padding"]
    (dtype(('<f4', (3,))), dtype('V4'))
    """
    where = f"dtype_of({getattr(cls, '__name__', brief(cls))})"
    layout = getattr(cls, "__layout__", None)
    if not isinstance(cls, type) or not issubclass(cls, Batch) or not isinstance(layout, Layout):
        raise LayoutError.of("dtype-type", current=getattr(cls, "__name__", brief(cls)), where=where)
    if layout.is_runtime_sized:
        tail = layout if layout.tail is None else layout.tail.layout
        assert tail.element is not None
        raise LayoutError.of("dtype-runtime", type=layout.name, element=tail.element.python_name, where=where)
    return _padded(layout)


def _padded(layout: Layout) -> np.dtype:
    """The dtype of one element of an array of this type; its size is the stride."""
    inner = _dtype(layout)
    if layout.size == layout.record_stride:
        return inner
    return _fields({ELEMENT: (inner, 0)}, layout.record_stride)


def _fields(fields: dict[str, tuple[np.dtype, int]], size: int) -> np.dtype:
    """A dtype of `size` bytes with these fields, and one more for the padding after them.

    The format that numpy exports in a memoryview has the gaps between fields, but not the one after the last. So numpy
    refuses to read such a memoryview, and in arrays of structs the gap is lost.
    """
    last, offset = list(fields.values())[-1]
    end = offset + last.itemsize
    if end < size:
        fields = {**fields, PADDING: (np.dtype(f"V{size - end}"), end)}
    formats, offsets = zip(*fields.values(), strict=True)
    return np.dtype({"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": size})


def _repeated(dtype: np.dtype, count: int) -> np.dtype:
    """An array of `count` elements. An array of arrays gets one more dimension, because numpy cannot export nested arrays."""
    return np.dtype((dtype.base, (count, *dtype.shape)))


def _dtype(layout: Layout) -> np.dtype:
    if layout.kind == "struct":
        return _fields({m.name: (_dtype(m.layout), m.offset) for m in layout.fields}, layout.size)
    if layout.element is not None:
        return _repeated(_padded(layout.element), layout.count or 0)
    row = RECORD_SCALARS[layout.scalar]
    scalar = np.dtype(row.stored or row.format)
    if layout.kind == "vector" and not row.is_word:
        return np.dtype((scalar, (layout.rows,)))
    if layout.kind == "matrix":
        itemsize, column = layout.size // layout.columns, np.dtype((scalar, (layout.rows,)))
        return _repeated(_fields({COLUMN: (column, 0)}, itemsize), layout.columns)
    return scalar
