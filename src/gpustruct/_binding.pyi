"""Types of the compiled module: batches bound to the kernel."""

from collections.abc import Callable
from typing import Any

from ._kernel import Plan, Run

def bind(batch: Any, make: Callable[[Any, list[Any]], Plan]) -> Run | None: ...
def pack_small(batch: Any, out: Any, limit: int, make: Callable[[Any, list[Any]], Plan]) -> Any: ...
