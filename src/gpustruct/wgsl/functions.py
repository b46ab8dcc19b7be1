"""Check the signatures of functions, and collect the entry points. WGSL §11 (functions), §13 (entry points)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from ..errors import WgslError
from . import attributes, builtin_values, directives, kinds, naga_additions
from .attributes import Interface
from .declarations import Resolver
from .extensions import REQUIRES
from .kinds import Type
from .parts import EntryPoint, StageValue
from .structs import check_name
from .syntax import Attribute, Declaration, Member
from .values import Value

_STAGES = ("vertex", "fragment", "compute")
_ATTRIBUTES = {
    "vertex": (0,), "fragment": (0,), "compute": (0,), "must_use": (0,), "workgroup_size": (1, 2, 3), "diagnostic": (2,),
    "subgroup_size": (1,),
}  # fmt: skip
_ONLY_COMPUTE = ("workgroup_size", "subgroup_size")


class InputOutput(NamedTuple):
    """An input or output of an entry point: its attributes and its type.

    `node` is the parameter or result, for the place of errors; `declared` may also be a member of its struct.
    """

    interface: Interface
    type: Type
    node: Any
    declared: Member


def entry_point(resolver: Resolver, declaration: Declaration) -> EntryPoint | None:
    """Check the attributes of a function. Returns its EntryPoint, or None if it has no stage."""
    source = resolver.source
    allowed = {**_ATTRIBUTES, **(naga_additions.ATTRIBUTES if resolver.target.is_naga else {})}
    found = attributes.by_name(resolver, declaration.attributes, allowed, "a function")
    directives.check_attributes(resolver, declaration.attributes)
    stages = [name for name in _STAGES if name in found]
    if len(stages) > 1:
        raise source.error("stage-twice", found[stages[1]].offset, first=stages[0], second=stages[1])
    for name in _ONLY_COMPUTE:
        if name in found and "compute" not in stages:
            raise source.error("attribute-unknown", found[name].offset, what="a function without @compute", name=name, hint="")  # fmt: skip
    if "must_use" in found and declaration.result is None:
        raise source.error("must-use", found["must_use"].offset, name=declaration.name)
    if not stages:
        return None
    sizes = _workgroup_size(resolver, declaration, found) if stages[0] == "compute" else None
    line = source.line_at(declaration.offset)
    return EntryPoint(declaration.name, stages[0], sizes, line)  # type: ignore[arg-type]


# Signatures.


def with_signature(resolver: Resolver, declaration: Declaration, entry: EntryPoint | None) -> EntryPoint | None:
    """Check the parameters and the result of a function. Returns `entry`, from `entry_point`, with inputs and outputs."""
    stage = entry.stage if entry else ""
    inputs = _parameters(resolver, declaration, stage)
    outputs = _result(resolver, declaration, stage)
    if entry is None:
        return None
    _check_interface(resolver, declaration, stage, inputs, outputs)
    return replace(
        entry,
        inputs=tuple(_stage_value(resolver, place) for place in inputs),
        outputs=tuple(_stage_value(resolver, place) for place in outputs),
    )


def _stage_value(resolver: Resolver, place: InputOutput) -> StageValue:
    found, kind, _, declared = place
    line = resolver.source.line_at(declared.offset)
    where = (found.location, found.builtin or None, line)
    return StageValue(
        declared.name, kind.cls, kind.name, *where, found.interpolation, found.blend_source, found.invariant
    )


def _parameters(resolver: Resolver, declaration: Declaration, stage: str) -> list[InputOutput]:
    seen: dict[str, Any] = {}
    places: list[InputOutput] = []
    for parameter in declaration.members:
        check_name(resolver, parameter, declaration.members, seen)
        seen[parameter.name] = None
        kind = resolver.type_of(parameter.type)
        handle = kind.family in ("opaque", "pointer") and not stage
        if not handle and not kind.is_plain_data:
            what = "an entry point's parameter" if stage else "a parameter"
            raise resolver.source.error("parameter-type", parameter.type.offset, what=what, type=kind.name)
        if kind.family == "pointer" and kind.access in ("storage", "uniform", "workgroup"):
            feature = "unrestricted_pointer_parameters"
            resolver.warn_at("naga-requires", parameter.offset, name=feature, remedy=REQUIRES[feature].remedy)
        places += _inputs_outputs(resolver, parameter, kind, stage, "a parameter")
    return places


def _result(resolver: Resolver, declaration: Declaration, stage: str) -> list[InputOutput]:
    result = declaration.result
    if result is None:
        return []
    kind = resolver.type_of(result.type)
    if not kind.is_plain_data:
        raise resolver.source.error("result-type", result.type.offset, type=kind.name)
    return _inputs_outputs(resolver, result, kind, stage, "a result")


def _inputs_outputs(resolver: Resolver, node: Member, kind: Type, stage: str, what: str) -> list[InputOutput]:
    """The inputs or outputs of one parameter or result: itself, or the members of its struct."""
    source = resolver.source
    found = attributes.by_name(resolver, node.attributes, attributes.INTERFACE, what)
    own = attributes.interface(resolver, found, kind)
    if not stage:
        if own.is_given:
            raise source.error("interface-outside", node.attributes[0].offset, name=node.attributes[0].name)
        return []
    if own.blend_source is not None:
        raise source.error("attribute-unknown", found["blend_src"].offset, what=what, name="blend_src", hint="")
    if own.is_given:
        return [InputOutput(own, kind, node, node)]
    if kind.family != "struct":
        raise source.error("interface-missing", node.offset, what=node.name or "the result")
    places: list[InputOutput] = []
    for declared, (name, inner) in zip(resolver.declared[kind.name].members, kind.members, strict=True):
        member = resolver.structs.interfaces.get(kind.name, {}).get(name, Interface())
        if not member.is_given:
            raise source.error("interface-missing", node.offset, what=f"{kind.name}.{name}")
        places.append(InputOutput(member, inner, node, declared))
    return places


def _check_interface(
    resolver: Resolver, declaration: Declaration, stage: str, inputs: list[InputOutput], outputs: list[InputOutput]
) -> None:
    source = resolver.source
    attributes.check_once(resolver, inputs)
    attributes.check_once(resolver, outputs)
    for direction, places in (("input", inputs), ("output", outputs)):
        for found, kind, node, _ in places:
            if found.blend_source is not None and (stage, direction) != ("fragment", "output"):
                raise source.error("blend-output", node.offset, given=f"{stage} {direction}")
            if found.builtin:
                _check_builtin(resolver, found.builtin, kind, stage, direction, node)
            elif stage == "compute":
                raise source.error("compute-location", node.offset, direction=direction)
            elif (stage, direction) in (("vertex", "output"), ("fragment", "input")):
                flat = found.interpolation[:1] == ("flat",)
                # naga takes flat for the default of integers.
                if kind.scalar in ("i32", "u32") and not flat and not resolver.target.is_naga:
                    raise source.error(
                        "interpolate-flat", node.offset, what=f"@location({found.location})", type=kind.name
                    )
    if stage == "vertex" and not any(found.builtin == "position" for found, *_ in outputs):
        raise source.error("vertex-position", declaration.offset, name=declaration.name)


def _check_builtin(resolver: Resolver, name: str, kind: Type, stage: str, direction: str, node: Any) -> None:
    uses = builtin_values.find(name, naga=resolver.target.is_naga)
    if not any((use.stage, use.direction) == (stage, direction) for use in uses):
        where = " or ".join(dict.fromkeys(f"{use.stage} {use.direction}" for use in uses))
        raise resolver.source.error("builtin-stage", node.offset, name=name, wanted=where, given=f"{stage} {direction}")


# Workgroups.


def _workgroup_size(resolver: Resolver, declaration: Declaration, found: dict[str, Attribute]) -> Any:
    source = resolver.source
    if "workgroup_size" not in found:
        raise source.error("attribute-missing", declaration.offset, what="@compute", wanted="@workgroup_size")
    if "subgroup_size" in found:
        _subgroup_size(resolver, found["subgroup_size"])
    nodes = found["workgroup_size"].arguments
    known = [node for node in nodes if _is_known(resolver, node)]
    sizes = [_size(resolver, node) if node in known else None for node in nodes]
    _check_one_type(resolver, known)
    return tuple((*sizes, 1, 1)[:3])


def _is_known(resolver: Resolver, node: Any) -> bool:
    """Whether this text declares every name in a size. Those in a template may be declared by other texts."""
    try:
        resolver.overrides.evaluated(node)
    except WgslError as error:
        return not resolver.is_template or error.rule not in ("unresolved", "needs-skipped")
    return True


def _size(resolver: Resolver, node: Any) -> int | None:
    number, _ = resolver.override_integer(node, "a workgroup size")
    if number is not None and number < 1:
        raise resolver.source.error("workgroup-size", node.offset, value=number)
    return number


def _check_one_type(resolver: Resolver, nodes: Iterable[Any]) -> None:
    first: Value | None = None
    for node in nodes:
        _, kind = resolver.overrides.evaluated(node)
        if kind is None or kind is kinds.INT:
            continue
        if first is not None and kind is not first.type:
            raise resolver.source.error("workgroup-types", node.offset, first=first.type.name, second=kind.name)
        first = Value(kind, None)


def _subgroup_size(resolver: Resolver, attribute: Attribute) -> None:
    if "subgroup_size_control" not in resolver.enabled:
        raise resolver.source.error(
            "extension-missing", attribute.offset, name="@subgroup_size", extension="subgroup_size_control"
        )
    node = attribute.arguments[0]
    number, _ = resolver.override_integer(node, "a subgroup size")
    if number is not None and (number < 1 or number & (number - 1)):
        raise resolver.source.error(
            "attribute-value", node.offset, name="subgroup_size", wanted="a power of two, 1 or more", value=number
        )
