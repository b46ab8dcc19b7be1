"""numpy dtypes in device layout, and types from numpy dtypes, ctypes structures and dataclasses."""

from __future__ import annotations

import ctypes
import dataclasses
import typing
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from . import types
from .batches import Batch
from .column_checks import COLUMN, ELEMENT, PADDING, field_names, is_padding
from .errors import LayoutError, brief
from .layout import RECORD_SCALARS, SCALARS, Layout
from .types import Struct, array, make_struct

# Why a dtype or a type of Python has no counterpart in WGSL.
NO_NUMBER = "WGSL has not"
# What a number of each kind becomes; wider ones are range-checked when they are packed.
NUMBERS = {"f2": "f16", "f4": "f32", "f8": "f32", "b1": "u32"} | {
    f"{k}{n}": f"{k}32" for k in "iu" for n in (1, 2, 4, 8)
}


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


def struct_of(source: Any, name: str = "", types: Mapping[str, Any] | None = None) -> Any:
    """A Struct class from a structured numpy dtype, a `ctypes.Structure` or a dataclass.

    Numbers become f32, f16, i32 or u32 (float64 is rounded and 64-bit integers are range-checked when they
    are packed; bool becomes u32), structures nested structs, long arrays ``array[T, N]``. Where a field could be two types, you must choose: 2 to 4 numbers may be a vector or an array. `types` maps members to
    types,
    ``{"color": vec4f, "camera.view": mat4x4f}``, and may override inferred types too. Fields of raw bytes
    (``"V4"``) are ignored as padding, unless `types` has them. The members keep their order and get
    WGSL's offsets. Raises LayoutError for fields whose type cannot be inferred, with the candidates.

    >>> import numpy as np
    >>> from gpustruct import struct_of, vec3f
    >>> Particle = struct_of(np.dtype([("position", "f8", 3), ("id", "u2")]), "Particle", {"position": vec3f})
    >>> Particle.position, Particle.id
    (<Field Particle.position: vec3f, offset=0, size=12, align=16>, <Field Particle.id: u32, offset=12, size=4, align=4>)
    """
    if types is not None and not isinstance(types, Mapping):
        raise LayoutError.of("dtype-types", current=brief(types))
    answers = dict(types or {})
    title = name or (source.__name__ if isinstance(source, type) else "Record")
    if dataclasses.is_dataclass(source) and isinstance(source, type):
        made = _from_dataclass(source, title, answers, "")
    else:
        try:
            dtype: Any = np.dtype(typing.cast(Any, source))
        except Exception:  # numpy looks into what it is given, whose own code may fail
            dtype = None
        if dtype is None or dtype.names is None:
            if bits := _bit_fields(source):
                raise LayoutError.of("dtype-bits", fields=", ".join(bits), where=getattr(source, "__name__", ""))
            current = getattr(source, "__name__", None) or brief(source)
            raise LayoutError.of("dtype-source", current=current)
        made = _from_dtype(dtype, title, answers, "")
    if answers:
        raise LayoutError.of("dtype-answers", unknown=", ".join(map(str, answers)), where=title)
    return made


def _bit_fields(source: Any) -> list[str]:
    if not isinstance(source, type) or not issubclass(source, ctypes.Structure):
        return []
    return [field[0] for field in getattr(source, "_fields_", ()) if len(field) == 3]


def _made(title: str, members: Mapping[str, Callable[[], Any]], answers: dict[str, Any], prefix: str) -> Any:
    """The Struct class `title`; each of `members` returns a type, text that lists the candidates, or None for padding."""
    found: dict[str, Any] = {}
    asked: dict[str, str] = {}
    for name, infer in members.items():
        if prefix + name in answers:
            found[name] = answers.pop(prefix + name)
        elif isinstance(made := infer(), str):
            asked[prefix + name] = made
        elif made is not None:
            found[name] = made
    if asked:
        inferred = ", ".join(f"{n}: {getattr(t, '__name__', t)}" for n, t in found.items()) or "nothing"
        first = {name: options.split(" or ")[0] for name, options in asked.items()}
        way_out = ", ".join(f"{name!r}: {_example(option)}" for name, option in first.items())
        current = ", ".join(f"{name}: {options}" for name, options in asked.items())
        raise LayoutError.of("dtype-ask", current=current, inferred=inferred, where=title, way_out=f"{{{way_out}}}")
    return make_struct(title, found)


