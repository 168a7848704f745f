"""The reference's model classes as black boxes: configuration values in, names and shapes out, and which keys were read on the way.

Models are built on the meta device, so nothing is allocated. A key that a class never reads while it is built cannot change a tensor; the
reads are therefore written down, also those of keys that the configuration does not declare.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import logging
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import torch
import transformers
from torch.utils._device import _device_constructors
from transformers.configuration_utils import PreTrainedConfig

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


_arange = torch.arange
_FEW = 512
_device_constructors()  # its cached list of constructors then holds torch's own functions, not the replacements below


def _arange_in_memory(*arguments: Any, **named: Any) -> Any:
    """Few numbers are computed in memory: on the meta device each step of their arithmetic costs a millisecond."""
    few = all(isinstance(one, int | float) and abs(one) <= _FEW for one in arguments)
    return _arange(*arguments, **({"device": "cpu"} if few else {}), **named) if "device" not in named else _arange(*arguments, **named)


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


_log: dict[int, tuple[Any, set[str]]] | None = None


def _plain(self: Any, key: str) -> Any:
    """Read a key as configurations do, but without their per-layer overrides, which are never used here: this halves the cost of a read."""
    return object.__getattribute__(self, type(self).attribute_map.get(key, key))


def _reading(self: Any, key: str) -> Any:
    if _log is not None and key[0] != "_":
        _log.setdefault(id(self), (self, set()))[1].add(key)
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

    found: type[PreTrainedConfig] = CONFIG_MAPPING[model_type]
    return found


def class_named(name: str, model_type: str) -> Any:
    """Return a model class by its name; some are exported by their own module only."""
    found = getattr(transformers, name, None)
    if found is None:
        home = config_class_of(model_type).__module__.replace("configuration_", "modeling_")
        found = getattr(importlib.import_module(home), name)
    return found


STARTS: Mapping[str, Mapping[str, Value]] = {
    "autoformer": {"prediction_length": 24},
    "chameleon": {"vocabulary_map": ("{}", ("<image>", 8711))},
    "dbrx": {"attn_config.rope_theta": 10000.0},
    "informer": {"prediction_length": 24},
    "nemotron": {"head_dim": 128, "num_key_value_heads": 8},
    "reformer": {"is_decoder": True},
    "time_series_transformer": {"prediction_length": 24},
    "wav2vec2-bert": {"vocab_size": 32},
}
"""The keys that a configuration must have, because the reference cannot build a model from the defaults alone."""


class Reference:
    """One model class of the reference."""

    def __init__(self, config_class: type[PreTrainedConfig], model_class: type) -> None:
        """Read what the configuration declares."""
        self.config_class, self.model_class = config_class, model_class
        self.start: Mapping[str, Value] = {}
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
        starts: list[Mapping[str, Value]] = [{}]
        starts += [STARTS[name] for name in [self.config_class.model_type] if name in STARTS]
        for self.start, self.arange in product(starts, (_arange_in_memory, _arange)):
            self.cache.clear()
            with contextlib.suppress(RefusedError):
                return self.build(self.start)
        return self.build(starts[0])

    def arguments(self, point: Mapping[str, Value]) -> dict[str, Any]:
        """Return nested keyword arguments for flat keys."""
        made: dict[str, Any] = {}
        for key, value in point.items():
            *above, last = key.split(".")
            inner = made
            for step in above:
                inner = inner.setdefault(step, {})
            inner[last] = _thawed(value)
        return made

    def build(self, point: Mapping[str, Value]) -> Seen:
        """Return the model of some values; the others keep their defaults.

        Raises:
            RefusedError: values that the reference refuses.
        """
        key = tuple(sorted(point.items(), key=lambda item: item[0]))
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

    def resolved(self, point: Mapping[str, Value]) -> dict[str, Value]:
        """Return what a configuration resolves to.

        Raises:
            RefusedError: values that the reference refuses.
        """
        key = repr(sorted(point.items(), key=lambda item: item[0]))  # 1, 1.0 and True are the same key of a mapping
        found = self.configs.get(key)
        if found is None:
            try:
                found = _values(self.config_class(**self.arguments(point)))
            except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
                found = str(error)[:160]
            self.configs[key] = found
        if isinstance(found, str):
            raise RefusedError(found)
        return found

    def _built(self, point: Mapping[str, Value]) -> Seen:
        config = self.config_class(**self.arguments(point))
        values = _values(config)
        owners = dict(_owners(config))
        by_class: dict[type, set[str]] = {}
        for owner, prefix in _owners_by_class(config):
            by_class.setdefault(owner, set()).add(prefix)
        torch.arange = self.arange
        try:
            with _reads_logged() as log, torch.device("meta"):
                model = self.model_class(config)
        finally:
            torch.arange = _arange
        read = set()
        for owner, keys in log.values():
            # Some models copy a configuration and read the copy: its reads count for every one of its class.
            prefixes = {owners[id(owner)]} if id(owner) in owners else by_class.get(type(owner), set())
            aliases = _plain(owner, "attribute_map")
            read |= {prefix + aliases.get(key, key) for prefix in prefixes for key in keys}
        return Seen(dict(point), values, frozenset(read), stored(model))


def _values(config: PreTrainedConfig) -> dict[str, Value]:
    values = dict(flat(config))
    labels = getattr(config, "num_labels", None)
    return values if labels is None else {**values, "num_labels": labels}


def _owners(config: PreTrainedConfig, prefix: str = "") -> Iterator[tuple[int, str]]:
    yield id(config), prefix
    for key, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            yield from _owners(value, f"{prefix}{key}.")


def _owners_by_class(config: PreTrainedConfig, prefix: str = "") -> Iterator[tuple[type, str]]:
    yield type(config), prefix
    for key, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            yield from _owners_by_class(value, f"{prefix}{key}.")


def stored(model: Any) -> dict[str, tuple[str, Any]]:
    """Return every tensor of a model's state dict, and the parameters that are in none of its files."""
    found: dict[str, tuple[str, Any]] = {}
    first: dict[int, str] = {}
    for prefix, module in model.named_modules(remove_duplicate=False):
        dot = f"{prefix}." if prefix else ""
        for name, parameter in module._parameters.items():
            if parameter is None:
                continue
            whole = dot + name
            known = first.setdefault(id(parameter), whole)
            if known != whole:
                found[whole] = ("tie", known)
            else:
                found[whole] = ("parameter" if parameter.requires_grad else "frozen", tuple(parameter.shape))
        for name, buffer in module._buffers.items():
            if buffer is not None and name not in module._non_persistent_buffers_set:
                found[dot + name] = ("buffer", tuple(buffer.shape))
    return found


def flat(config: Any, prefix: str = "") -> Iterator[tuple[str, Value]]:
    """Yield what a configuration resolved to, flat, those of configurations inside after their own key."""
    for key, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            yield f"{prefix}{key}.model_type", value.model_type
            yield from flat(value, f"{prefix}{key}.")
        elif key[0] != "_":
            yield prefix + key, frozen_value(value)


def private(config_class: type[PreTrainedConfig], start: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    """Yield the saved keys of inner configurations that begin with an underscore, with their defaults."""

    def inside(saved: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Value]]:
        for key, value in saved.items():
            if isinstance(value, dict) and "model_type" in value:
                yield from inside(value, f"{prefix}{key}.")
            elif prefix and key[0] == "_" and (value is None or isinstance(value, bool | int | str)):
                yield prefix + key, value

    yield from inside(config_class(**start).to_dict(), "")


def _thawed(value: Value) -> Any:
    if isinstance(value, tuple):
        if value and value[0] == "{}":
            return {key: _thawed(inner) for key, inner in value[1:]}  # type: ignore[misc, union-attr]
        return [_thawed(inner) for inner in value]
    return float(value) if value in {"Infinity", "-Infinity", "NaN"} else copy.copy(value)
