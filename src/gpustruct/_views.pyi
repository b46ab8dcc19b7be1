"""Types of the compiled module that reads and sets single records."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._numbers import NumberWriter

class Record:
    def __buffer__(self, flags: int, /) -> memoryview: ...

class Records:
    def __len__(self) -> int: ...
    def __getitem__(self, index: int | slice, /) -> Any: ...
    def __setitem__(self, index: int | slice, value: Any, /) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class MemberDescriptor:
    assign: Any
    __name__: str
    def __init__(
        self,
        name: str,
        where: str,
        offset: int,
        size: int,
        writer: NumberWriter | None,
        kind: Any,
        count: int,
        stride: int,
        assign: Any,
        rows: type[Records] = ...,
    ) -> None: ...
    def __get__(self, record: Any, kind: Any = None, /) -> Any: ...
    def __set__(self, record: Any, value: Any, /) -> None: ...

def view_at(member: MemberDescriptor, owner: NDArray[np.uint8], offset: int) -> Any: ...
def element_of(records: Records) -> MemberDescriptor: ...
def differences(now: Any, before: Any, gap: int) -> Any: ...
