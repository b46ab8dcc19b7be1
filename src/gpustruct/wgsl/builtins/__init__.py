"""Built-in functions that a const-expression may call: all that the specification marks ``@const``. WGSL §17."""

from __future__ import annotations

from collections.abc import Callable

from . import bits, matrices, numbers, packing, splitting, vectors
from .call import Call, Value

# A built-in that is missing here is added to the table of the module whose subject it is.
FUNCTIONS: dict[str, tuple[int, Callable[[Call], Value]]] = {
    **numbers.FUNCTIONS,
    **bits.FUNCTIONS,
    **vectors.FUNCTIONS,
    **matrices.FUNCTIONS,
    **packing.FUNCTIONS,
    **splitting.FUNCTIONS,
}
# Predeclared, but no part of a const-expression: §17.4 to §17.13.
RUNTIME = frozenset(
    """arrayLength dpdx dpdxCoarse dpdxFine dpdy dpdyCoarse dpdyFine fwidth fwidthCoarse fwidthFine storageBarrier
    textureBarrier workgroupBarrier workgroupUniformLoad bufferView bufferArrayView bufferLength""".split()
)
RUNTIME_PREFIXES = ("texture", "atomic", "subgroup", "quad")


def is_runtime(name: str) -> bool:
    """Whether `name` is a built-in function that only a function's body may call."""
    return name in RUNTIME or (name.startswith(RUNTIME_PREFIXES) and "_" not in name and name not in RUNTIME_PREFIXES)


__all__ = ["FUNCTIONS", "Call", "is_runtime"]
