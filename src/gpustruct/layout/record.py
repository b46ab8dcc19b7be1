"""The layout of one type: integers, and values that follow from them by arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..errors import BindingError, GpuStructError, LayoutError
from .arithmetic import round_up, whole_number
from .rules import WGSL, Rules
from .shown import ShownLayout

Kind = Literal["scalar", "vector", "matrix", "atomic", "array", "struct"]


class Padding(NamedTuple):
    """A gap between members: `size` bytes at `offset` from the start of the struct."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a struct. `size` and `align` are those that its attributes give it."""

    name: str
    offset: int
    size: int
    align: int
    layout: Layout
    # The attributes as written. They do not count in comparisons: layouts with the same bytes are equal.
    explicit_align: int | None = field(default=None, compare=False)
    explicit_size: int | None = field(default=None, compare=False)
    explicit_location: int | None = field(default=None, compare=False)

    @property
    def type(self) -> str:
        """The member's type as WGSL spells it, or the name of a vertex format."""
        return self.layout.name


@dataclass(frozen=True, slots=True, repr=False)
class Layout(ShownLayout):
    """The layout of one type: plain integers, all of them in bytes.

    `size` and `align` are WGSL's SizeOf and AlignOf. `stride` is the distance from one record to the
    next in ``array<T>``; for an array type, and for a struct that ends in a runtime-sized array, it is
    the distance between that array's elements. A runtime-sized array counts as one element in `size`.
    `fields` are the members of a struct, in order, and `padding` the gaps between and after them. `used` is the number
    of bytes that hold a scalar, at every depth; the rest of `size` is padding. `rules` are the rules for its members.

    >>> from gpustruct import Struct, vec3f, f32, layout_of
    >>> class Light(Struct):
    ...     intensity: f32
    ...     position: vec3f
    >>> layout = layout_of(Light)
    >>> layout.size, layout.align, layout.stride, layout.padding
    (32, 16, 32, (Padding(offset=4, size=12), Padding(offset=28, size=4)))
    """

    kind: Kind
    name: str
    size: int
    align: int
    used: int
    scalar: str = ""
    rows: int = 1
    columns: int = 1
    element: Layout | None = None
    count: int | None = None
    fields: tuple[Member, ...] = ()
    depth: int = 0
    rules: Rules = WGSL

    @property
    def record_stride(self) -> int:
        """Bytes from one whole value of this type to the next: roundUp(align, size)."""
        return round_up(self.align, self.size)

    @property
    def stride(self) -> int:
        """Bytes from one record to the next in ``array<T>``; for an array or a runtime-sized tail, of its elements."""
        if self.kind == "array":
            assert self.element is not None
            return self.element.record_stride
        tail = self.tail
        return self.record_stride if tail is None else tail.layout.stride

    @property
    def tail(self) -> Member | None:
        """The runtime-sized array that ends this struct, if one does."""
        if self.fields and self.fields[-1].layout.is_runtime_array:
            return self.fields[-1]
        return None

    @property
    def is_runtime_array(self) -> bool:
        """Whether this is ``array<E>`` without a count."""
        return self.kind == "array" and self.count is None

    @property
    def is_runtime_sized(self) -> bool:
        """Whether this type's size depends on its buffer (WGSL §6.2.9: no fixed footprint)."""
        return self.is_runtime_array or self.tail is not None

    @property
    def header(self) -> int:
        """Bytes before the first element of the runtime-sized array; 0 for every other type."""
        tail = self.tail
        return 0 if tail is None else tail.offset

    @property
    def shape(self) -> tuple[int, ...]:
        """The inner shape of this type's column, without the length of a runtime-sized array."""
        if self.kind == "vector":
            return (self.rows,)
        if self.kind == "matrix":
            return (self.rows, self.columns)
        if self.kind == "array":
            assert self.element is not None
            return (() if self.count is None else (self.count,)) + self.element.shape
        return ()

    @property
    def core(self) -> Layout:
        """The type inside all arrays."""
        return self if self.element is None else self.element.core

    @property
    def axes(self) -> tuple[tuple[int | None, int], ...]:
        """(count, stride in bytes) of each array, outermost first; a runtime-sized array has the count None."""
        return () if self.element is None else ((self.count, self.stride), *self.element.axes)

    @property
    def python_name(self) -> str:
        """How Python code spells this type: ``array[vec3f, 8]`` for ``array<vec3f, 8>``."""
        return self.name.replace("<", "[").replace(">", "]")

    @property
    def array_depth(self) -> int:
        """How many arrays are around the core."""
        return 0 if self.element is None else 1 + self.element.array_depth

    @property
    def padding(self) -> tuple[Padding, ...]:
        """The gaps between and after this struct's members, in order, without those inside a member's type."""
        ends = [member.offset + min(member.size, member.layout.size) for member in self.fields]
        starts = [*(member.offset for member in self.fields[1:]), self.size]
        return tuple(Padding(end, start - end) for end, start in zip(ends, starts, strict=False) if start > end)

    # Sizes of bindings (WebGPU "minimum buffer binding size", WGSL §14.4.3 and arrayLength).

    @property
    def min_binding_size(self) -> int:
        """The smallest binding that a variable of this type accepts, in bytes.

        A runtime-sized array counts as one element. For f16 types it may not be a multiple of 4, as the size of a
        binding must be: see `binding_size`. WGSL §14.4.3; WebGPU "minimum buffer binding size".

        >>> from gpustruct import array, vec3f, layout_of
        >>> layout_of(vec3f).min_binding_size, layout_of(array[vec3f]).min_binding_size
        (12, 16)
        """
        return self.size

    def _smallest_binding(self) -> int:
        return self.size if self.is_runtime_sized else self.record_stride

    def representable(self, n: int) -> bool:
        """Whether there is a binding size for which ``arrayLength`` is exactly `n`.

        Not every length can be bound: a binding has a minimum size, its size is a multiple of 4, and a length of 0 is
        impossible. For a type without a runtime-sized array, `n` is the number of records in ``array<T>``.
        WGSL §17.4.1 (arrayLength); WebGPU "Binding Resource", validating GPUBufferBinding.

        >>> from gpustruct import array, f16, layout_of
        >>> layout_of(array[f16]).representable(3), layout_of(array[f16]).representable(4)
        (False, True)
        """
        count = whole_number(n, 1)
        return count is not None and self.length(self._binding_bytes(count)) == count

    def _binding_bytes(self, n: int) -> int:
        return round_up(4, max(self.header + self.counted_stride * n, self._smallest_binding()))

    @property
    def counted_stride(self) -> int:
        """Bytes from one to the next of what `binding_size` counts: elements of the runtime-sized array, or records."""
        return self.stride if self.is_runtime_sized else self.record_stride

    def binding_size(self, n: int) -> int:
        """Bytes to bind so that ``arrayLength`` is exactly `n`: header + stride × n.

        If that is below the type's minimum, or not a multiple of 4, it is the next size with the same length. Raises
        BindingError, with the nearest possible length, for a length that no binding has. WGSL §17.4.1; WebGPU
        "minimum buffer binding size".

        >>> from gpustruct import Struct, array, vec3f, f32, layout_of
        >>> class System(Struct):
        ...     gravity: vec3f
        ...     dt: f32
        ...     positions: array[vec3f]
        >>> layout_of(System).binding_size(1000)
        16016
        """
        where = f"{self.name}.binding_size"
        count = whole_number(n, 1)
        if count is None:
            raise BindingError.of("length-value", n=n, where=where)
        if self.representable(count):
            return self._binding_bytes(count)
        # The smallest binding has this length, so that no binding has a smaller one.
        smallest = self.length(round_up(4, self._smallest_binding()))
        parity = "" if self.counted_stride != 2 else "an even number, " if self.header % 4 == 0 else "an odd number, "
        facts = {"lengths": f"{parity}{smallest} or more", "nearest": max(smallest, count + 1)}
        raise BindingError.of("length-representable", type=self.name, n=count, where=where, **facts)

    def length(self, binding_size: int) -> int:
        """The ``arrayLength`` that a shader sees in a binding of `binding_size` bytes.

        It is floor((binding_size - header) / stride). Raises LayoutError if the binding is smaller than the smallest
        that a device accepts. WGSL §17.4.1.

        >>> from gpustruct import array, vec3f, layout_of
        >>> layout_of(array[vec3f]).length(4096)
        256
        """
        minimum = self._smallest_binding()
        size = whole_number(binding_size, minimum)
        if size is None:
            raise LayoutError.of("length-size", minimum=minimum, size=binding_size, where=f"{self.name}.length")
        return (size - self.header) // self.counted_stride

    # Uniform address space (WGSL §14.4.4, "Address Space Layout Constraints").

    def uniform_faults(self, *, standard_layout: bool = False) -> list[GpuStructError]:
        """Every reason why this type is not legal in ``var<uniform>``, outermost first."""
        from . import packed, uniform

        if not packed.is_host_shareable(self):
            return [LayoutError.of("vertex-type", function="var<uniform>", type=self.name)]
        return list(uniform.faults(self, standard_layout=standard_layout))

    def check_uniform(self, *, standard_layout: bool = False) -> None:
        """Raise LayoutError if this type is not legal in ``var<uniform>``, with the way out.

        The layout of a type is the same in every address space, but uniform does not allow all layouts. The message
        has a line for each fault. `standard_layout=True` is for devices that have the language feature
        ``uniform_buffer_standard_layout``: only atomics and runtime-sized arrays are illegal then.
        WGSL §14.4.4 (Address Space Layout Constraints).

        >>> from gpustruct import Struct, array, f32, layout_of, LayoutError
        >>> class Weights(Struct):
        ...     values: array[f32, 64]
        >>> try:
        ...     layout_of(Weights).check_uniform()
        ... except LayoutError as error:
        ...     print(error)
        array stride must be a multiple of 16 in uniform (current: 4) - at Weights.values; use array[vec4f, 16], uniform_safe(Weights), or var<storage>
        """
        faults = self.uniform_faults(standard_layout=standard_layout)
        if faults:
            error = LayoutError("\n".join(str(fault) for fault in faults))
            error.rule = faults[0].rule
            raise error

    # It does not visit the types inside, because a type may be inside others a million times.

    def __hash__(self) -> int:
        return hash((self.kind, self.name, self.size, self.align, self.used))
