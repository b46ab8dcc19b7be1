"""The memory layout of WGSL types: integers only.

The four rules (WGSL §14.4.1, "Alignment and Size"): a type has an align and a size; a member starts
at the next multiple of its align; a struct is as aligned as its most aligned member and its size is a
multiple of that; an array's stride is its element's size rounded up to the element's align.
Everything here is bytes, and nothing here knows a Python class.
"""

from .arithmetic import MAX_BYTES, MAX_COUNT, MAX_DEPTH, MAX_MEMBERS, round_up, whole_number
from .building import MemberSpec, array, atomic, matrix, scalar, struct, vector, vertex_format
from .extents import extent, record_bytes, records_in
from .leaves import Leaf, leaves
from .packed import is_host_shareable, unpack_function, wgsl_name, wgsl_scalar
from .parts import parts, structs_in
from .record import Kind, Layout, Member, Padding
from .rules import VERTEX, WGSL, Rules
from .scalars import FLOATS, INTEGERS, RECORD_SCALARS, SCALARS, Scalar

__all__ = [
    "FLOATS",
    "INTEGERS",
    "MAX_BYTES",
    "MAX_COUNT",
    "MAX_DEPTH",
    "MAX_MEMBERS",
    "RECORD_SCALARS",
    "SCALARS",
    "VERTEX",
    "WGSL",
    "Kind",
    "Layout",
    "Leaf",
    "Member",
    "MemberSpec",
    "Padding",
    "Rules",
    "Scalar",
    "array",
    "atomic",
    "extent",
    "is_host_shareable",
    "leaves",
    "matrix",
    "parts",
    "record_bytes",
    "records_in",
    "round_up",
    "scalar",
    "struct",
    "structs_in",
    "unpack_function",
    "vector",
    "vertex_format",
    "wgsl_name",
    "wgsl_scalar",
    "whole_number",
]
