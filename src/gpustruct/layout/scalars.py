"""The scalars of host-shareable types, one row for each: all that the other modules know about them."""

from __future__ import annotations

from typing import NamedTuple


class Scalar(NamedTuple):
    """One scalar type. `low` and `high` are its smallest and largest finite values.

    `format` is its code in Python's struct and in numpy, `suffix` the letter of literals, vectors and matrices.
    `extension` is what a shader must enable to use it, `feature` what its device must have.
    """

    name: str
    size: int
    format: str
    suffix: str
    low: float
    high: float
    extension: str = ""
    feature: str = ""

    @property
    def is_integer(self) -> bool:
        """Whether it holds whole numbers; `low` and `high` are ints then."""
        return self.suffix in "iu"


# WGSL §6.2 (plain types).
SCALARS = {
    row.name: row
    for row in (
        Scalar("i32", 4, "<i", "i", -(2**31), 2**31 - 1),
        Scalar("u32", 4, "<I", "u", 0, 2**32 - 1),
        Scalar("f32", 4, "<f", "f", -(2.0**128 - 2.0**104), 2.0**128 - 2.0**104),
        Scalar("f16", 2, "<e", "h", -65504.0, 65504.0, "f16", "shader-f16"),
    )
}
INTEGERS = tuple(name for name, row in SCALARS.items() if row.is_integer)
FLOATS = tuple(name for name, row in SCALARS.items() if not row.is_integer)
