"""Columns in whatever Python has for two numbers, or for what is none: name -> (the column, its values or None).

None means a column that must be refused. Each is made again for every use, as some can be read once.
"""

from __future__ import annotations

import array as standard
import collections
import ctypes
import datetime
import decimal
import fractions
import mmap
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

TWO = np.array([1.0, 2.0])
TWO.flags.writeable = False


class Answers:
    """Has `__array__`, which gives or raises what the test chose."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Interface:
    def __init__(self, **changes: Any) -> None:
        self.__array_interface__ = {**TWO.__array_interface__, "data": TWO.tobytes(), **changes}


class Property:
    """Its interface is a property that raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    @property
    def __array_interface__(self) -> Any:
        raise self.error


class Exchanged:
    """DLPack, with the faults that the test chose."""

    def __init__(self, values: Any = TWO, capsule: Any = None, device: Any = None) -> None:
        self.values, self.capsule, self.device = np.array(values), capsule, device

    def __dlpack__(self, **options: Any) -> Any:
        if isinstance(self.capsule, Exception):
            raise self.capsule
        return self.values.__dlpack__() if self.capsule is None else self.capsule

    def __dlpack_device__(self) -> Any:
        if isinstance(self.device, Exception):
            raise self.device
        return (1, 0) if self.device is None else self.device


class Capsule:
    """Arrow's C interface for one array."""

    def __init__(self, values: Any, answer: Any = None) -> None:
        self.values, self.answer = values, answer

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.values.__arrow_c_array__() if self.answer is None else self.answer


class Sequence:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        if self.error is not None:
            raise self.error
        return [1, 2][index]


class Extension(pa.ExtensionType):
    """An extension type that pyarrow does not know."""

    def __init__(self, storage: Any = pa.float32()) -> None:  # noqa: B008
        super().__init__(storage, "gpustruct.tests")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


class Fields(ctypes.Structure):
    _fields_: ClassVar = [("x", ctypes.c_float)]


class Either(ctypes.Union):
    _fields_: ClassVar = [("x", ctypes.c_float), ("y", ctypes.c_int)]


def objects(*values: Any) -> np.ndarray:
    made = np.empty(len(values), object)
    for k, value in enumerate(values):
        made[k] = value
    return made


def closed(source: Any, close: Callable[[Any], Any]) -> Any:
    close(source)
    return source


def endless() -> list[Any]:
    made: list[Any] = [1]
    made.append(made)
    return made


