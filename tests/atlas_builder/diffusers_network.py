"""diffusers' networks as black boxes: the arguments of a constructor in, names and shapes out, as the search expects of a reference.

Each entry of a list is a key of its own, as in ``paramsym.atlas.diffusers``; an entry therefore has laws, and lists keep their length.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import random
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import diffusers
import torch
from atlas_builder.diffusers_starts import INERT, WORDS
from atlas_builder.exploring import _DEPTH, Explorer, Point
from atlas_builder.fitting import is_whole
from atlas_builder.hints import hints_of, kinds_of
from atlas_builder.limiting import limited
from atlas_builder.recording import Entry
from atlas_builder.reference import Reference, RefusedError, Seen
from atlas_builder.storing import stored
from atlas_builder.told import Told

from paramsym.atlas.diffusers import diffusers_keys, entries
from paramsym.atlas.expression import OutsideError
from paramsym.atlas.predicting import Row, predicted, rows_of
from paramsym.atlas.reading import values_of
from paramsym.atlas.values import Value, frozen_value

diffusers.logging.set_verbosity(60)
REFERENCE = f"diffusers {diffusers.__version__}"
_SECONDS = 8.0
_DEEPEST = 5
_TRIES, _PROOFS, _SHARE = 8, 2, 0.3
_SCALARS = (bool, int, float, str, type(None))


def class_of(name: str) -> type:
    """Return a class by its name."""
    found: type = getattr(diffusers, name)
    return found


def networks() -> list[str]:
    """Return the names of all classes of networks that diffusers exports."""
    found = []
    for name in dir(diffusers):
        with contextlib.suppress(Exception):  # some classes need packages that are not installed
            one = getattr(diffusers, name)
            if isinstance(one, type) and issubclass(one, diffusers.ModelMixin) and one is not diffusers.ModelMixin:
                found.append(name)
    return sorted(found)


def defaults_of(network: type) -> dict[str, Any]:
    """Return the defaults of the constructor, as JSON has them."""
    return {key: _listed(one.default) for key, one in _parameters(network).items() if one.default is not one.empty}


def arguments_of(network: type) -> set[str]:
    """Return the names of the arguments of the constructor."""
    return set(_parameters(network))


def _parameters(network: type) -> dict[str, inspect.Parameter]:
    return dict(list(inspect.signature(network.__init__).parameters.items())[1:])  # type: ignore[misc]


def _listed(value: Any) -> Any:
    return [_listed(one) for one in value] if isinstance(value, list | tuple) else value


def made(network: type, config: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return what a network stores.

    Raises:
        RefusedError: diffusers does not build it.
    """
    try:
        with limited(_SECONDS), torch.device("meta"):
            return stored(network(**config))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - somebody else's code may raise anything
        message = f"{type(error).__name__}: {str(error)[:160]}"
        raise RefusedError(message) from None


def read_by(network: type) -> frozenset[str]:
    """Return the names in the code of the constructor and of its own methods that it calls: no other argument can change a tensor."""
    found: set[str] = set()
    waiting, done = ["__init__"], set()
    while waiting:
        name = waiting.pop()
        code = getattr(network, name, None)
        if name in done or not callable(code):
            continue
        done.add(name)
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(code)))).body[0]
        for node in (node for part in getattr(tree, "body", ()) for node in ast.walk(part)):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
                if isinstance(node.value, ast.Name) and node.value.id == "self" and name != node.attr:
                    waiting += [node.attr] if inspect.isfunction(getattr(network, node.attr, None)) else []
    whole = any(not isinstance(base, type) or "register_to_config" in inspect.getsource(base) for base in _parents(network))
    return frozenset(_parameters(network)) if whole or "locals" in found else frozenset(found)


