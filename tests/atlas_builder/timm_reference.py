"""timm's architectures as references whose forward pass is read: values of a record's keys in, a network out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import torch
from atlas_builder.reference import Seen
from atlas_builder.timm_building import quickly, timm

from paramsym.atlas.building import recorded
from paramsym.atlas.files import TIMM, record_of
from paramsym.atlas.model import Recorded
from paramsym.atlas.timm import SIDES
from paramsym.atlas.values import Value

INPUT = "x"
"""The argument of a network's forward pass."""


class TimmReference:
    """One architecture of timm."""

    counted_on = "meta"
    """The device of torch's counter: networks are large, and run there."""

    def __init__(self, model_type: str) -> None:
        """Begin at the defaults."""
        self.name = model_type.removeprefix(TIMM)
        self.start: dict[str, Value] = {}
        record = record_of(model_type)
        (entry,) = record["classes"].values()
        self.rates = [key for key in entry["keys"] if key.endswith("rate")]
        self.sides = () if {*SIDES, "img_size"} & entry["keys"].keys() else tuple(record["defaults"][""][2] or ())

    def first(self) -> Seen:
        """Return the values of the defaults."""
        return self.build({})

    def config_class(self, **arguments: Any) -> Any:
        """Return the arguments as an object, as configurations of transformers are; timm's rates are 0 by default."""
        return SimpleNamespace(attribute_map={}, arguments=arguments, **dict.fromkeys(self.rates, 0.0))

    def model_class(self, config: Any) -> Any:
        """Return the network, without values where it is built on the meta device."""
        given = dict(config.arguments)
        if SIDES[0] in given:
            given["img_size"] = tuple(given.pop(side) for side in SIDES)
        if torch.empty(0).device.type == "meta":
            with quickly():
                network = timm.create_model(self.name, **given)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                network = timm.create_model(self.name, **given)
        network.main_input_name, network.config = INPUT, SimpleNamespace()
        return network

    def arguments(self, point: Mapping[str, Value]) -> dict[str, Any]:
        """Return the arguments of ``create_model``."""
        return dict(point)

    def configuration(self, _model_type: str, point: Mapping[str, Value]) -> dict[str, Any]:
        """Return a configuration as the library reads it."""
        given = dict(point)
        classes = {"num_classes": given.pop("num_classes")} if "num_classes" in given else {}
        if SIDES[0] in given:
            given["img_size"] = [given.pop(side) for side in SIDES]
        return {"architecture": self.name, **classes, "model_args": given}

    def resolved(self, point: Mapping[str, Value]) -> dict[str, Any]:
        """Return the values of all keys; of an architecture that takes images of one size, also their sides."""
        found, _, _ = recorded(self.configuration("", point), None)
        assert isinstance(found, Recorded)
        return dict(found.values) | ({"img_size": self.sides} if self.sides else {})

    def build(self, point: Mapping[str, Value]) -> Seen:
        """Return the values of all keys; tensors are not asked for."""
        return Seen(point, self.resolved(point), frozenset(), {})
