"""The structs of a shader that waste memory, with something smaller for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import names
from ..layout import SCALARS, Layout, Member, record_bytes, structs_in
from ..members import attributed
from ..types import PLAIN_TYPES, layout_of, make_struct
from ..wgsl.tokens import comment_end

if TYPE_CHECKING:
    from ..wgsl import Module

_LINE_COMMENT = re.compile(r"//[^\n]*")
# Declarations of types. A name inside one is not a use of that name.
_TYPES = re.compile(r"\bstruct\s+\w+\s*\{[^{}]*\}|\balias\s[^;{}]{0,1000};")
_NAME = re.compile(r"\w+")
_POINTER = re.compile(r"\bptr\s*<\s*(?:storage|uniform)\s*,([\w\s<,]{1,200})")
# Padding of more scalars is not written as one member for each.
MOST_SCALARS = 16
_SHAREABLE = ("uniform", "storage", "immediate")


class Waste(NamedTuple):
    """A struct, and the sentence that says what is wasted."""

    struct: str
    message: str


def find(module: Module, text: str, most: float) -> Iterator[Waste]:
    """The structs of `module` with more than `most` percent of padding for which there is something smaller."""
    for name in _in_memory(module, text):
        cls = module.structs[name]
        layout = layout_of(cls)
        size, unused = (
            (layout.header, layout.header - _used(layout)) if layout.tail else (layout.size, layout.size - layout.used)
        )
        if unused and 100 * unused > most * size and (remedy := _remedy(cls)):
            share = f"{unused} of {size} bytes of padding ({100 * unused / size:.0f} %)"
            yield Waste(name, f"{name} has {share}, {remedy}")


def _used(layout: Layout) -> int:
    return sum(member.layout.used for member in layout.fields[:-1])


def _in_memory(module: Module, text: str) -> list[str]:
    """The structs that are stored in buffers, in the order of the text.

    Structs that are only stage inputs and outputs, or values in functions, have no memory layout. A text without
    bindings is included by others; in it, the structs that nothing else uses count as stored in buffers.
    """
    text = _without_comments(text)
    variables = [*module.bindings.values(), *module.variables.values()]
    types = [v.type for v in variables if v.space in _SHAREABLE and v.type is not None]
    named = {**module.structs, **module.aliases}
    types += [named[name] for found in _POINTER.finditer(text) for name in _NAME.findall(found[1]) if name in named]
    if module.bindings or types:
        bound = {struct.name for type_ in types for struct in structs_in(layout_of(type_))}
        return [name for name in module.structs if name in bound]
    from ..wgsl import stage_attributes

    used = _used_names(text)
    used.update(name for name, cls in module.structs.items() if stage_attributes.of(cls))
    for name, type_ in module.aliases.items():
        if name in used:
            used.add(layout_of(type_).core.name)
    inner = {
        name: {struct.name for struct in structs_in(layout_of(cls))} - {name} for name, cls in module.structs.items()
    }
    contained = {name for names in inner.values() for name in names}
    roots = [name for name in module.structs if name not in used and name not in contained]
    kept = {name for root in roots for name in (root, *inner[root])}
    return [name for name in module.structs if name in kept]


def _used_names(text: str) -> set[str]:
    """Every name in the text except those in declarations of types."""
    return set(_NAME.findall(_TYPES.sub(" ", text)))


def _without_comments(text: str) -> str:
    parts: list[str] = []
    offset = 0
    while (start := text.find("/", offset)) >= 0:
        if line := _LINE_COMMENT.match(text, start):
            end = line.end()
        elif text.startswith("/*", start):
            end = comment_end(text, start)
            if end < 0:
                return "".join((*parts, text[offset:start]))
        else:
            parts.append(text[offset : start + 1])
            offset = start + 1
            continue
        parts += (text[offset:start], " ")
        offset = end
    return "".join((*parts, text[offset:]))


def _remedy(cls: Any) -> str:
    from ..report import suggest

    layout = layout_of(cls)
    padding = [member for member in layout.fields if names.is_padding(member.name) and _scalars(member)]
    gain = record_bytes(layout) - record_bytes(layout_of(_with_scalars(cls, padding))) if padding else 0
    if gain > 0:
        written = " and ".join(f"{member.name}: {member.type}" for member in padding)
        scalars = ", ".join(f"{_scalars(member)} x {member.layout.core.scalar}" for member in padding)
        return f"{gain} of them caused by {written}, padding that is itself aligned; write it as scalars: {scalars}"
    found = suggest(cls)
    return f"{found.saved()} bytes less in the order {', '.join(found.order)}" if found else ""


def _scalars(member: Member) -> int:
    """How many scalars `member` can be replaced with; 0 if that is impossible or does not lower its alignment."""
    layout = member.layout
    if layout.core.kind in ("struct", "atomic") or layout.is_runtime_array:
        return 0
    size = SCALARS[layout.core.scalar].size
    number = layout.used // size
    return number if layout.align > size and number <= MOST_SCALARS else 0


def _with_scalars(cls: Any, padding: list[Member]) -> Any:
    """`cls` with scalars in place of the members in `padding`."""
    replaced = {member.name: _scalars(member) for member in padding}
    fresh = (name for k in count(0) if (name := f"pad{k}") not in cls.__members__)
    members: dict[str, Any] = {}
    for member in layout_of(cls).fields:
        if member.name in replaced:
            scalar = PLAIN_TYPES[member.layout.core.scalar]
            members.update((next(fresh), scalar) for _ in range(replaced[member.name]))
        else:
            members[member.name] = attributed(cls.__members__[member.name].type, member)
    return make_struct(cls.__name__, members, cls.__module__)
