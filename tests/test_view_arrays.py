

def test_a_slice_up_to_the_end_of_bytes_without_the_last_padding() -> None:
    memory = bytearray(28)  # Two vec3f: 12 bytes, 4 of padding, 12 bytes.
    vectors = view(vec3f, memory, count=2)
    vectors[1:] = [(4, 5, 6)]
    assert struct.unpack_from("<3f", memory, 16) == (4, 5, 6)
    assert len(bytes(vectors[1:])) == 12
    assert len(bytes(vectors[:1])) == 16
    assert pack(vectors).view(np.float32).tolist() == [0, 0, 0, 0, 4, 5, 6, 0]
