"""Arrays of every kind: structured ones by field, and what has a buffer, an array interface or DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..batches import Slot
from ..dtypes import COLUMN, ELEMENT
from ..errors import SourceError
from .naming import Shelf

# DLPack's kinds of memory that the CPU reads: its own, pinned by CUDA or ROCm, managed by CUDA.
_READABLE = (1, 3, 11, 13)


def structured(array: np.ndarray, where: str) -> Shelf:
    """A structured array's fields as columns: views, whatever its offsets, strides and byte order."""
    names = array.dtype.names
    assert names is not None
    if isinstance(array, np.ma.MaskedArray):
        array = unmasked(array, where, "array")

    def get(name: str, slot: Slot, where: str) -> Any:
        return field(array[name], slot, where)

    return Shelf(names, get, where)


def field(column: np.ndarray, slot: Slot, where: str) -> Any:
    """A structured array's field as the column of a member; a nested shelf for a nested struct."""
    names = column.dtype.names
    if names is None:
        return column
    if slot.core.__layout__.kind == "struct" and names != (ELEMENT,):
        return structured(column, where)
    if names == (COLUMN,) and slot.core.__layout__.kind == "matrix":
        inner = column[COLUMN]
        return inner.swapaxes(-1, -2) if inner.ndim >= 2 else inner
    if names == (ELEMENT,):
        return field(column[ELEMENT], slot, where)
    return column


def unmasked(array: Any, where: str, name: str) -> np.ndarray:
    """A masked array's data, if nothing is masked; SourceError naming the first row otherwise."""
    mask: Any = np.ma.getmaskarray(array)
    if mask.dtype.names is not None:
        bad = next((n for n in mask.dtype.names if np.any(mask[n].tolist())), None)
        if bad is None:
            return array.data.view(np.ndarray)
        row = next(i for i, entry in enumerate(mask[bad].reshape(len(mask), -1)) if np.any(entry.tolist()))
        where = f"{where}.{bad}"
    elif mask.any():
        row = int(np.argwhere(mask)[0][0]) if mask.ndim else 0
    else:
        return array.data.view(np.ndarray)
    raise SourceError.of(
        "column-missing-value", kind="a masked value", row=row, where=where, way_out=f"{name}.filled(0)"
    )


def exported(source: Any, where: str, name: str) -> Any:
    """What DLPack makes of an array of another library, without a copy; `source` itself if it has no DLPack."""
    # numpy's own arrays need no DLPack, and masked ones would lose their mask by it.
    if isinstance(source, np.ndarray) or not hasattr(source, "__dlpack__"):
        return source
    try:
        kind = int(source.__dlpack_device__()[0]) if hasattr(source, "__dlpack_device__") else 1
    except Exception:  # A library may have no number for its device: torch has none for "meta".
        kind = 0
    if kind not in _READABLE:
        way_out = f"{name}.cpu()" if hasattr(source, "cpu") else f"np.asarray({name}) where the library allows it"
        device = str(getattr(source, "device", f"a DLPack device of kind {kind}"))
        raise SourceError.of(
            "column-device", current=type(source).__name__, device=device, where=where, way_out=way_out
        )
    if getattr(source, "requires_grad", False):
        # Packing reads values; the gradient has no part in it.
        source = source.detach()
    try:
        return np.from_dlpack(source)
    except (BufferError, RuntimeError, TypeError, ValueError, AttributeError):
        return source
