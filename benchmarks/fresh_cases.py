"""What bench_fresh.py and goals.py measure: columns that are new in each frame, and what one does without gpustruct."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gpustruct import Struct, array, batch, f32, layout_of, mat3x3f, mat4x4f, pack, u32, unpack, vec2f, vec3f, vec4f
from gpustruct.dtypes import dtype_of
from gpustruct.workloads import Particle, columns, medians

SIZES = (1, 10, 100, 1_000, 10_000)
# Most times numpy's structured assignment, by number of records.
GOALS = {
    ("Particle", "f32"): {1: 1.3, 10: 1.2, 100: 0.7, 1_000: 0.3, 10_000: 0.13},
    ("Particle", "f64"): {1: 1.5, 10: 1.4, 100: 0.9, 1_000: 0.4, 10_000: 0.25},
    **{
        (name, "f32"): {1: 1.5, 100: 1.0, 1_000: 1.0, 10_000: 1.0}
        for name in ("Three", "Twelve", "Nested", "Arrays", "Matrices")
    },
}


class Three(Struct):
    position: vec3f
    life: f32
    color: vec4f


class Twelve(Struct):
    position: vec3f
    mass: f32
    velocity: vec3f
    id: u32
    force: vec3f
    age: f32
    color: vec4f
    uv: vec2f
    size: vec2f
    group: u32
    flags: u32
    heat: f32


class Body(Struct):
    position: vec3f
    mass: f32


class Nested(Struct):
    body: Body
    anchor: Body
    id: u32


class Arrays(Struct):
    weights: array[f32, 8]
    bones: array[vec4f, 4]
    count: u32


class Matrices(Struct):
    model: mat4x4f
    normal: mat3x3f
    tint: vec4f


TYPES: dict[str, Any] = {cls.__name__: cls for cls in (Particle, Three, Twelve, Nested, Arrays, Matrices)}


class Row(NamedTuple):
    """What one thing costs, as a multiple of what it is compared with; `goal` is the most that it should."""

    name: str
    seconds: float
    ratio: float
    beside: str
    goal: float | None = None

    def __str__(self) -> str:
        goal = "" if self.goal is None else f" (goal {self.goal}{'' if self.ratio <= self.goal else ', MISSED'})"
        return f"{self.name:<52} {1e6 * self.seconds:9.2f} us  {self.ratio:6.2f} x {self.beside}{goal}"


class Sides(NamedTuple):
    numpy: Callable[[], object]
    fresh: Callable[[], object]
    live: Callable[[], object]


def sides(name: str, n: int, flavour: Any) -> Sides:
    """Numpy's structured assignment, a new batch packed once, and a batch that is kept, over the same columns."""
    cls = TYPES[name]
    rows, out = np.zeros(n, dtype_of(cls)), np.zeros(layout_of(cls).stride * n, np.uint8)
    values: dict[str, Any] = {"body": {}, "anchor": {}}
    if name == "Nested":
        values = {key: columns(Body, n, flavour, seed) for seed, key in enumerate(values)}
        values["id"] = columns(Particle, n, flavour)["id"]
    else:
        values = columns(cls, n, flavour)

    def assign() -> None:
        for key, column in values.items():
            rows[key] = column

    def assign_nested() -> None:
        for key in ("body", "anchor"):
            inner = rows[key]
            for member, column in values[key].items():
                inner[member] = column
        rows["id"] = values["id"]

    def assign_matrices() -> None:
        # WGSL's matrices are column after column.
        rows["model"]["column"] = values["model"].swapaxes(1, 2)
        rows["normal"]["column"] = values["normal"].swapaxes(1, 2)
        rows["tint"] = values["tint"]

    def made() -> Any:
        return cls(**values)

    def made_nested() -> Any:
        return Nested(body=Body(**values["body"]), anchor=Body(**values["anchor"]), id=values["id"])

    make = made_nested if name == "Nested" else made
    by_hand = {"Nested": assign_nested, "Matrices": assign_matrices}.get(name, assign)
    kept = make()
    found = Sides(by_hand, lambda: pack(make(), out=out), lambda: pack(kept, out=out))
    found.numpy()
    found.fresh()
    assert out.tobytes() == rows.tobytes()
    return found


def five_views(data: np.ndarray, n: int) -> list[np.ndarray]:
    """What `unpack` makes, by hand."""
    return [
        np.ndarray((n, 3), "<f4", data, 0, (48, 4)),
        np.ndarray((n,), "<f4", data, 12, (48,)),
        np.ndarray((n, 3), "<f4", data, 16, (48, 4)),
        np.ndarray((n,), "<u4", data, 28, (48,)),
        np.ndarray((n, 4), "<f4", data, 32, (48, 4)),
    ]


def pack_rows(rounds: int) -> Iterator[Row]:
    for name in TYPES:
        for flavour in ("f32", "f64"):
            for n in SIZES:
                theirs, fresh, live = medians(list(sides(name, n, flavour)), rounds, at_least=0.003)
                goal = GOALS.get((name, flavour), {}).get(n)
                label = f"{n:,} {name} from {flavour}"
                yield Row(f"fresh pack, {label}", fresh, fresh / theirs, "numpy's assignment", goal)
                yield Row(f"live pack, {label}", live, live / theirs, "numpy's assignment")


def other_rows(rounds: int) -> Iterator[Row]:
    n = 1000
    values, records = columns(Particle, n, "f32"), np.zeros(n, dtype_of(Particle))
    data = pack(Particle(**values))
    ways: list[Callable[[], object]] = [
        lambda: five_views(data, n),
        lambda: unpack(Particle, data),
        lambda: Particle(**values),
        lambda: batch(Particle, values),
        lambda: batch(Particle, records),
    ]
    by_hand, unpacked, made, mapped, structured = medians(ways, rounds, at_least=0.003)
    yield Row("unpack, 1,000 Particles", unpacked, unpacked / by_hand, "five numpy views", 1.5)
    yield Row("batch(T, mapping)", mapped, mapped / made, "T(**columns)", 1.5)
    yield Row("batch(T, structured array)", structured, structured / made, "T(**columns)", 1.5)
