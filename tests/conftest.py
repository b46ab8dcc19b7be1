"""What all tests share: bounded random searches, and a quiet Vulkan."""

from __future__ import annotations

import os
import tempfile

from hypothesis import HealthCheck, settings

# Without it the Vulkan loader writes an error line to stderr.
if "XDG_RUNTIME_DIR" not in os.environ:
    os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="gpustruct-runtime-")

# No deadline: a slow machine is no fault. GPUSTRUCT_EXAMPLES asks for a longer search.
settings.register_profile(
    "gpustruct",
    deadline=None,
    max_examples=int(os.environ.get("GPUSTRUCT_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("gpustruct")

# Read by other tools, not by pytest.
collect_ignore = ["typing", "bad_schemas", "data"]
