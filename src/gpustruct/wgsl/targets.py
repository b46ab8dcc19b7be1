"""What a text is checked against: the specification, or one backend and what it adds."""

from __future__ import annotations

from typing import Literal, get_args

TargetName = Literal["spec", "naga", "tint"]
TARGETS: tuple[str, ...] = get_args(TargetName)
# The first words of the warnings that are about a backend.
_ABOUT = {"naga": ("naga", "uniform"), "tint": ("tint",)}
# These warnings say that naga accepts what the specification refuses. With naga as the target they say nothing new.
ACCEPTED_BY_NAGA = ("naga-type", "naga-atomic-read", "naga-size-runtime", "naga-extension")


class Target:
    """One of TARGETS."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_naga = name == "naga"

    def wants(self, rule: str) -> bool:
        """Whether the warning of `rule` says something about this target."""
        if self.name == "spec":
            return True
        about = rule.split("-")[0] in _ABOUT[self.name]
        return about and not (self.is_naga and rule in (*ACCEPTED_BY_NAGA, "uniform-strict"))
