"""Each way to pack in Python, as its documentation recommends for speed.

A way has two sides. `live`: columns and memory are there and stay, so it keeps whatever can be kept (a batch, views, a
compiled format); it returns the call and how to get the bytes. `fresh`: new columns and new memory; only what describes the
record is kept, and the call returns the memory. Ways that start from columns read numpy arrays; those that start from objects
read a list of tuples, or of dicts, that is there.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import column_ways as c
import numpy as np
import object_ways as o
from object_ways import Call, Sides
from records import Case


class Way(NamedTuple):
    name: str
    source: str  # "columns" or "objects"
    package: str  # what has the version; empty for Python itself
    live: Callable[[Case], Sides]
    fresh: Callable[[Case], Call]
    ready: Call = lambda: None  # raises if the tool cannot work here; text goes beside the version
    least: int = 0  # records from which on it is measured


def version(package: str) -> str:
    """The version of a package that is loaded or installed: gpustruct may run from a source checkout."""
    if not package:
        return platform.python_version()
    return getattr(sys.modules.get(package), "__version__", None) or importlib.metadata.version(package)


COPY = "a copy of packed bytes"
WAYS = (
    Way("gpustruct", "columns", "gpustruct", c.gpustruct_live, c.gpustruct_fresh),
    Way("gpustruct, one thread", "columns", "gpustruct", c.one_thread_live, c.one_thread_fresh, least=1_000_000),
    Way(COPY, "columns", "numpy", c.copy_live, c.copy_fresh),
    Way("numpy, structured", "columns", "numpy", c.structured_live, c.structured_fresh),
    Way("numpy, vectors as raw bytes", "columns", "numpy", c.void_live, c.void_fresh),
    Way("pygfx, array_from_shadertype", "columns", "pygfx", c.pygfx_live, c.pygfx_fresh, lambda: importlib.import_module("pygfx.utils")),
    Way("slangpy, BufferCursor", "columns", "slangpy", c.slangpy_live, c.slangpy_fresh, c.slangpy_kind),
    Way("struct.pack_into over tolist()", "columns", "", c.struct_columns_live, c.struct_columns_fresh),
    Way("loop over numpy records", "columns", "numpy", c.loop_live, c.loop_fresh),
    Way("gpustruct, tuples", "objects", "gpustruct", o.gpustruct_objects_live, o.gpustruct_objects_fresh),
    Way("numpy, tuples", "objects", "numpy", o.numpy_objects_live, o.numpy_objects_fresh),
    Way("struct.pack_into", "objects", "", o.struct_live, o.struct_fresh),
    Way("ctypes", "objects", "", o.ctypes_live, o.ctypes_fresh),
    Way("construct, compiled", "objects", "construct", o.construct_live, o.construct_fresh, lambda: importlib.import_module("construct")),
)  # fmt: skip


def as_bytes(result: Any) -> np.ndarray:
    """The bytes that a fresh call returned."""
    if hasattr(result, "to_numpy"):
        result = result.to_numpy()
    if isinstance(result, np.ndarray):
        return result.reshape(-1).view(np.uint8)
    return np.frombuffer(result, np.uint8)
