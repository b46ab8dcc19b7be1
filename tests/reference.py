"""The oracle: a naive packer written from the WGSL rules alone, one struct.pack_into per scalar.

It shares no code with gpustruct. A packed format is four bytes, aligned to four, with its scalars one after another. From a class it takes only what the author wrote: the members'
names, their types' names, the counts, @align and @size; every offset is worked out again here. It is
slow and plain on purpose.

    layout(cls)                  align, size, stride; header (offset of a runtime-sized tail) and the tail's stride
    leaves(cls, count=1)         {".m0[1][2]": (byte offset, "f32"), ...} of one record, matrices as [column][row]
    pack(batch, stride=None)     the bytes of every record, in C order, padding zero
    uniform_legal(cls)           whether the type may be in the uniform address space
    unpack(cls, data, ...)       nested dict of numpy arrays (one array for a type that is no struct)
    difference(cls, got, want)   the first leaf or padding byte that differs, or None; any NaN equals any NaN

Values that do not fit raise OverflowError; float to integer raises TypeError.
"""

from __future__ import annotations

import inspect
import math
import re
import struct
import typing
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

LETTER = {"f": "f32", "i": "i32", "u": "u32", "h": "f16"}
CODE = {
    "f32": "<f",
    "i32": "<i",
    "u32": "<I",
    "f16": "<e",
    "unorm8": "<B",
    "snorm8": "<b",
    "uint8": "<B",
    "sint8": "<b",
}
CODE |= {"unorm16": "<H", "snorm16": "<h"}
BYTES = {name: struct.calcsize(code) for name, code in CODE.items()}
RANGE = {"i32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1), "uint8": (0, 255), "sint8": (-128, 127)}
# The integers of normalized scalars: which means 1, and which number is the lowest.
NORMALIZED = {"unorm8": (255, 0.0), "snorm8": (127, -1.0), "unorm16": (65535, 0.0), "snorm16": (32767, -1.0)}
DTYPE = {name: np.dtype("<f4" if name in NORMALIZED else code) for name, code in CODE.items()}
# A u32 with four or two scalars: WGSL 17.12 (data unpacking).
PACKED = {
    "snorm8x4": "snorm8", "unorm8x4": "unorm8", "sint8x4": "sint8", "uint8x4": "uint8",
    "snorm16x2": "snorm16", "unorm16x2": "unorm16", "float16x2": "f16",
}  # fmt: skip


class Measure(NamedTuple):
    align: int
    size: int
    stride: int
    header: int = 0
    tail_stride: int = 0


class Scalar(NamedTuple):
    scalar: str


class Vector(NamedTuple):
    rows: int
    scalar: str


class Packed(NamedTuple):
    rows: int
    scalar: str


class Matrix(NamedTuple):
    columns: int
    rows: int
    scalar: str


class Array(NamedTuple):
    element: Any
    count: int | None


class Record(NamedTuple):
    members: tuple[tuple[str, Any, int | None, int | None], ...]


def describe(cls: Any) -> Any:
    """The class as plain data: what its author wrote, and nothing computed."""
    name = cls.__name__
    if name in BYTES:
        return Scalar(name)
    if name in PACKED and cls.__layout__.kind != "struct":
        return Packed(int(name[-1]), PACKED[name])
    if match := re.fullmatch(r"atomic[\[<](i32|u32)[\]>]", name):
        return Scalar(match[1])
    if match := re.fullmatch(r"vec([234])([fiuh])", name):
        return Vector(int(match[1]), LETTER[match[2]])
    if match := re.fullmatch(r"mat([234])x([234])([fh])", name):
        return Matrix(int(match[1]), int(match[2]), LETTER[match[3]])
    if hasattr(cls, "__element__"):
        match = re.fullmatch(r"array\[.*, (\d+)\]", name)
        element = describe(cls.__element__)
        # array[array[f32, 3]] ends in a count too, but in its element's.
        counted = match is not None and name != f"array[{cls.__element__.__name__}]"
        return Array(element, int(match[1]) if match is not None and counted else None)
    attributes = written_attributes(cls)
    return Record(tuple((n, describe(spec.type), *attributes[n]) for n, spec in cls.__members__.items()))


def written_attributes(cls: Any) -> dict[str, tuple[int | None, int | None]]:
    """(@align, @size) of each member, from the annotations of the class and its bases."""
    found: dict[str, tuple[int | None, int | None]] = {}
    for base in reversed(cls.__mro__):
        for name, annotation in inspect.get_annotations(base).items():
            if isinstance(annotation, str):
                # Written as text: the layout keeps the two numbers as they were given.
                member = next((m for m in cls.__layout__.fields if m.name == name), None)
                found[name] = (None, None) if member is None else (member.explicit_align, member.explicit_size)
                continue
            marks = annotation.__metadata__ if typing.get_origin(annotation) is typing.Annotated else ()
            values = {type(mark).__name__: int(mark.value) for mark in marks}
            found[name] = (values.get("align"), values.get("size"))
    return found


def up(multiple: int, value: int) -> int:
    while value % multiple:
        value += 1
    return value


def measure(kind: Any) -> Measure:
    """AlignOf, SizeOf and the stride in an array (WGSL 14.4.1); a runtime-sized array counts one element."""
    if isinstance(kind, Scalar):
        align = size = BYTES[kind.scalar]
    elif isinstance(kind, Packed):
        align = size = 4
    elif isinstance(kind, Vector):
        align = {2: 2, 3: 4, 4: 4}[kind.rows] * BYTES[kind.scalar]
        size = kind.rows * BYTES[kind.scalar]
    elif isinstance(kind, Matrix):
        align, size, *_ = measure(Array(Vector(kind.rows, kind.scalar), kind.columns))
    elif isinstance(kind, Array):
        element = measure(kind.element)
        align, size = element.align, element.stride * (1 if kind.count is None else kind.count)
        if kind.count is None:
            return Measure(align, size, up(align, size), 0, element.stride)
    else:
        align, end, header, tail_stride = 1, 0, 0, 0
        for _, inner, offset, member_align, member_size in placed(kind):
            align, end = max(align, member_align), offset + member_size
            if isinstance(inner, Array) and inner.count is None:
                header, tail_stride = offset, measure(inner).tail_stride
        size = up(align, end)
        return Measure(align, size, size, header, tail_stride)
    return Measure(align, size, up(align, size))


def placed(record: Record) -> Iterator[tuple[str, Any, int, int, int]]:
    """(name, type, offset, align, size) of each member."""
    end = 0
    for name, inner, written_align, written_size in record.members:
        own = measure(inner)
        align, size = written_align or own.align, written_size or own.size
        offset = up(align, end)
        yield name, inner, offset, align, size
        end = offset + size


def layout(cls: Any) -> Measure:
    """Align, size and stride of a class; for a runtime-sized one its header and its tail's stride."""
    return measure(describe(cls))


def uniform_legal(cls: Any) -> bool:
    """Whether a variable of this type may be in `uniform` (WGSL 14.4.4 and 7.3), read word by word."""
    return legal_inside_uniform(describe(cls)) and "atomic" not in spelled(cls)


def legal_inside_uniform(kind: Any) -> bool:
    if isinstance(kind, Array):
        return kind.count is not None and measure(kind.element).stride % 16 == 0 and legal_inside_uniform(kind.element)
    if isinstance(kind, Record):
        members = list(placed(kind))
        for i, (_, inner, offset, _, _) in enumerate(members):
            own = measure(inner)
            if isinstance(inner, Array | Record) and offset % up(16, own.align):
                return False
            if isinstance(inner, Record) and i + 1 < len(members) and members[i + 1][2] - offset < up(16, own.size):
                return False
            if not legal_inside_uniform(inner):
                return False
    return True


def spelled(cls: Any) -> str:
    """The names of all types inside a class, in one text."""
    inner = [cls.__element__] if hasattr(cls, "__element__") else []
    inner += [spec.type for name, spec in cls.__members__.items() if name]
    return " ".join([cls.__name__, *map(spelled, inner)])


def scalars(kind: Any, path: str, offset: int, count: int) -> Iterator[tuple[str, int, str]]:
    """(path, offset, scalar) of every scalar; a runtime-sized array has `count` elements."""
    if isinstance(kind, Scalar):
        yield path, offset, kind.scalar
    elif isinstance(kind, Vector | Packed):
        for row in range(kind.rows):
            yield f"{path}[{row}]", offset + row * BYTES[kind.scalar], kind.scalar
    elif isinstance(kind, Matrix):
        step = measure(Vector(kind.rows, kind.scalar)).stride
        for column in range(kind.columns):
            yield from scalars(Vector(kind.rows, kind.scalar), f"{path}[{column}]", offset + column * step, count)
    elif isinstance(kind, Array):
        step = measure(kind.element).stride
        for i in range(count if kind.count is None else kind.count):
            yield from scalars(kind.element, f"{path}[{i}]", offset + i * step, count)
    else:
        for name, inner, at, _, _ in placed(kind):
            yield from scalars(inner, f"{path}.{name}", offset + at, count)


def leaves(cls: Any, count: int = 1) -> dict[str, tuple[int, str]]:
    """Every scalar of one record: ".member[column][row]" -> (byte offset, scalar name)."""
    return {path: (offset, scalar) for path, offset, scalar in scalars(describe(cls), "", 0, count)}


def pack(batch: Any, stride: int | None = None) -> bytes:
    """The bytes of a batch. A runtime-sized one is its header and tail, with no rounding up at the end."""
    kind = describe(type(batch))
    source, shape = batch, batch.__shape__
    if not isinstance(kind, Record):
        runtime = isinstance(kind, Array) and kind.count is None
        source = batch.__columns__[0] if runtime else batch[...].__columns__[0]
        dims = inner_dims(kind)
        source_shape = source.__shape__ if hasattr(source, "__shape__") else source.shape
        if isinstance(kind, Array) and kind.count is None:
            length = source_shape[0]
            step = stride or measure(kind.element).stride
            data = bytearray(step * length)
            for i in range(length):
                write(data, i * step, kind.element, source, (i,))
            return bytes(data)
        shape = source_shape[: len(source_shape) - dims]
    whole = measure(kind)
    if whole.tail_stride:
        length = tail_length(batch)
        data = bytearray(whole.header + whole.tail_stride * length)
        write(data, 0, kind, batch, ())
        return bytes(data)
    step = whole.stride if stride is None else stride
    records = list(np.ndindex(*shape))
    data = bytearray(step * len(records))
    for number, index in enumerate(records):
        write(data, number * step, kind, source, index)
    return bytes(data)


def inner_dims(kind: Any) -> int:
    """How many inner dimensions the column of a type has, those inside a struct left out."""
    if isinstance(kind, Array):
        return (0 if kind.count is None else 1) + inner_dims(kind.element)
    return {Vector: 1, Packed: 1, Matrix: 2}.get(type(kind), 0)


def tail_length(batch: Any) -> int:
    column = getattr(batch, list(type(batch).__members__)[-1])
    return int((column.__shape__ if hasattr(column, "__shape__") else column.shape)[0])


def write(data: bytearray, at: int, kind: Any, source: Any, index: tuple[int, ...]) -> None:
    """Write `source` at `index`, of type `kind`, at byte `at`: recursion down to single scalars."""
    if isinstance(kind, Scalar):
        put(data, at, kind.scalar, source[index].item())
    elif isinstance(kind, Vector | Packed):
        for row in range(kind.rows):
            write(data, at + row * BYTES[kind.scalar], Scalar(kind.scalar), source, (*index, row))
    elif isinstance(kind, Matrix):
        step = measure(Vector(kind.rows, kind.scalar)).stride
        for row in range(kind.rows):
            for column in range(kind.columns):
                place = at + column * step + row * BYTES[kind.scalar]
                write(data, place, Scalar(kind.scalar), source, (*index, row, column))
    elif isinstance(kind, Array):
        step = measure(kind.element).stride
        length = kind.count
        if length is None:
            length = (source.__shape__ if hasattr(source, "__shape__") else source.shape)[len(index)]
        for i in range(length):
            write(data, at + i * step, kind.element, source, (*index, i))
    else:
        for name, inner, offset, _, _ in placed(kind):
            write(data, at + offset, inner, getattr(source, name), index)


def put(data: bytearray, at: int, scalar: str, value: Any) -> None:
    """One scalar, rounded to nearest even where it is a float; OverflowError where it does not fit."""
    if scalar in RANGE:
        if not isinstance(value, int):
            raise TypeError(f"{type(value).__name__} is no integer")
        low, high = RANGE[scalar]
        if not low <= value <= high:
            raise OverflowError(f"{value} is no {scalar}")
        struct.pack_into(CODE[scalar], data, at, value)
    elif scalar in NORMALIZED:
        one, low = NORMALIZED[scalar]
        if isinstance(value, float) and not low <= value <= 1:
            raise OverflowError(f"{value} is no {scalar}")
        # An integer is what is stored. Python's round takes the even one of two that are as near.
        struct.pack_into(CODE[scalar], data, at, round(value * one) if isinstance(value, float) else value)
    else:
        if not isinstance(value, int | float):
            raise TypeError(f"{type(value).__name__} is no real number")
        struct.pack_into(CODE[scalar], data, at, odd_double(value) if isinstance(value, int) else value)


def odd_double(value: int) -> float:
    """An integer as a double that rounds on to f32 or f16 as the integer itself would.

    A plain float(value) would round twice. Rounding to odd first makes the second rounding right.
    """
    magnitude = abs(value)
    shift = max(magnitude.bit_length() - 53, 0)
    kept = magnitude >> shift
    if magnitude & ((1 << shift) - 1):
        kept |= 1
    return math.copysign(float(kept << shift), value)


def unpack(cls: Any, data: Any, *, count: int | None = None, offset: int = 0, stride: int | None = None) -> Any:
    """The values in `data`, read scalar by scalar: {member: array or dict}, or one array.

    Arrays have one leading dimension of records; the members of a struct with a runtime-sized tail
    have none, and the tail its length. Matrices are [row, col].
    """
    kind, data = describe(cls), bytes(memoryview(data).cast("B"))
    whole = measure(kind)
    if whole.tail_stride:
        length = (len(data) - offset - whole.header) // whole.tail_stride if count is None else count
        return read(data, kind, np.array(offset), length)
    step = whole.stride if stride is None else stride
    if count is None:
        count = (len(data) - offset + step - whole.size) // step
    return read(data, kind, offset + step * np.arange(count), None)


def read(data: bytes, kind: Any, at: np.ndarray, tail: int | None) -> Any:
    """The scalars that start at the byte offsets `at`, in the shape of `at` and the type's own."""
    if isinstance(kind, Scalar):
        values = [struct.unpack_from(CODE[kind.scalar], data, int(place))[0] for place in at.flat]
        if kind.scalar in NORMALIZED:
            one, low = NORMALIZED[kind.scalar]
            values = [max(value / one, low) for value in values]
        return np.array(values, DTYPE[kind.scalar]).reshape(at.shape)
    if isinstance(kind, Vector | Packed):
        places = at[..., None] + BYTES[kind.scalar] * np.arange(kind.rows)
        return read(data, Scalar(kind.scalar), places, tail)
    if isinstance(kind, Matrix):
        step = measure(Vector(kind.rows, kind.scalar)).stride
        places = at[..., None, None] + BYTES[kind.scalar] * np.arange(kind.rows)[:, None]
        return read(data, Scalar(kind.scalar), places + step * np.arange(kind.columns), tail)
    if isinstance(kind, Array):
        length = kind.count if kind.count is not None else tail
        places = at[..., None] + measure(kind.element).stride * np.arange(length)
        return read(data, kind.element, places, tail)
    return {name: read(data, inner, at + offset, tail) for name, inner, offset, _, _ in placed(kind)}


def difference(cls: Any, got: Any, want: Any, stride: int | None = None) -> str | None:
    """The first place where two packed buffers differ, in words; None where they are the same.

    NaNs compare equal whatever their sign and payload; everything else, padding included, by its bits.
    """
    got, want = bytes(memoryview(got).cast("B")), bytes(memoryview(want).cast("B"))
    if len(got) != len(want):
        return f"{len(got)} bytes, expected {len(want)}"
    kind = describe(cls)
    whole = measure(kind)
    places: dict[int, tuple[str, str]] = {}
    if whole.tail_stride:
        length = (len(want) - whole.header) // whole.tail_stride
        places = {offset: (path, scalar) for path, offset, scalar in scalars(kind, "", 0, length)}
    else:
        step = whole.stride if stride is None else stride
        one = list(scalars(kind, "", 0, 1))
        for number in range(len(want) // step):
            places.update({number * step + offset: (f"[{number}]{path}", scalar) for path, offset, scalar in one})
    at = 0
    while at < len(want):
        path, scalar = places.get(at, ("padding", ""))
        width = BYTES.get(scalar, 1)
        one, other = got[at : at + width], want[at : at + width]
        if one != other and not (scalar and is_nan(scalar, one) and is_nan(scalar, other)):
            values = (
                f"{struct.unpack(CODE[scalar], one)[0]!r}, expected {struct.unpack(CODE[scalar], other)[0]!r}"
                if scalar
                else f"byte {one.hex()}, expected {other.hex()}"
            )
            return f"{path} at byte {at}: {values}"
        at += width
    return None


def is_nan(scalar: str, data: bytes) -> bool:
    return scalar[0] == "f" and math.isnan(struct.unpack(CODE[scalar], data)[0])
