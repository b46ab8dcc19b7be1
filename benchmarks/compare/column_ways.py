"""The ways that start from columns: numpy arrays of float32 and uint32."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np
from object_ways import CLASSES, Call, Sides, struct_loop
from records import Case, Record

from gpustruct import pack

# --- a memory copy: what any way at least has to do -------------------------------------------------------------------


def copy_live(case: Case) -> Sides:
    data = case.expected
    return lambda: np.copyto(case.out, data), lambda: case.out


def copy_fresh(case: Case) -> Call:
    return case.expected.copy


# --- gpustruct --------------------------------------------------------------------------------------------------------


def gpustruct_live(case: Case, threads: int | None = None) -> Sides:
    records = CLASSES[case.record.name](**case.columns)
    return lambda: pack(records, out=case.out, threads=threads), lambda: case.out


def gpustruct_fresh(case: Case, threads: int | None = None) -> Call:
    cls = CLASSES[case.record.name]
    return lambda: pack(cls(**case.columns), threads=threads)


# Fewer records than a million take one thread anyway.
def one_thread_live(case: Case) -> Sides:
    return gpustruct_live(case, 1)


def one_thread_fresh(case: Case) -> Call:
    return gpustruct_fresh(case, 1)


# --- numpy ------------------------------------------------------------------------------------------------------------


def structured_live(case: Case) -> Sides:
    records = case.out.view(case.record.dtype)
    pairs = [(records[name], column) for name, column in case.columns.items()]

    def call() -> None:
        for field, column in pairs:
            field[...] = column

    return call, lambda: case.out


def structured_fresh(case: Case) -> Call:
    dtype, columns, new, count = case.record.dtype, case.columns, case.new, case.count

    def call() -> np.ndarray:
        records = new(count, dtype)
        for name, column in columns.items():
            records[name] = column
        return records

    return call


def void_dtype(record: Record) -> np.dtype[Any]:
    """Each vector as one item of raw bytes: numpy moves it whole, and the values must have the right type already."""
    formats = [m.kind if m.width == 1 else f"V{4 * m.width}" for m in record.members]
    layout = {"names": [m.name for m in record.members], "offsets": [m.offset for m in record.members]}
    return np.dtype(layout | {"formats": formats, "itemsize": record.stride})


def void_live(case: Case) -> Sides:
    dtype = void_dtype(case.record)
    records = case.out.view(dtype)
    pairs = [(records[name], column.view(dtype[name]).reshape(-1)) for name, column in case.columns.items()]

    def call() -> None:
        for field, column in pairs:
            field[...] = column

    return call, lambda: case.out


def void_fresh(case: Case) -> Call:
    dtype, columns, new, count = void_dtype(case.record), case.columns, case.new, case.count

    def call() -> np.ndarray:
        records = new(count, dtype)
        for name, column in columns.items():
            records[name] = column.view(dtype[name]).reshape(-1)
        return records

    return call


# --- loops in Python --------------------------------------------------------------------------------------------------


def loop(case: Case, records: np.ndarray) -> None:
    pairs = list(case.columns.items())
    for i in range(len(records)):
        record = records[i]
        for name, column in pairs:
            record[name] = column[i]


def loop_live(case: Case) -> Sides:
    records = case.out.view(case.record.dtype)
    return lambda: loop(case, records), lambda: case.out


def loop_fresh(case: Case) -> Call:
    def call() -> np.ndarray:
        records = case.new(case.count, case.record.dtype)
        loop(case, records)
        return records

    return call


def lists(case: Case) -> Any:
    return zip(*(column.tolist() for column in case.columns.values()), strict=True)


def struct_columns_live(case: Case) -> Sides:
    call, out = struct_loop(case.record), memoryview(case.out)
    return lambda: call(lists(case), out), lambda: case.out


def struct_columns_fresh(case: Case) -> Call:
    call = struct_loop(case.record)

    def fresh() -> bytearray:
        out = bytearray(case.count * case.record.stride)
        call(lists(case), out)
        return out

    return fresh


# --- pygfx and slangpy ------------------------------------------------------------------------------------------------


def pygfx_array(record: Record, count: int) -> np.ndarray:
    """The array of a uniform or storage buffer, as pygfx makes it from its description of the struct."""
    utils: Any = importlib.import_module("pygfx.utils")
    described = {m.name: m.kind if m.width == 1 else f"{m.width}x{m.kind}" for m in record.members}
    return utils.array_from_shadertype(described, count)


def pygfx_live(case: Case) -> Sides:
    data = pygfx_array(case.record, case.count)
    data.view(np.uint8)[:] = case.out[: data.nbytes]
    pairs = [(data[name], column) for name, column in case.columns.items()]

    def call() -> None:
        for field, column in pairs:
            field[...] = column

    return call, lambda: data


def pygfx_fresh(case: Case) -> Call:
    def call() -> np.ndarray:
        data = pygfx_array(case.record, case.count)
        for name, column in case.columns.items():
            data[name] = column
        return data

    return call


SLANG_TYPES = {("f4", 1): "float", ("f4", 2): "float2", ("f4", 3): "float3", ("f4", 4): "float4", ("u4", 1): "uint"}


@cache
def slangpy_device() -> Any:
    """A Vulkan device, or else the one that compiles for the CPU: a cursor needs one to know the layout."""
    slangpy: Any = importlib.import_module("slangpy")
    slangpy.Logger.get().level = slangpy.LogLevel.fatal
    try:
        return slangpy.Device(type=slangpy.DeviceType.vulkan)
    except RuntimeError:
        return slangpy.Device(type=slangpy.DeviceType.cpu)


def slangpy_kind() -> str:
    return f"{slangpy_device().info.type.name} device"


@cache
def slangpy_layout(record: Record) -> Any:
    members = " ".join(f"{SLANG_TYPES[m.kind, m.width]} {m.name};" for m in record.members)
    text = f"struct {record.name} {{ {members} }}; StructuredBuffer<{record.name}> records;"
    module = slangpy_device().load_module_from_source(f"compare_{record.name}", text)
    found = module.layout.find_type_by_name(f"StructuredBuffer<{record.name}>")
    return module.layout.get_type_layout(found).element_type_layout


def slangpy_cursor(case: Case) -> Any:
    slangpy: Any = importlib.import_module("slangpy")
    return slangpy.BufferCursor(slangpy_device().info.type, slangpy_layout(case.record), case.count)


def slangpy_live(case: Case) -> Sides:
    cursor = slangpy_cursor(case)
    cursor.copy_from_numpy(case.out[: cursor.size])
    return lambda: cursor.write_from_numpy(case.columns), cursor.to_numpy


def slangpy_fresh(case: Case) -> Call:
    def call() -> Any:
        cursor = slangpy_cursor(case)
        cursor.write_from_numpy(case.columns)
        return cursor

    return call