def noted_by(network: type) -> frozenset[str]:
    """Return the names that the constructor adds to the configuration that is saved: they are no arguments."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(network.__init__))))  # type: ignore[misc]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "register_to_config"]
    return frozenset(str(one.arg) for call in calls for one in call.keywords) - _parameters(network).keys()


def _parents(network: type) -> Iterator[type]:
    """Yield the networks that a class inherits from."""
    return (
        one
        for one in network.__mro__[1:]
        if one.__module__.startswith("diffusers.models.") and "_mixin" not in one.__module__ and one.__name__[-5:] != "Mixin"
    )


class Network(Reference):
    """One class of diffusers whose lists have given lengths."""

    required: frozenset[str] = frozenset()
    """The keys without a default."""

    def __init__(self, network: type, start: Mapping[str, Any], held: Sequence[str] = (), choosing: Sequence[str] = ()) -> None:
        """Begin at the defaults, with other values from ``start``; keys in ``held`` keep these, and those that choose the record do."""
        self.model_class = network
        self.stated, self.start = dict(start), {}
        self.defaults = defaults_of(network)
        whole = {**self.defaults, **start}
        self.read, self.noted = read_by(network), noted_by(network)
        self.required = frozenset(arguments_of(network) - self.defaults.keys())
        self.lists = {
            key: len(value)
            for key, value in whole.items()
            if key in self.read and isinstance(value, list) and value and all(isinstance(one, _SCALARS) for one in value)
        }
        self.held = frozenset([*held, *choosing])
        self.words = {key: whole[key] for key in choosing}
        self.base: dict[str, Value] = {}
        for key, value in whole.items():
            self.base |= dict(entries(key, value)) if key in self.lists else {key: frozen_value(value)}
        self.of = {f"{key}_{place}": key for key, length in self.lists.items() for place in range(length)}
        hints = {key: one.annotation for key, one in _parameters(network).items() if one.annotation is not one.empty}
        hints |= {key: Literal[words] | None for key, words in WORDS.items() if key in hints}
        for entry, key in self.of.items():
            usual = self.defaults.get(key)
            words = dict.fromkeys([*whole[key], *(usual if isinstance(usual, list) else ())])
            hints[entry] = Literal[tuple(words)] if isinstance(self.base[entry], str) else type(self.base[entry])
        plain = {"__module__": network.__module__, "__annotations__": hints, "attribute_map": {}, "model_type": "", "to_dict": lambda _: {}}
        self.config_class = type("Config", (), {**plain, "__init__": lambda _, **_arguments: None})  # type: ignore[assignment]
        self.built = 0
        self.cache: dict[tuple[tuple[str, Value], ...], Seen | str] = {}
        self.configs, self.named = {}, {}
        self.spread: list[str] = []
        self.spread = [key for key in self.lists if self._spreads(key)]

    def _spreads(self, key: str) -> bool:
        """Whether one value means the same as a list of equal entries."""
        found = []
        for place in range(self.lists[key]):
            one = self.base[f"{key}_{place}"]
            point = {f"{key}_{each}": one for each in range(self.lists[key])}
            try:
                config = {**self.stated, **self.arguments(point)}
                found.append(made(self.model_class, config) == made(self.model_class, {**config, key: one}))
            except RefusedError:
                return False
        return all(found)

    def usual_sizes(self) -> Iterator[Any]:
        """Yield sizes of many classes: the channels of the output, which are those of the input if null, and multiples of widths."""
        if {"in_channels", "out_channels"} <= self.base.keys() and (
            self.base["out_channels"] is None or type(None) in kinds_of(hints_of(self.config_class).get("out_channels"))
        ):
            yield ["or", "out_channels", "in_channels"]
        widths: dict[str, Any] = {"hidden_size": "hidden_size", "attention_head_dim": ["*", "num_attention_heads", "attention_head_dim"]}
        if isinstance(self.base.get("mlp_ratio"), float):
            yield from (["int*", width, "mlp_ratio"] for key, width in widths.items() if key in self.base)

    def first(self) -> Seen:
        """Return the network of the start."""
        return self.build({})

    def properties(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield nothing: all keys are arguments."""
        return iter(())

    def arguments(self, point: Mapping[str, Value]) -> dict[str, Any]:
        """Return the configuration: the start with the values of a point; one value for a list of equal entries where that is possible."""
        flat = {**self.base, **point}
        keys = {*self.stated, *(self.of.get(key, key) for key in point)}
        found: dict[str, Any] = {}
        for key in keys:
            if key not in self.lists:
                found |= super().arguments({key: flat[key]})
                continue
            values = [flat[f"{key}_{place}"] for place in range(self.lists[key])]
            found[key] = values[0] if key in self.spread and len({repr(one) for one in values}) == 1 else values
        return found

    def resolved(self, point: Mapping[str, Value]) -> dict[str, Value]:
        """Return the value of each key."""
        return {**self.base, **point}

    def _check_depths(self, values: Mapping[str, Value]) -> None:
        """Refuse many layers for each block, which are slow, and none: a block without layers stores nothing, and blocks are counted.

        Raises:
            RefusedError: such a number of layers.
        """
        for key, value in values.items():
            base = self.base[key]
            if value == base or not is_whole(value) or not is_whole(base) or not base:
                continue
            if not value or (_DEPTH.search(key) and value > _DEEPEST):
                message = f"{key} is {value}"
                raise RefusedError(message)

    def _built(self, point: Mapping[str, Value]) -> Seen:
        values = self.resolved(point)
        for key, value in point.items():
            if self.of.get(key, key) in self.held and value != self.base.get(key):
                message = f"{key} is held"
                raise RefusedError(message)
        if "block_out_channels" in self.lists:
            self._check_depths(values)
        read = frozenset(key for key in values if self.of.get(key, key) in self.read - self.held)
        return Seen(dict(point), values, read, made(self.model_class, self.arguments(point)))


