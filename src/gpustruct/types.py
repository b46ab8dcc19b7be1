"""The types: f32 … mat4x4h, atomic, array, and Struct, which users subclass.

Each is a class that carries its layout; each instance is a batch of its values (`batches`).
WGSL §6.2 (plain types), §14.4.1 (alignment and size).
"""

from __future__ import annotations

import copyreg
import inspect
import operator
import sys
import threading
import typing
import weakref
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from . import layout as layouts
from . import names
from .annotations import declared_type, instead_of, spell
from .batches import Batch, as_batch
from .classes import RESERVED, PickleRecipe, TypeBase, TypeMeta, importable, own_doc, rebuilt, refuse_options
from .errors import LayoutError, brief
from .layout import WGSL, Layout
from .members import (
    Body,
    Field,
    as_written,
    attributed,
    column_spec,
    evaluate,
    inherited,
    is_class_variable,
    refuse_default,
)


def plain_type(layout: Layout, spelling: str = "", module: str = __package__ or "", **namespace: Any) -> Any:
    """The class of a type that is no struct; `module` is the one that users import it from."""
    name = spelling or layout.python_name
    kept = {"__slots__": (), "__module__": module, "__doc__": own_doc(name, layout), "__layout__": layout}
    cls = TypeMeta(name, (TypeBase,), {**kept, **namespace})
    type.__setattr__(cls, "__members__", {"": column_spec("", cls)})
    type.__setattr__(cls, "__orig_bases__", (PickleRecipe(cls),))
    return cls


f32, i32, u32, f16 = (plain_type(layouts.scalar(name)) for name in ("f32", "i32", "u32", "f16"))
vec2f, vec3f, vec4f = (plain_type(layouts.vector(n, "f32")) for n in (2, 3, 4))
vec2i, vec3i, vec4i = (plain_type(layouts.vector(n, "i32")) for n in (2, 3, 4))
vec2u, vec3u, vec4u = (plain_type(layouts.vector(n, "u32")) for n in (2, 3, 4))
vec2h, vec3h, vec4h = (plain_type(layouts.vector(n, "f16")) for n in (2, 3, 4))
mat2x2f, mat2x3f, mat2x4f = (plain_type(layouts.matrix(2, r, "f32")) for r in (2, 3, 4))
mat3x2f, mat3x3f, mat3x4f = (plain_type(layouts.matrix(3, r, "f32")) for r in (2, 3, 4))
mat4x2f, mat4x3f, mat4x4f = (plain_type(layouts.matrix(4, r, "f32")) for r in (2, 3, 4))
mat2x2h, mat2x3h, mat2x4h = (plain_type(layouts.matrix(2, r, "f16")) for r in (2, 3, 4))
mat3x2h, mat3x3h, mat3x4h = (plain_type(layouts.matrix(3, r, "f16")) for r in (2, 3, 4))
mat4x2h, mat4x3h, mat4x4h = (plain_type(layouts.matrix(4, r, "f16")) for r in (2, 3, 4))

# Every type that has no parameters, by its short WGSL name.
PLAIN_TYPES: dict[str, Any] = {
    name: value for name, value in list(globals().items()) if isinstance(value, TypeMeta) and value is not TypeBase
}


class atomic(TypeBase):
    """``atomic[u32]`` and ``atomic[i32]``: WGSL's atomic<u32> and atomic<i32> (§6.2.8).

    >>> from gpustruct import atomic, u32, layout_of
    >>> layout_of(atomic[u32]).size
    4
    """

    __slots__ = ()

    def __class_getitem__(cls, component: Any) -> Any:
        made = _ATOMICS.get(component) if isinstance(component, type) else None
        if made is None:
            raise LayoutError.of("atomic-type", current=spell(component), where=f"atomic[{spell(component)}]")
        return made


_ATOMICS: dict[Any, Any] = {c: plain_type(layouts.atomic(c.__name__), __component__=c) for c in (u32, i32)}
_ARRAYS: weakref.WeakValueDictionary[tuple[Any, int | None], Any] = weakref.WeakValueDictionary()
# So that two threads never make two classes of one array type.
_arrays_lock = threading.RLock()


