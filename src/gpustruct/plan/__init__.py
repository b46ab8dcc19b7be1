"""Layout × column dtypes -> the flat list of steps that the kernel runs. See csrc/scatter.h.

WGSL's alignment rules keep every scalar and vector inside a 16-byte slot, so a record is a row of
slots, and each slot is one of five shapes made of pieces. What is not slot-shaped (halves, a record's
odd tail) is copied piece by piece; arrays too large to unroll become loops.
"""

from .lowering import lower

__all__ = ["lower"]
