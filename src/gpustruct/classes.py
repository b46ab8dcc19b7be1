"""The metaclass of all types, which makes them immutable, and how cloudpickle makes a type again."""

from __future__ import annotations

import inspect
import keyword
import sys
import weakref
from collections.abc import Mapping
from typing import Any

from .batches import INSTANCE_ATTRIBUTES, Batch, ColumnSpec
from .errors import LayoutError
from .layout import Layout
from .members import Field


class PickleRecipe:
    """How to make a type again where its module cannot be imported: `make(*arguments)`.

    cloudpickle, which dask and others pickle notebooks' classes with, makes an empty class of the same bases
    and then sets its attributes; a type is made whole instead. cloudpickle takes the bases from
    ``__orig_bases__``: a type has a recipe there, which the metaclass follows.
    """

    def __init__(self, cls: Any, make: Any = None, arguments: tuple[Any, ...] = ()) -> None:
        self.cls, self.make, self.arguments = cls, make, arguments

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (TypeBase,)


def importable(cls: type) -> bool:
    """Whether a class is found where it says it is."""
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is cls


def rebuilt(namespace: dict[str, Any]) -> Any:
    """The type that a recipe among the original bases makes; None where there is none."""
    bases = namespace.get("__orig_bases__")
    recipe = bases[0] if isinstance(bases, tuple) and bases else None
    if not isinstance(recipe, PickleRecipe) or recipe.make is None:
        return None
    made = recipe.make(*recipe.arguments)
    if isinstance(made, TypeMeta) and "" not in getattr(made, "__members__", ("",)):
        _remade_types.add(made)
    return made


# Types that a recipe made in this process, which did not have them before.
_remade_types: weakref.WeakSet[Any] = weakref.WeakSet()
# Attributes that no class body may define and no assignment may change: those of types, and those of instances.
RESERVED = frozenset(
    (
        *("__layout__", "__members__", "__element__", "__component__", "__orig_bases__", "__rules__", "__slots__"),
        *INSTANCE_ATTRIBUTES,
    )
)


def _alike(value: Any, held: Any) -> bool:
    """Whether `value` is equal to what a finished type has already."""
    if isinstance(value, Field) and isinstance(held, Field):
        return value.__reduce__() == held.__reduce__()
    if isinstance(value, tuple) and isinstance(held, tuple) and held and isinstance(held[0], PickleRecipe):
        return [type(base) for base in value] == [PickleRecipe]
    for inner in ("fget", "__func__", "__code__"):
        if hasattr(held, inner):
            return hasattr(value, inner) and _alike(getattr(value, inner), getattr(held, inner))
    try:
        return type(value) is type(held) and bool(value == held)
    except Exception:  # Arrays, for example, have no single truth value.
        return False


def own_doc(name: str, layout: Layout) -> str:
    """A docstring for a type without one, so that `help` does not show that of its base."""
    facts = f"size {layout.size}, align {layout.align}, stride {layout.stride}"
    return f"{name}: {facts}. print(layout_of({name})) shows its offsets."


class TypeMeta(type):
    """The metaclass of all types: they print as their name and cannot be changed."""

    __layout__: Layout
    __members__: dict[str, ColumnSpec]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        made = rebuilt(namespace)
        if made is not None:
            return made
        for base in bases:
            if Batch not in (base, *base.__bases__):
                parameters = {"array": "array[f32, 8]", "atomic": "atomic[u32]"}
                member = parameters.get(base.__name__, base.__name__)
                raise LayoutError.of("plain-bases", base=base.__name__, name=name, type=member)
        refuse_options(name, options)
        return super().__new__(mcs, name, bases, namespace)

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> None:
        super().__init__(name, bases, namespace)

    def __repr__(cls) -> str:
        return cls.__name__

    @property
    def __signature__(cls) -> inspect.Signature:
        """The constructor's parameters as editors and `help` show them: the members, by name."""
        specs = cls.__dict__.get("__members__")
        if specs is None:
            both = (("values", inspect.Parameter.VAR_POSITIONAL), ("columns", inspect.Parameter.VAR_KEYWORD))
            return inspect.Signature([inspect.Parameter(name, kind) for name, kind in both])
        if "" in specs:
            return inspect.Signature([inspect.Parameter("column", inspect.Parameter.POSITIONAL_ONLY)])
        # WGSL allows names that are keywords in Python; those are passed as **{"lambda": column}.
        named = [name for name in specs if name.isidentifier() and not keyword.iskeyword(name)]
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter(name, kind, annotation=specs[name].type) for name in named]
        if len(named) < len(specs):
            parameters.append(inspect.Parameter("columns", inspect.Parameter.VAR_KEYWORD))
        return inspect.Signature(parameters)

    def __dir__(cls) -> list[str]:
        """The members and whatever else class bodies define, without what every type has."""
        found: set[str] = set()
        for base in cls.__mro__:
            if isinstance(base, TypeMeta):
                found.update(name for name in vars(base) if not (name.startswith("__") and name.endswith("__")))
        return sorted(found)

    def __setattr__(cls, name: str, value: Any) -> None:
        held = cls.__dict__.get(name)
        # cloudpickle sets all attributes of a class again: a class that a recipe made lacks methods and class variables.
        if name in cls.__dict__ and _alike(value, held):
            return
        new = name not in cls.__dict__ and cls in _remade_types
        free = new or (name.startswith("__") and name.endswith("__")) or name.startswith("_abc_")
        if name in RESERVED or not free:
            raise AttributeError(f"{cls.__name__} is a finished type; define a new class for other members")
        super().__setattr__(name, value)

    def __delattr__(cls, name: str) -> None:
        raise AttributeError(f"{cls.__name__} is a finished type; define a new class for other members")


def refuse_options(name: str, options: Mapping[str, Any]) -> None:
    """Raise LayoutError for keyword arguments on a class line."""
    if options:
        shown = ", ".join(f"{option}={value!r}" for option, value in options.items())
        raise LayoutError.of("struct-option", options=shown, name=name)


class TypeBase(Batch, metaclass=TypeMeta):
    """The base of every type that is no struct; its instances hold one column.

    >>> import numpy as np
    >>> from gpustruct import vec3f, pack
    >>> pack(vec3f(np.ones((2, 3)))).nbytes
    32
    """

    __slots__ = ()
