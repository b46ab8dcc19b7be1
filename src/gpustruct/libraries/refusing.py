"""How a library's column is refused: the error, and a way out that was tried before it is named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from ..column_checks import Way, first_that_runs
from ..column_specs import ColumnSpec, is_struct, number_name
from ..errors import SourceError

_POLARS = {"float32": "Float32", "float16": "Float16", "int32": "Int32", "uint32": "UInt32"}


def polars_name(spec: ColumnSpec) -> str:
    """The polars name of the member's own scalar; Float32 for f16 in versions that have no Float16."""
    name = _POLARS[number_name(spec)]
    return name if hasattr(sys.modules.get("polars"), name) else "Float32"


def refuse(spec: ColumnSpec, current: str, where: str, ways: Iterable[Way]) -> NoReturn:
    """Raise SourceError for a kind of column that holds no numbers, with the first of `ways` that runs on it."""
    if is_struct(spec):
        core = spec.core
        facts = {"type": core.__name__, "members": ", ".join(core.__members__)}
        raise SourceError.of("column-nested", current=current, where=where, **facts)
    way_out = first_that_runs(iter(ways))
    raise SourceError.of("column-kind", type=spec.type.__name__, current=current, where=where, way_out=way_out)


def refuse_missing(kind: str, row: int, where: str, way_out: str) -> NoReturn:
    """Raise SourceError for a column whose first missing value is in `row`."""
    raise SourceError.of("column-missing-value", kind=kind, row=row, where=where, way_out=way_out)


def refuse_rounding(spec: ColumnSpec, current: str, where: str, code: str) -> NoReturn:
    """Raise SourceError for a column of floats whose member holds whole numbers."""
    facts = {"type": spec.core.__layout__.scalar, "dtype": current, "where": where}
    raise SourceError.of("column-dtype", way_out=f"say how to round: {code}", **facts)


def zeros(shape: tuple[int, ...], zero: str = "0") -> str:
    """Nested lists of zeros as code: ``[[0, 0], [0, 0]]``."""
    text = zero
    for count in reversed(shape):
        text = f"[{', '.join([text] * count)}]"
    return text


def list_ways(
    spec: ColumnSpec, fixed: str, run: Callable[[int], Any], listed: str, values: Callable[[], list[Any]]
) -> Iterator[Way]:
    """Ways out for lists of any length: the library's own lists of one length, or cut and filled with zeros.

    `fixed` is the code of the library's own way with {} for a length, and `run` does it; `listed` is the code that
    makes a list of lists, and `values` makes it.
    """
    if not spec.inner:
        first = f"np.array([x[0] if x else 0 for x in {listed}])"
        yield Way("take one value of each", first, lambda: _numbers([x[0] if x else 0 for x in values()]))
        return
    length = spec.inner[0]
    yield Way("fix their length", fixed.format(length), lambda: run(length))
    code = f"np.array([(x + [0] * {length})[:{length}] for x in {listed}])"
    yield Way("cut or fill them", code, lambda: _numbers([(x + [0] * length)[:length] for x in values()]))


def _numbers(values: list[Any]) -> None:
    if np.array(values).dtype.kind not in "biuf":
        raise TypeError
