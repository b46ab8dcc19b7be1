"""Members: how a class body declares them, and the `Field` that a class has for each."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NoReturn

from .batches import Batch, ColumnSpec
from .broadcasting import full_column
from .errors import GpuStructError, LayoutError, SourceError
from .layout import Layout, Member


def core_of(type_: Any) -> Any:
    """The type inside all arrays."""
    while type_.__layout__.kind == "array":
        type_ = type_.__element__
    return type_


def column_spec(name: str, type_: Any) -> ColumnSpec:
    """The specification of the column of a member of this type."""
    counts = [count for count, _ in type_.__layout__.axes]
    dims = tuple(count for count in counts if count is not None)
    return ColumnSpec(name, type_, core_of(type_), dims, None in counts)


class _FieldDoc:
    """`__doc__` of Field: for one field, where it is; for the class, its docstring."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, field: Field | None, owner: Any = None) -> str:
        if field is None:
            return self.text
        return f"{field.type.__name__} at offset {field.offset}, size {field.size}, align {field.align}"


class Field:
    """One member of a Struct class, seen from the class: ``Particle.life.offset``.

    `name`; `type`, the gpustruct class; `offset`, `size` and `align` in bytes, attributes included. On a
    batch the same attribute is the member's column: a view of the array that was given, broadcast to the
    batch's shape, or the nested batch.

    >>> from gpustruct import Struct, vec3f, f32
    >>> class Particle(Struct):
    ...     position: vec3f
    ...     life: f32
    >>> Particle.life.offset, Particle.life.type
    (12, f32)
    """

    __slots__ = ("_index", "_member", "_spec", "_struct")

    def __init__(self, struct: str, index: int, spec: ColumnSpec, member: Member) -> None:
        self._struct, self._index, self._spec, self._member = struct, index, spec, member

    @property
    def name(self) -> str:
        """The member's name."""
        return self._member.name

    @property
    def type(self) -> Any:
        """The member's type, a gpustruct class."""
        return self._spec.type

    @property
    def offset(self) -> int:
        """Bytes from the start of the struct (WGSL OffsetOfMember)."""
        return self._member.offset

    @property
    def size(self) -> int:
        """Bytes that the member takes, its @size included (WGSL SizeOfMember)."""
        return self._member.size

    @property
    def align(self) -> int:
        """The member's alignment in bytes, its @align included (WGSL AlignOfMember)."""
        return self._member.align

    def __repr__(self) -> str:
        facts = f"offset={self.offset}, size={self.size}, align={self.align}"
        return f"<Field {self._struct}.{self.name}: {self.type.__name__}, {facts}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Field, (self._struct, self._index, self._spec, self._member)

    def __get__(self, batch: Batch | None, owner: Any = None) -> Any:
        if batch is None:
            return self
        return full_column(self._spec, batch.__columns__[self._index], batch.__shape__)

    def __set__(self, batch: Batch, value: Any) -> NoReturn:
        error = SourceError.of("batch-assign", where=f"{self._struct}.{self.name}", name=self.name)
        raise AttributeError(str(error))


type.__setattr__(Field, "__doc__", _FieldDoc(Field.__doc__ or ""))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attribute:
    """What follows the type in Annotated. Its number is kept as it was given, and checked with the member.

    Equal only to the same attribute with the same kind of number: `typing` keeps one Annotated for all that
    compare equal, so align(16), size(16) and align(16.0) must differ.
    """

    value: int

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class align(Attribute):
    """``@align(n)``: put a member at a multiple of `value` bytes, and its struct too.

    WGSL §12.1 (align). `value` is a power of two and a multiple of the type's own align.

    >>> from typing import Annotated
    >>> from gpustruct import Struct, f32, align
    >>> class Pair(Struct):
    ...     a: f32
    ...     b: Annotated[f32, align(16)]
    >>> Pair.b.offset
    16
    """

    __slots__ = ()
    __module__ = "gpustruct"


