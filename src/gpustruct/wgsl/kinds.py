"""The types that a shader can name, host-shareable or not. WGSL §6 (types).

A host-shareable type has its gpustruct class as an attribute; the others have the reason why they have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from ..errors import LayoutError
from ..layout import MAX_DEPTH, SCALARS
from ..types import PLAIN_TYPES, array, atomic
from .naga_additions import SCALARS_64_BIT
from .source import short

# "opaque" is a texture or a sampler (§6.5); "pointer" also covers ray queries; "buffer" is an untyped buffer.
Family = Literal["abstract", "scalar", "vector", "matrix", "atomic", "array", "struct", "opaque", "pointer", "buffer"]

ABSTRACT_INT, ABSTRACT_FLOAT = "abstract int", "abstract float"
NUMERIC = tuple(SCALARS)


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """One type. `name` is its WGSL spelling, `cls` the gpustruct class, `why` the reason if it has none.

    `scalar` is the component of a scalar, vector, matrix or atomic. `count` is None for a runtime-sized array, and if
    it depends on an override without a value. `runtime` and `override` say which.
    """

    name: str
    family: Family
    cls: Any = None
    why: str = ""
    scalar: str = ""
    rows: int = 1
    columns: int = 1
    element: Type | None = None
    count: int | None = None
    members: tuple[tuple[str, Type], ...] = ()
    depth: int = 0
    has_atomic: bool = False
    runtime: bool = False
    override: bool = False
    # The access mode of a storage texture; the address space of a pointer.
    access: str = ""
    # Host-shareable, but only naga has it, so that there is no class.
    foreign: bool = False

    @property
    def is_plain_data(self) -> bool:
        """Whether values of this type can be made (WGSL §6.2.12, constructible)."""
        return self.is_data and not (self.has_atomic or self.runtime or self.override)

    @property
    def is_data(self) -> bool:
        """Whether a struct or an array may hold it: no texture, no sampler, no pointer."""
        return self.family not in ("opaque", "pointer", "buffer")

    @property
    def is_shareable(self) -> bool:
        """Whether it may be in a buffer (WGSL §14.4.1, host-shareable)."""
        return self.cls is not None or self.foreign or self.family == "buffer"


def same(a: Type, b: Type) -> bool:
    """Whether two types are the same type."""
    if a is b:
        return True
    if a.family != b.family or a.family == "struct":
        return False
    if a.element is not None and b.element is not None:
        return a.count == b.count and a.runtime == b.runtime and same(a.element, b.element)
    return a.name == b.name


def _numeric(name: str) -> Type:
    layout = PLAIN_TYPES[name].__layout__
    return Type(
        name, layout.kind, PLAIN_TYPES[name], "", layout.scalar, layout.rows, layout.columns, depth=layout.depth
    )


@cache
def _unshareable(rows: int, columns: int, scalar: str) -> Type:
    """A scalar, vector or matrix without a gpustruct class: of bools, of abstract numbers, of naga's 64-bit numbers."""
    if columns > 1:
        name, family = f"mat{columns}x{rows}<{scalar}>", "matrix"
    else:
        name, family = (scalar, "scalar") if rows == 1 else (f"vec{rows}<{scalar}>", "vector")
    is_naga = scalar in SCALARS_64_BIT
    why = f"{name} is a type of naga, not of WGSL" if is_naga else f"{scalar} has no memory layout"
    if scalar == "bool":
        why = f"{name} is not host-shareable; use u32"
    return Type(name, family, None, why, scalar, rows, columns, foreign=is_naga)  # type: ignore[arg-type]


# Every type without parameters, and the vectors of bool, by the short name where there is one.
PLAIN: dict[str, Type] = {
    **{name: _numeric(name) for name in PLAIN_TYPES},
    **{kind.name: kind for kind in (_unshareable(rows, 1, "bool") for rows in (1, 2, 3, 4))},
    **{
        name: Type(name, "abstract", None, f"{name} has no memory layout", name)
        for name in (ABSTRACT_INT, ABSTRACT_FLOAT)
    },
}
BOOL, I32, U32, F32 = PLAIN["bool"], PLAIN["i32"], PLAIN["u32"], PLAIN["f32"]
INT, FLOAT = PLAIN[ABSTRACT_INT], PLAIN[ABSTRACT_FLOAT]


