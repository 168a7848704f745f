"""timm's classes as black boxes: the arguments of a constructor in, names and shapes out, as the search expects of a reference.

The entries of lists are keys of their own, as for diffusers; so are the two sides of an image.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from atlas_builder.diffusers_network import Network, NetworkEntry, apart
from atlas_builder.exploring import Explorer, Field, same
from atlas_builder.hints import kinds_of
from atlas_builder.reference import RefusedError, Seen
from atlas_builder.storing import stored
from atlas_builder.timm_building import quickly
from atlas_builder.timm_calls import defaults_of, named, parameters
from atlas_builder.told import Told

from paramsym.atlas.diffusers import entries
from paramsym.atlas.timm import SIDES
from paramsym.atlas.timm_classes import SIZE
from paramsym.atlas.values import Value, frozen_value

_LAYERS = re.compile(
    r"(^|_)(layer|layers|block|fn|cls|act|device|dtype)(_cl|_token|_only)*$"
    r"|^(block_args|stem_type|avg_down|preact|basic|extra_norm_period|extra_norm_stage|norm_layers|token_mixers)$"
    r"|^(weight_init|fix_init|ref_feat_shape|stem_backbone|out_features|attn_kwargs)$"
)
_SCALARS = (bool, int, float, str, type(None))
_DEPTH = re.compile(r"^(depths?|layers|num_blocks|num_layers)(_|$)")
_DEEPEST = 28
_MOST_SEEN = 8
_RATIOS = (0.5, 1.31, 2.73, 3.57, 8.0)  # with fractions for which the order of roundings matters


def is_layer(key: str) -> bool:
    """Whether an argument says which layers there are: a class, a function, or a word or flag that renames most tensors."""
    return bool(_LAYERS.search(key)) and key != "layers"


def plain_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that laws may be about."""
    return {key: sided(key, value) for key, value in arguments.items() if not is_layer(key)}


def sided(key: str, value: Any) -> Any:
    """Return two sides for one side of an image."""
    return [value, value] if key == SIZE and type(value) is int else value


def style_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are classes or functions."""
    return {key: value for key, value in arguments.items() if is_layer(key)}


def built(network: type, arguments: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return what a network stores.

    Raises:
        RefusedError: timm does not build it.
    """
    try:
        with quickly():
            return stored(network(**arguments))
    except (KeyboardInterrupt, TimeoutError):
        raise
    except BaseException as error:  # noqa: BLE001 - somebody else's code may raise anything
        raise RefusedError(f"{type(error).__name__}: {str(error)[:160]}") from None


