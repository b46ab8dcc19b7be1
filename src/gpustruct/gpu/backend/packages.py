"""The packages that implement WebGPU in Python: whose an object is, their classes, errors and flags."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from typing import Any, Literal, NamedTuple

import wgpu

from ...errors import BindingError, closest


class Backend(NamedTuple):
    """A package with wgpu-py's API. `compiler` reads its shaders: a `target` of `wgsl.parse`.

    With `has_poller`, a thread of the package calls the callbacks of its devices; otherwise we poll the device.
    """

    package: str
    compiler: Literal["naga", "tint"]
    has_poller: bool = True


WGPU = Backend("wgpu", "naga")
# gpustruct takes the objects of any of these packages that is loaded.
BACKENDS = (WGPU, Backend("wgpudawn", "tint", has_poller=False))

# Integers, which are the same in each package because WebGPU fixes them (§5.1, §6.1).
BufferUsage: Any = wgpu.BufferUsage
TextureUsage: Any = wgpu.TextureUsage


def _classes(name: str) -> dict[Backend, type[Any]]:
    """The class of this name in each loaded package."""
    loaded = [(backend, sys.modules[backend.package]) for backend in BACKENDS if backend.package in sys.modules]
    return {backend: getattr(module, name) for backend, module in loaded if hasattr(module, name)}


def of(thing: Any) -> Backend:
    """The backend that made an object; wgpu-py for anything that is no object of a backend.

    >>> import wgpu
    >>> of(wgpu.utils.get_default_device()).compiler
    'naga'
    """
    return next((backend for backend, base in _classes("GPUObjectBase").items() if isinstance(thing, base)), WGPU)


def is_a(thing: Any, *names: str) -> bool:
    """Whether an object belongs to one of these classes of WebGPU, whichever package made it.

    >>> import wgpu
    >>> is_a(wgpu.utils.get_default_device(), "GPUDevice"), is_a(b"", "GPUBuffer", "GPUTexture")
    (True, False)
    """
    return _is_kind(type(thing), names)


@functools.lru_cache(maxsize=256)
def _is_kind(kind: type[Any], names: tuple[str, ...]) -> bool:
    # A package is loaded before there are objects of its classes, so this never changes.
    return any(issubclass(kind, tuple(_classes(name).values())) for name in names)


def gpu_errors() -> tuple[type[Exception], ...]:
    """What `except` takes to catch the errors of every loaded package. Python calls it only when something was raised.

    >>> import wgpu
    >>> wgpu.GPUError in gpu_errors()
    True
    """
    return tuple(_classes("GPUError").values())


def request_adapter() -> Any:
    """The fastest adapter of the package that GPUSTRUCT_WEBGPU names, "wgpu" or "wgpudawn"; of wgpu-py without it.

    Raises what that package raises if there is none.
    """
    name = os.environ.get("GPUSTRUCT_WEBGPU") or WGPU.package
    packages = [backend.package for backend in BACKENDS]
    if name not in packages:
        raise BindingError.of("package-unknown", current=repr(name), way_out=closest(name, packages))
    return importlib.import_module(name).gpu.request_adapter_sync(power_preference="high-performance")