class size(Attribute):
    """``@size(n)``: give a member `value` bytes, at least its type's own.

    WGSL §12.10 (size). Not for a runtime-sized array.

    >>> from typing import Annotated
    >>> from gpustruct import Struct, vec3f, f32, size
    >>> class Item(Struct):
    ...     v: Annotated[vec3f, size(16)]
    ...     f: f32
    >>> Item.f.offset
    16
    """

    __slots__ = ()
    __module__ = "gpustruct"


class location(Attribute):
    """``@location(n)``: the shader reads a member of a Vertex class at this location; the members after it count up.

    WGSL §12.5 (location). The first member is at location 0 unless it says otherwise. An array takes a location
    for each element.

    >>> from typing import Annotated
    >>> from gpustruct import vertex
    >>> from gpustruct.vertex import Vertex, float32x3, location, unorm8x4
    >>> class Instance(Vertex):
    ...     offset: Annotated[float32x3, location(5)]
    ...     color: unorm8x4
    >>> [attribute["shader_location"] for attribute in vertex.layout(Instance)["attributes"]]
    [5, 6]
    """

    __slots__ = ()
    __module__ = "gpustruct.vertex"


def attributed(type_: Any, member: Member) -> Any:
    """The annotation that makes `member` again: `type_` with the attributes it was written with."""
    written = (
        (align, member.explicit_align),
        (size, member.explicit_size),
        (location, member.explicit_location),
    )
    for attribute, value in written:
        if value is not None:
            type_ = Annotated[type_, attribute(value)]
    return type_


# A member's type, @align or None, @size or None, @location or None.
DeclaredType = tuple[Any, int | None, int | None, int | None]


class Body(dict[str, Any]):
    """The namespace of a class statement: in it, Python has mangled names that start with two underscores."""


def inherited(name: str, bases: tuple[type, ...]) -> dict[str, DeclaredType]:
    """The members that a struct inherits from its base."""
    base: Any = bases[0]
    layout: Layout | None = getattr(base, "__layout__", None)
    if layout is None:
        return {}
    if layout.tail is not None:
        facts = {"base": base.__name__, "member": layout.tail.name}
        raise LayoutError.of("struct-extends-runtime", where=f"class {name}", **facts)
    return {
        m.name: (base.__members__[m.name].type, m.explicit_align, m.explicit_size, m.explicit_location)
        for m in layout.fields
    }


def as_written(member_name: str, struct: str) -> str:
    """A member's name as it was written: in a class body Python changes ``__name`` to ``_Struct__name``."""
    prefix = f"_{struct.lstrip('_')}"
    return member_name.removeprefix(prefix) if member_name.startswith(f"{prefix}__") else member_name


def refuse_default(struct: str, name: str, namespace: Mapping[str, Any]) -> None:
    """Raise LayoutError where a class body gives a member a value."""
    if name not in namespace:
        return
    value = namespace[name]
    where = f"{struct}.{name}"
    if callable(value) or hasattr(value, "__get__"):
        raise LayoutError.of("member-hidden", name=name, kind=type(value).__name__, where=where)
    raise LayoutError.of("member-default", name=name, value=repr(value), struct=struct, where=where)


def is_class_variable(annotation: Any, scope: Mapping[str, Any], where: str) -> bool:
    """Whether an annotation says ClassVar; then it declares no member."""
    if isinstance(annotation, str):
        if "ClassVar" not in annotation:
            return False
        annotation = evaluate(annotation, scope, where)
    return annotation is ClassVar or typing.get_origin(annotation) is ClassVar


def evaluate(annotation: Any, scope: Mapping[str, Any], where: str) -> Any:
    """The value of an annotation that may be text."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, dict(scope))
    except GpuStructError:
        raise
    except Exception as error:
        missing = error.name if isinstance(error, NameError) else None
        way_out = (
            f"define {missing} at module level, above the class" if missing else "write a type that Python can evaluate"
        )
        facts = {"text": annotation, "reason": error, "way_out": way_out}
        raise LayoutError.of("annotation-name", where=where, **facts) from None
