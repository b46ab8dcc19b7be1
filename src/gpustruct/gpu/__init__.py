"""wgpu buffers of records: filled, read back, and checked against what the device sees."""

from .bind_groups import BindGroups
from .program import Program
from .readback import PendingRead, read_buffer
from .records import RecordBuffer
from .shards import ShardedBuffer
from .upload import Uploader
from .verify import verify
from .writing import write_buffer

__all__ = [
    "BindGroups",
    "PendingRead",
    "Program",
    "RecordBuffer",
    "ShardedBuffer",
    "Uploader",
    "read_buffer",
    "verify",
    "write_buffer",
]


def __dir__() -> list[str]:
    return sorted(__all__)
