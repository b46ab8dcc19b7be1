"""Types of the compiled module. Run runs plans (csrc/scatter.h is the contract); the rest sets and reads single records."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLAIN: int
STREAM: int
CHECK: int
OVERLAP: int

def isas() -> tuple[str, ...]: ...
def isa() -> str: ...
def use_isa(name: str) -> str: ...
def zero(out: Any, offset: int, stride: int, size: int, count: int) -> None: ...

class Run:
    @property
    def records(self) -> int: ...
    @property
    def size(self) -> int: ...
    def __init__(
        self,
        steps: NDArray[np.void],
        loops: NDArray[np.int64],
        arrays: list[NDArray[Any]],
        strides: NDArray[np.int64],
        shape: NDArray[np.int64],
        temps: NDArray[np.int64],
        size: int,
        writable: bool,
    ) -> None: ...
    def scatter(self, out: Any, offset: int, stride: int, start: int, stop: int, mode: int) -> tuple[int, int]: ...
    def gather(self, data: Any, offset: int, stride: int, start: int, stop: int, mode: int = 0) -> tuple[int, int]: ...

class Writer: ...

class Leaf(Writer):
    def __init__(self, code: int, unit: int, axes: Sequence[tuple[int, int]], check: Callable[..., Any]) -> None: ...

class Group(Writer):
    def __init__(
        self,
        keys: tuple[str, ...],
        writers: tuple[Writer, ...],
        offsets: tuple[int, ...],
        classify: Callable[..., Any],
        refuse: Callable[..., Any],
    ) -> None: ...

class Rows(Writer):
    def __init__(self, count: int, stride: int, inner: Writer, refuse: Callable[..., Any]) -> None: ...

class Record:
    def __buffer__(self, flags: int, /) -> memoryview: ...

class Records:
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Any: ...
    def __setitem__(self, index: int, value: Any) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class Member:
    assign: Any
    __name__: str
    def __init__(
        self,
        name: str,
        where: str,
        offset: int,
        size: int,
        leaf: Leaf | None,
        kind: Any,
        count: int,
        stride: int,
        assign: Any,
    ) -> None: ...
    def __get__(self, record: Any, kind: Any = None) -> Any: ...
    def __set__(self, record: Any, value: Any) -> None: ...

def fill(writer: Writer, values: list[Any], out: Any, stride: int, size: int, place: list[Any]) -> None: ...
def place(member: Member, owner: NDArray[np.uint8], offset: int) -> Any: ...
def element_of(records: Records) -> Member: ...
def differences(now: Any, before: Any, gap: int) -> Any: ...
