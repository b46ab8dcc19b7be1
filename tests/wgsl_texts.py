"""wgsl-texts.json: small texts with the verdicts of the specification, naga and Tint.

``python tests/wgsl_texts.py`` asks both compilers again and writes the file: naga through the package wgpu, Tint
through the package wgpudawn where that is installed (its Null backend judges texts, and needs no device). The
specification's column is written by hand. `why` gives its reason where a compiler departs from it, `note` why no
warning says so. `ours` is gpustruct's verdict where it is not the specification's, for the reason in `note`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "data" / "wgsl-texts.json"
ENTRIES: list[dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))


def device(package: Any) -> Any:
    """A device with every stable feature of its adapter, so that it is the compiler that refuses."""
    adapter = package.gpu.request_adapter_sync(power_preference="high-performance")
    stable = [feature for feature in adapter.features if not feature.startswith("experimental")]
    return adapter.request_device_sync(required_features=stable)


def verdict(on: Any, text: str) -> str:
    """``"accept"``, or ``"refuse: "`` with the first line of the message."""
    try:
        on.create_shader_module(code=text)
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = lines[3] if lines[0] == "Validation Error" else lines[0].rpartition("error: ")[2]
        return "refuse: " + said.removeprefix("Shader '' ")[:120]
    return "accept"


def main() -> None:
    """Write the columns of the compilers that are installed again."""
    import wgpu

    naga = device(wgpu)
    for entry in ENTRIES:
        if not entry["naga"].startswith("panic"):
            entry["naga"] = verdict(naga, entry["text"])
    answer = subprocess.run(
        [sys.executable, __file__, "tint"], env={**os.environ, "WGPU_BACKEND_TYPE": "Null"}, capture_output=True, text=True, check=False
    )  # fmt: skip
    if answer.returncode == 0:
        for entry, said in zip(ENTRIES, json.loads(answer.stdout.splitlines()[-1]), strict=True):
            entry["tint"] = said
    else:
        print("Tint was not asked:", answer.stderr.splitlines()[-1])
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in ENTRIES)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["tint"]:
        import wgpudawn  # pyright: ignore[reportMissingImports]

        tint = device(wgpudawn)
        print(json.dumps([verdict(tint, entry["text"]) for entry in ENTRIES]))
    else:
        main()
