"""Whole numbers on the command line, with an error message that gives the range and an example."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

from ..errors import CommandError

_DIGITS = re.compile(r"[+-]?\d+(?:[_,]\d{3})*")


def whole(option: str, least: int, most: int, example: int) -> Callable[[str], int]:
    """A `type` for argparse: it converts the text of `option` to a number from `least` to `most`.

    >>> whole("--particles", 1, 1000, 100)("500")
    500
    >>> whole("--particles", 1, 1000, 100)("0")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: it must be a whole number from 1 to 1,000 (current: 0) - at --particles; such as 100
    """

    def number(text: str) -> int:
        # int() refuses texts of thousands of digits, with another message.
        value = int(re.sub("[_,]", "", text)) if len(text) < 30 and _DIGITS.fullmatch(text.strip()) else least - 1
        if not least <= value <= most:
            shown = text if len(text) < 30 else f"{text[:27]}..."
            facts = {"least": f"{least:,}", "most": f"{most:,}", "value": shown, "option": option, "example": example}
            raise argparse.ArgumentTypeError(str(CommandError.of("whole-number", **facts)))
        return value

    return number
