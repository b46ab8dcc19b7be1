"""uniform_safe: a version of a type that is legal in ``var<uniform>`` everywhere, and the WGSL that reads it."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from . import names
from .batches import Batch, as_batch
from .errors import LayoutError, SourceError
from .layout import Layout, Member, round_up, structs_in, wgsl_name
from .members import align, attributed, core_of, size
from .types import Struct, array, arrays_of, layout_of, make_struct, vec4f, vec4i, vec4u
from .wgsl import declare
from .wgsl.backends import matrix_warnings

_VEC4 = {"f32": vec4f, "i32": vec4i, "u32": vec4u}
ARRAYS = ("pad", "vec4")
# A repr shows the first struct of the WGSL, and at most this many lines.
MOST_LINES = 12


@dataclass(frozen=True, slots=True, repr=False)
class UniformSafe:
    """The result of `uniform_safe`: the legal class `type`, and the WGSL text that reads it, `wgsl`.

    Call it with a batch of the original type to get a batch of `type` with the same values. The columns are the same
    arrays; one is copied only if its array does not fill its last vec4. ``new_type, text = uniform_safe(T)`` works too.

    >>> from gpustruct import Struct, array, f32, pack, uniform_safe
    >>> class Weights(Struct):
    ...     values: array[f32, 6]
    >>> safe = uniform_safe(Weights, arrays="vec4")
    >>> weights = Weights(values=[1, 2, 3, 4, 5, 6])
    >>> len(pack(weights)), len(pack(safe(weights)))
    (24, 32)
    >>> safe
    UniformSafe of Weights: 24 -> 32 bytes
      struct Weights {
        values: array<vec4f, 2>,
      }
      ... 4 more lines in .wgsl
    """

    type: Any
    wgsl: str
    original: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.type, self.wgsl))

    @property
    def __view_type__(self) -> Any:
        """What ``view(safe)`` is a view of."""
        return self.type

    def __repr__(self) -> str:
        before, after = (layout_of(cls).size for cls in (self.original, self.type))
        lines = self.wgsl.splitlines()
        first = lines[: lines.index("}") + 1] if "}" in lines[:MOST_LINES] else lines[:MOST_LINES]
        rest = len(lines) - len(first)
        more = [f"... {rest} more line{'s' * (rest > 1)} in .wgsl"] if rest else []
        title = f"UniformSafe of {self.type.__name__}: {before} -> {after} bytes"
        return "\n".join([title, *(f"  {line}" for line in [*first, *more])])

    def __call__(self, batch: Any) -> Any:
        batch = as_batch(batch)
        if isinstance(batch, self.type):
            return batch
        if not isinstance(batch, Batch) or not isinstance(batch, self.original):
            current = f"a batch of {type(batch).__name__}" if isinstance(batch, Batch) else type(batch).__name__
            raise SourceError.of("uniform-safe-batch", type=self.original.__name__, current=current)
        return _converted(batch, self.type)


def uniform_safe(T: Any, arrays: Literal["pad", "vec4"] = "pad", *, variable: str | None = None) -> UniformSafe:
    """A legal twin of `T` for ``var<uniform>``, with the WGSL that declares and reads it.

    The twin has the members of `T` and its name. Members move to multiples of 16 where they must; inner
    structs grow to them. An array whose stride is no multiple of 16 becomes, with `arrays="pad"`, an array of
    one-member structs of 16 bytes (``array<f32, 64>``: 1024 bytes); with `"vec4"` an array of vec4 without
    gaps (256 bytes), for elements of f32, i32, u32 or their vec2; other elements are padded then too.

    The text holds one function for each such array, which reads an element of the variable: for `Weights`
    ``weights_values(i)`` reads ``weights``. `variable` gives the variable another name. A type that is legal
    already is returned unchanged.

    Raises LayoutError for what nothing can make legal: atomics, runtime-sized arrays. Warns with BackendWarning
    of a matrix that naga cannot read there, and says how to read it. WGSL §14.4.4 (address
    space layout constraints).

    >>> from gpustruct import Struct, array, f32, layout_of, uniform_safe
    >>> class Weights(Struct):
    ...     values: array[f32, 64]
    >>> Safe, text = uniform_safe(Weights)
    >>> layout_of(Safe).size, layout_of(uniform_safe(Weights, "vec4").type).size
    (1024, 256)
    >>> print(uniform_safe(Weights, "vec4").wgsl)
    struct Weights {
      values: array<vec4f, 16>,
    }
    <BLANKLINE>
    fn weights_values(i: u32) -> f32 {
      return weights.values[i / 4u][i % 4u];
    }
    <BLANKLINE>
    """
    layout = layout_of(T)
    cls = type(T) if isinstance(T, Batch) else T
    if arrays not in ARRAYS:
        raise LayoutError.of("uniform-safe-arrays", current=repr(arrays))
    layout.check_uniform(standard_layout=True)
    rewriting = _Rewriting(arrays, _struct_names(layout))
    safe = cls
    if layout.uniform_faults():
        if not issubclass(cls, Struct):
            raise LayoutError.of("uniform-safe-type", type=layout.python_name)
        safe = rewriting.struct(cls, inner=False)
    name = _variable(variable, layout)
    readers = _readers(layout, layout_of(safe), name)
    for warning in matrix_warnings(layout_of(safe), f"uniform_safe({layout.name})"):
        warnings.warn(warning, stacklevel=2)
    return UniformSafe(safe, "\n".join([declare(safe), *readers]), cls)


def _struct_names(layout: Layout) -> set[str]:
    return {struct.name for struct in structs_in(layout)}


def _variable(variable: str | None, layout: Layout) -> str:
    if variable is None:
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", re.sub(r"\W", "_", layout.name)).lower().strip("_")
        variable = snake if names.is_legal(snake) and snake not in _struct_names(layout) else f"{snake}_"
    if not names.is_legal(variable) or variable in _struct_names(layout):
        raise LayoutError.of("uniform-safe-variable", current=repr(variable))
    return variable


class _Rewriting:
    """Makes the legal twins of structs, each once."""

    def __init__(self, arrays: str, taken: set[str]) -> None:
        self.arrays = arrays
        self.taken = taken
        self.structs: dict[Any, Any] = {}
        self.wrappers: dict[Any, Any] = {}

    def struct(self, cls: Any, *, inner: bool) -> Any:
        if cls in self.structs:
            return self.structs[cls]
        members: dict[str, Any] = {}
        marks: dict[str, list[int | None]] = {}
        end, highest = 0, 1
        for member in cls.__layout__.fields:
            made = members[member.name] = self.type(cls.__members__[member.name].type)
            marks[member.name] = self.marks(member, made.__layout__, end)
            own_align, own_size = (mark or own for mark, own in zip(marks[member.name], (made.__layout__.align, made.__layout__.size), strict=True))  # fmt: skip
            end, highest = round_up(own_align, end) + own_size, max(highest, own_align)
        # A struct whose size is a multiple of 16 is legal as an element and before any member.
        if inner and round_up(highest, end) % 16:
            last = cls.__layout__.fields[-1].name
            marks[last][1] = (marks[last][1] or members[last].__layout__.size) + round_up(16, end) - end
        annotations = {name: _marked(made, *marks[name]) for name, made in members.items()}
        before = {m.name: attributed(cls.__members__[m.name].type, m) for m in cls.__layout__.fields}
        same = annotations == before
        self.structs[cls] = cls if same else make_struct(cls.__name__, annotations, cls.__module__, cls)
        return self.structs[cls]

    def marks(self, member: Member, made: Layout, end: int) -> list[int | None]:
        """@align and @size for a member whose type is `made` now and which follows `end` bytes."""
        written = member.explicit_size if (member.explicit_size or 0) >= made.size else None
        aligned = member.explicit_align if (member.explicit_align or 0) >= made.align else None
        required = round_up(16, made.align)
        if made.kind in ("struct", "array") and round_up(aligned or made.align, end) % required:
            aligned = max(required, aligned or 0)
        return [aligned, written]

    def type(self, type_: Any) -> Any:
        layout = type_.__layout__
        if layout.kind == "struct":
            return self.struct(type_, inner=True)
        if layout.kind != "array":
            return type_
        core = core_of(type_)
        if core.__layout__.kind == "struct":
            return arrays_of(self.struct(core, inner=True), _counts(layout))
        if not layout.uniform_faults():
            return type_
        if self.arrays == "vec4" and _in_vec4(core.__layout__):
            scalars = math.prod(_counts(layout)) * core.__layout__.rows
            return array[_VEC4[core.__layout__.scalar], -(-scalars // 4)]
        return arrays_of(self.wrapper(core), _counts(layout))

    def wrapper(self, core: Any) -> Any:
        """A struct with one member, `core`, padded to a multiple of 16 bytes."""
        if core not in self.wrappers:
            spelled = core.__layout__.name
            name = f"Padded{spelled[0].upper()}{spelled[1:]}"
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            filled = round_up(16, core.__layout__.size)
            self.wrappers[core] = make_struct(name, {"value": Annotated[core, size(filled)]}, __name__)
        return self.wrappers[core]


def _counts(layout: Layout) -> list[int]:
    return [count or 1 for count, _ in layout.axes]


def _in_vec4(core: Layout) -> bool:
    return core.scalar in _VEC4 and (core.kind == "scalar" or (core.kind == "vector" and core.rows == 2))


def _marked(type_: Any, aligned: int | None, sized: int | None) -> Any:
    if aligned is not None:
        type_ = Annotated[type_, align(aligned)]
    return type_ if sized is None else Annotated[type_, size(sized)]


# The WGSL functions that read rewritten members.


def _readers(before: Layout, after: Layout, variable: str) -> list[str]:
    letters = [letter for letter in "ijklmnopqrstvwxyz" if letter != variable]
    taken = {variable, *_struct_names(after)}
    found: list[str] = []
    for path, place, outer, own, made in _rewritten(before, after, (), variable, 0, letters):
        name = "_".join((variable, *path))
        while name in taken:
            name += "_"
        taken.add(name)
        counts = _counts(own)
        indices = letters[outer : outer + len(counts)]
        parameters = ", ".join(f"{letter}: u32" for letter in letters[: outer + len(counts)])
        if made.core.kind == "struct":
            body = f"return {place}{''.join(f'[{index}]' for index in indices)}.value;"
        else:
            body = _vec4_read(place, indices, counts, own.core)
        found.append(f"fn {name}({parameters}) -> {wgsl_name(own.core)} {{\n  {body}\n}}\n")
    return found


def _rewritten(
    before: Layout, after: Layout, path: tuple[str, ...], place: str, outer: int, letters: list[str]
) -> Iterator[tuple[tuple[str, ...], str, int, Layout, Layout]]:
    """Each rewritten array: its path, the WGSL expression for it, the number of indices in that, and both layouts."""
    made = {member.name: member.layout for member in after.fields}
    for member in before.fields:
        own, new, name = member.layout, made[member.name], f"{place}.{member.name}"
        if own.core.kind == "struct":
            depth = len(_counts(own))
            inner = name + "".join(f"[{letter}]" for letter in letters[outer : outer + depth])
            yield from _rewritten(own.core, new.core, (*path, member.name), inner, outer + depth, letters)
        elif own.kind == "array" and new.name != own.name:
            yield (*path, member.name), name, outer, own, new


def _vec4_read(place: str, indices: list[str], counts: list[int], core: Layout) -> str:
    index = indices[0]
    for letter, count in zip(indices[1:], counts[1:], strict=True):
        index = f"({index} * {count}u + {letter})"
    if core.rows == 2:
        return f"return select({place}[{index} / 2u].xy, {place}[{index} / 2u].zw, {index} % 2u == 1u);"
    return f"return {place}[{index} / 4u][{index} % 4u];"


# Batches of the original, as batches of the twin.


def _converted(batch: Any, cls: Any) -> Any:
    if type(batch) is cls:
        return batch
    columns: Mapping[str, Any] = {
        name: _column(getattr(batch, name), type(batch).__members__[name].type, spec.type)
        for name, spec in cls.__members__.items()
    }
    return cls(**columns)


def _column(column: Any, before: Any, after: Any) -> Any:
    own, made = before.__layout__, after.__layout__
    if before is after:
        return column
    if own.core.kind == "struct":
        return _converted(column, after if made.kind == "struct" else core_of(after))
    if made.core.kind == "struct":
        return core_of(after)(value=column)
    lead = column.shape[: column.ndim - len(own.shape)]
    scalars, room = math.prod(own.shape), 4 * made.count
    flat = column.reshape((*lead, scalars))
    if scalars < room:
        flat = np.concatenate([flat, np.zeros((*lead, room - scalars), flat.dtype)], axis=-1)
    return flat.reshape((*lead, made.count, 4))
