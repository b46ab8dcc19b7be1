"""Formats of vertex data that take fewer bytes than a member's type, and how much the values of a batch would change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Context
from typing import Any, NamedTuple

import numpy as np

from ..batches import Batch
from ..errors import SourceError
from ..formats import FORMATS
from ..layout import RECORD_SCALARS, VERTEX, Layout, Rules, unpack_function
from ..packing import pack
from ..types import layout_of
from ..unpacking import unpack
from .orders import PROVEN_MEMBERS
from .variants import Hint, Variant, with_cores

# The most that a number may change for a hint, as a part of the largest number of the column.
MOST_CHANGE = 0.01
# The values of larger columns are not read: that would take minutes, and several times their memory.
MOST_VALUES = 1 << 26


class Smaller(NamedTuple):
    """A format that holds the values of a member: its type, and the most that a number would change."""

    type: Any
    change: float

    @property
    def size(self) -> int:
        return layout_of(self.type).size


def smaller_formats(made: Any, batch: Batch, uniform: bool) -> Iterator[Hint]:
    """Hints about members of `batch` that smaller formats could hold; `made` is its class, in the smallest order.

    In a Struct the formats are those that WGSL unpacks from a u32. One hint has the formats that change the values
    least. If smaller ones save more bytes, another has those.
    """
    found = {name: formats for name in made.__members__ if (formats := _formats_of(made, name, getattr(batch, name)))}
    last = 0
    for best in (_closest, _smallest):
        chosen = {name: best(formats) for name, formats in found.items()}
        variant = _where_it_helps(made, chosen, uniform)
        if variant is None or variant.saved <= last:
            continue
        last, rules = variant.saved, layout_of(made).rules
        of = [_described(n, layout_of(made.__members__[n].core), chosen[n], rules) for n in variant.members]
        yield Hint(
            "smaller-format", variant.members, f"{'; '.join(of)}: {last} bytes a record less", last, variant.type
        )


def _closest(formats: list[Smaller]) -> Smaller:
    return min(formats, key=lambda smaller: (smaller.change, smaller.size))


def _smallest(formats: list[Smaller]) -> Smaller:
    return min(formats, key=lambda smaller: smaller.size)


def _where_it_helps(made: Any, chosen: Mapping[str, Smaller], uniform: bool) -> Variant | None:
    """`made` with the chosen formats. Members whose change saves nothing keep their types, if there are not too many."""
    cores = {name: chosen[name].type for name in sorted(chosen, key=lambda name: -chosen[name].change)}
    variant = with_cores(made, cores, uniform)
    if variant is None or len(variant.members) > PROVEN_MEMBERS:
        return variant
    for name in cores:
        fewer = with_cores(made, {n: cores[n] for n in variant.members if n != name}, uniform)
        if fewer is not None and fewer.saved == variant.saved:
            variant = fewer
    return variant


def _described(name: str, core: Layout, smaller: Smaller, rules: Rules) -> str:
    layout = layout_of(smaller.type)
    more = " with a fourth number" if layout.rows > core.rows else ""
    change = f"changes by at most {_rounded_up(smaller.change)}" if smaller.change else "does not change"
    read = "" if rules == VERTEX else f"read with {unpack_function(layout)}, "
    return f"{name} as {layout.name}{more} ({read}{change})"


def _rounded_up(number: float) -> str:
    """Two digits of a positive number, not less than it.

    >>> _rounded_up(1 / 510), _rounded_up(20.0), _rounded_up(20.01)
    ('0.002', '20', '21')
    """
    return f"{float(Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(number)):g}"


def _formats_of(made: Any, name: str, column: Any) -> list[Smaller]:
    """For each size below that of the member's type, the format that changes the values least."""
    core = made.__members__[name].core
    layout = layout_of(core)
    if layout.kind not in ("scalar", "vector") or column.size > MOST_VALUES:
        return []
    try:
        now = np.asarray(unpack(core, pack(core(column))))
    except SourceError:
        return []
    if not now.size:
        return []
    best: dict[int, Smaller] = {}
    for type_ in _candidates(layout, layout_of(made).rules):
        change = _most_change(type_, now)
        size = layout_of(type_).size
        if change is not None and (size not in best or change < best[size].change):
            best[size] = Smaller(type_, change)
    return [*best.values()]


def _candidates(core: Layout, rules: Rules) -> Iterator[Any]:
    """Smaller formats that a shader reads as floats where it reads floats now, as unsigned or signed integers likewise."""
    kind = RECORD_SCALARS[core.scalar].suffix.replace("h", "f")
    rows = 4 if core.rows == 3 else core.rows
    for type_ in FORMATS.values():
        layout = layout_of(type_)
        scalar = RECORD_SCALARS[layout.scalar]
        if layout.size >= core.size or layout.rows != rows or scalar.suffix.replace("h", "f") != kind:
            continue
        # wgpu-py 0.32 has no name for unorm10_10_10_2, and unorm8x4_bgra holds what unorm8x4 holds.
        if not scalar.is_word and (rules == VERTEX or unpack_function(layout)):
            yield type_


def _most_change(type_: Any, now: Any) -> float | None:
    """The largest change that this format would make to a number in `now`; None if the format cannot hold them.

    A format is refused if its steps are coarse relative to the values, such as unorm8 for values below 0.1.
    """
    layout = layout_of(type_)
    rows = now.shape[-1] if layout.rows > 1 else 1
    if rows < layout.rows:
        now = np.concatenate([now, np.zeros_like(now[..., :1])], axis=-1)
    try:
        then = np.asarray(unpack(type_, pack(type_(now)))).reshape(now.shape)
    except SourceError:
        return None
    now, then = now.astype(np.float64), then.astype(np.float64)
    finite = np.isfinite(now)
    change = float(np.max(np.abs(now[finite] - then[finite]), initial=0.0))
    return change if change <= MOST_CHANGE * np.max(np.abs(now[finite]), initial=0.0) else None
