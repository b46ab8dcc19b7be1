"""suggest: a smaller order of a struct's members, what it gains, and what else would help.

Every figure comes from a class that was built with `make_struct`: nothing is estimated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import table
from ..batches import Batch
from ..errors import LayoutError
from ..layout import Layout
from ..types import attributed, layout_of, make_struct
from . import offsets
from .hints import Hint, hints_of
from .orders import smallest_order

CACHE_LINE = 64


@dataclass(frozen=True)
class Suggestion:
    """A smaller order of the members of one struct. It changes nothing by itself: `apply` returns a new class.

    `type` is the class it is about; `order` the members' names, the author's own where no order is
    smaller; `before` and `after` the two layouts. `proven` says that no order is smaller: always so for up to
    12 members, and for larger structs whose members are of few kinds. `hints` are changes that an order
    cannot make. It prints itself and shows itself in notebooks.

    >>> from gpustruct import Struct, f32, vec4f, vec3f, suggest
    >>> class MaterialBad(Struct):
    ...     roughness: f32
    ...     color: vec4f
    ...     metallic: f32
    ...     emission: vec3f
    ...     opacity: f32
    ...     cutoff: f32
    >>> s = suggest(MaterialBad)
    >>> s.bytes_before, s.bytes_after, s.saved(1_000_000)
    (80, 48, 32000000)
    >>> s.order
    ('color', 'roughness', 'metallic', 'opacity', 'emission', 'cutoff')
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
        return _bytes(self.before)

    @property
    def bytes_after(self) -> int:
        """Bytes a record takes in the suggested order."""
        return _bytes(self.after)

    def saved(self, records: int = 1) -> int:
        """Bytes that the suggested order saves for so many records."""
        return records * (self.bytes_before - self.bytes_after)

    def apply(self) -> Any:
        """A new class with the members in the suggested order, its name and its module those of `type`.

        >>> from gpustruct import Struct, f32, vec3f, suggest
        >>> class Light(Struct):
        ...     range: f32
        ...     position: vec3f
        >>> suggest(Light).apply().range.offset
        12
        """
        return _reordered(self.type, self.order)

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
        """Cache lines of `line` bytes that reading one record of an array touches on average, before and after.

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
    """Find the order of a struct's members that takes the fewest bytes, and what else would make it smaller.

    `type_` is a Struct class, or a batch of one: then the values of its float columns are read, to say
    which of them f16 could hold. A runtime-sized array stays last. A struct that is legal in
    ``var<uniform>`` stays so, unless ``uniform=False``; ``uniform=True`` asks for that and raises LayoutError
    where the struct is not legal now. Among orders of the smallest size it is the one in which the fewest
    pairs of members change sides. Attributes stay on their members; nested structs stay as they are.
    Nothing is applied: `Suggestion.apply` makes the class. WGSL §14.4.1.

    >>> from gpustruct import Struct, f32, vec4f, vec3f, suggest
    >>> class MaterialBad(Struct):
    ...     roughness: f32
    ...     color: vec4f
    ...     metallic: f32
    ...     emission: vec3f
    ...     opacity: f32
    ...     cutoff: f32
    >>> print(str(suggest(MaterialBad)).splitlines()[0])
    MaterialBad: 80 -> 48 bytes a record, 40 % less (proven minimal)
    """
    layout = layout_of(type_)
    cls, batch = (type(type_), type_) if isinstance(type_, Batch) else (type_, None)
    if layout.kind != "struct":
        raise LayoutError.of("suggest-struct", current=layout.name)
    if uniform:
        layout.check_uniform()
    keep = not layout.uniform_faults() if uniform is None else uniform
    found = smallest_order(layout, uniform=keep)
    order = tuple(layout.fields[index].name for index in found.indices)
    made = _reordered(cls, order)
    after = layout_of(made)
    return Suggestion(cls, order, layout, after, found.proven, hints_of(cls, made, batch))


def _reordered(cls: Any, order: tuple[str, ...]) -> Any:
    if order == tuple(member.name for member in layout_of(cls).fields):
        return cls
    members: Mapping[str, Any] = {m.name: attributed(cls.__members__[m.name].type, m) for m in layout_of(cls).fields}
    return make_struct(cls.__name__, {name: members[name] for name in order}, cls.__module__)


def _bytes(layout: Layout) -> int:
    return layout.record_stride if layout.tail is None else layout.header


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
