"""What all tests and examples share: bounded random searches, a quiet Vulkan, and one device."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Without it the Vulkan loader writes an error line to stderr.
if "XDG_RUNTIME_DIR" not in os.environ:
    os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="gpustruct-runtime-")

# A job that a shell starts in the background ignores SIGINT, and so would the tests of interrupts and what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests marked long as well, as CI does")


def long_tests_run(config: pytest.Config) -> bool:
    """Whether tests marked long run: with --long, or where a file or folder is given."""
    if hasattr(config, "workerinput"):
        return config.workerinput["long_tests_run"]
    return config.option.long or config.args_source is pytest.Config.ArgsSource.ARGS


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    # A process of pytest-xdist cannot know where the arguments came from.
    node.workerinput["long_tests_run"] = long_tests_run(node.config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if long_tests_run(config):
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    if left_out:
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)


# No deadline: a slow machine is no fault. GPUSTRUCT_EXAMPLES asks for a longer search.
settings.register_profile(
    "gpustruct",
    deadline=None,
    max_examples=int(os.environ.get("GPUSTRUCT_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("gpustruct")

# Read by other tools, not by pytest.
collect_ignore = ["tests/typing", "tests/bad_schemas", "tests/data"]

INSTALL = "this needs a wgpu adapter with shader-f16: apt install mesa-vulkan-drivers libvulkan1 gives one in software"


def device_or_skip() -> Any:
    """A device with f16 in shaders. Without an adapter: a skip, or in CI a failure, in one line."""
    from gpustruct import BindingError
    from gpustruct.gpu.devices import F16, default_device

    try:
        found = default_device()
        reason = "" if F16 in found.features else f"{found.adapter.info['device']} has no f16"
    except BindingError as error:
        reason = str(error)
    if not reason:
        return found
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(f"{INSTALL} ({reason})", pytrace=False)
    pytest.skip(INSTALL)


def another_device(**options: Any) -> Any:
    """A device of the package that the tests use, from an adapter of its own: Dawn makes one device from each."""
    from gpustruct.gpu.backend import request_adapter

    return request_adapter().request_device_sync(**options)


@pytest.fixture(scope="session")
def new_device() -> Any:
    """`another_device`, for tests that need a second one, smaller limits, or one that they break."""
    return another_device


@pytest.fixture(scope="session")
def device() -> Any:
    """The one device of all tests."""
    return device_or_skip()


class TooLong(BaseException):
    """A test took more of its own CPU time than it may."""


@pytest.fixture
def cpu_limit() -> Iterator[None]:
    """Ends a test after 20 seconds of this process's CPU time: other work on the machine does not count."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, 20)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def pytest_runtest_setup(item: pytest.Item) -> None:
    # Examples name no fixtures: those that use a device say so by what they import.
    if isinstance(item, pytest.DoctestItem) and uses_device(item.dtest.examples):
        device_or_skip()


def uses_device(examples: Any) -> bool:
    return any("wgpu" in example.source or "gpustruct.gpu" in example.source for example in examples)


# Every instruction set that csrc has code for; a test in tests/test_kernel.py holds this list to the kernel's.
INSTRUCTION_SETS = ("portable", "sse4.1", "avx2", "avx512", "neon")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was left out; after tests of the kernel, a line for each instruction set and platform, run or not."""
    if not long_tests_run(terminalreporter.config):
        terminalreporter.write_line("left out: the tests marked long; --long runs them too")
    passed = [report.nodeid for report in terminalreporter.stats.get("passed", ()) if report.when == "call"]
    if not any("test_kernel.py" in name for name in passed):
        return
    from gpustruct import _kernel

    here = _kernel.isas()
    terminalreporter.section("instruction sets and platforms")
    for isa in INSTRUCTION_SETS:
        emulated = isa == "neon" and any("same_bytes[aarch64]" in name for name in passed)
        where = "run on this processor" if isa in here else "run under qemu-aarch64" if emulated else "NOT RUN here"
        terminalreporter.write_line(f"{isa}: {where}")
    for platform in ("aarch64", "s390x", "windows", "wasm32"):
        ran = any(f"same_bytes[{platform}]" in name for name in passed)
        terminalreporter.write_line(f"{platform}: {'the kernel ran' if ran else 'NOT RUN here'}")
