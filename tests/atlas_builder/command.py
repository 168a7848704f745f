"""What the commands that rebuild the records of timm and of diffusers share: arguments, what they name, and the files."""

from __future__ import annotations

import argparse
import gc
import gzip
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch


def parsed_by(
    name: str,
    about: str | None,
    metavar: str,
    arguments: Sequence[str] | None,
    seconds: float | None = None,
    flags: Mapping[str, str] | None = None,
) -> argparse.Namespace:
    """Return the arguments of the command ``NAME_records``, and prepare its process for many builds."""
    import paramsym

    parser = argparse.ArgumentParser(prog=f"python -m atlas_builder.{name}_records", description=about)
    parser.add_argument("names", nargs="+", metavar=metavar)
    if seconds is not None:
        parser.add_argument("--seconds", type=float, default=seconds, help="the processor time for each")
    into = Path(paramsym.__file__).parent / "atlas" / "data" / name
    parser.add_argument("--into", type=Path, default=into, help="the directory of the records")
    for flag, meaning in (flags or {}).items():
        parser.add_argument(f"--{flag}", action="store_true", help=meaning)
    chosen = parser.parse_args(arguments)
    chosen.into.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
    return chosen


def wanted(known: Mapping[str, Sequence[str] | Mapping[str, object]], words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield what the words name: ``all``, a file with all that it holds, or ``FILE:NAME,NAME``."""
    for word in known if list(words) == ["all"] else words:
        file, _, names = word.partition(":")
        yield file, names.split(",") if names else list(known[file])


def text_of(file: Path) -> str:
    """Return the text of a file of records, nothing if there is no file."""
    return gzip.decompress(file.read_bytes()).decode() if file.exists() else ""
