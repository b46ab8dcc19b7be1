"""Types of the compiled module that writes Python numbers into the bytes of a member."""

from collections.abc import Callable, Sequence
from typing import Any

class Writer: ...

class NumberWriter(Writer):
    def __init__(self, code: int, unit: int, axes: Sequence[tuple[int, int]], check: Callable[..., Any]) -> None: ...
