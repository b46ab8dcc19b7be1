"""The README's code, run from top to bottom as one program; its figures' commands exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

README = Path(__file__).parents[2] / "README.md"


def test_the_code_runs(device: Any, capsys: Any) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 2
    # A class's annotations are looked up in its module.
    scope: dict[str, Any] = {"device": device, "__name__": "readme"}
    for block in blocks:
        exec(compile(block.replace("1_000_000", "10_000"), str(README), "exec"), scope)
    assert scope["data"].nbytes == 48 * 10_000
    assert np.allclose(scope["particles"].read().position, scope["p"].position)
    assert "velocity" in capsys.readouterr().out


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
        assert target.startswith("https://") or (README.parent / target).exists(), target
