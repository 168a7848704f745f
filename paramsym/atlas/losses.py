"""The loss that the classes of transformers 5.23 compute from their scores of tokens, by the ends of their names."""

from __future__ import annotations

from collections.abc import Mapping

_FLOAT32, _AS_IT_IS = "cross-entropy-float32", "cross-entropy"
TASKS: Mapping[str, str] = {
    "CausalLM": _FLOAT32,
    "MaskedLM": _AS_IT_IS,
    "ConditionalGeneration": _AS_IT_IS,
}
"""The losses by the head's task; names of ``conventions("losses")``."""
_OTHERS: Mapping[str, str] = {
    _AS_IT_IS: (
        "BigBirdPegasusForCausalLM BlenderbotSmallForCausalLM BlenderbotForCausalLM MvpForCausalLM PLBartForCausalLM TrOCRForCausalLM"
        " XLNetLMHeadModel"
    ),
    _FLOAT32: (
        "EuroBertForMaskedLM ModernBertForMaskedLM CTRLLMHeadModel GPT2LMHeadModel OpenAIGPTLMHeadModel Gemma3ForConditionalGeneration"
        " GotOcr2ForConditionalGeneration Idefics3ForConditionalGeneration Llama4ForConditionalGeneration LlavaForConditionalGeneration"
        " Mistral3ForConditionalGeneration PaliGemmaForConditionalGeneration Qwen2_5_VLForConditionalGeneration"
        " Qwen2VLForConditionalGeneration Qwen3VLForConditionalGeneration"
    ),
}
_OF_CLASS = {name: loss for loss, names in _OTHERS.items() for name in names.split()}


def usual_loss(architecture: str) -> str:
    """Return the loss of a class; "none" without scores of tokens.

    >>> usual_loss("GlmForCausalLM"), usual_loss("TrOCRForCausalLM"), usual_loss("GlmModel")
    ('cross-entropy-float32', 'cross-entropy', 'none')
    >>> usual_loss("RoFormerForMaskedLM")
    'cross-entropy'
    """
    return _OF_CLASS.get(architecture) or TASKS.get(architecture.rpartition("For")[2], "none")
