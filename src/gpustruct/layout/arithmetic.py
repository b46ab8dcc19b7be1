"""Arithmetic in bytes, and the limits that WGSL and 32-bit sizes set."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

MAX_BYTES = MAX_COUNT = 2**31 - 1
MAX_MEMBERS = 1023
MAX_DEPTH = 15


def round_up(multiple: int, value: int) -> int:
    """The smallest multiple of `multiple` that is at least `value`.

    >>> round_up(16, 12), round_up(16, 16)
    (16, 16)
    """
    return -(-value // multiple) * multiple


def whole_number(value: Any, least: int = 0, most: int | None = None) -> int | None:
    """`value` as an int, or None if it is not a whole number from `least` to `most`. A bool does not count as one.

    >>> whole_number(3), whole_number(1.5), whole_number(True), whole_number(-1)
    (3, None, None, None)
    """
    try:
        # numpy's own bool has an __index__ before numpy 2.3.
        number = None if isinstance(value, bool | np.bool) else operator.index(value)
    except TypeError:
        return None
    return None if number is None or number < least or (most is not None and number > most) else number
