"""The files of the records, and of what their classes compute: which model types have one, and the record of a type."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from paramsym.atlas.record import RecordError, checked, need, plain, strings, unpacked

TIMM, DIFFUSERS = "timm/", "diffusers/"
"""Prefixes of the types of these records, before the name of the architecture or of the class."""

INNER = "inner"
"""The directory of other records of a type: for inner configurations of other types than the default has, as in
``llava_next+text_config=mistral``, and for single published configurations, as in ``dpt+large``."""


def types_in(*folder: str) -> tuple[str, ...]:
    """Return the types that have a file in a folder of the data, sorted."""
    found = (entry.name for entry in files("paramsym.atlas").joinpath("data", *folder).iterdir())
    return tuple(sorted(name.removesuffix(".json.gz") for name in found if name.endswith(".json.gz")))


@cache
def recorded_types() -> tuple[str, ...]:
    """Return the model types that have a record, sorted.

    >>> "openai-gpt" in recorded_types()
    True
    """
    return types_in()


@cache
def inner_types() -> tuple[str, ...]:
    """Return the names of the records for other inner configurations than the default has, and for published configurations, sorted.

    >>> "llava_next+text_config=mistral" in inner_types()
    True
    """
    return types_in(INNER)


def plain_type(model_type: str) -> str:
    """Return the model type that a configuration has for a record.

    >>> plain_type("llava_next+text_config=mistral"), plain_type("dpt+large"), plain_type("dpt")
    ('llava_next', 'dpt', 'dpt')
    """
    return model_type.partition("+")[0]


def inner_of(model_type: str) -> dict[str, str]:
    """Return the type of each inner configuration that the name of a record gives.

    >>> inner_of("llava+text_config=mistral+vision_config=pixtral"), inner_of("llava")
    ({'text_config': 'mistral', 'vision_config': 'pixtral'}, {})
    """
    pairs = (one.partition("=") for one in model_type.split("+")[1:] if "=" in one)
    return {key: inner for key, _, inner in pairs}


def read_types() -> tuple[str, ...]:
    """Return the recorded types with at least one class; the record of another type has only reasons for refusals.

    >>> "led" in read_types()
    True
    """
    data = files("paramsym.atlas").joinpath("data")
    return tuple(one for one in recorded_types() if b'"classes":{}' not in unpacked(data.joinpath(f"{one}.json.gz").read_bytes()))


def index_of(path: str, *parts: str) -> Mapping[str, Any]:
    """Return the index of a library's records, an object with these parts.

    Raises:
        RecordError: the file is damaged.
    """
    index = plain(unpacked(files("paramsym.atlas").joinpath("data", *path.split("/")).read_bytes()))
    need(isinstance(index, dict) and all(isinstance(index.get(what), dict) for what in parts), "has an index without names")
    return index


@cache
def timm_index() -> Mapping[str, Any]:
    """Return the names of timm's architectures, by what ``paramsym.atlas.timm`` says of them.

    Raises:
        RecordError: the file is damaged.
    """
    index = index_of("timm/names.json.gz", "modules", "aliases", "refused")
    strings([*index["modules"].values(), *index["aliases"].values(), *index["refused"].values()])
    return index


@cache
def diffusers_index() -> Mapping[str, Any]:
    """Return diffusers' classes, by what ``paramsym.atlas.diffusers`` says of them.

    Raises:
        RecordError: the file is damaged.
    """
    index = index_of("diffusers/names.json.gz", "classes", "refused")
    listed = [word for one in index["classes"].values() for word in (*one["spread"], *one["former"])]
    strings([index["reference"], *index["refused"].values(), *listed])
    return index


@lru_cache(maxsize=32)
def record_of(model_type: str) -> Mapping[str, Any]:
    """Return the record of a model type, such as ``led``, ``timm/resnet50``, ``timm/ResNet/0`` or ``diffusers/AutoencoderKL/4``.

    Raises:
        RecordError: there is none, or it is damaged.
    """
    path = _file_of(model_type)
    file = files("paramsym.atlas").joinpath("data", *f"{path}.json.gz".split("/"))
    if path is None or not file.is_file():
        raise RecordError(f"there is no record of the model type {model_type!a}.")
    text = unpacked(file.read_bytes())
    if path.startswith((TIMM, DIFFUSERS)):
        named = f'"type":"{model_type}"'.encode()
        text = next((line for line in text.split(b"\n") if named in line[:200]), b"")
    record = checked(text)
    # diffusers gives a class the arguments of its constructor, all of which are known, and leaves other keys out; but quantised weights
    # have other shapes.
    return {**record, "mentioned": {"": ["quantization_config"]}} if path.startswith(DIFFUSERS) else record


def _file_of(model_type: str) -> str | None:
    """Return the path of the file of a record, without its ending; None if there is none."""
    if model_type.startswith(TIMM):
        name, slash, _ = model_type.removeprefix(TIMM).partition("/")
        module = f"classes/{name}" if slash and name.isidentifier() else timm_index()["modules"].get(name)
        return None if module is None else TIMM + module
    if model_type.startswith(DIFFUSERS):
        name, _, label = model_type.removeprefix(DIFFUSERS).partition("/")
        known = diffusers_index()["classes"].get(name, {"lengths": ()})
        return DIFFUSERS + name if label in known["lengths"] else None
    if model_type in inner_types():
        return f"{INNER}/{model_type}"
    return model_type if model_type in recorded_types() else None
