"""Reading a ``config.json`` from an unknown source: with limits, and every fault is one ``ConfigError``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from operator import index
from pathlib import Path
from typing import Any

from paramsym.atlas.values import shown
from paramsym.errors import ConfigError
from paramsym.naming import described, repeated, short

LARGEST_FILE = 16 * 2**20
"""The largest known configuration, with 21,843 labels, is a tenth of this."""
ADAPTER = "adapter_config.json"
OF_ADAPTER = "contains an adapter: compare it with a layer that has LoRA parts: ps.match(layer, path, rename='auto')"
_MOST_LEVELS, _MOST_ENTRIES = 64, 250_000
"""Far above those of published files: about 45,000 entries with the names of 21,843 labels."""


def read_config(source: object) -> Mapping[str, Any]:
    """Return a configuration as a mapping with string keys, from a mapping, a path, or the path of a directory.

    Raises:
        ConfigError: a file that is missing, cannot be read, or contains no JSON object; a key that is not a string.

    >>> read_config({"model_type": "bert"})
    {'model_type': 'bert'}
    """
    if isinstance(source, Mapping):
        for key in source:
            if not isinstance(key, str):
                raise ConfigError(f"the configuration has the key {shown(key)}; keys are strings.")
        return {key: _plain(value) for key, value in _within_limits(source, "the configuration").items()}
    if isinstance(source, str | os.PathLike):
        return _read(source)
    hint = " Write what its to_dict() returns." if hasattr(source, "to_dict") else ""
    raise ConfigError(f"a configuration is a dictionary or a path, not {described(source)}.{hint}")


def _read(source: str | os.PathLike[str]) -> Mapping[str, Any]:
    if not os.fspath(source):
        raise ConfigError("the path is empty; write '.' for the current directory, or for ps.load a name such as 'bert-base-uncased'.")
    name = _shortened(source)
    try:
        path = _found(Path(source))
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except ConfigError:
        raise
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{name} cannot be read: {type(error).__name__}.") from None
    return parse_config(content, name)


def _found(path: Path) -> Path:
    """Return the file itself; pipes and devices are refused, because they may never end."""
    file = path / "config.json" if path.is_dir() else path
    if not file.is_file():
        what = "the directory {} contains no config.json." if path.is_dir() else "there is no file or directory {}."
        raise ConfigError(what.format(_shortened(path)) + _instead(path))
    return file


def _instead(path: Path) -> str:
    """Return what to write instead of a path without a configuration: it may belong to an adapter, or be no path."""
    if (path / ADAPTER).is_file():
        return f" It {OF_ADAPTER}."
    if not path.exists() and path.suffix != ".json":
        return " Nothing is downloaded; ps.load('bert-base-uncased') loads a published size."
    return ""


def parse_config(content: bytes, name: str) -> Mapping[str, Any]:
    """Return the JSON object in bytes from ``name``.

    Raises:
        ConfigError: too many bytes, bytes that are not UTF-8 or not JSON, a value that is not an object, a key that occurs twice.

    >>> parse_config(b'{"model_type": "bert"}', "standard input")
    {'model_type': 'bert'}
    """
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"{name} has more than {LARGEST_FILE // 2**20} MiB, too many for a configuration.")
    try:
        config = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        fault = f" is not UTF-8: byte {error.start} cannot be decoded."
    except RecursionError:
        fault = " is nested too deeply for a configuration."
    except json.JSONDecodeError as error:
        fault = f" is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
    except ConfigError as error:
        fault = f": {error}"
    except ValueError:
        fault = " contains a number with too many digits."
    else:
        if isinstance(config, dict):
            return _within_limits(config, name)
        fault = f" contains {shown(config)}; wanted one JSON object."
    raise ConfigError(f"{name}{fault}")


def _within_limits(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a configuration; one that no reader could walk through in time is refused: nested without end, or with too many entries.

    Raises:
        ConfigError: more than 64 levels, or more than 250,000 entries.
    """
    entries = 0
    level: list[Any] = [config]
    for _ in range(_MOST_LEVELS):
        inner: list[Any] = [one for mapping in level for one in (mapping.values() if isinstance(mapping, Mapping) else mapping)]
        entries += len(inner)
        if entries > _MOST_ENTRIES:
            raise ConfigError(f"{name} has more than {_MOST_ENTRIES:,} entries, too many for a configuration.")
        level = [one for one in inner if isinstance(one, Mapping | list | tuple)]
        if not level:
            return config
    raise ConfigError(f"{name} is nested more than {_MOST_LEVELS} levels deep, or contains itself; no configuration is.")


def _plain(value: Any) -> Any:
    """Return a value with its whole numbers as ints, such as those of NumPy; of limited depth."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_plain(inner) for inner in value]) if type(value) in {list, tuple} else value
    try:
        return value if value is None or isinstance(value, bool | int | float | str) else index(value)
    except TypeError:
        return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ConfigError(f"the key {short(repeated(pairs), 60)!a} occurs twice.")
    return found


def _shortened(path: object) -> str:
    words = ascii(str(path))
    return words if len(words) <= 120 else words[:57] + "..." + words[-57:]
