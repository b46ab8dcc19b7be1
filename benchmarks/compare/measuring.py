"""Times and bytes of all ways: within one run, all sides alternating, medians."""

from __future__ import annotations

import gc
import hashlib
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import python_ways
from javascript import Node
from records import PARTICLE, SPOT, Case, difference, padding

SIZES = (1, 100, 10_000, 1_000_000, 10_000_000)
# More objects than that do not fit into the memory of a laptop.
MOST_OBJECTS = 1_000_000
# A side that would take longer than this for all records is not measured at that size.
TOO_LONG = 1.0
ROUNDS, BUDGET, AT_LEAST = 7, 1.5, 0.004
# V8 compiles a function for good only after it ran for a while.
WARM = 0.3
SIDES = ("live", "fresh")
OURS = {"columns": "gpustruct", "objects": "gpustruct, tuples"}
FILL = 0xAA


@dataclass
class Row:
    """What is known of one way."""

    name: str
    source: str
    version: str
    node: bool = False
    # Nanoseconds a record by number of records; None where it would take over a second.
    live: dict[int, float | None] = field(default_factory=dict)
    fresh: dict[int, float | None] = field(default_factory=dict)
    # Times as long as gpustruct from the same source, by number of records: the median over the rounds.
    live_ratio: dict[int, float] = field(default_factory=dict)
    fresh_ratio: dict[int, float] = field(default_factory=dict)
    # By record: empty if the bytes are right, otherwise what is wrong.
    wrong: dict[str, str] = field(default_factory=dict)
    padding: dict[str, str] = field(default_factory=dict)
    failed: str = ""


Timer = Callable[[int], float]


def timer(call: Callable[[], Any]) -> Timer:
    """Seconds of so many calls."""

    def seconds(loops: int) -> float:
        begun = time.perf_counter()
        for _ in range(loops):
            call()
        return time.perf_counter() - begun

    return seconds


