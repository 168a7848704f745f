"""The reference's model classes as black boxes: configuration values in, names and shapes out, and which keys were read on the way.

Models are built on the meta device, so nothing is allocated. A key that a class never reads while it is built cannot change a tensor; the
reads are therefore written down, also those of keys that the configuration does not declare.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import json
import logging
import sys
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import torch
import transformers
from atlas_builder.starts import STARTS, TAKEN
from atlas_builder.storing import stored
from nesting import nested
from torch.utils._device import _device_constructors
from transformers.configuration_utils import PreTrainedConfig
from transformers.utils.import_utils import BACKENDS_MAPPING

from paramsym.atlas.domain import default, verified
from paramsym.atlas.files import DIFFUSERS, TIMM, inner_of, plain_type
from paramsym.atlas.values import Value, frozen_value

transformers.logging.set_verbosity_error()
logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")

_INITIALISERS = [
    "kaiming_uniform_",
    "kaiming_normal_",
    "uniform_",
    "normal_",
    "zeros_",
    "ones_",
    "constant_",
    "xavier_uniform_",
    "xavier_normal_",
    "trunc_normal_",
    "orthogonal_",
]
for _name in _INITIALISERS:  # on the meta device they cost time and do nothing
    setattr(torch.nn.init, _name, lambda tensor, *_a, **_k: tensor)


# A result that is kept from an earlier pass would be missing in the next one.
transformers.pytorch_utils.compile_compatible_method_lru_cache = lambda *_a, **_k: lambda function: function

_arange = torch.arange
_NO_KEYS: Mapping[str, Value] = {}
_FEW = 512
_device_constructors()  # its cached list of constructors then holds torch's own functions, not the replacements below


def _arange_in_memory(*arguments: Any, **named: Any) -> Any:
    """Few numbers are computed in memory: on the meta device each step of their arithmetic costs a millisecond."""
    few = all(isinstance(one, int | float) and abs(one) <= _FEW for one in arguments)
    return _arange(*arguments, **({"device": "cpu"} if few else {}), **named) if "device" not in named else _arange(*arguments, **named)


for _name in ("natten", "torchaudio"):  # their functions hold no tensor, and are only called in a forward pass
    BACKENDS_MAPPING[_name] = (lambda: True, "")
    if importlib.util.find_spec(_name) is None and _name == "torchaudio":  # imported by a module of the reference
        sys.modules[_name] = types.ModuleType(_name)
# Settings of generation are copied from every configuration, and hold no tensor.
transformers.GenerationConfig.from_model_config = classmethod(lambda _cls, _config: None)
# Type checks write configurations into messages that are never shown.
PreTrainedConfig.__repr__ = lambda self: type(self).__name__  # type: ignore[method-assign]


class RefusedError(Exception):
    """The reference does not build a model from these values."""


@dataclass(frozen=True)
class Seen:
    """One model that was built: values that its configuration resolved to, keys read, tensors in order.

    ``tensors`` gives each name its kind (parameter, frozen, buffer) and shape, or "tie" and the first name.
    """

    point: Mapping[str, Value]
    values: Mapping[str, Value]
    read: frozenset[str]
    tensors: Mapping[str, tuple[str, Any]]


LAYERS = "per_layer_config"
PROPERTIES = ("out_features", "out_indices", "stage_names")
_log: dict[int, tuple[Any, set[str]]] | None = None


def _plain(self: Any, key: str) -> Any:
    """Read a key as configurations do, but without their per-layer overrides, which are never used here: this halves the cost of a read."""
    return object.__getattribute__(self, type(self).attribute_map.get(key, key))


def _reading(self: Any, key: str) -> Any:
    if _log is not None and (key[0] != "_" or key[1:] in PROPERTIES):  # a backbone reads what is behind its properties
        _log.setdefault(id(self), (self, set()))[1].add(key.removeprefix("_"))
    return _plain(self, key)


PreTrainedConfig.__getattribute__ = _plain  # type: ignore[method-assign]


@contextlib.contextmanager
def _reads_logged() -> Iterator[dict[int, tuple[Any, set[str]]]]:
    global _log  # noqa: PLW0603 - one build at a time
    _log = {}
    PreTrainedConfig.__getattribute__ = _reading
    try:
        yield _log
    finally:
        _log = None
        PreTrainedConfig.__getattribute__ = _plain


def config_class_of(model_type: str) -> type[PreTrainedConfig]:
    """Return the configuration class of a model type."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    found: type[PreTrainedConfig] = CONFIG_MAPPING[plain_type(model_type)]
    return found


