"""Reading of a ``config.json`` by a family: the argument and letter of each key, and the keys that change no tensor.

A family file declares one frozen ``Family`` per ``model_type``. Every key of a configuration is handled (``keys``), ignored by name with
the reason (``ignored``, and ``COMMON`` for what all configurations share), ignored only at its usual values (``usual``), or unknown, which
is always reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any

from paramsym.core.layer import Layer
from paramsym.errors import ConfigError, ParamsymError
from paramsym.models.keys import Key, Size, Sizes, refused, shown, whole


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
"""Keys that change no tensor at these values; at other values they could, and a family that reads them lists them among its keys."""


def labels_of(config: Mapping[str, Any]) -> int | None:
    """Return the number of labels: ``num_labels``, else how many ``id2label`` names; None if a configuration has neither.

    Raises:
        ConfigError: an impossible number of labels, or names that are not an object from numbers to labels.

    >>> labels_of({"id2label": {"0": "no", "1": "yes"}}), labels_of({})
    (2, None)
    """
    if config.get("num_labels") is not None:
        return whole(config["num_labels"], "num_labels", 0)
    names = config.get("id2label")
    if names is None:
        return None
    if not isinstance(names, Mapping):
        raise refused(names, "id2label", "an object from numbers to labels")
    return len({_label_number(number) for number in names})


def _label_number(key: object) -> int:
    """Read a key of ``id2label``: JSON has string keys only, so the reference reads numbers back from strings."""
    try:
        if isinstance(key, int | str):
            return int(key)
    except ValueError:
        pass
    raise ConfigError(f"id2label has the key {shown(key)}; wanted whole numbers.")
