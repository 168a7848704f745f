"""Keys that every configuration of transformers may carry, what they mean for the tensors, and the number of labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramsym.atlas.values import refused, shown, whole
from paramsym.errors import ConfigError

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

LEFT_OVER: Mapping[str, str] = {
    "starcoder2": (
        "activation_function attention_softmax_in_fp32 layer_norm_epsilon mlp_type norm_type scale_attention_softmax_in_fp32"
        " scale_attn_weights"
    ),
}
"""By the model type: keys of published configurations that the reference reads nowhere, so that they need no warning."""
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
