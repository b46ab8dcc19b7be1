"""Every exception of gpustruct, and every word they say.

A message has four parts, in this order: the rule, the current value, where it happened, the way
out. The template of each rule stands once, here; the code that finds the fault names the rule and
the facts. A rule's name is stable, so it can be filtered on (`error.rule`).
"""

from __future__ import annotations

from typing import Any


class GpuStructError(Exception):
    """The base of every error that gpustruct raises on purpose.

    `rule` is the stable name of the rule that was broken, such as ``"array-stride-uniform"``.

    >>> from gpustruct import GpuStructError, LayoutError
    >>> issubclass(LayoutError, GpuStructError)
    True
    """

    templates: dict[str, str] = {}
    rule: str = ""

    @classmethod
    def of(cls, rule: str, **facts: Any) -> GpuStructError:
        """Make the error of `rule`, its template filled with `facts`."""
        error = cls(cls.templates[rule].format(**facts))
        error.rule = rule
        return error


class LayoutError(GpuStructError):
    """A type has no legal WGSL layout, or not in the address space asked for.

    >>> from gpustruct import Struct, f32, array, LayoutError
    >>> try:
    ...     class Weights(Struct):
    ...         values: array[f32, 0]
    ... except LayoutError as error:
    ...     print(error.rule)
    array-count
    """

    templates = {
        "member-type": "a member must have a host-shareable type (current: {current}) - at {where}; {way_out}",
        "member-name": "a member name must be a WGSL identifier that is not reserved (current: {name!r}) - at {where}; rename it, for example to {suggestion!r}",
        "struct-name": "a struct name must be a WGSL identifier that is not reserved (current: {name!r}) - at class {name}; rename the class",
        "member-default": "a member has no default (current: {name} = {value}) - at {where}; give the column when you make the batch: {struct}({name}=...)",
        "member-twice": "a member name may appear once in a struct (current: {name!r} stands in {base} already) - at {where}; rename one of them",
        "struct-empty": "a struct must have at least one member (current: none) - at {where}; write `name: type` lines in the class body",
        "struct-bases": "a struct may extend one struct at most (current: {bases}) - at {where}; put the members into one class",
        "struct-extends-runtime": "a struct that ends in a runtime-sized array cannot be extended (current: {base} ends in {member}) - at {where}; extend a struct without the array, and add the array last",
        "member-count": "a struct may have at most 1023 members (current: {count}) - at {where}; group members into nested structs or arrays",
        "nesting-depth": "composite types may nest at most 15 deep (current: {depth}) - at {where}; flatten the inner types",
        "annotation-name": "an annotation must name a type that can be seen from the class line (current: {text!r}: {reason}) - at {where}; define it at module level above the class, or leave out `from __future__ import annotations`",
        "array-element": "an array element must have a fixed footprint (current: {current}) - at {where}; {way_out}",
        "array-count": "an array count must be a whole number from 1 to 2147483647 (current: {count}) - at {where}; use a positive count, or array[{element}] for a runtime-sized tail",
        "array-bytes": "a type may take at most 2147483647 bytes (current: {size}) - at {where}; use a smaller count, or a runtime-sized array",
        "atomic-type": "an atomic must hold i32 or u32 (current: {current}) - at {where}; use atomic[u32] or atomic[i32]",
        "runtime-not-last": "a runtime-sized array must be the last member of its struct (current: member {index} of {count}) - at {where}; move it to the end, or give it a count: array[{element}, N]",
        "runtime-nested": "a struct with a runtime-sized array cannot be a member of another type (current: {current}) - at {where}; bind it as a storage variable of its own, or give the array a count",
        "align-value": "@align must be a power of two from 1 to 1073741824 (current: {value}) - at {where}; use a power of two such as {suggestion}",
        "align-multiple": "@align must be a multiple of the type's own alignment, {own} for {type} (current: {value}) - at {where}; use {own} or a larger power of two",
        "size-value": "@size must be a positive whole number below 2147483648 (current: {value}) - at {where}; use a whole number of bytes",
        "size-small": "@size must be at least the type's own size, {own} bytes for {type} (current: {value}) - at {where}; use {own} or more",
        "size-runtime": "@size may not stand on a runtime-sized array (current: {value}) - at {where}; leave it out: the buffer's size decides the length",
        "attribute-twice": "an attribute may stand once on a member (current: @{attribute} twice) - at {where}; keep one of them",
        "attribute-unknown": "Annotated may carry align(n) and size(n) here (current: {current}) - at {where}; use Annotated[{type}, align(16)] or Annotated[{type}, size(32)]",
        "attribute-place": "@align and @size belong to struct members (current: inside {current}) - at {where}; annotate the member itself",
        "array-stride-uniform": "array stride must be a multiple of 16 in uniform (current: {stride}) - at {where}; use {vec4}, uniform_safe({root}), or var<storage>",
        "offset-uniform": "{kind} must start at a multiple of {required} in uniform (current: offset {offset}) - at {where}; use Annotated[{type}, align({required})], uniform_safe({root}), or var<storage>",
        "gap-uniform": "a member after a struct must start at least roundUp(16, size of the struct) = {required} bytes after it in uniform (current: {current}) - at {where}; use Annotated[{type}, size({required})] on {previous}, uniform_safe({root}), or var<storage>",
        "atomic-uniform": "an atomic cannot be in uniform (current: {type}) - at {where}; use the plain type, or var<storage, read_write>",
        "runtime-uniform": "a runtime-sized array cannot be in uniform (current: {type}) - at {where}; give it a count: array[{element}, N], or use var<storage>",
        "not-a-type": "layout_of takes a gpustruct type (current: {current}) - at layout_of(...); pass a class such as vec3f, array[f32, 4] or a subclass of Struct",
        "suggest-struct": "suggest takes a struct, whose members have an order (current: {current}) - at suggest(...); pass a subclass of Struct",
        "length-size": "a binding size must be a whole number of at least {minimum} bytes (current: {size!r}) - at {where}; bind {minimum} bytes or more",
    }


