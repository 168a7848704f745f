"""From a ``config.json`` to a model: whose it is (a family's, the atlas', timm's, diffusers'), and its class. No weights, no framework.

Every value is checked, and every fault is one ``ConfigError``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paramsym.algebra.symbols import N
from paramsym.atlas.common_keys import labels_of
from paramsym.atlas.config_file import read_config
from paramsym.atlas.diffusers import is_of_diffusers
from paramsym.atlas.files import record_of, recorded_types
from paramsym.atlas.needed import check_needed
from paramsym.atlas.published import RECORDED
from paramsym.atlas.reading import hint
from paramsym.atlas.timm import WRAPPERS, timm_type
from paramsym.atlas.values import shown
from paramsym.errors import ConfigError, ParamsymError, ParamsymWarning
from paramsym.models import family_of, model_types
from paramsym.models.family import Family, in_letters
from paramsym.models.key_kinds import Sizes
from paramsym.naming import nearest, short

if TYPE_CHECKING:
    from paramsym.core.layer import Layer

WAYS_ON = (
    "`paramsym families` lists what is known; the config.json of any model of these families can be read;"
    " ps.Block builds any other model from its layers."
)
"""What to do about an unknown model: look up a name, give a configuration, or build the model from layers."""


def from_config(source: str | os.PathLike[str] | Mapping[str, Any], architecture: str | None = None, strict: bool = False) -> Layer:
    """Return the model that a configuration of Hugging Face's transformers or diffusers, or of timm, describes, with its sizes put in.

    ``source`` is a dictionary, or the path of a ``config.json`` or of a directory that contains one. ``architecture`` is the reference's
    class name; by default the first of the configuration's ``architectures``, or else the family's base class. The class of one tower of
    CLIP or SigLIP reads the configuration of this tower. A missing key has the reference's default. The model knows its closed form
    (``.formula``) and its ``.sizes``; ``.params``, ``.count``, ``.shapes()`` and ``.tied`` are numbers and names.

    A configuration of timm has an ``architecture`` in place of a ``model_type``, and the arguments of ``create_model`` in ``model_args``:
    the classes, the channels and the sides of the image, and the pooling. Another argument is an error. A configuration of diffusers has a
    ``_class_name``, such as ``"UNet2DConditionModel"``.

    A key that the family does not know could change the tensors: it gives a ``ParamsymWarning``, and with ``strict`` an error.

    Raises:
        ConfigError: a file that is missing or cannot be read, an unknown family or architecture, an impossible value.

    >>> model = from_config({"model_type": "bert", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
    ...                      "intermediate_size": 4096})
    >>> model.count, model.formula
    (335141888, 2*F*H*L + F*L + 4*H**2*L + H**2 + 9*H*L + H*P + H*T + H*V + 3*H)
    >>> from_config({"architecture": "vit_base_patch16_224", "num_classes": 10, "model_args": {"img_size": 384}}).count
    86098186
    """
    config = _typed(read_config(source), architecture)
    if is_recorded(config):
        from paramsym.atlas.building import recorded
        from paramsym.atlas.families import member

        model, others, known = recorded(config, architecture)
        model = member(model)
        check_needed(config, getattr(model, "architecture", ""))
        _report(others, known, str(config.get("model_type", "the reference")), strict=strict)
        return model
    config, reader = _tower(config, reader_of(config, architecture), architecture)
    _report(_unknown(config, reader), (*reader.keys, *reader.aliases), reader.model_type, strict=strict)
    built = _architecture(config, architecture, reader)
    sizes: Sizes = {}
    arguments = _arguments(config, built, reader, sizes)
    try:
        if reader.arrange is not None:
            reader.arrange(arguments, sizes)
        return in_letters(reader.model, arguments).at(sizes)
    except ConfigError:
        raise
    except ParamsymError as error:
        raise ConfigError(f"this configuration cannot be built. {error}") from None


def in_letters_of(config: Mapping[str, Any], architecture: str | None = None) -> Layer:
    """Return the model of a configuration with letters for its sizes, also if the reference cannot build its default sizes.

    >>> in_letters_of({"model_type": "openai-gpt"}).params
    12*H**2*L + 13*H*L + H*P + H*V
    """
    if is_recorded(config):
        from paramsym.atlas.building import recorded
        from paramsym.atlas.families import member

        return member(recorded(config, architecture)[0]).origin[0]
    return from_config(config, architecture).origin[0]


def _arguments(config: Mapping[str, Any], architecture: str, reader: Family, sizes: Sizes) -> dict[str, Any]:
    """Return the constructor's arguments, with letters for sizes; put the numbers into ``sizes``."""
    given = reader.given(config)
    arguments: dict[str, Any] = {"architecture": architecture}
    for name, key in reader.keys.items():
        here: Sizes = {}
        value = key.read(given[name], name, here) if name in given else key.missing(here)
        if not key.only or architecture.endswith(key.only):
            arguments[name] = value
            sizes.update(here)
    labels = labels_of(config)
    if architecture in reader.labelled:
        arguments["num_labels"] = N
        sizes[N] = reader.labels if labels is None else labels
    return arguments


