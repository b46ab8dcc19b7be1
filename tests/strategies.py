"""Random types and random batches of them, for hypothesis.

structs(...)       a Struct class: nested structs, arrays, f16, matrices, atomics, packed formats, @align, @size, runtime tails
types(...)         any type: a Struct class, or a scalar, vector, matrix or array by itself
batches(cls)       a batch of `cls`: any dtype that converts, any byte order, any stride, some special values
random_batch(...)  the same from a numpy Generator, without hypothesis
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from hypothesis import strategies as st

from gpustruct import align, array, atomic, i32, size, u32, vertex
from gpustruct.broadcasting import broadcast
from gpustruct.types import PLAIN_TYPES, make_struct

Attributes = Literal["anywhere", "root", "none"]
Draw = Callable[[st.SearchStrategy[Any]], Any]

ALL_PLAIN = sorted(PLAIN_TYPES)
WITHOUT_F16 = [name for name in ALL_PLAIN if not name.endswith("h") and name != "f16"]
# The vertex formats that a struct may hold, as a u32.
PACKED = [
    vertex.snorm8x4,
    vertex.unorm8x4,
    vertex.sint8x4,
    vertex.uint8x4,
    vertex.snorm16x2,
    vertex.unorm16x2,
    vertex.float16x2,
]
STORED = {"unorm8": "u1", "snorm8": "i1", "unorm16": "<u2", "snorm16": "<i2"}
MEMBER_NAMES = ["size", "offset", "pack", "align", "stride", "m", "x", "color", "life", "Δt"]


@st.composite
def structs(
    draw: Draw,
    *,
    f16: bool = True,
    atomics: bool = True,
    packed: bool = True,
    tail: bool | None = None,
    attributes: Attributes = "anywhere",
    max_members: int = 6,
    max_depth: int = 2,
    max_count: int = 4,
    ascii_names: bool = False,
) -> Any:
    """A random Struct class. `tail`: with a runtime-sized array at the end, without, or (None) either.

    `attributes="root"` keeps @align and @size to the members of the outermost struct that are no
    structs themselves: there every WGSL compiler agrees (see gfx-rs/wgpu#4377).
    """
    counter = iter(range(10_000))
    plain = [PLAIN_TYPES[name] for name in (ALL_PLAIN if f16 else WITHOUT_F16)]
    if atomics:
        plain += [atomic[u32], atomic[i32]]
    if packed:
        plain += PACKED

    def value(depth: int) -> Any:
        kinds = ["plain", "plain", "plain", "array", "struct"] if depth else ["plain", "plain", "array"]
        kind = draw(st.sampled_from(kinds))
        if kind == "struct":
            return struct(depth - 1, root=False)
        if kind == "array":
            element = value(depth - 1) if depth else draw(st.sampled_from(plain))
            return array[element, draw(st.integers(1, max_count))]
        return draw(st.sampled_from(plain))

    def annotated(made: Any, root: bool) -> Any:
        if attributes == "none" or (attributes == "root" and (not root or made.__layout__.core.kind == "struct")):
            return made
        which = draw(st.sampled_from(["", "", "", "align", "size", "both"]))
        if which in ("align", "both"):
            made = Annotated[made, align(made.__layout__.align * draw(st.sampled_from([1, 2, 4, 8])))]
        if which in ("size", "both"):
            plain_type = made if not hasattr(made, "__origin__") else made.__origin__
            made = Annotated[made, size(plain_type.__layout__.size + draw(st.integers(0, 40)))]
        return made

    def struct(depth: int, root: bool) -> Any:
        name = f"S{next(counter)}"
        count = draw(st.integers(1, max_members))
        pool = MEMBER_NAMES[:-1] if ascii_names else MEMBER_NAMES
        members = {
            f"{draw(st.sampled_from(pool))}{i}" if i else draw(st.sampled_from(pool)): annotated(value(depth), root)
            for i in range(count)
        }
        if root and (draw(st.booleans()) if tail is None else tail):
            members["tail"] = array[value(max(depth, 0))]
        return make_struct(name, members)

    return struct(max_depth, root=True)


@st.composite
def types(draw: Draw, **options: Any) -> Any:
    """Any type: mostly structs, sometimes a plain type, an array of anything or a bare array[T]."""
    kind = draw(st.sampled_from(["struct", "struct", "struct", "plain", "array", "runtime"]))
    if kind == "plain":
        return PLAIN_TYPES[draw(st.sampled_from(ALL_PLAIN if options.get("f16", True) else WITHOUT_F16))]
    if kind == "struct":
        return draw(structs(**options))
    element = draw(structs(**{**options, "tail": False}))
    return array[element] if kind == "runtime" else array[element, draw(st.integers(1, 3))]


@st.composite
def batches(draw: Draw, cls: Any, *, shape: tuple[int, ...] | None = None, special: bool = True) -> Any:
    """A batch of `cls`; 0-d to 2-d where no shape is asked for. `special=False`: no NaN, inf or -0."""
    if shape is None:
        shape = draw(st.sampled_from([(), (1,), (3,), (7,), (2, 3), (0,)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_batch(cls, shape, rng, special=special)


def random_batch(cls: Any, shape: tuple[int, ...], rng: np.random.Generator, *, special: bool = True) -> Any:
    """A batch of `cls` over `shape`; a runtime-sized tail gets 1 to 5 elements, and no batch shape."""
    if cls.__layout__.is_runtime_sized:
        shape = ()
    columns = {name: random_column(spec, shape, rng, special) for name, spec in cls.__members__.items()}
    made = cls(columns[""]) if "" in columns else cls(**columns)
    # A batch of constants only has no leading dimensions.
    return broadcast(made, shape)


def random_column(spec: Any, shape: tuple[int, ...], rng: np.random.Generator, special: bool) -> Any:
    dims = (*shape, *((int(rng.integers(1, 6)),) if spec.runtime else ()), *spec.dims)
    if spec.core.__layout__.kind == "struct":
        return random_batch(spec.core, dims, rng, special=special)
    layout = spec.core.__layout__
    full = dims + layout.shape
    if shape and not spec.runtime and rng.random() < 0.1:
        # No leading dimensions: the column broadcasts over the batch.
        return random_array(layout.scalar, full[len(shape) :], rng, special)
    return random_array(layout.scalar, full, rng, special)


def random_array(scalar: str, shape: tuple[int, ...], rng: np.random.Generator, special: bool = True) -> np.ndarray:
    """Values that convert to `scalar`, in a random dtype, byte order and memory arrangement."""
    if scalar in STORED:
        values = normalized(scalar, shape, rng)
    elif scalar in ("uint8", "sint8"):
        dtype = np.dtype(str(rng.choice(["u1", "i1", "u2", "i4", "i8", "?"])))
        low, high = (0, 255) if scalar == "uint8" else (-128, 127)
        low, high = (0, 1) if dtype.kind == "b" else (max(low, np.iinfo(dtype).min), min(high, np.iinfo(dtype).max))
        values = rng.integers(low, high, shape, endpoint=True).astype(dtype)
    elif scalar in ("i32", "u32"):
        kinds = "i1 i2 i4 i8 u1 u2 u4 u8 ?" if scalar == "i32" else "u1 u2 u4 u8 i8 ?"
        dtype = np.dtype(str(rng.choice(kinds.split())))
        low, high = (-(2**31), 2**31) if scalar == "i32" else (0, 2**32)
        if dtype.kind == "b":
            values = rng.integers(0, 2, shape).astype(bool)
        else:
            info = np.iinfo(dtype)
            values = rng.integers(max(low, info.min), min(high, int(info.max) + 1), shape).astype(dtype)
    else:
        dtype = np.dtype(str(rng.choice(["f2", "f4", "f8", "f8", "i1", "i4", "i8", "u2", "?"])))
        limit = 200.0 if dtype.kind != "f" else 6e4 if scalar == "f16" or dtype.itemsize == 2 else 3e38
        scale = float(rng.choice([1.0, 1e-3, 1e-7, 1e-38, limit / 8]))
        exact = np.clip(rng.standard_normal(shape) * scale, -limit, limit)
        with np.errstate(all="ignore"):
            values = (np.abs(exact) if dtype.kind == "u" else exact > 0 if dtype.kind == "b" else exact).astype(dtype)
        if dtype.kind == "f" and special and values.size:
            chosen = rng.random(shape) < 0.1
            values = np.where(chosen, rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan], shape), values).astype(dtype)
    if rng.random() < 0.3:
        values = values.astype(values.dtype.newbyteorder(">"))
    return rearranged(values, rng)


def normalized(scalar: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Floats of the scalar's range, its ends and values half way between two steps included; or its own integers."""
    stored = np.iinfo(STORED[scalar])
    if rng.random() < 0.3:
        # The smallest signed integer means -1 too, and comes back as the next one.
        return rng.integers(max(stored.min, -stored.max), stored.max, shape, endpoint=True).astype(STORED[scalar])
    low = 0 if stored.min == 0 else -1
    between = (rng.integers(low * stored.max, stored.max, shape) + 0.5) / stored.max
    values = np.where(rng.random(shape) < 0.3, between, rng.uniform(low, 1, shape))
    values = np.where(rng.random(shape) < 0.1, rng.choice([low, 0.0, 1.0], shape), values)
    return values.astype(str(rng.choice(["f2", "f4", "f8"])))


def rearranged(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same values over other memory: Fortran order, a slice of a larger array, negative or zero strides."""
    if values.ndim == 0:
        return values
    way = int(rng.integers(0, 6))
    axis = int(rng.integers(0, values.ndim))
    if way == 1:
        return np.asfortranarray(values)
    if way == 2:
        wide = np.zeros((*values.shape[:axis], 2 * values.shape[axis], *values.shape[axis + 1 :]), values.dtype)
        view = wide[(*(slice(None),) * axis, slice(None, None, 2))]
        view[...] = values
        return view
    if way == 3:
        return np.flip(np.flip(values, axis).copy(), axis)
    if way == 4 and values.shape[axis]:
        return np.broadcast_to(np.take(values, [0], axis), values.shape)
    if way == 5:
        # Scalars that do not start at a multiple of their size.
        raw = np.zeros(values.nbytes + 1, np.uint8)[1:].view(np.uint8)
        moved = np.ndarray(values.shape, values.dtype, raw)
        moved[...] = values
        return moved
    return values
