"""Every fault that `gpustruct check` finds in one shader."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..errors import BackendWarning
from ..types import layout_of
from ..wgsl.targets import ACCEPTED_BY_NAGA
from . import causes, shaders, waste
from .shaders import Shader

if TYPE_CHECKING:
    from ..wgsl import Module
    from ..wgsl.targets import TargetName

WASTE = 25.0
# These warnings say that naga accepts what the specification refuses. On a line with such an error they add nothing.
_ACCEPTED_BY_NAGA = (*ACCEPTED_BY_NAGA, "naga-operators")
# Python arguments that messages advise, and the command line's options for them.
_OPTIONS = {
    "parse(text, target='naga')": "--target naga",
    "parse(text, target='tint')": "--target tint",
    "parse(text, skip=True)": "--skip",
}
_LINE = re.compile(r"\bline (\d+)(?:, column (\d+))?")


@dataclass(frozen=True, order=True)
class Finding:
    """One fault: where it is (counted from 1), its stable rule, and a message that says what to do."""

    path: str
    line: int
    column: int
    severity: Literal["error", "warning"]
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.rule}: {self.message}"


class _Found(NamedTuple):
    """A finding, the name it is about, and its cause. For equal causes, only the first finding is reported."""

    finding: Finding
    name: str
    cause: Hashable


def check_text(
    text: str,
    path: str,
    *,
    most: float = WASTE,
    standard_layout: bool = False,
    skip: bool = False,
    target: TargetName = "spec",
) -> list[Finding]:
    """Every finding in one shader, in the order of its lines.

    >>> text = "struct A { n: f32, v: vec3f, w: vec3f, m: f32 }\\n@group(0) @binding(0) var<uniform> a: A;"
    >>> print(*check_text(text, "a.wgsl"))
    a.wgsl:1:8: waste: A has 16 of 48 bytes of padding (33 %), 16 bytes less in the order v, n, w, m
    """
    shader = shaders.read(text, path, skip=skip, target=target)
    return check_shader(shader, text, path, most=most, standard_layout=standard_layout or target == "tint")


def check_shader(shader: Shader, text: str, path: str, *, most: float, standard_layout: bool) -> list[Finding]:
    """What `check_text` finds, in a shader that `shaders.read` has read."""
    module, error = shader.module, shader.error
    found = [_warning(module, path, warning) for warning in shader.warnings]
    if error is not None:
        finding = Finding(path, error.line or 1, error.column or 1, "error", error.rule, _message(error))
        found = [
            each for each in found if each.finding.line != finding.line or each.finding.rule not in _ACCEPTED_BY_NAGA
        ]
        found.append(_Found(finding, "", ()))
    if module is not None:
        lines = text.splitlines()
        relaxed = standard_layout or "uniform_buffer_standard_layout" in module.required
        found += _uniform_faults(module, path, lines, relaxed)
        for wasteful in waste.find(module, text, most):
            line = module.lines[wasteful.struct]
            column = _column(lines, line, rf"(?:\bstruct\s+|^\s*)({re.escape(wasteful.struct)})(?!\w)")
            finding = Finding(path, line, column, "warning", "waste", wasteful.message)
            found.append(_Found(finding, wasteful.struct, wasteful.struct))
    return _one_for_each_cause(found)


def _one_for_each_cause(found: list[_Found]) -> list[Finding]:
    groups: dict[Hashable, list[_Found]] = {}
    for each in sorted(found, key=lambda each: each.finding):
        groups.setdefault((each.finding.rule, each.cause), []).append(each)
    findings: list[Finding] = []
    for first, *more in groups.values():
        names = [each.name for each in more if each.name != first.name]
        findings.append(replace(first.finding, message=first.finding.message + causes.others(names)))
    return sorted(findings)


def _warning(module: Module | None, path: str, warning: BackendWarning) -> _Found:
    before, _, after = str(warning).rpartition(" - at ")
    where, _, remedy = after.partition("; ")
    place = _LINE.search(where)
    line, column = (int(place[1]), int(place[2] or 1)) if place else (1, 1)
    name = where.removeprefix("struct ").partition(", line ")[0]
    cause: Hashable = (before, remedy)
    if module is not None and warning.rule == "naga-align":
        cause = causes.of_align(module, name)
    elif module is not None and warning.rule == "naga-matrix" and name in module.bindings:
        matrix = before.partition(" reads ")[2].partition(", a ")[0]
        cause = causes.of_member(layout_of(module.bindings[name].type), matrix)
    return _Found(Finding(path, line, column, "warning", warning.rule, _message(warning)), name, cause)


def _message(said: Exception) -> str:
    message = str(said).splitlines()[0]
    for in_python, option in _OPTIONS.items():
        message = message.replace(in_python, option)
    return message


def _uniform_faults(module: Module, path: str, lines: list[str], standard_layout: bool) -> Iterator[_Found]:
    for variable in module.bindings.values():
        if variable.space != "uniform" or variable.type is None:
            continue
        layout = layout_of(variable.type)
        column = _column(lines, variable.line, rf"(?<!\w)({re.escape(variable.name)})\s*:")
        for fault in layout.uniform_faults(standard_layout=standard_layout):
            where = str(fault).rpartition(" - at ")[2].partition(";")[0]
            finding = Finding(path, variable.line, column, "error", fault.rule, f"{variable.name}: {fault}")
            cause = causes.of_member(layout, where) if "." in where else variable.name
            yield _Found(finding, variable.name, cause)


def _column(lines: list[str], line: int, pattern: str) -> int:
    """The column, counted from 1, of what the group in `pattern` matches in a line."""
    found = re.search(pattern, lines[line - 1]) if 0 < line <= len(lines) else None
    return found.start(1) + 1 if found else 1
