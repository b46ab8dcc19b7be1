"""Every exception and warning of gpustruct. The modules of this package hold the text of their messages.

A message has four parts, in this order: the rule, the current value, where it happened, the way out.
Each rule has one template; the code that detects the error passes the name of the rule and the facts.
Names of rules are stable, so that callers can test `error.rule`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from . import backends, bindings, commands, layouts, shaders, sources


def likely(name: str, known: Iterable[str]) -> str:
    """The name in `known` that is most like a misspelt one; "" if none is like it.

    >>> likely("tiem", ["time", "view"]), likely("mass", ["time", "view"])
    ('time', '')
    """
    import difflib  # most programs raise no error, and loading it takes time

    found = difflib.get_close_matches(name, list(known), 1)
    return found[0] if found else ""


def closest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """What to advise where `name` is not in `known`: the most similar name, else all of them, else `otherwise`.

    >>> closest("tiem", ["time", "view"]), closest("mass", ["time", "view"])
    ("did you mean 'time'?", 'use one of time, view')
    """
    names = list(known)
    meant = likely(name, names)
    if meant:
        return f"did you mean {meant!r}?"
    return f"use one of {', '.join(names)}" if names else otherwise


def brief(value: object, most: int = 80) -> str:
    """The repr of a value on one line of at most `most` characters; its class where its repr fails.

    >>> brief([1, 2]), brief(list(range(100)), 20)
    ('[1, 2]', '[0, 1, 2, 3, 4, 5...')
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # It runs code of the value's own class.
        return f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


class _FromTemplate(Exception):
    """An error or warning whose message is the template of a rule, filled with the facts of the case."""

    templates: dict[str, str] = {}
    rule: str = ""

    @classmethod
    def of(cls, rule: str, **facts: Any) -> Self:
        """Make the error or warning of `rule`, its template filled with `facts`."""
        made = cls(cls.templates[rule].format(**facts))
        made.rule = rule
        return made


class GpuStructError(_FromTemplate):
    """The base of every error that gpustruct raises on purpose.

    `rule` is the stable name of the rule that was broken, such as ``"array-stride-uniform"``.

    >>> from gpustruct import GpuStructError, LayoutError
    >>> issubclass(LayoutError, GpuStructError)
    True
    """

    def explain(self) -> str:
        """The page on the rule: its message in general, a small case, and code that works.

        ``gpustruct explain NAME`` prints the same in a terminal, where NAME is `rule` or the whole message.

        >>> from gpustruct import Struct, f32, array, LayoutError
        >>> try:
        ...     class Weights(Struct):
        ...         values: array[f32, 0]
        ... except LayoutError as error:
        ...     print(error.explain().splitlines()[0])
        # array-count
        """
        from . import pages

        return pages.page(self.rule, type(self))


class LayoutError(GpuStructError):
    """A type has no legal WGSL layout, or is not legal in the address space asked for.

    >>> from gpustruct import Struct, f32, array, LayoutError
    >>> try:
    ...     class Weights(Struct):
    ...         values: array[f32, 0]
    ... except LayoutError as error:
    ...     print(error.rule)
    array-count
    """

    templates = layouts.TEMPLATES


class SourceError(GpuStructError):
    """The data does not fit the type, or converting it would change its values.

    >>> import numpy as np
    >>> from gpustruct import Struct, u32, pack, SourceError
    >>> class Item(Struct):
    ...     id: u32
    >>> try:
    ...     pack(Item(id=np.array([1, -2])))
    ... except SourceError as error:
    ...     print(error)
    u32 holds whole numbers from 0 to 4294967295 (current: -2) - at Item.id[1]; clip or mask the column first: np.clip(id, 0, 4294967295)
    """

    templates = sources.TEMPLATES


class WgslError(GpuStructError):
    """WGSL text breaks a rule of the language, or cannot be read.

    `line` and `column` count from 1; they are 0 if the error is not about a place in the text.

    >>> from gpustruct import wgsl, WgslError
    >>> try:
    ...     wgsl.parse("struct A { x: f32, x: f32 }")
    ... except WgslError as error:
    ...     print(error.line, error.column)
    1 20
    """

    line: int = 0
    column: int = 0
    templates = shaders.TEMPLATES


class BackendWarning(_FromTemplate, UserWarning):
    """naga or Tint reads this text differently from the specification; gpustruct follows the specification.

    To ignore all of them: ``warnings.simplefilter("ignore", BackendWarning)``. `rule` names the difference.

    >>> import warnings
    >>> from gpustruct import wgsl, BackendWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     module = wgsl.parse("struct A { @align(16) x: f32 } struct B { n: u32, a: A }")
    >>> caught[0].message.rule
    'naga-align'
    """

    templates = backends.TEMPLATES


class BindingError(GpuStructError):
    """A buffer, a binding or a device cannot do what was asked.

    >>> from gpustruct import Struct, array, f32, vec4f, layout_of, BindingError
    >>> class Table(Struct):
    ...     head: vec4f
    ...     values: array[f32]
    >>> try:
    ...     layout_of(Table).binding_size(3)
    ... except BindingError as error:
    ...     print(error.rule)
    length-representable
    """

    templates = bindings.TEMPLATES


class CommandError(GpuStructError):
    """A command cannot do what was asked: a file does not exist, or no input declares the struct.

    >>> from gpustruct.errors import CommandError
    >>> print(CommandError.of("folder-empty", name="shaders"))
    a folder must contain .wgsl or .wesl files, or subfolders with them (current: none) - at shaders; name the files
    """

    templates = commands.TEMPLATES
