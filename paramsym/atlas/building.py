"""From a configuration to a model of the atlas: which records may read it, and the one that does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from paramsym.atlas.computing import keys_beside, keys_of_runs
from paramsym.atlas.diffusers import diffusers_keys, diffusers_type, is_of_diffusers
from paramsym.atlas.expression import OutsideError
from paramsym.atlas.files import DIFFUSERS, TIMM, diffusers_index, inner_of, inner_types, plain_type, record_of
from paramsym.atlas.letters import name_of
from paramsym.atlas.model import Recorded, patterns_for, rows_for
from paramsym.atlas.reading import values_of
from paramsym.atlas.sizes import letters_of
from paramsym.atlas.timm import WRAPPERS, timm_keys, timm_record, timm_type, wrapped
from paramsym.atlas.timm_classes import class_keys, class_type
from paramsym.atlas.values import Value, frozen_value, shown
from paramsym.core.compose import Block
from paramsym.core.layer import Layer
from paramsym.errors import ConfigError, ParamsymError

_NOTHING: Any = object()


@lru_cache(maxsize=64)
def model_of(
    model_type: str,
    name: str,
    values: tuple[tuple[str, Value], ...],
    numbers: tuple[tuple[str, int], ...],
    following: tuple[tuple[str, str], ...],
    exactly: str,
) -> Recorded:
    """Return the one model of equal values; ``exactly`` distinguishes 1 and True, which are one key for the cache."""
    del exactly
    return Recorded(model_type, name, values, tuple(one for one, _ in numbers), tuple(number for _, number in numbers), following)


def recorded(config: Mapping[str, Any], architecture: str | None) -> tuple[Layer, Sequence[str], Collection[str]]:
    """Return the model for a configuration whose model type has a record, or for one of timm or diffusers.

    Beside it are the keys that the reference does not read, and those that it reads.

    Raises:
        ConfigError: a class without a record, or a key or value for which the form was not verified.
    """
    if config.get("model_type") not in WRAPPERS:
        return _read(config, architecture)
    inside, unknown, known = _read(wrapped(config, architecture), None)
    letters, sizes = inside.origin
    return Block(timm_model=letters).at(sizes), unknown, known


def type_of(config: Mapping[str, Any]) -> str:
    """Return the type of the record for a configuration of diffusers, timm or transformers."""
    return _types_of(config, None)[0]


def _types_of(config: Mapping[str, Any], architecture: str | None) -> list[str]:
    """Return the types of the records that may read a configuration, in the order in which they are tried."""
    if is_of_diffusers(config):
        return [diffusers_type(config, architecture)]
    name = timm_type(config)
    return _with_inner(config) if name is None else [class_type(config, name) or name]


def _with_inner(config: Mapping[str, Any]) -> list[str]:
    """Return the records to try, in order: that for this combination of inner types, the type's own, those of published configurations.

    >>> _with_inner({"model_type": "llava_next", "text_config": {"model_type": "mistral"}})
    ['llava_next+text_config=mistral', 'llava_next']
    """
    found = config["model_type"]
    given = {key: value.get("model_type") for key, value in config.items() if isinstance(value, Mapping)}
    others = [one for one in inner_types() if plain_type(one) == found and inner_of(one).items() <= given.items()]
    inside = sorted((one for one in others if inner_of(one)), key=lambda one: -len(inner_of(one)))
    return [*inside, found, *(one for one in others if not inner_of(one))]


def _read(config: Mapping[str, Any], architecture: str | None) -> tuple[Recorded, Sequence[str], Collection[str]]:
    """Return the model of a configuration, the keys that the reference does not read, and those that it reads."""
    types = _types_of(config, architecture)
    if types[0].startswith(DIFFUSERS):
        architecture = types[0].split("/")[1]
    refusals = []
    for model_type in types:
        try:
            return _read_by(model_type, config, architecture)
        except ConfigError as error:
            refusals.append(error)
    raise refusals[0]


def _read_by(model_type: str, config: Mapping[str, Any], architecture: str | None) -> tuple[Recorded, Sequence[str], Collection[str]]:
    """Return what ``_read`` returns, by one record.

    Raises:
        ConfigError: the record does not read the configuration.
    """
    record = timm_record(model_type) if model_type == timm_type(config) else record_of(model_type)
    name = _class(record, config, architecture)
    try:
        of_class = record["classes"][name]
        values, unknown, others = values_of(_as_keys(config, model_type, record), record, of_class)
        free = {*record.get("extra", ()), *keys_of_runs(model_type, name)}
        values |= _beside(config, keys_beside(model_type, name).keys() - values.keys(), free)
        known = tuple(sorted(values.items()))
        numbers = letters_of(rows_for(model_type, name), values, patterns_for(model_type, name, known, repr(known)))
        following = tuple(_following(others, numbers))
        own = tuple((one, number) for one, number in numbers.items() if one not in dict(following))
        model = model_of(model_type, name, known, own, following, repr(known))
        return model, unknown, of_class["keys"]
    except ParamsymError as error:
        library = next((prefix.rstrip("/") for prefix in (TIMM, DIFFUSERS) if model_type.startswith(prefix)), None)
        whose = library or f"the model type {plain_type(model_type)}"
        raise ConfigError(f"{name} of {whose}: {error}") from None


def _following(others: Mapping[str, str], numbers: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the names of letters whose keys have the value of another key, with the name of its letter."""
    for key, other in others.items():
        while other in others:
            other = others[other]  # noqa: PLW2901 - the last one of a chain
        if name_of(key) in numbers and name_of(other) in numbers:
            yield name_of(key), name_of(other)


def _beside(config: Mapping[str, Any], keys: Collection[str], verified: Collection[str]) -> dict[str, Value]:
    """Return the values of keys on which no tensor depends: how many positions a cache keeps, the token for padding, verified other ones.

    Raises:
        OutsideError: another value than a whole number or none.
    """
    found = {key: frozen_value(value) for key in keys if (value := _given(config, key)) is not _NOTHING}
    for key, value in found.items():
        if value is not None and type(value) is not int and key not in verified:
            raise OutsideError(f"{key} is {shown(value)}; write a whole number or null.")
    return found


def _given(config: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key; its path leads through inner configurations."""
    found: Any = config
    for step in key.split("."):
        found = found.get(step, _NOTHING) if isinstance(found, Mapping) else _NOTHING
    return found


def _as_keys(config: Mapping[str, Any], model_type: str, record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a configuration with the keys of a record; those of transformers have them already."""
    name = timm_type(config)
    if name is not None:
        return timm_keys(config, record) if model_type == name else class_keys(config, name, record, timm_record(name))
    if model_type.startswith(DIFFUSERS):
        _, name, label = f"{model_type}/".split("/")[:3]
        return diffusers_keys(config, diffusers_index()["classes"][name], label)
    return config


def _class(record: Mapping[str, Any], config: Mapping[str, Any], architecture: str | None) -> str:
    listed = config.get("architectures")
    name = architecture if architecture is not None else (listed[0] if isinstance(listed, list | tuple) and listed else None)
    if name is None:
        name = next(iter({**record["classes"], **record["refused"]}))
    if isinstance(name, str) and name in record["classes"]:
        return name
    if isinstance(name, str) and name in record["refused"]:
        raise ConfigError(f"{name} is not in the atlas: {record['refused'][name]}.")
    known = ", ".join(record["classes"]) or "none"
    whose = plain_type(record["type"])
    raise ConfigError(f"architecture {ascii(name)[:60]} is not among those of {whose} in the atlas, which are {known}.")
