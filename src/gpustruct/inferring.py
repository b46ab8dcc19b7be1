"""Types from numpy dtypes, ctypes structures and dataclasses."""

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
from .column_specs import COLUMN, ELEMENT, field_names, is_padding, without_arrays
from .errors import LayoutError, brief
from .formats import FORMATS, Vertex
from .layout import SCALARS
from .types import Struct, arrays_of, make_struct

# Why a dtype or a type of Python has no counterpart in WGSL.
NO_NUMBER = "WGSL has not"
# What a number of each kind becomes; wider ones are range-checked when they are packed.
NUMBERS = {"f2": "f16", "f4": "f32", "f8": "f32", "b1": "u32"} | {
    f"{k}{n}": f"{k}32" for k in "iu" for n in (1, 2, 4, 8)
}
# The packed formats of a u32 that hold so many numbers of a kind.
PACKED = {
    ("u1", 4): ("unorm8x4", "uint8x4"),
    ("i1", 4): ("snorm8x4", "sint8x4"),
    ("u2", 2): ("unorm16x2",),
    ("i2", 2): ("snorm16x2",),
    ("f2", 2): ("float16x2",),
}
# The vertex formats of a number of each kind.
VERTEX_NUMBERS = {
    "f2": ("float16",), "f4": ("float32",), "f8": ("float32",), "b1": ("uint8",),
    "u1": ("unorm8", "uint8"), "i1": ("snorm8", "sint8"), "u2": ("unorm16", "uint16"), "i2": ("snorm16", "sint16"),
    "u4": ("uint32",), "i4": ("sint32",), "u8": ("uint32",), "i8": ("sint32",),
}  # fmt: skip
PYTHON_NUMBERS = {float: np.dtype(np.float64), int: np.dtype(np.int64), bool: np.dtype(np.bool_)}


def struct_of(source: Any, name: str = "", types: Mapping[str, Any] | None = None, *, base: Any = Struct) -> Any:
    """A Struct class from a structured numpy dtype, a `ctypes.Structure` or a dataclass.

    Numbers become f32, f16, i32 or u32 (float64 is rounded and 64-bit integers are range-checked when they
    are packed; bool becomes u32), structures nested structs, long arrays ``array[T, N]``. Where a field could be two
    types, you must choose: 2 to 4 numbers may be a vector or an array, and 4 integers of 8 bits a packed format.
    `types` maps members to types, ``{"color": vec4f, "camera.view": mat4x4f}``, and may override inferred types too.
    Fields of raw bytes (``"V4"``) are ignored as padding, unless `types` has them. The members keep their order and
    get WGSL's offsets. With ``base=Vertex`` the class is a Vertex class of vertex formats; integers of 8 and 16 bits
    may be normalized, so you must choose. Raises LayoutError for fields whose type cannot be inferred, with the
    candidates.

    >>> import numpy as np
    >>> from gpustruct import struct_of, vec3f
    >>> Particle = struct_of(np.dtype([("position", "f8", 3), ("id", "u2")]), "Particle", {"position": vec3f})
    >>> Particle.position, Particle.id
    (<Field Particle.position: vec3f, offset=0, size=12, align=16>, <Field Particle.id: u32, offset=12, size=4, align=4>)
    >>> from gpustruct.vertex import Vertex, unorm8x4
    >>> dtype = np.dtype([("position", "f4", 3), ("color", "u1", 4)])
    >>> struct_of(dtype, "Corner", {"color": unorm8x4}, base=Vertex).position
    <Field Corner.position: float32x3, offset=0, size=12, align=4>
    """
    if not isinstance(base, type) or base not in _NUMBERS_OF:
        raise LayoutError.of("dtype-base", current=getattr(base, "__name__", brief(base)))
    if types is not None and not isinstance(types, Mapping):
        raise LayoutError.of("dtype-types", current=brief(types))
    answers = dict(types or {})
    title = name or (source.__name__ if isinstance(source, type) else "Record")
    if dataclasses.is_dataclass(source) and isinstance(source, type):
        made = _from_dataclass(source, title, answers, "", base)
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
        made = _from_dtype(dtype, title, answers, "", base)
    if answers:
        raise LayoutError.of("dtype-answers", unknown=", ".join(map(str, answers)), where=title)
    return made


def _bit_fields(source: Any) -> list[str]:
    if not isinstance(source, type) or not issubclass(source, ctypes.Structure):
        return []
    return [field[0] for field in getattr(source, "_fields_", ()) if len(field) == 3]


def _made(title: str, members: Mapping[str, Callable[[], Any]], answers: dict[str, Any], prefix: str, base: Any) -> Any:
    """The class `title`; each of `members` returns a type, text that lists the candidates, or None for padding."""
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
        way_out = ", ".join(f"{name!r}: {_example(option, base)}" for name, option in first.items())
        current = ", ".join(f"{name}: {options}" for name, options in asked.items())
        raise LayoutError.of("dtype-ask", current=current, inferred=inferred, where=title, way_out=f"{{{way_out}}}")
    return make_struct(title, found, base=base)


