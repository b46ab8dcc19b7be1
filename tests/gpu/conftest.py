"""One device for every test of this folder; without one, a single clear line."""

from __future__ import annotations

import os
from typing import Any

import pytest

INSTALL = "these tests need a wgpu adapter with shader-f16: apt install mesa-vulkan-drivers libvulkan1 gives one in software"


@pytest.fixture(scope="session")
def device() -> Any:
    """A device with f16 in shaders. Without an adapter: a skip, or in CI a failure."""
    from gpustruct import BindingError
    from gpustruct.gpu.devices import F16, default_device

    try:
        found = default_device()
        reason = "" if F16 in found.features else f"{found.adapter.info['device']} has no f16"
    except BindingError as error:
        found, reason = None, str(error)
    if not reason:
        return found
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(f"{INSTALL} ({reason})", pytrace=False)
    pytest.skip(INSTALL)
