"""pack_to: the bytes that pack gives, in a file, with bounded memory; a file is whole, or it is as it was."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import strategies
from gpustruct import SourceError, Struct, array, dtype_of, f32, files, pack_to, u32, vec3f, view
from interrupting import Stop


class Particle(Struct):
    position: vec3f
    life: f32


class Swarm(Struct):
    gravity: vec3f
    particles: array[Particle]


class Odd(Struct):
    value: u32
    points: array[vec3f, 5]


def particles(n: int, dtype: type = np.float64) -> Particle:
    return Particle(position=np.arange(3 * n, dtype=dtype).reshape(n, 3), life=np.arange(n, dtype=dtype) / 2)


def old(folder: Path) -> Path:
    path = folder / "records.bin"
    path.write_bytes(b"what was there")
    return path


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PAGE_BYTES", 1000)


def test_bytes_by_hand(tmp_path: Path) -> None:
    pack_to(tmp_path / "two", Particle(position=[[1, 2, 3], [4, 5, 6]], life=[7, 8]))
    assert (tmp_path / "two").read_bytes() == struct.pack("<8f", 1, 2, 3, 7, 4, 5, 6, 8)


@pytest.mark.parametrize(
    "batch",
    [
        particles(1000),
        particles(1000)[::-3],
        particles(12).__class__(position=np.ones((3, 7, 3)), life=np.arange(7)),
        particles(0),
        u32(7),
        Odd(value=np.arange(100), points=np.ones((5, 3))),
        Swarm(gravity=(1, 2, 3), particles=particles(500)),
        Swarm(gravity=(1, 2, 3), particles=particles(0)),
        array[vec3f](np.arange(300).reshape(100, 3)),
        array[f32, 600](np.ones((3, 600))),
    ],
    ids=lambda batch: f"{type(batch).__name__}{batch.__shape__}",
)
def test_a_file_has_the_bytes_of_the_reference(batch: Any, tmp_path: Path, small_pages: None) -> None:
    calls: list[tuple[int, int]] = []
    pack_to(tmp_path / "file", batch, progress=lambda *done: calls.append(done))
    assert (tmp_path / "file").read_bytes() == reference.pack(batch)
    assert calls == sorted(calls)
    total = calls[-1][1] if calls else 0
    assert [done for done, _ in calls[-1:]] == [total] * len(calls[-1:])
    assert [name.name for name in tmp_path.iterdir()] == ["file"]


@settings(max_examples=50)
@given(data=st.data())
def test_any_batch(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    batch = data.draw(strategies.batches(data.draw(strategies.types())))
    path = tmp_path_factory.getbasetemp() / "any"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "PAGE_BYTES", data.draw(st.integers(1, 3000)))
        pack_to(path, batch)
    assert reference.difference(type(batch), path.read_bytes(), reference.pack(batch)) is None


def test_progress_is_told_page_by_page(tmp_path: Path, small_pages: None) -> None:
    calls: list[tuple[int, int]] = []
    pack_to(tmp_path / "file", particles(200), progress=lambda done, total: calls.append((done, total)))
    # 62 records of 16 bytes fit into a page of 1000.
    assert calls == [(62, 200), (124, 200), (186, 200), (200, 200)]


def test_a_view_is_a_batch_of_one(tmp_path: Path) -> None:
    v = view(Particle)
    v.position, v.life = (1, 2, 3), 4
    pack_to(tmp_path / "one", v)
    assert (tmp_path / "one").read_bytes() == struct.pack("<4f", 1, 2, 3, 4)


@pytest.mark.parametrize("kind", [str, Path, os.fsencode])
def test_kinds_of_paths(kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if kind is os.fsencode:
        # As open() takes it; by way of os.PathLike, for the annotation has no bytes.
        class Bytes:
            def __fspath__(self) -> bytes:
                return b"here"

        pack_to(Bytes(), u32([1]))  # type: ignore[arg-type]
    else:
        pack_to(kind("here"), u32([1]))
    assert Path("here").read_bytes() == struct.pack("<I", 1)


@pytest.mark.parametrize("at", [0, 61, 62, 500, 999])
def test_a_value_that_does_not_fit_leaves_the_file_as_it_was(at: int, tmp_path: Path, small_pages: None) -> None:
    path, batch = old(tmp_path), particles(1000)
    batch.life[at] = 1e300
    with pytest.raises(SourceError, match=rf"at Particle\.life\[{at}\]"):
        pack_to(path, batch)
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_a_value_that_does_not_fit_leaves_no_new_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        pack_to(tmp_path / "new", u32(np.array([1, -1])))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_an_error_in_progress_leaves_the_file_as_it_was(error: type, tmp_path: Path, small_pages: None) -> None:
    path = old(tmp_path)

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise error

    with pytest.raises(error):
        pack_to(path, particles(1000), progress=stop)
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_at_every_line(tmp_path: Path, small_pages: None) -> None:
    path, batch = old(tmp_path), particles(100)
    with Stop(files.__file__) as stop:
        pack_to(path, batch)
    path.write_bytes(b"what was there")
    for nth in range(len(stop.lines)):
        with Stop(files.__file__, nth), pytest.raises(KeyboardInterrupt):
            pack_to(path, batch)
        assert path.read_bytes() == b"what was there", nth
        assert list(tmp_path.iterdir()) == [path], nth
    assert len(stop.lines) > 30


def test_the_records_of_a_file_may_replace_it(tmp_path: Path, small_pages: None) -> None:
    path = tmp_path / "file"
    pack_to(path, particles(1000))
    rows = np.memmap(path, dtype_of(Particle), "r")
    pack_to(path, Particle(position=rows["position"][::-1], life=rows["life"]))
    again = Particle(position=particles(1000).position[::-1], life=particles(1000).life)
    assert path.read_bytes() == reference.pack(again)


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither these links nor these permissions")
def test_links_stay_links_and_permissions_are_kept(tmp_path: Path) -> None:
    path, link = old(tmp_path), tmp_path / "link"
    path.chmod(0o640)
    link.symlink_to("records.bin")
    pack_to(link, u32([1]))
    assert link.is_symlink()
    assert path.read_bytes() == struct.pack("<I", 1)
    assert path.stat().st_mode & 0o777 == 0o640
    dangling = tmp_path / "dangling"
    dangling.symlink_to("later")
    pack_to(dangling, u32([2]))
    assert (tmp_path / "later").read_bytes() == struct.pack("<I", 2)


def test_errors_of_the_system_name_the_path(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "file"
    with pytest.raises(FileNotFoundError) as raised:
        pack_to(path, u32([1]))
    assert raised.value.filename == str(path)
    with pytest.raises(OSError, match="File name too long"):
        pack_to(tmp_path / ("x" * 300), u32([1]))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        pack_to(tmp_path / "file" / "inner", u32([1]))
    assert [name.name for name in tmp_path.iterdir()] == ["file"]


FULL = """
import resource, sys
import numpy as np
from gpustruct import pack_to, u32
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    pack_to(sys.argv[1], u32(np.zeros(5_000_000, np.uint32)))
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit for the size of a file")
def test_a_disk_that_is_full_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = old(tmp_path)
    completed = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    assert completed.stdout == "File too large\n"
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


