"""Columns by name: which column of a source is for which member."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..batches import ColumnSpec, SplitColumn
from ..column_checks import check_dtype
from ..column_specs import is_struct
from ..errors import SourceError, brief
from ..libraries import NamedColumns, read_column
from ..libraries.arrays import describe, refused_source
from .options import NO_OPTIONS, Options, member_names, way_out_of
from .records import from_records

Renames = Mapping[str, Any]
NO_RENAMES: Renames = {}


class RecordList(NamedTuple):
    """A column of records that are Python objects, such as a list of dicts for a nested struct."""

    source: Iterable[Any]


def batch_of(
    spec: ColumnSpec, value: Any, where: str, renames: Renames = NO_RENAMES, options: Options = NO_OPTIONS
) -> Any:
    """A struct's column as a batch if it is NamedColumns or a RecordList; any other value is returned unchanged."""
    if isinstance(value, RecordList):
        return from_records(spec.core, value.source, renames, where, options)
    if isinstance(value, NamedColumns):
        return match_columns(spec.core, value._replace(where=where), renames, options)
    return value


def match_columns(cls: Any, source: NamedColumns, renames: Renames, options: Options = NO_OPTIONS) -> Any:
    """A batch of `cls` from named columns: members by name, nested ones by a nested value or by dotted names.

    Raises SourceError for a member without a column, a column without a member, and for bad renames; `options` may
    allow the first two.
    """
    keys = list(map(str, source.keys))
    twice = next((key for key in keys if keys.count(key) > 1), None) if len(set(keys)) != len(keys) else None
    if twice is not None:
        raise SourceError.of("column-twice", name=twice, where=source.where)
    matcher = Matcher(dict(zip(keys, source.keys, strict=True)), source, dict(renames), options)
    made = matcher.batch(cls, "")
    matcher.finish(cls)
    return made


class Matcher:
    """Finds a column for each member; notes which columns were used and which members have none."""

    def __init__(self, keys: dict[str, Any], source: NamedColumns, renames: dict[str, Any], options: Options) -> None:
        self.keys, self.source, self.renames, self.options = keys, source, renames, options
        self.used: set[str] = set()
        self.missing: list[str] = []

    def batch(self, cls: Any, prefix: str) -> Any:
        columns = {name: self.column(spec, prefix + name) for name, spec in cls.__members__.items()}
        return None if self.missing else cls(**columns)

    def column(self, spec: ColumnSpec, path: str) -> Any:
        where = f"{self.source.where}.{path}"
        if path in self.renames:
            return self.renamed(spec, path, self.renames.pop(path), where)
        if path in self.keys:
            self.used.add(path)
            inner = {k[len(path) + 1 :]: v for k, v in self.renames.items() if k.startswith(path + ".")}
            self.renames = {k: v for k, v in self.renames.items() if not k.startswith(path + ".")}
            value = self.source.get(self.keys[path], spec, where)
            return batch_of(spec, value, where, inner, self.options.inside(path))
        dotted = any(name.startswith(path + ".") for name in (*self.keys, *self.renames))
        if is_struct(spec) and (dotted or (path not in self.options.defaults and self.options.has_inside(path))):
            return self.batch(spec.core, path + ".")
        if path in self.options.defaults:
            return self.options.defaults[path]
        self.missing.append(path)
        return None

    def renamed(self, spec: ColumnSpec, path: str, name: Any, where: str) -> Any:
        names = name if isinstance(name, tuple | list) else (name,)
        unknown = [str(n) for n in names if str(n) not in self.keys]
        if unknown and path in self.options.defaults:
            self.used.update(map(str, names))
            return self.options.defaults[path]
        if unknown:
            came = ", ".join(self.keys) or "nothing"
            raise SourceError.of("rename-column", unknown=", ".join(unknown), where=where, came=came)
        self.used.update(map(str, names))
        if names is not name:
            value = named_column(self.source, self.keys, str(name), spec, where)
            return batch_of(spec, value, where, {}, self.options.inside(path))
        if spec.core.__layout__.kind == "struct":
            way_out = f"{path}.member=(...)"
            raise SourceError.of("rename-value", current=brief(name), where=where, way_out=way_out)
        return split_column(self.source, self.keys, map(str, names), spec, where)

    def finish(self, cls: Any) -> None:
        known = self.used | self.source.padding
        unknown = [] if self.options.extra else [key for key in self.keys if key not in known]
        where, expected = self.source.where, ", ".join(member_names(cls))
        if self.renames:
            raise SourceError.of("rename-member", unknown=", ".join(self.renames), type=cls.__name__, expected=expected)
        if not unknown and not self.missing:
            return
        facts = {"where": where, "expected": expected, "came": ", ".join(self.keys) or "nothing"}
        prefix = f"{where.partition('.')[2]}.".lstrip(".")
        facts["way_out"] = way_out_of(self.options, cls, prefix, self.missing, unknown, records=False)
        if unknown:
            raise SourceError.of("columns-unknown", unknown=", ".join(unknown), **facts)
        raise SourceError.of("columns-missing", missing=", ".join(self.missing), **facts)


def named_column(source: NamedColumns, keys: Mapping[str, Any], name: str, spec: ColumnSpec, where: str) -> Any:
    """The source's column `name`. It is checked here because here messages can say that name."""
    where, spec = f"{where} (column {name!r})", spec._replace(name=name)
    value = source.get(keys[name], spec, where)
    if is_struct(spec):
        return value
    array = read_column(value, spec, where)
    if isinstance(array, SplitColumn):
        raise refused_source(describe(value), spec, where)
    check_dtype(spec, array, where)
    return array


def split_column(
    source: NamedColumns, keys: Mapping[str, Any], names: Iterable[str], spec: ColumnSpec, where: str
) -> SplitColumn:
    """A vector's components from the columns of these names."""
    parts = (named_column(source, keys, name, spec, f"{where}[{k}]") for k, name in enumerate(names))
    return SplitColumn(tuple(parts), (), ())
