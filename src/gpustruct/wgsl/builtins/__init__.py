"""Built-in functions that a const-expression may call: those that the specification marks ``@const``. WGSL §17."""

from __future__ import annotations

from . import bits, matrices, numbers, packing, splitting, vectors
from .call import Builtin, Call

# To add a built-in function, add it to the table of the module for its subject.
FUNCTIONS: dict[str, Builtin] = {
    **numbers.FUNCTIONS,
    **bits.FUNCTIONS,
    **vectors.FUNCTIONS,
    **matrices.FUNCTIONS,
    **packing.FUNCTIONS,
    **splitting.FUNCTIONS,
}
# Predeclared, but not allowed in a const-expression: §17.4 to §17.13.
RUNTIME = frozenset(
    """arrayLength dpdx dpdxCoarse dpdxFine dpdy dpdyCoarse dpdyFine fwidth fwidthCoarse fwidthFine storageBarrier
    textureBarrier workgroupBarrier workgroupUniformLoad bufferView bufferArrayView bufferLength""".split()
)
RUNTIME_PREFIXES = ("texture", "atomic", "subgroup", "quad")


def is_runtime(name: str) -> bool:
    """Whether `name` is a built-in function that only the body of a function may call."""
    return name in RUNTIME or (name.startswith(RUNTIME_PREFIXES) and "_" not in name and name not in RUNTIME_PREFIXES)


__all__ = ["FUNCTIONS", "Call", "is_runtime"]
