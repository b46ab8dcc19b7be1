"""The comparison with other tools: each gives the bytes of WGSL, and one that does not, or is missing, is named."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks" / "compare"
# What every machine has that runs the tests.
ALWAYS = {
    "gpustruct", "gpustruct, tuples", "numpy, structured", "numpy, vectors as raw bytes", "numpy, tuples", "struct.pack_into",
    "struct.pack_into over tolist()", "loop over numpy records", "ctypes", "pygfx, array_from_shadertype",
    "Float32Array loop, by hand (JS)",
}  # fmt: skip


@pytest.fixture(scope="module")
def run() -> Iterator[Any]:
    """The module run.py, which finds those beside it."""
    before = list(sys.path)
    sys.path.insert(0, str(FOLDER))
    import run

    yield run
    sys.path[:] = before


@pytest.fixture(scope="module")
def results(run: Any) -> Any:
    """A whole run with 20 records, measured as few times as possible."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run.measuring, "AT_LEAST", 0.0)
        patch.setattr(run.measuring, "WARM", 0.0)
        return run.measure([1, 20], device=False, tell=lambda text: None)


def test_each_tool_gives_the_same_bytes(results: Any) -> None:
    rows = {row["name"]: row for row in results["rows"]}
    missing = {one["name"]: one["why"] for one in results["missing"]}
    assert rows.keys() >= ALWAYS, missing
    for name, row in rows.items():
        assert not row["failed"]
        assert row["wrong"]["Particle"] == "", name
        # A cursor of slangpy's CPU device has C's layout.
        assert (
            row["wrong"]["Spot"] in ("", "32 bytes a record, not 48") if "slangpy" in name else not row["wrong"]["Spot"]
        ), name
        if not row["wrong"]["Spot"]:
            assert row["padding"]["live"] in ("zero", "kept")
            assert row["padding"]["fresh"] in ("zero", "undefined")
        assert row["live"].keys() == row["fresh"].keys() == ({1, 20} if name != "gpustruct, one thread" else set())
    assert rows["gpustruct"]["padding"] == rows["gpustruct, tuples"]["padding"] == {"live": "zero", "fresh": "zero"}
    assert rows["numpy, structured"]["padding"]["live"] == "kept"


def test_wrong_bytes_are_found_with_their_place(run: Any) -> None:
    from python_ways import WAYS, Way
    from records import PARTICLE, SPOT, Case, difference, padding

    case = Case(SPOT, 3, fill=9)
    data = case.expected.copy()
    assert (difference(case, data), padding(case, data, 9)) == ("", "zero")
    data[48 + 12 : 48 + 16] = 9
    assert (difference(case, data), padding(case, data, 9)) == ("", "undefined")
    data[48 + 17] ^= 1
    assert difference(case, data) == "direction of record 1 differs at byte 17"
    assert difference(case, data[:96]) == "32 bytes a record, not 48"
    assert padding(case, case.out, 9) == "kept"

    def live(case: Any) -> Any:
        call, result = WAYS[0].live(case)
        return call, lambda: result() ^ 1

    run_ = run.measuring.Run(None)
    row, bad = run.measuring.Row("bad", "columns", "1"), Way("bad", "columns", "", live, WAYS[0].fresh)
    run_.rows, run_.ways = [row], {"bad": bad}
    run_.check(2)
    assert row.wrong == {
        "Particle": "position of record 0 differs at byte 0",
        "Spot": "position of record 0 differs at byte 0",
    }
    row.wrong.clear()
    run_.measure(2)
    assert "position of record 0" in row.wrong[PARTICLE.name]


def test_what_is_missing_or_fails_is_named(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import python_ways

    def absent() -> None:
        raise ModuleNotFoundError("No module named 'nothing'")

    def broken(case: Any) -> Any:
        raise ValueError("no such thing")

    ours = python_ways.WAYS[0]
    ways = (
        ours,
        ours._replace(name="absent", package="nothing", ready=absent),
        ours._replace(name="broken", live=broken),
    )
    monkeypatch.setattr(python_ways, "WAYS", ways)
    monkeypatch.setattr(run.javascript, "find_node", lambda: None)
    monkeypatch.setattr(run.measuring, "AT_LEAST", 0.0)
    text = run.tables.markdown(run.measure([2], device=False, tell=lambda text: None))
    for line in (
        "absent: not installed: pip install nothing.",
        "broken: ValueError: no such thing.",
        "all of JavaScript: no node here.",
    ):
        assert f"\n- {line}" in text


def test_a_way_that_would_take_over_a_second_is_not_measured(run: Any) -> None:
    row = run.measuring.Row("gpustruct", "columns", "1", live={1: 2e9}, fresh={1: 0.4e9})
    one = run.measuring.Run(None)
    assert not one._worth(row, "live", 1)
    assert one._worth(row, "fresh", 2)
    assert not one._worth(row, "fresh", 3)
    assert row.fresh[3] is None and not one._worth(row, "fresh", 4)


def test_tables_and_plot_have_a_line_for_each_way(
    run: Any, results: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run.save(results, tmp_path)
    text = (tmp_path / "compare.md").read_text()
    drawing = ElementTree.parse(tmp_path / "compare.svg")
    labels = [part.text for part in drawing.iter() if part.tag.endswith("}text")]
    run.tables.show(results)
    shown = capsys.readouterr().out
    for row in results["rows"]:
        if row["live"]:
            assert text.count(f"| {row['name']} |") + text.count(f"| **{row['name']}** |") >= 3
            assert row["name"] in shown and (row["name"] in labels or row["name"] == run.plot.COPY)
    assert run.loaded(tmp_path / "compare.json") == json.loads(json.dumps(results), object_pairs_hook=integer_keys)


def integer_keys(pairs: Any) -> Any:
    return {int(key) if key.isdecimal() else key: value for key, value in pairs}


def test_the_table_goes_between_its_marks(
    run: Any, results: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    monkeypatch.setattr(run, "PAGE", page)
    monkeypatch.setattr(run, "PLOT", tmp_path / "plot.svg")
    page.write_text("before\n<!-- compare B -->\nold\n<!-- end of compare B -->\nafter\n")
    run.document(results, "B")
    text = page.read_text()
    assert text.startswith("before\n<!-- compare B -->") and text.endswith("<!-- end of compare B -->\nafter\n")
    assert "old" not in text and "numpy, structured" in text and not run.PLOT.exists()
    with pytest.raises(SystemExit, match="compare A"):
        run.document(results, "A")


def test_examples_of_differences_hold(run: Any) -> None:
    found = list(run.faults.found([{"gives": "1", "expected": "1"}]))
    assert all(line["gives"] != line["expected"] for line in found)
    assert {"numpy", "ctypes"} <= {line["peer"] for line in found}


def test_the_device_gets_the_same_bytes(run: Any, device: Any) -> None:
    import onto_device
    from records import PARTICLE, Case

    told = onto_device.measure(device, [3])
    assert [row["name"] for row in told["rows"]] == list(onto_device.WAYS)
    assert all(row["live"][3] > 0 and row["wrong"] == "" for row in told["rows"])
    target = onto_device.Target(Case(PARTICLE, 3), device, onto_device.RecordBuffer(device, onto_device.Particle, 3))
    device.queue.write_buffer(target.buffer, 0, np.zeros(144, np.uint8))
    assert not onto_device.arrived(target)
