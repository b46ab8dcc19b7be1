"""Each example runs without a window, and its picture looks as the one in docs/images does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]

# Options, and the mean red, green and blue of the picture, of 255.
EXAMPLES: dict[str, tuple[list[str], tuple[float, float, float]]] = {
    "nbody": (["--count", "300", "--frames", "3"], (15.6, 17.9, 30.6)),
    "lights": (["--count", "200"], (22.6, 15.1, 27.8)),
    "instances": ([], (197.4, 128.7, 120.0)),
    "bulk": (["--count", "1_500_000"], (30.0, 24.2, 19.8)),
    "pygfx_points": ([], (36.9, 32.5, 46.2)),
    "uniforms": ([], (37.0, 35.0, 54.5)),
    "from_wgsl": ([], (51.0, 53.2, 63.4)),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(device: Any, name: str, tmp_path: Path) -> None:
    options, expected = EXAMPLES[name]
    path = tmp_path / f"{name}.png"
    command = [sys.executable, "-W", "error", ROOT / f"examples/{name}.py", "--save", path, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    picture = np.asarray(Image.open(path))
    assert picture.shape == (400, 640, 3)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20
    assert picture.mean((0, 1)) == pytest.approx(expected, abs=2)
    assert ("must be the same on both sides" in done.stdout) == (name == "from_wgsl")


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short_and_has_a_small_picture(name: str) -> None:
    assert len((ROOT / f"examples/{name}.py").read_text().splitlines()) < 120
    assert 1000 < (ROOT / f"docs/images/{name}.png").stat().st_size < 250_000
