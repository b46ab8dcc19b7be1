"""The dask example: many workers write one file, the same byte for byte as one process packs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, ClassVar

import dask
import dask.distributed
import numpy as np
import pandas
import pytest

import reference
from gpustruct import Struct, align, array, atomic, batch, dtype_of, f32, pack, u32, vec3f

EXAMPLE = Path(__file__).parent.parent / "examples" / "dask_pack.py"
RECORDS, CHUNK = 30_011, 4_000


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("dask_pack", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["dask_pack"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["dask_pack"]


def alone(example: Any) -> np.ndarray:
    """The same data set, packed by this process at once."""
    table = {name: column.compute(scheduler="sync") for name, column in example.columns(RECORDS, CHUNK).items()}
    flat = {name: column if column.shape[1] > 1 else column[:, 0] for name, column in table.items()}
    return pack(example.Particle(**flat, color=(1, 1, 1, 1)))


def test_without_a_cluster(example: Any, tmp_path: Path) -> None:
    path = tmp_path / "threads.bin"
    with dask.config.set(scheduler="threads"):
        example.write(path, RECORDS, CHUNK)
    data = np.fromfile(path, np.uint8)
    assert np.array_equal(data, alone(example))
    rows = batch(example.Particle, np.memmap(path, dtype_of(example.Particle), "r"))
    assert data[: 48 * 50].tobytes() == reference.pack(rows[:50])


def test_a_local_cluster_writes_the_same_file(example: Any, tmp_path: Path) -> None:
    # As a script, so that its classes are those of __main__ and travel to the workers by value.
    path = tmp_path / "cluster.bin"
    arguments = [str(path), "--records", str(RECORDS), "--chunk", str(CHUNK), "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLE.parent.parent / "src")}
    completed = subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments], capture_output=True, text=True, env=environment, timeout=120
    )
    assert completed.returncode == 0, completed.stderr
    assert "on 2 workers" in completed.stdout
    assert np.array_equal(np.fromfile(path, np.uint8), alone(example))


def test_partitions_of_a_frame(example: Any) -> None:
    frames = pytest.importorskip("dask.dataframe")
    frame = pandas.DataFrame({"x": np.arange(100.0), "y": 1.0, "z": 2.0, "age": np.arange(100), "id": np.arange(100)})

    def packed(part: Any) -> Any:
        part = part.assign(one=1.0, zero=0.0)
        names = {"position": ("x", "y", "z"), "life": "age", "velocity": ("zero",) * 3, "color": ("one",) * 4}
        return pandas.DataFrame(pack(batch(example.Particle, part, names)).reshape(len(part), 48))

    with dask.config.set(scheduler="sync"):
        rows = frames.from_pandas(frame, npartitions=4).map_partitions(packed, meta=packed(frame.iloc[:0])).compute()
    position = np.stack([frame["x"], frame["y"], frame["z"]], -1)
    whole = example.Particle(
        position=position, life=frame["age"], velocity=(0, 0, 0), id=frame["id"], color=(1, 1, 1, 1)
    )
    assert rows.to_numpy().astype(np.uint8).tobytes() == reference.pack(whole)


class Inner(Struct):
    a: Annotated[f32, align(16)]
    b: vec3f


def notebook() -> Any:
    """Classes and a function as a notebook has them: in no module that another process could import."""

    class Outer(Struct):
        pairs: array[Inner, 3]
        n: atomic[u32]
        inner: Inner

    class Longer(Outer):
        weight: f32
        most: ClassVar[int] = 5

        def heavier(self, by: float) -> Any:
            return self.weight + by

        @property
        def twice(self) -> Any:
            return self.weight * 2

        @staticmethod
        def name() -> str:
            return "longer"

    def packed(count: int) -> np.ndarray:
        inner = Inner(a=np.ones((count, 3)), b=(1, 2, 3))
        return pack(Longer(pairs=inner, n=np.arange(count), inner=Inner(a=1, b=(1, 2, 3)), weight=2))

    return packed, Longer, Outer, array[Outer, 2]


def test_classes_of_a_notebook_travel_by_value() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    packed, longer, outer, pairs = notebook()
    for made in (longer, outer, pairs):
        assert cloudpickle.loads(cloudpickle.dumps(made)) is made
    data = cloudpickle.dumps((packed, longer, outer, pairs, packed(3).tobytes()))
    assert len(data) < 10_000
    code = """
import pickle, sys
from gpustruct import array, layout_of, types
packed, longer, outer, pairs, expected = pickle.loads(sys.stdin.buffer.read())
assert packed(3).tobytes() == expected
assert pairs is array[outer, 2]
assert longer.inner.type is outer.inner.type
assert layout_of(longer).size == longer.weight.offset + 16
assert (longer.most, longer.name()) == (5, "longer")
made = longer(pairs={"a": [0, 0, 0], "b": [(1, 2, 3)] * 3}, n=1, inner={"a": 1, "b": (1, 2, 3)}, weight=2)
assert (made.twice, made.heavier(1.5)) == (4, 3.5)
try:
    longer.most = 6
except AttributeError:
    pass
else:
    raise AssertionError("a finished type was changed")
"""
    path = f"{EXAMPLE.parent.parent / 'src'}:{Path(__file__).parent}"
    completed = subprocess.run(
        [sys.executable, "-c", code], input=data, capture_output=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert completed.returncode == 0, completed.stderr.decode()
