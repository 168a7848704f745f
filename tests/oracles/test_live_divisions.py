"""transformers itself against the atlas where the heads do not divide the width: the record refuses what the reference refuses."""

from __future__ import annotations

from typing import Any

import pytest
from amount import sample
from frameworks import imported

import paramsym as ps
from paramsym.errors import ConfigError, DivisibilityError

torch = imported("torch")
transformers = imported("transformers")

HEADS = {
    "led": "encoder_attention_heads",
    "gpt_neox_japanese": "num_attention_heads",
    "vit_msn": "num_attention_heads",
    "ctrl": "n_head",
    "deberta": "num_attention_heads",
    "yolos": "num_attention_heads",
    "roformer": "num_attention_heads",
    "longformer": "num_attention_heads",
    "markuplm": "num_attention_heads",
    "layoutlm": "num_attention_heads",
    "megatron-bert": "num_attention_heads",
    "m2m_100": "encoder_attention_heads",
    "nystromformer": "num_attention_heads",
    "openai-gpt": "n_head",
    "luke": "num_attention_heads",
    "lilt": "num_attention_heads",
    "lasr_encoder": "num_attention_heads",
    "splinter": "num_attention_heads",
    "squeezebert": "num_attention_heads",
    "visual_bert": "num_attention_heads",
}
"""The key for heads of types whose axes are divided into heads."""


def reference(model_type: str, config: dict[str, Any]) -> Any:
    """Build the reference's base model on the meta device; None if it refuses."""
    try:
        with torch.device("meta"):
            return transformers.AutoModel.from_config(transformers.AutoConfig.for_model(model_type, **config))
    except Exception:  # noqa: BLE001 - whatever the reference raises, it does not build this
        return None


@pytest.mark.parametrize("model_type", sample(4, HEADS))
def test_the_record_refuses_where_the_reference_does(model_type: str) -> None:
    """Its letters ask for an exact quotient; numbers have what the reference builds, or are refused as there."""
    key = HEADS[model_type]
    name = type(reference(model_type, {})).__name__
    for heads in (1, 2, 5, 7):
        theirs = reference(model_type, {key: heads})
        try:
            ours = ps.from_config({"model_type": model_type, key: heads}, architecture=name)
        except ConfigError:
            assert theirs is None
            continue
        assert theirs is not None
        assert list(ours.shapes().items()) == [(name, tuple(one.shape)) for name, one in theirs.named_parameters()]
    letters = ps.from_config({"model_type": model_type}, architecture=name)
    with pytest.raises(DivisibilityError):
        letters.at({letter_of(letters, key): 7})


def letter_of(model: Any, key: str) -> Any:
    """Return the letter of a key."""
    return next(letter for letter in model.origin[1] if model.argument_of(letter) == key)
