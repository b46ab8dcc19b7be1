"""Offsets, sizes and arrayLength against what a device answered (naga on llvmpipe)."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

import reference
import truth
from gpustruct import layout_of
from gpustruct.layout import leaves


def own_leaves(cls: Any) -> dict[str, int]:
    """gpustruct's own view of every scalar: path -> byte offset; the tail with two elements."""
    found: dict[str, int] = {}

    def add(prefix: str, base: int, layout: Any) -> None:
        for leaf in leaves(layout):
            for index in itertools.product(*(range(count) for count, _ in leaf.axes)):
                offset = base + leaf.offset + sum(i * step for i, (_, step) in zip(index, leaf.axes, strict=True))
                found[prefix + str((leaf.path, index))] = offset

    layout = layout_of(cls)
    add("", 0, layout)
    if layout.tail is not None:
        for i in range(2):
            add(f"tail {i} ", layout.header + i * layout.counted_stride, layout.tail.layout.element)
    return found


def test_there_are_160_cases() -> None:
    assert len(truth.CASES) == 160


@pytest.mark.parametrize("number", range(160))
def test_the_device_agrees(number: int) -> None:
    case = truth.CASES[number]
    cls = truth.build(case)
    layout = layout_of(cls)
    if "size" in case:
        assert layout.size == layout.stride == case["size"]
    if "array_length_at_4096_bytes" in case:
        assert layout.length(4096) == case["array_length_at_4096_bytes"]
    # The oracle first: every offset that the device gave is the oracle's ...
    oracle = reference.leaves(cls, count=2)
    assert {path: oracle[path][0] for path in case["offsets"]} == case["offsets"]
    # ... and the layout's leaves are the oracle's, as one multiset: paths are spelled differently.
    assert sorted(own_leaves(cls).values()) == sorted(offset for offset, _ in oracle.values())


@pytest.mark.parametrize("number", range(160))
def test_each_member_is_where_the_device_found_it(number: int) -> None:
    case = truth.CASES[number]
    cls = truth.build(case)
    first: dict[str, int] = {}
    for path, offset in case["offsets"].items():
        match = re.match(r"\.(\w+)", path)
        assert match is not None
        first[match[1]] = min(first.get(match[1], offset), offset)
    for name, offset in first.items():
        assert getattr(cls, name).offset == offset
