"""A layout and the kinds of its columns -> steps."""

from __future__ import annotations

import functools
import math

from ..columns import Source
from ..layout import Leaf
from .members import lower_array, lower_unrolled
from .slots import assemble
from .steps import Lowering, Steps, copy, merge_spans

# Beyond these a record's steps would outgrow the instruction cache and the block would leave L1.
UNROLLED_SCALARS = 256
UNROLLED_SPANS = 1024


@functools.lru_cache(maxsize=1024)
def lower(leaves: tuple[Leaf, ...], sources: tuple[Source, ...], size: int, forward: bool) -> Steps:
    """The steps that pack (or, not `forward`, unpack) records of `size` bytes.

    Cached by layout, dtypes and strides, never by address: live columns and new arrays of the same
    kind share them.
    """
    lowering = Lowering(forward, 1 + max((source.column for source in sources), default=-1))
    budget = UNROLLED_SPANS
    looped = False
    for index, (leaf, source) in enumerate(zip(leaves, sources, strict=True)):
        scalars = math.prod(count for count, _ in leaf.axes)
        budget -= scalars
        if scalars > UNROLLED_SCALARS or budget < 0:
            lower_array(lowering, index, leaf, source)
            looped = True
        else:
            lower_unrolled(lowering, index, leaf, source)
    if forward:
        assemble(lowering, size, looped)
    else:
        lowering.body += [copy(span) for span in merge_spans(lowering.spans)]
    return lowering.finish()
