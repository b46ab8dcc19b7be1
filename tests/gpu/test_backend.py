"""A second package with wgpu-py's API: its objects, its errors and its shader compiler are known by its name alone."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import wgpu

from gpustruct import BindingError, Struct, f32, u32
from gpustruct.gpu import RecordBuffer, backend, write_buffer
from gpustruct.gpu.backend import packages

pytestmark = pytest.mark.skipif(
    os.environ.get("GPUSTRUCT_WEBGPU") == "wgpudawn",
    reason="a stand-in takes the name of the package that made the device",
)


class Params(Struct):
    time: f32
    frame: u32


class Base:
    """Stands for the `GPUObjectBase` of the other package; none of its classes derive from wgpu-py's."""


class OtherError(Exception):
    pass


class OtherQueue(Base):
    def __init__(self, device: Any) -> None:
        self._device = device


class OtherBuffer(Base):
    def __init__(self, device: Any, size: int, usage: int) -> None:
        self._device, self.size, self.usage, self.map_state = device, size, usage, "unmapped"


class OtherDevice(Base):
    def __init__(self) -> None:
        self.queue, self.adapter = OtherQueue(self), self
        self.limits = {"max-buffer-size": 2**28, "max-storage-buffer-binding-size": 2**27}

    def create_buffer(self, *, size: int, usage: int, label: str = "") -> OtherBuffer:
        raise OtherError("no memory")


@pytest.fixture
def other(device: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[OtherDevice]:
    package: Any = ModuleType("wgpudawn")
    package.GPUObjectBase, package.GPUError = Base, OtherError
    package.GPUDevice, package.GPUQueue, package.GPUBuffer = OtherDevice, OtherQueue, OtherBuffer
    monkeypatch.setitem(sys.modules, "wgpudawn", package)
    yield OtherDevice()
    # Which classes are whose is remembered.
    packages._is_kind.cache_clear()


def test_which_package_made_an_object(device: Any, other: OtherDevice) -> None:
    assert backend.of(device).package == "wgpu"
    assert backend.of(device).compiler == "naga"
    assert backend.of(other).package == "wgpudawn"
    assert backend.of(other).compiler == "tint"
    assert backend.is_a(other, "GPUDevice") and not backend.is_a(other, "GPUBuffer", "GPUQueue")
    # This package has no textures.
    assert not backend.is_a(other, "GPUTexture")


def test_its_device_is_taken_and_its_errors_are_ours(other: OtherDevice) -> None:
    for target in (other, other.queue):
        with pytest.raises(BindingError, match="no memory"):
            RecordBuffer(target, Params)


def test_a_buffer_of_the_other_package_is_foreign(device: Any, other: OtherDevice) -> None:
    buffer = OtherBuffer(other, 8, wgpu.BufferUsage.COPY_DST)
    with pytest.raises(BindingError, match="another device"):
        write_buffer(device, buffer, Params(time=1, frame=2))


class Promise:
    def __init__(self) -> None:
        self._thread_event = threading.Event()

    def sync_wait(self) -> None:
        assert self._thread_event.is_set()


def test_a_device_without_a_polling_thread_is_polled(other: OtherDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    promise = Promise()
    monkeypatch.setattr(other, "_poll", promise._thread_event.set, raising=False)
    buffer = OtherBuffer(other, 8, wgpu.BufferUsage.MAP_READ)
    monkeypatch.setattr(buffer, "map_async", lambda mode: promise, raising=False)
    mapping = backend.Mapping(buffer, "READ")
    mapping.wait("read")
    assert mapping.arrived


def test_the_environment_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    package: Any = ModuleType("wgpudawn")
    package.gpu = SimpleNamespace(request_adapter_sync=lambda power_preference: power_preference)
    monkeypatch.setitem(sys.modules, "wgpudawn", package)
    monkeypatch.setenv("GPUSTRUCT_WEBGPU", "wgpudawn")
    assert backend.request_adapter() == "high-performance"
    monkeypatch.setenv("GPUSTRUCT_WEBGPU", "wgpudwan")
    with pytest.raises(BindingError, match=r"current: 'wgpudwan'.*did you mean 'wgpudawn'"):
        backend.request_adapter()


def test_without_the_other_package_its_objects_are_unknown(device: Any) -> None:
    with pytest.raises(BindingError, match="OtherDevice"):
        RecordBuffer(OtherDevice(), Params)
