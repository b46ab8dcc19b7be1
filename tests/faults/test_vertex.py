"""Index data of 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpustruct import vertex
from gpustruct.gpu import RecordBuffer


@pytest.mark.parametrize("count", [1, 2, 3, 7, 1001])
def test_F28_16_bit_indices_are_rounded_up_to_whole_words(device: Any, count: int) -> None:
    indices = np.arange(count)[::-1]
    buffer = RecordBuffer(device, vertex.uint16, usage="INDEX", data=vertex.uint16(indices))
    data = device.queue.read_buffer(buffer.buffer)
    words = np.frombuffer(data, "u2")
    assert len(words) % 2 == 0 and len(words) >= count
    assert words[:count].tolist() == indices.tolist() and not words[count:].any()
    assert np.asarray(buffer.read()).tolist() == indices.tolist()


def test_F28_indices_are_appended_inside_a_word(device: Any) -> None:
    buffer = RecordBuffer(device, vertex.uint16, 9, usage="INDEX")
    buffer.append(vertex.uint16([1, 2, 3]))
    buffer.append(vertex.uint16([4, 65535]))
    assert np.asarray(buffer.read()).tolist() == [1, 2, 3, 4, 65535]
    assert np.asarray(buffer.read(3)).tolist() == [4, 65535]
