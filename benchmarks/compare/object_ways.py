"""The ways that start from objects: a list with a tuple, or a dict, for each record."""

from __future__ import annotations

import ctypes
import importlib
import io
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from records import Case, Member, Record

from gpustruct import Struct, batch, pack, vec2f, vec3f
from gpustruct.workloads import Particle

Call = Callable[[], Any]
Sides = tuple[Call, Call]


class Spot(Struct):
    """48 bytes, of which 16 are padding."""

    position: vec3f
    direction: vec3f
    cone: vec2f


CLASSES: dict[str, Any] = {"Particle": Particle, "Spot": Spot}


def gpustruct_objects_live(case: Case) -> Sides:
    cls, rows = CLASSES[case.record.name], case.rows
    return lambda: pack(batch(cls, rows), out=case.out), lambda: case.out


def gpustruct_objects_fresh(case: Case) -> Call:
    cls, rows = CLASSES[case.record.name], case.rows
    return lambda: pack(batch(cls, rows))


def numpy_objects_live(case: Case) -> Sides:
    records, rows = case.out.view(case.record.dtype), case.rows

    def call() -> None:
        records[...] = rows

    return call, lambda: case.out


def numpy_objects_fresh(case: Case) -> Call:
    dtype, rows, new, count = case.record.dtype, case.rows, case.new, case.count

    def call() -> np.ndarray:
        records = new(count, dtype)
        records[...] = rows
        return records

    return call


# --- struct -----------------------------------------------------------------------------------------------------------
def struct_format(record: Record) -> struct.Struct:
    codes = {"f4": "f", "u4": "I", "x": "x"}
    return struct.Struct("<" + "".join(f"{part.width}{codes[part.kind]}" for part in record.parts()))


def struct_loop(record: Record) -> Callable[[Any, Any], None]:
    """A loop that calls pack_into once for each record, written out for this struct as a person would."""
    names = [m.name for m in record.members]
    values = ", ".join(name if m.width == 1 else f"*{name}" for name, m in zip(names, record.members, strict=True))
    text = f"""
def call(rows, out):
    offset = 0
    for {", ".join(names)} in rows:
        put(out, offset, {values})
        offset += {record.stride}
"""
    scope: dict[str, Any] = {"put": struct_format(record).pack_into}
    exec(text, scope)
    return scope["call"]


def struct_live(case: Case) -> Sides:
    call, out, rows = struct_loop(case.record), memoryview(case.out), case.rows
    return lambda: call(rows, out), lambda: case.out


def struct_fresh(case: Case) -> Call:
    call, rows = struct_loop(case.record), case.rows

    def fresh() -> bytearray:
        out = bytearray(case.count * case.record.stride)
        call(rows, out)
        return out

    return fresh


# --- ctypes and construct ---------------------------------------------------------------------------------------------


def ctypes_class(record: Record) -> Any:
    """C's rules are not WGSL's: the padding is written down."""
    kinds = {"f4": ctypes.c_float, "u4": ctypes.c_uint32, "x": ctypes.c_char}
    fields = []
    for k, part in enumerate(record.parts()):
        fields.append(
            (part.name or f"_{k}", kinds[part.kind] if part.width == 1 else kinds[part.kind] * part.width)
        )  # fmt: skip
    return type(f"C{record.name}", (ctypes.Structure,), {"_fields_": fields})


def ctypes_loop(record: Record) -> Callable[[Any, Any], None]:
    names = [m.name for m in record.members]
    targets = ", ".join(f"record.{m.name}" if m.width == 1 else f"record.{m.name}[:]" for m in record.members)
    text = f"""
def call(rows, records):
    for record, ({", ".join(names)}) in zip(records, rows):
        {targets} = {", ".join(names)}
"""
    scope: dict[str, Any] = {}
    exec(text, scope)
    return scope["call"]


def ctypes_live(case: Case) -> Sides:
    call, rows = ctypes_loop(case.record), case.rows
    records = (ctypes_class(case.record) * case.count).from_buffer(case.out)
    return lambda: call(rows, records), lambda: case.out


def ctypes_fresh(case: Case) -> Call:
    call, rows, many = ctypes_loop(case.record), case.rows, ctypes_class(case.record) * case.count

    def fresh() -> Any:
        records = many()
        call(rows, records)
        return records

    return fresh


def construct_format(record: Record, count: int) -> Any:
    """The compiled format: construct's documentation recommends it for speed."""
    construct: Any = importlib.import_module("construct")
    kinds = {"f4": construct.Float32l, "u4": construct.Int32ul}

    def part_of(part: Member) -> Any:
        if part.kind == "x":
            return construct.Padding(part.width)
        kind = kinds[part.kind]
        return construct.Renamed(kind if part.width == 1 else kind[part.width], part.name)

    return construct.Array(count, construct.Struct(*map(part_of, record.parts()))).compile()


def construct_live(case: Case) -> Sides:
    form, dicts, stream = construct_format(case.record, case.count), case.dicts, io.BytesIO(case.out)

    def call() -> None:
        stream.seek(0)
        form.build_stream(dicts, stream)

    return call, stream.getvalue


def construct_fresh(case: Case) -> Call:
    form, dicts = construct_format(case.record, case.count), case.dicts
    return lambda: form.build(dicts)