# Family, class and keys -------------------------------------------------------------------------------------------------------


def _typed(config: Mapping[str, Any], architecture: str | None) -> Mapping[str, Any]:
    """Return a configuration without a model type with that of the recorded family that has its class, if there is one."""
    named = architecture if architecture is not None else _first_architecture(config)
    types = (model_type for model_type, _ in RECORDED.values() if "model_type" not in config and isinstance(named, str))
    owner = next((one for one in types if named in record_of(one)["classes"]), None)
    return config if owner is None else {**config, "model_type": owner}


def is_recorded(config: Mapping[str, Any]) -> bool:
    """Return whether a configuration is read from the atlas: a type with a record and no family, or one of timm or diffusers.

    >>> is_recorded({"model_type": "led"}), is_recorded({"model_type": "bert"}), is_recorded({"architecture": "resnet50"})
    (True, False, True)
    """
    if timm_type(config) is not None or is_of_diffusers(config):
        return True
    model_type = config.get("model_type")
    return isinstance(model_type, str) and model_type not in model_types() and (model_type in recorded_types() or model_type in WRAPPERS)


def architectures_of(config: Mapping[str, Any], architecture: str | None = None) -> tuple[str, ...]:
    """Return the reference's classes that read this configuration.

    Raises:
        ConfigError: neither the model type nor a class names a known family.
    """
    if config.get("model_type") in WRAPPERS:
        return WRAPPERS[config["model_type"]]
    if is_recorded(config):
        from paramsym.atlas.building import type_of

        return tuple(record_of(type_of(config))["classes"])
    return tuple(reader_of(config, architecture).architectures)


def reader_of(config: Mapping[str, Any], architecture: str | None = None) -> Family:
    """Return the reader of this configuration, by its ``model_type``, or else by the reference's class.

    Raises:
        ConfigError: neither names a known family.

    >>> reader_of({"architectures": ["BertModel"]}).model_type
    'bert'
    """
    known = model_types()
    found = config.get("model_type")
    if found is not None and not isinstance(found, str):
        raise ConfigError(f"model_type is {shown(found)}; wanted a string such as 'bert'.")
    if found in known:
        return family_of(found)
    named = architecture if architecture is not None else _first_architecture(config)
    owners = (one for one in map(family_of, known) if named in {*one.architectures, *one.former})
    owner = next(owners, None) if isinstance(named, str) else None
    if found is None and owner is not None:
        return owner
    what = "the configuration has no model_type" if found is None else f"model_type {_quoted(found)} is not known"
    if owner is not None:
        own = owner.model_type
        advice = f"{_quoted(str(named))} is a class of {own}; to read the configuration so, set model_type to '{own}'."
    elif inner := _known_inside(config):
        advice = f"its {inner} has the known model_type {config[inner]['model_type']}: pass the value of {inner}."
    else:
        near = nearest(found or "", _known_types(), cutoff=0.7)
        advice = f"did you mean {' or '.join(near)}? {WAYS_ON}" if near else WAYS_ON
    raise ConfigError(f"{what}; {advice}")


