"""Safetensors files and sharded checkpoints, of which only headers are read; files are untrusted, and may be refused.

The safetensors package checks offsets, kinds and sizes and loads nothing. This module adds further limits: only plain files inside the
folder, headers and indices of bounded size, every name once.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from paramsym.errors import CheckpointError
from paramsym.naming import repeated, short
from paramsym.optional import needed
from paramsym.verify.stored import Shape, Stored, shape

LARGEST_HEADER = 32 << 20
"""Bytes of a header or an index. A header of a hundred thousand tensors has ten million."""
MOST_MARKS = 1_000_000
"""Commas and opening brackets in a header or an index: eight for a tensor in a header, one in an index."""
MOST_SHARDS = 4096

_INDEX = "model.safetensors.index.json"
_SINGLE = ("model.safetensors", "adapter_model.safetensors")
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_FORMATS = (
    (b"GGUF", "a GGUF file, the format of llama.cpp"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"PK\x03\x04", "a zip archive, such as a torch pickle, a .keras or an .npz file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"version https://git-lfs", "a Git LFS pointer instead of the file itself; run git lfs pull"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"<!", "a web page"),
    (b"<h", "a web page"),
)
"""First bytes of other formats."""
_OTHERS = (*_PICKLES, ".gguf", ".h5", ".hdf5", ".keras", ".msgpack", ".npz", ".onnx")
_LONGEST_NUMBER = 10  # digits of a copy's number
_LONGEST_NAME = 255  # characters of a file name in the usual file systems
_PREFIX = 8  # a file begins with the length of its header, eight bytes, the least first


def from_path(path: str | os.PathLike[str]) -> Stored:
    """Read a safetensors file, an index, or a folder with one of them.

    Raises:
        CheckpointError: a file that is missing, unreadable, damaged or not a safetensors file, or that contradicts its index; an index that
            points outside its folder.
        ArgumentError: the safetensors package, or numpy, is not installed.
    """
    if not os.fspath(path):
        raise CheckpointError("the path is empty; write '.' for the current directory.")
    found = Path(path)
    try:
        return _from_path(found)
    except OSError as error:
        raise unreadable(found, error) from None


def unreadable(path: Path, error: OSError) -> CheckpointError:
    """Return the error for a path that the system does not open."""
    return CheckpointError(f"{path.name or str(path)!r:.99} cannot be read: {_first_line(error.strerror or error)}.")


def _refuse(where: str, why: str) -> NoReturn:
    raise CheckpointError(f"{where}: {why}") from None


def _from_path(found: Path) -> Stored:
    if found.is_dir():
        return _from_folder(found)
    if found.name.endswith(".index.json"):
        return _from_index(found)[0]
    if found.suffix in _PICKLES:
        _refuse(found.name, f"{found.suffix} files contain pickles, which run code when they are read; save the model as safetensors.")
    if found.suffix == ".json" and found.is_file():
        _refuse(found.name, "a .json file contains no tensors; give the folder, the index, or a safetensors file.")
    shapes, dtypes = _headers(found)
    return Stored(shapes, f"the file {found.name}", dtypes=dtypes)


def _from_folder(folder: Path) -> Stored:
    """Read the index or the file that the reference reads, and name the other files."""
    found = _inside_folder(folder)
    if found.name.endswith(".index.json"):
        stored, files = _from_index(found)
    else:
        stored, files = _from_path(found), {found.name}
    beside = (entry.name for entry in folder.iterdir() if entry.name.endswith(".safetensors") and entry.name not in files)
    return replace(stored, beside=tuple(sorted(beside)))


def _inside_folder(folder: Path) -> Path:
    for name in (_INDEX, *_SINGLE):
        if (folder / name).is_file():
            return folder / name
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith((".safetensors", ".safetensors.index.json")))
    indices = [name for name in names if name.endswith(".index.json")]
    if len(indices) == 1 or len(names) == 1:
        return folder / (indices or names)[0]
    where = folder.name or str(folder)
    if names:
        _refuse(where, f"it contains {', '.join(names[:4])}, but no {_INDEX} and no {_SINGLE[0]}; give the path of one file.")
    others = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(_OTHERS))
    there = f", only {', '.join(others[:4])}; save the model as safetensors" if others else ""
    _refuse(where, f"there is no .safetensors file in it{there}.")


def _from_index(path: Path) -> tuple[Stored, set[str]]:
    """Read every shard that an index names, and check that index and shards agree; return the tensors and the names of the shards."""
    _check_plain(path)
    index = _json(path.name, _bytes(path, path.stat().st_size, 0))
    table = index.get("weight_map") if isinstance(index, Mapping) else None
    if not isinstance(table, Mapping) or not table or not all(isinstance(file, str) for file in table.values()):
        _refuse(path.name, "there is no weight_map from names to files in it.")
    files = dict.fromkeys(table.values())
    if len(files) > MOST_SHARDS:
        _refuse(path.name, f"it names {len(files):,} files; {MOST_SHARDS:,} are the limit.")
    shapes: dict[str, Shape] = {}
    dtypes: dict[str, str] = {}
    home: dict[str, str] = {}
    for file in files:
        found, kinds = _headers(_shard(path, file))
        for name in found:
            if home.setdefault(name, file) != file:
                _refuse(path.name, f"{name!r:.99} is in {home[name]} and in {file}.")
        shapes |= found
        dtypes |= kinds
    for name, file in table.items():
        if home.get(name) != file:
            where = f"it is in {home[name]}" if name in home else "which does not contain it"
            _refuse(path.name, f"{name!r:.99} should be in {file}, {where}.")
    return Stored(shapes, f"the checkpoint {path.parent.name or path.name}", dtypes=dtypes), set(files)


def _shard(index: Path, file: str) -> Path:
    """Return a shard's path; an index names only files in its own folder."""
    if file in {"", ".", ".."} or len(file) > _LONGEST_NAME or any(mark in file for mark in ("/", "\\", ":", "\0")):
        _refuse(index.name, f"it points to {file!r:.99}; an index names files in its own folder only.")
    return index.parent / file