class SourceError(GpuStructError):
    """The data handed over does not fit the type, or would change when converted.

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

    templates = {
        "columns-missing": "every member needs a column (missing: {missing}) - at {where}; expected {expected}; came {came}",
        "columns-unknown": "a column must be named like a member (unknown: {unknown}) - at {where}; expected {expected}; came {came}",
        "column-shape": "a column's shape must end in the member's own shape, {inner} for {type} (current: {shape}) - at {where}; {way_out}",
        "matrix-flat": "a {type} column's shape must end in ({rows}, {cols}), [row, col] (current: {shape}) - at {where}; reshape it: a.reshape(-1, {rows}, {cols}) if it is stored row after row, a.reshape(-1, {cols}, {rows}).swapaxes(-1, -2) if column after column (OpenGL, WGSL)",
        "column-broadcast": "columns must have, or broadcast to, one batch shape (current: {shapes}) - at {where}; give each column the same leading dimensions",
        "column-dtype": "{type} cannot be made from {dtype} without changing values - at {where}; {way_out}",
        "column-masked": "a column may not have missing values (current: {kind}) - at {where}; fill them first: {way_out}",
        "column-source": "a column must be an array or something numpy.asarray takes (current: {current}) - at {where}; {way_out}",
        "column-nested": "a {type} member takes a batch of {type} or a mapping of its columns (current: {current}) - at {where}; use {type}(...)",
        "range-integer": "{type} holds whole numbers from {low} to {high} (current: {value}) - at {where}; clip or mask the column first: np.clip({name}, {low}, {high})",
        "range-float": "a finite value must stay finite in {type} (current: {value}, the largest {type} is {high}) - at {where}; scale or clip the column first: np.clip({name}, -{high}, {high})",
        "tail-batch": "a struct that ends in a runtime-sized array is one record (current: batch shape {shape}) - at {where}; give the header's columns without leading dimensions",
        "tail-shape": "the tail of {type} is one run of records (current: batch shape {shape}) - at {where}; flatten it: one leading dimension",
        "batch-abstract": "a batch is an instance of a type with a layout (current: {name}) - at {name}(...); use a subclass of Struct, atomic[u32] or array[f32, 8]",
        "batch-type": "{function} takes a batch, an instance of a gpustruct type (current: {current}) - at {function}(...); make one: Particle(position=..., life=...), or vec3f(array)",
        "batch-assign": "a batch's columns stay as they were given (current: assignment to {where}) - at {where}; make a new batch, or write into the array: {name}[...] = value",
        "batch-index": "a batch is indexed over its {ndim} batch dimensions (current: {index}) - at {where}; {way_out}",
        "batch-scalar": "a single record has no length (current: batch shape ()) - at {where}; give columns a leading dimension to make a batch",
        "out-small": "out must have room for the records, {needed} bytes from offset {offset} (current: {available}) - at {function}(..., out=...); allocate {total} bytes or more",
        "out-buffer": "out must be a writable, C-contiguous buffer (current: {current}) - at {function}(..., out=...); use np.empty({needed}, np.uint8)",
        "out-columns": "out must be a batch of {type} whose columns are writable arrays (current: {current}) - at unpack(..., out=...); {way_out}",
        "out-dtype": "{type} cannot be unpacked into {dtype} without changing values - at {where}; use a column of {suggestion}",
        "offset-value": "offset must be a whole number of bytes, 0 or more (current: {offset}) - at {function}(..., offset=...); pass the byte at which the first record starts",
        "stride-value": "stride must be a multiple of {align} and at least {size} bytes for {type} (current: {stride}) - at {function}(..., stride=...); use {suggestion}",
        "stride-tail": "the stride of a struct that ends in a runtime-sized array is its element's (current: {stride}) - at {function}(..., stride=...); leave stride out",
        "threads-value": "threads must be a whole number from 1 to 1024, or None to choose by size (current: {threads}) - at {function}(..., threads=...); leave it out",
        "count-value": "count must be a whole number of records, from 0 to {available} here (current: {count}) - at unpack({type}, ...); pass fewer records or more bytes",
        "data-buffer": "data must be a C-contiguous buffer of bytes (current: {current}) - at unpack({type}, ...); use np.ascontiguousarray(data)",
        "data-size": "data must hold a whole number of records of {stride} bytes (current: {size} bytes from offset {offset}, {extra} too many) - at unpack({type}, ...); pass count= to read only the first records",
        "data-small": "data must hold at least {needed} bytes (current: {size} from offset {offset}) - at unpack({type}, ...); pass the whole buffer",
        "too-large": "{what} must fit the address space (current: {size} bytes) - at {where}; use fewer records",
    }


class WgslError(GpuStructError):
    """WGSL text breaks a rule of the language, or cannot be read.

    `line` and `column` count from 1 and are 0 where a place makes no sense.

    >>> from gpustruct import wgsl, WgslError
    >>> try:
    ...     wgsl.parse("struct A { x: f32, x: f32 }")
    ... except WgslError as error:
    ...     print(error.line, error.column)
    1 20
    """

    line: int = 0
    column: int = 0
    templates = {
        "declare-padding": "padding must be None, 'attributes' or 'members' (current: {padding}) - at declare(..., padding=...); leave it out for the shortest text",
        "declare-twice": "one name may stand for one struct (current: two different structs named {name}) - at declare(...); rename one of the classes",
        "declare-hides": "a struct may not hide a predeclared type that the text needs (current: struct {name}) - at declare(...); rename the class",
    }


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

    templates = {
        "length-representable": "arrayLength can be {lengths} for {type} (current: {n}) - at {where}; bind {nearest} records, or pass the count in a member or a uniform of its own",
        "length-value": "a number of records must be a whole number, 1 or more (current: {n!r}) - at {where}; bind at least one record, or none of the buffer",
        "buffer-type": "{function} takes a wgpu buffer (current: {current}) - at {function}(...); make one with device.create_buffer(...)",
        "buffer-usage": "the buffer needs usage {usage} (current: {current}) - at {function}(...); create it with usage=wgpu.BufferUsage.{usage} | ...",
        "buffer-small": "the buffer must hold {needed} bytes from offset {offset} (current: {size} bytes) - at {function}(...); create a buffer of {total} bytes or write fewer records",
        "buffer-offset": "offset must be a multiple of {multiple} for {why} (current: {offset}) - at {function}(...); use {suggestion}",
    }
