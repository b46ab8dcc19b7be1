"""Many workers pack one data set into one device-ready file.

dask cuts the columns into chunks and `map_blocks` runs `pack` on each, unchanged; every worker writes its
records to their own place in the file, so nobody waits for anybody. With --device the file then goes to the
GPU through a memory map, a piece at a time.

    python examples/dask_pack.py particles.bin --records 10_000_000 --workers 2
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

from gpustruct import Struct, batch, dtype_of, f32, layout_of, pack, u32, vec3f, vec4f


class Particle(Struct):
    position: vec3f
    life: f32
    velocity: vec3f
    id: u32
    color: vec4f


STRIDE = layout_of(Particle).stride


def columns(records: int, chunk: int) -> dict[str, da.Array]:
    """A data set of columns, float64 and int64 as simulations have them, in chunks of records."""
    id = da.arange(records, chunks=chunk)
    angle = id * 1e-3
    position = da.stack([da.cos(angle), da.sin(angle), angle], axis=-1).rechunk({1: 3})
    return {"position": position, "life": 1 / (1 + id[:, None] % 97), "velocity": -position, "id": id[:, None]}


def pack_block(position: np.ndarray, life: np.ndarray, velocity: np.ndarray, id: np.ndarray) -> np.ndarray:
    """One chunk of each column in, (records, stride) bytes out."""
    particles = Particle(position=position, life=life[:, 0], velocity=velocity, id=id[:, 0], color=(1, 1, 1, 1))
    return pack(particles, threads=1).reshape(-1, STRIDE)


def packed(table: dict[str, da.Array]) -> da.Array:
    """The records' bytes, one row a record, still to be computed."""
    return da.map_blocks(pack_block, *table.values(), dtype=np.uint8, chunks=(table["id"].chunks[0], (STRIDE,)))


class DeviceFile:
    """Where `da.store` puts blocks: each worker opens the file itself and writes its own rows."""

    def __init__(self, path: Path, records: int) -> None:
        self.path, self.shape = path, (records, STRIDE)
        with open(path, "wb") as file:
            file.truncate(records * STRIDE)

    def __setitem__(self, index: Any, block: np.ndarray) -> None:
        rows = np.memmap(self.path, np.uint8, "r+", shape=self.shape)
        rows[index] = block


def write(path: Path, records: int, chunk: int) -> None:
    """Pack the data set into the file, on whatever workers the current dask client has."""
    da.store(packed(columns(records, chunk)), DeviceFile(path, records), lock=False)


def upload(path: Path) -> Any:
    """The file's records on a GPU; memory stays bounded, whatever the file's size."""
    import wgpu

    from gpustruct import gpu

    records = np.memmap(path, dtype_of(Particle), "r")
    particles = gpu.RecordBuffer(wgpu.utils.get_default_device(), Particle, capacity=len(records))
    particles.write(batch(Particle, records))
    return particles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--chunk", type=int, default=500_000, help="records that one task packs")
    parser.add_argument("--device", action="store_true", help="upload the file")
    options = parser.parse_args()
    with (
        LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        begun = time.perf_counter()
        write(options.path, options.records, options.chunk)
        seconds = time.perf_counter() - begun
    size = options.path.stat().st_size
    print(f"{options.records:,} records, {size / 2**30:.2f} GiB, {seconds:.1f} s on {options.workers} workers")
    if options.device:
        print(upload(options.path))


if __name__ == "__main__":
    main()
