"""MPT (MosaicML 2023). Reference: ``transformers.models.mpt`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any

from paramsym.algebra.size import Count, Dim, cat
from paramsym.algebra.symbols import A, H, L
from paramsym.atlas.values import refused
from paramsym.core.layer import Layer
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.blocks import PreNorm, feed_forward
from paramsym.models.decoder import Decoder
from paramsym.models.gpt import AlibiStem, FusedBiased
from paramsym.models.key_kinds import Flag, Key, Real, Sizes
from paramsym.models.model import LANGUAGE, classes, family, key


class Mpt(Decoder):
    """MPT and its heads, as the reference class ``architecture`` stores them.

    Nothing has a bias. Queries, keys and values are one matrix. Positions are a bias of the scores, which is computed and not stored.

    >>> Mpt().params
    12*H**2*L + 2*H*L + H*V + H
    >>> Mpt(architecture="MptForCausalLM").at("mosaicml/mpt-7b").params
    6649286656
    """

    d_model: Dim = key(H, 2048)
    n_layers: Count = key(L, 24, least=0)
    n_heads: Dim = key(A, 16, divides="d_model")
    architecture: str = classes({"Mpt": LANGUAGE})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    layer_norm_epsilon: float = key(Real(1e-5))
    clip_qkv: float | None = None
    softmax_scale: float | None = None

    heads = ("n_heads", "d_model")
    depth = "n_layers"
    base_name = "transformer"
    stem = ("wte", "blocks", "norm_f")
    classifier_name = "classifier"

    def stemmed(self, layers: Mapping[str, Layer]) -> AlibiStem:
        return AlibiStem(layers, self.n_heads, blocks="blocks", written=True)

    def norm(self) -> LayerNorm:
        return LayerNorm(self.d_model, self.layer_norm_epsilon, bias=False)

    def block(self) -> PreNorm:
        width, sliced = self.d_model, (self.n_heads, self.head_width())
        fused = Dense(width, cat(query=sliced, key=sliced, value=sliced), bias=False)
        matrices = {"Wqkv": fused, "out_proj": Dense(sliced, width, bias=False)}
        layers = {
            "norm_1": self.norm(),
            "attn": FusedBiased(matrices, names=("Wqkv", "out_proj"), scale=self.softmax_scale, clip=self.clip_qkv or None),
            "norm_2": self.norm(),
            "ffn": feed_forward(width, 4 * width, "gelu", ("up_proj", "act", "down_proj"), bias=False),
        }
        return PreNorm(layers, names=("norm_1", "attn", "norm_2", "ffn"))


class AttentionSettings(Key):
    """An object of settings, of which two change what is computed, or null; the reference reads no ``alibi_bias_max``."""

    def read(self, value: Any, where: str, sizes: Sizes, /) -> dict[str, float]:
        if value is not None and not isinstance(value, Mapping):
            raise refused(value, where, "an object such as {'clip_qkv': 6.0}, or null")
        given = {name: (value or {}).get(name) for name in ("clip_qkv", "softmax_scale")}
        return {name: Real(0.0).read(one, f"{where}: {name}", sizes) for name, one in given.items() if one is not None}


def _settle(arguments: dict[str, Any], _: Sizes) -> None:
    arguments |= arguments.pop("attn_config")


_DEFAULTS = {"vocab_size": 50368, "attn_config": AttentionSettings()}
_FORMER = {"MPTForCausalLM": "MptForCausalLM", "MPTModel": "MptModel"}
_IGNORED = (
    "expansion_ratio max_seq_len emb_pdrop learned_pos_emb init_device init_config no_bias embedding_fraction norm_type"
    " verbose fc_type ffn_config tokenizer_name"
)
FAMILIES = (family("mpt", Mpt, "", _DEFAULTS, _settle, ignored=_IGNORED, former=_FORMER),)
