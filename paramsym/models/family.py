"""Reading of a ``config.json`` by a family: the argument and letter of each key, and the keys that change no tensor.

A family file declares one frozen ``Family`` per ``model_type``. Every key of a configuration is handled (``keys``), ignored by name with
the reason (``ignored``, and ``common.py`` for what all configurations share), ignored only at its usual values (``usual``), or unknown,
which is always reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any

from paramsym.atlas.common_keys import CENTRAL, COMMON, USUAL
from paramsym.atlas.values import refused
from paramsym.core.layer import Layer
from paramsym.errors import ConfigError, ParamsymError
from paramsym.models.key_kinds import Key, Size, Sizes


@dataclass(frozen=True)
class Family:
    """One ``model_type``: its model class, its reference classes, and the effect of each configuration key.

    ``architectures`` begins with the base class. ``labelled`` are those whose head has ``num_labels`` outputs. ``aliases`` are other
    spellings of keys, as in the reference's ``attribute_map``. ``arrange`` may change the arguments if the structure depends on sizes.
    ``labels`` is the number of outputs of a configuration without labels. ``former`` are names that earlier releases, or the authors' own
    code, gave to classes with the same tensors. ``follows`` are keys whose default is the value of another key.
    """

    model_type: str
    model: type[Layer]
    architectures: tuple[str, ...]
    keys: Mapping[str, Key]
    labelled: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    ignored: Mapping[str, str] = field(default_factory=dict[str, str])
    usual: Mapping[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    arrange: Callable[[dict[str, Any], Sizes], None] | None = None
    labels: int = 2
    former: Mapping[str, str] = field(default_factory=dict[str, str])
    follows: Mapping[str, str] = field(default_factory=dict[str, str])

    def unknown(self, config: Mapping[str, Any]) -> Iterator[str]:
        """Yield the unknown keys of a configuration; those of an inner configuration have its key in front."""
        for key, value in config.items():
            if not self.knows(key, value):
                yield key
            if (nested := self.inside.get(key)) is not None and isinstance(value, Mapping):
                yield from (f"{key}.{inner}" for inner in nested.reader.unknown(value))

    def given(self, config: Mapping[str, Any]) -> dict[str, Any]:
        given = dict(config)
        # As in the reference, an alias is set last and takes precedence, and defaults from other keys are read before that.
        overruled = {name for alias, name in self.aliases.items() if alias in given}
        for name, source in self.follows.items():
            key = self.keys[source]
            if source in overruled and given.get(name) is None and isinstance(key, Size):
                given[name] = given.get(source, key.default)
        for alias, name in self.aliases.items():
            if alias in given:
                given[name] = given[alias]
        for name, key in self.keys.items():
            if isinstance(key, Nested) and given.get(key.overruled_by) is not None:
                given[name] = given[key.overruled_by]
        return given

    @cached_property
    def inside(self) -> dict[str, Nested]:
        """The keys that hold configurations, under every name they have."""
        found = {name: key for name, key in self.keys.items() if isinstance(key, Nested)}
        return found | {key.overruled_by: key for key in found.values() if key.overruled_by}

    def knows(self, key: str, value: Any) -> bool:
        """Whether a key is handled, or known to change no tensor at this value."""
        if key in self.keys or key in self.aliases or key in self.inside or key in CENTRAL:
            return True
        # The family's own statement about a key takes precedence over the common one.
        for usual, ignored in ((self.usual, self._unread), (USUAL, _unread_by_all())):
            if key in usual:
                return any(value is one or (type(value) is type(one) and value == one) for one in usual[key])
            if key in ignored:
                return True
        return False

    @cached_property
    def _unread(self) -> frozenset[str]:
        return _words(self.ignored)


class Nested(Key):
    """A key that holds a separate configuration, and becomes an inner model. ``reader`` has its own letters.

    ``overruled_by`` is a second key for it, which takes precedence if present.
    """

    reader: Family
    overruled_by: str = ""

    def unset(self) -> Layer:
        letters = {name: key.letter for name, key in self.reader.keys.items() if isinstance(key, Size) and key.default is not None}
        return in_letters(self.reader.model, letters)

    def read(self, value: Any, where: str, sizes: Sizes, /) -> Layer:
        """Return the model inside; null is a configuration that has no keys.

        Raises:
            ConfigError: a value that is not an object, or an impossible value in it.
        """
        value = {} if value is None else value
        if not isinstance(value, Mapping):
            raise refused(value, where, "an object of keys")
        given = self.reader.given(value)
        arguments = {
            name: key.read(given[name], f"{where}.{name}", sizes) if name in given else key.missing(sizes)
            for name, key in self.reader.keys.items()
        }
        if self.reader.arrange is not None:
            self.reader.arrange(arguments, sizes)
        try:
            return in_letters(self.reader.model, arguments)
        except ParamsymError as error:
            raise ConfigError(f"{where} cannot be built. {error}") from None


def in_letters(model: Callable[..., Layer], arguments: Mapping[str, Any]) -> Layer:
    """Return a model built in letters, which configurations with the same flags share."""
    return _built(model, tuple(arguments.items()))


@lru_cache(maxsize=64)
def _built(model: Callable[..., Layer], arguments: tuple[tuple[str, Any], ...]) -> Layer:
    return model(**dict(arguments))


def _words(reasons: Mapping[str, str]) -> frozenset[str]:
    return frozenset(word for names in reasons.values() for word in names.split())


@cache
def _unread_by_all() -> frozenset[str]:
    return _words(COMMON)
