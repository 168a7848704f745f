"""How a family reads a ``config.json``: which key becomes which argument, which letter, and which keys change no tensor.

A family file declares one frozen ``Family`` per ``model_type``. Every key of a configuration is handled (``keys``), ignored by name with
the reason (``ignored``, and ``COMMON`` for what all configurations share), ignored at its usual values only (``usual``), or unknown, which
is never passed over in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, Protocol, TypeAlias

from sympy import Symbol

from paramsym.errors import ConfigError, ParamsymError
from paramsym.layer import Layer
from paramsym.symbols import dims

LARGEST = 2**63 - 1
"""No tensor of any framework has a longer axis."""
Sizes: TypeAlias = "dict[Symbol, int]"


class Key(Protocol):
    """How one configuration key is read."""

    @property
    def only(self) -> tuple[str, ...]:
        """The architectures whose tensors depend on the key; empty for all."""
        ...

    def read(self, value: Any, where: str, sizes: Sizes) -> Any:
        """Check a value, put its sizes in, and return the constructor's argument.

        Raises:
            ConfigError: a value that the key cannot have.
        """
        ...

    def missing(self, sizes: Sizes) -> Any:
        """Return the argument where the configuration does not have the key: the reference's default."""
        ...


@dataclass(frozen=True)
class Size:
    """A key that holds a size: the letter it becomes, and the reference's default. Where the default is None, null is allowed."""

    letter: Symbol
    default: int | None
    least: int = 1
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> Symbol | None:
        """Return the letter."""
        if value is None and self.default is None:
            return None
        sizes[self.letter] = whole(value, where, self.least)
        return self.letter

    def missing(self, sizes: Sizes) -> Symbol | None:
        """Return the letter with the default for its size."""
        return self.read(self.default, "the default", sizes)


@dataclass(frozen=True)
class Pair:
    """A key that holds one size for both directions, or a list of two: height, then width."""

    letter: Symbol
    letters: tuple[Symbol, Symbol]
    default: int
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> Symbol | tuple[Symbol, Symbol]:
        """Return the letter, or the two letters."""
        if not isinstance(value, list | tuple):
            sizes[self.letter] = whole(value, where, 1)
            return self.letter
        if len(value) != 2:
            message = f"{where} has {len(value)} entries; wanted a whole number or two of them, height and width."
            raise ConfigError(message)
        for position, (letter, entry) in enumerate(zip(self.letters, value, strict=True)):
            sizes[letter] = whole(entry, f"{where}[{position}]", 1)
        return self.letters

    def missing(self, sizes: Sizes) -> Symbol | tuple[Symbol, Symbol]:
        """Return the letter with the default for its size."""
        return self.read(self.default, "the default", sizes)


@dataclass(frozen=True)
class Flag:
    """A key that is true or false; the default is None where the reference works out what holds without the key."""

    default: bool | None
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> bool:
        """Return the flag."""
        del sizes
        if not isinstance(value, bool):
            message = f"{where} is {shown(value)}; wanted true or false."
            raise ConfigError(message)
        return value

    def missing(self, sizes: Sizes) -> bool | None:
        """Return the default."""
        del sizes
        return self.default


@dataclass(frozen=True)
class Word:
    """A key that holds a word, such as an activation's name; the model's constructor knows which words there are."""

    default: str | None
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> str | None:
        """Return the word."""
        del sizes
        if not isinstance(value, str) and not (value is None and self.default is None):
            message = f"{where} is {shown(value)}; wanted a string."
            raise ConfigError(message)
        return value

    def missing(self, sizes: Sizes) -> str | None:
        """Return the default."""
        del sizes
        return self.default


@dataclass(frozen=True)
class Limit:
    """A key that holds a size, or zero or less (-1, usually) where there is none."""

    letter: Symbol
    default: int = -1
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> Symbol | None:
        """Return the letter, or None."""
        if isinstance(value, int) and not isinstance(value, bool) and -LARGEST <= value <= 0:
            return None
        sizes[self.letter] = whole(value, where, 1)
        return self.letter

    def missing(self, sizes: Sizes) -> Symbol | None:
        """Return the letter with the default for its size, or None."""
        return self.read(self.default, "the default", sizes)


@dataclass(frozen=True)
class Words:
    """A key that holds a list of words, or one string of them with bars between."""

    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> tuple[str, ...]:
        """Return the words."""
        del sizes
        if value is None:
            return ()
        if isinstance(value, str):
            return tuple(word.strip() for word in value.lower().split("|"))
        if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
            message = f"{where} is {shown(value)}; wanted a list of strings."
            raise ConfigError(message)
        return tuple(value)

    def missing(self, sizes: Sizes) -> tuple[str, ...]:
        """Return no words."""
        del sizes
        return ()


