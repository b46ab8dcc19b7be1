"""How many bytes a number of records takes, and how many records fit into a number of bytes."""

from __future__ import annotations

from .record import Layout


def extent(layout: Layout, count: int) -> int:
    """Bytes from the first of `count` records to the last byte that holds a value: stride × (count − 1) + size.

    The padding after the last record is not needed: WebGPU binds a ``vec3f`` with 12 bytes. For a runtime-sized
    array it is header + stride × count, because ``arrayLength`` counts whole strides (WGSL §17.4.1).

    >>> from gpustruct import array, vec3f, layout_of
    >>> [extent(layout_of(vec3f), n) for n in (0, 1, 2)], extent(layout_of(array[vec3f]), 2)
    ([0, 12, 28], 32)
    """
    if layout.is_runtime_sized or not count:
        return layout.header + layout.counted_stride * count
    return layout.record_stride * (count - 1) + layout.size


def record_bytes(layout: Layout) -> int:
    """Bytes one record takes in an array; for a struct that ends in a runtime-sized array, the bytes before that.

    >>> from gpustruct import vec3f, layout_of
    >>> record_bytes(layout_of(vec3f))
    16
    """
    return layout.record_stride if layout.tail is None else layout.header


def records_in(layout: Layout, nbytes: int) -> int:
    """The most records whose `extent` is at most `nbytes`.

    >>> from gpustruct import vec3f, layout_of
    >>> [records_in(layout_of(vec3f), nbytes) for nbytes in (11, 12, 27, 28)]
    [0, 1, 1, 2]
    """
    stride = layout.counted_stride
    padding = layout.header + stride - extent(layout, 1)
    return max(0, nbytes - layout.header + padding) // stride
