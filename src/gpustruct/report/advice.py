"""suggest: a smaller order of a struct's members, what it gains, and other changes that would help.

No figure is estimated: each comes from the layout of a class that `make_struct` made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .. import table
from ..batches import Batch, as_batch
from ..errors import LayoutError
from ..layout import Layout, record_bytes
from ..types import layout_of
from . import offsets
from .hints import hints_of
from .orders import smallest_order
from .variants import Hint, reordered

CACHE_LINE = 64


@dataclass(frozen=True)
class Suggestion:
    """A smaller order of the members of one struct. It does not change the class: `apply` returns a new one.

    `type` is the struct class. `order` has the members' names; it is the present order if no other is smaller.
    `before` and `after` are the two layouts. `proven` is True if no order can be smaller. That is always known for
    up to 12 members, and for larger structs if many of their members are alike. `hints` are changes besides the
    order. `print` shows the suggestion as text, and notebooks show it as a table.
    """

    type: Any
    order: tuple[str, ...]
    before: Layout
    after: Layout
    proven: bool
    hints: tuple[Hint, ...]

    def __bool__(self) -> bool:
        return self.bytes_after < self.bytes_before

    @property
    def bytes_before(self) -> int:
        """Bytes a record takes now: its stride in an array, or the header of a struct with a runtime-sized array."""
        return record_bytes(self.before)

    @property
    def bytes_after(self) -> int:
        """Bytes a record takes in the suggested order."""
        return record_bytes(self.after)

    def saved(self, records: int = 1) -> int:
        """Bytes that the suggested order saves in `records` records."""
        return records * (self.bytes_before - self.bytes_after)

    def apply(self) -> Any:
        """A new class with the members in the suggested order, and the name and module of `type`.

        >>> from gpustruct import Struct, f32, vec3f, suggest
        >>> class Light(Struct):
        ...     range: f32
        ...     position: vec3f
        >>> suggest(Light).apply().range.offset
        12
        """
        return reordered(self.type, self.order)

    def declare(self) -> str:
        """The WGSL declaration of the suggested class, and of the structs inside it.

        >>> from gpustruct import Struct, f32, vec3f, suggest
        >>> class Light(Struct):
        ...     range: f32
        ...     position: vec3f
        >>> suggest(Light).declare().index("position") < suggest(Light).declare().index("range")
        True
        """
        from .. import wgsl

        return wgsl.declare(self.apply())

    def cache_lines(self, line: int = CACHE_LINE) -> tuple[float, float]:
        """How many cache lines of `line` bytes reading one record of an array touches on average, before and after.

        >>> from gpustruct import Struct, f32, vec3f, suggest
        >>> class Light(Struct):
        ...     range: f32
        ...     position: vec3f
        >>> suggest(Light).cache_lines()
        (1.0, 1.0)
        """
        return _lines(self.before, line), _lines(self.after, line)

    def __str__(self) -> str:
        return "\n".join([*self._verdict(), *map(str, self.hints)])

    def _verdict(self) -> list[str]:
        name, unit = self.before.name, "bytes of header" if self.before.tail else "bytes a record"
        proof = "proven minimal" if self.proven else "the best found, not proven minimal"
        if not self:
            return [f"{name}: {self.bytes_before} {unit}, no order is smaller ({proof})"]
        gain = self.bytes_before - self.bytes_after
        share = 100 * gain / self.bytes_before
        lines = [
            f"{name}: {self.bytes_before} -> {self.bytes_after} {unit}, {share:.0f} % less ({proof})",
            f"  order: {', '.join(self.order)}",
        ]
        if self.before.tail is None:
            before, after = self.cache_lines()
            lines += [
                f"  saves {gain} bytes a record, {_amount(self.saved(1_000_000))} for a million",
                f"  cache lines of {CACHE_LINE} bytes a record: {before:.2f} -> {after:.2f}",
            ]
        return lines

    def _repr_html_(self) -> str:
        rows = list(self.after.rows_of_table())
        muted = [row[4].startswith(offsets.PADDING) for row in rows]
        caption, *notes = str(self).splitlines()
        return table.html(caption, offsets.HEADING, rows, offsets.RIGHT, muted, notes)


def suggest(type_: Any, *, uniform: bool | None = None) -> Suggestion:
    """Find the order of a struct's members that takes the fewest bytes, and other changes that would make it smaller.

    `type_` is a Struct class, a Vertex class, a batch or a view. The columns of a batch are read, to find out which
    of them f16 or a smaller format could hold, and by how much the numbers would change at most; columns of more than
    2^26 numbers are not. A runtime-sized array stays last. If the struct is legal in ``var<uniform>``, so is the
    suggested order, unless ``uniform=False``; with ``uniform=True``, a struct that is not legal there raises
    LayoutError. Of several smallest orders, the one closest to the present order is suggested. Attributes stay on
    their members; nested structs do not change. The class does not change either: `Suggestion.apply` makes a new one.
    WGSL §14.4.1.

    >>> from gpustruct import Struct, f32, vec4f, vec3f, suggest
    >>> class MaterialBad(Struct):
    ...     roughness: f32
    ...     color: vec4f
    ...     metallic: f32
    ...     emission: vec3f
    ...     opacity: f32
    ...     cutoff: f32
    >>> found = suggest(MaterialBad)
    >>> print(str(found).splitlines()[0])
    MaterialBad: 80 -> 48 bytes a record, 40 % less (proven minimal)
    >>> found.order, found.saved(1_000_000)
    (('color', 'roughness', 'metallic', 'opacity', 'emission', 'cutoff'), 32000000)
    """
    type_ = as_batch(type_)
    layout = layout_of(type_)
    cls, batch = (type(type_), type_) if isinstance(type_, Batch) else (type_, None)
    if layout.kind != "struct":
        raise LayoutError.of("suggest-struct", current=layout.name)
    if uniform:
        layout.check_uniform()
    keep = not layout.uniform_faults() if uniform is None else uniform
    found = smallest_order(layout, uniform=keep)
    order = tuple(layout.fields[index].name for index in found.indices)
    made = reordered(cls, order)
    after = layout_of(made)
    return Suggestion(cls, order, layout, after, found.proven, hints_of(cls, made, batch, keep))


def _lines(layout: Layout, line: int) -> float:
    stride = layout.record_stride
    period = line // math.gcd(stride, line)
    return sum((k * stride + layout.size - 1) // line - k * stride // line + 1 for k in range(period)) / period


def _amount(count: int) -> str:
    value, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if value >= 100 or unit == "bytes" else f"{value:.3g} {unit}"
