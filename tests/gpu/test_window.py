"""An example draws into a window: on a screen that only memory has, as Xvfb makes one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
NEEDS = "a window needs Xvfb and glfw: apt install xvfb, pip install glfw"


def seen(framebuffer: Path) -> np.ndarray:
    """What the screen shows, (400, 640, 3), from the file that Xvfb keeps in the format of xwd."""
    data = framebuffer.read_bytes()
    head = np.frombuffer(data[:100], ">u4")
    start, height, line = int(head[0] + 12 * head[19]), int(head[5]), int(head[12])
    rows = np.frombuffer(data, np.uint8, height * line, start).reshape(height, -1, 4)
    return rows[:, :640, 2::-1].astype(float)


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[tuple[dict[str, str], Path]]:
    """The environment of a program that opens windows, and the file in which the screen's pixels are."""
    server = shutil.which("Xvfb")
    if server is None or importlib.util.find_spec("glfw") is None:
        pytest.skip(NEEDS)
    reading, writing = os.pipe()
    options = ["-displayfd", str(writing), "-screen", "0", "640x400x24", "-nolisten", "tcp", "-fbdir", str(tmp_path)]
    with subprocess.Popen([server, *options], pass_fds=[writing], stderr=subprocess.DEVNULL) as running:
        os.close(writing)
        with os.fdopen(reading) as answer:
            number = answer.readline().strip()
        assert number, "Xvfb did not start"
        environment = {**os.environ, "DISPLAY": f":{number}", "XDG_SESSION_TYPE": "x11", "RENDERCANVAS_BACKEND": "glfw"}
        yield {k: v for k, v in environment.items() if k != "WAYLAND_DISPLAY"}, tmp_path / "Xvfb_screen0"
        running.terminate()


def test_an_example_draws_into_a_window(device: Any, screen: tuple[dict[str, str], Path]) -> None:
    environment, framebuffer = screen
    command = [sys.executable, "-W", "error", ROOT / "examples/instances.py"]
    # Without a window manager there is no button that closes the window. Ctrl-C closes it too.
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as example:
        first, end = None, time.monotonic() + 120
        moves = False
        while not moves and example.poll() is None and time.monotonic() < end:
            time.sleep(0.2)
            picture = seen(framebuffer)
            # The colors that tests/gpu/test_examples.py expects without a window: red and blue are where they belong.
            if np.allclose(picture.mean((0, 1)), (197.4, 128.7, 120.0), atol=3):
                moves = first is not None and bool((picture != first).any())
                first = picture
        example.send_signal(signal.SIGINT)
        errors = example.communicate(timeout=60)[1]
    assert first is not None and moves, errors
    assert errors in ("", "Received signal Interrupt\n")  # which rendercanvas says
    assert example.returncode == 0
