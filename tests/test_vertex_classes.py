"""Random Vertex classes and columns, against a packer that reads the formats from their names (tests/vertex_reference.py)."""

from __future__ import annotations

from typing import Any

import dask.array
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vertex_reference as reference
from gpustruct import SourceError, array, batch, layout_of, pack, unpack
from gpustruct.formats import FORMATS
from gpustruct.types import make_struct
from gpustruct.vertex import Vertex


def made(members: reference.Members) -> Any:
    types = {m: FORMATS[name] if count is None else array[FORMATS[name], count] for m, name, count in members}
    return make_struct("V", types, base=Vertex)


def test_the_reference_knows_every_format() -> None:
    assert sorted(reference.NAMES) == sorted(FORMATS)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2, 3, 7, 16, 33]))
def test_random_classes_are_packed_as_the_specification_says(seed: int, records: int) -> None:
    rng = np.random.default_rng(seed)
    members = reference.random_members(rng)
    columns = reference.random_columns(rng, members, records)
    V = made(members)
    places, stride = reference.offsets(members)
    layout = layout_of(V)
    assert [field.offset for field in layout.fields] == places and layout.stride == stride
    want = reference.pack(members, columns, records)
    data = pack(batch(V, columns))
    assert data.tobytes() == want

    back = unpack(V, data)
    for (member, name, count), place in zip(members, places, strict=True):
        form = reference.read_name(name)
        got = np.reshape(getattr(back, member), (records, count or 1, form.rows))
        for record in range(records):
            for k in range(count or 1):
                at = stride * record + place + k * form.size
                values = reference.seen(name, want[at : at + form.size])
                np.testing.assert_array_equal(got[record, k], np.array(values, got.dtype))
    again = unpack(V, pack(back))
    for member in V.__members__:
        np.testing.assert_array_equal(getattr(again, member), getattr(back, member))


@given(st.integers(0, 2**32 - 1))
def test_a_value_that_does_not_fit_names_its_record(seed: int) -> None:
    rng = np.random.default_rng(seed)
    name = str(rng.choice([n for n in reference.NAMES if "norm" in n]))
    form = reference.read_name(name)
    bad = float(rng.choice([np.nan, np.inf, -np.inf, 1.001, -1.001]))
    values = rng.uniform(0, 1, (40, form.rows)).astype(rng.choice(["f4", "f8"]))
    at, row = int(rng.integers(40)), int(rng.integers(form.rows))
    values[at, row] = bad
    out = np.full(40 * 4 * ((form.size + 3) // 4), 7, np.uint8)
    V = made([("a", name, None)])
    place = rf"V\.a\[{at}, {row}\]" if form.rows > 1 else rf"V\.a\[{at}\]"
    with pytest.raises(SourceError, match=place):
        pack(V(a=reference.arranged(rng, values if form.rows > 1 else values[:, 0])), out=out)


def test_dask_packs_vertex_data_by_blocks() -> None:
    members: reference.Members = [("position", "float32x3", None), ("normal", "snorm8x4", None)]
    V, rng = made(members), np.random.default_rng(0)
    columns = {"position": rng.normal(size=(1000, 3)), "normal": rng.uniform(-1, 1, (1000, 4))}
    want = reference.pack(members, columns, 1000)
    chunked = {name: dask.array.from_array(c, chunks=(300, c.shape[1])) for name, c in columns.items()}
    assert pack(batch(V, chunked)).tobytes() == want
    blocks = dask.array.map_blocks(
        lambda position, normal: pack(V(position=position, normal=normal)).reshape(-1, 16),
        *chunked.values(),
        dtype="u1",
        chunks=(chunked["position"].chunks[0], (16,)),
    )
    assert blocks.compute(scheduler="threads").tobytes() == want