@contextmanager
def no_collection() -> Iterator[None]:
    """Without the garbage collector, as timeit measures: it would visit each of a million tuples."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def alternate(timers: dict[Any, Timer], warm: dict[Any, float], rounds: int = ROUNDS) -> dict[Any, list[float]]:
    """Seconds of a call of each, in rounds in which all take turns. Slow ones stop after three rounds."""
    loops: dict[Any, int] = {}
    for key, seconds in timers.items():
        spent, once = seconds(1), seconds(1)
        while spent < warm.get(key, 0.0):
            many = max(1, int(0.05 / max(once, 1e-9)))
            taken = seconds(many)
            spent, once = spent + taken, taken / many
        loops[key] = max(1, int(AT_LEAST / max(once, 1e-9)))
    taken_by: dict[Any, list[float]] = {key: [] for key in timers}
    for _ in range(rounds):
        for key, seconds in timers.items():
            results = taken_by[key]
            if len(results) < 3 or sum(results) * loops[key] < BUDGET:
                results.append(seconds(loops[key]) / loops[key])
    return taken_by


def ratio(times: list[float], ours: list[float]) -> float:
    """The median of the ratios of rounds: load that comes and goes slows both."""
    return statistics.median(a / b for a, b in zip(times, ours, strict=False))


class Run:
    """One run of all ways that are there."""

    def __init__(self, node: Node | None, tell: Callable[[str], None] = lambda text: None) -> None:
        self.node, self.tell = node, tell
        self.rows: list[Row] = []
        self.missing: list[dict[str, str]] = []
        self.ways = {way.name: way for way in python_ways.WAYS}
        for way in python_ways.WAYS:
            try:
                told = way.ready()
                words = f", {told}" if isinstance(told, str) else ""
                self.rows.append(Row(way.name, way.source, python_ways.version(way.package) + words))
            except ModuleNotFoundError:
                self.missing.append({"name": way.name, "why": f"not installed: pip install {way.package}"})
            except Exception as error:
                text = str(error).strip().splitlines() or [type(error).__name__]
                self.missing.append({"name": way.name, "why": f"does not work here: {text[0]}"})
        if node is None:
            self.missing.append({"name": "all of JavaScript", "why": "no node here"})
            return
        hello = node.ask("hello")
        self.missing += hello["missing"]
        self.rows += [Row(way["name"], way["source"], way["version"], node=True) for way in hello["ways"]]

    def check(self, count: int = 50) -> None:
        """The bytes of each way for both records, and what it leaves in the padding."""
        for record in (PARTICLE, SPOT):
            case = Case(record, count)
            if self.node:
                self.node.prepare(record.name, count, objects=True, fill=FILL)
            for row in self.rows:
                self._check(row, case)

    def _check(self, row: Row, case: Case) -> None:
        self.tell(f"bytes of {row.name}")
        for side in SIDES:
            try:
                data = self._packed(row, case, side)
            except Exception as error:
                row.failed = row.failed or f"{type(error).__name__}: {error}".splitlines()[0]
                return
            wrong = difference(case, data)
            row.wrong[case.record.name] = row.wrong.get(case.record.name) or wrong
            if not case.record.used.all() and not wrong:
                row.padding[side] = padding(case, data, FILL)

    def _packed(self, row: Row, case: Case, side: str) -> np.ndarray:
        if row.node:
            assert self.node
            return self.node.packed(row.name, side)
        way = self.ways[row.name]
        if side == "live":
            case.out[:] = FILL
            call, result = way.live(case)
            call()
            return python_ways.as_bytes(result())
        # Memory that was freed a moment ago is not zero: what is handed out without being cleared shows.
        dirty = [np.full(case.out.size, FILL, np.uint8) for _ in range(64)]
        del dirty
        return python_ways.as_bytes(way.fresh(case)())

    def measure(self, count: int) -> None:
        """Times of all ways that would take less than a second."""
        rows = [row for row in self.rows if not row.failed]
        if count > MOST_OBJECTS:
            rows = [row for row in rows if row.source == "columns"]
        planned = [(row, side) for row in rows for side in SIDES if self._worth(row, side, count)]
        self.tell(f"{count:,} records: making them")
        case = Case(PARTICLE, count)
        if self.node:
            self.node.prepare(
                PARTICLE.name, count, objects=any(row.source == "objects" and row.node for row, _ in planned)
            )
        timers: dict[tuple[str, str], Timer] = {}
        hashed = ""
        with no_collection():
            for row, side in planned:
                self.tell(f"{count:,} records: {row.name}, {side}")
                try:
                    if row.node:
                        hashed = hashed or hashlib.sha1(case.expected).hexdigest()
                        timers[row.name, side] = self._node_timer(row, side, hashed)
                    else:
                        timers[row.name, side] = self._python_timer(row, side, case)
                except Exception as error:
                    row.failed = f"{count:,} records: {type(error).__name__}: {error}".splitlines()[0]
                    timers.pop((row.name, "live"), None)
            self.tell(f"{count:,} records: measuring {len(timers)} sides in turn")
            warm = {(row.name, side): WARM for row, side in planned if row.node}
            taken = alternate(timers, warm)
        for row, side in planned:
            times = taken.get((row.name, side))
            if times:
                getattr(row, side)[count] = statistics.median(times) / count * 1e9
                ours = taken.get((OURS[row.source], side))
                if ours:
                    getattr(row, f"{side}_ratio")[count] = ratio(times, ours)

    def _worth(self, row: Row, side: str, count: int) -> bool:
        times: dict[int, float | None] = getattr(row, side)
        if not row.node and count < self.ways[row.name].least:
            return False
        if not times:
            return True
        last = list(times.values())[-1]
        if last is not None and last * count / 1e9 <= TOO_LONG:
            return True
        times[count] = None
        return False

    def _python_timer(self, row: Row, side: str, case: Case) -> Timer:
        way = self.ways[row.name]
        if side == "live":
            case.out[:] = 0
            call, result = way.live(case)
            call()
            data = result()
        else:
            call = way.fresh(case)
            data = call()
        self._compare(row, python_ways.as_bytes(data), case)
        return timer(call)

    def _compare(self, row: Row, data: np.ndarray, case: Case) -> None:
        if data.size != case.expected.size or not np.array_equal(data.view(np.uint64), case.expected.view(np.uint64)):
            row.wrong["Particle"] = difference(case, data) or "padding"

    def _node_timer(self, row: Row, side: str, hashed: str) -> Timer:
        node = self.node
        assert node
        if node.sha1(row.name, side) != hashed:
            row.wrong["Particle"] = "other bytes"

        def seconds(loops: int) -> float:
            return node.seconds(row.name, side, loops)

        return seconds
