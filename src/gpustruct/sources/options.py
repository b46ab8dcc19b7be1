"""What `batch` does with columns that no member has, and with members that have no column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..batches import Batch, ColumnSpec
from ..column_specs import is_struct
from ..errors import SourceError, brief, likely

_PARAMETERS = ("extra", "defaults")


class Options(NamedTuple):
    """`extra`: ignore columns without a member. `defaults`: values for members without a column, by dotted name.

    `root` and `renames` are arguments of the call of `batch`, which messages repeat; "" for other calls.
    """

    extra: bool = False
    defaults: Mapping[str, Any] = {}
    root: str = ""
    renames: tuple[tuple[str, Any], ...] = ()

    def inside(self, name: str) -> Options:
        """The same for the members of the struct `name`."""
        start = f"{name}."
        found = {key[len(start) :]: value for key, value in self.defaults.items() if key.startswith(start)}
        return self._replace(defaults=found)

    def has_inside(self, name: str) -> bool:
        """Whether there is a default for a member of the struct `name`."""
        return any(key.startswith(f"{name}.") for key in self.defaults)


NO_OPTIONS = Options()


def options_of(cls: Any, extra: Any, defaults: Any, renames: Mapping[str, Any]) -> Options:
    """The options of a call of `batch`; SourceError for illegal ones."""
    name = cls.__name__
    if not isinstance(extra, str) or extra not in ("refuse", "ignore"):
        way_out = f"a column for a member of that name goes into the mapping: batch({name}, source, {{'extra': {brief(extra)}}})"
        raise SourceError.of("extra-value", current=brief(extra), type=name, way_out=way_out)
    if defaults is None:
        return Options(extra == "ignore", {}, name, tuple(renames.items()))
    if not isinstance(defaults, Mapping):
        way_out = f"a column for a member of that name goes into the mapping: batch({name}, source, {{'defaults': {brief(defaults)}}})"
        raise SourceError.of("defaults-value", current=brief(defaults), type=name, way_out=way_out)
    leaves = member_names(cls)
    known = {path.rsplit(".", k)[0] for path in leaves for k in range(path.count(".") + 1)}
    unknown = [str(key) for key in defaults if key not in known or not isinstance(key, str)]
    if unknown:
        expected = ", ".join(path for path in leaves if path) or "no members"
        raise SourceError.of("defaults-member", unknown=", ".join(unknown), type=name, expected=expected)
    return Options(extra == "ignore", dict(defaults), name, tuple(renames.items()))


def member_names(cls: type[Batch], prefix: str = "") -> list[str]:
    """The members of a type; those of nested structs have dotted names."""
    names: list[str] = []
    for name, spec in cls.__members__.items():
        names += member_names(spec.core, f"{prefix}{name}.") if is_struct(spec) else [prefix + name]
    return names


def way_out_of(
    options: Options, cls: Any, prefix: str, missing: Iterable[str], unknown: Iterable[str], *, records: bool
) -> str:
    """What to type if a source of `cls` lacks members or has extra columns.

    `prefix` is where `cls` is in the type that is passed to `batch`, as dotted names start there.
    """
    root, path = (options.root, prefix) if options.root else (cls.__name__, "")
    given = dict(options.renames) if options.root else {}
    lacked, odd = list(missing), list(unknown)
    for name in odd if records or not path else ():
        meant = lacked[0] if len(lacked) == len(odd) == 1 else likely(name, lacked)
        if meant and meant != name:
            return f"rename it: {_call(root, {**given, path + meant: name}, options.extra)}"
    defaults = [zero for name in lacked for zero in _zeros(cls, name, path, records=records)]
    said = "pass over it, and give a default" if odd and lacked else "pass over it" if odd else "give a default"
    return f"{said}: {_call(root, given, options.extra or bool(odd), defaults)}"


def _call(root: str, renames: Mapping[str, Any], extra: bool, defaults: Iterable[str] = ()) -> str:
    """The call of `batch` that a message suggests."""
    plain = {name: column for name, column in renames.items() if name.isidentifier() and name not in _PARAMETERS}
    dotted = {name: column for name, column in renames.items() if name not in plain}
    arguments = [root, "source", *([repr(dotted)] if dotted else [])]
    arguments += [f"{name}={column!r}" for name, column in plain.items()]
    arguments += ["extra='ignore'"] if extra else []
    given = ", ".join(defaults)
    return f"batch({', '.join([*arguments, *([f'defaults={{{given}}}'] if given else [])])})"


def _zeros(cls: Any, name: str, path: str, *, records: bool) -> list[str]:
    """Entries for a mapping of defaults: zero for a member, or for each member of a struct."""
    head, _, rest = name.partition(".")
    spec: ColumnSpec = cls.__members__[head]
    if rest:
        return _zeros(spec.core, rest, f"{path}{head}.", records=records)
    if not is_struct(spec):
        shape = spec.inner[0] if len(spec.inner) == 1 else spec.inner
        value = f"np.zeros({shape}, int)" if spec.inner else "0"
    elif spec.type is spec.core:
        return [
            zero
            for inner in spec.core.__members__
            for zero in _zeros(spec.core, inner, f"{path}{head}.", records=records)
        ]
    else:
        value = "zero_filled([])" if records else f"np.zeros({spec.dims}, dtype_of({spec.core.__name__}))"
    return [f"{path + head!r}: {value}"]
