"""Override declarations, and expressions that depend on them. WGSL §7.2.3 (override declarations).

Without values for its overrides a module is only parsed. An expression that fails for the default values is then not
an error, because a pipeline may give others. An error that no value can avoid, such as a wrong type, is raised at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import WgslError
from . import attributes, kinds, operators
from .kinds import Type
from .module import Override
from .scope import Scope
from .syntax import Declaration
from .values import Unknown, Value

# Values to try for overrides to find the type of an expression. Most expressions work with one of them.
_TRIAL_VALUES = (1, 2, 3, 7)


class Overrides:
    """The overrides of one module and their values. `given` is None if the module is only parsed."""

    def __init__(self, scope: Scope, given: Mapping[Any, Any] | None) -> None:
        self.scope = scope
        self.is_checked = given is not None
        self.known: dict[str, Override] = {}
        self.values: dict[str, Value] = {}
        self.uses = 0
        self._given = dict(given or {})
        self._types: dict[str, Type] = {}
        self._reasons: dict[str, str] = {}
        self._trial_value = 0

    def value_of(self, name: str) -> Value:
        """The value of an override. Raises Unknown if it has none."""
        self.uses += 1
        kind = self._types[name]
        if self._trial_value:
            return Value(kind, operators.fit(kind.scalar, self._trial_value))
        if name not in self.values:
            raise Unknown(self._reasons[name])
        return self.values[name]

    def evaluated(self, node: Any) -> tuple[Value | None, Type | None]:
        """The value and the type of an expression that may depend on overrides; None for either if it is not known.

        Raises WgslError for an error that no value of the overrides can avoid.
        """
        try:
            value = self.scope.evaluator.value(node)
            return value, value.type
        except Unknown:
            pass
        except WgslError as error:
            if error.rule != "override-fault" or self.is_checked:
                raise
        return None, self._type_of(node)

    def _type_of(self, node: Any) -> Type | None:
        for self._trial_value in _TRIAL_VALUES:
            try:
                return self.scope.evaluator.value(node).type
            except Unknown:
                return None
            except WgslError as error:
                if error.rule != "override-fault":
                    raise
            finally:
                self._trial_value = 0
        return None

    def integer(self, node: Any, what: str) -> tuple[int | None, bool]:
        """The value of an integer expression, and whether it depends on overrides; None if it is not known."""
        before = self.uses
        value, kind = self.evaluated(node)
        used = self.uses > before
        shown = value or (Value(kind, 1) if kind else None)
        number = None if shown is None else self.scope.evaluator.integer_of(shown, node.offset, what)
        if value is None or (used and not self.is_checked and number is not None and number < 1):
            return None, used
        return number, used

    # Declarations.

    def declare(self, declaration: Declaration) -> None:
        """Add an override. Raises WgslError if it breaks a rule, or if the value given for it does not fit."""
        number = self._id(declaration)
        value: Value | None = None
        found: Type | None = None
        if declaration.value is not None:
            value, found = self.evaluated(declaration.value)
        kind = self._types[declaration.name] = self._type(declaration, found)
        if value is not None and declaration.value is not None:
            value = self.scope.evaluator.implicit(value, kind, declaration.value.offset)
        for key in (declaration.name, number, None if number is None else str(number)):
            if key is not None and key in self._given:
                value = self._given_value(self._given.pop(key), kind)
        line = self.scope.source.line_at(declaration.offset)
        has_default = declaration.value is not None
        self.known[declaration.name] = Override(
            declaration.name, number, kind.name, value.data if value else None, line, has_default
        )
        if value is None:
            self._reasons[declaration.name] = f"override {declaration.name} has no value"
        else:
            self.values[declaration.name] = value

    def _id(self, declaration: Declaration) -> int | None:
        source = self.scope.source
        found = attributes.by_name(self.scope, declaration.attributes, {"id": (1,)}, "an override")
        if "id" not in found:
            return None
        number, offset = self.scope.integer(found["id"].arguments[0], "@id"), found["id"].offset
        if not 0 <= number < 65536:
            raise source.error("override-id", offset, id=number)
        twin = next((other.name for other in self.known.values() if other.id == number), None)
        if twin is not None:
            raise source.error("override-id-twice", offset, id=number, other=twin)
        return number

    def _type(self, declaration: Declaration, found: Type | None) -> Type:
        source = self.scope.source
        if declaration.type is not None:
            kind = self.scope.type_of(declaration.type)
            if found is not None and found.family != "abstract" and not kinds.same(found, kind):
                raise source.error("no-conversion", declaration.value.offset, before=found.name, wanted=kind.name)
        elif declaration.value is None:
            raise source.error("override-type", declaration.offset, current="neither a type nor a value")
        else:
            kind = kinds.concrete(found) if found else kinds.F32
        if kind.family != "scalar":
            raise source.error("override-type", declaration.offset, current=kind.name)
        return kind

    def _given_value(self, given: Any, kind: Type) -> Value:
        number = given.item() if hasattr(given, "item") and not isinstance(given, bool) else given
        try:
            if not isinstance(number, int | float) or (kind.scalar in operators.INTEGERS and number != int(number)):
                raise operators.Fault
            return Value(kind, operators.fit(kind.scalar, number))
        except (operators.Fault, ValueError, OverflowError):
            raise WgslError.of("override-value", type=kind.name, value=given) from None

    def check_given(self) -> None:
        """Raise WgslError for a value whose name or @id no override has."""
        for key in self._given:
            known = ", ".join(self.known) or "none"
            raise WgslError.of("override-unknown", name=key, known=known)
