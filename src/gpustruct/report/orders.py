"""The smallest order of a struct's members: a search over orders, on plain integers.

What a member does to the bytes before and behind it depends on its align and on its size modulo the
struct's align only, so members that agree in both are interchangeable, and an order is a sequence of
such kinds. The search walks those sequences breadth first, a member a step, and keeps one state for
each (how many of each kind are placed, bytes of padding so far). Candidates for the size are tried
from the smallest that could be, so the first that can be reached is the minimum.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..layout import Layout, Member, round_up

# States kept after each step. A search that never had more has seen every order. Without nested types in
# a uniform struct there are at most 2**n states of different kinds of n members and paddings below 16.
WIDEST = 5_000
# Beyond this many members the states are fewer, to bound the time; what is found may then be the minimum, unproven.
MANY_MEMBERS = 20

# The number of members up to which the minimum is always proven, whatever their types.
PROVEN_MEMBERS = 12


class Order(NamedTuple):
    """An order of a struct's members, as indices into `Layout.fields`, and whether it is proven minimal."""

    indices: tuple[int, ...]
    proven: bool


class _Kind(NamedTuple):
    """Interchangeable members: they start at a multiple of both `align` and `multiple`; `wait` is padding behind them."""

    align: int
    multiple: int
    size: int
    wait: int
    members: tuple[int, ...]


class _State(NamedTuple):
    """The best way to some place: `moved` counts pairs of members that changed sides, `last` the way there."""

    moved: int
    last: tuple[int, Any] | None


def smallest_order(layout: Layout, *, uniform: bool) -> Order:
    """The order of `layout`'s members that takes the fewest bytes, a runtime-sized array staying last.

    Among orders of that size the one in which the fewest pairs of members change sides; the author's own
    if it is one of them. With `uniform`, only orders that are legal in ``var<uniform>`` if the author's
    is. The order is proven minimal for structs of up to `PROVEN_MEMBERS` members, and for larger ones
    whose members are of few kinds.

    >>> from gpustruct import Struct, f32, vec4f, vec3f, layout_of
    >>> class MaterialBad(Struct):
    ...     roughness: f32
    ...     color: vec4f
    ...     metallic: f32
    ...     emission: vec3f
    ...     opacity: f32
    ...     cutoff: f32
    >>> order = smallest_order(layout_of(MaterialBad), uniform=True)
    >>> order.proven, [layout_of(MaterialBad).fields[i].name for i in order.indices]
    (True, ['color', 'roughness', 'metallic', 'opacity', 'emission', 'cutoff'])
    """
    tail = layout.tail
    members = layout.fields if tail is None else layout.fields[:-1]
    stay = tuple(range(len(layout.fields)))
    if len(members) < 2:
        return Order(stay, True)
    # The end of the members is what an order decides; what follows it, the tail or the end of the struct, is aligned.
    step, current = (layout.align, layout.size) if tail is None else (tail.align, tail.offset)
    modulus = max(16, layout.align) if uniform else layout.align
    kinds = _kinds(members, modulus, uniform)
    total = sum(member.size for member in members)
    widest = WIDEST if len(members) <= MANY_MEMBERS else MANY_MEMBERS * WIDEST // (10 * len(members))
    sizes = range(round_up(step, total), current, step)
    # What fits in a size fits in a larger one: gallop up to one that can be reached, then bisect.
    fits: dict[int, tuple[int, ...]] = {}
    seen_all = {-1: True}
    low, high, ahead = -1, 0, 1
    while high < len(sizes) and high not in fits:
        found, seen_all[high] = _search(kinds, len(members), sizes[high] - total, widest)
        if found is None:
            low, high, ahead = high, high + ahead, 2 * ahead
        else:
            fits[high] = found
    high = min(high, len(sizes))
    while high - low > 1:
        middle = (low + high) // 2
        found, seen_all[middle] = _search(kinds, len(members), sizes[middle] - total, widest)
        if found is None:
            low = middle
        else:
            high, fits[middle] = middle, found
    if not seen_all[low] and (greedy := _greedy(kinds, len(members), current - step - total)) is not None:
        filled, padding = greedy
        if high not in fits or round_up(step, total + padding) < sizes[high]:
            return Order((*filled, *stay[len(members) :]), round_up(step, total + padding) == sizes[0])
    if high not in fits:
        return Order(stay, seen_all[low])
    return Order((*fits[high], *stay[len(members) :]), seen_all[low])


def _kinds(members: Sequence[Member], modulus: int, uniform: bool) -> list[_Kind]:
    groups: dict[tuple[int, int, int, int], list[int]] = {}
    for index, member in enumerate(members):
        multiple, wait = 1, 0
        if uniform and member.layout.kind in ("array", "struct"):
            multiple = round_up(16, member.layout.align)
        if uniform and member.layout.kind == "struct":
            wait = max(0, round_up(16, member.layout.size) - member.size)
        groups.setdefault((member.align, multiple, member.size % modulus, wait), []).append(index)
    return [_Kind(*key, tuple(group)) for key, group in groups.items()]


def _search(kinds: Sequence[_Kind], count: int, slack: int, widest: int) -> tuple[tuple[int, ...] | None, bool]:
    """An order whose padding stays within `slack` and that moves least, or None; and whether all were seen."""
    whole = True
    # The key: members placed of each kind, padding so far, padding that must come before the next member.
    layer: dict[tuple[tuple[int, ...], int, int], _State] = {((0,) * len(kinds), 0, 0): _State(0, None)}
    for _ in range(count):
        following: dict[tuple[tuple[int, ...], int, int], _State] = {}
        for (placed, padding, wait), state in layer.items():
            end = padding + sum(kind.size * n for kind, n in zip(kinds, placed, strict=True))
            for at, kind in enumerate(kinds):
                if placed[at] == len(kind.members):
                    continue
                gap = -end % kind.align
                if padding + gap > slack or gap < wait or (end + gap) % kind.multiple:
                    continue
                index = kind.members[placed[at]]
                passed = sum(max(0, bisect_left(k.members, index) - n) for k, n in zip(kinds, placed, strict=True))
                key = ((*placed[:at], placed[at] + 1, *placed[at + 1 :]), padding + gap, kind.wait)
                moved = state.moved + passed
                if key not in following or moved < following[key].moved:
                    following[key] = _State(moved, (index, state.last))
        if len(following) > widest:
            best = sorted(following.items(), key=lambda item: (item[0][1], item[1].moved))
            following, whole = dict(best[:widest]), False
        layer = following
    if not layer:
        return None, whole
    order: list[int] = []
    last = min(layer.values(), key=lambda state: state.moved).last
    while last is not None:
        order.append(last[0])
        last = last[1]
    return tuple(reversed(order)), whole


def _greedy(kinds: Sequence[_Kind], count: int, slack: int) -> tuple[tuple[int, ...], int] | None:
    """An order by hand's rule, and its padding: where no gap is needed the most aligned member, odd sizes first."""
    placed = [0] * len(kinds)
    order: list[int] = []
    end = padding = wait = 0
    for _ in range(count):
        choices = [
            (-end % kind.align, -kind.align, kind.size % kind.align == 0, at)
            for at, kind in enumerate(kinds)
            if placed[at] < len(kind.members)
            and -end % kind.align >= wait
            and (end + -end % kind.align) % kind.multiple == 0
        ]
        if not choices or padding + min(choices)[0] > slack:
            return None
        gap, _, _, at = min(choices)
        order.append(kinds[at].members[placed[at]])
        placed[at] += 1
        end, padding, wait = end + gap + kinds[at].size, padding + gap, kinds[at].wait
    return tuple(order), padding
