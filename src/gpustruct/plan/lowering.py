"""From a layout and its columns to steps."""

from __future__ import annotations

import functools
import math

from ..columns import Source
from ..layout import Leaf
from .members import lower_array, lower_unrolled
from .slots import assemble
from .steps import Lowering, Steps, copy, merge_spans

# With more of these, the steps of a record would not fit the instruction cache, nor a block L1.
UNROLLED_SCALARS = 256
UNROLLED_SPANS = 1024


@functools.lru_cache(maxsize=1024)
def lower(leaves: tuple[Leaf, ...], sources: tuple[Source, ...], size: int, forward: bool) -> Steps:
    """The steps that pack (or, not `forward`, unpack) records of `size` bytes.

    Cached by layout, dtypes and strides, never by address: new arrays with the same of these share the steps.
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
