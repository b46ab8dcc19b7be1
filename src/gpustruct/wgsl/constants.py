"""Evaluates const-expressions. WGSL §8 (expressions)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .. import layout
from . import builtins, kinds, naga_additions, operators
from .builtins import FUNCTIONS, matrices
from .constructors import Constructors
from .kinds import BOOL, Type
from .operators import ArgumentFault, Fault
from .syntax import Access, Call, Chain, Literal, Name, Parenthesized, Postfix, Token, Unary
from .tokens import PLACEHOLDER
from .values import Names, Unknown, Value, each, from_parts, names_of, parts_of

_INTEGERS = (*layout.INTEGERS, kinds.ABSTRACT_INT)


class Evaluator(Constructors):
    """Evaluates the expressions of one module."""

    def __init__(self, scope: Names) -> None:
        super().__init__(scope)
        # Inside operands that && and || skip: nothing there is a fault, but types are checked.
        self._skipping = 0
        self._rules: dict[type, Callable[[Any], Value]] = {
            Literal: self._literal,
            Name: self._name,
            Call: self._call,
            Parenthesized: lambda node: self.value(node.inner),
            Postfix: self._postfix,
            Unary: self._unary,
            Chain: self._chain,
        }

    def value(self, node: Any) -> Value:
        """The value of an expression. Raises WgslError if it has none, Unknown if it is not known."""
        self.take(1, node.offset)
        before = self.scope.override_uses
        try:
            return self._rules[type(node)](node)
        except Fault as fault:
            raise self._faulty(fault, node.offset, before) from None

    def _faulty(self, fault: Fault, offset: int, before: int) -> Exception:
        """The WgslError of a fault, whose rule says whether an override was used since `before`; Unknown while skipping."""
        if self._skipping:
            return Unknown(str(fault))
        rule = "override-fault" if self.scope.override_uses > before else "constant-fault"
        return self.error(rule, offset, fault=str(fault))

    def integer_of(self, value: Value, offset: int, what: str) -> int:
        """The number in `value`. Raises WgslError unless it is an i32, a u32 or an abstract integer."""
        if value.type.family not in ("scalar", "abstract") or value.type.scalar not in _INTEGERS:
            raise self.error("integer-wanted", offset, what=what, type=value.type.name)
        if value.type is kinds.INT and not -(2**31) <= value.data < 2**31:
            raise self.error("constant-fault", offset, fault=f"{value.data} does not fit i32")
        return value.data

    # Leaves.

    def _literal(self, node: Literal) -> Value:
        if node.text in ("true", "false"):
            return Value(BOOL, node.text == "true")
        found = operators.literal(node.text)
        if found is None:
            raise self.error("literal", node.offset, text=node.text)
        self.scope.check_literal(node, found)
        return Value(kinds.vector(1, found.scalar), found.value)

    def _name(self, node: Name) -> Value:
        if node.text == PLACEHOLDER:
            raise Unknown("a template fills it in")
        kind = self.scope.kind_of(node.text)
        if kind in ("const", "override") and node.arguments is None:
            return self.scope.value_of(node.text, node.offset)
        what = "a function" if node.text in FUNCTIONS else "a type"
        if not kind and node.text not in FUNCTIONS:
            self.scope.type_of(node)
        raise self.error("not-constant", node.offset, what=f"{kind or what} {node.text}")

    # Calls: constructors, conversions, built-in functions.

    def _call(self, node: Call) -> Value:
        callee = node.callee
        kind = self.scope.kind_of(callee.text)
        if kind not in ("", "alias", "struct"):
            raise self.error("not-constant", callee.offset, what=f"a call of {kind} {callee.text}")
        values: list[Value] = []
        uses = [self.scope.override_uses]
        for argument in node.arguments:
            values.append(self.value(argument))
            uses.append(self.scope.override_uses)
        if not kind and callee.text in FUNCTIONS:
            return self._function(node, values, uses)
        if not kind and builtins.is_runtime(callee.text):
            raise self.error("not-constant", callee.offset, what=f"a call of {callee.text}()")
        if not kind and callee.arguments is None and (inferred := self.inferred(callee, values)):
            return self.construct(inferred, values, node)
        return self.construct(self.scope.type_of(callee), values, node)

    def _function(self, node: Call, values: list[Value], uses: list[int]) -> Value:
        """The value of a built-in function.

        `uses` counts the uses of overrides before each argument and after the last.
        """
        name, template = node.callee.text, node.callee.arguments
        count, run = FUNCTIONS[name]
        result = None
        if name == "bitcast" and template is not None and len(template) == 1 and isinstance(template[0], Name):
            result = self.scope.type_of(template[0])
        elif template is not None:
            raise self.error(
                "template-arguments", node.offset, type=f"{name}()", wanted="no template list", given="one"
            )
        call = builtins.Call(self, name, values, node.offset, result)
        if len(values) != count:
            raise call.refusal()
        try:
            found = run(call)
        except Fault as fault:
            if self._skipping:
                return run(builtins.Call(self, name, [_ones(value) for value in values], node.offset, result))
            if not isinstance(fault, ArgumentFault):
                raise
            # If only constants cause the fault, no value of an override can avoid it.
            is_constant = uses[fault.first] == uses[fault.last + 1]
            start = self.scope.override_uses if is_constant else uses[0]
            raise self._faulty(fault, node.offset, start) from None
        if name in naga_additions.NOT_CONSTANT:
            self.scope.warn_at("naga-constant", node.offset, what=f"{name}()")
        return found

    # Operators.

    def _unary(self, node: Unary) -> Value:
        value = self.value(node.operand)
        for sign in reversed(node.signs):
            scalar = value.type.scalar if value.type.family in ("scalar", "abstract", "vector") else ""
            run: Callable[[Any], Any] | None = None
            if sign == "-" and scalar not in ("", "u32", "bool"):
                run = partial(operators.negated, scalar)
            elif sign == "!" and scalar == "bool":
                run = lambda part: not part  # noqa: E731
            elif sign == "~" and scalar in operators.INTEGERS:
                run = lambda part: operators.wrap(scalar, ~part)  # noqa: B023, E731
            if run is None:
                raise self.error("operator", node.offset, sign=sign, types=value.type.name)
            value = Value(value.type, each(run, value.data))
        return value

    def _chain(self, node: Chain) -> Value:
        before = self.scope.override_uses
        result = self.value(node.operands[0])
        for sign, operand in zip(node.signs, node.operands[1:], strict=True):
            if sign.text in ("&&", "||") and result.type is BOOL and result.data == (sign.text == "||"):
                self._check_skipped(sign, result, operand)
                continue
            uses = self.scope.override_uses
            right = self.value(operand)
            try:
                result = self._binary(sign, result, right)
            except Fault as fault:
                if self._skipping:
                    # Only the type matters, which values that no operator fails for have too.
                    result = self._binary(sign, _ones(result), _ones(right))
                    continue
                # If a constant on the right causes the fault, no value of an override on the left can avoid it.
                is_constant = self.scope.override_uses == uses and _always_fails(sign.text, result, right)
                start = self.scope.override_uses if is_constant else before
                raise self._faulty(fault, sign.offset, start) from None
        return result

    def _check_skipped(self, sign: Token, left: Value, operand: Any) -> None:
        """Raise WgslError unless an operand that is not evaluated is a bool, as far as its type is known."""
        self._skipping += 1
        try:
            right = self.value(operand)
        except Unknown:
            return
        finally:
            self._skipping -= 1
        if right.type is not BOOL:
            raise self.error("operator", sign.offset, sign=sign.text, types=names_of([left, right]))

    def _binary(self, sign: Token, left: Value, right: Value) -> Value:
        text, offset, kind = sign.text, sign.offset, left.type
        if (
            kind is right.type
            and kind.family in ("scalar", "abstract")
            and kind is not BOOL
            and text in operators.ARITHMETIC
        ):
            return Value(kind, operators.ARITHMETIC[text](kind.scalar, left.data, right.data))
        refusal = self.error("operator", offset, sign=text, types=names_of([left, right]))
        if "matrix" in (left.type.family, right.type.family) and text in ("+", "-", "*"):
            if (found := matrices.arithmetic(self, text, left, right, offset)) is not None:
                return found
            raise refusal
        if text in ("<<", ">>"):
            return self._shifted(sign, left, right)
        scalar = self.common_scalar((left.type, right.type), offset)
        if not _has_operator(text, scalar, left.type, right.type):
            raise refusal
        rows, pairs = self.aligned([left, right], scalar, offset, text)
        if text in operators.ARITHMETIC:
            return from_parts(rows, scalar, [operators.ARITHMETIC[text](scalar, a, b) for a, b in pairs])
        if text in operators.BITWISE:
            if scalar == "bool":
                self.scope.warn_at("naga-constant", offset, what=f"{text} of bools")
            return from_parts(rows, scalar, [operators.BITWISE[text](a, b) for a, b in pairs])
        if text in operators.COMPARISON:
            return from_parts(rows, "bool", [operators.COMPARISON[text](a, b) for a, b in pairs])
        return right

    def _shifted(self, sign: Token, left: Value, right: Value) -> Value:
        rows, by = self.aligned([right], "u32", sign.offset, sign.text)
        scalar = left.type.scalar
        if left.type.family == "matrix" or scalar not in operators.INTEGERS or rows != left.type.rows:
            raise self.error("operator", sign.offset, sign=sign.text, types=names_of([left, right]))
        parts = [operators.shift(sign.text, scalar, a, b) for a, (b,) in zip(parts_of(left), by, strict=True)]
        return from_parts(rows, scalar, parts)

    # Parts of a value.

    def _postfix(self, node: Postfix) -> Value:
        value = self.value(node.base)
        for step in node.steps:
            value = self._component(value, step) if step.name is not None else self._indexed(value, step)
        return value

    def _component(self, value: Value, step: Access) -> Value:
        type_, name = value.type, step.name or ""
        for (member, member_type), part in zip(type_.members, value.data if type_.members else (), strict=True):
            if member == name:
                return Value(member_type, part)
        for letters in ("xyzw", "rgba"):
            if type_.family == "vector" and len(name) <= 4 and set(name) <= set(letters[: type_.rows]):
                parts = [value.data[letters.index(letter)] for letter in name]
                return from_parts(len(parts), type_.scalar, parts)
        raise self.error("no-component", step.offset, type=type_.name, name=name)

    def _indexed(self, value: Value, step: Access) -> Value:
        before = self.scope.override_uses
        index, type_ = self.integer_of(self.value(step.index), step.offset, "an index"), value.type
        if type_.family not in ("vector", "matrix", "array"):
            raise self.error("no-component", step.offset, type=type_.name, name=f"[{index}]")
        if not 0 <= index < len(value.data) and self._skipping:
            index = 0
        if not 0 <= index < len(value.data):
            raise self._faulty(Fault(f"index {index} of {type_.name}"), step.offset, before)
        if type_.element is not None:
            return Value(type_.element, value.data[index])
        rows = type_.rows if type_.family == "matrix" else 1
        return Value(kinds.vector(rows, type_.scalar), value.data[index])


def _ones(value: Value) -> Value:
    return Value(value.type, each(lambda part: type(part)(1), value.data))


def _always_fails(sign: str, left: Value, right: Value) -> bool:
    """Whether `right` makes the operator fail for every integer on the left: a division by zero, a shift too far."""
    if left.type.scalar not in operators.INTEGERS or sign not in ("/", "%", "<<", ">>"):
        return False
    if sign in ("/", "%"):
        return 0 in parts_of(right)
    return max(parts_of(right)) >= operators.shift_limit(left.type.scalar)


def _has_operator(sign: str, scalar: str, left: Type, right: Type) -> bool:
    if sign in ("&&", "||"):
        return left is BOOL and right is BOOL
    if sign in operators.ARITHMETIC:
        return scalar != "bool"
    if left.rows != right.rows:
        return False
    if sign in operators.BITWISE:
        return scalar in operators.INTEGERS or (scalar == "bool" and sign != "^")
    return scalar != "bool" or sign in ("==", "!=")
