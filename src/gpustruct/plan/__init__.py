"""From a layout and its columns' dtypes and strides to the list of steps that the kernel runs. See csrc/scatter.h.

WGSL's alignment rules keep every scalar and vector inside a 16-byte slot. So a record is a row of slots, and each slot
has one of five shapes. Other bytes (halves, an incomplete last slot) are copied; arrays too large to unroll become
loops.
"""

from .lowering import lower

__all__ = ["lower"]
