"""uniform_safe without a device: legality, sizes, text, and batches of the twins."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings

import reference
from gpustruct import (
    LayoutError,
    SourceError,
    array,
    atomic,
    f32,
    i32,
    layout_of,
    mat4x4f,
    pack,
    u32,
    uniform_safe,
    vec2f,
    vec4f,
    view,
    wgsl,
)
from gpustruct import batch as batch_of
from gpustruct.types import make_struct
from gpustruct.views import zero_filled
from strategies import random_batch, structs
from uniform_cases import CASES

Arrays = Literal["pad", "vec4"]
MODES: tuple[Arrays, ...] = ("pad", "vec4")


@pytest.mark.parametrize("arrays", MODES)
@pytest.mark.parametrize("name", CASES)
def test_the_twin_is_legal_and_its_text_parses(name: str, arrays: Arrays) -> None:
    assert layout_of(CASES[name]).uniform_faults()
    safe = uniform_safe(CASES[name], arrays)
    layout_of(safe.type).check_uniform()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = wgsl.parse(f"{safe.wgsl}\n@group(0) @binding(0) var<uniform> block: Block;")
    assert module.bindings["block"].min_binding_size == layout_of(safe.type).size
    assert wgsl.check(safe.type, safe.wgsl).__name__ == "Block"


@pytest.mark.filterwarnings("ignore::gpustruct.BackendWarning")
@settings(max_examples=150, deadline=None)
@given(structs(atomics=False, tail=False))
def test_any_struct_has_a_legal_twin(cls: Any) -> None:
    for arrays in MODES:
        try:
            safe = uniform_safe(cls, arrays)
        except LayoutError as error:
            if error.rule != "nesting-depth":
                raise
            assume(False)
        layout_of(safe.type).check_uniform()
        if not layout_of(cls).uniform_faults():
            assert safe.type is cls
        assert [m.name for m in layout_of(safe.type).fields] == [m.name for m in layout_of(cls).fields]


def test_sizes_and_places() -> None:
    weights = make_struct("Weights", {"values": array[f32, 64]})
    padded, packed = uniform_safe(weights, "pad"), uniform_safe(weights, "vec4")
    assert (layout_of(padded.type).size, layout_of(packed.type).size) == (1024, 256)
    batch = weights(values=np.arange(64.0))
    data = pack(padded(batch)).view(np.float32).reshape(64, 4)
    assert data[:, 0].tolist() == list(range(64))
    assert not data[:, 1:].any()
    assert pack(packed(batch)).tobytes() == pack(batch).tobytes()


def test_one_batch_packs_into_the_original_and_both_twins() -> None:
    item = make_struct("Item", {"a": f32, "w": array[vec2f, 3]})
    block = make_struct("Block", {"t": u32, "items": array[item, 2], "grid": array[array[i32, 3], 2], "m": mat4x4f})
    generator = np.random.default_rng(1)
    n = 3
    batch = block(
        t=np.arange(n),
        items={"a": generator.random((n, 2)), "w": generator.random((n, 2, 3, 2))},
        grid=generator.integers(-9, 9, (n, 2, 3)),
        m=generator.random((4, 4)),
    )
    assert pack(batch).nbytes == n * layout_of(block).record_stride
    padded = pack(uniform_safe(block, "pad")(batch)).reshape(n, -1)
    packed = pack(uniform_safe(block, "vec4")(batch)).reshape(n, -1)
    # Offsets worked out by hand: t, items at 16 of 16 + 3·16 bytes, grid of six padded i32, the matrix.
    for record in range(n):
        assert padded[record, :4].view(np.uint32) == [record]
        for index in range(2):
            start = 16 + 64 * index
            assert padded[record, start : start + 4].view(np.float32) == np.float32(batch.items.a[record, index])
            for k in range(3):
                place = padded[record, start + 16 + 16 * k :][:8].view(np.float32)
                assert place.tolist() == np.float32(batch.items.w[record, index, k]).tolist()
        grid = padded[record, 144:240].view(np.int32).reshape(6, 4)
        assert grid[:, 0].tolist() == batch.grid[record].reshape(6).tolist()
        assert padded[record, 240:304].view(np.float32).reshape(4, 4).T.tolist() == np.float32(batch.m[record]).tolist()
        # vec4: items at 16 of 16 + 2·16 bytes, grid in two vec4.
        first = packed[record, 32:64].view(np.float32)
        assert first[:6].tolist() == np.float32(batch.items.w[record, 0]).reshape(6).tolist()
        assert first[6:].tolist() == [0, 0]
        assert packed[record, 112:136].view(np.int32).tolist() == batch.grid[record].reshape(6).tolist()


def test_columns_are_referenced_where_they_can_be() -> None:
    weights = make_struct("Weights", {"values": array[f32, 64], "k": f32})
    column = np.zeros((5, 64), np.float32)
    batch = weights(values=column, k=0.0)
    for arrays in MODES:
        assert len(uniform_safe(weights, arrays)(batch)) == 5
    assert np.shares_memory(uniform_safe(weights, "vec4")(batch).values, column)
    assert np.shares_memory(uniform_safe(weights, "pad")(batch).values.value, column)


def values_of(batch: Any) -> dict[str, Any]:
    """The members of a 0-d batch as a user has them: arrays and numbers, nested structs as mappings."""
    nested = {name: slot.type.__layout__.kind == "struct" for name, slot in type(batch).__members__.items()}
    return {name: values_of(getattr(batch, name)) if inner else getattr(batch, name) for name, inner in nested.items()}


def same(got: Any, want: Any) -> bool:
    if isinstance(want, dict):
        return all(same(getattr(got, name), value) for name, value in want.items())
    if hasattr(want, "__members__"):
        return all(same(getattr(got, name), getattr(want, name)) for name in type(want).__members__)
    got, want = np.asarray(got), np.asarray(want)
    # A scalar reads as a Python float; f32 and f16 round.
    kind = {np.dtype(np.float64): np.float32}.get(got.dtype, got.dtype)
    return np.array_equal(got.astype(kind), want.astype(kind))


@pytest.mark.filterwarnings("ignore::gpustruct.BackendWarning")
@pytest.mark.parametrize("arrays", MODES)
@pytest.mark.parametrize("name", CASES)
def test_a_view_of_a_twin_takes_and_gives_what_the_original_does(name: str, arrays: Arrays) -> None:
    T = CASES[name]
    safe = uniform_safe(T, arrays)
    batch = random_batch(T, (), np.random.default_rng(7), special=False)
    want, values = reference.pack(safe(batch)), values_of(batch)
    assert any(want)
    by_update, by_name, whole = view(safe), view(safe.type), view(safe, count=4)
    by_update.update(values)
    for member, value in values.items():
        setattr(by_name, member, value)
    whole[0], whole[1], whole[2], whole[3] = batch, values, by_name, safe(batch)
    for one in (by_update, by_name, *whole):
        assert bytes(one) == want
    whole[:] = [values] * 4
    assert bytes(whole) == want * 4
    assert same(by_name, values)
    other = view(safe)
    for member in values:
        setattr(other, member, getattr(by_name, member))
    assert bytes(other) == want
    # To everything else it is a batch of the twin.
    assert pack(by_name).tobytes() == pack(batch_of(safe.type, by_name)).tobytes() == want
    copied, pickled = copy.deepcopy(by_name), pickle.loads(pickle.dumps(by_name))
    copied.update(values)
    # The classes come back as others, of the same members.
    pickled.update({name: value for name, value in values.items() if isinstance(value, np.ndarray)})
    assert bytes(copied) == bytes(pickled) == want
    assert same(pickled, values)


@pytest.mark.parametrize("arrays", MODES)
def test_values_that_do_not_fit_a_twin_leave_its_bytes(arrays: Arrays) -> None:
    item = make_struct("Item", {"a": f32, "w": array[f32, 3]})
    v = view(uniform_safe(make_struct("Block", {"t": u32, "items": array[item, 2], "values": array[f32, 5]}), arrays))
    v.update(t=1, values=[1, 2, 3, 4, 5])
    before = bytes(v)
    for wrong, message in [
        ({"values": [1, 2, 3]}, r"at Block\.values; give it 5 numbers, or zero_filled"),
        ({"values": [1, 2, 3, 4, 1e300]}, r"at Block\.values\[4\]"),
        ({"t": 2, "items": [{"a": 1, "w": [1, 2]}] * 2}, r"at Block\.items\[0\]\.w|at Block\.items\.w\[0\]"),
        ({"items": {"a": [1, 2], "w": np.ones((2, 4))}}, r"at Block\.items\.w|at Item\.w"),
        ({"t": -1}, r"at Block\.t"),
        ({"value": 1}, "did you mean 'values'"),
    ]:
        with pytest.raises(SourceError, match=message):
            v.update(wrong)
        assert bytes(v) == before


@pytest.mark.parametrize("arrays", MODES)
def test_parts_of_a_twin_are_those_of_the_original(arrays: Arrays) -> None:
    """Indices, slices, columns of an array of structs, and zeros for the rest; offsets worked out by hand."""
    item = make_struct("Item", {"a": f32, "w": array[f32, 3]})
    v = view(uniform_safe(make_struct("Block", {"values": array[f32, 5], "items": array[item, 2]}), arrays))
    v.values = zero_filled([1, 2])
    v.values[2:4] = 3, 4
    v.values[4] += 5
    v.items.w = [[1, 2, 3], [4, 5, 6]]
    v.items.a *= 0
    v.items[1].a = 7
    v.items[0].w[1] = 8
    step = 4 if arrays == "pad" else 1
    words = np.frombuffer(v, np.float32)
    assert words[: 5 * step : step].tolist() == [1, 2, 3, 4, 5]
    items = words[20 if arrays == "pad" else 8 :].reshape(2, -1)
    assert items.shape == ((2, 16) if arrays == "pad" else (2, 8))
    assert items[:, 0].tolist() == [0, 7]
    assert items[:, 4 : 4 + 3 * step : step].tolist() == [[1, 8, 3], [4, 5, 6]]
    assert v.items.w.tolist() == [[1, 8, 3], [4, 5, 6]]
    assert [type(v).__name__, v.values.tolist()] == ["Block", [1, 2, 3, 4, 5]]
    first = item(a=[1, 2], w=np.ones((2, 3)))
    v.items = first
    v.items[0] = first[1]
    assert v.items.a.tolist() == [2, 2]
    assert v.items.w.tolist() == [[1, 1, 1]] * 2


def test_the_reader_functions() -> None:
    item = make_struct("Item", {"w": array[f32, 3]})
    block = make_struct("CameraBlock", {"items": array[item, 2], "grid": array[array[vec2f, 5], 2]})
    text = uniform_safe(block, "vec4").wgsl
    assert (
        "fn camera_block_items_w(i: u32, j: u32) -> f32 {\n  return camera_block.items[i].w[j / 4u][j % 4u];\n}" in text
    )
    place = "camera_block.grid[(i * 5u + j) / 2u]"
    assert f"return select({place}.xy, {place}.zw, (i * 5u + j) % 2u == 1u);" in text
    padded = uniform_safe(block, "pad", variable="camera").wgsl
    assert "fn camera_grid(i: u32, j: u32) -> vec2f {\n  return camera.grid[i][j].value;\n}" in padded
    # A variable may not be called what an index is called, nor what a struct is called.
    assert "fn i_items_w(j: u32, k: u32)" in uniform_safe(block, variable="i").wgsl
    lower = make_struct("weights", {"values": array[f32, 3]})
    assert "return weights_.values" in uniform_safe(lower).wgsl


def test_wrappers_take_no_struct_s_name() -> None:
    taken = make_struct("PaddedF32", {"x": f32})
    block = make_struct("Block", {"a": taken, "values": array[f32, 3]})
    assert "struct PaddedF32_ {" in uniform_safe(block).wgsl


def test_what_is_legal_comes_back() -> None:
    legal = make_struct("Camera", {"view": mat4x4f, "planes": array[vec4f, 6]})
    Safe, text = uniform_safe(legal)
    assert Safe is legal
    assert text == wgsl.declare(legal)
    batch = legal(view=np.eye(4), planes=np.zeros((6, 4)))
    assert uniform_safe(legal)(batch) is batch
    assert uniform_safe(array[vec4f, 3]).type is array[vec4f, 3]


def test_what_is_refused() -> None:
    with pytest.raises(LayoutError) as caught:
        uniform_safe(make_struct("A", {"n": atomic[u32], "v": array[f32, 3]}))
    assert caught.value.rule == "atomic-uniform"
    with pytest.raises(LayoutError) as caught:
        uniform_safe(make_struct("A", {"v": array[f32]}))
    assert caught.value.rule == "runtime-uniform"
    weights = make_struct("Weights", {"values": array[f32, 64]})
    for options, rule in (({"arrays": "none"}, "uniform-safe-arrays"), ({"variable": "Weights"}, "uniform-safe-variable"),
                          ({"variable": "for"}, "uniform-safe-variable"), ({"variable": "2"}, "uniform-safe-variable")):  # fmt: skip
        with pytest.raises(LayoutError) as caught:
            uniform_safe(weights, **options)  # type: ignore[arg-type]
        assert caught.value.rule == rule
    with pytest.raises(LayoutError, match="make it a member"):
        uniform_safe(array[f32, 3])
    for other in (np.zeros(64), f32(1.0), None):
        with pytest.raises(SourceError, match="takes a batch of Weights"):
            uniform_safe(weights)(other)
