"""diffusers' classes as references whose forward pass is read: values of a record's keys in, a network out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import torch
from atlas_builder.diffusers_inputs import candidates
from atlas_builder.diffusers_starts import STARTS
from atlas_builder.inputs import Inputs
from atlas_builder.reference import Seen
from atlas_builder.unfilled import quickly

from paramsym.atlas.building import recorded
from paramsym.atlas.diffusers import diffusers_type
from paramsym.atlas.domain import thawed
from paramsym.atlas.files import DIFFUSERS, diffusers_index, record_of
from paramsym.atlas.model import Recorded
from paramsym.atlas.record import RecordError
from paramsym.atlas.values import Value

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import diffusers

diffusers.logging.set_verbosity(60)


class DiffusersReference:
    """One class of diffusers whose lists have given lengths."""

    counted_on = "meta"
    """The device of torch's counter: networks are large, and run there."""
    single: bool
    """Whether the batch is 1, in which nothing is copied to be contiguous, and no letter."""

    def __init__(self, model_type: str) -> None:
        """Begin at the defaults, or where the search for the record began if the defaults have lists of other lengths."""
        self.name, _, label = model_type.removeprefix(DIFFUSERS).partition("/")
        index = diffusers_index()["classes"][self.name]
        self.lists, self.spread = index["lengths"][label], index["spread"]
        self.network = getattr(diffusers, self.name)
        (entry,) = record_of(model_type)["classes"].values()
        self.rates = [key for key in entry["keys"] if "dropout" in key]
        self.single = False
        self.is_default = _is_default(self.name, model_type)
        given = {} if self.is_default else STARTS[self.name][label]
        self.flat = self._flat(given)
        named = {f"{key}_{place}" for key, length in self.lists.items() if key in given for place in range(length)}
        self.start: dict[str, Value] = {key: self.flat[key] for key in (*self.flat,) if key in named or key in given}

    def _flat(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of all keys for a configuration of diffusers."""
        found, _, _ = recorded({**config, "_class_name": self.name}, None)
        assert isinstance(found, Recorded)
        return dict(found.values)

    def changed(self, config: Mapping[str, Any]) -> dict[str, Value]:
        """Return the keys of a configuration of diffusers whose values are not those of the start."""
        return {key: value for key, value in self._flat(config).items() if value != self.flat.get(key)}

    def first(self) -> Seen:
        """Return the values of the defaults."""
        return self.build(self.start)

    def config_class(self, **arguments: Any) -> Any:
        """Return the arguments as an object, as configurations of transformers are."""
        return SimpleNamespace(attribute_map={}, arguments=arguments, **dict.fromkeys(self.rates, 0.0))

    def model_class(self, config: Any) -> Any:
        """Return the network, without values where it is built on the meta device."""
        if torch.empty(0).device.type == "meta":
            with quickly():
                return self.network(**config.arguments)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.network(**config.arguments)

    def arguments(self, point: Mapping[str, Value]) -> dict[str, Any]:
        """Return the arguments of the constructor: entries of lists together again, one value for equal ones where that is possible."""
        found = {key: thawed(value) for key, value in point.items()}
        for key, length in self.lists.items():
            names = [f"{key}_{place}" for place in range(length)]
            if any(name in found for name in names):
                whole = self.resolved(point)
                values = [thawed(whole[name]) for name in names]
                found = {one: value for one, value in found.items() if one not in names}
                found[key] = values[0] if key in self.spread and len({repr(one) for one in values}) == 1 else values
        return found

    def configuration(self, _model_type: str, point: Mapping[str, Value]) -> dict[str, Any]:
        """Return a configuration as the library reads it."""
        return {"_class_name": self.name, **self.arguments(point)}

    def resolved(self, point: Mapping[str, Value]) -> dict[str, Any]:
        """Return the values of all keys."""
        return {**self.flat, **point}

    def candidates(self, model: Any, numbers: Mapping[str, int], resolved: Mapping[str, Any]) -> Iterator[Inputs]:
        """Yield inputs that the class may take."""
        for inputs in candidates(self.name, model.forward, numbers, resolved):
            yield {name: tuple(1 if axis == "B" else axis for axis in axes) for name, axes in inputs.items()} if self.single else inputs

    def units(self, _: Inputs) -> Iterator[dict[str, int]]:
        """Yield by what the sizes of inputs are multiples beside what their axes say."""
        yield {}

    def build(self, point: Mapping[str, Value]) -> Seen:
        """Return the values of all keys; tensors are not asked for."""
        return Seen(point, self.resolved(point), frozenset(), {})


def _is_default(name: str, model_type: str) -> bool:
    """Whether a record is that of the defaults of a class."""
    try:
        return diffusers_type({"_class_name": name}) == model_type
    except RecordError:
        return False
