"""The smallest order of a struct's members: a search over orders, on plain integers.

The padding around a member depends only on its align and on its size modulo the struct's align. Members that
agree in both are interchangeable: they are of one kind, and an order is a sequence of kinds. The search builds
these sequences breadth first, one member in each step. It keeps one state for each combination of how many members
of each kind are placed and how many bytes of padding there are so far. The smallest size for which the search
finds an order is the minimum.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..layout import Layout, Member, round_up

# The most states kept after each step. A search that never has more sees every order.
MOST_STATES = 5_000
# For larger structs fewer states are kept, to limit the time. The order found may then not be proven minimal.
MANY_MEMBERS = 20

# Up to this number of members the minimum is always proven.
PROVEN_MEMBERS = 12


class Order(NamedTuple):
    """An order of a struct's members, as indices into `Layout.fields`, and whether it is proven minimal."""

    indices: tuple[int, ...]
    proven: bool


class _Kind(NamedTuple):
    """Interchangeable members. They start at multiples of both `align` and `multiple`.

    `gap_after` is the padding that must follow them, unless they are last.
    """

    align: int
    multiple: int
    size: int
    gap_after: int
    members: tuple[int, ...]


class _State(NamedTuple):
    """The best order so far of the members that are placed.

    `moved` counts pairs of members whose order changed. `last` is the order, as a linked list from its end.
    """

    moved: int
    last: tuple[int, Any] | None


def smallest_order(layout: Layout, *, uniform: bool) -> Order:
    """The order of `layout`'s members that takes the fewest bytes. A runtime-sized array stays last.

    Of several such orders, it is the one that changes the order of the fewest pairs of members: the present order,
    if that is one of them. With `uniform`, only orders that are legal in ``var<uniform>`` count, if the present
    one is. The order is proven minimal for structs of up to `PROVEN_MEMBERS` members, and for larger ones whose
    members are of few kinds.
    """
    tail = layout.tail
    members = layout.fields if tail is None else layout.fields[:-1]
    stay = tuple(range(len(layout.fields)))
    if len(members) < 2:
        return Order(stay, True)
    # What follows the members, the tail or the end of the struct, is aligned to `step`.
    step, current = (layout.align, layout.size) if tail is None else (tail.align, tail.offset)
    modulus = max(16, layout.align) if uniform else layout.align
    kinds = _kinds(members, modulus, uniform)
    total = sum(member.size for member in members)
    most = MOST_STATES if len(members) <= MANY_MEMBERS else MANY_MEMBERS * MOST_STATES // (10 * len(members))
    sizes = range(round_up(step, total), current, step)
    # If an order fits a size, it fits every larger one: double the step until a size fits, then bisect.
    fits: dict[int, tuple[int, ...]] = {}
    seen_all = {-1: True}
    low, high, ahead = -1, 0, 1
    while high < len(sizes) and high not in fits:
        found, seen_all[high] = _search(kinds, len(members), sizes[high] - total, most)
        if found is None:
            low, high, ahead = high, high + ahead, 2 * ahead
        else:
            fits[high] = found
    high = min(high, len(sizes))
    while high - low > 1:
        middle = (low + high) // 2
        found, seen_all[middle] = _search(kinds, len(members), sizes[middle] - total, most)
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
        multiple, gap_after = 1, 0
        if uniform and member.layout.kind in ("array", "struct"):
            multiple = round_up(16, member.layout.align)
        if uniform and member.layout.kind == "struct":
            gap_after = max(0, round_up(16, member.layout.size) - member.size)
        groups.setdefault((member.align, multiple, member.size % modulus, gap_after), []).append(index)
    return [_Kind(*key, tuple(group)) for key, group in groups.items()]


def _search(kinds: Sequence[_Kind], count: int, most_padding: int, most: int) -> tuple[tuple[int, ...] | None, bool]:
    """The order that changes least among those with at most `most_padding`, or None; and whether all were seen.

    `most` is how many states are kept after each step.
    """
    whole = True
    # The key: members placed of each kind, padding so far, padding that must come before the next member.
    layer: dict[tuple[tuple[int, ...], int, int], _State] = {((0,) * len(kinds), 0, 0): _State(0, None)}
    for _ in range(count):
        following: dict[tuple[tuple[int, ...], int, int], _State] = {}
        for (placed, padding, least_gap), state in layer.items():
            end = padding + sum(kind.size * n for kind, n in zip(kinds, placed, strict=True))
            for at, kind in enumerate(kinds):
                if placed[at] == len(kind.members):
                    continue
                gap = -end % kind.align
                if padding + gap > most_padding or gap < least_gap or (end + gap) % kind.multiple:
                    continue
                index = kind.members[placed[at]]
                passed = sum(max(0, bisect_left(k.members, index) - n) for k, n in zip(kinds, placed, strict=True))
                key = ((*placed[:at], placed[at] + 1, *placed[at + 1 :]), padding + gap, kind.gap_after)
                moved = state.moved + passed
                if key not in following or moved < following[key].moved:
                    following[key] = _State(moved, (index, state.last))
        if len(following) > most:
            best = sorted(following.items(), key=lambda item: (item[0][1], item[1].moved))
            following, whole = dict(best[:most]), False
        layer = following
    if not layer:
        return None, whole
    order: list[int] = []
    last = min(layer.values(), key=lambda state: state.moved).last
    while last is not None:
        order.append(last[0])
        last = last[1]
    return tuple(reversed(order)), whole


def _greedy(kinds: Sequence[_Kind], count: int, most_padding: int) -> tuple[tuple[int, ...], int] | None:
    """An order as one would make it by hand, and its padding; None if it has more than `most_padding`.

    Each step takes the member that needs the smallest gap; of several, the most aligned, and of these one whose size
    is not a multiple of its align.
    """
    placed = [0] * len(kinds)
    order: list[int] = []
    end = padding = least_gap = 0
    for _ in range(count):
        choices = [
            (-end % kind.align, -kind.align, kind.size % kind.align == 0, at)
            for at, kind in enumerate(kinds)
            if placed[at] < len(kind.members)
            and -end % kind.align >= least_gap
            and (end + -end % kind.align) % kind.multiple == 0
        ]
        if not choices or padding + min(choices)[0] > most_padding:
            return None
        gap, _, _, at = min(choices)
        order.append(kinds[at].members[placed[at]])
        placed[at] += 1
        end, padding, least_gap = end + gap + kinds[at].size, padding + gap, kinds[at].gap_after
    return tuple(order), padding
