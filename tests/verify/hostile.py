"""Files made to be expensive, and a process that may not spend much on them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from paramsym.verify.safetensors import LARGEST_HEADER

_ENTRY = '"#":{"dtype":"I8","shape":[0],"data_offsets":[0,0]}'


def _index(inside: str) -> bytes:
    """Return an index as large as one may be, full of one thing after another."""
    head, tail = b'{"weight_map":{"weight":"a.safetensors"},"more":[', b"0]}"
    piece = inside.encode() + b","
    return head + piece * ((LARGEST_HEADER - len(head) - len(tail)) // len(piece)) + tail


def _keys(pattern: str) -> bytes:
    """Return an index of as many names as fit."""
    number = (LARGEST_HEADER - 64) // (len(_numbered(pattern, 0)) + 1)
    return b'{"weight_map":{' + ",".join(_numbered(pattern, i) for i in range(number)).encode() + b"}}"


def _numbered(pattern: str, number: int) -> str:
    return pattern.replace("#", f"{number:06x}")


def _header(raw: bytes) -> bytes:
    return struct.pack("<Q", len(raw)) + raw


def _tensors() -> bytes:
    """Return a sound header of as many empty tensors as fit."""
    number = (LARGEST_HEADER - 64) // (len(_numbered(_ENTRY, 0)) + 1)
    return _header(("{" + ",".join(_numbered(_ENTRY, i) for i in range(number)) + "}").encode())


BOMBS: dict[str, Callable[[], bytes]] = {
    "lists.index.json": lambda: _index("[]"),
    "nests.index.json": lambda: _index("[[[[[[[]]]]]]]"),
    "dictionaries.index.json": lambda: _index('{"a":{}}'),
    "numbers.index.json": lambda: _index("1234567"),
    "names.index.json": lambda: _keys('"#":"b"'),
    "files.index.json": lambda: _keys('"#":"#"'),
    "deep.index.json": lambda: b"[" * LARGEST_HEADER,
    "string.index.json": lambda: b'{"weight_map":{"w":"' + b"x" * (LARGEST_HEADER - 30) + b'"}}',
    "digits.index.json": lambda: b'{"weight_map":' + b"9" * (LARGEST_HEADER - 30) + b"}",
    "tensors.safetensors": _tensors,
    "lists.safetensors": lambda: _header(_index("[]")),
    "deep.safetensors": lambda: _header(b'{"a":' * (LARGEST_HEADER // 5)),
    "metadata.safetensors": lambda: _header(
        b'{"__metadata__":{' + _keys('"#":"b"')[15:][: LARGEST_HEADER - 99].rpartition(b",")[0] + b"}}"
    ),
    "shape.safetensors": lambda: _header(
        b'{"a":{"dtype":"I8","shape":[' + b"0," * (LARGEST_HEADER // 2 - 60) + b'0],"data_offsets":[0,0]}}'
    ),
    "claims.safetensors": lambda: struct.pack("<Q", 2**60) + b"{}",
}
"""By file name: what is in it. Every one is at most as large as a header or an index may be."""

CHILD = """
import resource, sys, time
import paramsym as ps
from paramsym.errors import CheckpointError

layer = ps.Dense(ps.H, ps.F)
sound, allowed, *hostile = sys.argv[1:]
assert ps.match(layer, sound).ok  # whatever is imported for that is there by now
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + int(allowed), taken + int(allowed)))
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
for path in hostile:
    began = time.process_time()
    try:
        ps.match(layer, path)
    except CheckpointError as error:
        assert len(str(error)) < 400 and chr(10) not in str(error), str(error)
    else:
        raise AssertionError(f"{path} was read")
    spent = time.process_time() - began
    assert spent < 15, f"{path} took {spent:.1f} s of the processor"
    print(f"{path.rpartition('/')[2]}: {spent:.2f} s")
"""


def written(folder: Path) -> Iterator[Path]:
    """Write one file after another."""
    for name, content in BOMBS.items():
        path = folder / name
        path.write_bytes(content())
        yield path
