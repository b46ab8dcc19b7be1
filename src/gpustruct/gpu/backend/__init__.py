"""The only folder that imports wgpu, and that knows its private names, its error texts and where its packages differ."""

from .liveness import DestroyHook, check_alive, lost, owner_of, refused, refused_binding, watch
from .mapping import Mapping
from .memory import mapped_memory, write_from
from .packages import BACKENDS, Backend, BufferUsage, TextureUsage, gpu_errors, is_a, of, request_adapter

__all__ = [
    "BACKENDS",
    "Backend",
    "BufferUsage",
    "DestroyHook",
    "Mapping",
    "TextureUsage",
    "check_alive",
    "gpu_errors",
    "is_a",
    "lost",
    "mapped_memory",
    "of",
    "owner_of",
    "refused",
    "refused_binding",
    "request_adapter",
    "watch",
    "write_from",
]