STREAM = """
import os, sys
import numpy as np
from gpustruct import Struct, f32, pack_to, u32, vec3f

class Particle(Struct):
    position: vec3f
    life: f32
    id: u32

def resident():
    with open("/proc/self/status") as lines:
        return {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "VmHWM"))}

n = int(sys.argv[2])
position = np.memmap(sys.argv[1], np.float64, "r", shape=(n, 3))
life = np.memmap(sys.argv[1], np.float64, "r", offset=24 * n, shape=(n,))
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before = resident()
calls = []
pack_to(sys.argv[3], Particle(position=position, life=life, id=7), progress=lambda *done: calls.append(done))
assert len(calls) > 10 and calls[-1] == (n, n), calls
print(resident()["VmHWM"] - before["VmRSS"])
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs Linux's /proc to measure memory")
def test_memory_is_bounded(tmp_path: Path) -> None:
    """128 MB of columns in a file make 128 MB of records in another: peak memory over the start is 32 MiB at most."""
    n = 4_000_000
    source, target = tmp_path / "columns", tmp_path / "records"
    np.arange(4 * n, dtype=np.float64).tofile(source)
    completed = subprocess.run(
        [sys.executable, "-c", STREAM, str(source), str(n), str(target)], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr
    assert int(completed.stdout) <= 32 << 10, f"{int(completed.stdout) >> 10} MiB"
    rows = np.memmap(target, np.float32, "r", shape=(n, 8))
    assert rows[:: n // 5, 3].tolist() == [3 * n + k for k in range(0, n, n // 5)]
    assert rows[-1].view(np.uint32)[4:].tolist() == [7, 0, 0, 0]
