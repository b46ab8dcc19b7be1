"""Follows the way out of an error: the end of its message is evaluated, as a user would type it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from gpustruct import SourceError

NAMES = {"np": "numpy", "pd": "pandas", "pl": "polars", "pa": "pyarrow", "pyarrow": "pyarrow"}


def code_of(error: SourceError) -> str:
    """The code in a message's last part: after "; ", and after the colon that says what it does."""
    message = str(error).rpartition(" - at ")[2]
    return message.partition("; ")[2].partition(": ")[2]


def follow(make: Callable[[Any], Any], source: Any, name: str = "column", steps: int = 4) -> Any:
    """What `make` gives, each of its errors followed; fails if that takes too long or the code does not run."""
    importlib.import_module("pyarrow.compute")
    scope = {short: importlib.import_module(long) for short, long in NAMES.items()}
    messages: list[str] = []
    for _ in range(steps):
        try:
            return make(source)
        except SourceError as error:
            messages.append(str(error))
            code = code_of(error)
            assert code, messages
            try:
                source = eval(code, {**scope, name: source, "source": source})
            except Exception as wrong:
                raise AssertionError(f"{code!r} does not run: {wrong!r}; after {messages}") from wrong
    raise AssertionError(messages)