class array(TypeBase):
    """``array[T, N]``: N elements at T's stride; ``array[T]``: as many as the buffer holds.

    WGSL §6.2.9. A runtime-sized array is the whole type of a buffer, or the last member of a struct. The element
    must have a fixed footprint. To a type checker the column of an array is Any, so that pyright and mypy accept
    both spellings; annotate it where that helps: ``lights: Light = scene.lights``.
    Raises LayoutError for a count or an element that WGSL refuses.

    >>> from gpustruct import array, vec3f, layout_of
    >>> layout_of(array[vec3f, 8]).size, layout_of(array[vec3f]).stride
    (128, 16)
    """

    __slots__ = ()

    def __class_getitem__(cls, parameters: Any) -> Any:
        given = cast("tuple[Any, ...]", parameters or ((),)) if isinstance(parameters, tuple) else (parameters,)
        element, *rest = given
        where = f"array[{', '.join(spell(p) for p in (element, *rest))}]"
        if typing.get_origin(element) is Annotated:
            inside = ", ".join(spell(p) for p in (element.__origin__, *rest))
            marks = ", ".join(map(repr, element.__metadata__))
            raise LayoutError.of(
                "attribute-place", current=where, where=where, way_out=f"Annotated[array[{inside}], {marks}]"
            )
        if not isinstance(element, TypeMeta) or not hasattr(element, "__layout__"):
            raise LayoutError.of("array-element", current=spell(element), where=where, way_out=instead_of(element))
        if element.__layout__.is_runtime_sized:
            layouts.array(element.__layout__, None, where)  # raises: no count makes it legal
        if len(rest) > 1:
            raise LayoutError.of("array-count", count=rest, where=where, element=spell(element))
        count = _count(rest[0], where, element) if rest else None
        made = _ARRAYS.get((element, count))
        if made is None:
            layout = layouts.array(element.__layout__, count, where)
            spelling = f"array[{element.__name__}{'' if count is None else f', {count}'}]"
            new = plain_type(layout, spelling, __element__=element)
            with _arrays_lock:
                made = _ARRAYS.get((element, count))
                if made is None:
                    _ARRAYS[element, count] = made = new
        return made


def arrays_of(element: Any, counts: Sequence[int | None]) -> Any:
    """Arrays of arrays of `element` with these counts, the outermost first; None is for a runtime-sized one."""
    for count in reversed(counts):
        element = array[element] if count is None else array[element, count]
    return element


def _count(count: Any, where: str, element: Any) -> int:
    literal = typing.get_args(count) if typing.get_origin(count) is Literal else ()
    number = layouts.whole_number(literal[0] if len(literal) == 1 else count, 1, layouts.MAX_COUNT)
    if number is None:
        raise LayoutError.of("array-count", count=brief(count), where=where, element=spell(element))
    return number


class StructMeta(TypeMeta):
    """Turns a class body of annotations into a type, or raises LayoutError at the class line."""

    @classmethod
    def __prepare__(mcs, name: str, bases: tuple[type, ...], /, **options: Any) -> Body:
        return Body()

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        made = rebuilt(namespace)
        if made is not None:
            return made
        if len(bases) != 1:
            spelled = ", ".join(base.__name__ for base in bases)
            first = next((base.__name__ for base in bases if issubclass(base, TypeBase)), "Struct")
            raise LayoutError.of("struct-bases", bases=spelled, where=f"class {name}", first=first)
        if not isinstance(name, str) or not names.is_legal(name):
            raise LayoutError.of("struct-name", name=name, suggestion=names.suggest(str(name)))
        refuse_options(name, options)
        namespace.setdefault("__slots__", ())
        for kept in RESERVED & namespace.keys() if bases != (TypeBase,) else ():
            if kept != "__slots__" or namespace[kept] not in ((), []):
                raise LayoutError.of("struct-attribute", name=kept, where=f"class {name}")
        if not isinstance(namespace.get("__annotations__", {}), Mapping):
            raise LayoutError.of("struct-attribute", name="__annotations__", where=f"class {name}")
        cls = type.__new__(mcs, name, bases, namespace)
        if bases == (TypeBase,):
            return cls
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        _finish(cls, name, bases, namespace, {**frame.f_globals, **_module(cls), **frame.f_locals, name: cls})
        return cls


def _module(cls: type) -> dict[str, Any]:
    return vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}


def _finish(cls: Any, name: str, bases: tuple[type, ...], namespace: dict[str, Any], scope: dict[str, Any]) -> None:
    declared = inherited(name, bases)
    annotations = inspect.get_annotations(cls)
    for member_name in declared:
        refuse_default(name, member_name, namespace)
    for member_name, annotation in annotations.items():
        where = f"{name}.{member_name}"
        if member_name in declared:
            raise LayoutError.of("member-twice", name=member_name, base=bases[0].__name__, where=where)
        if is_class_variable(annotation, scope, where):
            continue
        written = as_written(member_name, name) if isinstance(namespace, Body) else member_name
        if not isinstance(written, str) or not names.is_legal(written):
            facts = {"where": f"{name}.{written}", "suggestion": names.suggest(str(written))}
            raise LayoutError.of("member-name", name=written, **facts)
        refuse_default(name, member_name, namespace)
        declared[member_name] = declared_type(evaluate(annotation, scope, where), where, cls.__rules__)
    rows = [(n, type_.__layout__, align_, size_, place) for n, (type_, align_, size_, place) in declared.items()]
    layout = layouts.struct(name, rows, cls.__rules__)
    _complete(cls, layout, {n: type_ for n, (type_, *_) in declared.items()})


def _complete(cls: Any, layout: Layout, members: Mapping[str, Any]) -> None:
    """Give a new class its layout and its members."""
    specs = {name: column_spec(name, type_) for name, type_ in members.items()}
    type.__setattr__(cls, "__layout__", layout)
    type.__setattr__(cls, "__members__", specs)
    if vars(cls).get("__doc__") is None:
        type.__setattr__(cls, "__doc__", own_doc(layout.name, layout))
    for index, (spec, member) in enumerate(zip(specs.values(), layout.fields, strict=True)):
        type.__setattr__(cls, spec.name, Field(layout.name, index, spec, member))
    type.__setattr__(cls, "__orig_bases__", (PickleRecipe(cls),))


