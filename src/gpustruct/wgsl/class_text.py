"""stubs: write a shader's structs as the text of Python classes, for editors, type checkers and readers."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterator

from ..errors import WgslError
from ..layout import Layout, Member, structs_in
from ..types import layout_of
from .module import Module

MOST_COLUMNS = 100
_OUTSIDE_CLASSES = ("Struct", "TYPE_CHECKING", "make_struct")


def stubs(module: Module) -> str:
    """The structs of a shader as the text of a Python module with classes, so that editors know their members.

    Inner structs come first. The classes have the shader's @align and @size, and `check` finds them equal to the
    shader's structs. For a type that is not host-shareable, a comment gives the reason. A struct that has a Python
    keyword as a name, such as ``lambda``, is made by a function call, and type checkers see its other members. If
    the name of a struct is a Python keyword, the class gets a ``_`` at the end of its name.

    Raises WgslError if `module` is not a Module. WGSL §6.2.10 (structure types).

    >>> from gpustruct import wgsl
    >>> print(wgsl.stubs(wgsl.parse("struct Light { color: vec3f, @size(8) kind: u32 } alias Lights = array<Light, 4>;")))
    from typing import Annotated
    <BLANKLINE>
    from gpustruct import Struct, size, u32, vec3f
    <BLANKLINE>
    <BLANKLINE>
    class Light(Struct):
        color: vec3f
        kind: Annotated[u32, size(8)]
    <BLANKLINE>
    """
    if not isinstance(module, Module):
        raise WgslError.of("stubs-type", type=type(module).__name__)
    return _Text(module).text()


class _Text:
    def __init__(self, module: Module) -> None:
        self.module = module
        found = (struct for cls in module.structs.values() for struct in structs_in(layout_of(cls)))
        self.layouts = list({id(struct): struct for struct in found}.values())
        self.members = {member.name for layout in self.layouts for member in layout.fields}
        self.taken = {layout.name for layout in self.layouts}
        self.imported: dict[str, dict[str, str]] = {}
        self.names: dict[str, str] = {}

    def text(self) -> str:
        classes = [line for layout in self.layouts for line in self._class(layout)]
        remarks = [f"# {name} has no class: {' '.join(why.split())}" for name, why in self.module.unavailable.items()]
        blank = [""] if remarks and (classes or self.imported) else []
        lines = [*self._imports(), *blank, *remarks, *classes]
        return "".join(f"{line}\n" for line in lines)

    def _imports(self) -> Iterator[str]:
        for source, names in sorted(self.imported.items(), key=lambda item: item[0].startswith("gpustruct")):
            # The order of isort: constants, classes, other names.
            order = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
            shown = [name if names[name] == name else f"{name} as {names[name]}" for name in order]
            line = f"from {source} import {', '.join(shown)}"
            if len(line) <= MOST_COLUMNS:
                yield line
            else:
                yield from (f"from {source} import (", *(f"    {name}," for name in shown), ")")
            if source == "typing":
                yield ""

    def _class(self, layout: Layout) -> Iterator[str]:
        name, writable = self._class_name(layout.name), _is_writable(layout.name)
        body = [f"{member.name}: {self._annotation(member)}" for member in layout.fields if _is_writable(member.name)]
        base = self._import("gpustruct", "Struct")
        yield from ("", "")
        if writable and len(body) == len(layout.fields):
            yield f"class {name}({base}):"
            yield from (f"    {line}" for line in body)
        else:
            yield f"if {self._import('typing', 'TYPE_CHECKING')}:"
            yield f"    class {name}({base}):"
            yield from (f"        {line}" for line in body or ["pass"])
            yield "else:"
            make = self._import("gpustruct.types", "make_struct")
            yield f'    {name} = {make}("{layout.name}", {{'
            yield from (f'        "{m.name}": {self._annotation(m)},' for m in layout.fields)
            yield "    }, __name__)"
        if name in self.members:
            # In a class body with a member of this name, type checkers would take the name for that member.
            self.names[layout.name] = self._fresh(name)
            yield from ("", "", f"{self.names[layout.name]} = {name}")

    def _class_name(self, name: str) -> str:
        if name not in self.names:
            self.names[name] = name if _is_writable(name) else self._fresh(_closest(name))
        return self.names[name]

    def _annotation(self, member: Member) -> str:
        spelled = self._type(member.layout)
        marks = [("align", member.explicit_align), ("size", member.explicit_size)]
        written = [f"{self._import('gpustruct', mark)}({value})" for mark, value in marks if value is not None]
        return f"{self._import('typing', 'Annotated')}[{', '.join([spelled, *written])}]" if written else spelled

    def _type(self, layout: Layout) -> str:
        if layout.element is not None:
            inner = self._type(layout.element)
            counted = inner if layout.count is None else f"{inner}, {layout.count}"
            return f"{self._import('gpustruct', 'array')}[{counted}]"
        if layout.kind == "atomic":
            return f"{self._import('gpustruct', 'atomic')}[{self._import('gpustruct', layout.scalar)}]"
        return self.names[layout.name] if layout.kind == "struct" else self._import("gpustruct", layout.name)

    def _import(self, source: str, name: str) -> str:
        """Import `name` from the module `source`; returns what the text calls it."""
        names = self.imported.setdefault(source, {})
        if name not in names:
            # Only names in class bodies can be mistaken for members.
            is_hidden = name in self.members and name not in _OUTSIDE_CLASSES
            names[name] = self._fresh(f"{name}_" if is_hidden else name)
        return names[name]

    def _fresh(self, name: str) -> str:
        while name in self.taken or (name.endswith("_") and name in self.members):
            name += "_"
        self.taken.add(name)
        return name


def _is_writable(name: str) -> bool:
    """Whether `name` can be written in Python source, where names are normalised, unlike in WGSL."""
    return name.isidentifier() and not keyword.iskeyword(name) and unicodedata.is_normalized("NFKC", name)


def _closest(name: str) -> str:
    near = "".join(c if f"a{c}".isidentifier() else "_" for c in unicodedata.normalize("NFKC", name))
    return f"{near}_" if near.isidentifier() else f"_{near}_"