def class_named(name: str, model_type: str) -> Any:
    """Return a model class by its name; some are exported by their own module only."""
    found = getattr(transformers, name, None)
    if not (isinstance(found, type) and issubclass(found, torch.nn.Module)):  # not exported, or its package is missing
        home = config_class_of(model_type).__module__.replace("configuration_", "modeling_")
        found = getattr(importlib.import_module(home), name)
    return found


def reference_of(model_type: str, name: str) -> Any:
    """Return a class of a type, an architecture of timm, or a class of diffusers.

    The type may name those of inner configurations: ``llava_next+text_config=mistral``. That of a published
    configuration, as in ``dpt+large``, always has the keys of this one.
    """
    if model_type.startswith(TIMM):
        from atlas_builder.timm_reference import TimmReference

        return TimmReference(model_type)
    if model_type.startswith(DIFFUSERS):
        from atlas_builder.diffusers_reference import DiffusersReference

        return DiffusersReference(model_type)
    inner: dict[str, Value] = {f"{key}.model_type": one for key, one in inner_of(model_type).items()}
    return Reference(config_class_of(model_type), class_named(name, model_type), {**inner, **published_keys(model_type)})


def is_published(model_type: str) -> bool:
    """Whether the name of a record is that of a published configuration."""
    return "+" in model_type and not inner_of(model_type)


def published_keys(model_type: str) -> dict[str, Value]:
    """Return the keys of the published configuration that a record is for, those that are not the defaults; none for other records."""
    if not is_published(model_type):
        return {}
    name, _, label = model_type.partition("+")
    known = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))
    return {key: frozen_value(value) for key, value in known[name][label].items()}


def require_published(keys: dict[str, Any], reference: Reference, model_type: str) -> None:
    """Let a key of a published configuration have no default: if it is missing, it has that of the reference, which is another value.

    The default is the one beside the types of the inner configurations, which are always required: a model that has an inner
    configuration by default may give it other values than the type has.
    """
    published = published_keys(model_type)
    types = {key: value for key, value in published.items() if key.endswith("model_type")}
    plain = reference.resolved({**STARTS.get(plain_type(model_type), {}), **types}) if published else {}
    for key in published:
        domain = keys.get(key, {"any": True})
        if key in types or not verified(domain, plain.get(key)):
            keys[key] = {which: what for which, what in domain.items() if which not in {"unused", "missing", "absent"}}