Made = Callable[[], Any]
TAKEN: dict[str, Made] = {
    f"array.array {code}": lambda code=code: standard.array(code, [1, 2]) for code in "bBhHiIlLqQfd"
}
TAKEN |= {
    f"ctypes {kind.__name__}": lambda kind=kind: (kind * 2)(1, 2)
    for kind in (
        ctypes.c_float, ctypes.c_double, ctypes.c_int8, ctypes.c_uint8, ctypes.c_int16, ctypes.c_uint16, ctypes.c_int32,
        ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_float.__ctype_be__, ctypes.c_int32.__ctype_be__,
    )
}  # fmt: skip
TAKEN |= {
    f"memoryview {code}": lambda code=code: memoryview(np.array([1, 2], code))
    for code in ("u1", "<f2", ">i4", "<f8", ">f4", "i8", "u2")
}
TAKEN |= {
    "memoryview backwards": lambda: memoryview(standard.array("f", [2, 1]))[::-1],
    "memoryview of ctypes backwards": lambda: memoryview((ctypes.c_double * 3)(2, 9, 1))[::-2],
    "memoryview of bytes": lambda: memoryview(b"\1\2"),
    "bytearray": lambda: bytearray(b"\1\2"),
    "mmap": lambda: filled_map(),
    "pickle buffer": lambda: pickle.PickleBuffer(TWO),
    "range": lambda: range(1, 3),
    "list": lambda: [1, 2],
    "tuple": lambda: (1, 2),
    "named tuple": lambda: collections.namedtuple("Pair", "a b")(1, 2),
    "deque": lambda: collections.deque([1, 2]),
    "UserList": lambda: collections.UserList([1, 2]),
    "a sequence": Sequence,
    "list of numpy scalars": lambda: [np.float32(1), np.float16(2)],
    "list of arrays without dimensions": lambda: [np.array(1), np.array(2.0)],
    "list of bfloat16": lambda: [ml_dtypes.bfloat16(1), ml_dtypes.bfloat16(2)],
    "list of Arrow scalars": lambda: [pa.scalar(1), pa.scalar(2)],
    "__array__": lambda: Answers(TWO),
    "__array__ of a mask of nothing": lambda: Answers(np.ma.masked_array([1.0, 2.0], [False, False])),
    "__array_interface__": Interface,
    "__array_interface__ in steps": lambda: Interface(data=np.array([1.0, 9, 2]).tobytes(), strides=(16,)),
    "DLPack": Exchanged,
    "DLPack of float32": lambda: Exchanged(np.float32([1, 2])),
    "DLPack of int8": lambda: Exchanged(np.int8([1, 2])),
    "Arrow's C interface": lambda: Capsule(pa.array([1, 2])),
    "Arrow extension": lambda: pa.ExtensionArray.from_storage(Extension(), pa.array([1, 2], pa.float32())),
    "Arrow dictionary of decimals": lambda: pa.array([decimal.Decimal(1), decimal.Decimal(2)]).dictionary_encode(),
    "Arrow runs of an encoding": lambda: pa.RunEndEncodedArray.from_arrays([1, 2], pa.array([1, 2], pa.int8())),
    "pandas sparse integers": lambda: pd.Series(pd.arrays.SparseArray([1, 2])),
    "pandas categories of floats": lambda: pd.Series(pd.Categorical([1.0, 2.0])),
    "pandas index of categories": lambda: pd.CategoricalIndex([1, 2]),
    "pandas dictionary of Arrow": lambda: pd.Series(
        pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array([1, 2]).dictionary_encode()]))
    ),
}  # fmt: skip
ONE: dict[str, Made] = {
    "numpy scalar": lambda: np.float16(1),
    "array without dimensions": lambda: np.array(1, ">i2"),
    "ctypes scalar": lambda: ctypes.c_float(1),
    "Arrow scalar": lambda: pa.scalar(1),
    "int": lambda: 1,
    "bool": lambda: True,
}
REFUSED: dict[str, Made] = {
    f"__array__ raises {type(error).__name__}": lambda error=error: Answers(error)
    for error in (ValueError("x"), KeyError("k"), OSError("io"), RuntimeError(), AttributeError("a"), StopIteration(), RecursionError("deep"), BufferError("b"), AssertionError(), ZeroDivisionError("z"), UnicodeDecodeError("utf8", b"a", 0, 1, "bad"))
}  # fmt: skip
REFUSED |= {
    f"__array__ gives {answer!r:.12}": lambda answer=answer: Answers(answer)
    for answer in (None, [1, 2], 3, object(), "ab", float)
}
REFUSED |= {
    "__array__ of a mask": lambda: Answers(np.ma.masked_array([1.0, 2.0], [False, True])),
    "__array__ of None": lambda: Answers(objects(1, None)),
    "__array__ of fields": lambda: Answers(np.zeros(2, [("x", "f4")])),
}
REFUSED |= {
    f"__array_interface__ with {name}={value!r:.12}": lambda name=name, value=value: Interface(**{name: value})
    for name, value in (
        ("shape", None), ("shape", (-1,)), ("shape", (2**62, 2**62)), ("shape", (3,)), ("shape", (10**9,)), ("strides", (-8,)), ("strides", (1 << 40,)), ("offset", 1 << 40), ("shape", "ab"), ("typestr", "zz"), ("typestr", "|O8"),
        ("typestr", "<f3"), ("typestr", 3), ("data", (0, False)), ("data", None), ("data", "ab"), ("strides", ("a",)),
        ("strides", (1, 2)), ("strides", 3),
    )
}  # fmt: skip
REFUSED |= {
    "an interface that raises": lambda: Property(OSError("gone")),
    "DLPack that raises": lambda: Exchanged(capsule=OSError("gone")),
    "DLPack of nothing": lambda: Exchanged(capsule=3),
    "DLPack of a device that raises": lambda: Exchanged(device=KeyError("x")),
    "DLPack of another device": lambda: Exchanged(device=(2, 0)),
    "DLPack of a device that is none": lambda: Exchanged(device="cpu"),
    "DLPack of complex numbers": lambda: Exchanged([1j, 2]),
    "Arrow's C interface of nothing": lambda: Capsule(None, 3),
    "Arrow's C interface that raises": lambda: Capsule(None, RuntimeError()),
    "Arrow's C interface of a null": lambda: Capsule(pa.array([1, None])),
    "Arrow's C interface of text": lambda: Capsule(pa.array(["a", "b"])),
    "a sequence that raises": lambda: Sequence(OSError("gone")),
    "a mmap that is closed": lambda: closed(filled_map(), mmap.mmap.close),
    "a memoryview that is released": lambda: closed(memoryview(b"ab"), memoryview.release),
    "a pickle buffer that is released": lambda: closed(pickle.PickleBuffer(TWO), pickle.PickleBuffer.release),
    "memoryview of objects": lambda: memoryview(objects(1, None)),
    "memoryview of text": lambda: memoryview(np.array(["a", "b"])),
    "memoryview of records": lambda: memoryview(np.zeros(2, [("x", "f4"), ("y", "i4")])),
    "memoryview of padded records": lambda: memoryview(
        np.zeros(2, np.dtype({"names": ["x"], "formats": ["f4"], "offsets": [0], "itemsize": 12}))
    ),
    "memoryview of characters": lambda: memoryview(b"\1\2").cast("c"),
    "array.array of text": lambda: standard.array("u", "ab"),
    "ctypes characters": lambda: (ctypes.c_char * 2)(b"1", b"2"),
    "ctypes wide characters": lambda: (ctypes.c_wchar * 2)("1", "2"),
    "ctypes pointers": lambda: (ctypes.POINTER(ctypes.c_int) * 2)(),
    "ctypes objects": lambda: (ctypes.py_object * 2)(1, 2),
    "ctypes text": lambda: (ctypes.c_char_p * 2)(b"1", b"2"),
    "ctypes structures": lambda: (Fields * 2)((1,), (2,)),
    "ctypes unions": lambda: (Either * 2)(),
    "str": lambda: "12",
    "bytes": lambda: b"12",
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset([1, 2]),
    "values of a dict": lambda: {"a": 1, "b": 2}.values(),
    "dict": lambda: {0: 1, 1: 2},
    "None": lambda: None,
    "Ellipsis": lambda: ...,
    "a class": lambda: int,
    "a module": lambda: np,
    "a function": lambda: len,
    "objects": lambda: objects(1, "a"),
    "objects and None": lambda: objects(1, None),
    "objects and NA": lambda: objects(1, pd.NA),
    "objects and NaT": lambda: objects(1, pd.NaT),
    "objects and masked": lambda: objects(1, np.ma.masked),
    "objects and a null": lambda: objects(1, pa.scalar(None)),
    "objects of arrays": lambda: objects(np.ones(1), np.ones(2)),
    "objects of dates": lambda: objects(*[datetime.date(2026, 1, 1)] * 2),
    "objects of fractions": lambda: objects(decimal.Decimal(1), fractions.Fraction(2, 3)),
    "objects of complex numbers": lambda: objects(1j, 2),
    "objects of timestamps": lambda: objects(pd.Timestamp("2026"), pd.Timestamp("2027")),
    "an object array without dimensions": lambda: np.array(None, object),
    "text without dimensions": lambda: np.array("a"),
    "NaT without dimensions": lambda: np.datetime64("NaT"),
    "fields without dimensions": lambda: np.zeros((), [("x", "f4")]),
    "masked": lambda: np.ma.masked,
    "masked without dimensions": lambda: np.ma.masked_array(1.0, mask=True),
    "list of NA": lambda: [1, pd.NA],
    "list of NaT": lambda: [1, pd.NaT],
    "list of None": lambda: [1, None],
    "list of nulls": lambda: [1, pa.scalar(None, pa.int32())],
    "list and masked": lambda: [1, np.ma.masked],
    "list of lists of different lengths": lambda: [[1], [1, 2]],
    "list of itself": endless,
    "list of text": lambda: ["1", "b"],
    "list of dicts": lambda: [{"x": 1}, {"x": 2}],
    "list of dates": lambda: [datetime.date(2026, 1, 1)] * 2,
    "list of records": lambda: list(np.zeros(2, [("x", "f4")])),
    "numpy records of nothing": lambda: np.zeros(2, []),
    "numpy empty raw bytes": lambda: np.zeros(2, "V0"),
    "numpy nested fields": lambda: np.zeros(2, [("a", [("b", "f4")])]),
    "numpy fields of raw bytes": lambda: np.zeros(2, [("a", "V4")]),
    "numpy overlapping fields": lambda: np.zeros(2, {"names": ["a", "b"], "formats": ["f4", "i4"], "offsets": [0, 0]}),
    "Arrow extension of a null": lambda: pa.ExtensionArray.from_storage(Extension(), pa.array([1, None], pa.float32())),
    "Arrow extension of structs": lambda: pa.ExtensionArray.from_storage(
        Extension(pa.struct([("x", pa.float32())])), pa.array([{"x": 1}, {"x": 2}], pa.struct([("x", pa.float32())]))
    ),
    "Arrow dictionary of dates": lambda: pa.array([datetime.date(2026, 1, 1)] * 2).dictionary_encode(),
    "Arrow lists of structs": lambda: pa.array([[{"x": 1}], []]),
    "Arrow scalar of null": lambda: pa.scalar(None),
    "Arrow scalar of a struct": lambda: pa.scalar({"x": 1}),
    "Arrow type": lambda: pa.float32(),
    "Arrow schema": lambda: pa.schema([]),
    "Arrow tensor": lambda: pa.Tensor.from_numpy(np.ones(2)),
    "Arrow reader": lambda: pa.table({"a": [1.0, 2.0]}).to_reader(),
    "polars expression": lambda: pl.col("a"),
    "polars plan": lambda: pl.LazyFrame({"a": [1]}),
    "polars type": lambda: pl.Float32,
    "polars arrays with a null": lambda: pl.Series([[1.0], None], dtype=pl.Array(pl.Float32, 1)),
    "polars arrays of lists": lambda: pl.Series([[[1]], [[2]]], dtype=pl.Array(pl.List(pl.Int8), 1)),
    "polars arrays of an enum": lambda: pl.Series([["a"], ["b"]], dtype=pl.Array(pl.Enum(["a", "b"]), 1)),
    "polars structs with a null": lambda: pl.Series([{"x": 1}, None]),
    "polars lists with a null": lambda: pl.Series([[1], None]),
    "polars decimals with a null": lambda: pl.Series([decimal.Decimal(1), None]),
    "pandas NA": lambda: pd.NA,
    "pandas NaT": lambda: pd.NaT,
    "pandas timestamp": lambda: pd.Timestamp("2026"),
    "pandas period": lambda: pd.Period("2026"),
    "pandas offset": lambda: pd.offsets.Day(),
    "pandas intervals": lambda: pd.interval_range(0, 2),
    "pandas objects and None": lambda: pd.Series([1, None], dtype=object),
    "pandas bool and None": lambda: pd.Series([True, None]),
    "pandas text accessor": lambda: pd.Series(["a"]).str,
    "pandas frame of two columns called alike": lambda: pd.DataFrame([[1.0, 2.0], [1.0, 2.0]], columns=["a", "a"]),
}
REFUSED |= {
    f"numpy NaT of {unit}": lambda unit=unit: np.array([1, "NaT"], f"m8[{unit}]")
    for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
}
REFUSED |= {
    f"numpy {code} of 3 {unit}": lambda code=code, unit=unit: np.array([1, 2]).astype(f"{code}[3{unit}]")
    for code in (">M8", "<m8")
    for unit in ("Y", "W", "s", "ns")
}


def filled_map() -> mmap.mmap:
    made = mmap.mmap(-1, 2)
    made[:] = b"\1\2"
    return made


# Those that hold floats, which no integer member takes.
FLOATS = {
    "array.array f", "array.array d", "ctypes c_float", "ctypes c_float_be", "ctypes c_double", "memoryview <f2", "memoryview <f8",
    "memoryview >f4", "memoryview backwards", "memoryview of ctypes backwards", "pickle buffer", "list of numpy scalars",
    "list of arrays without dimensions", "list of bfloat16", "__array__", "__array__ of a mask of nothing",
    "__array_interface__", "__array_interface__ in steps", "DLPack", "DLPack of float32", "Arrow extension",
    "Arrow dictionary of decimals", "pandas categories of floats", "numpy scalar", "ctypes scalar",
}  # fmt: skip


SOURCES: dict[str, tuple[Made, list[float] | None]] = {
    **{name: (make, [1.0, 2.0] if name in FLOATS else [1, 2]) for name, make in TAKEN.items()},
    **{name: (make, [1.0] if name in FLOATS else [1]) for name, make in ONE.items()},
    **{name: (make, None) for name, make in REFUSED.items()},
}
