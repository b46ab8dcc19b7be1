"""Arithmetic in bytes, and the limits that WGSL and 32-bit sizes set."""

from __future__ import annotations

import operator

MAX_BYTES = MAX_COUNT = 2**31 - 1
MAX_MEMBERS = 1023
MAX_DEPTH = 15


def round_up(multiple: int, value: int) -> int:
    """The smallest multiple of `multiple` that is at least `value`.

    >>> round_up(16, 12), round_up(16, 16)
    (16, 16)
    """
    return -(-value // multiple) * multiple


def whole_number(value: object) -> int:
    """`value` as an int; 0, which no count or size may be, for what is no whole number.

    >>> whole_number(3), whole_number(1.5), whole_number(True)
    (3, 0, 0)
    """
    try:
        return 0 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return 0
