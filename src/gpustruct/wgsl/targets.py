"""For whom a text is judged: the specification, or one backend and what it adds."""

from __future__ import annotations

from typing import Literal, get_args

TargetName = Literal["spec", "naga", "tint"]
TARGETS: tuple[str, ...] = get_args(TargetName)
# Warnings of what a backend does, by the rule's first word; the others are of no use to whoever asked for one backend.
_ABOUT = {"naga": ("naga", "uniform"), "tint": ("tint",)}
# Warnings that naga accepts what the specification refuses: with target="naga" there is nothing left to say.
_TAKEN_BY_NAGA = ("naga-type", "naga-atomic-read", "naga-size-runtime", "naga-extension", "uniform-strict")


class Target:
    """One of TARGETS, asked for what it takes beyond the specification."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_naga = name == "naga"
        self.is_tint = name == "tint"

    def wants(self, rule: str) -> bool:
        """Whether the warning of `rule` says something about this target."""
        if self.name == "spec":
            return True
        return rule.split("-")[0] in _ABOUT[self.name] and not (self.is_naga and rule in _TAKEN_BY_NAGA)
