"""wgpu buffers of records: filled, read back, and checked against what the device sees."""

from .buffers import read_buffer, write_buffer
from .verify import verify

__all__ = ["read_buffer", "verify", "write_buffer"]
