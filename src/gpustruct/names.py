"""Which names WGSL allows.

WGSL §3.7 (keywords), §3.8 (identifiers), §16.1 (keyword summary) and §16.2 (reserved words).
"""

from __future__ import annotations

import re
import unicodedata

KEYWORDS = frozenset(
    """alias break case const const_assert continue continuing default diagnostic discard else
    enable false fn for if let loop override requires return struct switch true var while""".split()
)

RESERVED = frozenset(
    """NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become
    cast catch class co_await co_return co_yield coherent column_major common compile
    compile_fragment concept const_cast consteval constexpr constinit crate debugger decltype delete
    demote demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough
    filter final finally friend from fxgroup get goto groupshared highp impl implements import inline
    instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut mutable
    namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null
    nullptr of operator package packoffset partition pass patch pixelfragment precise precision premerge
    priv protected pub public readonly ref regardless register reinterpret_cast require resource
    restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super
    target template this thread_local throw trait try type typedef typeid typename typeof union unless
    unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield""".split()
)


def is_identifier(name: str) -> bool:
    """Whether `name` has the form of a WGSL identifier (§3.8). Reserved words have it too.

    >>> is_identifier("position"), is_identifier("Δt"), is_identifier("_"), is_identifier("__x")
    (True, True, False, False)
    """
    if name == "_" or name.startswith("__") or not name:
        return False
    # Python's identifiers have the same form, but Python normalises them (NFKC) first and WGSL does not. A name that
    # normalising would change is checked character by character.
    if unicodedata.is_normalized("NFKC", name):
        return name.isidentifier()
    return all(character == "_" or ("a" + character).isidentifier() for character in name) and (
        name[0] == "_" or name[0].isidentifier()
    )


def is_reserved(name: str) -> bool:
    """Whether `name` is a keyword or a reserved word of WGSL.

    >>> is_reserved("target"), is_reserved("size")
    (True, False)
    """
    return name in KEYWORDS or name in RESERVED


def is_legal(name: str) -> bool:
    """Whether `name` is a legal name for a struct or a member.

    >>> is_legal("size"), is_legal("loop"), is_legal("2d")
    (True, False, False)
    """
    return is_identifier(name) and not is_reserved(name)


def suggest(name: str) -> str:
    """A legal name that is similar to `name`.

    >>> suggest("target"), suggest("2d"), suggest("a b"), suggest("__x"), suggest("")
    ('target_', '_2d', 'a_b', 'x', 'x_')
    """
    plain = re.sub(r"\W+", "_", name).strip("_")
    return next((near for near in (plain, f"{plain}_", f"_{plain}") if is_legal(near) and near != "_"), "x_")


_PADDING = re.compile(r"(?:\w*_)?(?i:pad|padding|unused|reserved|dummy|filler)(?:_*[0-9]+|_+[A-Za-z0-9]{1,2}|[A-Z])?_*")


def is_padding(name: str) -> bool:
    """Whether `name` is a usual name for padding that people write by hand.

    >>> is_padding("_pad"), is_padding("pad0"), is_padding("_padding_1"), is_padding("align_pad")
    (True, True, True, True)
    >>> is_padding("paddle"), is_padding("pad_position"), is_padding("position")
    (False, False, False)
    """
    return _PADDING.fullmatch(name) is not None
