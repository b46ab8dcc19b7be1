"""The batch shape of columns: which one they have in common, and each column broadcast to it without a copy."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ._batches import BatchBase, make
from .column_checks import code_of
from .column_specs import ColumnSpec, Shape, SplitColumn, is_struct, is_words, spelled
from .errors import SourceError


def leading_shape(spec: ColumnSpec, column: Any) -> Shape:
    """The leading (batch) dimensions of `column`, without the length of a runtime-sized array."""
    if spec.runtime:
        return ()
    shape: Shape = column.__shape__ if isinstance(column, BatchBase) else column.shape
    inner = spec.dims if isinstance(column, BatchBase) else spec.inner
    return shape[: len(shape) - len(inner)]


def broadcast_column(spec: ColumnSpec, column: Any, shape: Shape) -> Any:
    """`column` with all of the batch's leading dimensions: a view, broadcast if it has fewer."""
    if spec.runtime or leading_shape(spec, column) == shape:
        return column
    if isinstance(column, BatchBase):
        return broadcast(column, shape + spec.dims)
    if isinstance(column, SplitColumn):
        return column.broadcast_to(shape)
    try:
        return np.broadcast_to(column, shape + spec.inner)
    except ValueError:  # the shapes fit, so only the size can be wrong
        facts = {"shape": shape + spec.inner, "dtype": column.dtype, "where": spec.name or spec.type.__name__}
        raise SourceError.of("column-size", **facts) from None


def full_column(spec: ColumnSpec, column: Any, shape: Shape) -> Any:
    """`broadcast_column`, as one array or one batch: parts are stacked, which copies them."""
    full = broadcast_column(spec, column, shape)
    if isinstance(full, SplitColumn):
        return full.stack()
    if is_words(spec, full):
        return full.view("<u4")[..., 0]
    # A new view each time, because its user may assign to its dtype or shape.
    return full.view() if isinstance(full, np.ndarray) else full


def broadcast(batch: BatchBase, shape: Shape) -> Any:
    """The same columns under a larger batch shape; nothing is copied."""
    return make(type(batch), batch.__columns__, shape)


def elements(batch: Any) -> Any:
    """A batch of arrays of structs as the batch of the structs, with the arrays' dimensions after its own."""
    spec = type(batch).__members__.get("")
    if spec is None or spec.runtime or not isinstance(batch.__columns__[0], BatchBase):
        return batch
    return broadcast(batch.__columns__[0], batch.__shape__ + spec.dims)


def common_shape(
    cls: type[BatchBase], specs: Mapping[str, ColumnSpec], shapes: list[Shape], sources: Mapping[str, Any]
) -> Shape:
    try:
        shape: Shape = functools.reduce(np.broadcast_shapes, shapes, ())
    except ValueError:
        named = ", ".join(f"{name} {shape}" for name, shape in zip(specs, shapes, strict=True))
        raise SourceError.of("column-broadcast", shapes=named, where=cls.__name__) from None
    if shape not in shapes and shape:
        _refuse_outer(cls, list(specs.values()), shapes, sources)
    if shape and any(spec.runtime for spec in specs.values()):
        raise SourceError.of("tail-batch", shape=shape, where=cls.__name__)
    return shape


def _refuse_outer(
    cls: type[BatchBase], specs: list[ColumnSpec], shapes: list[Shape], sources: Mapping[str, Any]
) -> NoReturn:
    """Columns of n and of (n, 1) rows would make a batch of n x n records, which is hardly ever meant."""
    both = ((k, j) for k, j in itertools.combinations(range(len(shapes)), 2))
    first, second = next(
        (k, j) for k, j in both if np.broadcast_shapes(shapes[k], shapes[j]) not in (shapes[k], shapes[j])
    )
    # The message suggests changing the one with more dimensions of length 1.
    odd, other = sorted((first, second), key=lambda k: -shapes[k].count(1))
    spec, source, both_shapes = specs[odd], sources[specs[odd].name], np.broadcast_shapes(shapes[first], shapes[second])
    name, code = spelled(spec), code_of(source, spelled(spec))
    flat = shapes[odd] == (*shapes[other], 1)
    if isinstance(source, tuple | Mapping) or (is_struct(spec) and not (flat and isinstance(source, BatchBase))):
        way_out = f"give {name} the batch shape {shapes[other]}"
    elif is_struct(spec):
        way_out = f"pass {name}[:, 0]"
    elif flat and len(shapes[other]) == 1:
        way_out = f"pass {code}.reshape({', '.join(map(str, (-1, *spec.inner)))}), or {code}[:, 0]"
    else:
        way_out = f"if that is meant, pass np.broadcast_to({name}, {both_shapes + spec.inner})"
    facts = {"first": specs[first].name, "first_shape": shapes[first], "second": specs[second].name}
    raise SourceError.of(
        "column-outer", second_shape=shapes[second], shape=both_shapes, where=cls.__name__, way_out=way_out, **facts
    )
