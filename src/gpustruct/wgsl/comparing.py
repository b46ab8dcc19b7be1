"""check: compare a Python class, a numpy dtype or a ctypes Structure with the struct in a shader."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from .. import names, table
from ..column_specs import is_padding, without_arrays
from ..errors import WgslError
from ..layout import SCALARS, Layout, unpack_function, wgsl_name
from ..types import Struct
from .module import Module
from .parsing import parse

_SCALARS = {np.dtype(row.format): name for name, row in SCALARS.items()}

# What the packed formats are in a dtype. The shader unpacks a u32.
_PACKED = {("u1", (4,)), ("i1", (4,)), ("u2", (2,)), ("i2", (2,)), ("f2", (2,))}


class Row(NamedTuple):
    """One member on one side; `stride` is "" if it is neither an array nor a matrix.

    `packed` is the packed format that Python knows a u32 by. A shader does not say it, so `facts` leaves it out.
    """

    name: str
    type: str
    offset: int
    size: int
    stride: int | str = ""
    packed: str = ""

    @property
    def facts(self) -> tuple[str, int, int, int | str]:
        return self.type, self.offset, self.size, self.stride

    @property
    def cells(self) -> tuple[str, ...]:
        of = f" ({self.packed})" if self.packed else ""
        return self.type + of, str(self.offset), str(self.size), str(self.stride)


def check(T: Any, text: str | Module, *, name: str | None = None, skip: bool = False) -> Any:
    """Check that `T` and the struct in the shader have the same memory layout.

    `T` is a gpustruct class, a structured numpy dtype, or a ctypes Structure class. `text` is the shader, or a Module
    from `parse`; `skip` is passed to `parse`. `name` is the struct's name in the shader; by default it is the name of
    the class, or of the only struct in the text. For each member, name, type, offset, size and stride are compared.
    A numpy field of shape (3, 4) and dtype float32 counts as a mat3x3f: each of its three columns is three numbers and
    one of padding. A packed format, such as unorm8x4, is the same as the shader's u32; in a dtype that is four bytes, or
    two numbers of two bytes each. Explicit padding in a dtype or a Structure is ignored: void fields, and fields named like padding
    (``_pad``, ``unused0``) where the shader's struct has no member.

    Returns the shader's class, for packing. Raises WgslError with both sides of every difference (rule
    ``"check-differs"``), or if the text is not WGSL. WGSL §14.4.

    >>> from gpustruct import Struct, vec3f, f32, wgsl, WgslError
    >>> class Light(Struct):
    ...     position: vec3f
    ...     intensity: f32
    >>> wgsl.check(Light, "struct Light { position: vec3f, intensity: f32 }")
    Light
    >>> try:
    ...     wgsl.check(Light, "struct Light { intensity: f32, position: vec3f }")
    ... except WgslError as error:
    ...     print(error)
    Light must be the same on both sides (current: 3 rows differ) - at check(Light, ...); change one side
    side    member     type   offset  size  stride
    Python  intensity  f32        12     4
    shader  intensity  f32         0     4
    Python  position   vec3f       0    12
    shader  position   vec3f      16    12
    Python  Light                  0    16      16
    shader  Light                  0    32      32
    """
    module = text if isinstance(text, Module) else parse(text, skip=skip)
    layout, dtype = _sides(T)
    wanted = name or (T.__name__ if isinstance(T, type) else None)
    if wanted is None and len(module.structs) == 1:
        wanted = next(iter(module.structs))
    if wanted not in module.structs:
        known = ", ".join(module.structs) or "none"
        reason = module.unavailable.get(wanted or "", "")
        first = next(iter(module.structs), None)
        way_out = f"pass name={first!r}, or another of them" if first else "pass the text that declares it"
        raise WgslError.of("check-name", name=wanted, known=f"{known}{reason and '; '}{reason}", way_out=way_out)
    found = module.structs[wanted]
    theirs = list(_layout_rows(found.__layout__, found.__name__, attributes=layout is not None))
    if layout is not None:
        ours = list(_layout_rows(layout, found.__name__, attributes=True))
    else:
        ours = list(_dtype_rows(dtype, found.__layout__, found.__name__))
    _compare(wanted, ours, theirs)
    return found


def _sides(T: Any) -> tuple[Layout | None, np.dtype[Any]]:
    if isinstance(T, type) and issubclass(T, Struct) and hasattr(T, "__layout__"):
        return T.__layout__, np.dtype(np.void)
    if isinstance(T, type) and issubclass(T, ctypes.Structure):
        try:
            return None, np.dtype(T)
        except Exception as error:
            raise WgslError.of("check-type", current=f"{T.__name__}: {error}") from None
    if isinstance(T, np.dtype) and cast("np.dtype[Any]", T).fields:
        return None, cast("np.dtype[Any]", T)
    raise WgslError.of(
        "check-type", current=str(getattr(cast("Any", T), "__name__", None) or repr(cast("Any", T))[:80])
    )


def _compare(name: str, ours: list[Row], theirs: list[Row]) -> None:
    here, there = ({row.name: row for row in rows} for rows in (ours, theirs))
    cells: list[tuple[str, ...]] = []
    for member in [*there, *(name for name in here if name not in there)]:
        mine, other = here.get(member), there.get(member)
        if mine is None or other is None or mine.facts != other.facts:
            missing = ("(missing)", "", "", "")
            cells += [
                (side, member, *(row.cells if row else missing)) for side, row in (("Python", mine), ("shader", other))
            ]
    if cells:
        text = table.text(("side", "member", "type", "offset", "size", "stride"), cells, (False,) * 3 + (True,) * 3)
        raise WgslError.of("check-differs", name=name, count=len(cells) // 2, table=text)


def _layout_rows(layout: Layout, name: str, *, attributes: bool) -> Iterator[Row]:
    yield from _member_rows(layout, "", 0, attributes)
    yield Row(name, "", 0, layout.size, layout.stride)


def _member_rows(layout: Layout, prefix: str, base: int, attributes: bool) -> Iterator[Row]:
    for member in layout.fields:
        inner, name = member.layout, f"{prefix}{member.name}"
        size = member.size if attributes else inner.size
        packed = inner.core.name if unpack_function(inner) else ""
        yield Row(name, wgsl_name(inner), base + member.offset, size, _stride(inner), packed)
        if inner.core.kind == "struct":
            yield from _member_rows(inner.core, f"{name}{_first(inner)}.", base + member.offset, attributes)


def _stride(layout: Layout) -> int | str:
    if layout.kind == "matrix":
        return layout.size // layout.columns
    return layout.stride if layout.kind == "array" else ""


def _first(layout: Layout) -> str:
    return "" if layout.element is None else "[0]" + _first(layout.element)


def _dtype_rows(dtype: np.dtype[Any], layout: Layout, name: str) -> Iterator[Row]:
    yield from _field_rows(dtype, layout, "", 0)
    # The size of a dtype is also its stride, and so is the size of a WGSL struct.
    yield Row(name, "", 0, dtype.itemsize, dtype.itemsize)


def _field_rows(dtype: np.dtype[Any], layout: Layout | None, prefix: str, base: int) -> Iterator[Row]:
    members = {member.name: member.layout for member in layout.fields} if layout else {}
    for field, (given, offset, *_) in (dtype.fields or {}).items():
        wanted, name = members.get(field), f"{prefix}{field}"
        inner = _flattened(given, wanted)
        core = inner.base
        if layout is not None and wanted is None and _is_padding(field, inner, offset, layout):
            continue
        stride: int | str = inner.itemsize // inner.shape[0] if inner.shape and inner.shape[0] else ""
        fits = wanted is not None and _fits(inner, wanted)
        if wanted is not None and (_stride(wanted) == "" or (fits and wanted.kind == "matrix" and inner.ndim == 1)):
            stride = _stride(wanted)
        if wanted is not None and not fits and is_padding(inner) and names.is_padding(field):
            # Both sides have this padding as a member, but in the dtype it has no type.
            fits, stride = inner.itemsize == wanted.size, _stride(wanted)
        type_ = wanted.name if wanted is not None and fits else str(inner)
        yield Row(name, type_, base + offset, inner.itemsize, stride)
        if core.fields:
            struct = wanted.core if wanted is not None and wanted.core.kind == "struct" else None
            yield from _field_rows(core, struct, f"{name}{'[0]' * inner.ndim}.", base + offset)


def _is_padding(name: str, dtype: np.dtype[Any], offset: int, layout: Layout) -> bool:
    """Whether a field that the shader does not have is explicit padding."""
    if is_padding(dtype):
        return True
    gaps = [(gap.offset, gap.offset + gap.size) for gap in layout.padding]
    end = offset + dtype.itemsize
    return names.is_padding(name) and any(start <= offset and end <= stop for start, stop in gaps)


def _flattened(dtype: np.dtype[Any], layout: Layout | None) -> np.dtype[Any]:
    """`dtype` as one array of scalars or structs; the padding after a vector (see `dtype_of`) becomes scalars too."""
    dtype, shape = without_arrays(dtype)
    fields = [(inner, offset) for inner, offset, *_ in (dtype.fields or {}).values() if not is_padding(inner)]
    if layout is not None and layout.core.rows > 1 and len(fields) == 1:
        inner, offset = fields[0]
        count, rest = divmod(dtype.itemsize, inner.base.itemsize)
        if inner.shape == (layout.core.rows,) and offset == rest == 0:
            dtype, shape = inner.base, (*shape, count)
    return np.dtype((dtype, shape)) if shape else dtype


def _fits(dtype: np.dtype[Any], layout: Layout) -> bool:
    """Whether `dtype` has the same scalars in the same shape; offsets and strides are compared elsewhere."""
    counts, inner = [count or 0 for count, _ in layout.axes], layout.core
    if inner.kind == "struct":
        return bool(dtype.base.fields) and dtype.shape == tuple(counts)
    if inner.name == "u32" and (dtype.base.str[1:], dtype.shape[len(counts) :]) in _PACKED:
        return dtype.shape[: len(counts)] == tuple(counts)
    if _SCALARS.get(dtype.base) != inner.scalar:
        return False
    own: list[list[int]] = [[]] if inner.kind in ("scalar", "atomic") else [[inner.rows], [-(-inner.rows // 2) * 2]]
    if inner.kind == "matrix":
        own = [[inner.columns, *rows] for rows in own] + [[inner.size // dtype.base.itemsize]]
    return any(dtype.shape == (*counts, *shape) for shape in own)
