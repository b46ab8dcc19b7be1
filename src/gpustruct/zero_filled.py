"""The first values of a fixed array, with zeros for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


class zero_filled:
    """The first values of a fixed array; the other elements become zero.

    Assignments to views and records of objects accept it wherever they accept a list for an array: ``v.lights = zero_filled([a, b])``.
    A plain list that is too short is an error. SourceError is raised if there are more values than the array has
    elements.

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