class NetworkEntry(Entry):
    """An entry for one class and lengths of its lists."""

    def _entry(self) -> dict[str, Any]:
        """Return the entry, in which the keys that were held have one value; all defaults are filled in before it is read."""
        entry, network = super()._entry(), self.reference
        for key in network.base:  # type: ignore[attr-defined]
            if network.of.get(key, key) in network.held:  # type: ignore[attr-defined]
                entry["keys"][key] = {"words": [network.base[key]], "unused": True}  # type: ignore[attr-defined]
        for key in network.required & entry["keys"].keys():  # type: ignore[attr-defined]
            entry["keys"][key].pop("unused", None)
        entry["free"] = sorted({*entry["free"], *network.noted} - entry["keys"].keys())  # type: ignore[attr-defined]
        for domain in entry["keys"].values():
            domain.pop("missing", None)
        return entry

    def _values(self, flat: Point, record: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Value]:
        """Return the values of the keys of a configuration, as the library reads it."""
        network = self.reference
        of_class = {"defaults": network.defaults, "spread": network.spread, "lengths": {"": network.lists}}  # type: ignore[attr-defined]
        return values_of(diffusers_keys(network.arguments(flat), of_class, ""), record, entry)[0]


def derived(network: Network, seconds: float, sizes: Sequence[Any] = (), *, held: bool = False) -> dict[str, Any]:
    """Return the entry of a class for the lengths of the start's lists; ``sizes`` are told, and ``held`` records the start alone.

    Raises:
        NotAdmittedError: with the reason.
    """
    explorer = Explorer(network, seconds * 0.6, told=Told(sizes=(*sizes, *network.usual_sizes()), inert=INERT), held=held)
    entry = NetworkEntry("", explorer, seconds=seconds, longest_fit=seconds / 3).derive()
    entry["unseen"] = list(apart(network, entry))
    return entry


def apart(network: Network, entry: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield the pairs of values never seen together, except those for which the rows give what is built, with other keys changed."""
    rng = random.Random(len(entry["unseen"]))
    rows = list(rows_of(entry["rows"], entry["expressions"]))
    for one, first, other, second in entry["unseen"]:
        agreed = []
        for _ in range(_TRIES):
            point = {**_varied(network, entry, rng), one: first, other: second}
            with contextlib.suppress(RefusedError):
                built = network.build(point)
                agreed.append(_gives(rows, built))
            if len(agreed) == _PROOFS or False in agreed:
                break
        if len(agreed) < _PROOFS or False in agreed:
            yield [one, first, other, second]


def _varied(network: Network, entry: Mapping[str, Any], rng: random.Random) -> Point:
    """Return other values for some keys that laws are about."""
    point: Point = {}
    for key, domain in entry["keys"].items():
        if domain.get("unused") or rng.random() > _SHARE:
            continue
        words = [one for one in domain.get("words", ()) if not isinstance(one, tuple)]
        base = network.base.get(key)
        if words and (not is_whole(base) or rng.random() < _SHARE):
            point[key] = rng.choice(words)
        elif is_whole(base):
            point[key] = base * rng.choice((1, 2, 3))
    return point


def _gives(rows: Sequence[Row], built: Seen) -> bool:
    try:
        return predicted(rows, built.values) == built.tensors
    except OutsideError:
        return False
