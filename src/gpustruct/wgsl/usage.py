"""The variables and overrides that each entry point uses, directly or through calls. Takes linear time.

WGSL §13.3 (shader interface), §11.3 (restrictions on functions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import WgslError
from . import workgroup_memory
from .bodies import SAMPLING, Body, BodyReader, Call, Handle
from .declarations import Resolver
from .parts import EntryPoint, Variable
from .syntax import Declaration

# Real shaders have a few dozen.
MOST_PAIRS = 10_000
MOST_STEPS = 1_000_000
Pair = tuple[Handle, Handle]


def completed(
    resolver: Resolver,
    variables: Mapping[str, Variable],
    functions: Mapping[str, EntryPoint | None],
    refuse: Callable[[WgslError, str], None],
) -> dict[str, EntryPoint]:
    """The entry points among `functions`, each with what it uses. `refuse` is called with the error of a recursion."""
    uses = _Uses(resolver, variables)
    for name in functions:
        for error in uses.follow(name):
            refuse(error, f"fn {name}")
    return {name: uses.of(entry) for name, entry in functions.items() if entry is not None}


class _Uses:
    """For each declaration, the sets of variables, overrides and sampled textures that it uses, as bits of an int."""

    def __init__(self, resolver: Resolver, variables: Mapping[str, Variable]) -> None:
        self._resolver, self._variables = resolver, variables
        declared = resolver.declared
        self._resources = [name for name in declared if name in variables or name in resolver.overrides.known]
        self._bits = {name: 1 << index for index, name in enumerate(self._resources)}
        self._handles = {name for name, variable in variables.items() if variable.space == "handle"}
        self._masks: dict[str, int] = {}
        # Pairs of a texture and a sampler. Those of module variables have a bit each. Pairs with a parameter of a
        # function are known only where the function is called.
        self._pairs: dict[Pair, int] = {}
        self._sampled: dict[str, int] = {}
        self._parameter_pairs: dict[str, dict[Pair, None]] = {}
        self._steps = 0
        self._workgroup: dict[str, int | None] = {}
        self._names: dict[int, tuple[str, ...]] = {}

    # From declarations to bits, each after those that it depends on.

    def follow(self, root: str) -> Iterator[WgslError]:
        """Collect the uses of `root`; an error for each recursion."""
        declared = self._resolver.declared
        if root in self._masks:
            return
        path = [(root, *self._opened(root))]
        on_path = {root}
        while path:
            name, body, needs = path[-1]
            needed = next((other for other in needs if other not in self._masks), None)
            if needed is None:
                path.pop()
                on_path.discard(name)
                self._close(name, body)
            elif needed in on_path:
                names = [step[0] for step in path]
                yield self._resolver.cycle_error(declared[name], [*names[names.index(needed) :], needed])
            else:
                path.append((needed, *self._opened(needed)))
                on_path.add(needed)

    def _opened(self, name: str) -> tuple[Body, Iterator[str]]:
        declaration = self._resolver.declared[name]
        body = self._body(declaration) if declaration.kind == "fn" else Body()
        for used in self._resolver.needs(declaration):
            body.names[used] = None
        return body, iter(body.names)

    def _body(self, declaration: Declaration) -> Body:
        resolver, handles = self._resolver, dict[str, int]()
        for index, parameter in enumerate(declaration.members):
            try:
                if resolver.type_of(parameter.type).family == "opaque":
                    handles[parameter.name] = index
            except WgslError:
                # The error was reported before, and the function skipped.
                continue
        return BodyReader(declaration, resolver.declared, self._handles, handles).read(resolver.source)

    def _close(self, name: str, body: Body) -> None:
        mask, sampled = self._bits.get(name, 0), 0
        for used in body.names:
            mask |= self._masks.get(used, 0)
            sampled |= self._sampled.get(used, 0)
        pairs: dict[Pair, None] = {}
        for call in body.calls:
            for pair in self._pairs_of(call):
                self._count(name)
                if isinstance(pair[0], str) and isinstance(pair[1], str):
                    sampled |= 1 << self._pairs.setdefault(pair, len(self._pairs))
                else:
                    pairs[pair] = None
        self._masks[name] = mask
        self._sampled[name] = sampled
        if pairs:
            self._parameter_pairs[name] = pairs

    def _pairs_of(self, call: Call) -> Iterator[Pair]:
        """The pairs of a texture and a sampler in a call."""
        handed = call.arguments
        if call.callee in SAMPLING and call.callee not in self._resolver.declared:
            # textureGather has another argument before them.
            found = [handle for handle in handed if handle is not None]
            if len(found) >= 2:
                yield found[0], found[1]
            return
        for pair in self._parameter_pairs.get(call.callee, ()):
            texture, sampler = (
                handle if isinstance(handle, str) else handed[handle] if handle < len(handed) else None
                for handle in pair
            )
            if texture is not None and sampler is not None:
                yield texture, sampler

    def _count(self, name: str) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS or len(self._pairs) > MOST_PAIRS:
            offset = self._resolver.declared[name].offset
            raise self._resolver.source.error("sampled-pairs", offset, most=MOST_PAIRS)

    # From the bits to names.

    def of(self, entry: EntryPoint) -> EntryPoint:
        """`entry` with what it uses."""
        mask = self._masks[entry.name]
        if mask not in self._names:
            self._names[mask] = tuple(self._resources[index] for index in _bits_set(mask))
        used = self._names[mask]
        variables = [name for name in used if name in self._variables]
        bindings = tuple(name for name in variables if self._variables[name].group is not None)
        others = tuple(name for name in variables if self._variables[name].group is None)
        pairs = list(self._pairs)
        sampled: Any = tuple(pairs[index] for index in _bits_set(self._sampled[entry.name]))
        sizes = [self._bytes(name) for name in others if self._variables[name].space == "workgroup"]
        return replace(
            entry,
            bindings=bindings,
            variables=others,
            overrides=tuple(name for name in used if name not in self._variables),
            sampled=sampled,
            workgroup_bytes=None if None in sizes else sum(size or 0 for size in sizes),
        )

    def _bytes(self, name: str) -> int | None:
        if name not in self._workgroup:
            type_ = self._resolver.declared[name].type
            assert type_ is not None
            self._workgroup[name] = workgroup_memory.bytes_of(self._resolver.structs, self._resolver.type_of(type_))
        return self._workgroup[name]


def _bits_set(mask: int) -> list[int]:
    """The indices of the bits that are set, lowest first."""
    raw = np.frombuffer(mask.to_bytes(mask.bit_length() // 8 + 1, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(raw, bitorder="little")).tolist()
