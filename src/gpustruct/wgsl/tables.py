"""lark's parser for grammar.lark, with the tables that the build saved.

setup.py runs this file before gpustruct can be imported, so it must import nothing from gpustruct.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from pathlib import Path
from typing import Any

import lark
from lark.lexer import Lexer

GRAMMAR = Path(__file__).with_name("grammar.lark")
SAVED = Path(__file__).with_name("grammar.tables")
_OPTIONS: dict[str, Any] = {"parser": "lalr", "start": "item"}


def parser(lexer: type[Lexer], transformer: Any, saved: Path = SAVED) -> lark.Lark:
    """The parser, from the tables in `saved`; built from the grammar if that file is missing, damaged, or of another grammar or lark."""
    try:
        digest, _, tables = saved.read_bytes().partition(b"\n")
    except OSError:
        digest = tables = b""
    if digest != _digest(tables):
        return _made(lexer, transformer)
    found = pickle.loads(tables)
    found["data"]["options"] |= {"lexer": lexer, "transformer": transformer}
    found["data"]["parser"]["lexer_conf"]["lexer_type"] = lexer
    return lark.Lark.load(found)


def save(path: Path) -> None:
    """Write the tables to `path`, after a digest of them, of the grammar and of lark's version."""
    written = io.BytesIO()
    # The lexer does not matter, except that it must be picklable, as lark's own is.
    _made("basic", None).save(written)
    tables = written.getvalue()
    path.write_bytes(_digest(tables) + b"\n" + tables)


def _made(lexer: Any, transformer: Any) -> lark.Lark:
    return lark.Lark(GRAMMAR.read_text("utf-8"), lexer=lexer, transformer=transformer, **_OPTIONS)


def _digest(tables: bytes) -> bytes:
    made_from = repr((GRAMMAR.read_bytes(), _OPTIONS, lark.__version__)).encode()
    return hashlib.sha256(made_from + tables).hexdigest().encode()