def _example(option: str) -> str:
    """An example for a message: the first type that the member could have, or a common one."""
    kind, _, reason = option.partition(", which ")
    if not reason:
        return option
    return "f32" if kind in ("str", "bytes", "complex", "object", "Any") or reason == NO_NUMBER else "vec3f"


def _from_dtype(dtype: Any, title: str, answers: dict[str, Any], prefix: str) -> Any:
    members = {
        name: partial(_inferred, dtype[name], f"{title}_{name}", answers, f"{prefix}{name}.") for name in dtype.names
    }
    return _made(title, members, answers, prefix)


def _inferred(dtype: np.dtype, title: str, answers: dict[str, Any], prefix: str) -> Any:
    """A type, text that lists the candidates, or None for padding."""
    if is_padding(dtype):
        return None
    base: Any = dtype
    shape: tuple[int, ...] = ()
    while base.subdtype is not None:
        base, shape = base.base, shape + base.shape
    if base.names is not None:
        names = field_names(base)
        scalar = base[names[0]] if len(names) == 1 else None
        if names == (COLUMN,) and scalar is not None and len(scalar.shape) == 1 and shape:
            letter = "h" if scalar.base.itemsize == 2 else "f"
            made = types.PLAIN_TYPES[f"mat{shape[-1]}x{scalar.shape[0]}{letter}"]
            shape = shape[:-1]
        elif names == (ELEMENT,) and scalar is not None and scalar.shape == (3,) and base.itemsize > scalar.itemsize:
            made = _vector(3, scalar.base)
        else:
            made = _from_dtype(base, title, answers, prefix)
    else:
        scalar_name = NUMBERS.get(base.str[1:])
        if scalar_name is None:
            return f"{base.name}, which {NO_NUMBER}"
        made = types.PLAIN_TYPES[scalar_name]
        if any(n in (2, 3, 4) for n in shape):
            return _options(shape, scalar_name)
    for count in reversed(shape):
        made = array[made, count]
    return made


def _vector(rows: int, base: np.dtype) -> Any:
    scalar = NUMBERS.get(base.str[1:], "f32")
    return types.PLAIN_TYPES[f"vec{rows}{SCALARS[scalar].suffix}"]


def _options(shape: tuple[int, ...], scalar: str) -> str:
    letter = SCALARS[scalar].suffix

    def wrap(inner: str, counts: tuple[int, ...]) -> str:
        for count in reversed(counts):
            inner = f"array[{inner}, {count}]"
        return inner

    options: list[str] = []
    *outer, last = shape
    if outer and {outer[-1], last} <= {2, 3, 4} and letter in "fh":
        options.append(wrap(f"mat{last}x{outer[-1]}{letter}", tuple(outer[:-1])))
    if last in (2, 3, 4):
        options.append(wrap(f"vec{last}{letter}", tuple(outer)))
    return " or ".join([*options, wrap(scalar, shape)])


def _from_dataclass(source: type, title: str, answers: dict[str, Any], prefix: str) -> Any:
    try:
        hints = typing.get_type_hints(source, include_extras=True)
    except Exception as error:
        facts = {"text": source.__name__, "reason": error, "where": source.__name__}
        raise LayoutError.of("annotation-name", **facts) from None
    names = [field.name for field in dataclasses.fields(source)]
    members = {name: partial(_from_hint, hints[name], answers, f"{prefix}{name}.") for name in names}
    return _made(title, members, answers, prefix)


def _from_hint(hint: Any, answers: dict[str, Any], prefix: str) -> Any:
    plain = hint.__origin__ if typing.get_origin(hint) is typing.Annotated else hint
    if isinstance(plain, type):
        if issubclass(plain, Batch) and plain is not Struct:
            return hint
        if plain in (float, int, bool):
            return {float: types.f32, int: types.i32, bool: types.u32}[plain]
        if dataclasses.is_dataclass(plain):
            return _from_dataclass(plain, plain.__name__, answers, prefix)
        if issubclass(plain, np.generic):
            scalar = NUMBERS.get(np.dtype(plain).str[1:])
            return types.PLAIN_TYPES[scalar] if scalar else f"{plain.__name__}, which {NO_NUMBER}"
    arguments = typing.get_args(plain)
    if typing.get_origin(plain) is tuple and set(arguments) in ({float}, {int}):
        return _options((len(arguments),), "f32" if float in arguments else "i32")
    return f"{getattr(plain, '__name__', plain)}, which has no size"
