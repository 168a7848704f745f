"""BLOOM (BigScience 2022, arXiv:2211.05100). Reference: ``transformers.models.bloom`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.size import Count, Dim, cat
from paramsym.algebra.symbols import A, H, L
from paramsym.core.layer import Layer
from paramsym.layers.dense import Dense
from paramsym.models.blocks import PreNorm, feed_forward
from paramsym.models.decoder import Decoder
from paramsym.models.gpt import AlibiStem, FusedBiased
from paramsym.models.key_kinds import Flag, Key, Real, Sizes, Whole
from paramsym.models.model import LANGUAGE, classes, family, key
from paramsym.program import Own, Value, drop


class Bloom(Decoder):
    """BLOOM and its heads, as the reference class ``architecture`` stores them.

    The token table has a normalisation. Queries, keys and values are one matrix, head by head. Positions are a computed bias, which is not
    stored.

    >>> Bloom().params
    12*H**2*L + 13*H*L + H*V + 4*H
    >>> Bloom(architecture="BloomForCausalLM").at("bigscience/bloom-560m").params
    559214592
    """

    hidden_size: Dim = key(H, 64)
    n_layer: Count = key(L, 2, least=0)
    n_head: Dim = key(A, 8, divides="hidden_size")
    architecture: str = classes({"Bloom": LANGUAGE})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    layer_norm_epsilon: float = key(Real(1e-5))
    apply_residual_connection_post_layernorm: bool = key(Flag())
    attention_dropout: float = key(Real(0.0))
    hidden_dropout: float = key(Real(0.0))

    reads: ClassVar[Mapping[str, Key]] = {"n_embed": Whole()}
    heads = ("n_head", "hidden_size")
    depth = "n_layer"
    base_name = "transformer"
    stem = ("word_embeddings", "h", "ln_f")
    classifier_name = "classifier"

    def base(self) -> Layer:
        table, blocks, norm = self.stem
        layers = {table: self.token_table(), "word_embeddings_layernorm": self.norm(), blocks: self.blocks(), norm: self.norm()}
        return AlibiStem(layers, self.n_head, blocks=blocks)

    def block(self) -> PreNorm:
        width, heads, own = self.hidden_size, self.n_head, self.head_width()
        matrices = {"query_key_value": Dense(width, (heads, cat(query=own, key=own, value=own))), "dense": Dense((heads, own), width)}
        layers = {
            "input_layernorm": self.norm(),
            "self_attention": FusedBiased(matrices, dropout=self.attention_dropout),
            "post_attention_layernorm": self.norm(),
            "mlp": feed_forward(width, 4 * width, "gelu_bloom", ("dense_h_to_4h", "act", "dense_4h_to_h")),
        }
        kind = NormedResidual if self.apply_residual_connection_post_layernorm else PreNorm
        names = ("input_layernorm", "self_attention", "post_attention_layernorm", "mlp")
        return kind(layers, names=names, dropped=(self.hidden_dropout, self.hidden_dropout))


class NormedResidual(PreNorm):
    """A block whose sub-layers are added to their normalised inputs."""

    def forward(self, own: Own, x: Value, *along: Value) -> Value:
        (first, attention, second, feed_forward), (one, other) = self.names, self.dropped
        x = own[first](x)
        x = own[second](x + drop(own[attention](x, *along), one))
        return x + drop(own[feed_forward](x), other)


def other_width(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Use the old name of the hidden size, which takes precedence."""
    if (found := arguments.pop("n_embed")) is not None:
        sizes[H] = found


_IGNORED = (
    "slow_but_exact n_inner seq_length offset_alibi skip_bias_add skip_bias_add_qkv"
    " attention_softmax_in_fp32 bias_dropout_fusion masked_softmax_fusion"
)
FAMILIES = (family("bloom", Bloom, "", {"vocab_size": 250880}, other_width, ignored=_IGNORED),)
