"""The page of each rule: what its message says, a small case, and code that works. The cases are in cases.json.

`python tests/test_error_pages.py` writes cases.json again, from the cases of the tests.
"""

from __future__ import annotations

import functools
import json
import re
import string
from importlib import resources

from . import BackendWarning, BindingError, CommandError, GpuStructError, LayoutError, SourceError, WgslError, likely

Family = type[GpuStructError] | type[BackendWarning]
CLASSES: tuple[Family, ...] = (LayoutError, SourceError, WgslError, BindingError, CommandError, BackendWarning)


@functools.cache
def cases() -> dict[str, dict[str, str]]:
    """For "Class rule": the code that breaks the rule, and, where there is some, the code that does not.

    >>> sorted(cases()["LayoutError array-count"])
    ['code', 'fixed']
    """
    return json.loads(resources.files("gpustruct.errors").joinpath("cases.json").read_text("utf-8"))


def rules() -> list[str]:
    """The names of all rules.

    >>> "array-stride-uniform" in rules()
    True
    """
    return sorted({rule for cls in CLASSES for rule in cls.templates})


def page(rule: str, cls: Family, printed: str = "") -> str:
    """The page of one rule of a class, as Markdown. `printed` is the message of the small case.

    >>> print(page("array-count", LayoutError).splitlines()[0])
    # array-count
    """
    kind = (cls.__doc__ or "").split("\n")[0]
    parts = [
        f"# {rule}",
        f"`{cls.__name__}`: {kind}",
        "The message, with the facts of the case in braces:",
        f"```text\n{cls.templates[rule]}\n```",
    ]
    case = cases().get(f"{cls.__name__} {rule}", {})
    if "code" in case:
        parts += ["## A small case", f"```python\n{case['code']}\n```"]
    if printed:
        parts += ["It prints:", f"```text\n{printed}\n```"]
    if "fixed" in case:
        parts += ["## What works", f"```python\n{case['fixed']}\n```"]
    return "\n\n".join(parts) + "\n"


def explain(text: str) -> str:
    """The page of a rule, given its name or a whole message. Raises CommandError for anything else.

    >>> print(explain("array-count").splitlines()[0])
    # array-count
    >>> message = "u32 holds whole numbers from 0 to 4294967295 (current: -2) - at Item.id[1]; clip or mask the column first"
    >>> print(explain(message).splitlines()[0])
    # range-integer
    """
    words = " ".join(text.split())
    found = [(words, cls) for cls in CLASSES if words in cls.templates] or _of_message(words)
    if not found:
        meant = likely(words, rules())
        way_out = f"did you mean {meant!r}?" if meant else "without a name, gpustruct explain lists the rules"
        raise CommandError.of("rule-unknown", current=repr(words[:80]), way_out=way_out)
    return "\n".join(page(rule, cls) for rule, cls in found)


def _of_message(words: str) -> list[tuple[str, Family]]:
    """The rule whose template has the most words in common with a message that fits it."""
    best: list[tuple[str, Family]] = []
    length = 0
    for cls in CLASSES:
        for rule, template in cls.templates.items():
            # The way out may be cut off or wrapped; rule, value and place come before it.
            fixed = [text for text, *_ in string.Formatter().parse(template.partition("; ")[0])]
            pattern = ".*?".join(re.escape(part) for part in fixed)
            if sum(map(len, fixed)) > length and re.search(pattern, words):
                best, length = [(rule, cls)], sum(map(len, fixed))
    return best
