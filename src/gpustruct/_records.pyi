"""Types of the compiled module that writes lists of Python objects into records."""

from collections.abc import Callable
from typing import Any

from ._numbers import Writer

class ArrayWriter(Writer):
    def __init__(self, count: int, stride: int, inner: Writer, refuse: Callable[..., Any]) -> None: ...

def read_records(writer: Writer, cls: Any, values: list[Any], stride: int) -> Any: ...
def write_value(writer: Writer, value: Any, out: Any, size: int) -> None: ...