class Struct(TypeBase, metaclass=StructMeta):
    """The base of user-defined structs: annotate members, get a WGSL struct and batches of it.

    The class carries its layout (`layout_of`), each member a `Field`. An instance is a batch: it holds
    one column per member by reference, copies nothing, and converts nothing until it is packed. A
    column's shape is the batch's shape followed by the member's own: ``(n,)`` for a scalar, ``(n, 3)``
    for vec3f, ``(n, 4, 4)`` for mat4x4f ([row, col]), ``(n, 8, 3)`` for ``array[vec3f, 8]``; leading
    dimensions broadcast. Raises LayoutError at the class line for what WGSL refuses, SourceError for
    columns that do not fit. WGSL §6.2.10 (structure types).

    A class body may define methods and class variables too (``ClassVar``); they have no part in the layout.
    A class that can be imported pickles as its name. One made inside a function pickles with its members
    and comes back as another class of the same layout; cloudpickle keeps its methods too.

    >>> import numpy as np
    >>> from gpustruct import Struct, vec3f, f32
    >>> class Particle(Struct):
    ...     position: vec3f
    ...     life: f32
    >>> p = Particle(position=np.zeros((10, 3)), life=1.0)
    >>> len(p), p[2:5].position.shape
    (10, (3, 3))
    """

    __slots__ = ()
    __rules__ = WGSL


def make_struct(
    name: str, members: Mapping[str, Any], module: str = __name__, twin_of: Any = None, base: Any = Struct
) -> Any:
    """A Struct class, or another subclass of `base`, from a mapping of member names to types, Annotated or not.

    If `uniform_safe` makes the struct, `twin_of` is the original, whose values its views accept.

    >>> make_struct("Pair", {"a": f32, "b": vec3f}).b.offset
    16
    """
    namespace = {"__annotations__": dict(members), "__module__": module, "__qualname__": name}
    made = StructMeta(name, (base,), namespace)
    if twin_of is not None:
        type.__setattr__(made, "__twin_of__", twin_of)
    return made


def base_of(cls: Any) -> Any:
    """What a struct's class extends in the end: Struct or Vertex.

    >>> base_of(make_struct("Pair", {"a": f32, "b": vec3f}))
    Struct
    """
    return next(base for base in cls.__mro__ if TypeBase in base.__bases__)


def struct_over(layout: Layout, members: Mapping[str, Any], **namespace: Any) -> Any:
    """A Struct class with the offsets of `layout`, even where WGSL's rules would give others."""
    cls = type.__new__(StructMeta, layout.name, (Struct,), {"__slots__": (), "__module__": __name__, **namespace})
    _complete(cls, layout, members)
    return cls


def layout_of(type_: Any) -> Layout:
    """The layout of a type: sizes, offsets, padding, binding sizes, uniform rules.

    Nothing is computed: the layout was made with the class. Raises LayoutError for anything but a gpustruct
    type or a batch. WGSL §14.4.

    >>> from gpustruct import vec3f, layout_of
    >>> layout_of(vec3f).align, layout_of(vec3f).size, layout_of(vec3f).stride
    (16, 12, 16)
    """
    type_ = as_batch(type_)
    cls = type(type_) if isinstance(type_, Batch) else type_
    layout = getattr(cls, "__layout__", None)
    if not isinstance(layout, Layout):
        raise LayoutError.of("not-a-type", function="layout_of", current=spell(type_))
    return layout


def _reduce_type(cls: Any) -> Any:
    parameters = hasattr(cls, "__component__") or hasattr(cls, "__element__")
    if not parameters and (importable(cls) or not isinstance(cls, StructMeta)):
        return cls.__qualname__
    return _recipe(cls)


def _recipe(cls: Any) -> tuple[Any, tuple[Any, ...]]:
    """A function and arguments that make the type again."""
    if hasattr(cls, "__component__"):
        return operator.getitem, (atomic, cls.__component__)
    if hasattr(cls, "__element__"):
        count = cls.__layout__.count
        return operator.getitem, (array, cls.__element__ if count is None else (cls.__element__, count))
    members = {m.name: attributed(cls.__members__[m.name].type, m) for m in cls.__layout__.fields}
    return make_struct, (cls.__name__, members, cls.__module__, vars(cls).get("__twin_of__"), base_of(cls))


def _reduce_recipe(recipe: PickleRecipe) -> Any:
    made = _recipe(recipe.cls) if recipe.make is None else (recipe.make, recipe.arguments)
    return PickleRecipe, (None, *made)


copyreg.pickle(PickleRecipe, _reduce_recipe)
copyreg.pickle(TypeMeta, _reduce_type)  # type: ignore[arg-type]
copyreg.pickle(StructMeta, _reduce_type)  # type: ignore[arg-type]
