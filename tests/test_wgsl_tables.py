"""The parser's saved tables: they parse as the grammar does, and are used only where they are of this grammar and this lark."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lark
import pytest

from gpustruct import WgslError
from gpustruct.wgsl import syntax, tables, tokens
from gpustruct.wgsl.source import Source
from wgsl_texts import ENTRIES


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    tables.save(tmp_path / "grammar.tables")
    return tmp_path / "grammar.tables"


def parser(saved: Path) -> tuple[Any, bool]:
    """The parser, and whether its tables were loaded."""
    made: list[int] = []
    init = lark.Lark.__init__

    def counted(self: Any, *args: Any, **options: Any) -> None:
        made.append(1)
        init(self, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lark.Lark, "__init__", counted)
        return tables.parser(syntax._TokenLexer, syntax._Tree(), saved), not made


def outcomes(text: str, monkeypatch: pytest.MonkeyPatch, grammar: Any) -> list[Any]:
    """Each declaration of `text` as a tree, or the message that refuses it."""
    monkeypatch.setattr(syntax, "_grammar", lambda: grammar)
    found: list[Any] = []
    source = Source(text)
    try:
        offset, _ = tokens.next_start(source, 0)
        while offset < len(text):
            span = tokens.declaration_span(source, offset)
            try:
                found.append(syntax.tree(source, span))
            except WgslError as error:
                found.append(str(error))
            offset, _ = tokens.next_start(source, span.end)
    except WgslError as error:
        found.append(str(error))
    return found


def test_saved_tables_parse_as_those_that_the_grammar_makes(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (loaded, is_loaded), (made, is_made) = parser(saved), parser(saved.with_name("missing"))
    assert (is_loaded, is_made) == (True, False)
    refused = 0
    for entry in ENTRIES:
        expected = outcomes(entry["text"], monkeypatch, made)
        assert outcomes(entry["text"], monkeypatch, loaded) == expected
        refused += any(isinstance(outcome, str) for outcome in expected)
    assert 200 < refused < len(ENTRIES) - 200


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def changed(data: bytes) -> bytes:
    return data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]


def without_digest(data: bytes) -> bytes:
    return data.partition(b"\n")[2]


def empty(data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [cut, changed, without_digest, empty], ids=lambda damage: damage.__name__)
def test_damaged_tables_are_not_used(saved: Path, damage: Callable[[bytes], bytes]) -> None:
    saved.write_bytes(damage(saved.read_bytes()))
    found, is_loaded = parser(saved)
    assert not is_loaded
    assert found.parse([tokens.Token("CONST_ASSERT", "const_assert", 0), tokens.Token("TRUE", "true", 13), tokens.Token("_SEMICOLON", ";", 17)])  # fmt: skip


def test_tables_of_another_lark_are_not_used(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lark, "__version__", "1.2.99")
    assert not parser(saved)[1]


def test_tables_of_another_grammar_are_not_used(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = saved.with_name("grammar.lark")
    other.write_text(tables.GRAMMAR.read_text("utf-8").replace("CONST NAME typed?", "CONST NAME"), "utf-8")
    monkeypatch.setattr(tables, "GRAMMAR", other)
    assert not parser(saved)[1]
    tables.save(saved)
    assert parser(saved)[1]


def test_saved_tables_are_plain_data(saved: Path) -> None:
    class Plain(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            raise AssertionError(f"{module}.{name}")

    assert Plain(io.BytesIO(saved.read_bytes().partition(b"\n")[2])).load().keys() == {"data", "memo"}
