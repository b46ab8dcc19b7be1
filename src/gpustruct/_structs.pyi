"""Types of the compiled module that writes Python objects into structs."""

from collections.abc import Callable
from typing import Any

from ._numbers import Writer

MISSING: object

class StructWriter(Writer):
    def __init__(
        self,
        keys: tuple[Any, ...],
        writers: tuple[Writer, ...],
        offsets: tuple[int, ...],
        classify: Callable[..., Any],
        refuse: Callable[..., Any],
        extra: bool = False,
        defaults: tuple[Any, ...] | None = None,
    ) -> None: ...
