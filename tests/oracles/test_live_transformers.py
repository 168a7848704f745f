"""transformers' own classes, where they are installed: certificates for whole models, and sizes beyond the grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from frameworks import imported, only_with

import paramsym as ps
from paramsym.errors import RefutedError
from paramsym.testing import certify

only_with("torch", "transformers")

Spec = tuple[ps.Layer, str, str, dict[str, str], dict[str, Any]]
"""The layer, the reference's classes of model and configuration, its keys by symbol, and what is fixed."""

_BERT_KEYS = {
    "V": "vocab_size",
    "H": "hidden_size",
    "L": "num_hidden_layers",
    "A": "num_attention_heads",
    "F": "intermediate_size",
    "P": "max_position_embeddings",
    "T": "type_vocab_size",
}
_BERT_FIXED = {"pad_token_id": None, "tie_word_embeddings": True}
_GPT2_KEYS = {"V": "vocab_size", "H": "n_embd", "L": "n_layer", "A": "n_head", "P": "n_positions"}
_GPT2_FIXED = {"bos_token_id": None, "eos_token_id": None}
_VIT_KEYS = {
    "W": "image_size",
    "K": "patch_size",
    "C": "num_channels",
    "H": "hidden_size",
    "L": "num_hidden_layers",
    "A": "num_attention_heads",
    "F": "intermediate_size",
}
MODELS: list[Spec] = [
    (ps.models.Bert(), "BertModel", "BertConfig", _BERT_KEYS, _BERT_FIXED),
    (ps.models.Bert(add_pooling_layer=False), "BertModel", "BertConfig", _BERT_KEYS, _BERT_FIXED),
    (ps.models.Bert(architecture="BertForMaskedLM"), "BertForMaskedLM", "BertConfig", _BERT_KEYS, _BERT_FIXED),
    (ps.models.Bert(architecture="BertForPreTraining"), "BertForPreTraining", "BertConfig", _BERT_KEYS, _BERT_FIXED),
    (ps.models.Gpt2(), "GPT2Model", "GPT2Config", _GPT2_KEYS, _GPT2_FIXED),
    (ps.models.Gpt2(architecture="GPT2LMHeadModel"), "GPT2LMHeadModel", "GPT2Config", _GPT2_KEYS, _GPT2_FIXED),
    (ps.models.Vit(add_pooling_layer=False), "ViTModel", "ViTConfig", _VIT_KEYS, {}),
]
every_model = pytest.mark.parametrize("spec", MODELS, ids=lambda spec: repr(spec[0]))


def builder(spec: Spec) -> Callable[..., Any]:
    """Return a builder of the reference's model on the meta device."""
    torch, transformers = imported("torch"), imported("transformers")
    layer, model, configuration, keys, fixed = spec
    keep = {} if getattr(layer, "add_pooling_layer", True) or model not in {"BertModel", "ViTModel"} else {"add_pooling_layer": False}

    def build(**sizes: int) -> Any:
        config = getattr(transformers, configuration)(**{keys[name]: size for name, size in sizes.items()}, **fixed)
        with torch.device("meta"):
            return getattr(transformers, model)(config, **keep)

    return build


@every_model
def test_certificate(spec: Spec) -> None:
    """Names, every axis, ties and the count are the reference's on every valid size."""
    proof = certify(spec[0], builder(spec))
    assert proof.compared == "tensors"
    assert proof.lattice.whole
    assert {"torch", "transformers"} <= set(proof.versions)


@every_model
def test_sampled_sizes(spec: Spec) -> None:
    """Sizes beyond the grid agree as well."""
    pytest.importorskip("hypothesis")
    from paramsym.testing import check_against

    bounds = {name: bound for name, bound in {"L": 4, "W": 48}.items() if name in {s.name for s in spec[0].symbols}}
    check_against(spec[0], builder(spec), examples=5, largest={symbol.name: 96 for symbol in spec[0].symbols} | bounds)


def test_a_bert_without_its_tie_is_refuted() -> None:
    """Equal names and shapes; the output matrix is counted twice, and the message names it."""
    spec = (ps.models.Bert(architecture="BertForMaskedLM", tie_word_embeddings=False), *MODELS[2][1:])
    with pytest.raises(RefutedError, match=r"cls\.predictions\.decoder\.weight"):
        certify(spec[0], builder(spec))
