"""How a layout is displayed: its table, its notes and its differences from another layout."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import LayoutError

if TYPE_CHECKING:
    from ..table.comparing import Comparison


def _report() -> Any:
    """The module that shows layouts. It is in a lower layer, so that it can only be imported when it is used."""
    return importlib.import_module("gpustruct.report.showing")


class ShownLayout:
    """The part of a `Layout` that displays it."""

    __slots__ = ()

    # It does not visit the types inside, because a type may be inside others a million times.
    def __repr__(self) -> str:
        return f"<Layout of {self.summary()}>"

    def __str__(self) -> str:
        return _report().text(self)

    def summary(self) -> str:
        """One line: name, size, align, stride, and the share of padding.

        >>> from gpustruct import vec3f, layout_of
        >>> layout_of(vec3f).summary()
        'vec3f: size 12, align 16, stride 16, no padding'
        """
        return _report().summary(self)

    def notes(self) -> list[str]:
        """Whether this type is legal in uniform, what shader and device need for it, and what naga does differently.

        >>> from gpustruct import vec3h, layout_of
        >>> print("\\n".join(layout_of(vec3h).notes()))
        uniform: legal
        f16: the shader needs `enable f16;`, the device the feature shader-f16
        """
        return list(_report().notes(self))

    def naga_notes(self) -> list[str]:
        """Where naga (wgpu-native, Firefox) places members differently from the specification (gfx-rs/wgpu#4377).

        naga ignores a member's @align in the alignment of its struct, unless the outer member repeats the @align.

        >>> from typing import Annotated
        >>> from gpustruct import Struct, u32, align, layout_of
        >>> class Inner(Struct):
        ...     a: Annotated[u32, align(16)]
        >>> class Outer(Struct):
        ...     n: u32
        ...     inner: Inner
        >>> print(*layout_of(Outer).naga_notes())
        Outer.inner starts at 16, naga aligns it to 4 only; write Annotated[Inner, align(16)]
        """
        return list(_report().naga_notes(self))

    def diff(self, other: object) -> Comparison:
        """The differences from this layout to another, a `Layout` or a type.

        The result prints as a table, also in notebooks, and is false if there are no differences. Its `rows` are
        (mark, name, type, offset, size), with ``before -> after`` for values that differ. Raises LayoutError for
        anything that has no layout.

        >>> from gpustruct import Struct, vec3f, f32, layout_of
        >>> class A(Struct):
        ...     life: f32
        ...     position: vec3f
        >>> class B(Struct):
        ...     position: vec3f
        ...     life: f32
        >>> print(layout_of(A).diff(B))
        A -> B: size 32 -> 16, align 16, padding 16 -> 0 bytes
           name      type   offset   size
        ~  position  vec3f  16 -> 0    12
        ~  life      f32    0 -> 12     4
        """
        layout = getattr(other, "__layout__", other)
        if not isinstance(layout, ShownLayout):
            current = getattr(other, "__name__", None) or repr(other)
            raise LayoutError.of("not-a-type", function="layout_of", current=current)
        return _report().difference(self, layout)

    def _repr_html_(self) -> str:
        return _report().html(self)

    def rows_of_table(self) -> Iterator[tuple[str, str, str, str, str]]:
        """The offset table: rows (offset, size, align, type, name), with a row for each gap.

        Members of nested structs have rows too, and for an array of structs those of its first element. Padding inside
        a type, after the columns of a matrix or the elements of an array, has a row without an offset.

        >>> from gpustruct import mat2x3f, layout_of
        >>> [row[4] for row in layout_of(mat2x3f).rows_of_table()]
        ['(value)', '(padding inside)']
        """
        yield from _report().rows(self)
