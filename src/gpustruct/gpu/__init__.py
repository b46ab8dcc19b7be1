"""wgpu buffers of records: filled, read back, and checked against what the device sees."""

from .readback import Reading, read_buffer
from .records import RecordBuffer
from .shards import ShardedBuffer
from .upload import Uploader, write_buffer
from .verify import verify

__all__ = ["Reading", "RecordBuffer", "ShardedBuffer", "Uploader", "read_buffer", "verify", "write_buffer"]
