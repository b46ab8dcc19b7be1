"""The interface of the resolver (declarations.py) for the modules that check parts of declarations."""

from __future__ import annotations

from typing import Any, Protocol

from ..errors import BackendWarning
from .kinds import Type
from .syntax import Declaration
from .targets import Target
from .values import Names, Value


class Expressions(Protocol):
    """Evaluates expressions."""

    def value(self, node: Any) -> Value: ...
    def integer_of(self, value: Value, offset: int, what: str) -> int: ...
    def implicit(self, value: Value, wanted: Type, offset: int) -> Value: ...


class Scope(Names, Protocol):
    """The scope of one shader module."""

    enabled: set[str]
    declared: dict[str, Declaration]
    target: Target

    @property
    def evaluator(self) -> Expressions: ...
    def warn(self, *warnings: BackendWarning) -> None: ...
    def constant(self, node: Any, decides: str) -> Value: ...
    def integer(self, node: Any, what: str) -> int: ...
    def override_integer(self, node: Any, what: str) -> tuple[int | None, bool]: ...