@dataclass(frozen=True)
class Several:
    """A key that holds a list of sizes, one letter each, numbered from 1: ``C_1``, ``C_2``, ..."""

    letter: str
    default: tuple[int, ...]
    least: int = 1
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> tuple[Symbol, ...]:
        """Return the letters."""
        if not isinstance(value, list | tuple) or not 0 < len(value) <= 64:
            message = f"{where} is {shown(value)}; wanted a list of 1 to 64 whole numbers."
            raise ConfigError(message)
        letters = numbered(self.letter, len(value))
        for position, (letter, entry) in enumerate(zip(letters, value, strict=True)):
            sizes[letter] = whole(entry, f"{where}[{position}]", self.least)
        return letters

    def missing(self, sizes: Sizes) -> tuple[Symbol, ...]:
        """Return the letters with the defaults for their sizes."""
        return self.read(self.default, "the default", sizes)


@dataclass(frozen=True)
class Listed:
    """A key that holds a list of numbers or of words that are no sizes, such as the stages that a backbone hands on; or null."""

    of: type[int | str]
    default: tuple[Any, ...] | None = None
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> tuple[Any, ...] | None:
        """Return what is listed."""
        del sizes
        if value is None:
            return self.default
        if not isinstance(value, list | tuple) or len(value) > 1000 or not all(type(one) is self.of for one in value):
            message = f"{where} is {shown(value)}; wanted a list of {'whole numbers' if self.of is int else 'words'}."
            raise ConfigError(message)
        return tuple(value)

    def missing(self, sizes: Sizes) -> tuple[Any, ...] | None:
        """Return the default."""
        del sizes
        return self.default


def numbered(letter: str, count: int) -> tuple[Symbol, ...]:
    """Return a letter with the numbers from 1 on.

    >>> numbered("C", 2)
    (C_1, C_2)
    """
    letters: tuple[Symbol, ...] = dims(" ".join(f"{letter}_{number}" for number in range(1, count + 1)) + ",")
    return letters


@dataclass(frozen=True)
class Number:
    """A key that holds a number that is no size: a rate, or a start value that decides whether there is anything to start."""

    default: float
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> float:
        """Return the number; a whole one of absurd length is none."""
        del sizes
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
            message = f"{where} is {shown(value)}; wanted a number."
            raise ConfigError(message)
        return float(value)

    def missing(self, sizes: Sizes) -> float:
        """Return the default."""
        del sizes
        return self.default


@dataclass(frozen=True)
class Family:
    """One ``model_type``: its model class, the reference classes it can be, and what each configuration key does.

    ``architectures`` begins with the base class. ``labelled`` are those whose head has ``num_labels`` outputs. ``aliases`` are other
    spellings of keys, as in the reference's ``attribute_map``. ``arrange`` may change the arguments where structure depends on sizes.
    ``labels`` is how many outputs a configuration without labels means. ``former`` are names that earlier releases, or the authors' own
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
        """Yield the keys of a configuration that are not known, those of a configuration inside it after its own name."""
        for key, value in config.items():
            if key not in CENTRAL and not self.knows(key, value):
                yield key
            nested = self.inside.get(key)
            if nested is not None and isinstance(value, Mapping):
                yield from (f"{key}.{inner}" for inner in nested.reader.unknown(value))

    def given(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the configuration in the family's own spelling of its keys."""
        given = dict(config)
        # As in the reference, an alias is set last and wins, and what a default is taken from is read before that.
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
        """Say whether a key is handled, or known to change no tensor at this value."""
        if key in self.keys or key in self.aliases or key in self.inside or key in CENTRAL:
            return True
        # What the family itself says of a key goes before what holds for all families.
        for usual, ignored in ((self.usual, self._unread), (USUAL, _unread_by_all())):
            if key in usual:
                return any(value is one or (type(value) is type(one) and value == one) for one in usual[key])
            if key in ignored:
                return True
        return False

    @cached_property
    def _unread(self) -> frozenset[str]:
        return _words(self.ignored)


@dataclass(frozen=True)
class Nested:
    """A key that holds a configuration of its own, and becomes a model inside the model. ``reader`` has letters of its own.

    ``overruled_by`` is a second key for it, which goes before the first where it is there.
    """

    reader: Family
    only: tuple[str, ...] = ()
    overruled_by: str = ""

    def read(self, value: Any, where: str, sizes: Sizes) -> Layer:
        """Return the model inside; null is a configuration that has no keys.

        Raises:
            ConfigError: no object, or a value in it that its key cannot have.
        """
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            message = f"{where} is {shown(value)}; wanted an object of keys."
            raise ConfigError(message)
        given = self.reader.given(value)
        arguments: dict[str, Any] = {}
        for name, key in self.reader.keys.items():
            arguments[name] = key.read(given[name], f"{where}.{name}", sizes) if name in given else key.missing(sizes)
        if self.reader.arrange is not None:
            self.reader.arrange(arguments, sizes)
        try:
            return in_letters(self.reader.model, arguments)
        except ParamsymError as error:
            message = f"{where} cannot be built. {error}"
            raise ConfigError(message) from None

    def missing(self, sizes: Sizes) -> Layer:
        """Return the model of the reference's defaults."""
        return self.read({}, "the default", sizes)


