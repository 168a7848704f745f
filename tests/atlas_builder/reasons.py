"""Why a class has no record, in plain words: what the reference raises says it to those who know its code only."""

from __future__ import annotations

import re

_OTHER_TYPE = re.compile(r"^the defaults are not built: AttributeError: '(\w+)' object has no attribute '(\w+)'")
_PACKAGE = re.compile(r"requires the (\w+) library")
_NOT_BUILT = re.compile(r"^the defaults are not built: (?:\w+: )?(.*)$", re.DOTALL)
_WRONG = re.compile(r"^(\d+) of (\d+) configurations come out wrong")
_TIME = re.compile(r"^not derived in (\d+) seconds$")

KNOWN = {
    ("gemma4_unified_assistant", "Gemma4UnifiedAssistantForCausalLM"): "transformers does not build its default, all of whose layers share "
    "the keys and values of another model",
    (
        "gemma4_assistant",
        "Gemma4AssistantForCausalLM",
    ): "transformers does not build its default, whose text_config has inputs for each layer",
    ("higgs_audio_v2_tokenizer", "HiggsAudioV2TokenizerModel"): "its module needs the package torchaudio; no laws have been sought yet",
    ("perception_lm", ""): "transformers does not build its default, which names no network of timm",
    ("qwen3_omni_moe", "Qwen3OmniMoeForConditionalGeneration"): "transformers does not build its default: its talker has no "
    "shared_expert_intermediate_size",
    ("sapiens2", ""): "its head has no default sizes, and of Sapiens2Model only the default is recorded",
    ("timm_backbone", "TimmBackbone"): "it has no default network; give the configuration of a network of timm",
    ("timm_wrapper", ""): "it has no default network; give the architecture of a network of timm",
    ("gemma3n_vision", "TimmWrapperModel"): "it has no default network; give the architecture of a network of timm",
}
"""By the type and the class; an empty name stands for all other classes of the type."""


def plain(model_type: str, name: str, why: str) -> str:
    """Return a reason in plain words.

    >>> plain("x", "Y", "not derived in 30 seconds"), plain("x", "Y", "no law for w")
    ('no laws were found in 30 seconds of search', 'no law for w')
    """
    known = KNOWN.get((model_type, name), KNOWN.get((model_type, "")))
    if known is not None:
        return known
    if found := _OTHER_TYPE.match(why):
        config, key = found.groups()
        return (
            f"transformers does not build it from this type: its configuration ({config}) has no {key!r}; the class belongs to another type"
        )
    if found := _PACKAGE.search(why):
        return f"transformers builds it with the package {found.group(1)} only, which holds some of its tensors"
    if found := _WRONG.match(why):
        return f"its laws were wrong for {found.group(1)} of {found.group(2)} configurations"
    if found := _TIME.match(why):
        return f"no laws were found in {found.group(1)} seconds of search"
    if found := _NOT_BUILT.match(why):
        return f"transformers does not build its default: {' '.join(found.group(1).split())}"
    return why
