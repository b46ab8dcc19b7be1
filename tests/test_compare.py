"""The comparison with other ways to pack: each way gives numpy's bytes, and a way that does not is found."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

PATH = Path(__file__).parent.parent / "benchmarks" / "compare" / "run.py"


@pytest.fixture(scope="module")
def compare() -> Any:
    spec = importlib.util.spec_from_file_location("compare_run", PATH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_way_gives_the_same_bytes(compare: Any) -> None:
    rows = compare.compare(50)
    assert {"gpustruct", "numpy, structured", "struct.pack_into", "ctypes"} <= {row[0] for row in rows}
    assert all(row[1] == 50 and row[4] for row in rows), rows
    assert "gpustruct" in compare.table(rows, 50)
    bars = [part for part in ElementTree.fromstring(compare.plot(rows)) if part.tag.endswith("rect")]
    assert len(bars) == len(rows)


def test_a_way_with_other_bytes_is_named(compare: Any) -> None:
    def wrong(c: Any, out: np.ndarray) -> None:
        compare.with_struct(c, out)
        out[5] ^= 1

    row = ("wrong", *compare.measured(wrong, compare.columns(20)))
    assert not row[4]
    assert "| wrong | 20 |" in compare.table([row], 20)
    assert "| NO |" in compare.table([row], 20)