def vector(rows: int, scalar: str) -> Type:
    """vecN of `scalar`, or the scalar itself if `rows` is 1."""
    if rows == 1 and scalar in PLAIN:
        return PLAIN[scalar]
    return PLAIN[f"vec{rows}{SCALARS[scalar].suffix}"] if scalar in SCALARS else _unshareable(rows, 1, scalar)


def matrix(columns: int, rows: int, scalar: str) -> Type:
    """matCxR of a float type, or of abstract floats."""
    if scalar not in SCALARS:
        return _unshareable(rows, columns, scalar)
    return PLAIN[f"mat{columns}x{rows}{SCALARS[scalar].suffix}"]


def concrete(kind: Type) -> Type:
    """The type of a variable whose initial value has the type `kind` (WGSL §6.1.3, concretization)."""
    scalar = {ABSTRACT_INT: "i32", ABSTRACT_FLOAT: "f32"}.get(kind.scalar)
    if kind.element is not None and kind.count is not None:
        element = concrete(kind.element)
        return kind if element is kind.element else array_of(element, kind.count)
    if scalar is None:
        return kind
    return matrix(kind.columns, kind.rows, scalar) if kind.family == "matrix" else vector(kind.rows, scalar)


def atomic_of(scalar: str) -> Type:
    """atomic<i32> or atomic<u32>, or another atomic of naga."""
    if scalar not in ("i32", "u32"):
        name = f"atomic<{scalar}>"
        return Type(
            name, "atomic", None, f"{name} is a type of naga, not of WGSL", scalar, has_atomic=True, foreign=True
        )
    return Type(f"atomic<{scalar}>", "atomic", atomic[PLAIN_TYPES[scalar]], "", scalar, has_atomic=True)


def _depth(inner: int, where: str) -> int:
    if inner >= MAX_DEPTH:
        raise LayoutError.of("nesting-depth", depth=inner + 1, where=short(where, 60))
    return inner + 1


def array_of(element: Type, count: int | None, *, override: bool = False) -> Type:
    """array<element, count>; runtime-sized if `count` is None and `override` is false.

    Raises LayoutError for an element or a count that an array cannot have.
    """
    runtime = count is None and not override
    shown = f"array<{element.name}>" if runtime else f"array<{element.name}, {count or 'override'}>"
    facts: dict[str, Any] = {"element": element, "count": count, "has_atomic": element.has_atomic}
    facts["depth"] = _depth(element.depth, shown)
    facts["foreign"] = element.foreign
    if override:
        return Type(shown, "array", None, "its count is an override", runtime=False, override=True, **facts)
    if element.cls is None:
        return Type(shown, "array", None, element.why, runtime=runtime, override=element.override, **facts)
    cls = array[element.cls] if count is None else array[element.cls, count]
    return Type(cls.__layout__.name, "array", cls, "", runtime=runtime, **facts)


def struct_of(name: str, members: tuple[tuple[str, Type], ...], cls: Any) -> Type:
    """The struct `name`; `cls` is None if a member is not host-shareable."""
    depth = _depth(max((type_.depth for _, type_ in members), default=0), f"struct {name}")
    why = next((f"{name}.{member}: {type_.why}" for member, type_ in members if type_.cls is None), "")
    return Type(
        name,
        "struct",
        cls,
        why,
        members=members,
        depth=depth,
        has_atomic=any(type_.has_atomic for _, type_ in members),
        runtime=any(type_.runtime for _, type_ in members),
        override=any(type_.override for _, type_ in members),
        foreign=cls is None and all(type_.is_shareable for _, type_ in members),
    )


def handle(name: str, family: Family = "opaque", **facts: Any) -> Type:
    """A texture, a sampler, a pointer or an untyped buffer, for which there is no gpustruct class."""
    return Type(name, family, None, f"{name} has no memory layout", **facts)
