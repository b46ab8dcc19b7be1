"""How many bytes a run of records takes, and how many records some bytes hold."""

from __future__ import annotations

from .record import Layout


def extent(layout: Layout, count: int) -> int:
    """Bytes from the first of `count` records to the last byte that holds a value: stride × (count − 1) + size.

    The padding after the last record is not needed: WebGPU binds a ``vec3f`` with 12 bytes. A runtime-sized array
    takes whole strides, header + stride × count: ``arrayLength`` counts those (WGSL §17.4.1).

    >>> from gpustruct import array, vec3f, layout_of
    >>> [extent(layout_of(vec3f), n) for n in (0, 1, 2)], extent(layout_of(array[vec3f]), 2)
    ([0, 12, 28], 32)
    """
    if layout.is_runtime_sized or not count:
        return layout.header + layout.array_stride * count
    return layout.record_stride * (count - 1) + layout.size


def records_in(layout: Layout, nbytes: int) -> int:
    """The most records whose `extent` is at most `nbytes`.

    >>> from gpustruct import vec3f, layout_of
    >>> [records_in(layout_of(vec3f), nbytes) for nbytes in (11, 12, 27, 28)]
    [0, 1, 1, 2]
    """
    stride = layout.array_stride
    padding = layout.header + stride - extent(layout, 1)
    return max(0, nbytes - layout.header + padding) // stride
