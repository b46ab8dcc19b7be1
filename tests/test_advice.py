"""The way out in each message works when it is typed.

A case is code with a mark, @@, where something is wrong. With what is wrong there, the code raises the rule; then the
advice is taken out of the message, by a pattern, and put there instead: the code must run. Advice that is an action
("move it to the end") names the words that the message has, and the code as somebody has written it who did that.
The cases stand in advice_cases.py.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import advice_cases
from advice_cases import CASES, NOTHING_TO_TYPE, Case
from gpustruct import errors

CLASSES = [errors.LayoutError, errors.SourceError, errors.WgslError, errors.BindingError, errors.CommandError]


def raised(code: str) -> errors.GpuStructError | None:
    scope: dict[str, Any] = advice_cases.scope()
    try:
        exec(compile(code, "case", "exec", dont_inherit=True), scope)
    except errors.GpuStructError as error:
        return error
    except (TypeError, IndexError, AttributeError) as error:
        # What Python itself wants raised for an index, a length or an assignment has our words too.
        return worded(error)
    return None


def worded(error: Exception) -> errors.GpuStructError:
    for rule, template in errors.SourceError.templates.items():
        words = re.sub(r"\\{\w+(!r)?\\}", ".*", re.escape(template))
        if re.fullmatch(words, str(error), re.DOTALL):
            made = errors.SourceError(str(error))
            made.rule = rule
            return made
    raise error


def way_out(error: errors.GpuStructError) -> str:
    """The text after the place, on the first line: other lines describe other faults."""
    return str(error).split("\n")[0].split(" - at ", 1)[1].split("; ", 1)[1]


@pytest.mark.filterwarnings("ignore::gpustruct.BackendWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.wrong or case.code}"[:60])
def test_the_way_out_works(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    error = raised(case.code.replace("@@", case.wrong))
    assert error is not None, "nothing was raised"
    name, rule = case.rule.split(" ")
    assert (type(error).__name__, error.rule) == (name, rule), error
    found = re.search(case.advice, way_out(error))
    assert found, f"{case.advice!r} is not in {way_out(error)!r}"
    typed = case.put.replace("@@", found[1] if found.groups() else "")
    for made in tmp_path.iterdir():
        shutil.rmtree(made) if made.is_dir() else made.unlink()
    after = raised(case.fixed or case.code.replace("@@", typed))
    assert after is None, f"{way_out(error)!r} leads to {after}"


def templates() -> set[str]:
    return {f"{cls.__name__} {rule}" for cls in CLASSES for rule in cls.templates}


def test_every_message_has_a_case() -> None:
    had = {case.rule for case in CASES}
    assert not had & NOTHING_TO_TYPE.keys()
    assert had | NOTHING_TO_TYPE.keys() <= templates()
    assert templates() - had - NOTHING_TO_TYPE.keys() == set()


@pytest.mark.parametrize("name", sorted(templates()))
def test_no_message_ends_in_a_placeholder(name: str) -> None:
    cls, rule = name.split(" ")
    template = getattr(errors, cls).templates[rule]
    end = template.split(" - at ", 1)[1].partition("; ")[2]
    assert end, "no way out"
    assert not re.search(r"(?<!\[)\.\.\.|\bN\b|…", end)
