"""Freezing and replacing every module of transformers' tied models: names, ties and what is trained, parameter by parameter."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from frameworks import imported, on_meta

import paramsym as ps

_ENCODER = {"hidden_size": 4, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 6, "max_position_embeddings": 5}
_HEADS = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 6, "decoder_ffn_dim": 6}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "GPT2LMHeadModel": ("GPT2Config", {"n_positions": 7, "n_embd": 4, "n_layer": 2, "n_head": 2}),
    "BertForMaskedLM": ("BertConfig", _ENCODER),
    "AlbertForMaskedLM": ("AlbertConfig", _ENCODER | {"embedding_size": 3}),
    "BartForConditionalGeneration": (
        "BartConfig",
        _HEADS | {"d_model": 4, "encoder_layers": 1, "decoder_layers": 1, "max_position_embeddings": 5},
    ),
    "T5ForConditionalGeneration": ("T5Config", {"d_model": 4, "d_kv": 2, "num_heads": 2, "num_layers": 2, "d_ff": 6}),
}


def said(module: Any) -> dict[str, tuple[str, bool]]:
    """Say for every name the first name of its parameter, and whether it is trained."""
    firsts: dict[int, str] = {}
    named = module.named_parameters(remove_duplicate=False)
    return {name: (firsts.setdefault(id(parameter), name), parameter.requires_grad) for name, parameter in named}


def ours(layer: ps.Layer) -> dict[str, tuple[str, bool]]:
    """Say the same of a layer."""
    entries = (entry for entry in layer.entries() if not entry.tensor.buffer)
    return {entry.name: (entry.alias_of or entry.name, entry.tensor.trainable) for entry in entries}


def paths(layer: ps.Layer, module: Any) -> Iterator[str]:
    """Yield the modules with parameters that are parts of the layer, too."""
    for path, inner in module.named_modules():
        if path and any(True for _ in inner.parameters()):
            assert ours(layer.part(path)) == said(inner), path
            yield path


@pytest.mark.parametrize("name", MODELS)
def test_every_module(name: str) -> None:
    """What is frozen, then replaced, is the same parameters under the same names."""
    torch, transformers = imported("torch"), imported("transformers")
    kind, sizes = MODELS[name]
    config = getattr(transformers, kind)(vocab_size=11, pad_token_id=0, architectures=[name], **sizes)
    module = on_meta(lambda: getattr(transformers, name)(config))
    module.tie_weights()
    layer = ps.from_config({**config.to_dict(), "architectures": [name]})
    for path in paths(layer, module):
        frozen, replaced = copy.deepcopy(module), copy.deepcopy(module)
        frozen.get_submodule(path).requires_grad_(False)
        assert ours(layer.freeze(path)) == said(frozen), path
        parent, _, last = path.rpartition(".")
        for edited, start in ((frozen, layer.freeze(path)), (replaced, layer)):
            setattr(edited.get_submodule(parent), last, torch.nn.Linear(3, 5, device="meta"))
            assert ours(start.replace(path, ps.Dense(3, 5))) == said(edited), path
