"""The scalars that records hold, one row for each. Other modules take all facts about scalars from here."""

from __future__ import annotations

from typing import NamedTuple


class Scalar(NamedTuple):
    """One scalar type. `low` and `high` are its smallest and largest finite values.

    `format` is its code in Python's struct and in numpy, and `suffix` its letter in literals, vectors and matrices.
    `extension` is the extension that a shader must enable to use it, and `feature` the feature that its device needs.
    A normalized scalar is stored as an integer that means a number from `low` to `high`. Then `format` is the code of
    the floats that a shader reads, and `stored` the code of the integers. Columns of these integers are copied unchanged.
    """

    name: str
    size: int
    format: str
    suffix: str
    low: float
    high: float
    extension: str = ""
    feature: str = ""
    stored: str = ""

    @property
    def is_normalized(self) -> bool:
        """Whether `pack` encodes columns of floats as integers, and `unpack` decodes them."""
        return bool(self.stored)

    @property
    def is_word(self) -> bool:
        """Whether four of them are stored together, as one 32-bit integer."""
        return self.stored == "<I"

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer; `low` and `high` are ints then."""
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
# The further scalars of vertex formats, by the start of the format's name (WebGPU §10.3.6, GPUVertexFormat). Four of the
# last two share one integer of 4 bytes, so each counts as one byte. `suffix` is that of the shader's type.
VERTEX_SCALARS = {
    row.name: row
    for row in (
        Scalar("uint8", 1, "<B", "u", 0, 2**8 - 1),
        Scalar("sint8", 1, "<b", "i", -(2**7), 2**7 - 1),
        Scalar("unorm8", 1, "<f", "f", 0.0, 1.0, stored="<B"),
        Scalar("snorm8", 1, "<f", "f", -1.0, 1.0, stored="<b"),
        Scalar("uint16", 2, "<H", "u", 0, 2**16 - 1),
        Scalar("sint16", 2, "<h", "i", -(2**15), 2**15 - 1),
        Scalar("unorm16", 2, "<f", "f", 0.0, 1.0, stored="<H"),
        Scalar("snorm16", 2, "<f", "f", -1.0, 1.0, stored="<h"),
        Scalar("unorm10_10_10_2", 1, "<f", "f", 0.0, 1.0, stored="<I"),
        Scalar("unorm8x4_bgra", 1, "<f", "f", 0.0, 1.0, stored="<I"),
    )
}
# Every scalar that a record can hold.
RECORD_SCALARS = SCALARS | VERTEX_SCALARS
INTEGERS = tuple(name for name, row in SCALARS.items() if row.is_integer)
FLOATS = tuple(name for name, row in SCALARS.items() if not row.is_integer)
