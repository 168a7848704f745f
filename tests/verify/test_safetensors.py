"""Files from strangers: read by their headers, or refused with one clear error in bounded time and memory."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from amount import cases
from verify.hostile import CHILD, written

import paramsym as ps
from paramsym import F, H
from paramsym.errors import CheckpointError
from paramsym.verify.safetensors import LARGEST_HEADER, MOST_MARKS, MOST_SHARDS

pytest.importorskip("safetensors")

HOUSE = Path(ps.__file__).parents[1]
DENSE = ps.Dense(H, F)
WEIGHT = {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}
BIAS = {"dtype": "F32", "shape": [4], "data_offsets": [48, 64]}
BODY = b"\0" * 64


def write(path: Path, header: bytes | dict[str, Any], body: bytes = BODY, length: int | None = None) -> Path:
    """Write a safetensors file, sound or not."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw) if length is None else length) + raw + body)
    return path


def refused(source: Path, words: str) -> None:
    """Check that a source is refused with the words, in little time and memory, in one line."""
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(CheckpointError, match=words) as caught:
        ps.match(DENSE, source)
    took, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 5
    assert peak < 4 * LARGEST_HEADER
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert caught.value.__cause__ is None


def test_a_file_is_matched_by_its_header(tmp_path: Path) -> None:
    """Names and shapes of a sound file; sizes come from them."""
    path = write(tmp_path / "model.safetensors", {"weight": WEIGHT, "bias": BIAS, "__metadata__": {"format": "pt"}})
    for source in (path, str(path), tmp_path):
        found = ps.match(DENSE, source)
        assert found.ok
        assert found.sizes == {F: 4, H: 3}


def test_any_single_file_in_a_folder_is_found(tmp_path: Path) -> None:
    """The only file, whatever it is called, or the one with a usual name."""
    write(tmp_path / "tiny.safetensors", {"weight": WEIGHT, "bias": BIAS})
    assert ps.match(DENSE, tmp_path).ok
    write(tmp_path / "other.safetensors", {"weight": WEIGHT, "bias": BIAS})
    refused(tmp_path, "give the path of one file")
    for usual in ("model.safetensors", "adapter_model.safetensors"):
        write(tmp_path / usual, {"weight": WEIGHT, "bias": BIAS})
        assert ps.match(DENSE, tmp_path).ok
        (tmp_path / usual).unlink()


def test_a_folder_without_files_says_so(tmp_path: Path) -> None:
    """Nothing there, or nothing that can be read."""
    refused(tmp_path, r"no \.safetensors file")
    refused(tmp_path / "nothing.safetensors", "there is no such file")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.pth", "model.ckpt", "model.pkl"])
def test_pickles_are_refused(tmp_path: Path, name: str) -> None:
    """A pickle runs code when it is read."""
    (tmp_path / name).write_bytes(b"\x80\x04.")
    refused(tmp_path / name, "contain pickles")


def test_a_configuration_holds_no_tensors(tmp_path: Path) -> None:
    """It is not read as a damaged file of tensors."""
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    refused(tmp_path / "config.json", "a .json file contains no tensors; give the folder, the index, or a safetensors file")


