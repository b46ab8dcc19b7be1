"""Twins for uniform on a device: they compile as var<uniform>, and a shader reads every element right."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest
import wgpu
from hypothesis import Phase, assume, given, settings

from gpustruct import BackendWarning, LayoutError, array, layout_of, mat2x2f, mat2x2h, mat3x2f, pack, uniform_safe
from gpustruct.gpu.commands import Dispatch, send
from gpustruct.layout import Layout, naga
from gpustruct.members import attributed
from gpustruct.types import make_struct
from gpustruct.uniform import UniformSafe
from strategies import structs
from uniform_cases import CASES

Arrays = Literal["pad", "vec4"]
MODES: tuple[Arrays, ...] = ("pad", "vec4")
# What no layout, read wrongly, has in two places: whole numbers, exact in f16.
LARGEST = 2000


def filled(cls: Any, shape: tuple[int, ...], numbers: Iterator[int]) -> Any:
    """A batch whose every scalar is the next of `numbers`."""
    columns: dict[str, Any] = {}
    for name, spec in cls.__members__.items():
        dims = (*shape, *spec.dims)
        if spec.core.__layout__.kind == "struct":
            columns[name] = filled(spec.core, dims, numbers)
        else:
            full = (*dims, *spec.core.__layout__.shape)
            columns[name] = np.array([next(numbers) for _ in range(int(np.prod(full)))]).reshape(full)
    return cls(**columns)


def scalars(layout: Layout, batch: Any, text: str, place: str, path: str) -> Iterator[tuple[str, float]]:
    """Every scalar of the original: how the shader reads it from the twin, and its value."""
    for member in layout.fields:
        yield from member_scalars(member.layout, getattr(batch, member.name), text, f"{place}.{member.name}", f"{path}_{member.name}", ())  # fmt: skip


def member_scalars(
    layout: Layout, column: Any, text: str, place: str, path: str, outer: tuple[int, ...]
) -> Iterator[tuple[str, float]]:
    counts: list[int] = []
    core = layout
    while core.element is not None:
        counts.append(core.count or 0)
        core = core.element
    for index in itertools.product(*map(range, counts)):
        here = f"{place}{''.join(f'[{i}]' for i in index)}"
        value = column[index] if index else column
        if core.kind == "struct":
            for member in core.fields:
                yield from member_scalars(member.layout, getattr(value, member.name), text, f"{here}.{member.name}", f"{path}_{member.name}", (*outer, *index))  # fmt: skip
            continue
        if f"fn {path}(" in text:
            here = f"{path}({', '.join(f'{i}u' for i in (*outer, *index))})"
        if core.kind == "matrix":
            for row, c in itertools.product(range(core.rows), range(core.columns)):
                yield f"{here}[{c}][{row}]", float(value[row, c])
        elif core.kind == "vector":
            for row in range(core.rows):
                yield f"{here}[{row}]", float(value[row])
        else:
            yield here, float(np.asarray(value))


def read_back(
    device: Any, safe: UniformSafe, data: np.ndarray, expressions: list[str], before: str = ""
) -> list[float]:
    """What a compute shader sees: each expression, as f32, after the statement `before`."""
    lines = f"  {before}\n" + "".join(f"  out[{k}] = f32({expression});\n" for k, expression in enumerate(expressions))
    code = (
        f"{safe.wgsl}\n@group(0) @binding(0) var<uniform> block: Block;\n"
        "@group(0) @binding(1) var<storage, read_write> out: array<f32>;\n"
        f"@compute @workgroup_size(1) fn main() {{\n{lines}}}\n"
    )
    pipeline = device.create_compute_pipeline(
        layout="auto", compute={"module": device.create_shader_module(code=code), "entry_point": "main"}
    )
    uniform = device.create_buffer_with_data(data=data, usage=wgpu.BufferUsage.UNIFORM)
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    out = device.create_buffer(size=4 * len(expressions), usage=usage)
    dispatch = Dispatch(pipeline, [{"buffer": uniform}, {"buffer": out}], (1, 1, 1), 0, out.size)
    send(device, out, [dispatch])
    return np.frombuffer(device.queue.read_buffer(out), np.float32).tolist()


def check(device: Any, cls: Any, arrays: Arrays) -> None:
    safe = uniform_safe(cls, arrays, variable="block")
    batch = filled(cls, (), iter(range(1, LARGEST)))
    expected = list(scalars(layout_of(cls), batch, safe.wgsl, "block", "block"))
    assert len(expected) == layout_scalars(layout_of(cls))
    found = read_back(device, safe, pack(safe(batch)), [expression for expression, _ in expected])
    wrong = [(text, value, seen) for (text, value), seen in zip(expected, found, strict=True) if value != seen]
    assert not wrong, wrong[:5]


def layout_scalars(layout: Layout) -> int:
    if layout.kind == "struct":
        return sum(layout_scalars(member.layout) for member in layout.fields)
    if layout.element is not None:
        return (layout.count or 0) * layout_scalars(layout.element)
    return layout.rows * layout.columns


@pytest.mark.parametrize("arrays", MODES)
@pytest.mark.parametrize("name", CASES)
def test_every_element_is_read_right(device: Any, name: str, arrays: Arrays) -> None:
    assert layout_of(CASES[name]).uniform_faults()
    check(device, CASES[name], arrays)


def test_the_reader_functions_are_used(device: Any) -> None:
    texts = [uniform_safe(cls, arrays).wgsl for cls in CASES.values() for arrays in MODES]
    assert len(CASES) >= 20
    assert sum(len(re.findall(r"^fn ", text, re.M)) for text in texts) > 40


@pytest.mark.filterwarnings("ignore::gpustruct.BackendWarning")
@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(structs(atomics=False, packed=False, tail=False, max_members=4, max_depth=1, max_count=3, ascii_names=True))
def test_random_structs(device: Any, cls: Any) -> None:
    assume(cls.__layout__.uniform_faults())
    assume(layout_scalars(cls.__layout__) < LARGEST)
    members = {m.name: attributed(cls.__members__[m.name].type, m) for m in cls.__layout__.fields}
    named = make_struct("Block", members)
    for arrays in MODES:
        try:
            # The device is lost where naga misreads more than we say.
            if not list(naga.misreads(layout_of(uniform_safe(named, arrays).type))):
                check(device, named, arrays)
        except LayoutError as error:
            if error.rule != "nesting-depth":
                raise


@pytest.mark.parametrize("matrix", [mat2x2f, mat3x2f, mat2x2h, array[mat2x2f, 2]], ids=str)
def test_what_naga_misreads_is_right_in_a_copy(device: Any, matrix: Any) -> None:
    cls = make_struct("Block", {"inner": make_struct("Inner", {"m": matrix})})
    with pytest.warns(BackendWarning, match=r"copy Block\.inner into a var and read that"):
        safe = uniform_safe(cls, variable="block")
    batch = filled(cls, (), iter(range(1, LARGEST)))
    expected = list(scalars(layout_of(cls), batch, safe.wgsl, "copied", "block"))
    expressions = [text.replace("copied.inner", "copied") for text, _ in expected]
    found = read_back(device, safe, pack(safe(batch)), expressions, "var copied = block.inner;")
    assert found == [value for _, value in expected]
