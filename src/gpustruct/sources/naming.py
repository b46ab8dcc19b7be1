"""Columns by name: which column of a source feeds which member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..batches import Batch, Parts, Slot
from ..column_checks import check_dtype, is_struct
from ..errors import SourceError
from ..libraries import Shelf, read_column
from ..libraries.arrays import describe, refused_source

Renames = Mapping[str, Any]


def from_shelf(cls: Any, shelf: Shelf, renames: Renames) -> Any:
    """A batch of `cls` from a shelf: members by name, nested ones by a nested value or by dotted names.

    Raises SourceError for a member without a column, a column without a member, and for bad renames.
    """
    keys = list(map(str, shelf.keys))
    twice = next((key for key in keys if keys.count(key) > 1), None) if len(set(keys)) != len(keys) else None
    if twice is not None:
        raise SourceError.of("column-twice", name=twice, where=shelf.where)
    pick = _Pick(dict(zip(keys, shelf.keys, strict=True)), shelf, dict(renames))
    made = pick.batch(cls, "")
    pick.finish(cls)
    return made


class _Pick:
    """One walk over a type's members; notes which columns were taken and which members found none."""

    def __init__(self, keys: dict[str, Any], shelf: Shelf, renames: dict[str, Any]) -> None:
        self.keys, self.shelf, self.renames = keys, shelf, renames
        self.used: set[str] = set()
        self.missing: list[str] = []

    def batch(self, cls: Any, prefix: str) -> Any:
        columns = {name: self.column(slot, prefix + name) for name, slot in cls.__members__.items()}
        return None if self.missing else cls(**columns)

    def column(self, slot: Slot, path: str) -> Any:
        where = f"{self.shelf.where}.{path}"
        if path in self.renames:
            return self.renamed(slot, path, self.renames.pop(path), where)
        if path in self.keys:
            self.used.add(path)
            inner = {k[len(path) + 1 :]: v for k, v in self.renames.items() if k.startswith(path + ".")}
            self.renames = {k: v for k, v in self.renames.items() if not k.startswith(path + ".")}
            value = self.shelf.get(self.keys[path], slot, where)
            return from_shelf(slot.core, value._replace(where=where), inner) if isinstance(value, Shelf) else value
        dotted = any(name.startswith(path + ".") for name in (*self.keys, *self.renames))
        if dotted and slot.core.__layout__.kind == "struct":
            return self.batch(slot.core, path + ".")
        self.missing.append(path)
        return None

    def renamed(self, slot: Slot, path: str, name: Any, where: str) -> Any:
        names = name if isinstance(name, tuple | list) else (name,)
        unknown = [str(n) for n in names if str(n) not in self.keys]
        if unknown:
            came = ", ".join(self.keys) or "nothing"
            raise SourceError.of("rename-column", unknown=", ".join(unknown), where=where, came=came)
        self.used.update(map(str, names))
        if names is not name:
            value = self.named(str(name), slot, where)
            return from_shelf(slot.core, value._replace(where=where), {}) if isinstance(value, Shelf) else value
        if slot.core.__layout__.kind == "struct":
            way_out = f"{path}.member=(...)"
            raise SourceError.of("rename-value", current=repr(name), where=where, way_out=way_out)
        return Parts(tuple(self.named(str(n), slot, f"{where}[{k}]") for k, n in enumerate(names)), (), ())

    def named(self, name: str, slot: Slot, where: str) -> Any:
        """The source's column `name`, checked here, where messages can say its name."""
        where, slot = f"{where} (column {name!r})", slot._replace(name=name)
        value = self.shelf.get(self.keys[name], slot, where)
        if is_struct(slot):
            return value
        array = read_column(value, slot, where)
        if isinstance(array, Parts):
            raise refused_source(describe(value), slot, where)
        check_dtype(slot, array, where)
        return array

    def finish(self, cls: Any) -> None:
        unknown = [key for key in self.keys if key not in self.used]
        facts = {
            "where": self.shelf.where,
            "expected": ", ".join(member_names(cls)),
            "came": ", ".join(self.keys) or "nothing",
        }
        if self.renames:
            raise SourceError.of(
                "rename-member", unknown=", ".join(self.renames), type=cls.__name__, expected=facts["expected"]
            )
        if unknown:
            raise SourceError.of("columns-unknown", unknown=", ".join(unknown), **facts)
        if self.missing:
            raise SourceError.of("columns-missing", missing=", ".join(self.missing), **facts)


def member_names(cls: type[Batch], prefix: str = "") -> list[str]:
    """The members of a type, those of nested structs dotted."""
    names: list[str] = []
    for name, slot in cls.__members__.items():
        nested = slot.core.__layout__.kind == "struct"
        names += member_names(slot.core, f"{prefix}{name}.") if nested else [prefix + name]
    return names