def _known_inside(config: Mapping[str, Any]) -> str:
    """Return the key of a readable configuration inside this one, as in models of text and images; empty if there is none."""
    inner = ((key, value.get("model_type")) for key, value in config.items() if isinstance(value, Mapping))
    known = _known_types()
    return next((key for key, model_type in inner if isinstance(model_type, str) and model_type in known), "")


def _known_types() -> list[str]:
    """Return the model types of the families and of the atlas."""
    return [*model_types(), *recorded_types()]


def _tower(config: Mapping[str, Any], reader: Family, architecture: str | None) -> tuple[Mapping[str, Any], Family]:
    """Return the inner configuration and its reader if its class is asked for; otherwise the arguments unchanged."""
    for key, nested in reader.inside.items() if isinstance(architecture, str) else ():
        if architecture in nested.reader.architectures:
            inner = reader.given(config).get(key) or {}
            if not isinstance(inner, Mapping):
                raise ConfigError(f"{key} is {shown(inner)}; wanted an object of keys.")
            return inner, family_of(nested.reader.model_type)
    return config, reader


def _architecture(config: Mapping[str, Any], architecture: str | None, reader: Family) -> str:
    found = architecture if architecture is not None else _first_architecture(config)
    if found is None:
        return reader.architectures[0]
    if isinstance(found, str) and (named := reader.former.get(found, found)) in reader.architectures:
        return named
    what = _quoted(found) if isinstance(found, str) else shown(found)
    plain = found.removeprefix("TF").removeprefix("Flax") if isinstance(found, str) else ""
    if plain in reader.architectures:
        advice = f"{plain} of another framework; the library reads its PyTorch names: pass architecture='{plain}'."
    elif (why := _refusal(reader.model_type, found)) is not None:
        advice = f"not among those of {reader.model_type} that can be read: {why}."
    else:
        known = ", ".join(reader.architectures)
        advice = f"not one of {reader.model_type}'s, which are {known}; pass one of them as architecture=."
    raise ConfigError(f"architecture {what} is {advice}")


def _refusal(model_type: str, found: Any) -> str | None:
    """Return why the atlas has no record of a class that the reference has for a type; None without a recorded reason."""
    refused: Mapping[str, str] = record_of(model_type)["refused"] if model_type in recorded_types() else {}
    return refused.get(found) if isinstance(found, str) else None


def _first_architecture(config: Mapping[str, Any]) -> Any:
    found = config.get("architectures")
    if found is None:
        return None
    if not isinstance(found, list | tuple):
        raise ConfigError(f"architectures is {shown(found)}; wanted a list of class names.")
    return found[0] if found else None


def _unknown(config: Mapping[str, Any], reader: Family) -> list[str]:
    """Return the unknown keys."""
    if config.get("per_layer_config"):
        raise ConfigError("per_layer_config gives single layers other sizes, which is not supported.")
    return list(reader.unknown(config))


def _report(unknown: Sequence[str], known: Collection[str], model_type: str, *, strict: bool) -> None:
    """Warn of keys that are not read, or refuse them; each with the known key that it may be a misspelling of."""
    if not unknown:
        return
    listed = ", ".join(_shown_key(key) + hint(key, known) for key in unknown[:12])
    listed += f", ... ({len(unknown)} in all)" if len(unknown) > 12 else ""
    if strict:
        raise ConfigError(f"{model_type} does not know these config keys: {listed}.")
    message = f"config keys that {model_type} does not know were not taken into account: {listed}."
    warnings.warn(message, ParamsymWarning, stacklevel=3)


def _shown_key(key: str) -> str:
    return key if key.replace(".", "_").isidentifier() and len(key) <= 60 else _quoted(key)


def _quoted(text: str) -> str:
    return ascii(short(text, 60))
