"""Types of the compiled module that writes Python objects into records."""

from collections.abc import Callable
from typing import Any

from ._numbers import Writer

MISSING: object

class Group(Writer):
    def __init__(
        self,
        keys: tuple[str, ...],
        writers: tuple[Writer, ...],
        offsets: tuple[int, ...],
        classify: Callable[..., Any],
        refuse: Callable[..., Any],
        extra: bool = False,
        defaults: tuple[Any, ...] | None = None,
    ) -> None: ...

class Rows(Writer):
    def __init__(self, count: int, stride: int, inner: Writer, refuse: Callable[..., Any]) -> None: ...

def fill(writer: Writer, values: list[Any], out: Any, stride: int, size: int, place: list[Any]) -> None: ...
