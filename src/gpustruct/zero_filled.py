"""Fewer values than a fixed array has, with zeros for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


class zero_filled:
    """The first values of a fixed array; the rest of it becomes zero.

    A view and records of objects take it wherever they take a list for an array: ``v.lights = zero_filled([a, b])``.
    Without it a list that is too short is an error. Where it is used, SourceError is raised if it has more values
    than the array.

    >>> from gpustruct import Struct, array, f32, view
    >>> from gpustruct.views import zero_filled
    >>> class Weights(Struct):
    ...     values: array[f32, 4]
    >>> weights = view(Weights)
    >>> weights.values = zero_filled([1, 2])
    >>> weights.values
    array([1., 2., 0., 0.], dtype=float32)
    """

    __slots__ = ("values",)

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values if hasattr(values, "__len__") and hasattr(values, "__getitem__") else list(values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __repr__(self) -> str:
        return f"zero_filled({self.values!r})"
