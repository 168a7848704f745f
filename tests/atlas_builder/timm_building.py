"""timm's architectures as black boxes: arguments in, names and shapes out, on the meta device."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from atlas_builder.reference import RefusedError
from atlas_builder.storing import stored
from atlas_builder.unfilled import quickly

from paramsym.atlas.timm import SIDES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import timm
    from timm.layers import pos_embed_rel
    from timm.models import _registry as registry, get_pretrained_cfg

logging.getLogger("timm").setLevel(logging.ERROR)

REFERENCE = f"timm {timm.__version__}"


def _lookup(length: int, max_relative_position: int | None = None, **_: Any) -> torch.Tensor:
    """Return a table of the shape that timm's has; timm fills it entry by entry."""
    most = length - 1 if max_relative_position is None else max_relative_position
    return torch.empty(length, length, 2 * most + 1)


pos_embed_rel.generate_lookup_tensor = _lookup


_OF_WEIGHTS = frozenset({"tag", "num_classes", "fixed_input_size"})


@dataclass(frozen=True)
class Built:
    """One build: the class, and the tensors in order, as ``stored`` gives them."""

    model_class: str
    tensors: Mapping[str, tuple[str, Any]]


def made(name: str, **arguments: Any) -> Built:
    """Return what timm's ``create_model`` stores.

    Raises:
        RefusedError: timm does not build it.
    """
    try:
        with quickly():
            model = timm.create_model(name, **arguments)
    except (KeyboardInterrupt, TimeoutError):
        raise
    except BaseException as error:  # noqa: BLE001 - somebody else's code may raise anything
        message = f"{type(error).__name__}: {str(error)[:160]}"
        raise RefusedError(message) from None
    return Built(type(model).__name__, stored(model))


def at(name: str, values: Mapping[str, Any]) -> Built:
    """Return the architecture for values of a record's keys; what is null has the default of timm's class, not of its registry.

    Raises:
        RefusedError: timm does not build it.
    """
    arguments = {key: value for key, value in values.items() if key not in SIDES and value is not None}
    if values.get("img_height") is not None:
        arguments["img_size"] = (values["img_height"], values["img_width"])
    cfg = get_pretrained_cfg(name)
    stated = {} if cfg is None else {key: value for key, value in cfg.to_dict().items() if key not in _OF_WEIGHTS}
    try:
        return made(name, pretrained_cfg={**stated, "input_size": (3, 224, 224)}, **arguments)
    except RefusedError as error:
        if "custom pretrained configuration" not in str(error):
            raise
        return made(name, **arguments)  # some need a tag, and then that of the registry


def defaults(name: str) -> list[Any]:
    """Return the classes, the channels and the sides that timm's registry gives a name, with or without a tag."""
    cfg = get_pretrained_cfg(name)
    if cfg is None:
        return [None, None, None]
    channels, *sides = cfg.input_size
    classes = cfg.num_classes if cfg.num_classes is not None and cfg.num_classes >= 0 else None
    return [classes, channels, sides if cfg.fixed_input_size else None]


def tags(name: str) -> list[str]:
    """Return the tags of an architecture."""
    return [one.partition(".")[2] for one in timm.list_pretrained(f"{name}.*") if one.partition(".")[0] == name]


def modules() -> dict[str, list[str]]:
    """Return the names of the architectures of each of timm's modules."""
    found: dict[str, list[str]] = {}
    for name in timm.list_models():
        found.setdefault(registry._model_to_module[name], []).append(name)
    return found


def renamed() -> dict[str, str]:
    """Return former names of architectures, with their names of today."""
    return {old: new for old, new in registry._deprecated_models.items() if new}
