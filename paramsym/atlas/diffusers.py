"""diffusers' networks: their classes, and configurations as diffusers writes them.

``names.json.gz`` has, for each class, the defaults of its constructor, the keys that take one value for all entries of a list, and the
lengths of its lists for which there is a record; and the reasons of the classes that were refused::

    {"format": 1, "reference": "diffusers 0.42.1", "refused": {class: reason},
     "classes": {class: {"defaults": {key: value}, "spread": [key, ...], "former": [key, ...],
                         "lengths": {label: {key: length}}, "words": {label: {key: value}}}}}

``former`` are the keys of a configuration of ``Transformer2DModel`` that diffusers does not give to the class that it builds today.
``words``, which few classes have, are the flags and strings that choose a record as lengths do.

The type of a record is ``diffusers/CLASS``, or ``diffusers/CLASS/LABEL`` for one of several; those of a class are in one file, one
a line. Each entry of a list is a key of its own in a record: ``block_out_channels_0`` is the first of ``block_out_channels``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeGuard

from paramsym.atlas.computing import path_of
from paramsym.atlas.expression import OutsideError
from paramsym.atlas.files import DIFFUSERS, diffusers_index
from paramsym.atlas.record import RecordError
from paramsym.atlas.values import frozen_value, shown
from paramsym.naming import nearest

_CLASS, _UNUSED = "_class_name", "_use_default_values"
FORMER = "Transformer2DModel"
RENAMED = {"ada_norm_zero": "DiTTransformer2DModel", "ada_norm_single": "PixArtTransformer2DModel"}
"""The class that diffusers builds from a configuration of ``FORMER``, by its ``norm_type``."""


def is_of_diffusers(config: Mapping[str, Any]) -> bool:
    """Whether a configuration names a class of diffusers.

    >>> is_of_diffusers({"_class_name": "AutoencoderKL"}), is_of_diffusers({"model_type": "bert"})
    (True, False)
    """
    return isinstance(config.get(_CLASS), str) and "model_type" not in config


def diffusers_type(config: Mapping[str, Any], architecture: str | None = None) -> str:
    """Return the type of the record for a configuration of diffusers.

    Raises:
        RecordError: a class without a record, or a list of another length; the message has the reason.

    >>> diffusers_type({"_class_name": "FluxTransformer2DModel"})
    'diffusers/FluxTransformer2DModel'
    """
    name, index = str(config[_CLASS] if architecture is None else architecture), diffusers_index()
    norm = config.get("norm_type")
    if name == FORMER and isinstance(norm, str):
        name = RENAMED.get(norm, name)
    if name in index["refused"]:
        raise RecordError(f"{name} is not in the atlas: {index['refused'][name].rstrip('.')}.")
    if name not in index["classes"]:
        near = nearest(name, index["classes"], cutoff=0.6)
        hint = f"; did you mean {' or '.join(near)}?" if near else "."
        raise RecordError(f"the atlas has no network {name[:60]!a} of {index['reference']}{hint}")
    of_class = index["classes"][name]
    given, words = _given(config, of_class), of_class.get("words", {})
    lists = {key: len(value) for key, value in given.items() if _is_list(value)}
    listed = dict.fromkeys(key for one in of_class["lengths"].values() for key in one)
    lengths = {key: lists[key] for key in listed if key in lists}
    for label, wanted in of_class["lengths"].items():
        if all(wanted.get(key) == length for key, length in lengths.items()) and all(
            key not in given or frozen_value(given[key]) == value for key, value in words.get(label, {}).items()
        ):
            return DIFFUSERS + name + (f"/{label}" if label else "")
    raise RecordError(_not_verified(name, of_class, given, lengths))


def _not_verified(name: str, of_class: Mapping[str, Any], given: Mapping[str, Any], lengths: Mapping[str, int]) -> str:
    """Return why no record of a class fits a configuration with lists of these lengths."""
    words = of_class.get("words", {})
    for key in next(iter(words.values()), {}):
        known = list(dict.fromkeys(one[key] for one in words.values()))
        if frozen_value(given.get(key)) not in known:
            return f"{key} of {name} is {shown(given.get(key))}; verified are {' or '.join(map(shown, known))}."
    for key, length in lengths.items():
        verified = sorted({one[key] for one in of_class["lengths"].values() if key in one})
        if length not in verified:
            return f"{key} of {name} has {length} entries; verified are {' or '.join(map(str, verified))}."
    sizes = ", ".join(f"{key} {length}" for key, length in lengths.items())
    return f"the lists of {name} have these lengths: {sizes}; they were not verified together."


@cache
def computed_by_diffusers() -> tuple[str, ...]:
    """Return the records of diffusers of which it is known what the class computes, sorted.

    >>> "diffusers/FluxTransformer2DModel" in computed_by_diffusers()
    True
    """
    records = (f"{DIFFUSERS}{name}/{label}".rstrip("/") for name, one in diffusers_index()["classes"].items() for label in one["lengths"])
    return tuple(sorted(one for one in records if path_of(one).is_file()))


def diffusers_keys(config: Mapping[str, Any], of_class: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Return the values of a record's keys that a configuration of diffusers gives: defaults filled in, lists entry by entry.

    Raises:
        OutsideError: a key without a default is missing, or one value is given where only a list was verified.
    """
    given = _given(config, of_class)
    for key, length in of_class["lengths"][label].items():
        if key not in given:
            raise OutsideError(f"{key} is not given and has no default; give it.")
        value = given.pop(key)
        if not _is_list(value) and key not in of_class["spread"]:
            raise OutsideError(f"{key} is {shown(value)}; wanted a list of {length}.")
        flat = dict(entries(key, value if _is_list(value) else [value] * length))
        if flat.keys() & given.keys():
            raise OutsideError(f"the key {next(iter(flat.keys() & given.keys()))!r} is not one of diffusers'; write {key}, a list.")
        given |= flat
    return given


def entries(key: str, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Return the keys of the entries of a list, with their values.

    >>> dict(entries("depths", [2, 6]))
    {'depths_0': 2, 'depths_1': 6}
    """
    return ((f"{key}_{place}", value) for place, value in enumerate(values))


def _given(config: Mapping[str, Any], of_class: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the constructor: without private keys, those of a former class, and those that a live one has by default."""
    unused = config.get(_UNUSED)
    left = {one for one in unused if isinstance(one, str)} if _is_list(unused) else set[str]()
    left |= set(of_class["former"]) if config.get(_CLASS) == FORMER else set()
    return {**of_class["defaults"], **{key: value for key, value in config.items() if key[:1] != "_" and key not in left}}


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)
