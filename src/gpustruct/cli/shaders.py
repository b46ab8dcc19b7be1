"""How the commands read a shader. Templates and incomplete texts are read too, without the declarations that need more."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..errors import BackendWarning, WgslError

if TYPE_CHECKING:
    from ..wgsl import Module
    from ..wgsl.targets import TargetName

WESL = ".wesl"
# The commands report each fault of a uniform's layout, so that parse's warnings about them say nothing new.
_UNIFORM_WARNINGS = ("uniform-strict", "uniform-relaxed")
_MARK = re.compile(r"\(current: [`']?(.*?)[`']?\) - at ")
_DECLARED = re.compile(r"^[ \t]*(?:struct|alias|const|override|fn)[ \t]+(\w+)|\bvar\s*<[^<>]*>\s*(\w+)", re.MULTILINE)


class Shader(NamedTuple):
    """The result of parsing one text.

    `module` is None if nothing could be read. `error` says why the text is not legal WGSL. `mark` is the first
    thing in the text, as ``line: text``, that a preprocessor, a template engine or another file has to supply; ""
    if the text is complete. For an incomplete text, `module` has the declarations that need nothing else, and
    `error` is None.
    """

    module: Module | None
    error: WgslError | None
    warnings: list[BackendWarning]
    mark: str


def declared_in(texts: Mapping[str, str]) -> dict[str, str]:
    """The names that `texts` seem to declare, each with the first text that does."""
    found: dict[str, str] = {}
    for file, text in texts.items():
        for match in _DECLARED.finditer(text):
            found.setdefault(match[1] or match[2], file)
    return found


def read(
    text: str,
    name: str,
    *,
    skip: bool = False,
    target: TargetName = "spec",
    elsewhere: Callable[[], Mapping[str, str]] = dict[str, str],
) -> Shader:
    """Read one shader. `elsewhere` returns the names that other files declare, with the file; called only if needed.

    >>> shader = read("#import shapes\\nstruct Ball { radius: f32 }", "ball.wgsl")
    >>> shader.mark, list(shader.module.structs)
    ('1: #import shapes', ['Ball'])
    """
    found, warned = _parsed(text, skip=skip, target=target)
    if not isinstance(found, WgslError):
        return Shader(found, None, warned, "")
    # Paths such as package::shapes::Ball are WESL, not WGSL.
    is_wesl = name.endswith(WESL) and found.rule == "syntax" and "::" in text
    shown = _MARK.search(str(found))
    mark = f"{found.line}: {shown[1] if shown else ''}"
    if found.rule == "unresolved" and shown and (file := elsewhere().get(shown[1])):
        mark += f", which {file} declares"
    elif found.rule != "preprocessor" and not is_wesl:
        mark = ""
    rest, more = _parsed(text, skip=True, target=target)
    module = None if isinstance(rest, WgslError) else rest
    if not mark or module is None:
        return Shader(module, found, warned, "")
    return Shader(module, None, more, mark)


def error_line(name: str, error: WgslError) -> str:
    """An error with the place it is at, as compilers print it."""
    return f"{name}:{error.line}:{error.column}: {error.rule}: {error}"


def _parsed(text: str, *, skip: bool, target: TargetName) -> tuple[Module | WgslError, list[BackendWarning]]:
    from .. import wgsl

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found: Module | WgslError = wgsl.parse(text, skip=skip, standard_layout=True, target=target)
        except WgslError as error:
            found = error
    warned = [warning.message for warning in caught if isinstance(warning.message, BackendWarning)]
    return found, [warning for warning in warned if warning.rule not in _UNIFORM_WARNINGS]
