"""The types inside a type."""

from __future__ import annotations

from collections.abc import Iterator

from .record import Layout


def parts(layout: Layout, seen: set[int] | None = None) -> Iterator[Layout]:
    """Every type inside `layout`, then itself: inner ones first, each once, however often it occurs.

    >>> from gpustruct import array, layout_of, vec3f
    >>> [part.name for part in parts(layout_of(array[vec3f, 8]))]
    ['vec3f', 'array<vec3f, 8>']
    """
    seen = set[int]() if seen is None else seen
    if id(layout) not in seen:
        seen.add(id(layout))
        for inner in (layout.element, *(member.layout for member in layout.fields)):
            if inner is not None:
                yield from parts(inner, seen)
        yield layout


def structs_in(layout: Layout) -> Iterator[Layout]:
    """The structs among `parts`."""
    return (part for part in parts(layout) if part.kind == "struct")
