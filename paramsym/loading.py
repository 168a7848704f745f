"""Find the model for a configuration, a file, a directory, a family or a published name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import import_module
from os.path import exists, isfile
from pathlib import Path
from typing import Any

from sympy import Symbol

from paramsym.atlas.config_file import read_config
from paramsym.atlas.files import recorded_types, timm_index
from paramsym.atlas.published import KERAS, RECORDED, published_records
from paramsym.atlas.timm import timm_config
from paramsym.config import from_config, in_letters_of, is_recorded
from paramsym.core.at import LABELS, published_class, published_sizes
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, ConfigError, UnknownNameError
from paramsym.models import FAMILIES, family_of, model_types
from paramsym.models.family import Family
from paramsym.models.unpublished import known_from_paper
from paramsym.naming import meant, nearest

ONNX = ".onnx"
"""How the name of an ONNX file ends."""
_LIKE = 0.65  # the similarity from which a name is suggested


@dataclass(frozen=True)
class Found:
    """What was found for a name or a path: a configuration, a model class without one, or the model in a file.

    If ``symbolic``, only the flags of the configuration are used, and sizes stay letters. ``size`` is a published size of the class, by
    argument. ``built`` is the model of the configuration and ``architecture``, if the search has already built it, or that of an ONNX file.
    """

    name: str
    config: Mapping[str, Any] | None = None
    model: type[Layer] | None = None
    size: Mapping[str, Any] | None = None
    symbolic: bool = False
    architecture: str | None = None
    built: Layer | None = None


def load(source: str | os.PathLike[str] | Mapping[str, Any], architecture: str | None = None, strict: bool = False) -> Layer:
    """Return the model of a published name, a directory, a configuration or its file, with its sizes put in.

    A published name, such as ``"meta-llama/Meta-Llama-3-8B"``, means the class that was published, here ``LlamaForCausalLM``, with as many
    labels as were published; ``architecture`` asks for another class of the reference. A configuration is read by ``from_config``. The
    name of a family, such as ``"bert"``, means its base class in letters, and so does a model type of the atlas, such as ``"led"``; its
    formula holds for the reference's default flags. Nothing is downloaded. If a file has the name of a model, the file is read. Keras and
    torchvision spell some names differently: ``"ResNet50"`` is Keras' network, ``"resnet50"`` torchvision's. A name of timm begins with
    ``timm/``; it may end in the tag of published weights, and the model then has their number of classes. The path of an ONNX file, which
    ends in ``.onnx``, means the model in it, with its tensors, its computation and the names of its axes as letters; this needs
    ``pip install paramsym[onnx]``. Gopher and Chinchilla, whose tensors nobody published, are refused with what their papers say.

    Raises:
        UnknownNameError: neither a file nor a known name; the message has the nearest names.
        ConfigError: a configuration that cannot be read, or an architecture that the family does not have.
        CheckpointError: an ONNX file that is damaged, contradicts itself, or wants entries from outside of its folder.

    >>> llama = load("meta-llama/Meta-Llama-3-8B")
    >>> llama.count, llama.architecture
    (8030261248, 'LlamaForCausalLM')
    >>> load("meta-llama/Meta-Llama-3-8B", "LlamaModel").count
    7504924672
    >>> load("ResNet50").count, load("keras.applications.ResNet50").count, load("resnet50").count  # Keras' convolutions have biases
    (25583592, 25583592, 25557032)
    >>> load("timm/vit_base_patch16_224").count, load("timm/vit_base_patch16_224.augreg_in21k").count
    (86567656, 102595923)
    """
    if isinstance(source, os.PathLike) and os.fspath(source).endswith(ONNX):
        source = os.fspath(source)
    if not isinstance(source, str):
        return from_config(source, architecture, strict)
    found = find(source)
    chosen = architecture if architecture is not None else found.architecture
    if found.config is None:
        return constructed(found, chosen)
    if found.built is not None and chosen == found.architecture:
        return found.built
    return in_letters_of(found.config, chosen) if found.symbolic else from_config(found.config, chosen, strict)


def find(text: str) -> Found:
    """Return what was found for a text; a file is preferred to a name.

    Raises:
        UnknownNameError: an unknown name; the message has the nearest ones.

    >>> find("bert").symbolic, find("bert-base-uncased").config["hidden_size"]
    (True, 768)
    """
    if text.endswith(ONNX):
        from paramsym.read.onnx_source import from_onnx

        return Found(text, built=from_onnx(text))
    if not text or _holds_config(text):
        return Found(text, read_config(text))  # which refuses an empty path
    of_timm = timm_config(text, prefixed=True)
    if of_timm is not None:
        return Found(text, of_timm)
    known = _application(text) or _family(text) or _record(text)
    if known is not None:
        return known
    for name, model in published(text):
        if meant(text, [name]):
            return _sized(name, model)
    if exists(Path(text)) or text.endswith(".json"):  # noqa: PTH110 - likewise
        return Found(text, read_config(text))  # its error says what is missing
    if is_recorded({"model_type": text}):
        return Found(text, {"model_type": text}, symbolic=True)
    of_timm = timm_config(text, prefixed=False)
    if of_timm is not None:
        return Found(text, of_timm)
    raise _unknown(text)


def published(like: str = "") -> Iterator[tuple[str, type[Layer]]]:
    """Yield every published size with its model class; the families whose names are in ``like`` come first, so that few are loaded."""
    plain = re.sub(r"[^a-z0-9]", "", like.lower())
    words = {home: [home, *" ".join(found).split()] for home, found in FAMILIES.items()}
    homes = sorted(FAMILIES, key=lambda home: not any(re.sub(r"[^a-z0-9]", "", word.lower()) in plain for word in words[home]))
    for home in homes:
        module = import_module(f"paramsym.models.{home}")
        for cls in FAMILIES[home][0].split():
            model: type[Layer] = getattr(module, cls)
            for name in model.published:
                yield name, model


# Sources of models -----------------------------------------------------------------------------------------------------


def _unknown(text: str) -> UnknownNameError:
    """Return the error of a name that nothing has: what its paper says, or the nearest names."""
    if from_paper := known_from_paper(text):
        return UnknownNameError(from_paper)
    homes = (home.rpartition(".")[2] for home in FAMILIES)
    sizes = (name.removeprefix("keras.applications.") for name, _ in published(text))
    names = [*model_types(), *recorded_types(), *homes, *sizes, *published_records(), *timm_index()["modules"]]
    plain = text.rpartition("/")[2].removeprefix("keras.applications.")
    near = nearest(text, names, cutoff=_LIKE) or nearest(plain, names, cutoff=_LIKE)
    hint = f"; did you mean {' or '.join(near)}?" if near else ";"
    return UnknownNameError(
        f"there is no file, family or published size {text[:60]!a}; write the path of its config.json, from which every model of a"
        f" known family is read{hint} `paramsym families` lists the families; ps.Block builds any other model from its layers."
    )


def _holds_config(text: str) -> bool:
    return isfile(text) or isfile(Path(text) / "config.json")  # noqa: PTH113 - Path's methods raise for an impossible name


def _application(text: str) -> Found | None:
    """Return a network of Keras by its name in Keras' spelling; otherwise a name means torchvision's network or a family."""
    short = text.removeprefix(KERAS)
    for home, (classes, _) in FAMILIES.items():
        names = classes.split() if home.startswith("applications.") else ()
        if not any(short.startswith(cls.removeprefix("Keras")) for cls in names):
            continue
        for cls in names:
            model: type[Layer] = getattr(import_module(f"paramsym.models.{home}"), cls)
            if KERAS + short in model.published:
                return _sized(KERAS + short, model)
    return None


def _family(text: str) -> Found | None:
    """Return a family by its class's name, its ``model_type`` or its file's name."""
    for home, (classes, _) in FAMILIES.items():
        if text in classes.split():
            return _of_class(text, home, text)
    lowered = text.lower()
    for name, (model_type, _) in RECORDED.items():
        if lowered in {name.lower(), model_type, model_type.replace("_", "-")}:
            return Found(text, {"model_type": model_type}, symbolic=True)
    for model_type in model_types():
        if lowered in {model_type, model_type.replace("-", "_"), model_type.replace("_", "-")}:
            model = family_of(model_type).model
            size = meant(text, model.published)  # "gpt2" is a family and its smallest size; the class's name is the family
            if size is not None:
                return _sized(size, model)
            return Found(model_type, {"model_type": model_type}, symbolic=True)
    for home, (classes, _) in FAMILIES.items():
        names = {cls.lower(): cls for cls in classes.split()}
        if lowered == home or lowered in names:
            found = _of_class(text, home, names.get(lowered, classes.split()[0]))
            size = None if found.model is None else meant(text, found.model.published)  # "alexnet" is a class in lower case, and its size
            return found if found.model is None or size is None else _sized(size, found.model)
    return None


def _record(text: str) -> Found | None:
    """Return a published configuration of a recorded type by its name."""
    listed = published_records()
    name = meant(text, listed)
    return None if name is None else Found(name, listed[name].config, architecture=listed[name].counts)


def _of_class(text: str, home: str, cls: str) -> Found:
    reader = next((family_of(one) for one in FAMILIES[home][1].split() if family_of(one).model.__name__ == cls), None)
    if reader is not None:
        return Found(text, {"model_type": reader.model_type}, symbolic=True)
    return Found(text, model=getattr(import_module(f"paramsym.models.{home}"), cls), symbolic=True)


def _sized(name: str, model: type[Layer]) -> Found:
    """Return a published size with its class, as a configuration if the size alone makes one."""
    size, architecture = model.published[name], published_class(model, name)
    reader = next((one for one in _readers(model) if architecture in one.architectures and size.keys() <= {*one.keys, LABELS}), None)
    if reader is not None:
        config = {"model_type": reader.model_type, **{key: _listed(value) for key, value in size.items()}}
        built = _built_of(config, architecture)
        if built is not None:
            return Found(name, config, architecture=architecture, built=built)
    return Found(name, model=model, size=size, architecture=architecture or None)


def _listed(value: Any) -> Any:
    """Return a value as it is in a configuration: a list for a tuple, an object of keys for an inner model."""
    if isinstance(value, Layer):
        return {one.name: _listed(getattr(value, one.name)) for one in fields(value) if one.name != "architecture"}  # type: ignore[arg-type]
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def _built_of(config: Mapping[str, Any], architecture: str) -> Layer | None:
    """Return the model, or None if the configuration needs keys that are not arguments of the model."""
    try:
        return from_config(config, architecture)
    except ConfigError:
        return None


def _readers(model: type[Layer]) -> Iterator[Family]:
    for classes, types in FAMILIES.values():
        if model.__name__ in classes.split():
            yield from (family_of(one) for one in sorted(types.split()) if family_of(one).model is model)


def constructed(found: Found, architecture: str | None) -> Layer:
    """Build a model that no configuration describes, such as one of torchvision's, with its published size put in, or one of a file.

    Raises:
        ArgumentError: an architecture for a model that has only one.
    """
    if found.built is not None:
        if architecture is not None:
            raise ArgumentError("an ONNX file has one architecture only; leave it out.")
        return found.built
    assert found.model is not None  # noqa: S101 - a source is a configuration, a class or a file
    return _built(found.model, found.name if found.size else "", architecture)  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _built(model: type[Layer], name: str, architecture: str | None) -> Layer:
    """Build a class in letters, or with the published size of a name; cached, because a model is an immutable value."""
    if not name and architecture is None:
        return model()
    size = model.published[name] if name else {}
    flags: dict[str, Any] = {}
    plain = _built(model, "", None)  # type: ignore[arg-type]
    if architecture is not None:
        if not hasattr(plain, "architecture"):
            raise ArgumentError(f"{model.__name__} has one architecture only; leave it out.")
        flags["architecture"] = architecture
    for argument, value in size.items():
        held = getattr(plain, argument)
        if not _has_symbols(held) and held != value:
            flags[argument] = value
    root = model(**flags) if flags else plain
    return root.at(published_sizes(model.__name__, model.published, name, root.__getattribute__)) if size else root


def _has_symbols(held: object) -> bool:
    return isinstance(held, Symbol) or (isinstance(held, tuple) and any(map(_has_symbols, held)))
