"""A shader as the commands read it: templates by what stands on its own, uniform without rules of its own."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, NamedTuple

from ..errors import BackendWarning, WgslError

if TYPE_CHECKING:
    from ..wgsl import Module
    from ..wgsl.targets import TargetName

WESL = ".wesl"
# What parse says of uniform layouts in its own words; the commands look at each fault of them themselves.
_SAID_BY_FAULTS = ("uniform-strict", "uniform-relaxed")
_MARK = re.compile(r"\(current: `?(.*?)`?\) - at ")


class Shader(NamedTuple):
    """What parse made of one text.

    `module` is what was read; None if nothing could be. `error` is why the text is no legal WGSL. `mark` is the
    first thing in it, as ``line: text``, that a preprocessor or a template engine has to replace; "" if it is
    no template. A template's `module` has what stands on its own, and `error` is None.
    """

    module: Module | None
    error: WgslError | None
    warnings: list[BackendWarning]
    mark: str


def read(text: str, name: str, *, skip: bool = False, target: TargetName = "spec") -> Shader:
    """Read one shader.

    >>> shader = read("#import shapes\\nstruct Ball { radius: f32 }", "ball.wgsl")
    >>> shader.mark, list(shader.module.structs)
    ('1: #import shapes', ['Ball'])
    """
    found, told = _parsed(text, skip=skip, target=target)
    if not isinstance(found, WgslError):
        return Shader(found, None, told, "")
    # Paths such as package::shapes::Ball are WESL's, and no WGSL.
    is_template = found.rule == "preprocessor" or (name.endswith(WESL) and found.rule == "syntax" and "::" in text)
    rest, more = _parsed(text, skip=True, target=target)
    module = None if isinstance(rest, WgslError) else rest
    if not is_template or module is None:
        return Shader(module, found, told, "")
    mark = _MARK.search(str(found))
    return Shader(module, None, more, f"{found.line}: {mark[1] if mark else ''}")


def _parsed(text: str, *, skip: bool, target: TargetName) -> tuple[Module | WgslError, list[BackendWarning]]:
    from .. import wgsl

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found: Module | WgslError = wgsl.parse(text, skip=skip, standard_layout=True, target=target)
        except WgslError as error:
            found = error
    told = [warning.message for warning in caught if isinstance(warning.message, BackendWarning)]
    return found, [warning for warning in told if warning.rule not in _SAID_BY_FAULTS]
