"""One device for every test of this folder; without one, a single clear line."""

from __future__ import annotations

import os
from typing import Any

import pytest

INSTALL = "no wgpu adapter: apt install mesa-vulkan-drivers libvulkan1 gives a software one"


@pytest.fixture(scope="session")
def device() -> Any:
    """A device with f16 in shaders. Without an adapter: a skip, or in CI a failure."""
    from gpustruct import BindingError
    from gpustruct.gpu.devices import default_device

    try:
        return default_device()
    except BindingError as error:
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(f"{INSTALL} ({error})", pytrace=False)
        pytest.skip(INSTALL)
