"""Ctrl-C at any line of the code under test, where Python looks for signals."""

from __future__ import annotations

import dis
import sys
from typing import Any


def takes_no_signal(frame: Any) -> bool:
    """Whether Python looks for no signal at this line.

    This is a `try` alone, a `with` whose `__exit__` comes next, or the start of a comprehension's loop inside its function
    (Python 3.12 and later): signals are taken at the loop's end. If a trace function raises at its start, Python leaves
    the `with` around it without calling `__exit__`.
    """
    at, code = frame.f_lasti, frame.f_code.co_code
    names = [dis.opname[code[k]] for k in range(at, min(at + 10, len(code)), 2)]
    steps = [name for name in names if name not in ("SWAP", "NOP")]
    before = [dis.opname[code[k]] for k in range(max(0, at - 12), at, 2)]
    comprehension = names[0] == "FOR_ITER" and "LOAD_FAST_AND_CLEAR" in before
    return names[0] == "NOP" or steps[:3] == ["LOAD_CONST"] * 3 or comprehension


class Stop:
    """Raises KeyboardInterrupt when the `nth` line of files whose path starts with `where` runs; counts them without `nth`."""

    def __init__(self, where: str, nth: int | None = None) -> None:
        self.where, self.nth, self.lines = where, nth, list[tuple[str, int]]()

    def __enter__(self) -> Stop:
        self._before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _call(self, frame: Any, event: str, arg: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(self.where) else None

    def _line(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "line" and not takes_no_signal(frame):
            self.lines.append((frame.f_code.co_filename, frame.f_lineno))
            if len(self.lines) - 1 == self.nth:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self._line
