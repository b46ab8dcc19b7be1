"""declare: write the WGSL text of gpustruct types, so that every backend lays them out in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Literal

from ..errors import LayoutError, WgslError
from ..layout import Layout, Member, is_host_shareable, naga, structs_in, unpack_function, wgsl_name, wgsl_scalar
from ..types import layout_of
from . import stage_attributes

PADDING_FORMS = (None, "attributes", "members")
MOST_SCALARS = 64


def declare(*types: Any, padding: Literal["attributes", "members"] | None = None) -> str:
    """The WGSL declarations of `types` and of every struct that they contain, inner ones first.

    A packed format, such as unorm8x4, is a u32, with a comment that names the function to read it with
    (``unpack4x8unorm``). If a type needs it, the text starts with ``enable f16;``. An @align in an inner struct is repeated on each member
    of that struct's type. By the specification this changes nothing, and naga, which does not propagate the @align,
    then agrees. `padding="attributes"` writes every gap as @size on the member before it; `padding="members"` fills
    every gap with members named ``pad0``, ``pad1`` …; both keep all offsets. A struct that `parse` read keeps the
    @location, @builtin, @interpolate, @invariant and @blend_src of its members. For a type that is not a struct, only
    the structs inside it are declared. If naga would read a matrix wrongly from uniform, a comment says so and how
    to avoid it (docs/wgsl.md).

    Raises LayoutError for vertex data that no u32 can hold, WgslError where two different structs share a name, or where a struct's name hides a
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
    for type_ in types:
        if not is_host_shareable(layout_of(type_)):
            raise LayoutError.of("vertex-type", function="declare", type=layout_of(type_).name)
    texts: dict[str, str] = {}
    # For each struct, the alignment that naga gives it without an @align on the member.
    naga_aligns: dict[int, int] = {}
    used = {"u32", "vec4u", "f16", "array"} if padding == "members" else set[str]()
    uses_f16 = False
    stages = dict(found for type_ in types for found in _stage_structs(type_))
    for layout in (struct for type_ in types for struct in structs_in(layout_of(type_))):
        # Inner structs come first, so that their alignments are known.
        naga_aligns[id(layout)] = max(_naga_align(member, naga_aligns) for member in layout.fields)
        text = _struct_text(layout, padding, naga_aligns, stages.get(id(layout), {}))
        if texts.setdefault(layout.name, text) != text:
            raise WgslError.of("declare-twice", name=layout.name)
        used.update(word for member in layout.fields for word in _predeclared(member))
        uses_f16 |= any(wgsl_scalar(member.layout) == "f16" for member in layout.fields)
    if hiding := next((name for name in texts if name in used), ""):
        raise WgslError.of("declare-hides", name=hiding)
    remarks = _remarks(types)
    declared = [remarks.get(name, "") + text for name, text in texts.items()]
    return "\n".join(["enable f16;\n"] * uses_f16 + declared)


def _remarks(types: tuple[Any, ...]) -> dict[str, str]:
    """The comments before structs about matrices that naga reads wrongly from uniform."""
    found: dict[str, dict[str, None]] = {}
    for misread in (each for type_ in types for each in naga.misreads(layout_of(type_))):
        line = f"// {misread.path}: naga 29 reads it wrongly from uniform; {misread.remedy}.\n"
        found.setdefault(misread.outer.name, {})[line] = None
    return {name: "".join(lines) for name, lines in found.items()}


def _stage_structs(type_: Any) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The struct in `type_`, with the attributes of stage inputs and outputs on its members, if it has any."""
    while (element := getattr(type_, "__element__", None)) is not None:
        type_ = element
    cls = type_ if isinstance(type_, type) else type(type_)
    if texts := stage_attributes.of(cls):
        yield id(layout_of(cls).core), texts


def _struct_text(layout: Layout, padding: str | None, naga_aligns: dict[int, int], stage: Mapping[str, str]) -> str:
    attributes = {
        m.name: f"@align({m.align}) " * (m.explicit_align is not None or _naga_align(m, naga_aligns) < m.align)
        + stage.get(m.name, "")
        for m in layout.fields
    }
    if padding == "members":
        lines = _padded_lines(layout, attributes)
    else:
        lines = _lines(layout, attributes, explicit_sizes=padding == "attributes")
    return "".join((f"struct {layout.name} {{\n", *(f"  {line}\n" for line in lines), "}\n"))


def _lines(layout: Layout, attributes: dict[str, str], *, explicit_sizes: bool) -> Iterator[str]:
    ends = [member.offset for member in layout.fields[1:]] + [layout.size]
    for member, end in zip(layout.fields, ends, strict=True):
        size = member.explicit_size
        if explicit_sizes and not member.layout.is_runtime_array and end - member.offset > member.size:
            size = end - member.offset
        written = "" if size is None else f"@size({size}) "
        yield f"{attributes[member.name]}{written}{_declared(member)}"


def _declared(member: Member) -> str:
    function = unpack_function(member.layout)
    remark = f"  // {member.layout.core.name}, read with {function}" if function else ""
    return f"{member.name}: {wgsl_name(member.layout)},{remark}"


def _padded_lines(layout: Layout, attributes: dict[str, str]) -> Iterator[str]:
    taken = {member.name for member in layout.fields}
    fresh = (name for name in map("pad{}".format, count()) if name not in taken)
    gaps = list(layout.padding)
    for member in (*layout.fields, None):
        while gaps and (layout.tail is None if member is None else gaps[0].offset < member.offset):
            gap = gaps.pop(0)
            yield from (f"{next(fresh)}: {type_}," for type_ in _filling(gap.offset, gap.size, layout.align))
        if member is not None:
            yield f"{attributes[member.name]}{_declared(member)}"


def _filling(offset: int, size: int, align: int) -> Iterator[str]:
    """Types that fill `size` bytes from `offset` on and raise no alignment above `align`."""
    # Scalars, and vectors from a multiple of 16 on. An array of scalars would be illegal in uniform; it is used only
    # for a large gap that nothing else can fill.
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


def _naga_align(member: Member, known: dict[int, int]) -> int:
    """The alignment that naga gives a member without @align: naga ignores the @align of members inside its struct."""
    return known.get(id(member.layout.core), member.layout.align)


def _predeclared(member: Member) -> Iterator[str]:
    """The predeclared type names in the declaration of `member`."""
    layout = member.layout
    if layout.element is not None:
        yield "array"
    if layout.core.kind == "atomic":
        yield from ("atomic", layout.core.scalar)
    elif layout.core.kind != "struct":
        yield wgsl_name(layout.core)
