"""Tensors of torch and jax on the CPU, where these are installed: by DLPack, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from gpustruct import SourceError, Struct, batch, f16, f32, i32, pack, u32, vec3f, view


class Particle(Struct):
    position: vec3f
    life: f32
    id: u32


def particle(position: Any, life: Any, id: Any) -> Particle:
    return Particle(position=np.asarray(position), life=np.asarray(life), id=np.asarray(id))


POSITION, LIFE, ID = (
    np.arange(12, dtype=np.float32).reshape(4, 3),
    np.arange(4, dtype=np.float32),
    np.arange(4, dtype=np.int32),
)


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    position = torch.from_numpy(POSITION.copy())
    source = {"position": position, "life": torch.from_numpy(LIFE), "id": torch.from_numpy(ID)}
    made = batch(Particle, source)
    assert pack(made).tobytes() == reference.pack(particle(POSITION, LIFE, ID))
    assert made.position.__array_interface__["data"][0] == position.data_ptr()
    position[1, 1] = 77
    assert made.position[1, 1] == 77
    learned = torch.ones((4, 3), requires_grad=True)
    assert pack(batch(vec3f, learned)).nbytes == 64
    turned = torch.arange(12, dtype=torch.float64).reshape(3, 4).T
    assert pack(batch(vec3f, turned)).tobytes() == reference.pack(vec3f(np.arange(12.0).reshape(3, 4).T))
    assert batch(f16, torch.ones(3, dtype=torch.float16)).__columns__[0].dtype == np.float16
    record = view(Particle)
    record.position = torch.tensor([1, 2, 3])
    assert record.position.tolist() == [1, 2, 3]
    for bad in (
        torch.ones(3, dtype=torch.bfloat16),
        torch.ones(3, device="meta"),
        torch.ones(3, dtype=torch.complex64),
    ):
        with pytest.raises(SourceError):
            batch(f32, bad)
    with pytest.raises(SourceError):
        batch(Particle, torch.ones((4, 5)))


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    from jax import numpy as jnp

    jax.config.update("jax_default_device", jax.devices("cpu")[0])

    position, life, id = jnp.asarray(POSITION), jnp.asarray(LIFE), jnp.asarray(ID)
    made = batch(Particle, {"position": position, "life": life, "id": id})
    assert pack(made).tobytes() == reference.pack(particle(POSITION, LIFE, ID))
    assert made.position.__array_interface__["data"][0] == position.unsafe_buffer_pointer()
    assert batch(f16, jnp.ones(3, jnp.float16)).__columns__[0].dtype == np.float16
    record = view(Particle)
    record.position, record.life = jnp.arange(3), jnp.float32(2)
    assert record.position.tolist() == [0, 1, 2]
    rows = [{"position": position[k], "life": life[k], "id": int(id[k])} for k in range(4)]
    assert pack(batch(Particle, rows)).tobytes() == pack(made).tobytes()
    assert pack(batch(f32, jnp.ones(3, jnp.bfloat16))).view(np.float32).tolist() == [1, 1, 1]
    with pytest.raises(SourceError):
        batch(f32, jnp.ones(3, jnp.complex64))
    with pytest.raises(SourceError):
        batch(i32, jnp.ones(3))
    with pytest.raises(SourceError):
        batch(Particle, jnp.ones((4, 5)))


class _Nowhere:
    """A tensor whose library has no number for its device, as torch's "meta" has none."""

    device = "meta"

    def __dlpack__(self) -> None:
        raise AssertionError("nobody may ask")

    def __dlpack_device__(self) -> tuple[int, int]:
        raise ValueError("unknown device")


def test_a_device_without_a_number() -> None:
    with pytest.raises(SourceError, match="_Nowhere on meta"):
        batch(f32, _Nowhere())
