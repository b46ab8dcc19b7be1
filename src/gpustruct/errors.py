"""Every exception of gpustruct, and every word they say.

A message has four parts, in this order: the rule, the current value, where it happened, the way
out. The template of each rule stands once, here; the code that finds the fault names the rule and
the facts. A rule's name is stable, so it can be filtered on (`error.rule`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Self


def likely(name: str, known: Iterable[str]) -> str:
    """The one of `known` that a misspelt name looks like; "" where none does.

    >>> likely("tiem", ["time", "view"]), likely("mass", ["time", "view"])
    ('time', '')
    """
    found = difflib.get_close_matches(name, list(known), 1)
    return found[0] if found else ""


def closest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """A way out for a name that is not among `known`: the one it looks like, or all of them.

    >>> closest("tiem", ["time", "view"]), closest("mass", ["time", "view"])
    ("did you mean 'time'?", 'use one of time, view')
    """
    names = list(known)
    meant = likely(name, names)
    if meant:
        return f"did you mean {meant!r}?"
    return f"use one of {', '.join(names)}" if names else otherwise


class _Worded(Exception):
    """Made from the template of a rule and the facts of a case."""

    templates: dict[str, str] = {}
    rule: str = ""

    @classmethod
    def of(cls, rule: str, **facts: Any) -> Self:
        """Make the error or warning of `rule`, its template filled with `facts`."""
        made = cls(cls.templates[rule].format(**facts))
        made.rule = rule
        return made


class GpuStructError(_Worded):
    """The base of every error that gpustruct raises on purpose.

    `rule` is the stable name of the rule that was broken, such as ``"array-stride-uniform"``.

    >>> from gpustruct import GpuStructError, LayoutError
    >>> issubclass(LayoutError, GpuStructError)
    True
    """


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
        "struct-name": "a struct name must be a WGSL identifier that is not reserved (current: {name!r}) - at class {name}; rename it, for example to {suggestion!r}",
        "member-default": "a member has no default (current: {name} = {value}) - at {where}; remove it, and give the batch a column instead: {name}={value}",
        "member-hidden": "what the class body defines may not have a member's name (current: {name!r}, a {kind}) - at {where}; rename it, for example to {name}_",
        "member-twice": "a member name may appear once in a struct (current: {name!r} stands in {base} already) - at {where}; rename this one, for example to {name}_",
        "struct-empty": "a struct must have at least one member (current: none) - at {where}; write its members in the class body, such as `value: f32`",
        "struct-option": "a struct takes no options (current: {options}) - at class {name}; remove them: attributes belong to members, such as `value: Annotated[f32, align(16)]`",
        "struct-attribute": "a class body may not define what the type itself keeps (current: {name}) - at {where}; remove it, or rename it",
        "plain-bases": "a type that is no struct cannot be extended (current: {base}) - at class {name}; extend Struct, and make it the type of a member: `value: {type}`",
        "struct-bases": "a struct may extend one struct at most (current: {bases}) - at {where}; extend {first}, and write the members of the others in the class body",
        "struct-extends-runtime": "a struct that ends in a runtime-sized array cannot be extended (current: {base} ends in {member}) - at {where}; extend a struct without the array, and add the array last",
        "member-count": "a struct may have at most 1023 members (current: {count}) - at {where}; group members into nested structs or arrays",
        "nesting-depth": "composite types may nest at most 15 deep (current: {depth}) - at {where}; flatten the inner types",
        "annotation-name": "an annotation must name a type that can be seen from the class line (current: {text!r}: {reason}) - at {where}; {way_out}",
        "array-element": "an array element must have a fixed footprint (current: {current}) - at {where}; {way_out}",
        "array-count": "an array count must be a whole number from 1 to 2147483647 (current: {count}) - at {where}; use array[{element}, 1] or a larger count, or array[{element}] for as many as the buffer holds",
        "array-bytes": "a type may take at most 2147483647 bytes (current: {size}) - at {where}; {way_out}",
        "atomic-type": "an atomic must hold i32 or u32 (current: {current}) - at {where}; use atomic[u32] or atomic[i32]",
        "runtime-not-last": "a runtime-sized array must be the last member of its struct (current: member {index} of {count}) - at {where}; move it to the end, or give it a count: array[{element}, 8]",
        "runtime-nested": "a struct with a runtime-sized array cannot be a member of another type (current: {current}) - at {where}; bind it as a storage variable of its own, or give its array a count, `{tail}: array[{element}, 8]`",
        "align-value": "@align must be a power of two from 1 to 1073741824 (current: {value}) - at {where}; use a power of two such as {suggestion}",
        "align-multiple": "@align must be a multiple of the type's own alignment, {own} for {type} (current: {value}) - at {where}; use {own} or a larger power of two",
        "size-value": "@size must be a positive whole number below 2147483648 (current: {value}) - at {where}; use {suggestion} or more",
        "size-small": "@size must be at least the type's own size, {own} bytes for {type} (current: {value}) - at {where}; use {own} or more",
        "size-runtime": "@size may not stand on a runtime-sized array (current: {value}) - at {where}; leave it out: the buffer's size decides the length",
        "attribute-twice": "an attribute may stand once on a member (current: @{attribute} twice) - at {where}; keep one of them",
        "attribute-unknown": "Annotated may carry align(n) and size(n) here (current: {current}) - at {where}; use {way_out}",
        "attribute-place": "@align and @size belong to struct members (current: inside {current}) - at {where}; annotate the member itself: {way_out}",
        "array-stride-uniform": "array stride must be a multiple of 16 in uniform (current: {stride}) - at {where}; {way_out}",
        "offset-uniform": "{kind} must start at a multiple of {required} in uniform (current: offset {offset}) - at {where}; use Annotated[{type}, align({required})]{others}",
        "gap-uniform": "a member after a struct must start at least roundUp(16, size of the struct) = {required} bytes after it in uniform (current: {current}) - at {where}; use `{previous}: Annotated[{type}, size({required})]`{others}",
        "atomic-uniform": "an atomic cannot be in uniform (current: {type}) - at {where}; use {plain}, or var<storage, read_write>",
        "runtime-uniform": "a runtime-sized array cannot be in uniform (current: {type}) - at {where}; {way_out}",
        "uniform-safe-arrays": "arrays must be 'pad' or 'vec4' (current: {current}) - at uniform_safe(..., arrays=...); use 'pad' for one element in 16 bytes, 'vec4' for no gaps",
        "uniform-safe-type": "uniform_safe rewrites structs (current: {type}) - at uniform_safe({type}); make it a member of a struct: `class Uniform(Struct): value: {type}`",
        "uniform-safe-variable": "variable must be a WGSL identifier that is not reserved and names none of the structs (current: {current}) - at uniform_safe(..., variable=...); use the name of the var<uniform> in the shader",
        "not-a-type": "{function} takes a gpustruct type (current: {current}) - at {function}(...); pass a class such as vec3f, array[f32, 4] or a subclass of Struct",
        "suggest-struct": "suggest takes a struct, whose members have an order (current: {current}) - at suggest(...); pass a subclass of Struct",
        "dtype-type": "dtype_of takes a gpustruct type (current: {current}) - at {where}; pass a class such as vec3f, array[f32, 4] or a subclass of Struct",
        "dtype-runtime": "a numpy dtype has a fixed size (current: {type}, which is runtime-sized) - at {where}; use dtype_of({element}) for its elements",
        "dtype-source": "struct_of takes a structured dtype, a ctypes.Structure or a dataclass (current: {current}) - at struct_of(...); pass one of them, with a name for each field",
        "dtype-bits": "a member must fill whole bytes (current: bit fields {fields}) - at {where}; declare the number that they share as one field, such as ('flags', ctypes.c_uint32)",
        "dtype-ask": "a member's type must follow from its dtype (current: {current}; inferred {inferred}) - at {where}; say which: types={way_out}",
        "dtype-types": "types must be a mapping from members to types (current: {current}) - at struct_of(..., types=...); pass {{'color': vec4f}}",
        "dtype-answers": "types must name members (unknown: {unknown}) - at struct_of(...) of {where}; use dotted names for nested members, or leave them out",
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
        "columns-missing": "every member needs a column (missing: {missing}; expected {expected}; came {came}) - at {where}; {way_out}",
        "columns-unknown": "a column must be named like a member (unknown: {unknown}; expected {expected}; came {came}) - at {where}; {way_out}",
        "column-shape": "a column's shape must end in the member's own shape, {inner} for {type} (current: {shape}) - at {where}; {way_out}",
        "matrix-flat": "a {type} column's shape must end in ({rows}, {cols}), [row, col] (current: {shape}) - at {where}; reshape it: a.reshape(-1, {rows}, {cols}) if it is stored row after row, a.reshape(-1, {cols}, {rows}).swapaxes(-1, -2) if column after column (OpenGL, WGSL)",
        "column-broadcast": "columns must have, or broadcast to, one batch shape (current: {shapes}) - at {where}; give each column the same leading dimensions",
        "column-outer": "a batch has the shape of one of its columns (current: {first} {first_shape} beside {second} {second_shape}, which would make {shape}) - at {where}; {way_out}",
        "column-dtype": "{type} cannot be made from {dtype} without changing values - at {where}; {way_out}",
        "column-masked": "a column may not have missing values (current: {kind}) - at {where}; fill them first: {way_out}",
        "column-source": "a column must be an array or something numpy.asarray takes (current: {current}) - at {where}; {way_out}",
        "column-nested": "a {type} member takes a batch of {type} or a mapping of its columns (current: {current}) - at {where}; pass a batch of {type}, or a mapping of {members}",
        "column-missing-value": "a column may not have missing values (current: {kind}, the first in row {row}) - at {where}; fill them first: {way_out}",
        "column-device": "a column must lie in memory that the CPU reads (current: {current} on {device}) - at {where}; copy it first: {way_out}",
        "column-twice": "a source's columns must have names of their own (current: {name!r} twice) - at {where}; rename one of them",
        "column-kind": "{type} cannot be made from {current} - at {where}; {way_out}",
        "extra-value": "extra must be 'refuse' or 'ignore' (current: {current}) - at batch({type}, ..., extra=...); {way_out}",
        "defaults-value": "defaults must be a mapping from members to values (current: {current}) - at batch({type}, ..., defaults=...); {way_out}",
        "defaults-member": "defaults must name members (unknown: {unknown}) - at batch({type}, ..., defaults=...); expected {expected}; dotted names for nested members",
        "rename-member": "a rename must start from a member (unknown: {unknown}) - at batch({type}, ...); rename one of {expected}; dotted names for nested members",
        "rename-column": "a rename must lead to a column of the source (unknown: {unknown}) - at {where}; name one of {came}",
        "rename-value": "a rename must be the name of a column, or a tuple of names, one a component (current: {current}) - at {where}; write {way_out}",
        "source-kind": "batch takes columns by name, or records (current: {current}) - at batch({type}, ...); {way_out}",
        "source-lazy": "a source must hold its values (current: {current}, which is a plan to get them) - at batch({type}, ...); compute it first: {way_out}",
        "record-kind": "a record must be a mapping, a tuple of {count} values, or an object with the attributes {expected} (current: {current}) - at {where}; {way_out}",
        "record-members": "a record must have every member, and no other (missing: {missing}; unknown: {unknown}; expected {expected}) - at {where}; {way_out}",
        "record-shape": "a value must have its member's own shape, {inner} for {type} (current: {shape}) - at {where}; {way_out}",
        "record-length": "a tuple or list of records must have as many entries as {type} (current: {count}) - at {where}; give it {expected}",
        "view-type": "view takes a gpustruct type (current: {current}) - at view(...); pass a class such as mat4x4f or a subclass of Struct",
        "view-data": "data must be a C-contiguous buffer that holds the records, {needed} bytes from offset {offset} (current: {current}) - at view({type}, data, offset); pass a larger buffer, such as np.zeros({total}, np.uint8)",
        "view-count": "count must be a whole number of records, {least} or more (current: {count}) - at view({type}, ...); {way_out}",
        "view-readonly": "a view writes into its bytes (current: over read-only memory) - at {where}; pass a writable buffer: bytearray(data)",
        "view-member": "a view has the members of its type only (unknown: {name}) - at a view of {where}; {way_out}",
        "view-whole": "v[...] is the whole value, v.member a part (current: v[{index}]) - at {where}; {way_out}",
        "view-update": "update takes a mapping from members to values (current: {current}) - at update({type}, ...); pass {way_out}",
        "range-integer": "{type} holds whole numbers from {low} to {high} (current: {value}) - at {where}; clip or mask the column first: np.clip({name}, {low}, {high})",
        "range-float": "a finite value must stay finite in {type} (current: {value}, the largest {type} is {high}) - at {where}; scale or clip the column first: np.clip({name}, -{high}, {high})",
        "tail-batch": "a struct that ends in a runtime-sized array is one record (current: batch shape {shape}) - at {where}; give the header's columns without leading dimensions",
        "tail-shape": "the tail of {type} is one run of records (current: batch shape {shape}) - at {where}; flatten it: one leading dimension",
        "batch-abstract": "a batch is an instance of a type with a layout (current: {name}) - at {name}(...); use a subclass of Struct, atomic[u32] or array[f32, 8]",
        "batch-type": "{function} takes a batch, an instance of a gpustruct type (current: {current}) - at {function}(...); make one first: f32(array), or batch(T, source) for a Struct class T",
        "type-instance": "{function} takes a gpustruct type (current: an instance of {type}) - at {function}(...); pass {type} itself",
        "unpack-type": "unpack takes a type with a layout (current: {current}) - at unpack(...); pass a subclass of Struct, vec3f or array[f32, 8]",
        "uniform-safe-batch": "a twin for uniform takes a batch of {type} (current: {current}) - at uniform_safe({type})(...); make one with batch({type}, source), or of its columns",
        "batch-assign": "a batch's columns stay as they were given (current: assignment to {where}) - at {where}; make a new batch, or write into the column: batch.{name}[...] = value",
        "batch-index": "a batch is indexed over its {ndim} batch dimensions (current: {index}) - at {where}; {way_out}",
        "batch-scalar": "a single record has no length (current: batch shape ()) - at {where}; give columns a leading dimension to make a batch",
        "out-small": "out must have room for the records, {needed} bytes from offset {offset} (current: {available}) - at {function}(..., out=...); allocate {total} bytes or more",
        "out-buffer": "out must be a writable, C-contiguous buffer (current: {current}) - at {function}(..., out=...); use np.empty({needed}, np.uint8)",
        "out-columns": "out must be a batch of {type} whose columns are writable arrays (current: {current}) - at {function}(..., out=...); {way_out}",
        "out-dtype": "{type} cannot be unpacked into {dtype} without changing values - at {where}; use a column of {suggestion}",
        "offset-value": "offset must be a whole number of bytes, 0 or more (current: {offset!r}) - at {function}(..., offset=...); pass the byte at which the first record starts",
        "stride-value": "stride must be a multiple of {align} and at least {size} bytes for {type} (current: {stride!r}) - at {function}(..., stride=...); use {suggestion}",
        "stride-tail": "the stride of a struct that ends in a runtime-sized array is its element's (current: {stride}) - at {function}(..., stride=...); leave stride out",
        "threads-value": "threads must be a whole number from 1 to 1024, or None to choose by size (current: {threads!r}) - at {function}(..., threads=...); leave it out",
        "record-type": "{function} takes records of {type} (current: {current}) - at {function}(...); pass a batch or a view of that type, a mapping of its columns, or a list of its records",
        "where-batch": "a batch written with where must have {expected} (current: {current}) - at write(..., where=...); give one record for each place, or one for each entry of the mask",
        "shard-shape": "a batch over several devices must have one batch dimension (current: batch shape {shape}) - at ShardedBuffer({type}).write(...); give its columns one leading dimension",
        "where-type": "where must be a mask, a slice or whole-number indices, in one dimension (current: {current}) - at write(..., where=...); use np.flatnonzero(mask) or slice(start, stop)",
        "header-columns": "write_header takes the members before the array, by name, or a batch of {type} (current: {current}) - at write_header(...); pass a mapping of {members}",
        "where-start": "start and where exclude each other (current: both) - at write(..., start=..., where=...); add start to the indices",
        "count-value": "count must be a whole number of records, from 0 to {available} here (current: {count!r}) - at unpack({type}, ...); pass fewer records or more bytes",
        "data-buffer": "data must be a C-contiguous buffer of bytes (current: {current}) - at unpack({type}, ...); use np.ascontiguousarray(data)",
        "data-size": "data must hold a whole number of records of {stride} bytes (current: {size} bytes from offset {offset}, {extra} too many) - at unpack({type}, ...); pass count= to read only the first records",
        "data-small": "data must hold at least {needed} bytes (current: {size} from offset {offset}) - at unpack({type}, ...); pass the whole buffer",
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
        "text-type": "the text must be a str (current: {type}) - at parse(...); decode it first: text.decode()",
        "target": "target must be 'spec', 'naga' or 'tint' (current: {target}) - at parse(..., target=...); leave it out for the specification's own rules",
        "preprocessor": "the text must be WGSL, not the input of a preprocessor or template (current: {mark}) - at {where}; run the preprocessor first, or parse(text, skip=True) for the declarations that stand on their own",
        "placeholder": "a declaration must be WGSL (current: a template placeholder) - at {where}; run the template first",
        "no-declaration": "a declaration must start with an attribute or one of WGSL's keywords (current: {found}) - at {where}; remove it, or run the template first",
        "byte-order-mark": "the text must not hold a byte order mark (current: U+FEFF) - at {where}; read the file with open(path, encoding='utf-8-sig')",
        "defines-value": "defines takes names with a number, a bool, a str of one line, or None (current: {name!r}: {value}) - at parse(..., defines=...); pass such a value",
        "character": "the text may hold WGSL's own characters only (current: {character}) - at {where}; remove it",
        "comment-open": "a block comment must end, and comments nest (current: no */) - at {where}; close it: */",
        "brace-open": "a brace must be closed (current: no matching }}) - at {where}; close it: }}",
        "nesting": "brackets may nest at most {most} deep (current: {depth}) - at {where}; name the inner parts with const or alias",
        "syntax": "the text must follow WGSL's grammar: {expected} here (current: {found!r}) - at {where}; {way_out}",
        "skipped": "at most {most} parts of a text may be skipped (current: more) - at {where}; run the template first",
        "declarations": "a module may have at most {most} declarations (current: more) - at {where}; split the text",
        "tokens": "the declarations of a module may have at most {most} tokens (current: more) - at {where}; bind the data as a buffer",
        "syntax-end": "a declaration must be complete: {expected} is missing (current: the text ends) - at {where}; complete it",
        "operators-mixed": "WGSL does not order these operators (current: {sign} beside another) - at {where}; use parentheses",
        "name": "a name must be a WGSL identifier that is not reserved (current: {name!r}) - at {where}; rename it",
        "name-twice": "a name may be declared once in its scope (current: {name!r} again, first at line {first}) - at {where}; rename one of them",
        "cycle": "a declaration may not depend on itself (current: {path}) - at {where}; break the cycle",
        "unresolved": "a name must be declared in the module, or predeclared (current: {name!r}) - at {where}; declare it, or correct its spelling",
        "needs-skipped": "a declaration needs all that it names (current: {name!r} was skipped) - at {where}; see the reason at that name",
        "not-a-type": "a type must stand here (current: {what}) - at {where}; name a type, an alias or a struct",
        "member-opaque": "a struct may hold data only (current: {type}) - at {where}; declare it as a variable of its own",
        "template-arguments": "{type} takes {wanted} (current: {given}) - at {where}; correct the template list",
        "enumerant": "{what} must be one of {wanted} (current: {given}) - at {where}; write one of these",
        "enumerant-hidden": "{what} must not be hidden by a declaration (current: {name!r} is declared in the module) - at {where}; rename the declaration",
        "pointer-type": "a pointer must point to data in memory (current: {type}) - at {where}; pass a texture or a sampler itself, and a pointer not to a pointer",
        "pointer-variable": "a variable of the module may not hold a pointer (current: {type}) - at {where}; declare what it points to, and take the pointer in a function",
        "buffer-size": "the size of an untyped buffer must be positive (current: {count}) - at {where}; use 1 or more, or leave it out in var<storage>",
        "buffer-space": "an untyped buffer must be in uniform, storage or workgroup (current: {type} in {space}) - at {where}; use var<storage>",
        "extension-type": "the type must be one of WGSL's (current: {name}, an extension of naga) - at {where}; {remedy}",
        "f16-disabled": "f16 types need the extension f16 (current: {name} without it) - at {where}; put `enable f16;` at the top of the text",
        "extension-missing": "{name} needs the extension {extension} (current: not enabled) - at {where}; put `enable {extension};` at the top of the text",
        "directive-late": "directives must stand before all declarations and semicolons of their own (current: {keyword}) - at {where}; move it to the top of the text",
        "extension-unknown": "{keyword} must name an extension that WGSL knows (current: {name!r}) - at {where}; remove it",
        "severity": "the severity of a diagnostic must be error, warning, info or off (current: {name!r}) - at {where}; correct it",
        "diagnostic-conflict": "one diagnostic rule may have one severity (current: {name} is {before}, then {after}) - at {where}; keep one of them",
        "override-id": "@id must be a number from 0 to 65535 (current: {id}) - at {where}; correct it",
        "override-id-twice": "an @id may stand once in a module (current: {id} again, first on {other}) - at {where}; change one of them",
        "override-type": "an override must be a scalar (current: {current}) - at {where}; write a type such as f32 after the name, or a value",
        "override-fault": "an expression of overrides must have a value in its type (current: {fault}) - at {where}; pass other values in overrides=",
        "attribute-unknown": "{what} may not have this attribute (current: @{name}) - at {where}; remove it{hint}",
        "attribute-repeated": "an attribute may stand once (current: @{name} twice) - at {where}; keep one of them",
        "attribute-arguments": "@{name} takes {wanted} (current: {given}) - at {where}; correct it",
        "attribute-number": "@{name} must not be negative (current: {value}) - at {where}; use a number from 0",
        "attribute-value": "@{name} must be {wanted} (current: {value}) - at {where}; change the number",
        "attribute-word": "@{name} takes here one of {wanted} (current: {given}) - at {where}; write one of these",
        "attribute-both": "@location and @builtin exclude each other (current: both) - at {where}; keep one of them",
        "attribute-needs": "@{name} needs {needs} beside it (current: without) - at {where}; add it, or remove @{name}",
        "location-type": "@location must be on a number or a vector of numbers (current: {type}) - at {where}; give each column, element or member a @location of its own, and use u32 for bool",
        "builtin-unknown": "@builtin must name a builtin value of WGSL (current: {name}) - at {where}; correct it: position, vertex_index, global_invocation_id or another",
        "builtin-type": "@builtin({name}) has the type {wanted} (current: {given}) - at {where}; change the type",
        "builtin-stage": "@builtin({name}) is a {wanted} (current: {given}) - at {where}; remove it here",
        "blend-output": "@blend_src is for the outputs of a fragment shader (current: a {given}) - at {where}; remove it, or use another struct here",
        "blend-source": "@blend_src must be 0 or 1 (current: {value}) - at {where}; use one of them",
        "blend-pair": "a struct with @blend_src has exactly two members with @location(0), @blend_src(0) and @blend_src(1), of one type (current: others in {name}) - at {where}; correct its members",
        "location-twice": "a struct may have each @location once (current: {what} twice in {name}) - at {where}; change one of them",
        "interface-twice": "an entry point's inputs, and its outputs, may have each place once (current: {what} twice) - at {where}; change one of them",
        "interface-missing": "an entry point's inputs and outputs need @location or @builtin (current: {what} has neither) - at {where}; add one",
        "interface-outside": "only entry points have inputs and outputs (current: @{name} in another function) - at {where}; remove it, or add @vertex or @fragment",
        "interpolate-flat": "an integer between stages needs @interpolate(flat) (current: {what} of type {type} without it) - at {where}; add it",
        "compute-location": "a compute shader has only builtin values (current: an {direction} with @location) - at {where}; read and write buffers instead",
        "vertex-position": "a vertex shader must return @builtin(position) (current: {name} does not) - at {where}; add it to what the function returns",
        "stage-twice": "a function may have one stage (current: @{first} and @{second}) - at {where}; keep one of them",
        "must-use": "@must_use needs a function that returns a value (current: {name} returns nothing) - at {where}; remove it",
        "parameter-type": "{what} must be of a type that can be made (current: {type}) - at {where}; pass a pointer to it, or give it a fixed size",
        "result-type": "a function must return a type that can be made (current: {type}) - at {where}; return plain data, or write through a pointer",
        "workgroup-size": "@workgroup_size must be positive (current: {value}) - at {where}; use 1 or more",
        "workgroup-types": "the numbers of @workgroup_size must have one type (current: {first} and {second}) - at {where}; use the same suffix on all of them",
        "attribute-missing": "{what} needs {wanted} (current: none) - at {where}; add it",
        "array-count": "an array count must be positive (current: {count}) - at {where}; use 1 or more, or leave it out for a runtime-sized array",
        "array-inner": "an array's element must have a fixed size (current: {type}) - at {where}; give the inner array a count",
        "not-whole": "a declaration must stand on its own (current: {reason}) - at {where}; run the template first",
        "literal": "a number must have the form of a WGSL literal (current: {text}) - at {where}; correct it",
        "constant-fault": "a const-expression must have a value in its type (current: {fault}) - at {where}; change the expression or the type",
        "constant-steps": "the const-expressions of a module may take {most} steps in all (current: more) - at {where}; use smaller arrays",
        "not-constant": "a const-expression may hold constants, constructors and built-in functions only (current: {what}) - at {where}; use a const",
        "override-constant": "an override is no constant: it may not decide {what} - at {where}; use a const",
        "integer-wanted": "{what} must be an integer: i32, u32 or without suffix (current: {type}) - at {where}; use a whole number",
        "arguments": "{what} cannot take these arguments (current: {given}) - at {where}; correct their number or types",
        "not-constructible": "a value of this type cannot be made (current: {type}) - at {where}; use plain data: no atomics, no runtime-sized arrays",
        "no-conversion": "{before} does not become {wanted} by itself (current: {before}) - at {where}; write {wanted}( ) around it",
        "no-common-type": "these values must have one type (current: {types}) - at {where}; convert them",
        "operator": "the operator {sign} has no meaning for these types (current: {types}) - at {where}; convert the operands",
        "no-component": "{type} has no such part (current: {name}) - at {where}; correct the name or the index",
        "assertion": "a const_assert must be true (current: {value}) - at {where}; change the constants it looks at",
        "sampled-pairs": "the entry points of a module may bring at most {most} textures together with samplers (current: more) - at {where}; split the text, or read the textures with textureLoad",
        "struct-unfolded": "a struct may hold at most {most} members, nested ones counted (current: {count}) - at {where}; use arrays",
        "override-unknown": "overrides must name an override of the module, or its @id (current: {name!r}) - at parse(..., overrides=...); the module has {known}",
        "override-value": "an override's value must fit its type, {type} (current: {value!r}) - at parse(..., overrides=...); pass a {type}",
        "space-unknown": "a var's address space must be uniform, storage, workgroup, private or immediate (current: {name!r}) - at {where}; correct it{hint}",
        "access": "only var<storage> takes an access mode, read or read_write (current: {given}) - at {where}; correct it",
        "binding-missing": "var<{space}> needs @group and @binding (current: {given}) - at {where}; add them: @group(0) @binding(0)",
        "binding-extra": "var<{space}> is no binding (current: {given}) - at {where}; remove @group and @binding",
        "variable-type": "var<{space}> needs a type (current: none) - at {where}; write one after the name",
        "variable-value": "var<{space}> takes no initial value (current: one) - at {where}; remove it and write the buffer, or assign in a function",
        "handle": "a texture or a sampler is declared without address space, everything else with one (current: {given}) - at {where}; {way_out}",
        "host-shareable": "a type in {space} must be host-shareable (current: {why}) - at {where}; use u32 for bool, and bind textures by themselves",
        "immediate-array": "var<immediate> may hold no array (current: {type}) - at {where}; {way_out}",
        "runtime-space": "a runtime-sized array may only be in storage (current: {type} in {space}) - at {where}; give it a count, or use var<storage>",
        "override-space": "an array sized by an override may only be a variable in workgroup (current: {type} in {space}) - at {where}; use a const",
        "atomic-space": "an atomic must be in workgroup, or in storage with read_write (current: {type} in {space}, {access}) - at {where}; use var<storage, read_write>",
        "stubs-type": "stubs takes the Module that parse makes (current: {type}) - at stubs(...); write wgsl.stubs(wgsl.parse(text))",
        "check-type": "check compares a gpustruct class, a numpy dtype or a ctypes Structure (current: {current}) - at check(...); pass one of them",
        "check-name": "check must know which struct of the text is meant (current: {name!r}; the text has {known}) - at check(...); {way_out}",
        "check-differs": "{name} must be the same on both sides (current: {count} rows differ) - at check({name}, ...); change one side\n{table}",
        "device-refused": "the device must accept the text (current: {current}) - at {where}; correct the text\n{message}",
        "declare-padding": "padding must be None, 'attributes' or 'members' (current: {padding}) - at declare(..., padding=...); leave it out for the shortest text",
        "declare-twice": "one name may stand for one struct (current: two different structs named {name}) - at declare(...); rename one of the classes",
        "declare-hides": "a struct may not hide a predeclared type that the text needs (current: struct {name}) - at declare(...); rename the class",
    }


class BackendWarning(_Worded, UserWarning):
    """naga, Tint and the specification part ways here; what gpustruct does follows the specification.

    Filter it by category: ``warnings.simplefilter("ignore", BackendWarning)``; `rule` tells the kinds apart.

    >>> import warnings
    >>> from gpustruct import wgsl, BackendWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     module = wgsl.parse("struct A { @align(16) x: f32 } struct B { n: u32, a: A }")
    >>> caught[0].message.rule
    'naga-align'
    """

    templates = {
        "naga-align": "naga (wgpu-native, Firefox) does not carry @align on to the enclosing struct: there {name} has {moved} - at {where}; write {marks}",
        "naga-matrix": "naga 29 (wgpu-native, Firefox) reads {name}, a {type} in a struct in a struct, wrongly from uniform: the device may be lost - at {where}; {remedy}",
        "naga-type": "naga accepts {name}, the specification and Tint do not - at {where}; {remedy}",
        "naga-size-runtime": "naga accepts @size on a runtime-sized array, the specification and Tint do not - at {where}; remove it",
        "naga-atomic-read": "naga accepts atomics in var<storage, read>, the specification and Tint do not - at {where}; use read_write",
        "naga-operators": "naga orders operators that the specification and Tint want in parentheses - at {where}; add them",
        "naga-requires": "naga (wgpu-native, Firefox) does not know the language feature {name} and refuses the module - at {where}; {remedy}",
        "naga-enable": "naga (wgpu-native, Firefox) refuses `enable {name}` and with it the module - at {where}; {remedy}",
        "naga-subgroups": "naga accepts {name} without `enable subgroups`, and refuses the directive; the specification and Tint need it - at {where}; add it for them",
        "naga-immediate": "naga (wgpu-native, Firefox) refuses f16 in var<immediate> (current: {type}) - at {where}; use f32, or a u32 and unpack2x16float",
        "naga-constant": "naga (wgpu-native, Firefox) does not compute {what} in a const-expression and refuses the module - at {where}; write the value instead",
        "naga-assert": "naga (wgpu-native, Firefox) takes the parentheses after const_assert for the whole condition and refuses the module - at {where}; put another pair around all of it",
        "naga-literal": "naga (wgpu-native, Firefox) refuses the hexadecimal number {text} and with it the module - at {where}; write it in decimal digits",
        "naga-comma": "naga (wgpu-native, Firefox) refuses the comma in @interpolate({how},) - at {where}; remove it",
        "naga-external": "wgpu-native refuses texture_external - at {where}; use texture_2d<f32> there",
        "naga-minus": "naga (wgpu-native, Firefox) refuses -- where the specification and Tint read two minus signs - at {where}; write a blank between them",
        "naga-extension": "{backend} accepts {name}, the specification does not - at {where}; remove it",
        "tint-overflow": "Tint (Chrome) refuses a number larger than {largest!r}, even one that {type} rounds to that - at {where}; write {largest!r}",
        "tint-interpolate": "Tint (Chrome) refuses @interpolate({how}) for {type}, though only between stages the specification does - at {where}; write @interpolate(flat)",
        "uniform-strict": "Tint (Chrome, with uniform_buffer_standard_layout) accepts {name} in uniform, naga and the specification without that feature do not - at {where}; uniform_safe({name}) is legal everywhere",
        "uniform-relaxed": "naga (wgpu-native, Firefox) refuses {name} in uniform: it has not got uniform_buffer_standard_layout - at {where}; uniform_safe({name}) is legal everywhere",
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
        "entry-point": "an entry point must be one of the shader's (current: {name!r}; it has {known}) - at the entry points; {way_out}",
        "binding-shared": "one @group and @binding may hold one variable of a pipeline (current: {first}, used by {first_user}, and {second}, used by {second_user}, at @group({group}) @binding({binding})) - at the entry points; name those of one pipeline, or give one variable another @binding",
        "layout-option": "{option} must name {what} of the shader (current: {name!r}) - at {option}=...; {way_out}",
        "layout-kind": "WebGPU has layouts for buffers, textures and samplers, one in each place (current: {name}, a {type}) - at bind_group_layouts(...); declare variables of their own, or write this layout by hand",
        "bind-missing": "every binding that the entry points use needs a resource (missing: {missing}; came {came}) - at {where}; {way_out}",
        "bind-unknown": "a resource must be named like a binding of the shader (unknown: {unknown}; it has {known}) - at {where}; {way_out}",
        "bind-kind": "the shader declares {wanted} (current: {current}) - at {where}; {way_out}",
        "bind-type": "a RecordBuffer must have the type of the variable, or of its elements (current: {current} for {name}, of type {type}) - at {where}; {way_out}",
        "bind-differs": "a RecordBuffer must have the memory of the shader's struct, {type} (current: {current} differs) - at {where}; change one side\n{table}",
        "bind-foreign": "what is bound must belong to the program's device (current: another device's {what}) - at {where}; make it with {make} of that device",
        "bind-usage": "the {what} needs usage {usage} here (current: {current}) - at {where}; create it with wgpu.{module}Usage.{usage} among its usage",
        "bind-small": "{name} needs at least {needed} bytes, for its type {type} (current: {size}) - at {where}; bind {needed} bytes or more",
        "bind-end": "a binding must end inside its buffer (current: {needed} bytes from offset {offset} of {size} bytes) - at {function}; bind fewer bytes, or create a buffer of {total} bytes",
        "bind-words": "storage bindings must be a multiple of 4 bytes (current: {size}) - at {where}; bind {suggestion} bytes",
        "bind-dynamic": "a variable with dynamic offsets takes records that are as far apart as these must be (current: {type} records next to one another) - at {where}; make the RecordBuffer with dynamic_offsets=True",
        "bind-format": "a texture must have the format of the storage texture {name}, {wanted} (current: {current}) - at {where}; create it with format={wanted!r}",
        "bind-samples": "{name} is a {type}, which needs {wanted} (current: {current} a texel) - at {where}; create the texture with sample_count={number}",
        "bind-sample-type": "{name} is a {type}, which reads {reads} (current: a texture of format {current}) - at {where}; create the texture with a format such as {example!r}, or change the type in the shader",
        "bind-unfilterable": "a texture that a filtering sampler reads must be filterable (current: {name} of format {current}) - at {where}; make the Program with filterable={{{name!r}: False}} and bind a sampler of nearest filters, or request the device with required_features=['float32-filterable']",
        "bind-dimension": "{name} needs {wanted} (current: {current}) - at {where}; create the texture in that dimension",
        "bind-refused": "wgpu must accept what is bound (current: {current}) - at {where}; {way_out}",
        "bind-twice": "a buffer that {writer} writes may be bound a second time neither for reading nor over the same bytes (current: {first} and {second} are one buffer) - at {where}; bind another buffer to one of them",
        "offsets-missing": "each buffer with dynamic offsets needs one (missing: {missing}) - at {where}; pass {way_out}",
        "offsets-unknown": "a dynamic offset must be given for a buffer that has them (unknown: {unknown}; the groups have {known}) - at {where}; {way_out}",
        "offsets-value": "a dynamic offset must be a multiple of {multiple}, up to {most} here (current: {current}) - at {where}; take it from offsets() of a RecordBuffer made with dynamic_offsets=True",
        "overrides-missing": "a program's overrides must have values (missing: {missing}) - at {where}; pass overrides={{{first!r}: 1}}",
        "program-stage": "a compute pipeline needs a compute shader (current: {name} is a {stage} shader) - at {where}; {way_out}",
        "program-name": "without a name the program must have one compute shader (current: {count}) - at {where}; {way_out}",
        "groups-missing": "the entry points must use a binding (current: none) - at {where}; leave the bind groups out",
        "layout-refused": "the device must accept the layout (current: {current}) - at {where}; use fewer bindings, or request the device with higher limits or more features",
        "pipeline-refused": "the device must accept the pipeline (current: {current}) - at {where}; correct the shader",
        "length-representable": "arrayLength can be {lengths} for {type} (current: {n}) - at {where}; bind {nearest} records, or pass the count in a member or a uniform of its own",
        "length-value": "a number of records must be a whole number, 1 or more (current: {n!r}) - at {where}; bind at least one record, or none of the buffer",
        "adapter-missing": "a wgpu adapter must answer (current: {current}) - at gpustruct.gpu; {way_out}, or pass device=",
        "device-type": "{function} takes a wgpu device or its queue (current: {current}) - at {function}(...); pass device = wgpu.utils.get_default_device(), or device.queue",
        "device-feature": "the device needs the feature {feature} (current: without) - at {where}; request it: adapter.request_device_sync(required_features=[{feature!r}])",
        "adapter-feature": "the type needs the feature {feature}, and this device's adapter does not have it (current: without) - at {where}; use f32 members instead of f16, or another adapter",
        "buffer-empty": "a number of records must be 1 or more (current: 0, no record is in use) - at RecordBuffer({type}).{function}(); bind at least one record: write some first, or make the buffer with data=batch; where only a shader writes them, make it with count={capacity}, or set its count = {capacity}",
        "limit": "{limit} is {most} on this device, and the adapter allows {allowed} (current: {current}) - at {where}; {way_out}",
        "whole": "{name} must be a whole number from {least} to {most} (current: {current}) - at {where}; {way_out}",
        "device-lost": "the device and the buffer must be alive (current: {current}) - at {function}(...); make new ones: what they held is gone",
        "device-silent": "the device must answer within {seconds} seconds (current: it has answered nothing) - at {function}(...); look for a shader that never ends, and make a new device",
        "frame-read": "a buffer that a frame has written to is read after the frame (current: inside it) - at {function}(...); read it after the with block ends",
        "frame-words": "records that end inside a word of 4 bytes keep its other half, which this frame writes on the device (current: a resize or a shader wrote it) - at write(...); write them after the with block ends",
        "encoder-words": "a write into an encoder must start and end at multiples of 4 bytes (current: records of {stride} bytes) - at write(..., encoder=...); write an even number of records from an even place, or leave encoder out",
        "usage-value": "usage must be wgpu.BufferUsage flags, or their names joined with |, without MAP_READ and MAP_WRITE (current: {current}) - at {function}(..., usage=...); use {suggestion}",
        "capacity": "records must end within the capacity, {capacity} (current: {start} + {count}) - at RecordBuffer({type}).{function}(...); call resize({needed}), or write fewer",
        "data-count": "data and count exclude each other (current: data and count={count}) - at RecordBuffer(..., data=..., count=...); leave count out: it is the number of records in data",
        "where-range": "where must name records within the capacity, {capacity} (current: {place}) - at write(..., where=...); call resize, or leave those records out",
        "header-missing": "only a struct that ends in a runtime-sized array has a header (current: {type}) - at write_header(...); use write(batch)",
        "dynamic-runtime": "dynamic offsets need records of a fixed size (current: {type} ends in a runtime-sized array) - at RecordBuffer(..., dynamic_offsets=True); leave it out",
        "dynamic-missing": "only records at dynamic offsets have a list of them (current: {type} records next to one another) - at offsets(...); make the RecordBuffer with dynamic_offsets=True",
        "shard-runtime": "records over several devices need a fixed size (current: {type} ends in a runtime-sized array) - at ShardedBuffer(...); use a RecordBuffer for the header on each, and shard the elements' type",
        "shard-capacity": "records must end within the capacity, {capacity} (current: {count}) - at ShardedBuffer({type}).write(...); make a ShardedBuffer of {count} records, or write fewer",
        "shard-count": "the records in use of a ShardedBuffer are those of its last batch (current: count=...) - at ShardedBuffer(..., count=...); leave it out, pass data=batch, or set the count of each of its buffers",
        "dispatch": "a dispatch may have at most {most} workgroups in two dimensions (current: {groups}) - at dispatch_size(...); use a larger workgroup_size, or several dispatches",
        "buffer-foreign": "the buffer must belong to the device (current: another device's) - at {function}(...); create it with create_buffer of the same device",
        "buffer-mapped": "the buffer must be unmapped (current: {current}) - at {function}(...); call buffer.unmap() first",
        "buffer-type": "{function} takes a wgpu buffer (current: {current}) - at {function}(...); make one with device.create_buffer, or pass the buffer of a RecordBuffer",
        "buffer-usage": "the buffer needs usage {usage} (current: {current}) - at {function}(...); create it with wgpu.BufferUsage.{usage} among its usage",
        "buffer-small": "the buffer must hold {needed} bytes from offset {offset} (current: {size} bytes) - at {function}(...); create a buffer of {total} bytes or write fewer records",
        "buffer-offset": "offset must be a multiple of {multiple} for {why} (current: {offset}) - at {function}(...); use {suggestion}",
    }


class CommandError(GpuStructError):
    """The command line asks for what cannot be done: a file that is not there, a struct that nobody declares.

    >>> from gpustruct.errors import CommandError
    >>> print(CommandError.of("folder-empty", name="shaders"))
    a folder must hold .wgsl or .wesl files at some depth (current: none) - at shaders; name the files
    """

    templates = {
        "file": "a file must be readable (current: {reason}) - at {name}; correct the path, or pass - for standard input",
        "encoding": "a shader must be UTF-8 (current: byte {byte}, {at} bytes in) - at {name}; convert it",
        "folder-empty": "a folder must hold .wgsl or .wesl files at some depth (current: none) - at {name}; name the files",
        "folder-write": "the folder for pictures must be writable (current: {reason}) - at {name}; pass another",
        "schema-module": "module:Class must name a module that can be imported (current: {reason}) - at {module}; run in the folder that has it, or set PYTHONPATH",
        "schema-class": "module:Class must name something in its module (current: no {path}) - at {module}:{path}; correct the name",
        "schema-type": "module:Class must name a gpustruct type (current: {current}) - at {name}; name a subclass of Struct",
        "struct-missing": "--struct must name a struct of the input (current: {name}) - at {where}; it has {known}",
        "percent": "it must be a percentage from 0 to 100 (current: {value}) - at --waste; leave it out for 25",
        "whole-number": "it must be a whole number from {least} to {most} (current: {value}) - at {option}; such as {example}",
        "size-schema": "a schema must have so many records in {most} bytes (current: {sizes} records of {schemas}) - at --size; use at most {records}",
        "memory": "it must fit into memory (current: {reason}) - at gpustruct {command}; use less of it",
        "write": "a file must be writable (current: {reason}) - at {name}; pass another path",
        "nothing": "there must be something to {verb} (current: no host-shareable struct or binding) - at {where}; pass another file",
        "part-missing": "gpustruct {command} needs a part that is not installed (current: {reason}) - at gpustruct {command}; reinstall gpustruct",
    }
