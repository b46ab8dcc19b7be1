"""A naive packer of vertex data, written from WebGPU §10.3.6 alone: it reads formats from their names, and shares no code with gpustruct.

A class is a list of (member, format, count): the format's WebGPU name, and the number of elements of an array or None.

    offsets(members)            the byte offset of each member, and the stride
    pack(members, columns)      the bytes of all records, one struct.pack_into for each value
    seen(format, integers)      what a vertex shader reads of the encoded integers or floats
    random_members(rng)         a random class, with at most 16 locations
    random_columns(...)         columns for it, of random dtypes, byte orders and strides
"""

from __future__ import annotations

import re
import struct
from typing import Any, NamedTuple

import numpy as np

NAMES = [
    *(f"{kind}{bits}{rows}" for kind in ("uint", "sint", "unorm", "snorm") for bits in (8, 16) for rows in ("", "x2", "x4")),
    *(f"float16{rows}" for rows in ("", "x2", "x4")),
    *(f"{kind}32{rows}" for kind in ("float", "uint", "sint") for rows in ("", "x2", "x3", "x4")),
    "unorm10-10-10-2",
    "unorm8x4-bgra",
]  # fmt: skip
CODES = {("u", 8): "B", ("i", 8): "b", ("u", 16): "H", ("i", 16): "h", ("u", 32): "I", ("i", 32): "i",
         ("f", 16): "e", ("f", 32): "f"}  # fmt: skip
PACKED = (1023, 1023, 1023, 3)
Members = list[tuple[str, str, int | None]]


class Format(NamedTuple):
    kind: str
    bits: int
    rows: int

    @property
    def size(self) -> int:
        return self.bits * self.rows // 8


def read_name(name: str) -> Format:
    if name == "unorm10-10-10-2":
        return Format("packed", 8, 4)
    if name == "unorm8x4-bgra":
        return Format("bgra", 8, 4)
    match = re.fullmatch(r"(unorm|snorm|uint|sint|float)(\d+)(?:x(\d))?", name)
    assert match is not None
    return Format(match[1], int(match[2]), int(match[3] or 1))


def offsets(members: Members) -> tuple[list[int], int]:
    at, found = 0, []
    for _, name, count in members:
        size = read_name(name).size
        align = min(4, size)
        at += -at % align
        found.append(at)
        at += size * (1 if count is None else count)
    return found, at + -at % 4


def encode(name: str, values: list[Any], own: bool) -> bytes:
    """One element: its components as Python numbers, integers of the format's own size if `own`."""
    kind, bits, _ = read_name(name)
    if kind == "packed":
        a, b, c, d = (round(value * scale) for value, scale in zip(values, PACKED, strict=True))
        return struct.pack("<I", a | b << 10 | c << 20 | d << 30)
    if kind == "bgra":
        values = [values[k] for k in (2, 1, 0, 3)]
    if kind in ("unorm", "snorm", "bgra") and not own:
        scale = 2 ** (bits - (kind == "snorm")) - 1
        values = [round(value * scale) for value in values]
    code = CODES["f" if kind == "float" else "i" if kind in ("sint", "snorm") else "u", bits]
    return struct.pack(f"<{len(values)}{code}", *values)


def pack(members: Members, columns: dict[str, np.ndarray], records: int) -> bytes:
    places, stride = offsets(members)
    data = bytearray(stride * records)
    for (member, name, count), place in zip(members, places, strict=True):
        column, form = columns[member], read_name(name)
        own = column.dtype.kind in "iu" and "norm" in name
        for record in range(records):
            elements = np.reshape(column[record], (count or 1, form.rows))
            for k in range(count or 1):
                values = [elements[k, row].item() for row in range(form.rows)]
                at = stride * record + place + k * form.size
                data[at : at + form.size] = encode(name, values, own)
    return bytes(data)


def seen(name: str, data: bytes) -> list[float]:
    """What a shader reads of one encoded element."""
    kind, bits, rows = read_name(name)
    if kind == "packed":
        (word,) = struct.unpack("<I", data)
        return [(word >> shift & scale) / scale for shift, scale in zip((0, 10, 20, 30), PACKED, strict=True)]
    code = CODES["f" if kind == "float" else "i" if kind in ("sint", "snorm") else "u", bits]
    values = list(struct.unpack(f"<{rows}{code}", data))
    if kind == "bgra":
        values = [values[k] for k in (2, 1, 0, 3)]
    if kind in ("unorm", "snorm", "bgra"):
        return [max(value / (2 ** (bits - (kind == "snorm")) - 1), -1.0) for value in values]
    return values


def random_members(rng: np.random.Generator, most: int = 16) -> Members:
    """Members of all formats; together they take at most `most` locations."""
    members: Members = []
    free = int(rng.integers(1, most + 1))
    while free:
        count = int(rng.integers(1, min(free, 4) + 1)) if rng.random() < 0.2 else None
        members.append((f"m{len(members)}", str(rng.choice(NAMES)), count))
        free -= count or 1
    return members


def random_columns(rng: np.random.Generator, members: Members, records: int) -> dict[str, np.ndarray]:
    return {member: random_column(rng, name, count, records) for member, name, count in members}


def random_column(rng: np.random.Generator, name: str, count: int | None, records: int) -> np.ndarray:
    form = read_name(name)
    inner = (*([] if count is None else [count]), *([form.rows] if form.rows > 1 else []))
    shape = (records, *inner)
    if form.kind in ("uint", "sint"):
        letter = "u" if form.kind == "uint" else "i"
        info = np.iinfo(f"{letter}{form.bits // 8}")
        values = rng.integers(info.min, info.max, shape, dtype=np.int64, endpoint=True)
        values.flat[:2] = [info.min, info.max][: values.size]
        dtype = rng.choice([f"{letter}{form.bits // 8}", "i8"])
    elif form.kind == "float":
        values, dtype = rng.normal(0, 100, shape), rng.choice(["f2", "f4", "f8"])
    else:
        low = -1 if form.kind == "snorm" else 0
        values = rng.uniform(low, 1, shape)
        values.flat[:3] = [low, 1, 0.5][: values.size]
        dtype = rng.choice(["f4", "f8"])
        if rng.random() < 0.3 and form.kind != "packed":
            letter = "i" if form.kind == "snorm" else "u"
            info = np.iinfo(f"{letter}{form.bits // 8}")
            values = rng.integers(info.min, info.max, shape, dtype=np.int64, endpoint=True)
            dtype = f"{letter}{form.bits // 8}"
    return arranged(rng, values.astype(rng.choice(["<", ">"]) + dtype))


def arranged(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """The same values at other strides: as they are, reversed, every third row, columns apart, or unaligned."""
    choice = rng.integers(5)
    if choice == 1:
        return values[::-1].copy()[::-1]
    if choice == 2:
        spaced = np.zeros((3 * len(values), *values.shape[1:]), values.dtype)
        spaced[1::3] = values
        return spaced[1::3]
    if choice == 3:
        return np.asfortranarray(values)
    if choice == 4:
        records = np.zeros(len(values), [("before", "u1"), ("value", values.dtype, values.shape[1:])])
        records["value"] = values
        return records["value"]
    return values