def _example(option: str, base: Any) -> str:
    """An example for a message: the first type that the member could have, or a common one."""
    kind, _, reason = option.partition(", which ")
    if not reason:
        return option
    is_one = kind in ("str", "bytes", "complex", "object", "Any") or reason == NO_NUMBER
    if base is Vertex:
        return "float32" if is_one else "float32x3"
    return "f32" if is_one else "vec3f"


def _from_dtype(dtype: Any, title: str, answers: dict[str, Any], prefix: str, base: Any) -> Any:
    members = {
        name: partial(_inferred, dtype[name], f"{title}_{name}", answers, f"{prefix}{name}.", base)
        for name in dtype.names
    }
    return _made(title, members, answers, prefix, base)


def _inferred(dtype: np.dtype, title: str, answers: dict[str, Any], prefix: str, base: Any) -> Any:
    """A type, text that lists the candidates, or None for padding."""
    if is_padding(dtype):
        return None
    inner, shape = without_arrays(dtype)
    if inner.names is None:
        return _NUMBERS_OF[base](inner, shape)
    names = field_names(inner)
    scalar = inner[names[0]] if len(names) == 1 else None
    if names == (COLUMN,) and scalar is not None and len(scalar.shape) == 1 and shape:
        letter = "h" if scalar.base.itemsize == 2 else "f"
        made = types.PLAIN_TYPES[f"mat{shape[-1]}x{scalar.shape[0]}{letter}"]
        shape = shape[:-1]
    elif names == (ELEMENT,) and scalar is not None and scalar.shape == (3,) and inner.itemsize > scalar.itemsize:
        made = _vector(3, scalar.base)
    else:
        made = _from_dtype(inner, title, answers, prefix, base)
    return arrays_of(made, shape)


def _struct_numbers(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """The type in a Struct of `shape` numbers, or text that lists the candidates."""
    scalar = NUMBERS.get(dtype.str[1:])
    if scalar is None:
        return f"{dtype.name}, which {NO_NUMBER}"
    if any(n in (2, 3, 4) for n in shape):
        packed = PACKED.get((dtype.str[1:], shape[-1]), ())
        return " or ".join(
            [*(arrays_of(FORMATS[name], shape[:-1]).__name__ for name in packed), _options(shape, scalar)]
        )
    return arrays_of(types.PLAIN_TYPES[scalar], shape)


def _vertex_numbers(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """The type in a Vertex class of `shape` numbers, or text that lists the candidates."""
    names = VERTEX_NUMBERS.get(dtype.str[1:])
    if names is None:
        return f"{dtype.name}, which {NO_NUMBER}"
    made = [
        arrays_of(FORMATS[vector], shape[:-1])
        if shape and (vector := f"{name}x{shape[-1]}") in FORMATS
        else arrays_of(FORMATS[name], shape)
        for name in names
    ]
    return made[0] if len(made) == 1 else " or ".join(type_.__name__ for type_ in made)


_NUMBERS_OF: dict[Any, Callable[[np.dtype[Any], tuple[int, ...]], Any]] = {
    Struct: _struct_numbers,
    Vertex: _vertex_numbers,
}


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


def _from_dataclass(source: type, title: str, answers: dict[str, Any], prefix: str, base: Any) -> Any:
    try:
        hints = typing.get_type_hints(source, include_extras=True)
    except Exception as error:
        facts = {"text": source.__name__, "reason": error, "where": source.__name__}
        raise LayoutError.of("annotation-name", **facts) from None
    names = [field.name for field in dataclasses.fields(source)]
    members = {name: partial(_from_hint, hints[name], answers, f"{prefix}{name}.", base) for name in names}
    return _made(title, members, answers, prefix, base)


def _from_hint(hint: Any, answers: dict[str, Any], prefix: str, base: Any) -> Any:
    plain = hint.__origin__ if typing.get_origin(hint) is typing.Annotated else hint
    if isinstance(plain, type):
        if issubclass(plain, Batch) and plain not in _NUMBERS_OF:
            return hint
        if plain in PYTHON_NUMBERS:
            return _NUMBERS_OF[base](PYTHON_NUMBERS[plain], ())
        if dataclasses.is_dataclass(plain):
            return _from_dataclass(plain, plain.__name__, answers, prefix, base)
        if issubclass(plain, np.generic):
            return _NUMBERS_OF[base](np.dtype(plain), ())
    arguments = typing.get_args(plain)
    if typing.get_origin(plain) is tuple and set(arguments) in ({float}, {int}):
        return _NUMBERS_OF[base](PYTHON_NUMBERS[arguments[0]], (len(arguments),))
    return f"{getattr(plain, '__name__', plain)}, which has no size"
