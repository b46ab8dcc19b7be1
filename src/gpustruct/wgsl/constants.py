"""The value of a const-expression. WGSL §8 (expressions), §17.1 (constructors), §17.2 (select and all).

What layouts can depend on is computed; a built-in that is not (``normalize``, matrix products) makes
the value `Unknown`, which is an error only where a size or a count needs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import GpuStructError
from . import kinds, operators
from .kinds import ABSTRACT_FLOAT, ABSTRACT_INT, BOOL, Type
from .operators import Fault
from .syntax import Call, Chain, Group, Literal, Name, Postfix, Step, Token, Unary
from .values import Conversions, Scope, Unknown, Value, each, from_parts, names_of


class Evaluator(Conversions):
    """Evaluates the expressions of one module."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._rules: dict[type, Callable[[Any], Value]] = {
            Literal: self._literal,
            Name: self._name,
            Call: self._call,
            Group: lambda node: self.value(node.inner),
            Postfix: self._postfix,
            Unary: self._unary,
            Chain: self._chain,
        }

    def value(self, node: Any) -> Value:
        """The value of an expression; WgslError where it has none, Unknown where it is not computed."""
        self.take(1, node.offset)
        try:
            return self._rules[type(node)](node)
        except Fault as fault:
            raise self.error("constant-fault", node.offset, fault=str(fault)) from None

    def integer(self, node: Any, what: str) -> int:
        """The value of an expression that must be an i32, a u32 or an abstract integer."""
        value = self.value(node)
        if value.type.family not in ("scalar", "abstract") or value.type.scalar not in operators.INTEGERS:
            raise self.error("integer-wanted", node.offset, what=what, type=value.type.name)
        if value.type is kinds.INT and not -(2**31) <= value.data < 2**32:
            raise self.error("constant-fault", node.offset, fault=f"{value.data} does not fit i32 or u32")
        return value.data

    # Leaves.

    def _literal(self, node: Literal) -> Value:
        if node.text in ("true", "false"):
            return Value(BOOL, node.text == "true")
        found = operators.literal(node.text)
        if found is None:
            raise self.error("literal", node.offset, text=node.text)
        if found[0] == "f16":
            self.scope.use_half(node)
        return Value(kinds.PLAIN[found[0]], found[1])

    def _name(self, node: Name) -> Value:
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
        values = [self.value(argument) for argument in node.arguments]
        if not kind and callee.text in FUNCTIONS:
            return self._function(node, values)
        if not kind and callee.arguments is None and (inferred := self._inferred(callee, values)):
            return self._construct(inferred, values, node)
        return self._construct(self.scope.type_of(callee), values, node)

    def _inferred(self, callee: Name, values: list[Value]) -> Type | None:
        """The type that ``vec3(…)``, ``mat2x2(…)`` or ``array(…)`` takes from its arguments."""
        if callee.text == "array" and values:
            element = self.common([value.type for value in values], callee.offset)
            return self._array(element, len(values), callee.offset)
        generator = GENERATORS.get(callee.text)
        if generator is None:
            return None
        columns, rows = generator
        scalar = self.common_scalar([value.type for value in values], callee.offset) if values else ABSTRACT_INT
        if columns == 1:
            return kinds.vector(rows, scalar)
        return kinds.matrix(columns, rows, "f16" if scalar == "f16" else "f32")

    def _array(self, element: Type, count: int, offset: int) -> Type:
        try:
            return kinds.array_of(element, count)
        except GpuStructError as error:
            raise self.scope.source.at(error, offset) from None

    def _construct(self, type_: Type, values: list[Value], node: Call) -> Value:
        if not type_.is_plain_data:
            raise self.error("not-constructible", node.offset, type=type_.name)
        self.take(len(values), node.offset)
        if not values:
            return Value(type_, self._zero(type_, node.offset))
        parts: Sequence[Type] = ()
        if type_.family == "struct":
            parts = [member for _, member in type_.members]
        elif type_.element is not None:
            parts = [type_.element] * len(values) if len(values) == type_.count else ()
        elif type_.family == "scalar":
            if len(values) == 1 and values[0].type.family in ("scalar", "abstract"):
                return Value(type_, operators.convert(values[0].data, values[0].type.scalar, type_.scalar))
        else:
            return Value(type_, self._components(type_, values, node))
        if len(parts) != len(values):
            raise self.error("arguments", node.offset, what=type_.name, given=names_of(values))
        data = (self.implicit(value, part, node.offset).data for value, part in zip(values, parts, strict=True))
        return Value(type_, tuple(data))

    def _components(self, type_: Type, values: list[Value], node: Call) -> Any:
        rows, columns, first = type_.rows, type_.columns, values[0]
        if len(values) == 1 and (first.type.family, first.type.rows, first.type.columns) == (
            type_.family,
            rows,
            columns,
        ):
            return each(lambda part: operators.convert(part, first.type.scalar, type_.scalar), first.data)
        scalar = kinds.PLAIN[type_.scalar]
        flat: list[Any] = []
        for value in values:
            if value.type.family in ("scalar", "abstract"):
                flat.append(self.implicit(value, scalar, node.offset).data)
            elif value.type.family == "vector":
                inner = kinds.vector(value.type.rows, type_.scalar)
                flat.extend(self.implicit(value, inner, node.offset).data)
            else:
                flat.append(None)
        if len(flat) == 1 and len(values) == 1 and columns == 1 and flat[0] is not None:
            return tuple(flat * rows)
        shapes = {value.type.rows for value in values}
        by_column = columns == 1 or (shapes, len(values)) in (({rows}, columns), ({1}, columns * rows))
        if len(flat) != rows * columns or None in flat or not by_column:
            raise self.error("arguments", node.offset, what=type_.name, given=names_of(values))
        if columns == 1:
            return tuple(flat)
        return tuple(tuple(flat[column * rows : (column + 1) * rows]) for column in range(columns))

    def _zero(self, type_: Type, offset: int) -> Any:
        if type_.family == "struct":
            return tuple(self._zero(member, offset) for _, member in type_.members)
        if type_.element is not None:
            self.take(type_.count or 1, offset)
            return (self._zero(type_.element, offset),) * (type_.count or 1)
        self.take(1, offset)
        zero = operators.fit(type_.scalar, 0)
        column = zero if type_.rows == 1 else (zero,) * type_.rows
        return column if type_.columns == 1 else (column,) * type_.columns

    def _function(self, node: Call, values: list[Value]) -> Value:
        name = node.callee.text
        table = operators.FLOAT_FUNCTIONS if name in operators.FLOAT_FUNCTIONS else operators.NUMBER_FUNCTIONS
        if name == "select" and len(values) == 3:
            return self._select(node, values)
        if name in ("any", "all") and len(values) == 1 and values[0].type.scalar == "bool":
            parts = values[0].data if values[0].type.rows > 1 else (values[0].data,)
            return Value(BOOL, (any if name == "any" else all)(parts))
        if name in operators.BIT_FUNCTIONS and len(values) == 1:
            return self._bits(node, values)
        if name in ("dot", "length", "distance") and len(values) == (1 if name == "length" else 2):
            return self._product(node, values)
        if name not in table and name not in ("select", "any", "all", "dot", "length", "distance"):
            raise Unknown(f"{name}() is not computed here")
        count, function = table.get(name, (-1, len))
        if len(values) != count or any(value.type.family not in ("scalar", "abstract", "vector") for value in values):
            raise self.error("arguments", node.offset, what=f"{name}()", given=names_of(values))
        scalar = self.common_scalar([value.type for value in values], node.offset)
        if scalar == "bool" or (scalar in operators.INTEGERS and table is operators.FLOAT_FUNCTIONS):
            scalar = "" if scalar != ABSTRACT_INT else ABSTRACT_FLOAT
        if not scalar:
            raise self.error("arguments", node.offset, what=f"{name}()", given=names_of(values))
        rows, columns = self.aligned(values, scalar, node.offset, f"{name}()")
        return from_parts(rows, scalar, [operators.call(function, scalar, list(column)) for column in columns])

    def _bits(self, node: Call, values: list[Value]) -> Value:
        name, scalar = node.callee.text, values[0].type.scalar
        scalar = "i32" if scalar == ABSTRACT_INT else scalar
        if scalar not in ("i32", "u32") or values[0].type.family not in ("scalar", "abstract", "vector"):
            raise self.error("arguments", node.offset, what=f"{name}()", given=names_of(values))
        rows, columns = self.aligned(values, scalar, node.offset, f"{name}()")
        return from_parts(rows, scalar, [operators.bits(name, scalar, part) for (part,) in columns])

    def _product(self, node: Call, values: list[Value]) -> Value:
        """``dot``, ``length`` and ``distance``: sums of products."""
        name = node.callee.text
        scalar = self.common_scalar([value.type for value in values], node.offset)
        if name != "dot" and scalar == ABSTRACT_INT:
            scalar = ABSTRACT_FLOAT
        vectors = all(value.type.family == "vector" for value in values)
        if scalar == "bool" or (name == "dot" and not vectors) or (name != "dot" and scalar in operators.INTEGERS):
            raise self.error("arguments", node.offset, what=f"{name}()", given=names_of(values))
        _, columns = self.aligned(values, scalar, node.offset, f"{name}()")
        if name == "dot":
            total: Any = operators.fit(scalar, 0)
            for a, b in columns:
                total = operators.ARITHMETIC["+"](scalar, total, operators.ARITHMETIC["*"](scalar, a, b))
            return from_parts(1, scalar, [total])
        parts = [column[0] - column[-1] if name == "distance" else column[0] for column in columns]
        return from_parts(1, scalar, [operators.fit(scalar, math.hypot(*parts))])

    def _select(self, node: Call, values: list[Value]) -> Value:
        false, true, condition = values
        common = self.common([false.type, true.type], node.offset)
        no, yes = (self.implicit(value, common, node.offset) for value in (false, true))
        if condition.type is BOOL:
            return yes if condition.data else no
        if condition.type.scalar != "bool" or common.family != "vector" or common.rows != condition.type.rows:
            raise self.error("arguments", node.offset, what="select()", given=names_of(values))
        return Value(common, tuple(y if c else n for n, y, c in zip(no.data, yes.data, condition.data, strict=True)))

    # Operators.

    def _unary(self, node: Unary) -> Value:
        value = self.value(node.operand)
        for sign in reversed(node.signs):
            scalar = value.type.scalar if value.type.family in ("scalar", "abstract", "vector") else ""
            run: Callable[[Any], Any] | None = None
            if sign == "-" and scalar not in ("", "u32", "bool"):
                run = lambda part: operators.ARITHMETIC["-"](scalar, 0, part)  # noqa: B023, E731
            elif sign == "!" and scalar == "bool":
                run = lambda part: not part  # noqa: E731
            elif sign == "~" and scalar in operators.INTEGERS:
                run = lambda part: operators.wrap(scalar, ~part)  # noqa: B023, E731
            if run is None:
                raise self.error("operator", node.offset, sign=sign, types=value.type.name)
            value = Value(value.type, each(run, value.data))
        return value

    def _chain(self, node: Chain) -> Value:
        result = self.value(node.operands[0])
        for sign, operand in zip(node.signs, node.operands[1:], strict=True):
            if sign.text in ("&&", "||") and result.type is BOOL and result.data == (sign.text == "||"):
                continue
            result = self._binary(sign, result, self.value(operand))
        return result

    def _binary(self, sign: Token, left: Value, right: Value) -> Value:
        text, offset, kind = sign.text, sign.offset, left.type
        try:
            if (
                kind is right.type
                and kind.family in ("scalar", "abstract")
                and kind is not BOOL
                and text in operators.ARITHMETIC
            ):
                return Value(kind, operators.ARITHMETIC[text](kind.scalar, left.data, right.data))
            if "matrix" in (left.type.family, right.type.family) and text in ("+", "-", "*"):
                raise Unknown("matrix arithmetic is not computed here")
            if text in ("<<", ">>"):
                rows, pairs = self.aligned([right], "u32", offset, text)
                values = [left.data] if left.type.rows == 1 else left.data
                if left.type.scalar in operators.INTEGERS and rows == left.type.rows:
                    scalar = left.type.scalar
                    return from_parts(
                        rows,
                        scalar,
                        [operators.shift(text, scalar, a, b) for a, (b,) in zip(values, pairs, strict=True)],
                    )
                raise self.error("operator", offset, sign=text, types=names_of([left, right]))
            scalar = self.common_scalar((left.type, right.type), offset)
            if not _has_operator(text, scalar, left.type, right.type):
                raise self.error("operator", offset, sign=text, types=names_of([left, right]))
            rows, pairs = self.aligned([left, right], scalar, offset, text)
            if text in operators.ARITHMETIC:
                return from_parts(rows, scalar, [operators.ARITHMETIC[text](scalar, a, b) for a, b in pairs])
            if text in operators.BITWISE:
                return from_parts(rows, scalar, [operators.BITWISE[text](a, b) for a, b in pairs])
            if text in operators.COMPARISON:
                return from_parts(rows, "bool", [operators.COMPARISON[text](a, b) for a, b in pairs])
            return right
        except Fault as fault:
            raise self.error("constant-fault", offset, fault=str(fault)) from None

    # Parts of a value.

    def _postfix(self, node: Postfix) -> Value:
        value = self.value(node.base)
        for step in node.steps:
            value = self._component(value, step) if step.name is not None else self._indexed(value, step)
        return value

    def _component(self, value: Value, step: Step) -> Value:
        type_, name = value.type, step.name or ""
        for (member, member_type), part in zip(type_.members, value.data if type_.members else (), strict=True):
            if member == name:
                return Value(member_type, part)
        for letters in ("xyzw", "rgba"):
            if type_.family == "vector" and len(name) <= 4 and set(name) <= set(letters[: type_.rows]):
                parts = [value.data[letters.index(letter)] for letter in name]
                return from_parts(len(parts), type_.scalar, parts)
        raise self.error("no-component", step.offset, type=type_.name, name=name)

    def _indexed(self, value: Value, step: Step) -> Value:
        index, type_ = self.integer(step.index, "an index"), value.type
        if type_.family not in ("vector", "matrix", "array"):
            raise self.error("no-component", step.offset, type=type_.name, name=f"[{index}]")
        if not 0 <= index < len(value.data):
            raise self.error("constant-fault", step.offset, fault=f"index {index} of {type_.name}")
        if type_.element is not None:
            return Value(type_.element, value.data[index])
        rows = type_.rows if type_.family == "matrix" else 1
        return Value(kinds.vector(rows, type_.scalar), value.data[index])


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


GENERATORS = {f"vec{n}": (1, n) for n in (2, 3, 4)} | {f"mat{c}x{r}": (c, r) for c in (2, 3, 4) for r in (2, 3, 4)}
# WGSL §17: built-in functions that a const-expression may call.
FUNCTIONS = frozenset(
    [*operators.FLOAT_FUNCTIONS, *operators.NUMBER_FUNCTIONS, "select", "any", "all"]
    + """bitcast countLeadingZeros countOneBits countTrailingZeros cross determinant distance dot dot4I8Packed
    dot4U8Packed extractBits faceForward firstLeadingBit firstTrailingBit frexp insertBits ldexp length modf normalize
    pack2x16float pack2x16snorm pack2x16unorm pack4x8snorm pack4x8unorm pack4xI8 pack4xI8Clamp pack4xU8 pack4xU8Clamp
    quantizeToF16 reflect refract reverseBits transpose unpack2x16float unpack2x16snorm unpack2x16unorm unpack4x8snorm
    unpack4x8unorm unpack4xI8 unpack4xU8""".split()
)