class TimmNetwork(Network):
    """One class of timm with some layers, whose lists have given lengths."""

    def __init__(self, network: type, start: Mapping[str, Any], style: Mapping[str, Any], held: tuple[str, ...] = ()) -> None:
        """Begin at the defaults, with other values from ``start``; ``style`` are the layers, keys in ``held`` keep the values they have."""
        self.model_class, self.style = network, dict(style)
        self.stated, self.start = dict(start), {}
        self.defaults = plain_arguments(defaults_of(network))
        whole = {**self.defaults, **start}
        self.read, self.noted, self.held = frozenset(whole), frozenset(), frozenset(held)
        self.lists = {key: len(value) for key, value in whole.items() if isinstance(value, list) and value and _flat(value)}
        self.base: dict[str, Value] = {}
        for key, value in whole.items():
            self.base |= dict(entries(key, value)) if key in self.lists else {key: frozen_value(value)}
        self.of = {f"{key}_{place}": key for key, length in self.lists.items() for place in range(length)}
        plain = {"attribute_map": {}, "model_type": "", "to_dict": lambda _: {}, "__init__": lambda _, **_arguments: None}
        hints = {"__module__": network.__module__, "__annotations__": self._hints(whole)}
        self.config_class = type("Config", (), {**plain, **hints})  # type: ignore[assignment]
        self.built = 0
        self.cache, self.configs, self.named = {}, {}, {}
        self.spread: list[str] = []
        self.spread = [key for key in self.lists if self._spreads(key)]

    def _hints(self, whole: Mapping[str, Any]) -> dict[str, Any]:
        """Return the type of each key; of words, those that timm's architectures have as well."""
        hints: dict[str, Any] = {}
        for key, one in parameters(self.model_class).items():
            hints[key] = one.annotation if one.annotation is not one.empty else type(one.default)
            given = [one.default, *(arguments.get(key) for arguments in named()[self.model_class].values())]
            seen = [word for word in given if isinstance(word, str)]
            if seen and key in self.base:
                words = tuple(dict.fromkeys([*seen, *getattr(one.annotation, "__args__", ())]))
                hints[key] = Literal[tuple(word for word in words if isinstance(word, str))] | None
        for entry, key in self.of.items():
            words = tuple(dict.fromkeys(whole[key]))
            hints[entry] = Literal[words] if isinstance(self.base[entry], str) else type(self.base[entry])
        return {key: hint for key, hint in hints.items() if key in self.base}

    def _spreads(self, key: str) -> bool:
        """Whether one value means the same as a list of equal entries."""
        value = whole = {**self.defaults, **self.stated}
        value = whole[key][0]
        several = {**self.stated, key: [value] * self.lists[key]}
        try:
            return self.stores(several) == self.stores({**several, key: value})
        except RefusedError:
            return False

    def flat(self, arguments: Mapping[str, Any]) -> dict[str, Value]:
        """Return the values of keys for arguments."""
        found: dict[str, Value] = {}
        for key, value in plain_arguments(arguments).items():
            found |= dict(entries(key, value)) if key in self.lists and isinstance(value, list) else {key: frozen_value(value)}
        return {key: value for key, value in found.items() if key in self.base}

    def stores(self, arguments: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
        """Return what is stored for arguments of the constructor."""
        return built(self.model_class, {**self.style, **arguments})

    def _built(self, point: Mapping[str, Value]) -> Seen:
        values = self.resolved(point)
        depth = sum(value for key, value in values.items() if _DEPTH.search(key) and type(value) is int)
        if depth > _DEEPEST:
            raise RefusedError(f"{depth} layers are slow to build")
        read = frozenset(key for key in values if self.of.get(key, key) not in self.held)
        return Seen(dict(point), values, read, self.stores(self.arguments(point)))


def _flat(value: list[Any]) -> bool:
    return all(isinstance(one, _SCALARS) for one in value)


class TimmExplorer(Explorer):
    """Also tries no classes, flags that may be null, and the values that timm's architectures have."""

    def _probe_one(self, found: Field, base: int) -> None:
        super()._probe_one(found, base)
        others = [one for one in self._others(found) if not any(same(one, each) for each in found.pool)]
        if others:
            self._try(found, "option" if found.kind == "rigid" else found.kind, others, base)

    def _together(self, others: Mapping[str, Sequence[Value]], base: int) -> None:
        """Leave out the keys that may be null, which is tried for each alone."""
        left = {key: tried for key, tried in others.items() if type(None) not in kinds_of(self.hints.get(key))}
        if left:
            super()._together(left, base)

    def _others(self, found: Field) -> list[Value]:
        network = self.reference
        if found.key == "num_classes":
            return [0]
        if bool in kinds_of(self.hints.get(found.key)):
            return [True, False]
        ratios = _RATIOS if isinstance(found.base, int | float) and "ratio" in found.key else ()
        if "depth" in found.key or not isinstance(network, TimmNetwork) or found.key in network.of:
            return [*ratios]
        seen = [frozen_value(given[found.key]) for given in named()[network.model_class].values() if found.key in given]
        return [*[one for one in dict.fromkeys(seen) if isinstance(one, _SCALARS)][:_MOST_SEEN], *ratios]


def derived(network: TimmNetwork, seconds: float, told: Told, known: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return the entry of a class; ``known`` are the arguments of its architectures, which laws must explain as well.

    Raises:
        NotAdmittedError: with the reason.
    """
    stages = tuple(key for key in network.of if _DEPTH.search(key))  # a stage without blocks is another network
    explorer = TimmExplorer(network, seconds * 0.6, told=told.plus(Told(positive=stages)))
    for arguments in known:
        with suppress(RefusedError):
            network.build({key: value for key, value in network.flat(arguments).items() if not _DEPTH.search(key)})  # depths take long
    entry = NetworkEntry("", explorer, seconds=seconds, longest_fit=seconds / 3).derive()
    entry["unseen"] = list(apart(network, entry))
    return entry


def with_sides(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry in which the sides of the image have the names that they have in the records of architectures."""
    text = json.dumps(entry)
    for place, side in enumerate(SIDES):
        text = text.replace(f'"{SIZE}_{place}"', f'"{side}"')
    renamed: dict[str, Any] = json.loads(text)
    return renamed
