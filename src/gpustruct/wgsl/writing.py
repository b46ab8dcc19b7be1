"""declare: the WGSL text of gpustruct types, in the order that reads well, the same on every backend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Literal

from ..errors import WgslError
from ..layout import Layout, Member, naga
from ..types import layout_of
from . import stage_attributes

PADDING_FORMS = (None, "attributes", "members")
MOST_SCALARS = 64


def declare(*types: Any, padding: Literal["attributes", "members"] | None = None) -> str:
    """The WGSL declarations of `types` and of every struct that they contain, inner ones first.

    ``enable f16;`` stands first where a type needs it. An @align of an inner struct is repeated on
    each member that holds it: WGSL says that this changes nothing, and backends that do not propagate
    it (naga) then agree. `padding="attributes"` writes every gap as @size on the member before it;
    `padding="members"` fills every gap with members named ``pad0``, ``pad1`` …; both keep all offsets.
    A struct that `parse` read keeps the @location, @builtin, @interpolate, @invariant and @blend_src of its members.
    A type that is no struct adds only the structs inside it. A comment stands where naga reads a matrix wrongly
    from uniform, and says what to write (docs/wgsl.md).

    Raises WgslError where two different structs share a name, or where a struct's name hides a
    predeclared type that the text needs. WGSL §6.2.10 (structure types), §4.1.1 (enable).

    >>> from typing import Annotated
    >>> from gpustruct import Struct, vec3f, f32, align, wgsl
    >>> class Light(Struct):
    ...     position: vec3f
    ...     intensity: Annotated[f32, align(16)]
    >>> print(wgsl.declare(Light))
    struct Light {
      position: vec3f,
      @align(16) intensity: f32,
    }
    <BLANKLINE>
    """
    if padding not in PADDING_FORMS:
        raise WgslError.of("declare-padding", padding=repr(padding))
    texts: dict[str, str] = {}
    unmarked: dict[int, int] = {}
    used = {"u32", "vec4u", "f16", "array"} if padding == "members" else set[str]()
    uses_f16 = False
    stages = dict(found for type_ in types for found in _stage_structs(type_))
    for layout in (struct for type_ in types for struct in _structs(layout_of(type_), unmarked)):
        # Inner structs come first, so that theirs are known.
        unmarked[id(layout)] = max(_unmarked(member, unmarked) for member in layout.fields)
        text = _struct_text(layout, padding, unmarked, stages.get(id(layout), {}))
        if texts.setdefault(layout.name, text) != text:
            raise WgslError.of("declare-twice", name=layout.name)
        used.update(word for member in layout.fields for word in _predeclared(member))
        uses_f16 |= any(member.layout.core.scalar == "f16" for member in layout.fields)
    _refuse_hidden(texts, used)
    remarks = _remarks(types)
    declared = [remarks.get(name, "") + text for name, text in texts.items()]
    return "\n".join(["enable f16;\n"] * uses_f16 + declared)


def _remarks(types: tuple[Any, ...]) -> dict[str, str]:
    """The comments to stand before a struct: what not to read out of it in uniform."""
    found: dict[str, dict[str, None]] = {}
    for misread in (each for type_ in types for each in naga.misreads(layout_of(type_))):
        line = f"// {misread.path}: naga 29 reads it wrongly from uniform; {misread.remedy}.\n"
        found.setdefault(misread.outer.name, {})[line] = None
    return {name: "".join(lines) for name, lines in found.items()}


def _structs(layout: Layout, seen: dict[int, int]) -> Iterator[Layout]:
    """Every struct inside `layout` that `seen` does not hold yet, the inner ones first."""
    core = layout.core
    if core.kind == "struct" and id(core) not in seen:
        seen[id(core)] = 0
        for member in core.fields:
            yield from _structs(member.layout, seen)
        yield core


def _stage_structs(type_: Any) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The structs in `type_` whose members are a stage's inputs or outputs, with the attributes that say so."""
    while (element := getattr(type_, "__element__", None)) is not None:
        type_ = element
    cls = type_ if isinstance(type_, type) else type(type_)
    if texts := stage_attributes.of(cls):
        yield id(layout_of(cls).core), texts


def _struct_text(layout: Layout, padding: str | None, unmarked: dict[int, int], stage: Mapping[str, str]) -> str:
    marks = {
        m.name: f"@align({m.align}) " * (m.explicit_align is not None or _unmarked(m, unmarked) < m.align)
        + stage.get(m.name, "")
        for m in layout.fields
    }
    lines = _padded_lines(layout, marks) if padding == "members" else _lines(layout, marks, padding == "attributes")
    return "".join((f"struct {layout.name} {{\n", *(f"  {line},\n" for line in lines), "}\n"))


def _lines(layout: Layout, marks: dict[str, str], explicit: bool) -> Iterator[str]:
    ends = [member.offset for member in layout.fields[1:]] + [layout.size]
    for member, end in zip(layout.fields, ends, strict=True):
        size = member.explicit_size
        if explicit and not member.layout.is_runtime_array and end - member.offset > member.size:
            size = end - member.offset
        written = "" if size is None else f"@size({size}) "
        yield f"{marks.get(member.name, '')}{written}{member.name}: {member.type}"


def _padded_lines(layout: Layout, marks: dict[str, str]) -> Iterator[str]:
    taken = {member.name for member in layout.fields}
    fresh = (name for name in map("pad{}".format, count()) if name not in taken)
    gaps = list(layout.padding)
    for member in layout.fields:
        while gaps and gaps[0].offset < member.offset:
            gap = gaps.pop(0)
            yield from (f"{next(fresh)}: {type_}" for type_ in _filling(gap.offset, gap.size, layout.align))
        yield f"{marks.get(member.name, '')}{member.name}: {member.type}"
    for gap in gaps if layout.tail is None else ():
        yield from (f"{next(fresh)}: {type_}" for type_ in _filling(gap.offset, gap.size, layout.align))


def _filling(offset: int, size: int, align: int) -> Iterator[str]:
    """Types that fill `size` bytes from `offset` on and raise no alignment above `align`."""
    # Scalars and, from a multiple of 16 on, vectors: an array of scalars is illegal in uniform. It stands only
    # where nothing else fits a large gap.
    if align < 4:
        yield from _scalars("f16", size // 2)
        return
    if offset % 4 and size:
        yield "f16"
        offset, size = offset + 2, size - 2
    before = min(-offset % 16, size) if align >= 16 else size
    yield from _scalars("u32", before // 4)
    size -= before
    if size >= 16:
        yield "vec4u" if size < 32 else f"array<vec4u, {size // 16}>"
    yield from _scalars("u32", size % 16 // 4)
    if (before + size) % 4:
        yield "f16"


def _scalars(name: str, count: int) -> Iterator[str]:
    yield from [name] * count if count <= MOST_SCALARS else [f"array<{name}, {count}>"]


def _unmarked(member: Member, known: dict[int, int]) -> int:
    """The alignment of a member's type to a backend that keeps @align from the enclosing struct (naga)."""
    return known.get(id(member.layout.core), member.layout.align)


def _refuse_hidden(texts: dict[str, str], used: set[str]) -> None:
    for name in texts:
        if name in used:
            raise WgslError.of("declare-hides", name=name)


def _predeclared(member: Member) -> Iterator[str]:
    """The predeclared type names that the text of `member` needs."""
    layout = member.layout
    if layout.element is not None:
        yield "array"
    if layout.core.kind == "atomic":
        yield from ("atomic", layout.core.scalar)
    elif layout.core.kind != "struct":
        yield layout.core.name