def _check_plain(path: Path) -> None:
    """Accept only plain files, and links to plain files in the same folder or in the neighbouring store of the Hugging Face cache."""
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except FileNotFoundError:
        _refuse(path.name, "there is no such file" + (" (a link to nothing)." if path.is_symlink() else "; nothing is downloaded."))
    except (RuntimeError, ValueError) as error:
        raise CheckpointError(f"{path.name!r:.99} cannot be read: {_first_line(error)}.") from None
    if not stat.S_ISREG(mode):
        _refuse(path.name, "it is not a plain file.")
    folder = path.parent.resolve()
    allowed = {folder, folder.parent.parent / "blobs"} if folder.parent.name == "snapshots" else {folder}
    if path.is_symlink() and real.parent not in allowed:
        _refuse(path.name, "it is a link that leaves its folder; copy the file, or give the path of the file itself.")


def _headers(path: Path) -> tuple[dict[str, Shape], dict[str, str]]:
    _check_plain(path)
    size = path.stat().st_size
    length = int.from_bytes(_bytes(path, _PREFIX, 0), "little") if size >= _PREFIX else 0
    if size < _PREFIX or length > size - _PREFIX:
        begins = _bytes(path, 24, 0)
        for mark, words in _FORMATS:
            if begins.startswith(mark):
                _refuse(path.name, f"it is {words}; only safetensors files are read.")
        _refuse(path.name, f"its header should have {length:,} bytes, and the file has {size:,}; it is cut off or not safetensors.")
    if length > LARGEST_HEADER:
        _refuse(path.name, f"its header has {length:,} bytes; {LARGEST_HEADER:,} are the limit.")
    header = _bytes(path, length, _PREFIX)
    _check_marks(path.name, header)
    safetensors = needed("safetensors", "reading safetensors files", "safetensors")
    needed("numpy", "reading safetensors files", "safetensors")
    shapes: dict[str, Shape] = {}
    dtypes: dict[str, str] = {}
    try:
        with safetensors.safe_open(os.fspath(path), framework="np") as file:
            for name in file.keys():  # noqa: SIM118 - the handle is not a mapping
                lazily = file.get_slice(name)
                shapes[name] = shape(lazily.get_shape(), name)
                dtypes[name] = str(lazily.get_dtype())
    except (safetensors.SafetensorError, OSError, ValueError, OverflowError) as error:
        _refuse(path.name, f"{_first_line(error)}.")
    # The package keeps the last of two tensors with one name. It has checked that the header is valid and flat, so it can be parsed.
    _json(path.name, header, keep=False)
    return dict(sorted(shapes.items(), key=lambda item: _natural(item[0]))), dtypes


def _bytes(path: Path, length: int, start: int) -> bytes:
    if length > LARGEST_HEADER:
        _refuse(path.name, f"it has {length:,} bytes; {LARGEST_HEADER:,} are the limit.")
    with path.open("rb") as file:
        file.seek(start)
        return file.read(length)


def _check_marks(where: str, raw: bytes) -> None:
    """Refuse JSON with too many entries before parsing: a small file may have millions, each a hundred times its size in memory."""
    marks = sum(raw.count(mark) for mark in (b",", b"[", b"{"))
    if marks > MOST_MARKS:
        _refuse(where, f"its JSON has some {marks:,} entries; {MOST_MARKS:,} are the limit.")


def _json(where: str, raw: bytes, *, keep: bool = True) -> Any:
    """Parse JSON and refuse repeated keys; without ``keep`` only check."""
    _check_marks(where, raw)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
        found = {name: value if keep else None for name, value in pairs}
        if len(found) < len(pairs):
            _refuse(where, f"the name {repeated(pairs)!r:.99} occurs twice in it.")
        return found if keep else None

    try:
        return json.loads(raw, object_pairs_hook=once)
    except RecursionError:
        _refuse(where, "its JSON is nested too deeply.")
    except CheckpointError:
        raise
    except ValueError as error:
        _refuse(where, f"it is not JSON: {_first_line(error)}.")


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort ``layer.2`` before ``layer.10``: a file orders its tensors by size or by letters, not as the model does."""
    steps = name.split(".")
    return [(int(step), "") if step.isascii() and step.isdigit() and len(step) < _LONGEST_NUMBER else (-1, step) for step in steps]


def _first_line(error: object) -> str:
    return short((str(error).splitlines() or [type(error).__name__])[0].rstrip("."), 160)