HEADERS: dict[str, tuple[bytes | dict[str, Any], bytes, int | None, str]] = {
    "empty": (b"", b"", 0, "invalid JSON|header"),
    "no JSON": (b"weights!", BODY, None, "JSON"),
    "a list": (b"[]", BODY, None, "JSON|header"),
    "no UTF-8": (b'{"\xff\xfe": 1}', BODY, None, "UTF-8|utf-8|JSON"),
    "cut off": ({"weight": WEIGHT, "bias": BIAS}, BODY[:30], None, "not fully covered"),
    "too long": ({"weight": WEIGHT, "bias": BIAS}, BODY + b"x", None, "not fully covered"),
    "length 2**60": ({"weight": WEIGHT}, BODY, 2**60, "1,152,921,504,606,846,976 bytes"),
    "length 2**64 - 1": ({"weight": WEIGHT}, BODY, 2**64 - 1, "bytes"),
    "length one more than the file": ({"weight": WEIGHT}, b"", 1000, "cut off"),
    "unknown kind": ({"weight": {**WEIGHT, "dtype": "F99"}}, BODY[:48], None, "unknown variant"),
    "kind that is a number": ({"weight": {**WEIGHT, "dtype": 7}}, BODY[:48], None, "JSON"),
    "negative extent": ({"weight": {**WEIGHT, "shape": [-4, 3]}}, BODY[:48], None, "JSON"),
    "extent of a half": ({"weight": {**WEIGHT, "shape": [4.5, 3]}}, BODY[:48], None, "JSON"),
    "extent beyond all": ({"weight": {**WEIGHT, "shape": [2**40, 2**40]}}, BODY[:48], None, "overflow"),
    "shape that does not fit": ({"weight": {**WEIGHT, "shape": [4, 4]}}, BODY[:48], None, "weight|shape"),
    "overlap": ({"weight": WEIGHT, "bias": {**BIAS, "data_offsets": [0, 16]}}, BODY[:48], None, "offset"),
    "two of one name": (
        b'{"weight":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]},"weight":{"dtype":"F32","shape":[12],"data_offsets":[0,48]}}',
        BODY[:48],
        None,
        "the name 'weight' occurs twice",
    ),
    "two of one key": (
        b'{"weight":{"dtype":"F32","shape":[4,3],"shape":[3,4],"data_offsets":[0,48]}}',
        BODY[:48],
        None,
        "duplicate field|occurs twice",
    ),
    "deep lists": (b"[" * 200_000 + b"]" * 200_000, b"", None, "JSON|header"),
    "deep dictionaries": (b'{"a":' * 200_000 + b"1" + b"}" * 200_000, b"", None, "JSON|header"),
    "wide lists": (b"[" + b"[]," * 1_000_000 + b"[]]", b"", None, "JSON|header"),
    "deep metadata": (b'{"__metadata__":' + b'{"a":' * 200_000 + b"1" + b"}" * 200_001, b"", None, "JSON|header"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_hostile_header_is_refused(tmp_path: Path, name: str) -> None:
    """One clear error each."""
    header, body, length, words = HEADERS[name]
    refused(write(tmp_path / "model.safetensors", header, body, length), words)


def test_a_file_shorter_than_its_length_field(tmp_path: Path) -> None:
    """Three bytes are no file."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"abc")
    refused(path, "cut off")


def test_a_header_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    """A header may be as large as its file says only up to a limit; a sparse file claims more."""
    path = tmp_path / "model.safetensors"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", LARGEST_HEADER + 1))
        file.truncate(LARGEST_HEADER + 100)
    refused(path, "are the limit")


def index(folder: Path, table: object, **more: object) -> Path:
    """Write an index."""
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {}, "weight_map": table, **more}))
    return path


ONE = {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}
TWO = {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}


def shards(folder: Path) -> dict[str, str]:
    """Write two shards and return their table."""
    write(folder / "a.safetensors", {"weight": ONE}, BODY[:48])
    write(folder / "b.safetensors", {"bias": TWO}, BODY[:16])
    return {"weight": "a.safetensors", "bias": "b.safetensors"}


def test_shards_are_put_together(tmp_path: Path) -> None:
    """By the folder or by the index."""
    path = index(tmp_path, shards(tmp_path))
    assert ps.match(DENSE, tmp_path).ok
    assert ps.match(DENSE, path).ok


@pytest.mark.parametrize(
    "target", ["../a.safetensors", "/etc/passwd", "sub/a.safetensors", "..\\a.safetensors", "C:a.safetensors", "..", ".", "", "a\0b"]
)
def test_an_index_must_stay_in_its_folder(tmp_path: Path, target: str) -> None:
    """No way out by dots, slashes, drives or nulls."""
    outside = tmp_path / "inner"
    outside.mkdir()
    write(tmp_path / "a.safetensors", {"weight": ONE}, BODY[:48])
    refused(index(outside, {"weight": target}), "in its own folder only")


def test_an_index_and_its_shards_must_agree(tmp_path: Path) -> None:
    """A name in the wrong shard, in none, in two; a shard that is not there."""
    table = shards(tmp_path)
    refused(index(tmp_path, {**table, "bias": "a.safetensors"}), "should be in a.safetensors|which does not contain it")
    refused(index(tmp_path, {"weight": "b.safetensors", "bias": "a.safetensors"}), r"it is in a\.safetensors")
    refused(index(tmp_path, {**table, "extra": "a.safetensors"}), "does not contain it")
    refused(index(tmp_path, {**table, "extra": "c.safetensors"}), "there is no such file")
    write(tmp_path / "b.safetensors", {"bias": TWO, "weight": {**ONE, "data_offsets": [16, 64]}})
    refused(index(tmp_path, table), "in a.safetensors and in b.safetensors")


@pytest.mark.parametrize("table", [None, [], {}, "x", {"weight": 7}, {"weight": None}, {"weight": ["a.safetensors"]}])
def test_an_index_without_a_table_is_refused(tmp_path: Path, table: object) -> None:
    """The map from names to files is what an index is."""
    refused(index(tmp_path, table), "no weight_map")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "it is not JSON"),
        (b"{", "it is not JSON"),
        (b"[" * 100_000, "nested too deeply|no JSON"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b'{"weight_map": {"w": "a.safetensors", "w": "b.safetensors"}}', "'w' occurs twice"),
        (b"\xff\xfe\xfd", "it is not JSON"),
        (b"7", "no weight_map"),
        (b"1" * 5000, "it is not JSON"),
    ],
)
def test_a_hostile_index_is_refused(tmp_path: Path, raw: bytes, words: str) -> None:
    """JSON that is none, too deep, or says two things."""
    path = tmp_path / "model.safetensors.index.json"
    path.write_bytes(raw)
    refused(path, words)


def test_an_index_of_too_many_files_or_bytes_is_refused(tmp_path: Path) -> None:
    """Nobody has that many shards."""
    refused(index(tmp_path, {f"t{i}": f"{i}.safetensors" for i in range(MOST_SHARDS + 1)}), "are the limit")
    path = tmp_path / "model.safetensors.index.json"
    with path.open("wb") as file:
        file.truncate(LARGEST_HEADER + 1)
    refused(path, "are the limit")


def link(path: Path, target: Path | str) -> Path:
    """Make a symbolic link, or skip where the system does not let us."""
    try:
        path.symlink_to(target)
    except OSError:
        pytest.skip("this system makes no symbolic links here")
    return path


def test_links_must_stay_in_their_folder(tmp_path: Path) -> None:
    """Out of the folder, to nothing, to itself, to a device."""
    inner = tmp_path / "inner"
    inner.mkdir()
    write(tmp_path / "secret.safetensors", {"weight": WEIGHT, "bias": BIAS})
    refused(link(inner / "out.safetensors", tmp_path / "secret.safetensors"), r"out\.safetensors.*leaves its folder")
    refused(link(inner / "nothing.safetensors", "nowhere"), "a link to nothing")
    refused(link(inner / "loop.safetensors", "loop.safetensors"), "cannot be read")
    refused(link(inner / "zero.safetensors", "/dev/zero"), "not a plain file|no such file")
    refused(link(inner / "model.safetensors.index.json", tmp_path / "secret.safetensors"), "leaves its folder")


@pytest.mark.parametrize("asked", ["is_dir", "iterdir", "resolve", "stat", "open"])
def test_what_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    """Whatever the system forbids, in ``match`` and in ``check``: one error with its own words."""
    path = write(tmp_path / "model.safetensors", {"weight": WEIGHT, "bias": BIAS})
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    if asked == "iterdir":
        path.unlink()

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, asked, forbidden)
        refused(tmp_path if asked == "iterdir" else path, "cannot be read: Permission denied")
        with pytest.raises(ps.ParamsymError, match="cannot be read: Permission"):
            ps.check(tmp_path if asked == "iterdir" else path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_closed_folder(tmp_path: Path) -> None:
    """A folder that may not be entered, on a real file system."""
    inner = tmp_path / "inner"
    inner.mkdir()
    write(inner / "model.safetensors", {"weight": WEIGHT, "bias": BIAS})
    inner.chmod(0)
    try:
        refused(inner / "model.safetensors", "cannot be read: Permission denied")
    finally:
        inner.chmod(0o700)


def test_a_link_inside_its_folder_is_followed(tmp_path: Path) -> None:
    """A second name in the same folder leaves nothing."""
    write(tmp_path / "real.safetensors", {"weight": WEIGHT, "bias": BIAS})
    assert ps.match(DENSE, link(tmp_path / "model.safetensors", "real.safetensors")).ok


def test_the_store_of_the_hugging_face_cache_is_followed(tmp_path: Path) -> None:
    """A snapshot holds links into the blobs beside it, and is the most common folder of all."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "abc"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    write(blobs / "0123", {"weight": WEIGHT, "bias": BIAS})
    link(snapshot / "model.safetensors", "../../blobs/0123")
    assert ps.match(DENSE, snapshot).ok
    (snapshot / "model.safetensors").unlink()
    write(tmp_path / "elsewhere", {"weight": WEIGHT, "bias": BIAS})
    refused(link(snapshot / "model.safetensors", "../../elsewhere"), "leaves its folder")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    """Opening a pipe would wait for ever."""
    os.mkfifo(tmp_path / "model.safetensors")
    refused(tmp_path / "model.safetensors", "not a plain file")


def test_numbers_in_names_do_not_grow_without_bound(tmp_path: Path) -> None:
    """A name of ten thousand digits is only a name."""
    path = write(tmp_path / "model.safetensors", {"1" * 10_000: WEIGHT, "bias": BIAS})
    assert not ps.match(DENSE, path).ok


def test_packed_files_are_recognised(tmp_path: Path) -> None:
    """Kinds come from the header."""
    header = {
        "weight": {"dtype": "F8_E4M3", "shape": [4, 3], "data_offsets": [0, 12]},
        "weight_scale": {"dtype": "F32", "shape": [1], "data_offsets": [12, 16]},
    }
    found = ps.match(ps.Dense(3, 4, bias=False), write(tmp_path / "model.safetensors", header, BODY[:16]))
    assert found.ok
    assert "F8_E4M3" in found.row("weight").note


@cases(0)
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the limits are set and read as Linux does")
def test_bombs_cost_little(tmp_path: Path) -> None:
    """Files as large as they may be, read by a process that may take no more than ten times that in memory, and seconds of time."""
    sound = write(tmp_path / "sound.safetensors", {"weight": WEIGHT, "bias": BIAS})
    for path in written(tmp_path):  # one at a time: together they would fill a small disk
        command = [sys.executable, "-c", CHILD, str(sound), str(10 * LARGEST_HEADER), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(HOUSE)})
        path.unlink()
        assert done.returncode == 0, f"{path.name}: {done.stdout}{done.stderr}"


def test_json_of_too_many_entries_is_refused(tmp_path: Path) -> None:
    """A header and an index hold so many commas and brackets, and no more."""
    path = tmp_path / "model.safetensors.index.json"
    path.write_text('{"weight_map": {"w": [' + "0," * MOST_MARKS + "0]}}")
    refused(path, "entries; 1,000,000 are the limit")
    refused(write(tmp_path / "model.safetensors", path.read_bytes()), "entries; 1,000,000 are the limit")


@pytest.mark.parametrize(
    ("begins", "words"),
    [
        (b"GGUF\x03\0\0\0", "a GGUF file"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"PK\x03\x04\x14\0\0\0", "a zip archive"),
        (b"\x93NUMPY\x01\0", "a NumPy array"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"<!DOCTYPE html>", "a web page"),
        (b"<html>\n<head>", "a web page"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "compressed"),
    ],
)
def test_other_formats_are_named(tmp_path: Path, begins: bytes, words: str) -> None:
    """Whatever the file is called."""
    for name in ("model.safetensors", "model.gguf"):
        (tmp_path / name).write_bytes(begins)
        refused(tmp_path / name, words)


def test_a_folder_says_what_it_has_instead(tmp_path: Path) -> None:
    """Pickles, or another format."""
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    refused(tmp_path, r"only pytorch_model\.bin; save the model as safetensors")
    refused(tmp_path / "bert-base-uncased", "nothing is downloaded")
