"""Every row names the machine, and what it is a ratio to."""

from __future__ import annotations

from typing import Any

from gpustruct.cli.bench import describe


def pytest_benchmark_update_machine_info(config: Any, machine_info: dict[str, Any]) -> None:
    machine_info["gpustruct"] = describe()