class Reference:
    """One model class of the reference."""

    counted_on = "cpu"
    """The device of torch's counter: not meta, because a reference may keep arrays that are no buffers."""

    def __init__(self, config_class: type[PreTrainedConfig], model_class: type, inner: Mapping[str, Value] = _NO_KEYS) -> None:
        """Read what the configuration declares; it always has the types ``inner`` of inner configurations."""
        self.config_class, self.model_class = config_class, model_class
        module = sys.modules[model_class.__module__]
        if hasattr(module, "get_sinusoid_encoding_table"):  # it takes a second, and is in no state dict
            module.get_sinusoid_encoding_table = torch.empty
        if hasattr(module, "kaiser_sinc_filter1d"):
            module.kaiser_sinc_filter1d = lambda cutoff, half_width, kernel_size: torch.empty(1, 1, kernel_size)  # noqa: ARG005
        self.start = self.inner_types = inner
        self.named: dict[str, str] = {}
        self.declared = frozenset(field.name for field in fields(config_class))  # type: ignore[arg-type]
        self.built = 0
        self.arange = _arange_in_memory
        self.cache: dict[tuple[tuple[str, Value], ...], Seen | str] = {}
        self.configs: dict[str, dict[str, Value] | str] = {}

    def first(self) -> Seen:
        """Return the model of the defaults; see whether positions can be computed in memory.

        Raises:
            RefusedError: the reference does not build it.
        """
        starts = [self.inner_types]
        starts += [{**STARTS[name], **self.inner_types} for name in [self.config_class.model_type] if name in STARTS]
        for self.start, self.arange in product(starts, (_arange_in_memory, _arange)):
            self.cache.clear()
            with contextlib.suppress(RefusedError):
                return self.build(self.start)
        return self.build(starts[0])

    def properties(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the keys of backbones that are properties, with the domain of their default.

        Every configuration has them, and no field declares them. A backbone that is given in part may have another default.
        """
        config = self.config_class(**self.arguments(self.start))
        for owner, prefix in owners_by_class(config):
            keys = [key for key in PROPERTIES if hasattr(owner, key)]
            beside = {f"{prefix}model_type": owner.model_type} if prefix else {}
            saved = [self._saved(one, prefix) for one in (self.start, {**self.start, **beside}) if keys]
            for key in keys:
                value, alone = (frozen_value(one.get(key)) for one in saved)
                yield prefix + key, {"words": [value], **({"unused": True} if value == alone else {"absent": value})}

    def inner(self) -> dict[str, Value]:
        """Return what the default has inside, for inner configurations that the reference does not complete without their type.

        From now on each of them is given with its type. Beside it stand the values that the default gives it, and its class does not.
        """
        config = self.config_class(**self.arguments(self.start))
        given: dict[str, Value] = {}
        for owner, prefix in owners_by_class(config):
            saved = self._saved(self.start, prefix) if prefix else {}
            key = next((key for key, value in saved.items() if isinstance(value, int)), None)
            if key is None:
                continue
            try:
                self.resolved({**self.start, prefix + key: saved[key]})
            except RefusedError:
                plain = owner().to_dict()
                told = {prefix + one: frozen_value(value) for one, value in saved.items() if one == "model_type" or plain.get(one) != value}
                with contextlib.suppress(RefusedError):
                    plain_tensors = self.build(self.start).tensors
                    whole = self.resolved({**self.start, **given, **told})
                    for one in [one for one, value in told.items() if isinstance(value, tuple)]:  # a list that follows from the other keys
                        rest = {other: value for other, value in told.items() if other != one}
                        with contextlib.suppress(RefusedError):
                            same = self.resolved({**self.start, **given, **rest}) == whole
                            if same and self.aside({**self.start, **given, **rest}) == plain_tensors:
                                told = rest
                    if self.aside({**self.start, **given, **told}) == plain_tensors:
                        given |= told
                        self.named[prefix] = owner.model_type
        self.configs.clear()
        return given

    def whole(self, seen: Seen) -> dict[str, Value]:
        """Return the values of a model as its saved configuration has them, those behind the properties of backbones included."""
        found = {**seen.values, **{key: value for key, value in seen.point.items() if key not in seen.values}}
        for _, prefix in owners_by_class(self.config_class(**self.arguments(seen.point))):
            saved = self._saved(seen.point, prefix) if prefix else {}
            found |= {prefix + key: frozen_value(saved[key]) for key in PROPERTIES if key in saved}
        return found

    def settings_of_layers(self, points: Sequence[Mapping[str, Value]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the keys of settings for single layers, with their domain, if all configurations save those of the layers of one kind."""
        config = self.config_class(**self.arguments(self.start))
        for _, prefix in owners_by_class(config):
            saved = self._saved(self.start, prefix)
            settings = list((saved.get(LAYERS) or {}).values())
            for key, kinds in saved.items() if settings and all(one == settings[0] for one in settings) else ():
                if isinstance(kinds, list) and all(isinstance(one, str) for one in kinds):
                    word = kinds[int(next(iter(saved[LAYERS])))]
                    rule = ["each", prefix + key, word, frozen_value(settings[0])]
                    taken = [one for one in _taken(config) if one.startswith(prefix)]
                    plain = [one for one in points if not one.keys() & set(taken)]
                    if all(self._saves(one, prefix, rule) for one in [self.start, *plain]):
                        without = {"without": taken} if taken else {}
                        yield prefix + LAYERS, {"missing": rule, "derived": True, "unused": True, **without}
                        break

    def _saves(self, point: Mapping[str, Value], prefix: str, rule: Any) -> bool:
        saved = frozen_value(self._saved(point, prefix).get(LAYERS))
        return saved in {None, ("{}",), default(rule, self.resolved(point))}

    def saved(self, point: Mapping[str, Value], key: str) -> Value:
        """Return the value of a key in what a configuration writes of itself."""
        prefix, _, last = key.rpartition(".")
        return frozen_value(self._saved(point, f"{prefix}." if prefix else "").get(last))

    def _saved(self, point: Mapping[str, Value], prefix: str) -> dict[str, Any]:
        """Return what a configuration writes of itself, or of the one inside it that a prefix names."""
        found: dict[str, Any] = self.config_class(**self.arguments(point)).to_dict()
        for step in prefix.split(".")[:-1]:
            found = found[step]
        return found

    def indifferent(self, key: str) -> bool:
        """Whether other stages of a backbone as its output change no tensor; False if the reference builds fewer than two of them."""
        prefix = key.rpartition(".")[0] + "." if "." in key else ""
        given = {**self.start, **({f"{prefix}model_type": self._saved(self.start, prefix)["model_type"]} if prefix else {})}
        tensors = []
        for stages in ((0,), (1,), (0, 2), (1, 3), (2,)):
            with contextlib.suppress(RefusedError):
                tensors.append(self.aside({**given, f"{prefix}out_indices": stages}))
        return len(tensors) > 1 and all(one == self.build(self.start).tensors for one in tensors)

    def arguments(self, point: Mapping[str, Value]) -> dict[str, Any]:
        """Return nested keyword arguments for flat keys."""
        made = nested({key: _thawed(value) for key, value in point.items()})
        for prefix, model_type in self.named.items():
            inner = made
            for step in prefix.split(".")[:-1]:
                inner = inner.get(step) or {}
            if inner:
                inner.setdefault("model_type", model_type)
        return made

    def configuration(self, model_type: str, point: Mapping[str, Value]) -> dict[str, Any]:
        """Return a configuration as the library reads it."""
        return {"model_type": model_type, **self.arguments(point)}

    def build(self, point: Mapping[str, Value]) -> Seen:
        """Return the model of some values; the others keep their defaults.

        Raises:
            RefusedError: values that the reference refuses.
        """
        key = _key_of(point)
        found = self.cache.get(key)
        if found is None:
            self.built += 1
            try:
                found = self._built(point)
            except (KeyboardInterrupt, TimeoutError):
                raise
            except BaseException as error:  # noqa: BLE001 - somebody else's code may raise anything
                found = f"{type(error).__name__}: {str(error)[:160]}"
            self.cache[key] = found
        if isinstance(found, str):
            raise RefusedError(found)
        return found

    def aside(self, point: Mapping[str, Value]) -> Mapping[str, Any]:
        """Return the tensors of some values that are no sample, such as other output stages of a backbone, which no key of a record says.

        Raises:
            RefusedError: values that the reference refuses.
        """
        key = _key_of(point)
        known = key in self.cache
        try:
            return self.build(point).tensors
        finally:
            if not known:
                self.cache.pop(key, None)

    def resolved(self, point: Mapping[str, Value]) -> dict[str, Value]:
        """Return what a configuration resolves to.

        Raises:
            RefusedError: values that the reference refuses.
        """
        key = repr(sorted(point.items(), key=lambda item: item[0]))  # 1, 1.0 and True are the same key of a mapping
        found = self.configs.get(key)
        if found is None:
            try:
                found = _values(self.config_class(**self.arguments(point)), point)
            except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
                found = str(error)[:160]
            self.configs[key] = found
        if isinstance(found, str):
            raise RefusedError(found)
        return found

    def _built(self, point: Mapping[str, Value]) -> Seen:
        config = self.config_class(**self.arguments(point))
        values = _values(config, point)
        owners = dict(_owners(config))
        by_class: dict[type, set[str]] = {}
        for owner, prefix in owners_by_class(config):
            by_class.setdefault(owner, set()).add(prefix)
        torch.arange = self.arange
        try:
            with _reads_logged() as log, torch.device("meta"):
                model = self.model_class(config)
        finally:
            torch.arange = _arange
        read = set(_taken(config))
        for owner, keys in log.values():
            # Some models copy a configuration, or make one of a class under it, and read that: its reads count for every one of the class.
            # Others put it into another class: these reads count for the configuration that has most of the keys.
            same = next((by_class[one] for one in type(owner).__mro__ if one in by_class), set())
            prefixes = {owners[id(owner)]} if id(owner) in owners else same
            aliases = _plain(owner, "attribute_map")
            own = {aliases.get(key, key) for key in keys}
            prefixes = prefixes or {max(owners.values(), key=lambda prefix: len({prefix + key for key in own} & values.keys()))}
            read |= {prefix + key for prefix in prefixes for key in own}
        return Seen(dict(point), values, frozenset(read), stored(model))


def _taken(config: PreTrainedConfig) -> dict[str, Value]:
    """Return the keys that a configuration does not keep, with the meaning of a missing one."""
    owners = owners_by_class(config)
    return {prefix + key: value for owner, prefix in owners for key, value in TAKEN.get(owner.model_type, {}).items()}


def _key_of(point: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(point.items(), key=lambda item: item[0]))


def _values(config: PreTrainedConfig, point: Mapping[str, Value]) -> dict[str, Value]:
    values = {**dict(flat(config)), **{key: point.get(key, value) for key, value in _taken(config).items()}}
    labels = getattr(config, "num_labels", None)
    return values if labels is None else {**values, "num_labels": labels}


def _owners(config: PreTrainedConfig, prefix: str = "") -> Iterator[tuple[int, str]]:
    yield id(config), prefix
    for key, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            yield from _owners(value, f"{prefix}{key}.")


def owners_by_class(config: PreTrainedConfig, prefix: str = "") -> Iterator[tuple[type, str]]:
    yield type(config), prefix
    for key, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            yield from owners_by_class(value, f"{prefix}{key}.")


def flat(config: Any, prefix: str = "") -> Iterator[tuple[str, Value]]:
    """Yield what a configuration resolved to, flat, those of configurations inside after their own key."""
    for key, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            yield f"{prefix}{key}.model_type", value.model_type
            yield from flat(value, f"{prefix}{key}.")
        elif key[0] != "_":
            yield prefix + key, frozen_value(value)


def unresolved(config_class: type[PreTrainedConfig], start: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    """Yield keys that only the saved form has, with their defaults: those inside others, numbers or null after an underscore."""
    config = config_class(**start)
    resolved = dict(flat(config))

    def inside(saved: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Value]]:
        for key, value in saved.items():
            if isinstance(value, dict) and "model_type" in value:
                yield from inside(value, f"{prefix}{key}.")
            elif (
                prefix and key not in PROPERTIES and (key[0] == "_" or prefix + key not in resolved) and not isinstance(value, dict | float)
            ):
                yield prefix + key, frozen_value(value)
            elif not prefix and key[0] == "_" and (value is None or type(value) is int):
                yield key, value

    yield from inside(config.to_dict(), "")


def _thawed(value: Value) -> Any:
    if isinstance(value, tuple):
        if value and value[0] == "{}":
            return {key: _thawed(inner) for key, inner in value[1:]}  # type: ignore[misc, union-attr]
        return [_thawed(inner) for inner in value]
    return float(value) if value in {"Infinity", "-Infinity", "NaN"} else copy.copy(value)