def in_letters(model: Callable[..., Layer], arguments: Mapping[str, Any]) -> Layer:
    """Return a model built in letters: configurations with the same flags share it, whatever their sizes."""
    return _built(model, tuple(arguments.items()))


@lru_cache(maxsize=64)
def _built(model: Callable[..., Layer], arguments: tuple[tuple[str, Any], ...]) -> Layer:
    return model(**dict(arguments))


CENTRAL = frozenset({"model_type", "architectures", "num_labels", "id2label", "label2id"})
"""Keys that mean the same in every family and are read in one place."""

COMMON: Mapping[str, str] = {
    "says who wrote the file": "transformers_version _name_or_path name_or_path _commit_hash auto_map finetuning_task tokenizer_class",
    "says how numbers are stored, not how many": "dtype torch_dtype use_bfloat16",
    "chooses what a call returns": "return_dict use_return_dict output_hidden_states output_attentions output_past tie_last_hidden_states",
    "chooses how a call is computed": (
        "chunk_size_feed_forward attn_implementation _attn_implementation _attn_implementation_autoset _attn_implementation_internal"
        " experts_implementation _experts_implementation_internal use_cache torchscript gradient_checkpointing tf_legacy_loss"
    ),
    "chooses a loss": "problem_type",
    "held num_labels in old files, and no class reads it any more": "_num_labels",
    "seeds the weights, not their shapes": "initializer_range initializer_factor",
    "names a token": (
        "bos_token_id eos_token_id pad_token_id sep_token_id cls_token_id mask_token_id unk_token_id decoder_start_token_id prefix"
    ),
    "steers generation": (
        "max_length min_length do_sample early_stopping num_beams temperature top_k top_p typical_p repetition_penalty length_penalty"
        " no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences output_scores return_dict_in_generate"
        " forced_bos_token_id forced_eos_token_id remove_invalid_values exponential_decay_length_penalty suppress_tokens"
        " begin_suppress_tokens epsilon_cutoff eta_cutoff encoder_repetition_penalty num_assistant_tokens num_assistant_tokens_schedule"
        " assistant_confidence_threshold assistant_lookbehind target_lookbehind num_beam_groups diversity_penalty task_specific_params"
    ),
}
"""Keys of every transformers configuration that change no tensor, by reason."""


def _words(reasons: Mapping[str, str]) -> frozenset[str]:
    return frozenset(word for names in reasons.values() for word in names.split())


@cache
def _unread_by_all() -> frozenset[str]:
    return _words(COMMON)


USUAL: Mapping[str, tuple[Any, ...]] = {
    "is_encoder_decoder": (False,),
    "is_decoder": (False,),
    "add_cross_attention": (False,),
    "cross_attention_hidden_size": (None,),
    "tie_encoder_decoder": (False,),
    "pruned_heads": ({}, None),
    "per_layer_config": ({}, None),
}
"""Keys that change no tensor at these values; at others they could, and a family that reads them lists them among its keys."""


def whole(value: Any, where: str, least: int) -> int:
    """Return a whole number from ``least`` to the longest axis there is.

    Raises:
        ConfigError: anything else; a float, a bool or a string is not rounded or read, however whole it looks.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        wanted = "a positive whole number" if least else "a whole number, zero or more"
        limit = " below 2**63" if isinstance(value, int) and value > LARGEST else ""
        message = f"{where} is {shown(value)}; wanted {wanted}{limit}."
        raise ConfigError(message)
    return value


def shown(value: object, limit: int = 80) -> str:
    """Write a stranger's value for a message: short whatever it holds, with its type."""
    if isinstance(value, int) and abs(value) > 10**limit:
        return f"an int of about {value.bit_length() * 3 // 10} digits"
    if isinstance(value, list | tuple | dict | set) and len(value) > 8:
        return f"a {type(value).__name__} of {len(value)} entries"
    try:
        words = repr(value)
    except (RecursionError, ValueError):
        return f"a {type(value).__name__}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    words = words if len(words) <= limit else words[: limit - 3] + "..."
    return f"{words} ({type(value).__name__})"
