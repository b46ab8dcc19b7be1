"""Types of the compiled module that runs plans; csrc/scatter.h is the contract."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# The enums of csrc/scatter.h.
TYPE_F16: int
TYPE_F32: int
TYPE_F64: int
TYPE_I8: int
TYPE_I16: int
TYPE_I32: int
TYPE_I64: int
TYPE_U8: int
TYPE_U16: int
TYPE_U32: int
TYPE_U64: int
TYPE_BOOL: int
TYPE_UNORM8: int
TYPE_SNORM8: int
TYPE_UNORM16: int
TYPE_SNORM16: int
TYPE_UNORM8X4_BGRA: int
TYPE_UNORM10_10_10_2: int
SLOT_12_4: int
SLOT_8_8: int
SLOT_8_4_4: int
SLOT_4_4_8: int
SLOT_4_4_4_4: int
STEP_SLOT: int
STEP_COPY: int
STEP_ZERO: int
STEP_TRANSPOSE: int
STEP_CONVERT_IN: int
STEP_CONVERT_OUT: int
STEP_CONVERT_ARRAY: int
STEP_MASK: int
MODE_PLAIN: int
MODE_STREAM: int
MODE_CHECK: int

OVERLAP: int
TYPE_CODES: dict[str, int]
TYPE_SIZES: tuple[int, ...]
STEP: np.dtype[np.void]

def isas() -> tuple[str, ...]: ...
def isa() -> str: ...
def use_isa(name: str) -> str: ...
def zero(out: Any, offset: int, stride: int, size: int, count: int) -> None: ...
def forget_helpers() -> None: ...

class Plan:
    kind: bytes
    def __init__(
        self, steps: NDArray[np.void], loops: NDArray[np.int64], temps: NDArray[np.int64], size: int
    ) -> None: ...

class Run:
    @property
    def records(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def columns(self) -> int: ...
    def __init__(
        self,
        plan: Plan,
        arrays: list[NDArray[Any]],
        views: tuple[NDArray[Any], ...],
        strides: NDArray[np.int64],
        shape: NDArray[np.int64],
        writable: bool,
    ) -> None: ...
    def overlaps(self, data: Any, offset: int, length: int) -> bool: ...
    def scatter(
        self, out: Any, offset: int, stride: int, start: int, stop: int, mode: int, workers: int = 1
    ) -> tuple[int, int]: ...
    def gather(
        self, data: Any, offset: int, stride: int, start: int, stop: int, mode: int = 0, workers: int = 1
    ) -> tuple[int, int]: ...
